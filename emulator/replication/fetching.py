"""A fetcher's state of one partition that it follows (kafka.server.PartitionFetchState).

For a partition that has to truncate the leader's epoch end offset is requested first; then it is
fetched. :data:`NEXT` maps the current phase and the outcome of a request to the next phase::

    (added)  --epochs to ask about--> truncating   --final response--------> fetching
    (added)  --surplus to ask about-> comparing    --leader's end offsets--> fetching
    fetching --OFFSET_OUT_OF_RANGE--> out of range --leader's end offsets--> fetching
    any      --FENCED_LEADER_EPOCH--> failed (until the controller's next request)

All other errors are retried after ``replica.fetch.backoff.ms``, in the same phase. Only the
release ``documents`` has ``comparing``. Source:
AbstractFetcherThread 0.8 to 3.9 (``onPartitionFenced`` from 2.1 on).
"""

from typing import Final

from msgspec import Struct

from emulator.replication.leader_epoch_cache import UNDEFINED

FETCHING: Final = "fetching"
TRUNCATING: Final = "truncating"
COMPARING: Final = "comparing"
OUT_OF_RANGE: Final = "out of range"
FAILED: Final = "failed"

SETTLED: Final = "settled"
ASKED_AGAIN: Final = "asked again"
IS_OUT_OF_RANGE: Final = "is out of range"
ADJUSTED: Final = "adjusted"
FENCED: Final = "fenced"
ERROR: Final = "error"
DISCONNECTED: Final = "disconnected"

NEXT: Final = {
    (TRUNCATING, SETTLED): FETCHING,
    (TRUNCATING, ASKED_AGAIN): TRUNCATING,
    (TRUNCATING, ERROR): TRUNCATING,
    (TRUNCATING, FENCED): FAILED,
    (TRUNCATING, DISCONNECTED): TRUNCATING,
    (COMPARING, ADJUSTED): FETCHING,
    (COMPARING, ERROR): COMPARING,
    (COMPARING, FENCED): FAILED,
    (COMPARING, DISCONNECTED): COMPARING,
    (FETCHING, IS_OUT_OF_RANGE): OUT_OF_RANGE,
    (FETCHING, ERROR): FETCHING,
    (FETCHING, FENCED): FAILED,
    (FETCHING, DISCONNECTED): FETCHING,
    (OUT_OF_RANGE, ADJUSTED): FETCHING,
    (OUT_OF_RANGE, ERROR): FETCHING,
    (OUT_OF_RANGE, FENCED): FAILED,
    (OUT_OF_RANGE, DISCONNECTED): FETCHING,
    (FAILED, DISCONNECTED): FAILED,
}
"""The next phase for each phase and outcome; no other combinations occur."""

DELAYS: Final = frozenset((ASKED_AGAIN, ERROR))
"""The outcomes followed by a backoff."""


class FetchState(Struct, array_like=True, gc=False):
    """A fetcher's state of one partition; ``resume_us`` is when a delayed one is retried.

    ``epoch`` is the leader epoch under which it was added, ``asked_offset`` the offset of the last
    fetch, ``asked_epoch`` the epoch whose end offset was last requested (-1: none since it was
    added).
    """

    phase: str
    epoch: int
    resume_us: int = 0
    asked_offset: int = UNDEFINED
    asked_epoch: int = UNDEFINED

    def advance(self, happened: str, resume_us: int = 0) -> None:
        """Apply an outcome; ``resume_us`` is the end of the backoff, if there is one."""
        self.phase = NEXT[self.phase, happened]
        if happened in DELAYS:
            self.resume_us = resume_us


def added(epoch: int, *, asks_epoch: bool, asks_ends: bool = False) -> FetchState:
    """The state of a new partition.

    ``asks_epoch``: its latest epoch's end is requested first; ``asks_ends``: its leader's log ends.
    """
    if asks_ends:
        return FetchState(COMPARING, epoch)
    return FetchState(TRUNCATING if asks_epoch else FETCHING, epoch)
