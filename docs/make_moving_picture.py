"""Draw a cast as a moving picture: one SVG that a page or a README shows without a player.

``python -m docs.make_moving_picture [NAME]`` draws ``docs/casts/NAME.cast`` as
``docs/casts/NAME.svg``. Each line that a row of the screen ever shows is drawn once, and is
visible while it is shown. The picture begins again after its end.
"""

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple
from xml.sax.saxutils import escape, quoteattr

from rich.cells import cell_len
from rich.color_triplet import ColorTriplet
from rich.console import Console
from rich.segment import Segment
from rich.style import Style
from rich.terminal_theme import SVG_EXPORT_THEME
from rich.text import Text

HERE: Final = Path(__file__).parent
CAST: Final = "forecast-crash-rewind-why"
CELL_WIDTH: Final = 8.4
CELL_HEIGHT: Final = 18
FONT_SIZE: Final = 14
BASELINE: Final = 13.5
"""Pixels from the top of a row to the line on which letters stand."""
NO_BREAK: Final = "\N{NO-BREAK SPACE}"
"""A space that is kept beside others."""
ROW: Final = re.compile(r"\x1b\[(\d+);1H")
CONSOLE: Final = Console(color_system="truecolor", force_terminal=True, width=1_000)


class Shown(NamedTuple):
    """A line of text with escape sequences, in a row, from one time (s) to another."""

    row: int
    text: str
    begin: float
    end: float


def shown_lines(cast: str) -> tuple[list[Shown], tuple[int, int], float]:
    """Return the lines of a cast, its width and height in cells, and how long it takes (s)."""
    head, *events = map(json.loads, cast.splitlines())
    duration = float(events[-1][0])
    current: dict[int, tuple[str, float]] = {}
    lines = []
    for at, _, written in events:
        parts = ROW.split(written)[1:]
        for row, text in zip(map(int, parts[::2]), parts[1::2], strict=True):
            if row in current:
                lines.append(Shown(row, *current[row], at))
            current[row] = (text, at)
    lines += [Shown(row, text, begin, duration) for row, (text, begin) in current.items()]
    size = (int(head["width"]), int(head["height"]))
    return [line for line in lines if line.end > line.begin], size, duration


def _colours(style: Style | None) -> tuple[str, str]:
    """Return the colours of letters and of what is behind them."""
    theme = SVG_EXPORT_THEME
    style = style or Style()
    front: ColorTriplet = theme.foreground_color
    back: ColorTriplet = theme.background_color
    if style.color is not None and not style.color.is_default:
        front = style.color.get_truecolor(theme)
    if style.bgcolor is not None and not style.bgcolor.is_default:
        back = style.bgcolor.get_truecolor(theme, foreground=False)
    if style.reverse:
        front, back = back, front
    return front.hex, back.hex


def _segments(text: str) -> Iterator[tuple[int, Segment]]:
    """Yield the parts of a line that look alike, each with its column."""
    column = 0
    for segment in Text.from_ansi(text, end="").render(CONSOLE):
        if segment.text:
            yield column, segment
            column += cell_len(segment.text)


def _drawn(line: str, row: int) -> Iterator[str]:
    top = (row - 1) * CELL_HEIGHT
    for column, (text, style, _) in _segments(line):
        front, back = _colours(style)
        left, width = f"{column * CELL_WIDTH:g}", f"{cell_len(text) * CELL_WIDTH:g}"
        yield f'<rect x="{left}" y="{top}" width="{width}" height="{CELL_HEIGHT}" fill="{back}"/>'
        words = text.strip()
        if words:
            x = (column + cell_len(text) - cell_len(text.lstrip())) * CELL_WIDTH
            weight = ' font-weight="bold"' if style and style.bold else ""
            yield (
                f'<text x="{x:g}" y="{top + BASELINE:g}"'
                f' textLength="{cell_len(words) * CELL_WIDTH:g}" fill="{front}"{weight}>'
                f"{escape(words).replace(' ', NO_BREAK)}</text>"
            )


def _visible(line: Shown, duration: float) -> str:
    """Return the animation that shows a line in its time; none if it is always shown."""
    begin, end = line.begin / duration, line.end / duration
    steps = [(0.0, "hidden")] * (begin > 0) + [(begin, "visible")] + [(end, "hidden")] * (end < 1)
    if len(steps) == 1:
        return ""
    times = ";".join(f"{time:.4f}".rstrip("0").rstrip(".") or "0" for time, _ in steps)
    values = ";".join(value for _, value in steps)
    return (
        f'<animate attributeName="visibility" calcMode="discrete" dur="{duration:g}s"'
        f' repeatCount="indefinite" keyTimes="{times}" values="{values}"/>'
    )


def moving_picture(cast: str, title: str) -> str:
    """Return a cast as an SVG."""
    lines, (columns, rows), duration = shown_lines(cast)
    width, height = columns * CELL_WIDTH, rows * CELL_HEIGHT
    drawn = [
        f'<g visibility="{"hidden" if line.begin else "visible"}">'
        f"{_visible(line, duration)}{''.join(_drawn(line.text, line.row))}</g>"
        for line in sorted(lines, key=lambda line: (line.begin, line.row))
    ]
    font = "Fira Code, DejaVu Sans Mono, Menlo, Consolas, monospace"
    return "\n".join((
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height}" role="img"'
        f" aria-label={quoteattr(title)} font-family={quoteattr(font)} font-size=\"{FONT_SIZE}\">",
        f"<title>{escape(title)}</title>",
        f'<rect width="100%" height="100%" fill="{SVG_EXPORT_THEME.background_color.hex}"/>',
        *drawn,
        "</svg>\n",
    ))  # fmt: skip


def title_of(name: str) -> str:
    """Return what a cast's picture is called."""
    return f"tidegauge: {name.replace('-', ', ')}"


def main(name: str) -> None:
    """Draw one cast."""
    cast = (HERE / "casts" / f"{name}.cast").read_text(encoding="utf-8")
    picture = moving_picture(cast, title_of(name))
    path = HERE / "casts" / f"{name}.svg"
    path.write_text(picture, encoding="utf-8")
    sys.stderr.write(f"{path.name}: {len(picture):,} bytes\n")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else CAST)
