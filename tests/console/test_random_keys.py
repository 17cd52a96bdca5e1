"""Any keys, clicks and sizes in any order: nothing raises, and what is shown is the view.

Two things are compared after some keys. The read model is what folding the events up to the cursor
gives, so no jump left it elsewhere. And drawing everything anew, with nothing kept, gives the same
picture: so nothing on screen is older than the cursor.
"""

import asyncio
from pathlib import Path
from typing import Final

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from textual import events as keys
from textual.keys import key_to_character
from textual.pilot import Pilot

from commands.runs.live import live_source
from console.actions.lookup import ACTIONS
from console.app import TidegaugeApp
from console.screens.base import ConsoleScreen
from console.widgets.virtual_view import VirtualView
from sessions.model.cluster_view import ClusterView
from sessions.sources.replay import ReplaySource
from sessions.sources.source import Source
from sessions.text import clock
from tests.console.clock import virtual_time
from tests.console.driving import LARGE, SMALL, Console, PatientApp
from tests.console.test_every_key import called
from tests.support.releases import THOROUGH

SCRIPT: Final = """cluster --brokers 3 --seed 7 --config zookeeper.session.timeout.ms=4000
topic create orders --partitions 4 --replication-factor 3 --config min.insync.replicas=2
wait until orders-3.leader == 0
produce orders --value a --count 6 --acks all
mark calm "before it"
replica pause orders-0@2
produce orders --value b --count 3 --acks 1
broker crash 0
wait until orders-3.leader == 1
replica resume orders-0@2
produce orders --value c --count 2 --acks 1 --retries 9
consume orders
broker start 0
wait 2s
"""
NEVER: Final = {"app.quit", "app.export", "app.suspend"}
"""Actions that leave something behind, or nothing to look at."""
KEYS: Final = sorted(
    {called(action.keys[0]) for action in ACTIONS.values() if action.id not in NEVER}
    | {"x", "7", "backspace", "space"}
)
KEYS_BETWEEN_LOOKS: Final = 6
Given = str | tuple[str, int, int]
"""A key; or a click or a turn of the wheel at a place in percent; or a size."""


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("random-keys")
    script, path = folder / "script.tide", folder / "script.tide.db"
    script.write_text(SCRIPT)
    source, recorder = live_source(script, path, {}, ())
    source.close()
    recorder.close("ok")
    return path


def folded(source: Source) -> bytes:
    """What the events up to the cursor make."""
    view = ClusterView()
    view.apply_all(source.events(1, source.seq))
    return view.encode()


async def look(driven: Console, source: Source) -> None:
    """Compare what is shown with the view at the cursor."""
    app = driven.app
    app.stage.pacer.paused = True
    app.clear_notifications()
    if not isinstance(app.screen, ConsoleScreen):
        await app.pop_screen()
    await driven.settle()
    assert source.view.encode() == folded(source)
    shown = driven.lines()
    for view in app.screen.query(VirtualView):
        view.forget()
    app.stage.index.__init__()  # type: ignore[misc]
    app.stage.turn += 1
    app.paint()
    await driven.settle()
    assert driven.lines() == shown
    header = next((row for row in shown if "seed 7" in row), "")
    if header:
        assert f"#{source.seq:,}" in header
        assert clock(source.time_us) in header


async def do(app: TidegaugeApp, pilot: Pilot[None], given: Given) -> None:
    """Press a key, click or turn the wheel somewhere, or give the terminal another size."""
    match given:
        case str():
            app.post_message(keys.Key(given, key_to_character(given)))
        case ("size", width, height):
            await pilot.resize_terminal(width, height)
        case (kind, x, y):
            where = (x * app.size.width // 100, y * app.size.height // 100)
            if kind == "click":
                await pilot.click(offset=where)
            else:
                widget, _ = app.screen.get_widget_at(*where)
                wheel = keys.MouseScrollUp if kind == "up" else keys.MouseScrollDown
                widget.post_message(wheel(widget, 1, 1, 0, 1, 0, False, False, False))
    await pilot.pause()


async def play(
    source: Source, pressed: list[Given], size: tuple[int, int], *, paused: bool
) -> None:
    app = PatientApp(source, paused=paused)
    with virtual_time():
        async with app.run_test(size=size) as pilot:
            driven = Console(app, pilot, source)
            await driven.start()
            for number, given in enumerate(pressed, start=1):
                await do(app, pilot, given)
                if number % KEYS_BETWEEN_LOOKS == 0 or number == len(pressed):
                    await look(driven, source)


PERCENT = st.integers(0, 99)
MOUSE = st.tuples(st.sampled_from(["click", "up", "down"]), PERCENT, PERCENT)
RESIZED = st.tuples(st.just("size"), st.integers(60, 200), st.integers(15, 60))
PRESSED = st.lists(
    st.one_of(st.sampled_from(KEYS), st.sampled_from(KEYS), MOUSE, RESIZED),
    min_size=12,
    max_size=30,
)
SIZES = st.sampled_from([LARGE, SMALL])
FEW = settings(
    max_examples=5 if THOROUGH else 2,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@FEW
@given(PRESSED, SIZES)
def test_any_keys_on_a_recording_show_the_view_at_the_cursor(
    session: Path, pressed: list[Given], size: tuple[int, int]
) -> None:
    source = ReplaySource(session)
    source.seek_seq(source.last_seq * 2 // 3)
    asyncio.run(play(source, pressed, size, paused=True))
    source.close()


@FEW
@given(PRESSED, SIZES, st.booleans())
def test_any_keys_on_a_live_cluster_show_the_view_at_the_cursor(
    tmp_path_factory: pytest.TempPathFactory,
    pressed: list[Given],
    size: tuple[int, int],
    paused: bool,
) -> None:
    script = tmp_path_factory.mktemp("random-keys") / "script.tide"
    script.write_text(SCRIPT)
    source, recorder = live_source(script, None, {}, ())
    with recorder:
        asyncio.run(play(source, pressed, size, paused=paused))
        source.close()
