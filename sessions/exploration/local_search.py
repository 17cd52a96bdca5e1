"""A search in this process that is stored in a folder, so that it can resume after a crash.

Its levels are appended to a file, each when it has been expanded. A level truncated by a crash is
dropped: the search continues from the last complete level.
"""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Final
from zlib import crc32

import msgspec

from emulator.explorer.question import Question
from emulator.explorer.search import Keep, Search, SearchLevel
from sessions.exploration.folder import ExplorationError, StoredQuestion, WorkFolder

LEVELS: Final = "levels"
LENGTH_BYTES: Final = 8
SUM_BYTES: Final = 4


@contextlib.contextmanager
def kept_search(question: Question, path: str, *, resume: bool) -> Iterator[tuple[Search, Keep]]:
    """Yield a search, and the function that stores its levels, to be passed to its ``run``.

    With ``resume`` it continues after the last level that is there. Raises
    :class:`~sessions.exploration.folder.ExplorationError` for a folder that cannot be used.
    """
    folder = WorkFolder(path)
    if folder.location.path is None:
        raise ExplorationError(f"{path} is not on this machine: only --master searches there")
    stored = StoredQuestion(question, on_spark=False)
    with folder.opened(stored, resume=resume), Journal(folder.location.path) as journal:
        search = Search(question.of.model(), question.properties)
        search.go_on_from(journal.levels())
        yield search, journal.append


class Journal:
    """A file of levels; a context, in which it is open."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / LEVELS
        self._encoder = msgspec.msgpack.Encoder()
        self._file: BinaryIO | None = None

    def __enter__(self) -> "Journal":
        self._file = self.path.open("r+b" if self.path.exists() else "w+b")
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.close()

    def levels(self) -> Iterator[SearchLevel]:
        """Yield the complete levels in order, and truncate what follows them."""
        file = self._opened()
        decoder = msgspec.msgpack.Decoder(SearchLevel)
        file.seek(0)
        whole = 0
        while content := _whole(file):
            yield decoder.decode(content)
            whole = file.tell()
        file.truncate(whole)
        file.seek(whole)

    def append(self, level: SearchLevel) -> None:
        file = self._opened()
        content = self._encoder.encode(level)
        sum_bytes = crc32(content).to_bytes(SUM_BYTES)
        file.write(len(content).to_bytes(LENGTH_BYTES) + sum_bytes + content)
        file.flush()

    def _opened(self) -> BinaryIO:
        assert self._file is not None
        return self._file


def _whole(file: BinaryIO) -> bytes:
    """Return the next level's bytes; empty if it is incomplete."""
    head = file.read(LENGTH_BYTES + SUM_BYTES)
    if len(head) < LENGTH_BYTES + SUM_BYTES:
        return b""
    length = int.from_bytes(head[:LENGTH_BYTES])
    if length > os.fstat(file.fileno()).st_size - file.tell():
        return b""
    content = file.read(length)
    return content if crc32(content) == int.from_bytes(head[LENGTH_BYTES:]) else b""
