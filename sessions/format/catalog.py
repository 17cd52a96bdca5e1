"""List the sessions in a folder with their outcomes, without reading their events."""

from pathlib import Path
from typing import Final

from msgspec import Struct

from sessions.format.beside import is_in_use
from sessions.format.errors import SessionError, SessionMissingError
from sessions.format.file import SessionFile
from sessions.format.header import require_session
from sessions.format.metadata import Extent, Origin, Outcome
from sessions.format.schema import SUFFIX
from sessions.format.writer import delete_files
from sessions.model.health import Counts

ALERTS_MAX: Final = 10_000
"""Maximum number of changes that a list keeps of a session: a folder may hold thousands of them."""


class Listed(Struct, frozen=True):
    """One session file. ``problem`` says why it could not be opened, or how far it could be read.

    ``origin`` None: nothing could be read. ``outcome`` None: it is still being written, or its
    writer was killed. ``events`` counts those in the file; ``extent`` tells whether they are part
    of a longer recording. ``alerts`` are the changes of the alert counts over time.
    """

    path: Path
    size_bytes: int
    origin: Origin | None = None
    outcome: Outcome | None = None
    events: int = 0
    time_us: int = 0
    bookmarks: int = 0
    alerts: list[tuple[int, int, Counts]] = []
    problem: str = ""
    extent: Extent = Extent()

    @property
    def last_seq(self) -> int:
        """The number of its last event."""
        return self.extent.first_seq + self.events - 1

    @property
    def ended(self) -> str:
        """Return how the recording ended, in a word or two."""
        if self.problem:
            return "damaged" if self.origin is not None else "unreadable"
        if self.outcome is None:
            return "trimmed" if self.extent.is_trimmed else "not closed"
        return self.outcome.outcome or "closed"


def list_sessions(folder: Path | str) -> list[Listed]:
    """Return all sessions in a folder by name, including those that cannot be opened.

    Raises:
        SessionMissingError: the folder does not exist.
    """
    folder = Path(folder)
    try:
        paths = sorted(path for path in folder.iterdir() if path.name.endswith(SUFFIX))
    except OSError as error:
        raise SessionMissingError(
            f"The folder {folder} cannot be read: {error.strerror or error}."
        ) from error
    return [show_session(path) for path in paths]


def delete_session(path: Path | str) -> None:
    """Delete a session's file, and what a killed recorder left beside it.

    Damaged sessions and those of other versions can be deleted; other files cannot.

    Raises:
        SessionError: the file is not a session, is in use, or cannot be deleted.
    """
    path = Path(path)
    require_session(path)
    if is_in_use(path):
        raise SessionError(f"{path} is being recorded or read just now, so it was not deleted.")
    try:
        delete_files(path)
    except OSError as error:
        reason = error.strerror or error
        raise SessionMissingError(f"{path} cannot be deleted: {reason}.") from error


def thinned(alerts: list[tuple[int, int, Counts]]) -> list[tuple[int, int, Counts]]:
    """Return at most :data:`ALERTS_MAX` of the changes: of more, the ones with most alerts."""
    width = -(-len(alerts) // ALERTS_MAX)
    if width <= 1:
        return alerts
    groups = (alerts[first : first + width] for first in range(0, len(alerts), width))
    return [max(group, key=lambda change: _alert(change[2])) for group in groups]


def _alert(counts: Counts) -> tuple[int, int]:
    return counts.offline, counts.under_min_isr


def show_session(path: Path | str) -> Listed:
    """Return one session's metadata; for a file that cannot be opened, the problem."""
    path = Path(path)
    size = path.stat().st_size if path.exists() else 0
    try:
        session = SessionFile(path, check=False)
    except SessionError as error:
        return Listed(path, size, problem=str(error))
    with session:
        return Listed(
            path,
            size,
            session.origin,
            session.outcome,
            session.last_seq - session.first_seq + 1,
            session.last_us,
            len(session.bookmarks()),
            thinned(session.summary()),
            session.damage,
            session.extent,
        )
