"""The pictures of the documentation can be read: each text against the rectangle under it."""

import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Final, NamedTuple
from xml.etree import ElementTree

import pytest
from textual.color import Color

from console.styles.roles import contrast
from docs.make_moving_picture import CAST, moving_picture, shown_lines, title_of
from tests.console.driving import console

PICTURES: Final = sorted((Path(__file__).parent.parent / "docs/pictures").glob("*.svg"))
CASTS: Final = PICTURES[0].parent.parent / "casts"
GREY_OF_16_COLOURS: Final = "#aaaaaa"
CONTRAST_MIN: Final = 3.0
CLASS_COLOR: Final = re.compile(r"\.(terminal-\d+-r\d+) \{ fill: (#[0-9a-f]{6})")
SVG: Final = "{http://www.w3.org/2000/svg}"
LINE_HEIGHT: Final = 24.4
BASELINE: Final = 18.5
"""How far below the top of its rectangle a text's baseline is, in pixels."""


class Shown(NamedTuple):
    """A text in a picture, its colour, and the colour under it."""

    text: str
    color: Color
    below: Color


def texts(picture: str) -> Iterator[Shown]:
    """Yield the texts of the terminal in a picture that has letters or digits."""
    colors = dict(CLASS_COLOR.findall(picture))
    root = ElementTree.fromstring(picture)
    terminal = root.findall(f"{SVG}g")[-1]
    rectangles: dict[tuple[int, int], str] = {}
    for rectangle in terminal.iter(f"{SVG}rect"):
        left, top = float(rectangle.attrib["x"]), float(rectangle.attrib["y"])
        rectangles[round(left), round(top / LINE_HEIGHT)] = rectangle.attrib["fill"]
    for text in terminal.iter(f"{SVG}text"):
        shown = (text.text or "").replace("\xa0", " ")
        if text.attrib["class"] not in colors or not re.search(r"\w", shown):
            continue
        left, top = float(text.attrib["x"]), float(text.attrib["y"]) - BASELINE
        below = rectangles[round(left), round(top / LINE_HEIGHT)]
        yield Shown(shown, Color.parse(colors[text.attrib["class"]]), Color.parse(below))


def unreadable(picture: str) -> list[Shown]:
    """Return the texts whose contrast falls short."""
    return [each for each in texts(picture) if contrast(each.color, each.below) < CONTRAST_MIN]


@pytest.mark.parametrize("path", PICTURES, ids=lambda path: path.stem)
def test_every_text_of_a_picture_can_be_read(path: Path) -> None:
    picture = path.read_text(encoding="utf-8")
    assert len(list(texts(picture))) > 20
    assert not unreadable(picture)
    assert GREY_OF_16_COLOURS not in picture


def test_the_moving_picture_shows_what_was_recorded() -> None:
    cast = (CASTS / f"{CAST}.cast").read_text(encoding="utf-8")
    picture = (CASTS / f"{CAST}.svg").read_text(encoding="utf-8")
    assert picture == moving_picture(cast, title_of(CAST))
    lines, (columns, rows), duration = shown_lines(cast)
    assert (columns, rows) == (100, 30)
    for row in range(1, rows + 1):  # each row is drawn from the beginning to the end, without gaps
        times = sorted((line.begin, line.end) for line in lines if line.row == row)
        assert (times[0][0], times[-1][1]) == (0, duration)
        assert all(end == begin for (_, end), (begin, _) in pairwise(times))
    assert not list(ElementTree.fromstring(picture).iter(f"{SVG}script"))


async def test_a_terminal_with_16_colours_exports_true_colour(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("COLORTERM", raising=False)
    async with console() as shown:
        await shown.press("2")
        assert shown.app.console.color_system == "standard"
        assert not unreadable(shown.app.export_screenshot())
        assert shown.app.console.color_system == "standard"
