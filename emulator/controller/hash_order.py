"""The iteration order of Scala's hash maps and sets of partitions and replicas.

Partitions in one bucket of a map are in the reverse order of insertion, so a copy of a map
reverses them. Up to 1.0 the controller iterates over some of them with requests and writes for each
element, so their order is observable; from 1.1 on it goes broker by broker. Sources:
``scala.util.hashing.MurmurHash3.productHash`` (what a case class hashes to),
``scala.collection.mutable.HashTable`` and ``scala.collection.immutable.HashSet`` 2.10 to 2.12, the
versions that Kafka 0.8 to 2.4 were built with; and ``immutable.HashMap`` 2.13 since.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

from emulator.common.names import split
from emulator.zookeeper.hash_order import hash_code

_T = TypeVar("_T")
_MASK = 0xFFFFFFFF
_PRODUCT_SEED = 0xCAFEBABE
_SWAP = 0x9E3775CD
SMALL_SET = 4
"""A Scala set of up to this many elements keeps insertion order."""
INITIAL_TABLE = 16
LOAD_PER_1000 = 750
SEED = 4
"""How many bits hashes are rotated by: the number of index bits of a table before it grows."""


def partition_hash(tp: str) -> int:
    """``TopicAndPartition.hashCode``, as an unsigned 32-bit number."""
    topic, number = split(tp)
    return _product_hash(hash_code(topic), number)


def replica_hash(tp: str, broker: int) -> int:
    """``PartitionAndReplica(topic, partition, replica).hashCode``, as an unsigned 32-bit number."""
    topic, number = split(tp)
    return _product_hash(hash_code(topic), number, broker)


def _counted_hash(tp: str, replicas: int) -> int:
    """The hash of a pair of partition and replica count."""
    return _product_hash(partition_hash(tp), replicas)


def map_order(tps: Iterable[str]) -> list[str]:
    """Partitions in the order of ``ControllerContext.partitionReplicaAssignment`` (a mutable map).

    ``tps`` are given in insertion order.
    """
    table: list[list[str]] = [[] for _ in range(INITIAL_TABLE)]
    for size, tp in enumerate(tps, start=1):
        _bucket(table, tp).insert(0, tp)
        if size > len(table) * LOAD_PER_1000 // 1000:
            grown: list[list[str]] = [[] for _ in range(2 * len(table))]
            for chain in reversed(table):
                for moved in chain:
                    _bucket(grown, moved).insert(0, moved)
            table = grown
    return [tp for chain in reversed(table) for tp in chain]


def read_order(topics: Mapping[str, Iterable[int]]) -> list[str]:
    """Partitions in the order in which the controller puts them into a map when it reads topics.

    ``topics`` has the partition numbers of each topic as they stand in its znode. Sets of topics
    and maps by number are immutable. Source: ``ZkUtils.getReplicaAssignmentForTopics``.
    """
    return [
        f"{topic}-{number}"
        for topic in set_order(topics, hash_code)
        for number in set_order(topics[topic], lambda number: hash_code(str(number)))
    ]


def _bucket(table: list[list[str]], tp: str) -> list[str]:
    """A partition's bucket: the highest bits of its improved hash."""
    return table[_improved(partition_hash(tp)) >> (32 - (len(table) - 1).bit_length())]


def _improved(hashed: int) -> int:
    swapped = _byteswap(hashed)
    return (swapped >> SEED | swapped << (32 - SEED)) & _MASK


def brokers_grouped(brokers: Iterable[int]) -> list[int]:
    """Brokers in the order of ``replicas.groupBy(_.replica)`` of Scala 2.12.

    The brokers are grouped in a mutable map, which is iterated from its end into an immutable one;
    that keeps up to four keys in insertion order.
    """
    as_table = sorted(brokers, key=_improved, reverse=True)
    return set_order(as_table, lambda broker: broker)


def brokers_grouped_since_2_13(brokers: Iterable[int]) -> list[int]:
    """Brokers in the order of ``replicas.groupBy(_.replica)`` of Scala 2.13.

    It is always an immutable hash map there, also if it is small: 0, 5, 1, 6, 9, 2, 7, 3, 8, 4.
    Source: ``scala.collection.IterableOps.groupBy``, ``immutable.HashMap`` and its
    ``BitmapIndexedMapNode``, whose own elements come before those of its child nodes.
    """
    return _in_node([(trie_path(broker), broker) for broker in brokers])


def _in_node(items: list[tuple[tuple[int, ...], int]], depth: int = 0) -> list[int]:
    """The elements of a node of a trie, each with its path."""
    slots: dict[int, list[tuple[tuple[int, ...], int]]] = {}
    for item in items:
        slots.setdefault(item[0][depth], []).append(item)
    chains = [slots[slot] for slot in sorted(slots)]
    own = [chain[0][1] for chain in chains if len(chain) == 1]
    return own + [
        broker for chain in chains if len(chain) > 1 for broker in _in_node(chain, depth + 1)
    ]


def set_order(items: Iterable[_T], hash_of: Callable[[_T], int]) -> list[_T]:
    """The elements of an immutable set in iteration order, given in insertion order."""
    added = list(items)
    return (
        added
        if len(added) <= SMALL_SET
        else sorted(added, key=lambda item: trie_path(hash_of(item)))
    )


def partitions_in_order(hosted: Iterable[str], replicas_of: Callable[[str], int]) -> list[str]:
    """A broker's partitions in the order in which ``KafkaController.shutdownBroker`` handles them.

    ``hosted`` are in the order of :func:`map_order`.
    """
    as_set = set_order(hosted, partition_hash)
    return set_order(as_set, lambda tp: _counted_hash(tp, replicas_of(tp)))


def trie_path(value: int) -> tuple[int, ...]:
    """The path to an element of ``HashSet``: five bits of its improved hash per level."""
    improved = value + (~(value << 9) & _MASK) & _MASK
    improved ^= improved >> 14
    improved = improved + (improved << 4) & _MASK
    improved ^= improved >> 10
    return (
        improved & 31,
        improved >> 5 & 31,
        improved >> 10 & 31,
        improved >> 15 & 31,
        improved >> 20 & 31,
        improved >> 25 & 31,
        improved >> 30,
    )


# ---- hashes


def _product_hash(*elements: int) -> int:
    hashed = _PRODUCT_SEED
    for element in elements:
        mixed = element * 0xCC9E2D51 & _MASK
        mixed = _rotated_left(mixed, 15) * 0x1B873593 & _MASK
        hashed = _rotated_left(hashed ^ mixed, 13) * 5 + 0xE6546B64 & _MASK
    hashed ^= len(elements)
    hashed = (hashed ^ hashed >> 16) * 0x85EBCA6B & _MASK
    hashed = (hashed ^ hashed >> 13) * 0xC2B2AE35 & _MASK
    return hashed ^ hashed >> 16


def _rotated_left(value: int, bits: int) -> int:
    return (value << bits | value >> (32 - bits)) & _MASK


def _byteswap(value: int) -> int:
    """``scala.util.hashing.byteswap32``."""
    swapped = int.from_bytes((value * _SWAP & _MASK).to_bytes(4, "big"), "little")
    return swapped * _SWAP & _MASK
