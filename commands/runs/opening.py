"""Open session files for commands, and go to places in them."""

from pathlib import Path
from typing import TYPE_CHECKING

from commands.output import streams

if TYPE_CHECKING:
    from sessions.format.file import SessionFile
    from sessions.grammar.places import Place
    from sessions.sources.source import Source


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


def go_to(source: "Source", place: "Place") -> None:
    """Bring the cursor to a place; if that is after the end, to the end, with a note."""
    if end := place.beyond_end(0, source.last_seq, source.last_time_us):
        streams.narrate(f"note: {end}")
    position = place.in_recording(source.last_seq, source.last_time_us)
    if position.seq is not None:
        source.seek_seq(position.seq)
    else:
        source.seek_time(position.time_us)
