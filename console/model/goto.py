"""Where ``t`` goes: a time (``12:04``), a distance (``-3m``), an event (``#18207``), an end."""

import re

from msgspec import Struct

from sessions.text import US_PER_SECOND

UNITS_US = {
    "us": 1,
    "ms": 1_000,
    "s": US_PER_SECOND,
    "m": 60 * US_PER_SECOND,
    "h": 3_600 * US_PER_SECOND,
}
EVENT = re.compile(r"#\s*(\d[\d,]*)")
DISTANCE = re.compile(r"([+-])\s*(\d+(?:\.\d+)?)\s*(us|ms|s|m|h)")
CLOCK = re.compile(r"(?:(\d+):)?(\d+):(\d+(?:\.\d+)?)")
FORMS = (
    "a time (12:04 or 1:12:04.250), a distance (-3m, +10s), an event (#18207), start, end, "
    "or a condition (when urp>5)"
)


class GotoError(ValueError):
    """What was typed names no place; the message says which forms there are."""


class Target(Struct, frozen=True):
    """A place in time: an event, or else a virtual time in microseconds."""

    seq: int | None = None
    time_us: int = 0


def parse(text: str, now_us: int, last_seq: int, last_time_us: int) -> Target:
    """The place that ``text`` names, seen from ``now_us``; never outside what exists.

    Raises:
        GotoError: it names none.
    """
    text = text.strip()
    if text in ("start", "end"):
        return Target(seq=0 if text == "start" else last_seq)
    if found := EVENT.fullmatch(text):
        return Target(seq=min(int(found[1].replace(",", "")), last_seq))
    if found := DISTANCE.fullmatch(text):
        distance_us = int(float(found[2]) * UNITS_US[found[3]])
        return _at(now_us + (distance_us if found[1] == "+" else -distance_us), last_time_us)
    if found := CLOCK.fullmatch(text):
        minutes = int(found[1] or 0) * 60 + int(found[2])
        return _at(round((minutes * 60 + float(found[3])) * US_PER_SECOND), last_time_us)
    raise GotoError(f"{text!r} is no place in time; give {FORMS}")


def _at(time_us: int, last_time_us: int) -> Target:
    return Target(time_us=max(0, min(time_us, last_time_us)))
