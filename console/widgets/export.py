"""Export of any view to a file: its lines as CSV or JSON."""

import csv
import io
import re
from pathlib import Path
from typing import Any, Final

from console.render.lines import Line, text_of
from sessions.text import json_text

LINES_MAX: Final = 200_000
"""More lines would block the screen for seconds, so they are not exported from here."""
GROUPED: Final = re.compile(r"-?\d{1,3}(?:,\d{3})+")
FORMULA: Final = re.compile(r"[=@\t\r]|[+-](?!\d*\.?\d*$)")
"""What spreadsheets take for the start of a formula, except in signed numbers."""
FORMATS: Final = ("csv", "json", "svg")
"""The formats of an export; svg is a picture of the whole screen."""


class Exportable:
    """A view whose lines can be exported; by default each as the text that it shows."""

    def count(self) -> int:
        raise NotImplementedError

    def draw(self, index: int) -> Line:
        raise NotImplementedError

    def titles(self) -> list[str]:
        return ["line"]

    def cells(self, index: int) -> list[str]:
        """One line's cells as they are shown."""
        return [text_of(self.draw(index)).strip()]

    def record(self, index: int) -> Any:  # noqa: ANN401 - structs and plain data of all kinds
        """The object of a line with all its fields, as plain data or a struct."""
        return dict(zip(self.titles(), self.cells(index), strict=True))


def plain(cell: str) -> str:
    """A cell for a machine: numbers without their separators."""
    return cell.replace(",", "") if GROUPED.fullmatch(cell) else cell


def inert(cell: str) -> str:
    """Put ``'`` before a cell that a spreadsheet would take for a formula."""
    return f"'{cell}" if FORMULA.match(cell) else cell


def as_csv(view: Exportable) -> str:
    """Export the lines as shown, with a heading."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(view.titles())
    for index in range(view.count()):
        writer.writerow([inert(plain(cell)) for cell in view.cells(index)])
    return text.getvalue()


def as_json(view: Exportable) -> str:
    """Export all fields of each line as a list."""
    rows = ",\n".join(json_text(view.record(index)) for index in range(view.count()))
    return f"[\n{rows}\n]\n" if rows else "[]\n"


def free_name(folder: Path, screen: str, seq: int, ending: str) -> str:
    """A descriptive file name that is not taken yet."""
    stem = f"tidegauge-{screen}-{seq}"
    names = (f"{stem}.{ending}", *(f"{stem}-{turn}.{ending}" for turn in range(2, 10_000)))
    return next(name for name in names if not (folder / name).exists())
