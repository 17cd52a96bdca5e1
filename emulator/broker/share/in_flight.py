"""Records that a share-partition has delivered, or may deliver again.

Records acquired together have one state until some of them change; then each has its own. A change
that has to be stored first can still fail, and is undone then. Source: ``InFlightState``,
``InFlightBatch`` and ``RecordState`` 4.1 to 4.3.
"""

from collections.abc import Iterator
from typing import Final, NamedTuple

from msgspec import Struct

AVAILABLE, ACQUIRED, ACKNOWLEDGED, ARCHIVING, ARCHIVED = range(5)
"""The states of a record as stored; it is archiving until it is in a dead-letter queue."""
TERMINAL: Final = (ACKNOWLEDGED, ARCHIVED)
NOBODY: Final = ""
OFFSET_MAX: Final = 2**63 - 1


class Former(Struct, array_like=True, frozen=True):
    """What a state was before a change that ``write`` stores; the change may be undone."""

    write: int
    state: int
    member: str


class InFlight(Struct, array_like=True):
    """The state of records: who acquired them until when, and how often they were delivered.

    ``expires_us`` is when the acquisition lock ends; 0: there is none.
    """

    state: int
    deliveries: int
    member: str = NOBODY
    expires_us: int = 0
    former: Former | None = None

    @property
    def is_terminal(self) -> bool:
        """Whether the records are done: neither to be delivered nor for a dead-letter queue."""
        return self.state in TERMINAL

    @property
    def is_available(self) -> bool:
        return self.state == AVAILABLE and self.former is None

    def acquire(self, member: str, expires_us: int) -> None:
        """Deliver the records to a member once more."""
        self.state, self.member, self.expires_us = ACQUIRED, member, expires_us
        self.deliveries += 1

    def move(
        self, state: int, limit: int, *, counts: bool = True, exhausted: int = ARCHIVED
    ) -> bool:
        """Give up the acquisition; False if that is under way, or there is none.

        Records that were delivered as often as the ``limit`` allows are ``exhausted`` instead of
        being available again. Without ``counts``, the delivery is taken back.
        """
        if self.former is not None or self.state != ACQUIRED:
            return False
        if state == AVAILABLE and counts and self.deliveries >= limit:
            state = exhausted
        self.state, self.member = state, NOBODY
        if not counts and state != ARCHIVED:
            self.deliveries -= 1
        return True

    def begin_move(
        self, state: int, limit: int, write: int, *, counts: bool = True, exhausted: int = ARCHIVED
    ) -> bool:
        """Like :meth:`move`, but it can be undone until ``write`` is stored."""
        former = Former(write, self.state, self.member)
        if not self.move(state, limit, counts=counts, exhausted=exhausted):
            return False
        self.former = former
        return True

    def end_move(self, limit: int, now_us: int, *, stored: bool) -> None:
        """Complete a change, or undo it; a lock that ended meanwhile is not restored."""
        former, self.former = self.former, None
        assert former is not None
        if stored:
            self.expires_us = 0
        elif self.expires_us and self.expires_us <= now_us:
            self.state = ARCHIVED if self.deliveries >= limit else AVAILABLE
            self.member, self.expires_us = NOBODY, 0
        else:
            self.state, self.member = former.state, former.member

    def archive(self) -> None:
        """Take the records out of delivery for good: they are deleted, or aborted."""
        self.state, self.member, self.expires_us = ARCHIVED, NOBODY, 0


class Run(NamedTuple):
    """Offsets, both inclusive, with one state."""

    first: int
    last: int
    state: InFlight


class InFlightBatch(Struct, array_like=True):
    """Records that were acquired together: with one state, or with one for each offset."""

    first: int
    last: int
    whole: InFlight | None = None
    offsets: dict[int, InFlight] | None = None

    def runs(self, first: int = 0, last: int = OFFSET_MAX) -> Iterator[Run]:
        """The states in the order of offsets: the one of all, or those between two, inclusive."""
        if self.whole is not None:
            yield Run(self.first, self.last, self.whole)
        if self.offsets is not None:
            for offset in range(max(first, self.first), min(last, self.last) + 1):
                yield Run(offset, offset, self.offsets[offset])

    def split(self) -> dict[int, InFlight]:
        """Give each offset a state of its own."""
        if self.offsets is None:
            whole = self.whole
            assert whole is not None
            self.offsets = {
                offset: InFlight(
                    whole.state, whole.deliveries, whole.member, whole.expires_us, whole.former
                )
                for offset in range(self.first, self.last + 1)
            }
            self.whole = None
        return self.offsets

    def is_within(self, first: int, last: int) -> bool:
        """Whether all of it lies between two offsets."""
        return self.first >= first and self.last <= last

    def state_at(self, offset: int) -> InFlight:
        return self.whole if self.whole is not None else (self.offsets or {})[offset]
