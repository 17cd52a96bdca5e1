"""A moment of a history as it is given on the command line: an offset or a time."""

from datetime import UTC, datetime, timedelta

from msgspec import Struct

US_PER_SECOND = 1_000_000
US_PER_MS = 1_000
NOWHERE = -1
"""An offset, or a time, that is before every place: it does not count."""
LAST_MS = 253_402_300_799_999
"""The end of the year 9999: later times, which no cluster wrote, are read as this one."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Place(Struct, frozen=True):
    """The last record that counts: that at ``offset``, or the last one up to ``time_us``."""

    offset: int | None = None
    time_us: int | None = None

    def is_before(self, offset: int, time_us: int) -> bool:
        """Whether a record is after this place."""
        if self.offset is not None:
            return offset > self.offset
        return self.time_us is not None and time_us > self.time_us


END = Place()
"""The end of a history."""


def place_of(text: str) -> Place:
    """Return the place that a text means: ``88`` or ``2026-11-23T19:05:07.079Z`` (without Z: UTC).

    Raises:
        ValueError: it is neither.
    """
    try:
        if text.isdecimal():
            return Place(offset=int(text))
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise ValueError(
            f"{text!r} is neither an offset nor a time such as 2026-11-23T19:05:07.079Z"
        ) from None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return Place(time_us=round(moment.timestamp() * US_PER_SECOND))


def time_text(time_us: int) -> str:
    """A wall-clock time as ``2026-11-23T19:05:07.079Z``, within the years of :func:`date_of`."""
    moment = date_of(time_us)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{moment.microsecond // 1000:03}Z"


def date_of(time_us: int) -> datetime:
    """Return the date of a wall-clock time, from 1970 to 9999; of another one the nearest there."""
    return _EPOCH + timedelta(microseconds=min(max(0, time_us), LAST_MS * US_PER_MS))
