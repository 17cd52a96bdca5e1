"""The partitioners of the Java client.

Pure functions: counters and the sticky partition are kept by the producer, and random numbers are
drawn by the caller. Source: ``DefaultPartitioner``, ``RoundRobinPartitioner``,
``BuiltInPartitioner`` and ``Utils.murmur2`` of the Java client.
"""

from bisect import bisect_left
from collections.abc import Sequence
from typing import Final

_SEED: Final = 0x9747B28C
_MULTIPLIER: Final = 0x5BD1E995
_SHIFT: Final = 24
_UNSIGNED: Final = 0xFFFFFFFF
_POSITIVE: Final = 0x7FFFFFFF
_SIGN: Final = 0x80000000


def murmur2(data: bytes) -> int:
    """Return the 32-bit murmur2 hash of ``data`` with Kafka's seed, signed as in Java."""
    hashed = _SEED ^ len(data)
    whole = len(data) & ~3
    for start in range(0, whole, 4):
        block = int.from_bytes(data[start : start + 4], "little") * _MULTIPLIER & _UNSIGNED
        block = (block ^ block >> _SHIFT) * _MULTIPLIER & _UNSIGNED
        hashed = hashed * _MULTIPLIER & _UNSIGNED ^ block
    if whole < len(data):
        hashed = (hashed ^ int.from_bytes(data[whole:], "little")) * _MULTIPLIER & _UNSIGNED
    hashed = (hashed ^ hashed >> 13) * _MULTIPLIER & _UNSIGNED
    hashed ^= hashed >> 15
    return hashed - 2 * (hashed & _SIGN)


def to_positive(number: int) -> int:
    """Clear the sign bit of a 32-bit number (this is not its absolute value)."""
    return number & _POSITIVE


def partition_for_key(key: bytes, partitions: int) -> int:
    """Return a key's partition among all ``partitions``, available or not."""
    return to_positive(murmur2(key)) % partitions


def round_robin(counter: int, available: Sequence[int], partitions: int) -> int:
    """Return the partition of record number ``counter``, round-robin over available partitions."""
    turn = to_positive(counter)
    return available[turn % len(available)] if available else turn % partitions


def sticky(previous: int | None, available: Sequence[int], partitions: int, draw: float) -> int:
    """Return the sticky partition for the next batch of records without a key (KIP-480).

    Called when a batch is complete (``previous`` None: for the first one). An available partition
    other than ``previous`` is chosen at random, the only available one if there is just one, or any
    partition if none is available. ``available`` is sorted; ``draw`` is a random number in [0, 1).
    """
    if len(available) == 1:
        return available[0]
    if not available:
        return int(draw * partitions)
    at = -1 if previous is None else bisect_left(available, previous)
    if not 0 <= at < len(available) or available[at] != previous:
        return available[int(draw * len(available))]
    chosen = int(draw * (len(available) - 1))
    return available[chosen if chosen < at else chosen + 1]


def uniform(available: Sequence[int], partitions: int, draw: float) -> int:
    """Return the next partition for records without a key (KIP-794, 3.3).

    Called when batch.size bytes have been sent to the previous one: any available partition,
    possibly the same again, or any partition if none is available. ``draw`` is a random number in
    [0, 1). Kafka weighs partitions by their queue sizes, which are always zero here, since a batch
    is sent as soon as it is created.
    """
    choices = available or range(partitions)
    return choices[int(draw * len(choices))]
