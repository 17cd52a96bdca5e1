import pytest

from console.screens.brokers import BrokersScreen
from tests.console.driving import SMALL, console
from tests.console.fakes import ListSource


async def test_the_worst_broker_stands_first_with_its_story() -> None:
    async with console(None, "3") as driven:
        assert isinstance(driven.screen, BrokersScreen)
        rows = driven.lines()
        assert "── brokers ── 2/3 up" in rows[3]
        assert rows[5].split()[:5] == ["▌", "✖", "crashed", "1", "0"]
        assert "── events of broker 1" in driven.text()
        assert "SESS   session 0x11 of 1 expired" in driven.text()
        assert driven.screen.selection() == ("broker.1",)


async def test_a_small_screen_shows_the_table() -> None:
    async with console(None, "3", size=SMALL) as driven:
        assert len([row for row in driven.lines() if "running" in row]) == 2
        assert "CONTROLLER" in driven.lines()[4]
        assert "── brokers by partitions ──" in driven.text()


async def test_queries_know_brokers() -> None:
    async with console(None, "3", "slash") as driven:
        await driven.type("leaders>1")
        await driven.press("enter")
        assert len([row for row in driven.lines() if "● running" in row]) == 1
        await driven.press("escape", "slash")
        await driven.type("state=frozen")
        await driven.press("enter")
        assert "No broker matches." in driven.text()


async def test_enter_opens_the_broker_its_partitions_and_its_events() -> None:
    async with console(None, "3", "enter") as driven:
        assert driven.screen.context == "broker"
        assert "▸ broker 1" in driven.lines()[1]
        assert "broker 1 crashed" in driven.text()
        assert "OFFL orders-5" in driven.text()
        await driven.press("enter")
        assert driven.screen.context == "partition"
        await driven.press("escape", "shift+tab", "enter")
        assert driven.screen.context == "event"


async def test_the_grid_shows_what_each_broker_is_to_each_partition() -> None:
    async with console(None, "3", "tab", "tab") as driven:
        rows = [row for row in driven.lines() if row[2:7].strip() in ("1", "2", "3")]
        grid = {row[2:7].strip(): row[9:].strip() for row in rows if "running" not in row}
        assert grid["1"].startswith("✖")
        assert grid["2"].startswith("●")
        assert "orders-0 on 1" in driven.text()
        await driven.press("down", "right", "enter")
        assert driven.screen.trail() == "orders-1"


async def test_sort_menu_and_faults_work_here_too() -> None:
    async with console(None, "3", "f") as driven:
        assert "faults only" in driven.lines()[3]
        assert len([row for row in driven.lines() if "● running" in row]) == 0
        await driven.press("f", "s", "down", "enter")
        assert "BROKER▴" in driven.lines()[4]


@pytest.mark.parametrize(("key", "what"), [("2", "partitions"), ("3", "brokers")])
async def test_where_there_is_nothing_that_is_what_is_said(key: str, what: str) -> None:
    async with console(ListSource([]), key) as driven:
        assert f"There are no {what} at this time." in driven.text()
        assert "── events ──" in driven.text()


async def test_before_the_first_partition_the_log_shows_the_events_of_all() -> None:
    async with console(None, "2") as driven:
        assert "── events of orders-5" in driven.text()
        await driven.press("t")
        await driven.type("#1")
        await driven.press("enter")
        assert "There are no partitions at this time." in driven.text()
        assert "── events ──" in driven.text()


async def test_lines_that_the_brokers_do_not_need_show_more_of_what_happened() -> None:
    async with console(None, "3", size=(200, 60)) as driven:
        screen = driven.screen
        table, log = screen.panes[0], screen.panes[-1]
        rows = driven.lines()
        blank = [y for y in range(table.region.y, log.region.y) if not rows[y].strip()]
        assert len(blank) < 8
        assert log.region.height > 25
        await driven.press("z")
        assert table.region.height > 50
        await driven.press("z", "2")
        table, log = driven.screen.panes[0], driven.screen.panes[-1]
        assert log.region.height > 20
        await driven.pilot.resize_terminal(80, 24)
        await driven.settle()
        assert (table.region.height, log.region.height) == (8, 11)
