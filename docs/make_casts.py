"""Record the casts in docs/casts/ anew, from scripts and keys: they cannot go stale.

``python -m docs.make_casts [FOLDER]`` opens each scene in the console without a terminal, presses
its keys one after the other, and writes what is shown as an asciinema cast (version 2), which
``asciinema play`` shows in a terminal. Nothing in them depends on how fast this machine is.
"""

import asyncio
import io
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from rich.console import Console
from textual.pilot import Pilot

from commands.runs.live import live_source
from console.app import TidegaugeApp
from docs.make_pictures import CRASH, TAPES, TRUE_COLOUR
from sessions.sources.source import Source

FOLDER = Path(__file__).parent / "casts"
WIDTH, HEIGHT = 100, 30
BEFORE_SECONDS = 1.5
"""How long the first picture stays."""
KEY_SECONDS = 0.7
"""How long each following one does."""
SETTLED_SECONDS = 1.0
"""What has not changed for so long is done."""
TYPED_SECONDS = 0.06
"""How long it takes to type a letter."""


FORECAST = CRASH[: CRASH.index("mark baseline")]
"""A healthy cluster with records, in which a crash is forecast, done and explained."""


class Cast(NamedTuple):
    """A script, and what is pressed: names of keys, ``"text"`` that is typed, ``wait``."""

    name: str
    script: str
    keys: tuple[str, ...]


CASTS = (
    Cast(
        "broker-crash",
        CRASH,
        ("2", "down", "down", '":broker crash 2"', "enter", *["."] * 12, "W", "escape", "escape"),
    ),
    Cast(
        "forecast-crash-rewind-why",
        FORECAST,
        (
            *("3", "down", "x", "c", "wait", "escape", "escape"),
            *('":broker crash 1"', "enter", "2", "wait", "g", "W", "wait", "escape", "escape"),
            *("2", "<", "<", "<", "<", ">", ">", ">", ">"),
        ),
    ),
    Cast("truncation-by-epoch", TAPES, ("2", "enter", *["<"] * 10, *[">"] * 10)),
)


def _pressed(keys: tuple[str, ...]) -> list[tuple[str, float]]:
    """Each single key, and how long what it shows stays."""
    found = []
    for key in keys:
        if key.startswith('"'):
            found += [(_named(letter), TYPED_SECONDS) for letter in key.strip('"')]
        else:
            found.append((key, KEY_SECONDS))
    return found


def _named(letter: str) -> str:
    return {" ": "space", ":": "colon"}.get(letter, letter)


def _lines(app: TidegaugeApp) -> list[str]:
    """What the screen shows, line by line, as a terminal is told."""
    text = io.StringIO()
    console = Console(
        file=text, width=WIDTH, height=HEIGHT, force_terminal=True, color_system="truecolor"
    )
    console.print(app.screen._compositor.render_update(full=True))  # as Textual's own screenshots
    return text.getvalue().rstrip("\n").split("\n")


def _changes(before: list[str], after: list[str]) -> str:
    """What brings a terminal from one picture to the next."""
    return "".join(
        f"\x1b[{row};1H{line}"
        for row, line in enumerate(after, start=1)
        if row > len(before) or before[row - 1] != line
    )


async def _settled(app: TidegaugeApp, pilot: Pilot[None]) -> list[str]:
    """What is shown once what is worked out, or waited for, is done."""
    shown, before = _lines(app), list[str]()
    while shown != before:
        await pilot.pause(SETTLED_SECONDS)
        shown, before = _lines(app), shown
    return shown


async def _recorded(source: Source, cast: Cast) -> list[tuple[float, str]]:
    app = TidegaugeApp(source, paused=True)
    app.stage.settle()
    frames = []
    async with app.run_test(size=(WIDTH, HEIGHT)) as pilot:
        await pilot.pause()
        shown = _lines(app)
        frames.append((0.0, _changes([], shown)))
        at = BEFORE_SECONDS
        for key, seconds in _pressed(cast.keys):
            before = shown
            if key == "wait":
                shown = await _settled(app, pilot)
            else:
                await pilot.press(key)
                await pilot.pause()
                shown = _lines(app)
            frames.append((at, _changes(before, shown)))
            at += seconds
    return [*frames, (at + BEFORE_SECONDS, "")]


def record(cast: Cast, folder: Path) -> Path:
    """Write one cast; returns its file."""
    with tempfile.TemporaryDirectory() as made:
        script = Path(made, "cast.tide")
        script.write_text(cast.script)
        source, recorder = live_source(script, Path(made, "cast.tide.db"), {}, ())
        try:
            frames = asyncio.run(_recorded(source, cast))
        finally:
            recorder.close("cast")
    path = folder / f"{cast.name}.cast"
    head = {"version": 2, "width": WIDTH, "height": HEIGHT, "title": f"tidegauge: {cast.name}"}
    rows = [json.dumps(head), *(json.dumps([round(at, 2), "o", text]) for at, text in frames)]
    path.write_text("\n".join(rows) + "\n")
    return path


def main(folder: Path) -> None:
    """Record every cast."""
    os.environ |= TRUE_COLOUR
    folder.mkdir(parents=True, exist_ok=True)
    for cast in CASTS:
        sys.stderr.write(f"{record(cast, folder).name}\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER)
