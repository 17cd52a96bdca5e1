"""The command line that reproduces the position of the console's time cursor."""

import shlex
from pathlib import Path

from commands.exits import CommandError
from commands.runs.console_library import script_of_source
from sessions.format.errors import SessionError
from sessions.grammar.words import moment_text
from sessions.sources.growing import GrowingSource
from sessions.sources.replay import ReplaySource
from sessions.sources.served import ServedSource
from sessions.sources.source import Source
from sessions.sources.twin import TwinSource


def command_line(source: Source) -> str:
    """Return the shell command to get back here: open the recording, or run the statements so far.

    Empty if neither is known, or if external clients took part.
    """
    if isinstance(source, TwinSource):
        return command_line(source.front)
    if isinstance(source, ReplaySource):
        return _replayed(source.session.path, source.time_us)
    if isinstance(source, GrowingSource) and not source.recorder.temporary:
        return _replayed(source.recorder.path, source.time_us)
    if isinstance(source, ServedSource):
        return ""
    try:
        return _given_again(script_of_source(source))
    except (CommandError, SessionError):
        return ""


def _replayed(path: Path, time_us: int) -> str:
    return shlex.join(["tidegauge", "replay", str(path), "--at", moment_text(time_us), "--paused"])


def _given_again(script: str) -> str:
    statements = [row for row in script.splitlines() if row and not row.startswith("#")]
    return shlex.join(["tidegauge", "run", "-c", "; ".join(statements)])
