"""How many bytes records take on the wire, which size limits and the partitioner go by.

Source: ``Record`` (message formats 0 and 1), ``DefaultRecord`` and ``DefaultRecordBatch`` (format
2, since 0.11); nothing is compressed. In format 2 numbers are as long as they have to be: counted
are the 7 bytes that a record of up to 50 bytes takes beside its key and value, which is up to 6 too
few for each longer one.
"""

from collections.abc import Sequence
from typing import Final

from emulator.releases.profiles import Profile

BATCH_OVERHEAD: Final = 61
"""The head of a batch in format 2."""
RECORD_OVERHEAD: Final = 7
"""What each of its records takes beside its key and value."""
MESSAGE_OVERHEAD: Final = 34
"""What a message in format 1 takes so, its offset and size included."""
FIRST_MESSAGE_OVERHEAD: Final = 26
"""The same in format 0, which has no timestamp (up to 0.9)."""


def request_bytes(profile: Profile, keys: Sequence[str | None], values: Sequence[str]) -> int:
    """Return what a leader holds against max.message.bytes.

    That is the whole batch in format 2; before, the largest message.
    """
    if profile.has("idempotence"):
        return batch_bytes(keys, values)
    overhead = MESSAGE_OVERHEAD if profile.has("message_timestamps") else FIRST_MESSAGE_OVERHEAD
    largest_key = max((_bytes(key or "") for key in keys), default=0)
    return overhead + largest_key + max(map(_bytes, values))


def stored_bytes(profile: Profile, keys: Sequence[str | None], values: Sequence[str]) -> int:
    """Return what records take in a log: as one batch in format 2, before as messages in a row."""
    if profile.has("idempotence"):
        return batch_bytes(keys, values)
    overhead = MESSAGE_OVERHEAD if profile.has("message_timestamps") else FIRST_MESSAGE_OVERHEAD
    text = "".join(values) + "".join(key for key in keys if key)
    return overhead * len(values) + _bytes(text)


def batch_bytes(keys: Sequence[str | None], values: Sequence[str]) -> int:
    """Return the size of a batch in format 2."""
    text = "".join(values) + "".join(key for key in keys if key)
    return BATCH_OVERHEAD + RECORD_OVERHEAD * len(values) + _bytes(text)


def _bytes(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode())
