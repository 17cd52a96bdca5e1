"""Errors of session files; each message is one sentence."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

REASON_CHARACTERS_MAX: Final = 120


class SessionError(Exception):
    """A session could not be used. ``str()`` is one sentence with the file's name and the cause."""


class SessionMissingError(SessionError):
    """The file does not exist, or cannot be read or written."""


class NotASessionError(SessionError):
    """The file exists but is not a session."""


class SessionUnsafeError(SessionError):
    """Opening the file would do more than read it, because of what lies beside it."""


class SessionNewerError(SessionError):
    """The file was written by a newer program with an unknown schema."""


class SessionOlderError(SessionError):
    """The file was written by an older program whose schema is no longer supported."""


class SessionDamagedError(SessionError):
    """The file is a session, but nothing in it, or not the requested part, can be read."""


class SessionEndedError(SessionDamagedError):
    """The requested part turned out to be damaged: the session ends before it."""


class SessionDroppedError(SessionDamagedError):
    """A recorder with a size limit has dropped the requested part."""


class SessionIncompleteError(SessionError):
    """The session lacks what the task needs, for example the statements to run it again."""


INCONSISTENT: Final = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    MemoryError,
    RecursionError,
    TypeError,
    ValueError,
)
"""What events, states and statements raise that are well formed but contradict each other.

No recorder writes such ones, but a file can contain them. Python code that handles them need not
check each; whoever hands them over says that the file is damaged.
"""


@contextmanager
def consistent(path: Path) -> Iterator[None]:
    """Say that a file is damaged if its content contradicts itself.

    Raises:
        SessionDamagedError: the code within the block stumbled over what a file contains.
    """
    try:
        yield
    except INCONSISTENT as error:
        raise SessionDamagedError(f"{path} is damaged: {contradiction(error)}.") from error


def contradiction(error: Exception) -> str:
    """Return what is wrong with a file's content, in a few words."""
    reason = " ".join(str(error).split())[:REASON_CHARACTERS_MAX]
    return f"its content contradicts itself ({type(error).__name__}: {reason})"
