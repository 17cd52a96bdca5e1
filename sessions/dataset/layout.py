"""The dataset as a folder, ``DATASET/TABLE/session=ID/part-*.parquet``, with a marker file.

A session is written beside, in a hidden folder that neither Spark nor Arrow look into, and is moved
in when it is whole. The move is one rename a table, with ``sessions`` last; before it begins the
hidden folder is marked as complete, so a process that dies in the middle leaves something that
anybody can finish, and one that dies earlier leaves something that anybody can drop. A lock tells
such leftovers from an export that is under way.
"""

import contextlib
import fcntl
import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

import msgspec
from msgspec import Struct

from sessions.dataset.schema import SESSION
from sessions.dataset.tables import SESSIONS, TABLES

LAYOUT: Final = 2
"""The version of folders, tables and columns that this program writes and reads."""
PROGRAM: Final = "tidegauge"
MARKER: Final = "_tidegauge.json"
HIDDEN: Final = ".export-"
LOCK: Final = "lock"
COMPLETE: Final = "complete"
SESSION_ID: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")


class DatasetError(Exception):
    """A dataset cannot be used or added to; the message is one sentence for people."""


class DatasetUnreadable(DatasetError):
    """A dataset is damaged, or another version of this program wrote it."""


class SessionBusy(DatasetError):
    """Another process is adding the same session just now."""


class Marker(Struct, frozen=True):
    """What the marker file says: that this is a dataset of tidegauge, and by which layout."""

    dataset: str
    layout: int


class Hidden(NamedTuple):
    """The hidden folder of a session that is being added, and the descriptor of its lock.

    Who else writes there inherits the descriptor, and with it the lock: then what one leaves is not
    taken for a leftover while the other is still at work.
    """

    path: Path
    lock: int


class DatasetFolder:
    """A dataset that exists, or can be made, at ``path``.

    Raises :class:`DatasetError` if something else is there, :class:`DatasetUnreadable` if its
    layout is not :data:`LAYOUT`.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.exists = _is_dataset(path)

    def make(self) -> None:
        """Have an empty dataset there if there is none.

        Raises :class:`DatasetError` if it cannot be written.
        """
        with self._writing(), self._made():
            pass
        self.exists = True

    def __contains__(self, session: str) -> bool:
        """Whether a session is in it."""
        return self._place(SESSIONS.name, session).is_dir()

    def sessions(self) -> list[str]:
        """The ids of the sessions in it, sorted."""
        folders = self.path.glob(f"{SESSIONS.name}/{SESSION}=*")
        return sorted(folder.name.partition("=")[2] for folder in folders)

    def settle(self) -> None:
        """Finish or drop what exports that died have left.

        What cannot be mended for want of rights stays; readers do not see it.
        """
        for hidden in self.path.glob(f"{HIDDEN}*"):
            with contextlib.suppress(OSError), _locked(hidden) as lock:
                if lock is not None:
                    self._settle_one(hidden)
                    shutil.rmtree(hidden)

    @contextlib.contextmanager
    def adding(self, session: str) -> Iterator[Hidden]:
        """A hidden folder for ``TABLE/*.parquet`` that enters the dataset when the block ends well.

        Raises :class:`DatasetError` if the session is there already, is being added by another
        process, or if something cannot be written. After any error the dataset is as it was before.
        """
        if not SESSION_ID.fullmatch(session):
            raise DatasetError(
                f"a session's id is made of letters, digits, '.', '_' and '-' (at most 128), "
                f"which {session!r} is not"
            )
        new = not self.exists
        try:
            with self._writing(), self._made(), self._hidden(session) as hidden:
                yield hidden
        finally:
            self.exists = not new or _is_dataset(self.path)

    @contextlib.contextmanager
    def _writing(self) -> Iterator[None]:
        """Errors of the system become :class:`DatasetError`."""
        try:
            yield
        except OSError as error:
            reason = error.strerror or error
            raise DatasetError(f"{self.path} could not be written to: {reason}") from error

    @contextlib.contextmanager
    def _made(self) -> Iterator[None]:
        """Have a dataset; what was made for a block that fails is unmade."""
        made = [path for path in (self.path, *self.path.parents) if not path.exists()]
        self.path.mkdir(parents=True, exist_ok=True)
        marker = self.path / MARKER
        scratch = self.path / f"{MARKER}.{os.getpid()}"
        new = not marker.exists()
        try:
            if new:
                scratch.write_bytes(msgspec.json.encode(Marker(PROGRAM, LAYOUT)) + b"\n")
                scratch.replace(marker)
            yield
        except BaseException:
            scratch.unlink(missing_ok=True)
            if new and [path.name for path in self.path.iterdir()] in ([], [MARKER]):
                marker.unlink(missing_ok=True)
                with contextlib.suppress(OSError):
                    for path in made:
                        path.rmdir()
            raise

    @contextlib.contextmanager
    def _hidden(self, session: str) -> Iterator[Hidden]:
        """A session's hidden folder, ours alone; moved in if the block ends well, else dropped."""
        hidden = self.path / f"{HIDDEN}{session}"
        with _locked(hidden, make=True) as lock:
            if lock is None:
                raise SessionBusy(f"session {session} is being exported to {self.path} just now")
            try:
                self._settle_one(hidden)
                if any(self._place(table.name, session).exists() for table in TABLES):
                    raise DatasetError(f"session {session} is in {self.path} already")
                yield Hidden(hidden, lock)
                (hidden / COMPLETE).touch()
            except BaseException:
                shutil.rmtree(hidden, ignore_errors=True)
                raise
            self._settle_one(hidden)
            shutil.rmtree(hidden)

    def _place(self, table: str, session: str) -> Path:
        return self.path / table / f"{SESSION}={session}"

    def _settle_one(self, hidden: Path) -> None:
        """Move in what a complete export has not moved yet; then leave nothing but the lock."""
        complete = hidden / COMPLETE
        if complete.exists():
            for table in TABLES:
                if (hidden / table.name).exists():
                    place = self._place(table.name, hidden.name.removeprefix(HIDDEN))
                    place.parent.mkdir(exist_ok=True)
                    (hidden / table.name).rename(place)
            complete.unlink()
        for path in hidden.iterdir():
            if path.is_dir():
                shutil.rmtree(path)


def _is_dataset(path: Path) -> bool:
    """Whether there is a dataset; False if there is nothing, or an empty folder."""
    marker = path / MARKER
    try:
        if not path.exists() or (path.is_dir() and not any(path.iterdir())):
            return False
        if not marker.exists():
            raise DatasetError(f"{path} is no dataset of {PROGRAM} ({MARKER} is missing)")
        found = msgspec.json.decode(marker.read_bytes(), type=Marker)
    except OSError as error:
        raise DatasetError(f"{path} could not be read: {error.strerror}") from error
    except msgspec.MsgspecError as error:
        raise DatasetUnreadable(f"{marker} is damaged: {error}") from error
    if found.dataset != PROGRAM:
        raise DatasetError(f"{path} is no dataset of {PROGRAM} but of {found.dataset}")
    if found.layout != LAYOUT:
        age = "newer" if found.layout > LAYOUT else "older"
        raise DatasetUnreadable(
            f"{path} has layout {found.layout}, of {age} {PROGRAM} than this one (layout {LAYOUT})"
        )
    return True


@contextlib.contextmanager
def _locked(hidden: Path, *, make: bool = False) -> Iterator[int | None]:
    """Hold the lock of a hidden folder if nobody does: its descriptor, None if somebody does.

    The lock file may have been removed with its folder between being opened and being locked, hence
    the second look.
    """
    while True:
        if make:
            hidden.mkdir(exist_ok=True)
        try:
            lock = os.open(hidden / LOCK, os.O_RDWR | os.O_CREAT)
        except FileNotFoundError:
            if make:
                continue
            yield None
            return
        try:
            held = _try_lock(lock)
            if not held or _same_file(lock, hidden / LOCK):
                yield lock if held else None
                return
        finally:
            os.close(lock)


def _try_lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _same_file(descriptor: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False
