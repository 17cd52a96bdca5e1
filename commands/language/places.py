"""What words of the ``sessions`` commands mean: places in a recording, and sizes of files."""

import re
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from commands.language import values
from commands.language.values import BadWord
from sessions.format.schema import LIMIT_BYTES_MIN

if TYPE_CHECKING:
    from sessions.format.chunks import Chunks

UNITS_BYTES: Final = {"KB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30}

_SIZE: Final = re.compile(r"(\d{1,9})(KB|MB|GB)", re.ASCII)
_EVENT: Final = re.compile(r"#(\d{1,15})", re.ASCII)


class Place(Struct, frozen=True):
    """An event's number or else a virtual time; ``from_end``: so long before the end."""

    seq: int | None = None
    time_us: int = 0
    from_end: bool = False

    def first_seq(self, chunks: "Chunks") -> int:
        """The first event at or after the place."""
        return chunks.seq_at(self._time_us(chunks) - 1) + 1 if self.seq is None else self.seq

    def last_seq(self, chunks: "Chunks") -> int:
        """The last event at or before the place."""
        return chunks.seq_at(self._time_us(chunks)) if self.seq is None else self.seq

    def _time_us(self, chunks: "Chunks") -> int:
        return chunks.last_us - self.time_us if self.from_end else self.time_us


def place(word: str) -> Place:
    """``12s`` is a time, ``-3m`` one before the end, ``#18207`` an event.

    Raises:
        BadWord: it is none of these.
    """
    if found := _EVENT.fullmatch(word):
        return Place(seq=int(found[1]))
    try:
        return Place(time_us=values.duration(word.removeprefix("-")), from_end=word.startswith("-"))
    except BadWord:
        message = f"'{word}' is no place in a recording: give a time (12s, 2m), "
        raise BadWord(message + "one before the end (-3m), or an event (#18207)") from None


def size(word: str) -> int:
    """The bytes of ``64MB`` or ``2GB``, at least what a bounded recording needs.

    Raises:
        BadWord: it is no size, or too small.
    """
    found = _SIZE.fullmatch(word)
    if found is None:
        raise BadWord(f"'{word}' is no size: give a number and KB, MB or GB (64MB)")
    bytes_asked = int(found[1]) * UNITS_BYTES[found[2]]
    if bytes_asked < LIMIT_BYTES_MIN:
        raise BadWord(f"'{word}' is too small for a recording: at least 1MB")
    return bytes_asked
