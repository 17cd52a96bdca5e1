"""The memory that this process takes, and how much it may take."""

import os
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


def memory_in_use() -> int:
    """Return the memory that this process occupies now, in bytes; 0 where Linux's files are not."""
    try:
        return int(STATM.read_bytes().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0


@cache
def memory_limit() -> float:
    """Return how many bytes a process may take: of the machine's memory, or its control group's."""
    try:
        total = float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
        return MEMORY_SHARE * min(total, _group_limit())
    except (OSError, ValueError):
        return inf


def _group_limit() -> float:
    try:
        said = CGROUP.read_text("ascii").strip()
    except OSError:
        return inf
    return float(said) if said.isdecimal() else inf


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
            self._has_room = memory_in_use() + INPUT_FACTOR * byte_count <= memory_limit()
        return self._has_room
