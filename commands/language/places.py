"""Positions in a recording, as the ``sessions`` commands take them, and file sizes."""

import re
from typing import TYPE_CHECKING, Final

from sessions.format.schema import LIMIT_BYTES_MIN
from sessions.grammar.places import Place
from sessions.grammar.words import BadWord

if TYPE_CHECKING:
    from sessions.format.chunks import Chunks

UNITS_BYTES: Final = {"KB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30}

_SIZE: Final = re.compile(r"(\d{1,9})(KB|MB|GB)", re.ASCII)


def first_seq(place: Place, chunks: "Chunks") -> int:
    """Return the first event at or after a position of a recording, or one more than its last."""
    if place.seq is not None:
        return place.seq
    if place.beyond_end(0, chunks.last_seq, chunks.last_us):
        return chunks.last_seq + 1
    position = place.in_recording(chunks.last_seq, chunks.last_us)
    return chunks.seq_at(position.time_us - 1) + 1 if position.seq is None else position.seq


def last_seq(place: Place, chunks: "Chunks") -> int:
    """Return the last event at or before a position of a recording."""
    if place.seq is not None:
        return place.seq
    position = place.in_recording(chunks.last_seq, chunks.last_us)
    return chunks.seq_at(position.time_us) if position.seq is None else position.seq


def memory(word: str) -> int:
    """Parse a size such as ``64MB`` or ``2GB``.

    Raises:
        BadWord: it is not a size.
    """
    match = _SIZE.fullmatch(word)
    if match is None:
        raise BadWord(f"'{word}' is not a size: give a number and KB, MB or GB (64MB)")
    return int(match[1]) * UNITS_BYTES[match[2]]


def size(word: str) -> int:
    """Parse a size; at least the minimum of a bounded recording.

    Raises:
        BadWord: it is not a size, or too small.
    """
    bytes_asked = memory(word)
    if bytes_asked < LIMIT_BYTES_MIN:
        raise BadWord(f"'{word}' is too small for a recording: at least 1MB")
    return bytes_asked
