import pytest

from console.screens.overview import OverviewScreen
from tests.console.driving import LARGE, SMALL, console
from tests.console.fakes import ListSource, failover
from tests.console.render.test_verdict import paused_follower


@pytest.mark.parametrize("size", [LARGE, SMALL])
async def test_health_and_faults_are_on_one_screen(size: tuple[int, int]) -> None:
    async with console(size=size) as driven:
        assert isinstance(driven.screen, OverviewScreen)
        text = driven.text()
        assert "brokers up                2/3" in text
        assert "✖ offline                     1" in text
        assert "── faults and interventions ── 4 of 170" in text
        assert "BROKER broker 1 crashed" in text


async def test_control_and_audit_stand_beside_or_behind_tab() -> None:
    async with console() as driven:
        assert "acknowledged       75" in driven.text()
    async with console(None, "shift+tab", "shift+tab", size=SMALL) as driven:
        assert "acknowledged       75" in driven.text()


async def test_enter_opens_the_fault_under_the_cursor() -> None:
    async with console(None, "g", "enter") as driven:
        assert driven.screen.context == "event"
        assert "broker 1 crashed" in driven.text()


async def test_without_faults_it_says_that_nothing_went_wrong() -> None:
    async with console(ListSource(failover(min_isr=1)[:126])) as driven:
        assert "nothing has gone wrong" in driven.text()
        assert "No faults. 6 of 6 partitions healthy" in driven.text()


async def test_a_paused_follower_is_listed_as_a_fault() -> None:
    async with console(ListSource(paused_follower())) as driven:
        assert "nothing has gone wrong" not in driven.text()
        assert "FETCH  orders-0@0 fetching paused" in driven.text()


async def test_lines_lead_to_what_they_are_about() -> None:
    async with console() as driven:
        await driven.press("tab", "down", "enter")
        assert driven.app.current_mode == "partitions"
        assert "filter state=offline" in driven.text()
        assert "orders-5" in driven.text()
        await driven.press("escape", "1", "tab", "enter")
        assert driven.screen.trail() == "broker 2"
        await driven.press("escape", "tab", "enter")
        assert "filter topic=orders" in driven.text()
        await driven.press("1", "tab", "W")
        assert driven.screen.context == "event"


async def test_a_large_screen_is_filled_with_what_was_when() -> None:
    async with console(size=(200, 60)) as driven:
        text = driven.text()
        assert "── over time ── 1 topic ── one column per second ──" in text
        assert "orders-3          leader 2" in text
        assert "broker 1             crashed" in text
        assert "records lost               0" in text
        await driven.press("shift+tab", "down", "enter")
        assert driven.screen.trail() == "orders-0"


async def test_the_strips_follow_the_time_cursor() -> None:
    async with console(ListSource(failover(), at=100), size=(200, 60)) as driven:
        assert "broker 1                  up" in driven.text()
        await driven.press("L")
        assert "broker 1             crashed" in driven.text()
