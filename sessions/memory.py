"""How much more memory this process may take, and how it gives back what it does not need."""

import os
from contextlib import suppress
from functools import cache
from math import inf
from pathlib import Path
from typing import Final

MEMORY_SHARE: Final = 0.8
"""The share of the machine's memory that a process may have: without any left, all suffer."""
LOOK_BYTES: Final = 1 << 20
"""The bytes that come between two looks at the memory."""
INPUT_BYTES_MIN: Final = 1 << 10
"""What any input counts: the objects that it becomes are larger than it."""
INPUT_FACTOR: Final = 4
"""Memory of an input in its bytes: what came, what is decoded, kept and answered."""
CGROUP: Final = Path("/sys/fs/cgroup/memory.max")
STATM: Final = Path("/proc/self/statm")


def memory_left() -> float:
    """Return how many more bytes this process may take; negative if it has taken too many.

    It may take four fifths of the machine's memory, of that of its control group, and of the
    address space that the system gives it (``ulimit -v``). Infinite without Linux's files.
    """
    try:
        pages = STATM.read_bytes().split()
        mapped, resident = (int(count) * os.sysconf("SC_PAGE_SIZE") for count in pages[:2])
    except OSError:
        return inf
    return min(memory_limit() - resident, _address_space_limit() - mapped)


@cache
def memory_limit() -> float:
    """Return how many bytes a process may occupy, as in :func:`memory_left`."""
    try:
        total = float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
        return MEMORY_SHARE * min(total, _group_limit())
    except (OSError, ValueError):
        return inf


def _address_space_limit() -> float:
    with suppress(ImportError):  # Windows has none
        from resource import RLIM_INFINITY, RLIMIT_AS, getrlimit

        soft, _ = getrlimit(RLIMIT_AS)
        return inf if soft == RLIM_INFINITY else MEMORY_SHARE * soft
    return inf


def _group_limit() -> float:
    try:
        limit_text = CGROUP.read_text("ascii").strip()
    except OSError:
        return inf
    return float(limit_text) if limit_text.isdecimal() else inf


def give_back() -> None:
    """Give free memory back to the system, which glibc keeps while anything behind it is in use.

    Between texts of tens of kilobytes, which come and go, hundreds of megabytes remain otherwise.
    """
    import ctypes

    with suppress(AttributeError, OSError, TypeError):  # other systems' libraries have no such call
        ctypes.CDLL(None).malloc_trim(0)


class MemoryWatch:
    """Says whether there is memory for what comes, and looks only now and then."""

    def __init__(self) -> None:
        self._bytes = LOOK_BYTES
        self._has_room = True

    def has_room(self, byte_count: int) -> bool:
        """Return whether an input of so many bytes can be taken."""
        self._bytes += max(byte_count, INPUT_BYTES_MIN)
        if self._bytes >= LOOK_BYTES or not self._has_room:
            self._bytes = 0
            self._has_room = INPUT_FACTOR * byte_count <= memory_left()
        return self._has_room
