"""Open session files for commands."""

from pathlib import Path
from typing import TYPE_CHECKING

from commands.output import streams

if TYPE_CHECKING:
    from sessions.format.file import SessionFile


def opened(file: str) -> "SessionFile":
    """Open a session; print a warning if it is damaged.

    Raises:
        SessionError: it cannot be read.
    """
    from sessions.format.file import SessionFile

    session = SessionFile(Path(file))
    if session.damage:
        streams.narrate(session.damage)
    return session
