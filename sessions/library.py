"""A folder of sessions: what there is, and how each came out, without reading their events."""

from pathlib import Path

from msgspec import Struct

from sessions.errors import SessionError, SessionMissingError
from sessions.facts import Origin, Outcome
from sessions.file import SessionFile
from sessions.folding.health import Counts
from sessions.schema import SUFFIX


class Listed(Struct, frozen=True):
    """One session file. ``problem`` says why it could not be opened, or up to where it could.

    ``origin`` None: nothing could be read; ``outcome`` None: it is still being written, or its
    writer was killed. ``alerts`` are the changes of the counts, for a strip of where it hurt.
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

    @property
    def ended(self) -> str:
        """How the recording ended, in a word or two."""
        if self.problem:
            return "damaged" if self.origin is not None else "unreadable"
        if self.outcome is None:
            return "not closed"
        return self.outcome.outcome or "closed"


def list_sessions(folder: Path | str) -> list[Listed]:
    """All sessions of a folder by name, those that cannot be opened with the reason.

    Raises:
        SessionMissingError: there is no such folder.
    """
    folder = Path(folder)
    try:
        paths = sorted(path for path in folder.iterdir() if path.name.endswith(SUFFIX))
    except OSError as error:
        raise SessionMissingError(
            f"The folder {folder} cannot be read: {error.strerror or error}."
        ) from error
    return [show_session(path) for path in paths]


def show_session(path: Path | str) -> Listed:
    """One session's facts; a file that cannot be opened is described by its problem."""
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
            session.last_seq,
            session.last_us,
            len(session.bookmarks()),
            session.summary(),
            session.damage,
        )
