"""Convert a session to a script: its statements, each at the time at which it was given.

The script reaches exactly the same state as the session: ``at`` gives the time, to the kernel step.
Where a statement followed the end of the previous one immediately, as in a script, no ``at`` is
needed.
"""

import os
import shlex
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct

from commands.exits import CommandError, ExitCode
from commands.language.parser import SCRIPT_SUFFIX
from emulator.events import Event, InputFinished
from emulator.inputs.statements import CreateCluster
from sessions.grammar.words import moment_text
from sessions.text import clean, without_controls

AGAIN: Final = "'tidegauge serve' of it does the same while clients are served"
"""Note for a script that lacks the requests of external clients."""
IMAGE: Final = "image.cluster.json"
"""What the script of a cluster that started from an image calls the image."""
ESCAPED: Final = "# the next statement had control characters; here they are escapes"


class TimedStatement(Struct, frozen=True):
    """A statement as it was given: the event that recorded it, and its time.

    ``steps`` None: only the time is known at which to run it.
    """

    seq: int
    time_us: int
    steps: int | None
    line: int
    text: str


class Ending(Struct, frozen=True):
    """Where the session ended; ``state_hash`` is empty if it is not known."""

    time_us: int
    steps: int | None
    state_hash: str = ""


EventAt = Callable[[int], Event | None]
"""Returns the event with a number."""


def script_of(
    name: str,
    spec: CreateCluster,
    statements: Sequence[TimedStatement],
    ending: Ending,
    event_at: EventAt,
    of_clients: int = 0,
) -> str:
    """Return the script of a session; ``statements`` starts with the ``cluster`` statement.

    ``of_clients`` is the number of inputs of external clients that were left out.
    """
    rows = [f"# the statements of {clean(name)}, at their original times"]
    if of_clients:
        rows.append(
            f"# without {of_clients:,} connections and requests of clients outside: {AGAIN}"
        )
    if ending.state_hash:
        rows.append(f"# 'tidegauge run' of it comes to the state hash {ending.state_hash}")
    if spec.image is not None:
        rows.append(f"# 'tidegauge import {clean(name)} --out {IMAGE}' writes its cluster's image")
    rows.append(_one_line(cluster_text(spec)))
    for statement in statements[1:]:
        if not _follows_at_once(statement, event_at(statement.seq - 1)):
            rows.append(_at(statement.time_us, statement.steps))
        text = _one_line(statement.text)
        if text != statement.text:
            rows.append(ESCAPED)
        rows.append(text)
    rows.append(_at(ending.time_us, ending.steps))
    return "\n".join(rows) + "\n"


def _one_line(text: str) -> str:
    r"""Escape control characters and line ends (``\n``), which no parsed statement has.

    A session may come from an untrusted source, and a script is run line by line.
    """
    return without_controls(text).replace("\n", "\\n")


def _follows_at_once(statement: TimedStatement, before: Event | None) -> bool:
    """Return whether a runner gives the statement here anyway; typed lines have the number 1."""
    return (
        statement.line > 1
        and isinstance(before, InputFinished)
        and before.time_us == statement.time_us
    )


def _at(time_us: int, steps: int | None) -> str:
    return f"at {moment_text(time_us)}" + ("" if steps is None else f" --steps {steps}")


def cluster_text(spec: CreateCluster) -> str:
    """Return the ``cluster`` statement that creates this cluster."""
    words = ["cluster", "--brokers", str(spec.brokers), "--first-id", str(spec.first_id)]
    if spec.image is not None:
        words = ["cluster", "--image", IMAGE]
    words += ["--version", spec.version, "--seed", str(spec.seed)]
    words += ["--racks", ",".join(spec.racks)] if spec.racks else []
    words += ["--hosts", ",".join(spec.hosts)] if spec.hosts else []
    for key, value in spec.config.items():
        words += ["--config", f"{key}={value}"]
    words += ["--stepwise"] if spec.stepwise else []
    words += ["--mode", spec.mode] if spec.mode else []
    words += ["--controllers", str(spec.controllers)] if spec.controllers > 1 else []
    for name, level in spec.features.items():
        words += ["--feature", f"{name}={level}"]
    if spec.latency_us is not None:
        words += ["--latency", moment_text(spec.latency_us)]
    return " ".join(map(shlex.quote, words))


def write_script(text: str, path: Path) -> Path:
    """Write a script into a new file; ``.tide`` is added to a name without an extension.

    Raises:
        CommandError: the file exists, or cannot be written.
    """
    path = path.expanduser()
    path = path if path.suffix else path.with_name(path.name + SCRIPT_SUFFIX)
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        free = free_name(path)
        message = f"'{path.name}' already exists; '{free.name}' is free"
        raise CommandError(ExitCode.UNREACHABLE, message) from None
    except (OSError, ValueError) as error:
        reason = os.strerror(error.errno or 0).lower() if isinstance(error, OSError) else str(error)
        raise CommandError(ExitCode.UNREACHABLE, f"cannot write '{path}': {reason}") from None
    return path


def free_name(path: Path) -> Path:
    """Return the path itself, or the first of ``NAME-2``, ``NAME-3`` .. that is unused."""
    number, free = 1, path
    while free.exists():
        number += 1
        free = path.with_name(f"{path.stem}-{number}{path.suffix}")
    return free
