"""A terminal that gets only changed cells shows what one shows that gets everything."""

import re
from typing import Any

import pytest
from rich.console import Console, RenderableType
from rich.segment import Segment
from textual._compositor import ChopsUpdate, LayoutUpdate
from textual.screen import Screen
from textual.strip import Strip

from console.process.changed_cells import ShownCells
from tests.console.driving import PatientApp, console
from tests.console.fakes import ListSource, failover

TOKEN = re.compile(r"\x1b\[([0-9;]*)([Hm])|(\r?\n)|([^\x1b\r\n])")
CONSOLE = Console(force_terminal=True, color_system="truecolor", width=120)


class Grid:
    """What a terminal shows: characters with their attributes."""

    def __init__(self) -> None:
        self.cells: dict[tuple[int, int], tuple[str, str]] = {}

    def take(self, text: str) -> None:
        """Write what a terminal receives."""
        x = y = 0
        codes = ""
        for numbers, letter, newline, character in TOKEN.findall(text):
            if letter == "H":
                y, x = (int(number) - 1 for number in numbers.split(";"))
            elif letter == "m":
                codes = "" if numbers == "0" else numbers.removeprefix("0;")
            elif newline:
                x, y = 0, y + 1
            else:
                self.cells[y, x] = (character, codes)
                x += 1


async def test_changed_cells_alone_show_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    whole, less, shown = Grid(), Grid(), ShownCells()
    sent = [0, 0]

    def display(app: PatientApp, screen: Screen[Any], update: RenderableType | None) -> None:
        app.drawn += 1
        if isinstance(update, ChopsUpdate):
            texts = [each.render_segments(CONSOLE) for each in (update, shown.changes(update))]
            for place, (grid, text) in enumerate(zip((whole, less), texts, strict=True)):
                grid.take(text)
                sent[place] += len(text)
        elif isinstance(update, LayoutUpdate):
            shown.forget()
            for grid in (whole, less):
                grid.take(update.render_segments(CONSOLE))
        different = {place for place in whole.cells if whole.cells[place] != less.cells[place]}
        assert not different

    monkeypatch.setattr(PatientApp, "_display", display)
    source = ListSource(failover(), at=60)
    async with console(source, "2", sends=True) as driven:
        await driven.press("down", "full_stop", "full_stop", "comma", "3", "1", "5", "up")
        await driven.press("question_mark", "escape", "slash", "a", "escape", "L", "2", "enter")
    assert 0 < sent[1] < sent[0] * 2 / 3  # whole screens follow each other here


def line_of(text: str) -> ChopsUpdate:
    strip = Strip([Segment(text)])
    return ChopsUpdate([{0: strip}], [(0, 0, strip.cell_length)], [[strip.cell_length]])


def test_a_wide_character_is_sent_whole_or_not_at_all() -> None:
    shown = ShownCells()
    sent = [
        shown.changes(line_of(text)).render_segments(CONSOLE)
        for text in ("a\u6f22b", "a\u6f22b", "axyb", "axzb", "a\u6f22b")
    ]
    place = "\x1b[1;{}H".format
    assert sent == [
        f"{place(1)}a\u6f22b",
        "",
        f"{place(1)}axyb",
        f"{place(3)}z",
        f"{place(1)}a\u6f22b",
    ]
