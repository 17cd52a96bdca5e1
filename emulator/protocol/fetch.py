"""How followers and consumers fetch records."""

from typing import Final

from msgspec import Struct, field

from emulator.protocol.message import Detail, Message
from emulator.protocol.record_batch import RecordBatch

NO_LIMIT: Final = 2_147_483_647
"""As many bytes as a fetch can ask for."""


class FetchPartition(Struct, frozen=True, array_like=True, gc=False):
    """What a fetch asks of one partition; epochs are -1 where the release does not send them.

    ``max_bytes`` limits the records that are given of it (max.partition.fetch.bytes).
    """

    offset: int
    current_leader_epoch: int = -1
    last_fetched_epoch: int = -1
    max_bytes: int = NO_LIMIT


class FetchRequest(Message, frozen=True):
    """A follower's (or consumer's: ``replica`` -1) fetch.

    Partitions that did not change since the last fetch of the same session are not repeated
    (KIP-227); ``forgotten`` leave the session; ``one_shot`` fetches stand outside of it; ``rack``
    is a consumer's (KIP-392). It may wait for ``max_wait_us`` until ``min_bytes`` of records are
    there; the answer holds at most ``max_bytes`` of them (fetch.max.bytes). ``read_committed``: a
    consumer wants nothing of transactions that have not ended.
    """

    replica: int
    max_wait_us: int
    partitions: dict[str, FetchPartition]
    forgotten: list[str] = field(default_factory=list)
    new_session: bool = False
    one_shot: bool = False
    rack: str = ""
    min_bytes: int = 1
    max_bytes: int = NO_LIMIT
    read_committed: bool = False

    def detail(self) -> Detail:
        """Fetch offset and leader epoch of each partition named."""
        return [[tp, p.offset, p.current_leader_epoch] for tp, p in self.partitions.items()]


class FetchedPartition(Struct, frozen=True, array_like=True, gc=False):
    """What a fetch got of one partition.

    ``diverging`` is (epoch, end offset) where the leader's log differs. ``preferred_read_replica``
    is where a consumer should rather ask (-1: here is right). ``last_stable_offset`` is -1 to
    followers. ``aborted`` has producer id and first offset of transactions that a consumer which
    reads committed must leave out; None to others.
    """

    error: str
    high_watermark: int
    log_start: int
    batches: list[RecordBatch]
    diverging: tuple[int, int] | None = None
    preferred_read_replica: int = -1
    last_stable_offset: int = -1
    aborted: list[tuple[int, int]] | None = None

    def is_news(self, high_watermark: int, log_end_offset: int, log_start: int = 0) -> bool:
        """Whether it tells anything to a follower with this HW, LEO and start; rarely it does."""
        if self.batches or self.high_watermark != high_watermark or self.error != "NONE":
            return True
        if self.log_start > log_start:
            return True
        return high_watermark > log_end_offset or self.diverging is not None


class FetchResponse(Message, frozen=True):
    """The response to a :class:`FetchRequest`.

    It has the partitions with records, an error, or another HW than the follower was told last.
    """

    request: int
    partitions: dict[str, FetchedPartition]

    def detail(self) -> Detail:
        """HW, first offset and record count of each partition in it, or its error."""
        rows: Detail = []
        for tp, p in self.partitions.items():
            base = p.batches[0].base_offset if p.batches else -1
            row: list[str | int] = [tp, p.high_watermark, base, sum(b.count for b in p.batches)]
            rows.append(row if p.error == "NONE" else [*row, p.error])
        return rows


class OffsetsForLeaderEpochRequest(Message, frozen=True):
    """For each partition: (current leader epoch or -1, the epoch whose end is asked)."""

    replica: int
    partitions: dict[str, tuple[int, int]]
    one_shot: bool = False

    def detail(self) -> Detail:
        """The epoch asked for, for each partition."""
        return [[tp, epoch] for tp, (_, epoch) in self.partitions.items()]


class OffsetsForLeaderEpochResponse(Message, frozen=True):
    """For each partition: (error, epoch, end offset); -1 is undefined."""

    request: int
    partitions: dict[str, tuple[str, int, int]]

    def detail(self) -> Detail:
        """Error, epoch and end offset of each partition."""
        return [[tp, *answer] for tp, answer in self.partitions.items()]


LATEST: Final = -1
"""The timestamp that asks for the offset after the last record that may be read."""
EARLIEST: Final = -2
"""The timestamp that asks for the offset of the first record."""
MAX_TIMESTAMP: Final = -3
"""The timestamp that asks for the record with the greatest one (3.0+, KIP-734)."""


class ListOffsetsRequest(Message, frozen=True):
    """Asks the leader where its log begins and ends, as a follower out of range does.

    A consumer (``replica`` -1) asks for the first offset whose record is not older than
    ``timestamp_ms`` (virtual time), or for ``LATEST`` or ``EARLIEST``. With ``by_wall_clock`` it is
    a time as clients outside write it into records. One that reads committed is told nothing of
    what lies above the last stable offset.
    """

    replica: int
    tp: str
    current_leader_epoch: int = -1
    timestamp_ms: int = LATEST
    by_wall_clock: bool = False
    read_committed: bool = False


class ListOffsetsResponse(Message, frozen=True):
    """The leader's log start and end offset.

    A consumer is told ``offset`` (-1: there is no such record), the time of that record in
    milliseconds (-1 for ``LATEST`` and ``EARLIEST``), and the leader epoch.
    """

    request: int
    tp: str
    error: str
    log_start: int
    log_end_offset: int
    offset: int = -1
    timestamp_ms: int = -1
    leader_epoch: int = -1
