"""The files that SQLite has beside a session, and what must be known of them before it opens one.

``-wal`` is the log of a recording that goes on, or whose process was killed: a part of the session.
``-shm`` is its index, which only says anything while another process has the session open.
``-journal`` is something else: SQLite follows it when it opens the file, overwrites the file with
what it says, and deletes the "super-journal" that it names, whichever file that is. This program
writes none (its transactions are in the log, or in memory), so one was left by somebody else.
"""

import fcntl
import os
import stat
import struct
import sys
from contextlib import suppress
from pathlib import Path
from typing import Final

from sessions.format.errors import SessionError, SessionUnsafeError
from sessions.format.schema import BESIDE

LOG: Final = "-wal"
INDEX: Final = "-shm"
JOURNAL: Final = "-journal"
SHARED_LOCK: Final = (0x40000002, 510)
"""First byte and length of what SQLite locks in a file for reading it (``os_unix.c``)."""
INDEX_LOCK: Final = (128, 1)
"""The byte of the index that every process locks that has the log open (``os_unix.c``)."""


def beside(path: Path, suffix: str) -> Path:
    """Return the file beside a session's real file, which is where SQLite looks for it."""
    real = path.resolve()
    return real.with_name(f"{real.name}{suffix}")


def require_safe_to_read(path: Path) -> None:
    """Check that nothing beside a session makes SQLite wait, or do anything but read.

    Raises:
        SessionUnsafeError: there is a journal, or a log or an index that is no regular file.
    """
    journal = beside(path, JOURNAL)
    if os.path.lexists(journal):
        raise SessionUnsafeError(
            f"{path} is not opened because of {journal.name} beside it, which SQLite would carry "
            "out and which tidegauge never writes: move it away to open the session without it."
        )
    for file in (beside(path, LOG), beside(path, INDEX)):
        status = _status(file)
        if status is not None and not stat.S_ISREG(status.st_mode):
            raise SessionUnsafeError(
                f"{path} is not opened because {file.name} beside it is not a regular file."
            )


def require_safe_to_write(path: Path) -> None:
    """Check that SQLite will write to a session's own files and to no other.

    Raises:
        SessionUnsafeError: as of :func:`require_safe_to_read`; or one of the files has another
            name elsewhere (a hard link), so that more than this session would change.
    """
    require_safe_to_read(path)
    for file in (beside(path, LOG), beside(path, INDEX)):
        status = _status(file)
        if status is not None and status.st_nlink > 1:
            raise SessionUnsafeError(
                f"{path} is not written to because {file.name} beside it is a hard link."
            )


def require_nothing_beside(path: Path) -> None:
    """Check that a new session does not find the files of another one.

    Raises:
        SessionError: one is there; nothing is overwritten.
    """
    for suffix in BESIDE:
        file = beside(path, suffix)
        if os.path.lexists(file):
            raise SessionError(
                f"{path} is not created because {file.name} is there already, and a recording "
                "never overwrites a file."
            )


def _status(path: Path) -> os.stat_result | None:
    try:
        return path.lstat()
    except OSError:
        return None


# ---- whether a session is in use


def hold(descriptor: int) -> None:
    """Lock a file for as long as this descriptor is open, so that :func:`is_in_use` says so.

    SQLite locks it as well; but POSIX drops a process's locks on a file as soon as the process
    closes any descriptor of it, which happens when a recording is read by its own recorder. This
    lock belongs to the descriptor.
    """
    if sys.platform == "linux":
        with suppress(OSError):
            fcntl.fcntl(descriptor, fcntl.F_OFD_SETLK, _lock(fcntl.F_RDLCK, *SHARED_LOCK))


def is_in_use(path: Path) -> bool:
    """Return whether somebody records the file, or reads it while it is recorded.

    A file that cannot be opened for writing is in nobody's use: its recorder could not, either.
    """
    if path.is_symlink():
        return False  # what it refers to may be; the link itself is only a name
    return _is_locked(path, *SHARED_LOCK) or _is_locked(beside(path, INDEX), *INDEX_LOCK)


def _is_locked(path: Path, begin: int, length: int) -> bool:
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_NONBLOCK | os.O_NOFOLLOW)
    except OSError:
        return False
    try:
        if sys.platform == "linux":  # also sees the locks of this process
            fcntl.fcntl(descriptor, fcntl.F_OFD_SETLK, _lock(fcntl.F_WRLCK, begin, length))
        else:
            fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB, length, begin)
    except (BlockingIOError, PermissionError):
        return True
    except OSError:
        return False
    finally:
        os.close(descriptor)
    return False


def _lock(kind: int, begin: int, length: int) -> bytes:
    """Return Linux's ``struct flock`` for a lock of a descriptor."""
    return struct.pack("hhqqi0q", kind, os.SEEK_SET, begin, length, 0)
