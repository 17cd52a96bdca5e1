"""The current view as a file: CSV and JSON of its lines, whatever kind of view it is."""

import csv
import io
import re
from pathlib import Path
from typing import Any, Final

from console.render.lines import Line, text_of
from sessions.text import json_text

LINES_MAX: Final = 200_000
"""More lines than this are not for a screen's export: it would hold the screen for seconds."""
GROUPED: Final = re.compile(r"-?\d{1,3}(?:,\d{3})+")
NUMBER: Final = re.compile(r"[+-]?\d+(?:\.\d+)?")
FORMULA: Final = re.compile(r"[=@\t\r]|[+-].")
"""How cells begin that spreadsheets run; a lone dash stands for no value."""
FORMATS: Final = ("csv", "json", "svg")
"""What a view can be written as; svg is a picture of the whole screen."""


class Exportable:
    """A view whose lines can be written to a file: by default each as the text that it shows."""

    def count(self) -> int:
        """How many lines there are."""
        raise NotImplementedError

    def draw(self, index: int) -> Line:
        """The text of a line."""
        raise NotImplementedError

    def titles(self) -> list[str]:
        """The names of the columns."""
        return ["line"]

    def cells(self, index: int) -> list[str]:
        """One line's cells as they are shown."""
        return [text_of(self.draw(index)).strip()]

    def record(self, index: int) -> Any:  # noqa: ANN401 - structs and plain data of all kinds
        """All that is known of what one line shows, as plain data or a struct."""
        return dict(zip(self.titles(), self.cells(index), strict=True))


def plain(cell: str) -> str:
    """A cell for a machine: numbers without their separators.

    A text that a spreadsheet would run as a formula gets an apostrophe in front, as OWASP advises:
    names and values are other people's.
    """
    if GROUPED.fullmatch(cell):
        return cell.replace(",", "")
    return f"'{cell}" if FORMULA.match(cell) and not NUMBER.fullmatch(cell) else cell


def as_csv(view: Exportable) -> str:
    """A heading and a row for each line, as they are shown."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(view.titles())
    writer.writerows([plain(cell) for cell in view.cells(i)] for i in range(view.count()))
    return text.getvalue()


def as_json(view: Exportable) -> str:
    """A list with all that is known of each line."""
    rows = ",\n".join(json_text(view.record(index)) for index in range(view.count()))
    return f"[\n{rows}\n]\n" if rows else "[]\n"


def free_name(folder: Path, screen: str, seq: int, ending: str) -> str:
    """A file name that says what is in it and is not taken yet."""
    stem = f"tidegauge-{screen}-{seq}"
    names = (f"{stem}.{ending}", *(f"{stem}-{turn}.{ending}" for turn in range(2, 10_000)))
    return next(name for name in names if not (folder / name).exists())
