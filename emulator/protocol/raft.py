"""What the members of the metadata quorum ask each other (KIP-595).

The log of ``__cluster_metadata`` is all that they ask about. Epochs are those of the quorum's
leader; ``leader`` in a response is the one that the sender knows in its epoch (-1: none), so that
whoever is behind finds it.
"""

from msgspec import Struct

from emulator.metadata_log.image import MetadataImage
from emulator.metadata_log.records import AnyRecord
from emulator.protocol.message import Detail, Message

SnapshotId = tuple[int, int]
"""The offset after the last record that a snapshot contains, and that record's epoch."""


class MetadataBatch(Struct, frozen=True, array_like=True, gc=False):
    """Records that were appended together: readers take all of them or none.

    The first has the offset ``base_offset``; ``epoch`` is that of the leader that appended them, at
    ``appended_us``. ``size_bytes`` is what the batch takes in Kafka's log.
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
    """What the log adds up to before ``end_offset``, whose last record is of ``epoch`` (KIP-630).

    ``appended_us`` is when that record was appended, ``size_bytes`` what a file of it takes. The
    image is shared by all who have the snapshot, so whoever goes on from it takes a copy.
    """

    end_offset: int
    epoch: int
    appended_us: int
    size_bytes: int
    image: MetadataImage

    @property
    def id(self) -> SnapshotId:
        """What names it."""
        return self.end_offset, self.epoch


class VoteRequest(Message, frozen=True):
    """A candidate asks for a vote in ``epoch``; its log ends at ``end_offset`` of ``end_epoch``.

    With ``pre_vote`` it asks whether it would get one, and nobody is bound by the answer (KIP-996).
    """

    candidate: int
    epoch: int
    end_epoch: int
    end_offset: int
    pre_vote: bool = False


class VoteResponse(Message, frozen=True):
    """Whether the vote was given, and the epoch and leader that the voter knows."""

    request: int
    voter: int
    epoch: int
    leader: int
    granted: bool
    pre_vote: bool = False


class BeginQuorumEpochRequest(Message, frozen=True):
    """A new leader makes itself known to the other voters."""

    leader: int
    epoch: int


class BeginQuorumEpochResponse(Message, frozen=True):
    """A voter knows the leader, or another in a later epoch."""

    request: int
    voter: int
    epoch: int
    leader: int


class EndQuorumEpochRequest(Message, frozen=True):
    """A leader resigns; ``successors`` are the voters by how much of the log they have."""

    leader: int
    epoch: int
    successors: list[int]


class EndQuorumEpochResponse(Message, frozen=True):
    """A voter knows that the leader has resigned."""

    request: int
    epoch: int
    leader: int


class MetadataFetchRequest(Message, frozen=True):
    """A voter or an observer (a broker) fetches the metadata log from ``offset``.

    ``last_epoch`` is the epoch of the last record that it has (-1: it has none), ``epoch`` the
    quorum's as it knows it. ``high_watermark`` is what it knows of that (-1: it does not say,
    before 4.1; KIP-1166). The leader waits up to ``max_wait_us`` for something to tell.
    """

    replica: int
    epoch: int
    offset: int
    last_epoch: int
    max_wait_us: int
    high_watermark: int = -1

    def detail(self) -> Detail:
        """The epoch and the offset."""
        return [["__cluster_metadata-0", self.epoch, self.offset]]


class MetadataFetchResponse(Message, frozen=True):
    """Batches from the offset that was asked for, or where the logs part, or an error.

    With ``snapshot`` the log does not reach back as far as was asked for: that is to be fetched.
    """

    request: int
    error: str
    epoch: int
    leader: int
    high_watermark: int = -1
    batches: tuple[MetadataBatch, ...] = ()
    diverging: tuple[int, int] | None = None
    snapshot: SnapshotId | None = None


class FetchSnapshotRequest(Message, frozen=True):
    """A voter or an observer fetches a snapshot of the metadata, from ``position`` on (KIP-630)."""

    replica: int
    epoch: int
    snapshot: SnapshotId
    position: int

    def detail(self) -> Detail:
        """The snapshot's end and the position."""
        return [["__cluster_metadata-0", self.snapshot[0], self.position]]


class FetchSnapshotResponse(Message, frozen=True):
    """The bytes of a snapshot up to ``end`` of ``size_bytes``; the last ones bring what it says."""

    request: int
    error: str
    epoch: int
    leader: int
    end: int = 0
    size_bytes: int = 0
    snapshot: MetadataSnapshot | None = None
