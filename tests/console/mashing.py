"""Keys, mouse, pasted text and sizes at random, as fast as a terminal takes them.

A seed gives the same sequence everywhere; how fast the console gets it depends on the machine.
"""

import os
import random
import re
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

from console.actions.lookup import ACTIONS
from tests.console.terminals import PATIENCE_SECONDS, Terminal

SCRIPT: Final = """\
cluster --brokers 3 --seed 7{mode}
topic create orders --partitions 4 --replication-factor 3 --config min.insync.replicas=2
wait until orders-3.leader >= 0
produce orders --count 6 --acks all --retries 9
broker crash 0
wait 12s
produce orders --count 3 --acks 1 --retries 9
broker start 0
wait 3s
"""
NEVER: Final = {"ctrl+q", "ctrl+c", "ctrl+z"} | {"R", "E", "M", "v"}
"""Keys that end or suspend the console, and those that begin work of minutes."""
NAMES: Final = {
    "escape": "Escape",
    "enter": "Enter",
    "space": "Space",
    "tab": "Tab",
    "shift+tab": "BTab",
    "delete": "DC",
    "pageup": "PPage",
    "pagedown": "NPage",
    "home": "Home",
    "end": "End",
    "up": "Up",
    "down": "Down",
    "left": "Left",
    "right": "Right",
    "shift+left": "S-Left",
    "shift+right": "S-Right",
}
"""The keys that tmux calls otherwise."""
PASTED: Final = ("orders", "broker crash 1", "wait 1s\nshow partitions", "re:(", "#100\n\n\t\x07")
TYPED: Final = ("ord", ":help", "/isr<min", "t12s", "b mark", "when urp>0")
PAUSES: Final = (0.0, 0.0, 0.01, 0.03, 0.1)
DONE_MIN: Final = 40
"""How many things are done at least, however slow the machine is."""


class Kind(NamedTuple):
    """What the console shows: ``live``, ``paused``, ``replay`` or ``served``; in which mode."""

    source: str
    mode: str


def named(key: str) -> str:
    """A key by tmux's name."""
    if key.startswith("ctrl+"):
        return f"C-{key.removeprefix('ctrl+')}"
    return NAMES.get(key, key)


KEYS: Final = sorted({key for action in ACTIONS.values() for key in action.keys} - NEVER)
OFTEN: Final = (*"1234567oxXdDs?-:/", "enter", "escape", "escape", "ctrl+p", "pagedown", "pageup")
"""The keys that open and close screens, which the others do not reach otherwise."""


def mash(
    terminal: Terminal,
    seed: int,
    seconds: float,
    report: Callable[[str], object],
    begin: Callable[[], object],
) -> tuple[int, int]:
    """Do random things for so long, and as many as are needed; ``report`` gets each of them.

    ``begin`` starts the console again when it has ended because that was chosen in the palette.

    Returns how many they were, and the console's process.

    Raises:
        AssertionError: it has ended for another reason.
    """
    chance, done = random.Random(seed), 0
    process = terminal.program()
    end = time.monotonic() + seconds
    while time.monotonic() < end or done < DONE_MIN:
        done += 1
        report(one_of(terminal, chance))
        time.sleep(chance.choice(PAUSES))
        process = running(terminal, process, report, begin)
    return done, process


def running(
    terminal: Terminal,
    process: int,
    report: Callable[[str], object],
    begin: Callable[[], object],
) -> int:
    """The console's process: a new one, if the palette was asked to quit the one before.

    Raises:
        AssertionError: it has ended for another reason.
    """
    if Path(f"/proc/{process}").exists():
        return process
    terminal.until(r"status=\d")
    assert re.findall(r"status=\d+", terminal.history())[-1] == "status=0", "it fell"
    report("it was quit")
    terminal.press("C-u")
    terminal.tmux("clear-history")
    begin()
    return terminal.program()


def one_of(terminal: Terminal, chance: random.Random) -> str:
    """Do one random thing, and say what."""
    sort = chance.random()
    if sort < 0.25:
        columns, lines = chance.randint(40, 200), chance.randint(10, 60)
        terminal.resize(columns, lines)
        return f"{columns}x{lines}"
    if sort < 0.35:
        column, line = chance.randint(1, 120), chance.randint(1, 40)
        button = chance.choice((0, 0, 0, 35, 64, 65))  # the left one, a move, the wheel
        pressed = f"\x1b[<{button};{column};{line}M"
        terminal.tmux("send-keys", "-l", pressed + (pressed[:-1] + "m" if button == 0 else ""))
        return f"mouse {button} at {column},{line}"
    if sort < 0.38:
        text = chance.choice(PASTED)
        terminal.paste(text)
        return f"paste {text!r}"
    if sort < 0.42:
        text = chance.choice(TYPED)
        terminal.tmux("send-keys", "-l", text)
        return f"type {text}"
    keys = [chance.choice(OFTEN if chance.random() < 0.6 else KEYS) for _ in range(3)]
    terminal.press(*(named(key) for key in keys))
    return " ".join(keys)


def arguments(kind: Kind, folder: Path) -> tuple[str, ...]:
    """The command of the program, with the files that it needs."""
    script = folder / "orders.tide"
    script.write_text(SCRIPT.format(mode=" --mode kraft" if kind.mode == "kraft" else ""))
    match kind.source:
        case "replay":
            return ("replay", "run.tide.db")
        case "served":
            return ("console", "--serve", "orders.tide", "--port", "0")
        case "paused":
            return ("console", "orders.tide", "--paused")
        case _:
            return ("console", "orders.tide")


def soak(
    folder: Path,
    kind: Kind,
    seed: int,
    seconds: float,
    report: Callable[[str], object] = lambda thing: None,
) -> int:
    """Mash a console for so long; it must answer afterwards, and end when asked to.

    Raises:
        AssertionError: it does not, or an exception was raised in it.
    """
    terminal = Terminal(folder, 120, 40)
    try:
        terminal.prepare()
        words = arguments(kind, folder)
        terminal.type(f"TMPDIR={folder}; export TMPDIR")
        if kind.source == "replay":
            terminal.start("run", "orders.tide", "--record", "run.tide.db", ready=r"status=\d")
        terminal.start(*words)

        def begin() -> None:
            terminal.start(*words)

        done, process = mash(terminal, seed, seconds, report, begin)
        process = answer(terminal, process, report, begin)
        terminal.press("C-q")
        gone(process)
        terminal.until(r"status=0\s")
    except AssertionError as error:
        raise AssertionError(f"{error}\n{terminal.history()}\n{reports(folder)}") from error
    finally:
        terminal.close()
    assert not reports(folder), reports(folder)
    return done


def reports(folder: Path) -> str:
    """What the console wrote about exceptions and hangs."""
    files = [*folder.glob("tidegauge-error-*"), *folder.glob("tidegauge-stacks-*")]
    return "\n".join(file.read_text() for file in files)


def answer(
    terminal: Terminal,
    process: int,
    report: Callable[[str], object],
    begin: Callable[[], object],
) -> int:
    """Wait until the console shows its help.

    Keys that it had not read yet may still quit it: then it is started again.

    Returns its process.
    """
    terminal.resize(120, 40)
    terminal.press("1", *["Escape"] * 6)
    for _ in patiently(process, PATIENCE_SECONDS):
        now = running(terminal, process, report, begin)
        if now != process:
            return answer(terminal, now, report, begin)
        terminal.press("Escape")
        time.sleep(0.2)
        terminal.press("?")
        time.sleep(1.0)
        if "help: " in terminal.shown():
            return process
    raise AssertionError(f"it does not answer\n{terminal.shown()}")


def gone(process: int, seconds: float = PATIENCE_SECONDS) -> float:
    """Wait until a process has ended; return the seconds that it took."""
    for passed in patiently(process, seconds):
        try:
            os.kill(process, 0)
        except ProcessLookupError:
            return passed
        time.sleep(0.02)
    raise AssertionError(f"process {process} has not ended")


def patiently(process: int, seconds: float) -> Iterator[float]:
    """Say how many seconds have passed, until they are over.

    Seconds in which the process could have run, but the machine ran others, are not counted.
    """
    begin, waited = time.monotonic(), 0.0
    ready = ready_seconds(process) + ready_seconds(os.getpid())
    while (passed := time.monotonic() - begin - waited) < seconds:
        yield passed
        waited = max(waited, ready_seconds(process) + ready_seconds(os.getpid()) - ready)


def ready_seconds(process: int) -> float:
    """How long the threads of a process have been waiting for a processor; 0 where not known."""
    nanoseconds = 0
    for thread in Path(f"/proc/{process}/task").glob("*/schedstat"):
        with suppress(OSError):  # it has ended meanwhile
            nanoseconds += int(thread.read_text().split()[1])
    return nanoseconds / 1e9
