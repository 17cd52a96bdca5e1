"""What a mouse does: everything that can be clicked does what its key does, and nothing breaks."""

from textual import events as terminal

from console.widgets.event_log import EventView
from console.widgets.heat_grid import LABEL_WIDTH, HeatView
from console.widgets.tapes import TapeView
from sessions.format.errors import SessionDamagedError
from tests.console.driving import LARGE, Console, console, toasts
from tests.console.fakes import ListSource, failover

SENTENCE = "run.tide.db is damaged (the events from number 90 on): it opens up to event 89."


class DamagedSource(ListSource):
    """A recording that can only be read up to event 89."""

    def events(self, first: int, last: int) -> list:
        if last >= 90:
            raise SessionDamagedError(SENTENCE)
        return list(super().events(first, last))

    def seek_time(self, time_us: int) -> None:
        raise SessionDamagedError(SENTENCE)


def open_parts(driven: Console) -> list[str]:
    return ["is_open"] if driven.screen.prompt.is_open else []


def followed(log: EventView) -> bool:
    return log.following


async def click(driven: Console, selector: str, offset: tuple[int, int], times: int = 1) -> None:
    await driven.pilot.click(selector, offset=offset, times=times)
    await driven.settle()


async def test_a_click_on_the_time_bar_of_a_damaged_session_is_answered_with_why() -> None:
    async with console(DamagedSource(failover(), at=80)) as driven:
        await click(driven, "#time-bar", (60, 0))
        assert "is damaged" in driven.text()


async def test_a_click_on_a_row_of_a_damaged_session_is_answered_with_why() -> None:
    source = DamagedSource(failover(), at=80)
    async with console(source) as driven:
        await driven.press("2")  # which also leaves the notice of the damage
        await click(driven, "#table", (10, 2))
        await driven.press("5", "pagedown")
        await click(driven, "#log", (10, 2))
        assert driven.app.is_running
        assert "is damaged" in driven.text()


async def test_a_click_on_a_tab_goes_there_and_one_on_the_footer_does_what_the_key_does() -> None:
    async with console() as driven:
        at = driven.lines()[1].index("3 Brokers")
        await click(driven, "#tabs", (at + 1, 0))
        assert driven.app.sources.mode_here == "brokers"
        await click(driven, "#footer", (driven.lines()[-1].index("/ filter") + 2, 0))
        assert driven.screen.prompt.is_open


async def test_a_click_elsewhere_ends_what_was_being_typed_and_undoes_it() -> None:
    async with console(None, "2", "slash") as driven:
        await driven.type("isr<min")
        assert driven.screen.prompt.is_open
        await click(driven, "#log", (5, 2))
        assert "is_open" not in open_parts(driven)
        assert "filter" not in driven.lines()[3]
        await driven.press("1")
        assert driven.app.sources.mode_here == "overview", "keys are keys again, and no text"


async def test_a_click_in_the_grid_goes_to_the_cell_and_two_open_its_partition() -> None:
    async with console(None, "3") as driven:
        grid = driven.screen.query_one(HeatView)
        await click(driven, "#heat", (LABEL_WIDTH + 4 * grid.cell, 2))
        assert grid.place == (2, "orders-4")
        await click(driven, "#heat", (LABEL_WIDTH + 2 * grid.cell - 1, 1), times=2)
        assert driven.screen.trail() == "orders-1"


async def test_a_click_on_a_tape_goes_to_the_record() -> None:
    async with console(None, "2", "down", "enter") as driven:
        tapes = driven.screen.query_one(TapeView)
        row = driven.lines()[driven.lines().index(next(r for r in driven.lines() if "offset" in r))]
        await click(driven, "#tapes", (row.index("5"), 3))
        place = tapes.place()
        assert place is not None
        assert place[0] == tapes.tapes()[1]
        assert abs(place[1] - 5) <= 1


async def test_scrolling_up_in_a_log_that_follows_is_not_undone() -> None:
    source = ListSource(failover(), "LIVE", at=120)
    async with console(source, "5", size=LARGE) as driven:
        log = driven.screen.query_one(EventView)
        assert followed(log)
        log.post_message(terminal.MouseScrollUp(log, 5, 5, 0, 1, 0, False, False, False))
        await driven.settle()
        assert not followed(log)
        top = log.top
        driven.source.seek_seq(160)
        await driven.settle()
        assert log.top == top


async def test_menus_let_no_other_keys_through() -> None:
    async with console(None, "2", "s") as driven:
        assert driven.screen.context == "menu"
        await driven.press("5", "colon", "slash", "space", "x")
        assert driven.screen.context == "menu"
        await driven.press("down", "escape")
        assert driven.screen.context == "partitions"
        assert toasts(driven) == []
