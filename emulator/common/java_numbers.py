"""Numbers as Java reads them: decimal digits of ASCII, of any length, in a range of bits."""

import re
from typing import Final

INT_BITS: Final = 32
LONG_BITS: Final = 64
_INTEGER: Final = re.compile(r"([+-]?)0*([0-9]{1,19})")


def java_integer(text: str, bits: int = INT_BITS) -> int | None:
    """Return what ``Integer.parseInt`` (or ``Long.parseLong``) reads, or None if it refuses."""
    match = _INTEGER.fullmatch(text)
    if match is None:
        return None
    value = int(match[1] + match[2])
    return value if -(1 << bits - 1) <= value < 1 << bits - 1 else None
