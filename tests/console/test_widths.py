"""Every screen at every width: what stands there is what a fresh paint of the same state draws.

A screen is made wider column by column and compared, cell by cell, with itself after everything
that was kept of earlier paints has been forgotten. No cell of a table is cut: what is not shown
whole is not shown.
"""

import pytest

from console.actions.registry import SCREENS
from console.model.workspace import Stage
from console.render.columns import GAP, place, row_line, title_line
from console.render.lines import text_of, width_of
from console.screens.partitions import PartitionRows
from console.widgets.virtual_table import MARK_WIDTH, VirtualTable
from console.widgets.virtual_view import VirtualView
from tests.console.contexts import BESIDE, LIVE_ONLY, open_context
from tests.console.driving import Console, console
from tests.console.fakes import ListSource, failover
from tests.support.releases import THOROUGH

WIDTHS = range(60, 221)
STEP = 1 if THOROUGH else 2
"""How many columns wider each width is than the last one that some screen is tried at."""
HEIGHT = 30
SKIPPED = {*LIVE_ONLY, *BESIDE, "sessions", "lab", "notice", "menu"}
"""Screens with nothing kept between paints, or that need a source of their own."""
CHECKED = [context for context in SCREENS if context not in SKIPPED]


async def resize(driven: Console, width: int) -> None:
    await driven.pilot.resize_terminal(width, HEIGHT)
    await driven.pilot.pause(0)
    driven.app.paint()
    await driven.pilot.pause(0)


def check_tables(driven: Console) -> None:
    for table in driven.screen.query(VirtualTable):
        if not table.is_on_screen or not table.placed:
            continue
        last = table.placed[-1]
        needed = MARK_WIDTH + last.x + last.width
        assert needed <= table.columns or not any(one.column.drop for one in table.placed)
        for before, after in zip(table.placed, table.placed[1:], strict=False):
            assert before.x + before.width + GAP == after.x


@pytest.mark.parametrize("context", CHECKED)
async def test_a_screen_of_any_width_is_what_a_fresh_paint_draws(context: str) -> None:
    wrong = []
    # Together the screens take every width, or every other one.
    widths = WIDTHS[STEP * CHECKED.index(context) :: STEP * len(CHECKED)]
    async with console(ListSource(failover()), size=(WIDTHS[0], HEIGHT)) as driven:
        await open_context(driven, context)
        for width in widths:
            await resize(driven, width)
            shown = driven.lines()
            check_tables(driven)
            for view in driven.app.screen.query(VirtualView):
                view.forget()
            driven.app.paint()
            await driven.pilot.pause(0)
            if driven.lines() != shown:
                await driven.settle()
                if driven.lines() != shown:
                    wrong.append(width)
            assert all(len(row) <= width for row in shown)
    assert wrong == []


def test_at_every_width_columns_stand_whole_beside_each_other() -> None:
    stage = Stage(ListSource(failover()))
    stage.follow()
    rows = PartitionRows(stage)
    for width in WIDTHS:
        for wide in (False, True):
            placed = place(rows.columns, width, wide=wide)
            titles = text_of(title_line(placed, "state", "^"))
            assert placed[-1].x + placed[-1].width <= width
            assert width_of(title_line(placed, "state", "^")) <= width, titles
            for key in stage.index.keys:
                drawn = row_line(placed, rows.row(key))
                assert width_of(drawn) <= width
                assert "~" not in text_of(drawn).replace("~ PREF", "")


async def columns_at(width: int) -> set[str]:
    async with console(ListSource(failover()), "2", size=(width, HEIGHT)) as driven:
        table = driven.screen.query_one(VirtualTable)
        return {one.column.id for one in table.placed}


async def test_at_120_columns_no_less_is_shown_than_at_80() -> None:
    small, large = await columns_at(80), await columns_at(120)
    assert {"name", "replicas", "isr", "osr", "lag"} <= small <= large
