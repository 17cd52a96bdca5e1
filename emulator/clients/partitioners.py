"""Which partition a record goes to.

Pure functions: counters and the sticky choice are the producer's to keep, random numbers are drawn
by the caller. Source: ``DefaultPartitioner``, ``RoundRobinPartitioner``, ``BuiltInPartitioner`` and
``Utils.murmur2`` of the Java client.
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
    """Return the 32-bit murmur2 hash of ``data`` as Kafka seeds it, signed as Java has it."""
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
    """Return a 32-bit number without its sign bit (not its absolute value)."""
    return number & _POSITIVE


def partition_for_key(key: bytes, partitions: int) -> int:
    """Return a key's partition, over all ``partitions`` whether available or not."""
    return to_positive(murmur2(key)) % partitions


def round_robin(counter: int, available: Sequence[int], partitions: int) -> int:
    """Return the partition of a producer's record number ``counter``, in turn over those available.

    If none has a leader, in turn over all. The default for records without a key up to 2.3, where
    the counter begins at random; from 2.4 an own partitioner, for every record, counting from 0.
    """
    turn = to_positive(counter)
    return available[turn % len(available)] if available else turn % partitions


def sticky(previous: int | None, available: Sequence[int], partitions: int, draw: float) -> int:
    """Return the partition to stay with for the next batch of records without a key (KIP-480).

    Called when a batch is complete (``previous`` None: for the first). Another available partition
    than ``previous`` is chosen at random; the only available one if there is just one; any at all
    if there is none. ``available`` is in order; ``draw`` is a random number in [0, 1).
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
    """Return the partition that records without a key go to next (KIP-794, 3.3).

    Called when batch.size bytes have gone to the last one: any available partition, perhaps the
    same again; any at all if none is available. ``draw`` is a random number in [0, 1). Kafka weighs
    partitions by how much waits for each of them, which here is nothing: a batch is sent as soon as
    it is made.
    """
    choices = available or range(partitions)
    return choices[int(draw * len(choices))]
