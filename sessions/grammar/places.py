"""The place grammar: where in a run something is looked at.

The same words mean the same in ``t`` of the console, ``replay --at`` and ``sessions trim``:

- a time since the beginning: ``12s``, ``4.081322s``, ``12:04``, ``1:12:04.250``;
- an event: ``#18207`` (also ``#18,207``);
- ``start`` and ``end``;
- a distance, ``-3m`` or ``+10s``, from the current place: the time cursor, or, where there is none,
  the end of the recording for ``-`` and its beginning for ``+``.
"""

import re
from typing import Final

from msgspec import Struct

from sessions.grammar.words import BadWord, duration, moment
from sessions.text import clean, clock, number

FORMS: Final = (
    "give a time (12s, 12:04), a distance (-3m, +10s), an event (#18207), 'start' or 'end'"
)

_EVENT: Final = re.compile(r"#\s*(\d[\d,]{0,20})", re.ASCII)
_DISTANCE: Final = re.compile(r"([+-])\s*(\S+)")
_FRACTION: Final = re.compile(r"(\d{1,10}\.\d{1,6}s)", re.ASCII)


class Place(Struct, frozen=True):
    """A place as it was written.

    ``seq`` is an event's number. Otherwise ``time_us`` is a virtual time in microseconds, or, with
    ``is_distance``, how far from the current place; it is negative for what lies before. ``is_end``
    is the end, whenever that is.
    """

    seq: int | None = None
    time_us: int = 0
    is_distance: bool = False
    is_end: bool = False

    def beyond_end(self, now_us: int, last_seq: int, last_us: int) -> str:
        """Where the end is, if this is after it: ``the end is 00:00:40.600 (#1,234)``; or empty.

        Arguments are those of :meth:`seen_from`.
        """
        time_us = self.time_us + (now_us if self.is_distance else 0)
        if (time_us <= last_us) if self.seq is None else (self.seq <= last_seq):
            return ""
        return f"the end is {clock(last_us)} (#{number(last_seq)})"

    def seen_from(self, now_us: int, last_seq: int, last_us: int) -> "Place":
        """The event or the time that it is, seen from ``now_us``; never outside what exists."""
        if self.is_end:
            return Place(seq=last_seq)
        if self.seq is not None:
            return Place(seq=min(self.seq, last_seq))
        time_us = self.time_us + (now_us if self.is_distance else 0)
        return Place(time_us=max(0, min(time_us, last_us)))

    def in_recording(self, last_seq: int, last_us: int) -> "Place":
        """The event or the time that it is where there is no time cursor."""
        return self.seen_from(last_us if self.time_us < 0 else 0, last_seq, last_us)


def place(text: str) -> Place:
    """The place that a text names.

    Raises:
        BadWord: it names none; the message lists the forms.
    """
    word = text.strip()
    if word.lower() in ("start", "end"):
        return Place(seq=0) if word.lower() == "start" else Place(is_end=True)
    if match := _EVENT.fullmatch(word):
        return Place(seq=int(match[1].replace(",", "")))
    try:
        if match := _DISTANCE.fullmatch(word):
            parse = moment if _FRACTION.fullmatch(match[2]) else duration
            distance_us = parse(match[2])
            return Place(time_us=-distance_us if match[1] == "-" else distance_us, is_distance=True)
        return Place(time_us=moment(word))
    except BadWord:
        raise BadWord(f"'{clean(word)}' is not a place in time: {FORMS}", text) from None
