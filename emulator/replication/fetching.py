"""How a fetcher stands with one partition that it follows (kafka.server.PartitionFetchState).

A partition that has to truncate is asked about first; then it is fetched. What happens is looked up
in :data:`NEXT`: what the fetcher was doing, and how that went, give what it does from now on::

    (added)  --epochs to ask about--> truncating --the answer settles it--> fetching
    fetching --OFFSET_OUT_OF_RANGE--> out of range --the leader's ends--> fetching
    any      --FENCED_LEADER_EPOCH--> failed (until the controller's next word)

Everything else that goes wrong is tried again after ``replica.fetch.backoff.ms``, in the same
phase. Source: AbstractFetcherThread 0.8 to 3.9 (``onPartitionFenced`` from 2.1 on).
"""

from typing import Final

from msgspec import Struct

from emulator.replication.leader_epoch_cache import UNDEFINED

FETCHING: Final = "fetching"
TRUNCATING: Final = "truncating"
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
"""What a partition is in, and what happened, to what it is in then; nothing else can happen."""

DELAYS: Final = frozenset((ASKED_AGAIN, ERROR))
"""After these a partition rests for the backoff."""


class FetchState(Struct, array_like=True, gc=False):
    """How a fetcher stands with one partition; ``resume_us`` is when a delayed one is tried again.

    ``epoch`` is the leader epoch under which it was added, ``asked_offset`` where the leader was
    last asked to read, ``asked_epoch`` the epoch under which it was last asked where the follower's
    own epoch ends (-1: not asked since it was added).
    """

    phase: str
    epoch: int
    resume_us: int = 0
    asked_offset: int = UNDEFINED
    asked_epoch: int = UNDEFINED

    def advance(self, happened: str, resume_us: int = 0) -> None:
        """Take what happened; ``resume_us`` is the end of the backoff, where there is one."""
        self.phase = NEXT[self.phase, happened]
        if happened in DELAYS:
            self.resume_us = resume_us


def added(epoch: int, asks_epoch: bool) -> FetchState:
    """A partition is followed from now on; ``asks_epoch``: first where its latest epoch ends."""
    return FetchState(TRUNCATING if asks_epoch else FETCHING, epoch)
