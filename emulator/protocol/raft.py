"""Messages between members of the metadata quorum (KIP-595).

All of them concern the log of ``__cluster_metadata``. Epochs are leader epochs of the quorum;
``leader`` in a response is the one that the sender knows in its epoch (-1: none), so that outdated
members find it.
"""

from msgspec import Struct

from emulator.metadata_log.image import MetadataImage
from emulator.metadata_log.records import AnyRecord
from emulator.protocol.message import ControllerRequest, Detail, Message

SnapshotId = tuple[int, int]
"""The offset after the last record that a snapshot contains, and that record's epoch."""


class MetadataBatch(Struct, frozen=True, array_like=True, gc=False):
    """Records that were appended together: readers apply them atomically.

    The first has the offset ``base_offset``; ``epoch`` is that of the leader that appended them, at
    ``appended_us``. ``size_bytes`` is the size of the batch in Kafka's log.
    """

    base_offset: int
    epoch: int
    records: tuple[AnyRecord, ...]
    appended_us: int = 0
    size_bytes: int = 0

    @property
    def end_offset(self) -> int:
        """The offset after the last record."""
        return self.base_offset + len(self.records)


class MetadataSnapshot(Struct, frozen=True, array_like=True):
    """The state of the log before ``end_offset``, whose last record has ``epoch`` (KIP-630).

    ``appended_us`` is when that record was appended, ``size_bytes`` the size of its file. The image
    is shared by all members that have the snapshot, so it must be copied before it is changed.
    """

    end_offset: int
    epoch: int
    appended_us: int
    size_bytes: int
    image: MetadataImage

    @property
    def id(self) -> SnapshotId:
        return self.end_offset, self.epoch


class VoteRequest(ControllerRequest, frozen=True):
    """A candidate requests a vote in ``epoch``; its log ends at ``end_offset`` of ``end_epoch``.

    With ``pre_vote`` it only asks whether it would get one, which is not binding (KIP-996).
    """

    candidate: int
    epoch: int
    end_epoch: int
    end_offset: int
    pre_vote: bool = False


class VoteResponse(Message, frozen=True):
    """Whether the vote was granted, and the epoch and leader known to the voter."""

    request: int
    voter: int
    epoch: int
    leader: int
    granted: bool
    pre_vote: bool = False


class BeginQuorumEpochRequest(ControllerRequest, frozen=True):
    """A new leader notifies the other voters."""

    leader: int
    epoch: int


class BeginQuorumEpochResponse(Message, frozen=True):
    """A voter acknowledges the leader, or names another in a later epoch."""

    request: int
    voter: int
    epoch: int
    leader: int


class EndQuorumEpochRequest(ControllerRequest, frozen=True):
    """A leader resigns; ``successors`` lists the voters, the most caught up first."""

    leader: int
    epoch: int
    successors: list[int]


class EndQuorumEpochResponse(Message, frozen=True):
    """A voter acknowledges the leader's resignation."""

    request: int
    epoch: int
    leader: int


class MetadataFetchRequest(ControllerRequest, frozen=True):
    """A voter or an observer (a broker) fetches the metadata log from ``offset``.

    ``last_epoch`` is the epoch of its last record (-1: none), ``epoch`` the quorum epoch it knows.
    ``high_watermark`` is the one it knows (-1: not sent, before 4.1; KIP-1166). The leader waits up
    to ``max_wait_us`` for news.
    """

    replica: int
    epoch: int
    offset: int
    last_epoch: int
    max_wait_us: int
    high_watermark: int = -1

    def detail(self) -> Detail:
        return [["__cluster_metadata-0", self.epoch, self.offset]]


class MetadataFetchResponse(Message, frozen=True):
    """Batches from the requested offset, the diverging epoch, or an error.

    With ``snapshot`` the leader's log starts after the requested offset: fetch that snapshot
    instead.
    """

    request: int
    error: str
    epoch: int
    leader: int
    high_watermark: int = -1
    batches: tuple[MetadataBatch, ...] = ()
    diverging: tuple[int, int] | None = None
    snapshot: SnapshotId | None = None


class FetchSnapshotRequest(ControllerRequest, frozen=True):
    """A voter or an observer fetches a snapshot of the metadata, from ``position`` on (KIP-630)."""

    replica: int
    epoch: int
    snapshot: SnapshotId
    position: int

    def detail(self) -> Detail:
        return [["__cluster_metadata-0", self.snapshot[0], self.position]]


class FetchSnapshotResponse(Message, frozen=True):
    """A chunk of a snapshot up to ``end`` of ``size_bytes``; the last chunk has its content."""

    request: int
    error: str
    epoch: int
    leader: int
    end: int = 0
    size_bytes: int = 0
    snapshot: MetadataSnapshot | None = None
