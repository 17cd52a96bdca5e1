"""Fetches and offset requests of followers and consumers."""

from typing import Final

from msgspec import Struct, field

from emulator.protocol.message import Detail, Message
from emulator.protocol.record_batch import RecordBatch

NO_LIMIT: Final = 2_147_483_647
"""The maximum size that a fetch can request."""
INVALID_SESSION_ID: Final = 0
INITIAL_EPOCH: Final = 0
FINAL_EPOCH: Final = -1
"""No fetch session; the epochs of a fetch that wants one, and that wants none (KIP-227)."""


class FetchPartition(Struct, frozen=True, array_like=True, gc=False):
    """A fetch's parameters for one partition; epochs are -1 if the release does not send them.

    ``max_bytes`` limits the records returned for the partition (max.partition.fetch.bytes).
    ``log_start`` is where a follower's log starts. ``topic_id`` is sent by followers in KRaft mode
    (KIP-516); empty in ZooKeeper mode.
    """

    offset: int
    current_leader_epoch: int = -1
    last_fetched_epoch: int = -1
    max_bytes: int = NO_LIMIT
    log_start: int = -1
    topic_id: str = ""


class FetchRequest(Message, frozen=True):
    """A fetch of a follower or a consumer (``replica`` -1).

    Partitions unchanged since the last fetch of the same session are omitted (KIP-227);
    ``forgotten`` ones leave the session; ``one_shot`` fetches use no session; ``rack`` is a
    consumer's (KIP-392; empty: it has none), and None in versions before 11. The broker may wait up
    to ``max_wait_us`` until ``min_bytes`` of records are available; the response has at most
    ``max_bytes`` of them (fetch.max.bytes). ``read_committed``: a consumer does not read beyond the
    last stable offset. A consumer's session has an id and an epoch; ``uses_topic_ids`` if it names
    topics by id. ``replica_epoch`` is a follower's broker epoch (KIP-903); -1 if the release does
    not send it.
    """

    replica: int
    max_wait_us: int
    partitions: dict[str, FetchPartition]
    forgotten: list[str] = field(default_factory=list)
    new_session: bool = False
    one_shot: bool = False
    rack: str | None = None
    min_bytes: int = 1
    max_bytes: int = NO_LIMIT
    read_committed: bool = False
    session_id: int = INVALID_SESSION_ID
    session_epoch: int = FINAL_EPOCH
    uses_topic_ids: bool = False
    replica_epoch: int = -1

    def detail(self) -> Detail:
        """Fetch offset and leader epoch of each partition named."""
        return [[tp, p.offset, p.current_leader_epoch] for tp, p in self.partitions.items()]


class FetchedPartition(Struct, frozen=True, array_like=True, gc=False):
    """A fetch's result for one partition.

    ``diverging`` is (epoch, end offset) where the leader's log differs. ``preferred_read_replica``
    is the replica from which a consumer should fetch instead (-1: none). ``last_stable_offset`` is
    -1 for followers. ``aborted`` has producer id and first offset of the aborted transactions that
    a read_committed consumer must skip; None for others. ``fetch_offset`` is where a consumer began
    to read.
    """

    error: str
    high_watermark: int
    log_start: int
    batches: list[RecordBatch]
    diverging: tuple[int, int] | None = None
    preferred_read_replica: int = -1
    last_stable_offset: int = -1
    aborted: list[tuple[int, int]] | None = None
    fetch_offset: int = -1


class FetchResponse(Message, frozen=True):
    """The response to a :class:`FetchRequest`.

    It contains the partitions with records, an error, or an HW that is new to the follower.
    ``session_id`` is a consumer's session (0: none), ``error`` what is wrong with it.
    """

    request: int
    partitions: dict[str, FetchedPartition]
    session_id: int = INVALID_SESSION_ID
    error: str = "NONE"

    def detail(self) -> Detail:
        """HW, first offset and record count of each partition in it, or its error."""
        rows: Detail = []
        for tp, p in self.partitions.items():
            base = p.batches[0].base_offset if p.batches else -1
            row: list[str | int] = [tp, p.high_watermark, base, sum(b.count for b in p.batches)]
            rows.append(row if p.error == "NONE" else [*row, p.error])
        return rows


class OffsetsForLeaderEpochRequest(Message, frozen=True):
    """For each partition: (current leader epoch or -1, the requested epoch)."""

    replica: int
    partitions: dict[str, tuple[int, int]]
    one_shot: bool = False

    def detail(self) -> Detail:
        return [[tp, epoch] for tp, (_, epoch) in self.partitions.items()]


class OffsetsForLeaderEpochResponse(Message, frozen=True):
    """For each partition: (error, epoch, end offset); -1 if undefined."""

    request: int
    partitions: dict[str, tuple[str, int, int]]

    def detail(self) -> Detail:
        """Error, epoch and end offset of each partition."""
        return [[tp, *response] for tp, response in self.partitions.items()]


LATEST: Final = -1
"""The timestamp that requests the offset after the last readable record."""
EARLIEST: Final = -2
"""The timestamp that requests the offset of the first record."""
DEBUGGING: Final = -2
"""The replica in whose name a client asks any replica of a partition."""
MAX_TIMESTAMP: Final = -3
"""The timestamp that requests the offset of the record with the largest one (3.0+, KIP-734)."""
EARLIEST_LOCAL: Final = -4
"""The timestamp that requests the first offset on the broker's own disks (3.5+, KIP-405)."""
LATEST_TIERED: Final = -5
"""The timestamp that requests the last offset in tiered storage (3.9+, KIP-1005)."""
EARLIEST_PENDING_UPLOAD: Final = -6
"""The timestamp that requests the first offset that is not tiered yet (4.2+, KIP-1023)."""
LISTED_SINCE: Final = {
    LATEST: 1, EARLIEST: 1, MAX_TIMESTAMP: 7, EARLIEST_LOCAL: 8, LATEST_TIERED: 9,
    EARLIEST_PENDING_UPLOAD: 11,
}  # fmt: skip
"""The first version of ListOffsets in which each of these may be requested."""


class ListOffsetsRequest(Message, frozen=True):
    """Requests the leader's log start and end offset, for an out-of-range follower.

    A consumer (``replica`` -1) requests the first offset whose record is not older than
    ``timestamp_ms`` (virtual time), or ``LATEST`` or ``EARLIEST``. With ``by_wall_clock`` it is a
    timestamp as external clients write it into records. A read_committed consumer gets no offset
    above the last stable offset. A client that debugs (``replica`` is ``DEBUGGING``) asks any
    replica, and about its whole log.
    """

    replica: int
    tp: str
    current_leader_epoch: int = -1
    timestamp_ms: int = LATEST
    by_wall_clock: bool = False
    read_committed: bool = False


class ListOffsetsResponse(Message, frozen=True):
    """The leader's log start and end offset.

    For a consumer, ``offset`` (-1: no such record), the timestamp of that record in milliseconds
    (-1 for ``LATEST`` and ``EARLIEST``), and its leader epoch.
    """

    request: int
    tp: str
    error: str
    log_start: int
    log_end_offset: int
    offset: int = -1
    timestamp_ms: int = -1
    leader_epoch: int = -1
