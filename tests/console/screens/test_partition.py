from asyncio import sleep

import pytest

from console.model.pacer import FRAMES_PER_SECOND
from console.model.settings import configuration
from console.screens.events import EventScreen
from console.screens.partition import PartitionScreen
from emulator.events import RecordsAppended
from tests.console.driving import LARGE, SMALL, Console, console
from tests.console.fakes import ListSource, failover


@pytest.mark.parametrize("size", [LARGE, SMALL])
async def test_tapes_stand_above_the_log(size: tuple[int, int]) -> None:
    async with console(
        ListSource(failover(), at=126), "2", "down", "down", "enter", size=size
    ) as d:
        assert isinstance(d.screen, PartitionScreen)
        text = d.text()
        assert "2 Partitions  3" in text
        assert "▸ orders-1" in d.lines()[1]
        assert "── tapes ── orders-1" in text
        assert "2 ● leader" in text
        assert "┃" in text
        assert "cache  e0:0" in text
        assert "── events of orders-1 ──" in text


async def test_stepping_moves_the_tapes_and_the_log_together() -> None:
    source = ListSource(failover(), at=97)
    async with console(source, "2", "down", "enter") as driven:
        before = driven.text()
        await driven.press("greater_than_sign")
        assert driven.text() != before
        assert driven.source.seq > 97
        marked = [row for row in driven.lines() if row.startswith("▸")]
        assert len(marked) == 1


TO_ORDERS_1 = ("2", "down", "down", "enter")


async def places_of_the_high_watermark(driven: Console) -> list[int]:
    """The columns in which the leader's high watermark stands, frame by frame, after a step."""
    driven.source.seek_seq(88)
    driven.app.paint()
    places = []
    for _ in range(12):
        (row,) = [row for row in driven.lines() if row.startswith("  2 ● leader")]
        places.append(row.index("┃"))
        await sleep(0.1)
    return list(dict.fromkeys(places))


async def test_the_high_watermark_glides_in_a_step() -> None:
    source = ListSource(failover(), at=87)
    async with console(source, *TO_ORDERS_1, moves=True, sends=True) as driven:
        places = await places_of_the_high_watermark(driven)
        assert driven.source.seq == 88
        assert len(places) > 3
        assert places == sorted(places)
        drawn = driven.app.drawn
        await sleep(1)
        assert driven.app.drawn == drawn, "nothing is drawn once it has arrived"


@pytest.mark.parametrize("options", [{"animation": False}, {"fps": FRAMES_PER_SECOND - 1}])
async def test_nothing_glides_if_that_is_off_or_frames_are_few(options: dict[str, object]) -> None:
    source, settings = ListSource(failover(), at=87), configuration(options, environment={})
    async with console(
        source, *TO_ORDERS_1, moves=True, sends=True, configuration=settings
    ) as driven:
        places = await places_of_the_high_watermark(driven)
        assert len(places) <= 2, "where it was, and where it is"


async def test_tab_shows_the_inspector_on_a_small_screen() -> None:
    async with console(None, "2", "enter", size=SMALL) as driven:
        await driven.press("tab")
        assert "controller epoch" in driven.text()
        assert "── tapes ── orders-5" in driven.text()


async def test_a_partition_that_does_not_exist_yet_says_so() -> None:
    async with console(None, "2", "enter", "t") as driven:
        await driven.type("#3")
        await driven.press("enter")
        assert "orders-5 does not exist at this time." in driven.text()


async def test_the_tapes_cursor_goes_from_record_to_record() -> None:
    async with console(None, "2", "down", "enter", "shift+tab") as driven:
        assert isinstance(driven.screen, PartitionScreen)
        tapes = driven.screen.tapes
        end = tapes.place()
        assert end is not None
        await driven.press("left", "left")
        assert tapes.place() == (end[0], end[1] - 2)
        assert f"{end[0]}@{end[1] - 2}  m{end[1] - 2}  sent by p1" in driven.text()
        await driven.press("down", "g")
        assert tapes.place() == (tapes.tapes()[1], 0)
        await driven.press("pagedown", "pageup", "up", "G")
        assert tapes.place() == end


async def test_a_tape_pans_no_further_than_shows_its_cursor() -> None:
    source = ListSource(failover())
    async with console(source, "2", "down", "enter", "shift+tab", "g", size=SMALL) as driven:
        assert isinstance(driven.screen, PartitionScreen)
        assert "@0  m0 " in driven.text()
        await driven.press("w")
        assert any("m0" in row and "leader" in row for row in driven.lines())


async def test_enter_on_the_tape_opens_the_record_and_why_its_write() -> None:
    async with console(None, "2", "down", "enter") as driven:
        await driven.press("shift+tab")
        await driven.press("left", "W")
        assert isinstance(driven.screen, EventScreen)
        assert isinstance(driven.screen.chain.selected, RecordsAppended)
        await driven.press("escape", "enter")
        assert driven.screen.context == "record"


async def test_escape_goes_back() -> None:
    async with console(None, "2", "enter", "escape") as driven:
        assert driven.screen.context == "partitions"
