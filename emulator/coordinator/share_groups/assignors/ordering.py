"""The order in which Java's collections have the partitions of a topic."""

from collections.abc import Callable, Iterable
from typing import Final, TypeVar

from emulator.common.java_collections import BUCKETS_MIN, uuid_hash

Key = TypeVar("Key")
Partition = tuple[str, int]
"""A topic's id, and the number of one of its partitions."""

_INT: Final = (1 << 32) - 1
LOAD: Final = 0.75


def partition_hash(partition: Partition) -> int:
    """The hash code of the record ``TopicIdPartition``, as an unsigned number."""
    topic, number = partition
    return (31 * uuid_hash(topic) + number) & _INT


def computed_order(
    keys: Iterable[Key], hash_of: Callable[[Key], int], expected: int | None = None
) -> list[Key]:
    """The order of a HashMap that ``computeIfAbsent`` filled: colliding keys are last come first.

    ``expected`` is the number of keys that it was made for.
    """
    inserted = list(keys)
    buckets = BUCKETS_MIN
    if expected is not None:
        buckets = 1
        while buckets < int((expected + 1) / LOAD + 1):
            buckets *= 2
    while buckets * LOAD < len(inserted):
        buckets *= 2

    def bucket(key: Key) -> int:
        code = hash_of(key)
        return (code ^ code >> 16) & (buckets - 1)

    return sorted(reversed(inserted), key=bucket)


def number_hash(number: int) -> int:
    """The hash code of an Integer."""
    return number
