import pytest

from console.screens.partitions import PartitionsScreen
from console.widgets.virtual_table import VirtualTable
from sessions.model.touches import objects_of
from tests.console.driving import Console, console
from tests.console.fakes import ListSource, failover, large_view

MANY = 20_000


def large() -> ListSource:
    source = ListSource([])
    source.view = large_view(MANY)
    return source


def table_of(driven: Console) -> VirtualTable:
    screen = driven.app.screen
    assert isinstance(screen, PartitionsScreen)
    return screen.table


async def test_very_many_rows_cost_no_more_than_those_in_sight() -> None:
    async with console(large(), "2") as driven:
        table = table_of(driven)
        assert table.count() == MANY
        assert len(table._strips) < 100
        assert driven.lines()[5].startswith("▌ ✖ OFFL topic")


async def test_the_last_row_is_one_key_away() -> None:
    async with console(large(), "2", "G") as driven:
        table = table_of(driven)
        assert table.cursor_index() == MANY - 1
        assert table.selected is not None
        assert table.selected in driven.text()


async def test_paging_moves_by_what_fits() -> None:
    async with console(large(), "2") as driven:
        table = table_of(driven)
        await driven.press("pagedown")
        assert table.cursor_index() == table.page
        await driven.press("ctrl+u")
        assert table.cursor_index() == 0


async def test_only_a_changed_row_is_drawn_anew() -> None:
    async with console(ListSource(failover(), "LIVE", at=60), "2") as driven:
        table = table_of(driven)
        drawn: list[str] = []
        draw = table.draw

        def noted(index: int) -> tuple:
            drawn.append(table.order[index])
            return draw(index)

        table.draw = noted  # type: ignore[method-assign]
        await driven.press("full_stop", "full_stop")
        stepped = driven.source.events(61, 62)
        assert set(drawn) <= {tp for event in stepped for tp in objects_of(event)}


async def test_rows_that_changed_while_another_screen_was_shown_are_sorted_in() -> None:
    source = ListSource(failover(), at=126)
    async with console(source, "2", "5", "t") as driven:
        await driven.type("end")
        await driven.press("enter", "2")
        assert driven.lines()[5].startswith("▌ ✖ OFFL orders-5")
        assert "◆ =MIN orders-0" in driven.text()


async def test_pinned_rows_stay_in_sight_whatever_filter_and_order_are() -> None:
    async with console(ListSource(failover()), "2", "G", "p") as driven:
        table = table_of(driven)
        (pinned,) = table.pins
        glyphs = driven.app.stage.glyphs
        assert driven.lines()[5].startswith(f" {glyphs.pin}")
        assert pinned in driven.lines()[5]
        await driven.press("slash")
        await driven.type("orders-5")
        await driven.press("enter")
        assert pinned in driven.lines()[5]
        assert "orders-5" in driven.lines()[6]
        await driven.press("escape", "G", "p")
        assert table.pins == []
        assert glyphs.pin not in driven.text()


async def test_a_click_on_a_pinned_row_goes_to_it() -> None:
    async with console(ListSource(failover()), "2", "G", "p", "g") as driven:
        table = table_of(driven)
        await driven.pilot.click(offset=(table.region.x + 12, table.region.y + 1))
        await driven.settle()
        assert table.selected == table.pins[0]


async def test_n_goes_from_match_to_match_once_the_filter_is_gone() -> None:
    async with console(ListSource(failover()), "2") as driven:
        table = table_of(driven)
        await driven.press("n")
        assert table.selected == "orders-5"
        await driven.press("slash")
        await driven.type("leader=2 epoch=1")
        found = {table.order[index] for index in range(table.count())}
        await driven.press("enter", "escape")
        assert table.count() == 6
        met = set()
        for key in ("n",) * len(found):
            await driven.press(key)
            met.add(table.selected)
        assert met == found
        await driven.press("slash")
        await driven.type("nothing-like-it")
        await driven.press("enter", "escape", "n")
        assert table.selected in found


@pytest.mark.parametrize(
    "keys", [("2",), ("2", "p"), ("3",), ("3", "p"), ("3", "enter")], ids=" ".join
)
async def test_a_table_drawn_before_it_has_followed_says_nothing_of_rows_that_are_gone(
    keys: tuple[str, ...],
) -> None:
    async with console(ListSource(failover()), *keys) as driven:
        table = driven.screen.query_one(VirtualTable)
        shown = driven.lines()
        driven.source.seek_seq(1)
        for y in range(table.size.height):
            assert not table.render_line(y).text.strip()
        driven.app.paint()
        driven.source.seek_seq(len(driven.source.history))
        await driven.settle()
        assert driven.lines() == shown


async def test_a_screen_that_comes_back_may_be_drawn_at_once() -> None:
    async with console(ListSource(failover()), "2", "5") as driven:
        driven.source.seek_seq(1)
        await driven.settle()
        driven.app.navigation.go("partitions")
        screen = driven.screen
        assert isinstance(screen, PartitionsScreen)
        assert screen.table.count()
        assert not screen.table.render_line(1).text.strip()
        await driven.settle()
        assert not screen.table.count()


async def test_a_key_that_is_quicker_than_the_frame_acts_on_what_is_there_now() -> None:
    async with console(ListSource(failover()), "2", "G") as driven:
        assert table_of(driven).selected is not None
        driven.source.seek_seq(1)
        for action in ("copy_row", "find_next", "drill"):
            await driven.app.run_action(action)
        await driven.settle()
        assert driven.screen.context == "partitions"
        assert table_of(driven).selected is None
