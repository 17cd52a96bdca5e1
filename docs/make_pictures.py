"""Draw the console's pictures in docs/pictures/ anew, from scripts: they cannot go stale.

``python docs/make_pictures.py [FOLDER [SCENE..]]`` runs each scene on the emulator, opens it in the
console without a terminal at 120x40 and 80x24 (some at other sizes), presses its keys, and saves
what is shown as SVG.
"""

import asyncio
import contextlib
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from commands.runs.console_library import ConsoleLibrary
from commands.runs.live import live_source, replay_source
from console.app import TidegaugeApp
from sessions.postmortem.incident import read_sources
from sessions.postmortem.session import record
from sessions.sources.source import Source

FOLDER = Path(__file__).parent / "pictures"
INCIDENTS = Path(__file__).parents[1] / "tests/sessions/postmortem/recordings/incidents"
SIZES = ((120, 40), (80, 24))
LARGE = ((200, 60),)
SETTLING = 20
"""How many frames a scene gets: what is predicted, for example, comes a little later."""

CRASH = """
cluster --brokers 3 --seed 7 --config zookeeper.session.timeout.ms=4000
topic create orders --partitions 6 --replication-factor 3 --config min.insync.replicas=2
topic create payments --partitions 3 --replication-factor 3
wait until orders-5.leader == 2 and payments-2.leader == 2
produce orders --producer shop --value order --count 40 --acks all --retries 20
produce payments --producer bank --value payment --count 12 --acks all --retries 20
mark baseline
broker crash 1
wait until orders-1.leader == 2
settle
produce orders --producer shop --value order --count 12 --acks 1 --retries 20
mark one-down
"""
TAPES = """
cluster --brokers 3 --seed 7 --config zookeeper.session.timeout.ms=4000
topic create orders --replica-assignment 1:2:0
wait until orders-0.leader == 1
produce orders --count 8 --value a --acks all --retries 5
settle
replica pause orders-0@0
produce orders --count 3 --value b --acks 1 --retries 5
broker crash 1
wait until orders-0.leader == 2
settle
replica resume orders-0@0
produce orders --count 4 --value c --acks all --retries 5
replica pause orders-0@0
produce orders --count 2 --value d --acks 1 --retries 5
"""


DAY = """
cluster --brokers 3 --seed 7
topic create orders --partitions 6 --replication-factor 3 --config min.insync.replicas=2
topic create payments --partitions 3 --replication-factor 3
topic create clicks --partitions 4 --replication-factor 2
wait until orders-5.state == online and payments-2.state == online and clicks-3.state == online
produce orders --producer shop --value order --acks all --retries 20 --partitioner roundrobin \\
  --count 1000000 --every 200ms --async
produce payments --producer bank --value payment --acks all --retries 20 \\
  --partitioner roundrobin --count 1000000 --every 500ms --async
produce clicks --producer web --value click --acks 1 --retries 20 --partitioner roundrobin \\
  --count 1000000 --every 250ms --async
wait 10s
broker crash 1
wait 40s
broker start 1
wait until under_replicated == 0
wait 5s
election preferred
wait 10s
broker crash 0
wait 25s
broker start 0
wait 12s
"""
LOSS = """
cluster --brokers 3 --seed 7 --config zookeeper.session.timeout.ms=4000
topic create orders --replica-assignment 1:2:0
wait until orders-0.leader == 1
produce orders --value paid --count 3 --acks all
replica pause orders-0@2
replica pause orders-0@0
produce orders --value shipped --count 4 --acks 1
broker crash 1
wait until orders-0.leader == 2
produce orders --value returned --count 2 --acks 1
broker start 1
wait 5s
"""


TRUE_COLOUR = {"TERM": "xterm-256color", "COLORTERM": "truecolor"}
"""Environment variables of a terminal that shows all colours, whatever this one does."""
QUESTIONS = Path(__file__).parent / "questions"
QUESTION_SIZES = ((100, 24),)


class Scene(NamedTuple):
    """What is drawn: a script, the keys to press, and whether a recording of it is shown.

    In place of a script there may be the history of a real cluster, a folder of ``INCIDENTS``.
    """

    name: str
    script: str
    keys: tuple[str, ...]
    is_replay: bool = False
    sizes: tuple[tuple[int, int], ...] = SIZES
    variables: tuple[tuple[str, str], ...] = ()
    history: str = ""


def of_question(page: str, *keys: str, **variables: str) -> Scene:
    """The end of the script that a page of questions/ begins with."""
    text = (QUESTIONS / f"{page}.md").read_text(encoding="utf-8")
    script = text.partition("```tide ")[2].partition("\n")[2].partition("```")[0]
    return Scene(
        f"question-{page}", script, keys, is_replay=True, sizes=QUESTION_SIZES,
        variables=tuple(variables.items()),
    )  # fmt: skip


HISTORIES = {
    "last-in-sync": {
        "overview": ("1",),
        "isr": ("5", "slash", *"shrank", "enter", "enter"),
        "why": ("2", "W"),
    },
    "zombie-leader": {
        "overview": ("1",),
        "asked": ("5", "slash", *"shrank", "enter", "enter"),
        "why": ("2", "W"),
    },
}
"""The pictures of each history, by name: the keys that lead there."""
SCENES = (
    Scene("overview", CRASH, ("1",)),
    Scene("over-time", DAY, ("1",), sizes=LARGE),
    Scene("partitions", CRASH, ("2",)),
    Scene("tapes", TAPES, ("2", "enter")),
    Scene("brokers", CRASH, ("3",)),
    Scene("znodes", CRASH, ("4", "right", "down", "down")),
    Scene("events", CRASH, ("5",)),
    Scene("lab", CRASH, ("7", "down", "down")),
    Scene("faults", CRASH, ("3", "down", "x")),
    Scene("diagram", LOSS, ("5", "slash", *"truncated", "enter", "D")),
    Scene("lost", LOSS, ("X",)),
    Scene("record", TAPES, ("2", "enter", "enter")),
    Scene("replay", CRASH, ("2", "G"), is_replay=True),
    of_question("isr-shrank", "2"),
    of_question("unclean-election", "2", "enter"),
    of_question("two-of-three", "2"),
    of_question("offset-out-of-range", "2", "enter"),
    of_question("twice", "2", "enter", HOW="--retries 1000"),
    of_question("hanging-transaction", "2", "down", "enter"),
    of_question("rebalance", "O", PROTOCOL="consumer"),
    of_question("poison-record", "5", "slash", *"orders-0 1..1", "enter"),
    of_question("failover-time", "1", HOW="crash"),
    of_question("no-controller", "3"),
    of_question("leaders-moved", "2", BALANCE="false"),
    *(
        Scene(f"{history}-{name}", "", keys, sizes=SIZES[:1], history=history)
        for history, scenes in HISTORIES.items()
        for name, keys in scenes.items()
    ),
)


async def _draw(source: Source, scene: Scene, size: tuple[int, int], folder: Path) -> Path:
    app = TidegaugeApp(source, paused=True, library=ConsoleLibrary())
    app.stage.settle()
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        for key in scene.keys:
            await pilot.press(key)
        for _ in range(SETTLING):
            await pilot.pause(0.05)
            app.frame()
        picture = app.export_screenshot(title=f"tidegauge: {scene.name}")
    path = folder / f"{scene.name}-{size[0]}x{size[1]}.svg"
    path.write_text(picture)
    return path


def _show_history(scene: Scene, size: tuple[int, int], folder: Path) -> Path:
    with tempfile.TemporaryDirectory() as made, contextlib.chdir(INCIDENTS):
        session = Path(made, f"{scene.history}.tide.db")
        log, lines = read_sources([scene.history])
        record(log, session, [scene.history], lines=lines)
        source = replay_source(session)
        source.to_tail()
        return asyncio.run(_draw(source, scene, size, folder))


def _show(scene: Scene, size: tuple[int, int], folder: Path) -> Path:
    if scene.history:
        return _show_history(scene, size, folder)
    with tempfile.TemporaryDirectory() as made:
        script, recording = Path(made, "scene.tide"), Path(made, "scene.tide.db")
        script.write_text(scene.script)
        source, recorder = live_source(script, recording, dict(scene.variables), ())
        if not scene.is_replay:
            try:
                return asyncio.run(_draw(source, scene, size, folder))
            finally:
                recorder.close("pictures")
        recorder.close("pictures")
        replayed = replay_source(recording)
        replayed.to_tail()
        return asyncio.run(_draw(replayed, scene, size, folder))


def main(folder: Path, names: Sequence[str] = ()) -> None:
    """Draw every scene at every size; with names only those of them."""
    os.environ |= TRUE_COLOUR
    folder = folder.absolute()
    folder.mkdir(parents=True, exist_ok=True)
    for scene in SCENES:
        if names and scene.name not in names:
            continue
        for size in scene.sizes:
            sys.stderr.write(f"{_show(scene, size, folder).name}\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER, sys.argv[2:])
