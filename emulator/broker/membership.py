"""What any way of belonging to a cluster needs: the block of producer ids that a broker hands out.

Source: ``ProducerIdsBlock`` and ``ProducerIdManager`` 0.11 to 4.1 (KIP-98, KIP-730).
"""

from typing import Final

from msgspec import Struct

BLOCK_SIZE: Final = 1_000
PREFETCH_LEFT: Final = 99
"""The following block is asked for when the id is given that leaves so many."""
FIRST_EPOCH: Final = 0


class ProducerIdBlock(Struct, array_like=True):
    """The rest of the broker's block: the next id and the last one; -1 if it is used up.

    ``following`` is the first id of the block after it, -1 if there is none yet.
    """

    next: int = -1
    last: int = -1
    following: int = -1

    def add(self, start: int) -> None:
        """Add the block that begins with the id ``start``."""
        if self.next >= 0:
            self.following = start
        else:
            self.next, self.last = start, start + BLOCK_SIZE - 1

    def claim(self) -> int:
        """Return the next id; -1 if there is none."""
        given = self.next
        self.next = given + 1 if 0 <= given < self.last else -1
        if self.next < 0 <= self.following:
            start, self.following = self.following, -1
            self.add(start)
        return given

    def is_low(self, given: int) -> bool:
        """Whether ``given`` is the id at which the following block is asked for."""
        return given >= 0 and self.last - given == PREFETCH_LEFT
