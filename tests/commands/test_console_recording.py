"""What was done in the console, by keys and on the line, at any pace, is recorded and verifies."""

import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from textual import events
from textual.keys import key_to_character
from textual.pilot import Pilot

from commands.cli.main import run_program
from commands.runs.live import completer, live_source
from console.app import TidegaugeApp
from console.screens.base import ConsoleScreen
from console.screens.page import MenuScreen
from sessions.format.file import SessionFile
from sessions.playback.verify import verify
from sessions.recording.recorder import Recorder
from sessions.sources.live import LiveSource

SCRIPT = """cluster --brokers 3 --seed 5 --config zookeeper.session.timeout.ms=3000
topic create orders --partitions 2 --replication-factor 3
wait until orders-0.leader == 0
produce orders --count 5 --value v --acks all
"""
MOMENT = 0.02
KEYS = ("space", "full_stop", "comma", "less_than_sign", "greater_than_sign")
PACE = ("right_parenthesis", "left_parenthesis", "L", "space", "left_square_bracket")
LINES = (
    "produce orders --count 7 --value w --acks all",
    "produce orders --count 3 --value x --acks 1 --async",
    "broker crash 1",
    "broker start 1",
    "wait 2s",
    "network cut 0 2",
    "network heal",
    "mark here with a note",
    "consume orders --from-beginning",
    "show partitions",
    "expect orders-0.leo > 1",
    "produce orders --value y --acks 0",
    "election preferred",
)


class Hands:
    """Somebody at the console."""

    def __init__(self, app: TidegaugeApp, pilot: Pilot[None], source: LiveSource) -> None:
        self.app = app
        self.pilot = pilot
        self.source = source

    async def press(self, *keys: str) -> None:
        """Press keys, as a terminal would."""
        for key in keys:
            self.app.post_message(events.Key(key, key_to_character(key)))
            await self.pilot.pause(MOMENT)

    async def line(self, text: str) -> None:
        """Give a line behind ``:``; in the past, where that is asked, at the live end."""
        await self.press("colon")
        screen = self.app.screen
        assert isinstance(screen, ConsoleScreen)
        screen.prompt.input.value = text
        await self.press("enter")
        if isinstance(self.app.screen, MenuScreen):
            await self.press("down", "enter")
        await self.press("escape")

    async def watch(self, frames: int = 3) -> None:
        """Let time go on as it does."""
        for _ in range(frames):
            await self.pilot.pause(0.1)

    async def until(self, events: int) -> None:
        """Wait until so many events more have happened; time must not stand still."""
        goal = self.source.last_seq + events
        while self.source.last_seq < goal:
            await self.watch(1)


@asynccontextmanager
async def hands(folder: Path, *, paused: bool) -> AsyncIterator[Hands]:
    """A live console on the script, recorded to ``live.tide.db``; closed in order at the end."""
    script = folder / "live.tide"
    script.write_text(SCRIPT)
    source, recorder = live_source(script, folder / "live.tide.db", {}, [])
    try:
        app = TidegaugeApp(source, paused=paused, complete=completer(source))
        async with app.run_test(size=(100, 30)) as pilot:
            await pilot.pause()
            yield Hands(app, pilot, source)
    finally:
        _close(source, recorder)


def _close(source: LiveSource, recorder: Recorder) -> None:
    source.close()
    recorder.close("ok")


def verified(folder: Path) -> list[str]:
    """Verify the recording, end included; gives the statements that it holds."""
    path = folder / "live.tide.db"
    found = verify(path)
    assert found.same, str(found)
    assert found.state_hash is not None
    assert found.outcome == []
    assert run_program(["sessions", "verify", str(path)]) == 0
    with SessionFile(path) as session:
        assert found.events == session.last_seq
        return [each.text for each in session.inputs()]


async def test_statements_given_while_time_runs_at_a_changing_pace_verify(tmp_path: Path) -> None:
    async with hands(tmp_path, paused=False) as driven:
        await driven.watch()
        await driven.line(LINES[0])
        await driven.press("right_parenthesis", "right_parenthesis", "right_parenthesis")
        await driven.line("broker crash 1")
        await driven.until(100)
        await driven.press("left_parenthesis")
        await driven.line("wait 2s")
        await driven.line("produce orders --count 3 --value z --acks all")
        await driven.until(60)
        await driven.line("broker start 1")
        await driven.until(60)
    statements = verified(tmp_path)
    assert statements[4:] == [
        LINES[0],
        "broker crash 1",
        "wait 2s",
        "produce orders --count 3 --value z --acks all",
        "broker start 1",
    ]


async def test_a_cluster_that_is_stepped_held_still_and_walked_back_verifies(
    tmp_path: Path,
) -> None:
    async with hands(tmp_path, paused=True) as driven:
        await driven.press(*["full_stop"] * 9, *["comma"] * 4, "full_stop")
        stood = [driven.source.at_tail]
        await driven.line("produce orders --count 4 --value s --acks all")
        stood.append(driven.source.at_tail)
        assert stood == [False, True]
        await driven.press(*["full_stop"] * 25)
        await driven.line("broker crash 2")
        await driven.press(*["greater_than_sign"] * 3, "comma", "comma")
        driven.source.put_bookmark("by hand", "no event")
        await driven.press("L")
        await driven.until(40)
        await driven.press("space", "full_stop")
    assert "broker crash 2" in verified(tmp_path)
    with SessionFile(tmp_path / "live.tide.db") as session:
        assert [mark.name for mark in session.bookmarks()] == ["by hand"]


@pytest.mark.parametrize("seed", [1, 2])
async def test_whatever_is_done_in_the_console_verifies(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    async with hands(tmp_path, paused=chance.random() < 0.5) as driven:
        for _ in range(30):
            what = chance.random()
            if what < 0.35:
                await driven.press(*chance.choices(KEYS, k=chance.randint(1, 4)))
            elif what < 0.55:
                await driven.press(chance.choice(PACE))
            elif what < 0.8:
                await driven.line(chance.choice(LINES))
            else:
                await driven.watch(chance.randint(1, 2))
    assert len(verified(tmp_path)) > 5


async def test_a_console_that_ends_with_statements_under_way_verifies(tmp_path: Path) -> None:
    async with hands(tmp_path, paused=True) as driven:
        await driven.line("wait 30s")
        await driven.line("produce orders --count 50 --value s --acks all")
        await driven.press("full_stop", "full_stop")
    assert verified(tmp_path)[-1] == "produce orders --count 50 --value s --acks all"
