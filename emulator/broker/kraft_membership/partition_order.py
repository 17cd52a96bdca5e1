"""The iteration order of Scala's hash maps, in which followers start to fetch partitions.

It determines the order in which a leader asks for several followers to join the ISR. Source:
``TopicPartition.hashCode``, ``scala.collection.mutable.HashMap`` 2.13 (Kafka 2.4 and later).
"""

from collections.abc import Iterable
from functools import lru_cache
from typing import Final

from emulator.common.names import split
from emulator.zookeeper.hash_order import hash_code

_MASK: Final = 0xFFFFFFFF
_TABLE_MIN: Final = 16
_LOAD_FACTOR: Final = 0.75
_topic_hash = lru_cache(maxsize=64)(hash_code)
"""Partitions arrive topic by topic, and hashing the name is the most expensive step."""


def partition_hash(tp: str) -> int:
    """``TopicPartition.hashCode``, as an unsigned 32-bit number."""
    topic, number = split(tp)
    return (31 * (31 + number) + _topic_hash(topic)) & _MASK


def map_order(tps: Iterable[str]) -> list[str]:
    """Partitions in the iteration order of a mutable HashMap."""
    added = list(tps)
    size = _TABLE_MIN
    while len(added) >= size * _LOAD_FACTOR:
        size *= 2

    def bucket(tp: str) -> tuple[int, int]:
        hashed = partition_hash(tp)
        improved = hashed ^ hashed >> 16
        return improved & size - 1, improved - (1 << 32 if improved >> 31 else 0)

    return sorted(added, key=bucket)
