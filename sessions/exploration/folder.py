"""The folder of a search: its question, and a lock against other processes."""

import contextlib
import fcntl
import os
from collections.abc import Iterator
from typing import Final, TypeVar

import msgspec
from msgspec import Struct

from emulator.explorer.question import Question
from sessions.dataset.location import Location, LocationError
from sessions.decoding import DecodingError, decode_json

ASKED: Final = "search.json"
LOCK: Final = ".lock"
LAYOUT: Final = 1

Content = TypeVar("Content", bound=Struct)


class ExplorationError(Exception):
    """A search cannot be stored, or resumed. ``str()`` is one sentence with the cause."""


class StoredQuestion(Struct, frozen=True):
    """A search's question, and the program that computed the states in its folder."""

    question: Question
    on_spark: bool
    layout: int = LAYOUT


class WorkFolder:
    """The folder in which a search stores its states."""

    def __init__(self, location: str) -> None:
        """Take a folder here or a URI.

        Raises:
            ExplorationError: it is no URI that could be used.
        """
        try:
            self.location = Location(location)
            if self.location.path is not None:
                self.location = Location(self.location.path.absolute())
        except LocationError as error:
            raise ExplorationError(str(error)) from error

    def __str__(self) -> str:
        return str(self.location)

    @contextlib.contextmanager
    def opened(self, search: StoredQuestion, *, resume: bool) -> Iterator[None]:
        """Lock the folder for this search; with ``resume`` it may already contain it.

        Raises:
            ExplorationError: another search is there, or this one without ``resume``, or another
                process is using the folder, or it cannot be used.
        """
        with self.system_errors_explained():
            stored = self.read(ASKED, StoredQuestion)
            if stored is None and self.location.listed():
                raise ExplorationError(
                    f"{self} contains something other than a search; choose another"
                )
            if stored is not None:
                self._require(stored, search, resume)
            self.location.create_folder()
            with self._locked():
                if stored is None:
                    self.write(ASKED, search)
                yield

    def _require(self, stored: StoredQuestion, search: StoredQuestion, resume: bool) -> None:
        if stored.layout != search.layout:
            raise ExplorationError(
                f"{self} was made by another version of this program (layout {stored.layout}, here "
                f"{search.layout}); choose a new folder"
            )
        if stored.question != search.question:
            raise ExplorationError(
                f"{self} contains another search: {_difference(stored.question, search.question)}; "
                "choose a new folder, or use the options with which it was started"
            )
        if stored.on_spark != search.on_spark:
            where = (
                "on Spark: continue it with"
                if stored.on_spark
                else "in one process: continue it without"
            )
            raise ExplorationError(f"{self} contains a search {where} --master")
        if not resume:
            raise ExplorationError(f"{self} already contains this search; --resume continues it")

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        """Exclude other processes by a lock; an object store has none."""
        if self.location.path is None:
            yield
            return
        lock = os.open(self.location.path / LOCK, os.O_RDWR | os.O_CREAT)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(lock)
            raise ExplorationError(f"another process is searching in {self} just now") from None
        try:
            yield
        finally:
            os.close(lock)

    def read(self, name: str, type_: type[Content]) -> Content | None:
        """A file of the folder; None if there is none.

        Raises:
            ExplorationError: it is damaged.
        """
        file = self.location / name
        if not file.exists():
            return None
        try:
            return decode_json(file.read(), type_)
        except DecodingError as error:
            raise ExplorationError(f"{file} is damaged: {error}") from error

    def write(self, name: str, content: Struct) -> None:
        """Write a file of the folder atomically."""
        (self.location / name).write(msgspec.json.encode(content))

    @contextlib.contextmanager
    def system_errors_explained(self) -> Iterator[None]:
        """Errors of the system become :class:`ExplorationError`."""
        try:
            yield
        except OSError as error:
            reason = error.strerror or error
            raise ExplorationError(f"{self} could not be used: {reason}") from error


def _difference(stored: Question, asked: Question) -> str:
    """The first thing in which two questions differ: ``version 3.9, not 2.1``."""
    before = _flat(msgspec.to_builtins(stored))
    now = _flat(msgspec.to_builtins(asked))
    for name in {**before, **now}:
        if before.get(name) != now.get(name):
            return f"{name} {before.get(name)}, not {now.get(name)}"
    return "other bounds"


def _flat(value: dict[str, object]) -> dict[str, object]:
    flat: dict[str, object] = {}
    for name, member in value.items():
        if isinstance(member, dict):
            flat |= _flat(member)
        else:
            flat[name] = ", ".join(member) if isinstance(member, list) else member
    return flat
