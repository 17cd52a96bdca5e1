import pytest

from console.screens.broker import BrokerScreen
from tests.console.driving import LARGE, SMALL, console
from tests.console.fakes import ListSource, failover


@pytest.mark.parametrize("size", [LARGE, SMALL])
async def test_a_brokers_replicas_are_sorted_filtered_and_opened(size: tuple[int, int]) -> None:
    async with console(ListSource(failover(min_isr=1)), size=size) as driven:
        driven.app.navigation.open("broker", "1")
        await driven.settle()
        assert isinstance(driven.screen, BrokerScreen)
        assert driven.screen.table.count() == 6
        await driven.press("slash")
        await driven.type("place~leader")
        await driven.press("enter")
        assert "No replica matches 'place~leader'." in driven.text()
        assert "esc clears the filter" in driven.text()
        await driven.press("escape", "shift+right", "r", "p")
        assert driven.screen.table.pins == ["orders-5"]
        await driven.press("enter")
        assert driven.screen.trail() == "orders-5"


async def test_a_healthy_brokers_faults_are_none_and_why_leads_to_its_last_event() -> None:
    async with console(ListSource(failover(min_isr=1), at=126)) as driven:
        driven.app.navigation.open("broker", "3")
        await driven.settle()
        await driven.press("f")
        assert "No faults: all its partitions are healthy." in driven.text()
        await driven.press("f", "W")
        assert driven.screen.context == "event"


async def test_a_broker_that_does_not_exist_yet_says_so() -> None:
    source = ListSource(failover())
    async with console(source) as driven:
        driven.app.navigation.open("broker", "3")
        await driven.settle()
        source.seek_seq(0)
        await driven.settle()
        assert "It does not exist at this time." in driven.text()
        assert "It holds no replica at this time." in driven.text()
