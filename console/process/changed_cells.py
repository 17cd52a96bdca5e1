"""What an update changes of the cells that a terminal shows; the rest is not sent again.

Textual sends each line that changed as a whole. Of most lines, such as one with the time, only some
cells change, and a slow link is then busy with the others.
"""

from collections.abc import Iterator
from typing import Final, NamedTuple

from rich.color import ColorSystem
from rich.console import Console
from rich.segment import ControlType, Segment
from textual._compositor import ChopsUpdate

GAP_MAX: Final = 12
"""Unchanged cells between two changes that are sent as well: to skip them takes more bytes."""
RESET: Final = "\x1b[0m"


class Cell(NamedTuple):
    """A character and how it looks, as a terminal is told; a wide one has a second cell, ``""``."""

    text: str
    codes: str


class ShownCells:
    """The cells that the terminal shows, as far as they are known."""

    def __init__(self) -> None:
        self._rows: dict[int, dict[int, Cell]] = {}

    def forget(self) -> None:
        """Know nothing: all is drawn anew."""
        self._rows.clear()

    def changes(self, update: ChopsUpdate) -> ChopsUpdate:
        """What of an update has to be sent; once it is rendered, the terminal shows it."""
        return _Changes(self, update)

    def sequences(self, update: ChopsUpdate, console: Console) -> Iterator[str]:
        """The text for the terminal: moves of its cursor and what is written there."""
        for y, x, cells in _runs(update, console):
            row = self._rows.setdefault(y, {})
            _forget_wide(row, x)
            _forget_wide(row, x + len(cells))
            for begin, end in _changed(row, x, cells):
                yield f"\x1b[{y + 1};{x + begin + 1}H{_written(cells[begin:end])}"
            row.update(enumerate(cells, start=x))


class _Changes(ChopsUpdate):
    def __init__(self, shown: ShownCells, update: ChopsUpdate) -> None:
        super().__init__(update.chops, update.spans, update.chop_ends)
        self._shown = shown

    def render_segments(self, console: Console) -> str:
        return "".join(self._shown.sequences(self, console))


def _runs(update: ChopsUpdate, console: Console) -> Iterator[tuple[int, int, list[Cell]]]:
    """Line, column and cells of each part of the update that is in one piece."""
    system = console._color_system or ColorSystem.TRUECOLOR
    x = y = 0
    cells: list[Cell] = []
    for segment in update.__rich_console__(console, console.options):
        assert isinstance(segment, Segment)
        if segment.control:
            if cells:
                yield y, x, cells
            cells = []
            for code in segment.control:
                if code[0] is ControlType.CURSOR_MOVE_TO:
                    x, y = (int(number) for number in code[1:])
        elif segment.text != "\n":
            cells += _cells(segment, system)
    if cells:
        yield y, x, cells


def _cells(segment: Segment, system: ColorSystem) -> Iterator[Cell]:
    codes = "" if segment.style is None else segment.style._make_ansi_codes(system)
    if segment.cell_length == len(segment.text):
        yield from (Cell(character, codes) for character in segment.text)
    else:
        yield Cell(segment.text, codes)
        yield from [Cell("", codes)] * (segment.cell_length - 1)


def _forget_wide(row: dict[int, Cell], x: int) -> None:
    """Forget a wide character of which only the part before or after ``x`` is written over."""
    if x in row and not row[x].text:
        begin = x
        while begin in row and not row[begin].text:
            begin -= 1
        row.pop(begin, None)
        begin += 1
        while begin in row and not row[begin].text:
            del row[begin]
            begin += 1


def _changed(row: dict[int, Cell], x: int, cells: list[Cell]) -> Iterator[tuple[int, int]]:
    """Begin and end of the parts that differ from what is shown; small gaps are closed."""
    begin = end = -1
    for place, cell in enumerate(cells):
        if row.get(x + place) == cell:
            continue
        if begin >= 0 and place - end > GAP_MAX:
            yield begin, end
            begin = -1
        if begin < 0:
            begin = place
            while begin and not cells[begin].text:  # the second cell of a wide character
                begin -= 1
        end = place + 1
    if begin >= 0:
        while end < len(cells) and not cells[end].text:
            end += 1
        yield begin, end


def _written(cells: list[Cell]) -> str:
    parts: list[str] = []
    codes = ""
    for cell in cells:
        if cell.codes != codes:
            codes = cell.codes
            parts.append(f"\x1b[0;{codes}m" if codes else RESET)
        parts.append(cell.text)
    return "".join(parts) + (RESET if codes else "")
