"""Which records were acknowledged: the one definition for every table and job.

A record is *acked* when its producer got a successful response from a broker. With acks=0 no broker
responds, so nobody was promised anything: such a record is *sent*, and if it is missing at the end
it is *unacknowledged*, not *lost*. Only the audit of scripts counts records with acks=0 among the
acknowledged ones, from the moment at which they are handed to the network (see the glossary).
"""

from bisect import bisect_right
from typing import Final, Literal

from emulator.events import ProduceSent

UNPROMISED: Final = 0
"""The acks for which no broker responds."""


def outcome_of(acks: int) -> Literal["acked", "sent"]:
    """Return the outcome of a batch that its producer has no more to wait for."""
    return "sent" if acks == UNPROMISED else "acked"


class Unpromised:
    """Remembers which records were sent with acks=0, as runs in ascending order."""

    def __init__(self) -> None:
        self._begins: list[int] = []
        self._ends: list[int] = []

    def sent(self, event: ProduceSent) -> None:
        if event.acks == UNPROMISED:
            at = bisect_right(self._begins, event.first_record)
            self._begins.insert(at, event.first_record)
            self._ends.insert(at, event.first_record + len(event.values))

    def __contains__(self, record: int) -> bool:
        at = bisect_right(self._begins, record) - 1
        return at >= 0 and record < self._ends[at]
