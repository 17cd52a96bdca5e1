"""How numbers, times and other people's text are written: short, aligned, and safe to print.

Names, keys and values are data. What is printed goes through :func:`clean` (names, cells, lines of
narration), :func:`without_controls` (longer texts, such as scripts) or :func:`json_line`, so that
nothing that somebody wrote can move the terminal's cursor. Markup is never interpreted, because
lines are built from spans and not from markup.
"""

import json
import re
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Final

import msgspec

US_PER_MS = 1_000
US_PER_SECOND = 1_000_000
SECONDS_PER_MINUTE = 60
SECONDS_PER_HOUR = 3_600
HOURS_PER_DAY = 24
US_PER_DAY = HOURS_PER_DAY * SECONDS_PER_HOUR * US_PER_SECOND
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
UNKNOWN = -1
TENTHS_MAX_S = 10
"""Ages below this are written with tenths of a second."""
DIGITS: Final = re.compile(r"(\d+)")
CONTROLS: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
"""What controls a terminal or the direction of text (Unicode's Cc, Zl, Zp, Cs, and the embeddings,
overrides and isolates of UAX #9), but for tabs and line ends."""


def clean(text: str) -> str:
    r"""The text with every character that does not print as an escape (``\x1b``, ``\n``)."""
    if text.isprintable():
        return text
    return "".join(
        character if character.isprintable() else _escaped(character) for character in text
    )


def without_controls(text: str) -> str:
    r"""The text with control characters as escapes (``\x1b``); tabs and line ends stay."""
    return CONTROLS.sub(lambda match: _escaped(match[0]), text)


def json_line(value: object) -> str:
    r"""A value as one line of JSON, with control characters as JSON's escapes (``\u009b``).

    JSON itself has to escape only those below U+0020. Surrogates stand for the bytes of a file's
    name that are no UTF-8.
    """
    try:
        text = msgspec.json.encode(value).decode()
    except UnicodeEncodeError:
        plain_value = msgspec.to_builtins(value, str_keys=True)
        text = json.dumps(plain_value, ensure_ascii=False, separators=(",", ":"))
    return CONTROLS.sub(lambda match: f"\\u{ord(match[0]):04x}", text) + "\n"


def _escaped(character: str) -> str:
    return character.encode("unicode_escape", "backslashreplace").decode("ascii")


def number(value: int | None) -> str:
    """``8,131``; ``-`` for an unknown value (None, and Kafka's -1)."""
    return "-" if value is None or value == UNKNOWN else f"{value:,}"


def plain(value: int | None) -> str:
    """``8131``; ``-`` for an unknown value (None, and Kafka's -1)."""
    return "-" if value is None or value == UNKNOWN else str(value)


def broker_list(brokers: Iterable[int]) -> str:
    """``2,3,1``."""
    return ",".join(map(str, brokers))


def brackets(brokers: Iterable[int]) -> str:
    """``[2,3,1]``."""
    return f"[{broker_list(brokers)}]"


def clock(time_us: int) -> str:
    """Time as ``00:12:04.250``; after the first midnight with the days, ``1d 00:12:04.250``."""
    seconds, rest_us = divmod(max(0, time_us), US_PER_SECOND)
    hours, seconds = divmod(seconds, SECONDS_PER_HOUR)
    minutes, seconds = divmod(seconds, SECONDS_PER_MINUTE)
    days, hours = divmod(hours, HOURS_PER_DAY)
    day = f"{days}d " if days else ""
    return f"{day}{hours:02}:{minutes:02}:{seconds:02}.{rest_us // US_PER_MS:03}"


def dated_clock(time_us: int, zero_us: int) -> str:
    """A time of day with its date (UTC), ``2026-11-24 00:12:04.250``.

    ``zero_us`` is the wall-clock time of time 0, a midnight, in microseconds since 1970 UTC.
    """
    moment = EPOCH + timedelta(microseconds=zero_us + max(0, time_us))
    return f"{moment:%Y-%m-%d} {clock(max(0, time_us) % US_PER_DAY)}"


def short_clock(time_us: int) -> str:
    """Virtual time without hours while there are none: ``12:04.250``."""
    text = clock(time_us)
    return text[3:] if text.startswith("00:") else text


def age(duration_us: int | None) -> str:
    """How long ago in at most five characters: ``120ms``, ``5.9s``, ``59s``, ``3m05``, ``2h07``."""
    if duration_us is None:
        return "-"
    if duration_us < US_PER_SECOND:
        return f"{max(0, duration_us) // US_PER_MS}ms"
    seconds = duration_us / US_PER_SECOND
    if seconds < TENTHS_MAX_S:
        return f"{seconds:.1f}s"
    if seconds < SECONDS_PER_MINUTE:
        return f"{int(seconds)}s"
    minutes, rest = divmod(int(seconds), SECONDS_PER_MINUTE)
    if minutes < SECONDS_PER_MINUTE:
        return f"{minutes}m{rest:02}"
    return f"{minutes // 60}h{minutes % 60:02}"


def hexadecimal(value: int) -> str:
    """ZooKeeper's way to write sessions and transaction ids: ``0x1f``."""
    return f"0x{value:x}"


def plural(count: int, noun: str) -> str:
    """``1 partition``, ``96 partitions``, ``4 replicas``."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def natural_list(items: Iterable[object]) -> str:
    """``1``, ``1 and 2``, ``1, 2 and 3``; there is at least one."""
    *others, last = map(str, items)
    return f"{', '.join(others)} and {last}" if others else last


@cache
def template_parts(template: str) -> tuple[tuple[str, tuple[str, ...], bool], ...]:
    """The parts of a sentence: format, fields, and whether it is left out without these.

    Fields are in braces; what is in brackets is left out: ``{name}[, because {reason}]``.
    """
    return tuple(
        (_FIELD.sub("{", text or optional), tuple(_FIELD.findall(text or optional)), not text)
        for text, optional in _PART.findall(template)
    )


_PART: Final = re.compile(r"([^\[]+)|\[([^\]]*)\]")
_FIELD: Final = re.compile(r"\{(\w+)")


def json_text(value: object) -> str:
    """A value (a struct by its fields' names) as JSON, for copying."""
    return msgspec.json.encode(_named(value)).decode()


def _named(value: object) -> object:
    """Structs that are arrays on disk, with their fields' names."""
    if isinstance(value, msgspec.Struct):
        return {name: _named(getattr(value, name)) for name in value.__struct_fields__}
    if isinstance(value, dict):
        return {str(key): _named(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_named(item) for item in value]
    return value


def natural_key(name: str) -> list[tuple[int, int, str]]:
    """A sort key by which ``10`` comes after ``9``."""
    parts = DIGITS.split(name)
    return [(0, int(part), "") if part.isdigit() else (1, 0, part) for part in parts if part]
