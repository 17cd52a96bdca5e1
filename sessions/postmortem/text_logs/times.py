"""When a line was written: the time at its beginning, and the zone that it is in.

Kafka's ``%d`` prints ISO 8601 with a comma before the milliseconds, in the zone of the machine, and
does not say which. Other patterns have a dot, a ``T``, an offset, slashes, or log4j's ``DATE``. In
front of the time may be what a container's runtime or the journal prints, whose own time then
counts if it is in one of these forms.
"""

import re
from datetime import UTC, datetime, tzinfo
from typing import Final

HEAD_BYTES: Final = 120
"""How far from its beginning a line's time is looked for."""
_US: Final = 1_000_000
_MONTHS: Final = {
    name: number
    for number, name in enumerate(b"Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(), 1)
}
_TIME: Final = re.compile(
    rb"(?<!\d)(?P<minute>(?P<year>\d{4})[-/](?P<month>\d\d)[-/](?P<day>\d\d)[ T](?P<hour>\d\d):"
    rb"(?P<minutes>\d\d)):(?P<second>\d\d)(?:[.,:](?P<fraction>\d{1,9}))?"
    rb"(?P<offset>Z| ?[+-]\d\d:?\d\d(?!\d))?"
)
_DATE: Final = re.compile(
    rb"(?<!\d)(?P<minute>(?P<day>\d\d) (?P<name>[A-Z][a-z]{2}) (?P<year>\d{4}) (?P<hour>\d\d):"
    rb"(?P<minutes>\d\d)):(?P<second>\d\d)(?:[.,:](?P<fraction>\d{1,9}))?"
    rb"(?P<offset>Z| ?[+-]\d\d:?\d\d(?!\d))?"
)


class Clock:
    """Turns the times of one machine's lines into microseconds since 1970, UTC.

    ``zone`` is that of times that do not say theirs. ``has_zone`` tells afterwards whether the
    lines said it themselves. In the hour that occurs twice when summer time ends, the first one is
    meant until a line is earlier than the one before it.
    """

    def __init__(self, zone: tzinfo = UTC) -> None:
        self.zone = zone
        self.has_zone = False
        self._minutes: dict[bytes, int] = {}
        self._last = 0
        self._fold = 0

    def time_us(self, line: bytes) -> int | None:
        """When a line was written; None if there is no time at its beginning."""
        match = _TIME.search(line, 0, HEAD_BYTES) or _DATE.search(line, 0, HEAD_BYTES)
        if match is None:
            return None
        offset = match["offset"]
        key = match["minute"] + (offset or b"")
        start = self._minutes.get(key)
        if start is None:
            start = self._minute_us(match)
            if start is None:
                return None
            if len(self._minutes) >= _MINUTES_MAX:
                self._minutes.clear()
            self._minutes[key] = start
        if offset:
            self.has_zone = True
        fraction = match["fraction"] or b""
        return start + int(match["second"]) * _US + int(fraction[:6].ljust(6, b"0") or 0)

    def _minute_us(self, match: "re.Match[bytes]") -> int | None:
        groups = match.groupdict()
        month = _MONTHS.get(groups["name"], 0) if "name" in groups else int(groups["month"])
        offset = groups["offset"]
        try:
            moment = datetime(
                int(groups["year"]), month, int(groups["day"]), int(groups["hour"]),
                int(groups["minutes"]), tzinfo=UTC if offset else self.zone, fold=self._fold,
            )  # fmt: skip
            start = int(moment.timestamp()) * _US
        except (ValueError, OverflowError):
            return None
        if offset:
            return start - _offset_us(offset)
        again = int(moment.replace(fold=1).timestamp()) * _US
        if again != start and start < self._last:
            self._fold, start = 1, again
        elif again == start:
            self._fold = 0
        self._last = start
        return start


_MINUTES_MAX: Final = 4096


def is_timed(line: bytes) -> bool:
    """Whether a line begins with a time: if not, it continues the message before it."""
    return (_TIME.search(line, 0, HEAD_BYTES) or _DATE.search(line, 0, HEAD_BYTES)) is not None


def _offset_us(offset: bytes) -> int:
    text = offset.strip()
    if text == b"Z":
        return 0
    minutes = int(text[1:3]) * 60 + int(text[-2:])
    return (-minutes if text[:1] == b"-" else minutes) * 60 * _US
