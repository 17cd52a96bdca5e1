"""The iteration order of strings in Java's HashSet.

In this order a session's ephemerals are deleted, which clients observe as the order of their watch
events, and a server lists a znode's children. Source: ``java.util.HashMap`` and
``String.hashCode``; ``DataTree.getEphemerals`` copies the set before iterating.
"""

from collections.abc import Collection

CAPACITY_MIN = 16
CHILDREN_CAPACITY_MIN = 8
LOAD_FACTOR = 0.75


def hash_code(text: str) -> int:
    """``String.hashCode`` over UTF-16 units, as an unsigned 32-bit number."""
    code = 0
    if text.isascii():
        for unit in text.encode():
            code = code * 31 + unit & 0xFFFFFFFF
        return code
    units = text.encode("utf-16-be", "surrogatepass")
    for high, low in zip(units[::2], units[1::2], strict=True):
        code = code * 31 + (high << 8 | low) & 0xFFFFFFFF
    return code


def hash_order(texts: Collection[str]) -> list[str]:
    """Return ``texts``, given in insertion order, in the iteration order of a copied HashSet.

    Within a bucket the copy keeps the order of the original set, which within a bucket keeps
    insertion order.
    """
    original, copy = _capacity_grown(len(texts)), _capacity_fitted(len(texts))

    def buckets(text: str) -> tuple[int, int]:
        code = hash_code(text)
        return _bucket(code, copy), _bucket(code, original)

    return sorted(texts, key=buckets)


def children_order(names: Collection[str]) -> list[str]:
    """Return the names of children, given in insertion order, in the order of ``DataNode``'s set.

    It begins with eight buckets.
    """
    capacity = _capacity_grown(len(names), CHILDREN_CAPACITY_MIN)
    return sorted(names, key=lambda name: _bucket(hash_code(name), capacity))


def _bucket(code: int, capacity: int) -> int:
    return (code ^ code >> 16) & capacity - 1


def _capacity_grown(size: int, capacity: int = CAPACITY_MIN) -> int:
    """The table size of a set that has grown to ``size`` one by one, from ``capacity``."""
    while size > capacity * LOAD_FACTOR:
        capacity *= 2
    return capacity


def _capacity_fitted(size: int) -> int:
    """The table size of a copy of a set of ``size``: the power of two that fits it."""
    return 1 << (int(size / LOAD_FACTOR + 1) - 1).bit_length()
