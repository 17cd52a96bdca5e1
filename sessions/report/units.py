"""Formatting of numbers: virtual times, shares and counts; and the tick marks of an axis."""

from math import ceil, floor, log10
from typing import Final

US_PER_MS: Final = 1_000
US_PER_SECOND: Final = 1_000_000
US_PER_MINUTE: Final = 60 * US_PER_SECOND
US_PER_HOUR: Final = 60 * US_PER_MINUTE
MARKS_MAX: Final = 6
NOTHING: Final = "-"
"""Stands where there is no value."""


def time_text(time_us: float | None) -> str:
    """Format a virtual duration in a suitable unit, with three significant digits."""
    if time_us is None:
        return NOTHING
    for unit, us in (("h", US_PER_HOUR), ("min", US_PER_MINUTE), ("s", US_PER_SECOND)):
        if time_us >= us:
            return f"{_digits(time_us / us)} {unit}"
    if time_us >= US_PER_MS:
        return f"{_digits(time_us / US_PER_MS)} ms"
    return f"{_digits(time_us)} µs" if time_us else "0"


def clock_text(time_us: int | None) -> str:
    """Format a virtual time like the console's clock, with microseconds if needed.

    ``01:19``, ``01:19.250``, ``02:00:00.000391``.
    """
    if time_us is None:
        return NOTHING
    seconds, rest_us = divmod(time_us, US_PER_SECOND)
    minutes, seconds = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    text = f"{minutes:02}:{seconds:02}"
    if hours:
        text = f"{hours:02}:{text}"
    if not rest_us:
        return text
    milliseconds, rest = divmod(rest_us, US_PER_MS)
    return f"{text}.{milliseconds:03}" if not rest else f"{text}.{rest_us:06}"


def _digits(value: float) -> str:
    decimals = max(0, 2 - floor(log10(value))) if value > 0 else 0
    text = f"{value:,.{decimals}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def number_text(value: float | None) -> str:
    """Format a number with thousands separators; None is a dash."""
    if value is None:
        return NOTHING
    return f"{value:,}" if isinstance(value, int) else _digits(value) if value else "0"


def marks(largest: float) -> list[float]:
    """Return at most seven round numbers, from 0 to the first that is at least ``largest``."""
    if largest <= 0:
        return [0.0, 1.0]
    rough = largest / MARKS_MAX
    power = 10.0 ** floor(log10(rough))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough * 0.999_999)
    return [step * at for at in range(ceil(largest / step - 1e-9) + 1)]
