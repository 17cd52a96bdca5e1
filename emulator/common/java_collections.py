"""Java's hash codes, and the order in which Java's collections iterate.

The coordinator's assignors treat members and topics in that order, so it decides who owns which
partition. Up to seven colliding keys are in the order of their insertion. Source:
``java.util.HashMap`` of Java 8 and later, ``org.apache.kafka.timeline.BaseHashTable``,
``Uuid.hashCode`` and ``Uuid.compareTo``.
"""

from base64 import urlsafe_b64decode
from collections.abc import Callable, Iterable
from typing import Final, TypeVar

Key = TypeVar("Key")

BUCKETS_MIN: Final = 16
_INT: Final = (1 << 32) - 1
_LONG: Final = (1 << 64) - 1
_SIGN: Final = 1 << 63
_FIBONACCI: Final = -7046029254386353131


def java_hash(text: str) -> int:
    """Java's ``String.hashCode``, as an unsigned number."""
    hashed = 0
    units = text.encode("utf-16-be")
    for high, low in zip(units[::2], units[1::2], strict=True):
        hashed = (31 * hashed + (high << 8 | low)) & _INT
    return hashed


def uuid_hash(topic_id: str) -> int:
    """The hash code of a topic id in its base64 notation, as an unsigned number."""
    most, least = _halves(topic_id)
    mixed = most ^ least
    return (mixed >> 32 ^ mixed) & _INT


def uuid_order(topic_id: str) -> tuple[int, int]:
    """The sort key of a topic id: its halves are signed numbers."""
    most, least = _halves(topic_id)
    return most - 2 * (most & _SIGN), least - 2 * (least & _SIGN)


def _halves(topic_id: str) -> tuple[int, int]:
    data = urlsafe_b64decode(f"{topic_id}==")[:16]
    return int.from_bytes(data[:8]), int.from_bytes(data[8:])


def hash_map_order(
    keys: Iterable[Key], hash_of: Callable[[Key], int], *, copied: bool = False
) -> list[Key]:
    """The order of a HashMap's or HashSet's keys, which are given in the order of insertion.

    One that was copied from another collection was made large enough at once.
    """
    inserted = list(keys)
    buckets = BUCKETS_MIN
    needed = len(inserted) / 0.75
    while buckets < (int(needed) + 1 if copied else needed):
        buckets *= 2

    def bucket(key: Key) -> int:
        code = hash_of(key)
        return (code ^ code >> 16) & (buckets - 1)

    return sorted(inserted, key=bucket)


def ids_in_order(member_ids: Iterable[str]) -> list[str]:
    """Member ids in the order of a HashMap."""
    return hash_map_order(member_ids, java_hash)


def topics_in_order(topic_ids: Iterable[str], *, copied: bool = False) -> list[str]:
    """Topic ids in the order of a HashMap."""
    return hash_map_order(topic_ids, uuid_hash, copied=copied)


def numbers_in_order(numbers: Iterable[int]) -> list[int]:
    """Partition numbers in the order of a HashSet that was copied from a list."""
    return hash_map_order(numbers, lambda number: number, copied=True)


def timeline_order(member_ids: Iterable[str]) -> list[str]:
    """Member ids in the order of a coordinator's TimelineHashMap: the last of a slot is first."""
    inserted = list(member_ids)
    slots = 2
    for size in range(1, len(inserted) + 1):
        if size * 0.75 > slots:
            slots *= 2
    shift = 65 - slots.bit_length()

    def slot(member_id: str) -> int:
        code = java_hash(member_id)
        signed = code - (1 << 32) if code >> 31 else code
        return (signed * _FIBONACCI & _LONG) >> shift

    return sorted(reversed(inserted), key=slot)
