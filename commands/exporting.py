"""Handing recorded sessions on to a dataset, and telling how far that has come."""

import re
from collections.abc import Callable
from pathlib import Path
from time import monotonic
from typing import Final

from commands import output
from commands.exits import CommandError, ExitCode
from sessions.file import SessionFile
from sessions.schema import SUFFIX

PROGRESS_SECONDS: Final = 0.5


def export_file(
    session: SessionFile, dataset: Path, tell: Callable[[str], None] = output.progress
) -> str:
    """Add a session to a dataset; returns a line about what was written.

    ``tell`` is told now and then how far that has come, and an empty text at its end.

    Raises:
        CommandError: pyarrow is not installed, or the dataset cannot be added to.
    """
    try:
        from sessions.dataset.export import export_session
    except ImportError as error:
        message = f"exporting needs the 'spark' extra (pip install 'tidegauge[spark]'): {error}"
        raise CommandError(ExitCode.UNREACHABLE, message) from None
    from sessions.dataset.folder import DatasetError, DatasetUnreadable
    from sessions.dataset.totals import SessionFacts

    outcome = session.outcome
    facts = SessionFacts(
        id=session_id(session.path),
        name=session.origin.name,
        variables=session.origin.variables,
        state_hash=None if outcome is None else outcome.state_hash,
        end_us=None if outcome is None else outcome.time_us,
    )
    try:
        progress = _Progress(session.last_seq, tell)
        done = export_session(session.all_events(), facts, dataset, progress)
    except DatasetUnreadable as error:
        raise CommandError(ExitCode.BAD_SESSION, str(error)) from None
    except DatasetError as error:
        raise CommandError(ExitCode.UNREACHABLE, str(error)) from None
    finally:
        tell("")
    rows = sum(done.rows.values())
    return f"{session.path}: {done.events:,} events, {rows:,} rows, {done.size_bytes:,} bytes"


def session_id(path: Path) -> str:
    """What a session is called in a dataset: its file's name, ``-`` for what it may not have."""
    name = re.sub(r"[^A-Za-z0-9._-]", "-", path.name.removesuffix(SUFFIX)).lstrip("._-")
    return name[:128] or "session"


class _Progress:
    """A passing line, twice a second at most."""

    def __init__(self, events: int, tell: Callable[[str], None]) -> None:
        self.events = events
        self.tell = tell
        self.shown = monotonic()

    def __call__(self, done: int) -> None:
        if monotonic() - self.shown >= PROGRESS_SECONDS:
            self.shown = monotonic()
            self.tell(f"exporting {done:,} of {self.events:,} events")
