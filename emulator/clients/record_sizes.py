"""Record sizes on the wire, which determine size limits and partitioning.

Source: ``Record`` (message formats 0 and 1), ``DefaultRecord`` and ``DefaultRecordBatch`` (format
2, since 0.11); without compression. Format 2 uses varints: the overhead assumed is the 7 bytes that
a record of up to 50 bytes needs in addition to its key and value, up to 6 bytes too few for longer
records.
"""

from collections.abc import Sequence
from typing import Final

from emulator.common.limits import REQUEST_ITEMS_MAX
from emulator.inputs.statements import Produce
from emulator.releases.profiles import Profile

BATCH_OVERHEAD: Final = 61
"""The header of a format 2 batch."""
RECORD_OVERHEAD: Final = 7
"""The overhead of each of its records, in addition to key and value."""
MESSAGE_OVERHEAD: Final = 34
"""The same overhead of a format 1 message, including its offset and size."""
FIRST_MESSAGE_OVERHEAD: Final = 26
"""The same for format 0, which has no timestamp (up to 0.9)."""
BUFFER_BYTES: Final = 32 << 20
"""The memory in which a producer builds batches: Kafka's default of ``buffer.memory``."""


def batch_excess(statement: Produce) -> str | None:
    """Return why a producer cannot build the statement's batches; None if it can."""
    record_bytes = _bytes(statement.value) + _bytes(statement.key or "")
    most = min(REQUEST_ITEMS_MAX, max(1, BUFFER_BYTES // max(1, record_bytes)))
    if min(statement.batch, statement.count) <= most:
        return None
    return (
        f"A batch has at most {REQUEST_ITEMS_MAX:,} records and {BUFFER_BYTES >> 20} MiB "
        f"(buffer.memory): give --batch {most} or less."
    )


def request_bytes(profile: Profile, keys: Sequence[str | None], values: Sequence[str]) -> int:
    """Return the size that a leader compares with max.message.bytes.

    This is the size of the whole batch in format 2; before, that of the largest message.
    """
    if profile.has("idempotence"):
        return batch_bytes(keys, values)
    overhead = MESSAGE_OVERHEAD if profile.has("message_timestamps") else FIRST_MESSAGE_OVERHEAD
    largest_key = max((_bytes(key or "") for key in keys), default=0)
    largest_value = max(map(_bytes, values), default=0)
    return overhead + largest_key + largest_value if values else 0


def stored_bytes(profile: Profile, keys: Sequence[str | None], values: Sequence[str]) -> int:
    """Return the records' size in a log: one batch in format 2, single messages before."""
    if profile.has("idempotence"):
        return batch_bytes(keys, values)
    overhead = MESSAGE_OVERHEAD if profile.has("message_timestamps") else FIRST_MESSAGE_OVERHEAD
    text = "".join(values) + "".join(key for key in keys if key)
    return overhead * len(values) + _bytes(text)


def batch_bytes(keys: Sequence[str | None], values: Sequence[str]) -> int:
    """Return the size of a batch in format 2."""
    text = "".join(values)
    if keys:
        text += "".join(key for key in keys if key)
    return BATCH_OVERHEAD + RECORD_OVERHEAD * len(values) + _bytes(text)


def _bytes(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode())
