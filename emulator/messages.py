"""What hosts send each other, by Kafka's names.

A request is identified by the ``seq`` of the event that stated its sending: the receiver finds it
as the environment's ``cause`` and quotes it in the response's ``request``. Everything is plain
data; messages in flight are part of the cluster's state.
"""

from msgspec import Struct

Detail = list[list[str | int]]


class Message(Struct, array_like=True, tag=True, frozen=True, gc=False):
    """What all messages share."""

    def detail(self) -> Detail:
        """What it says of partitions, for :class:`emulator.events.MessageSent`."""
        return []


# ---- records and replication


class RecordBatch(Struct, frozen=True, array_like=True, gc=False):
    """Consecutive records as one request carried them.

    Ids ``first_record ..`` stand for keys and values. ``leader_epoch`` is -1 before message format
    2; ``producer_id`` -1 means not idempotent.
    """

    base_offset: int
    count: int
    leader_epoch: int
    first_record: int
    producer_id: int = -1
    producer_epoch: int = -1
    base_sequence: int = -1

    @property
    def end_offset(self) -> int:
        """The offset after the last record."""
        return self.base_offset + self.count


class FetchPartition(Struct, frozen=True, array_like=True, gc=False):
    """What a fetch asks of one partition; epochs are -1 where the release does not send them."""

    offset: int
    current_leader_epoch: int = -1
    last_fetched_epoch: int = -1


class FetchRequest(Message, frozen=True):
    """A follower's (or consumer's: ``replica`` -1) fetch.

    Partitions that did not change since the last fetch of the same session are not repeated
    (KIP-227); ``forgotten`` leave the session; ``one_shot`` fetches stand outside of it.
    """

    replica: int
    max_wait_us: int
    partitions: dict[str, FetchPartition]
    forgotten: list[str] = []
    new_session: bool = False
    one_shot: bool = False

    def detail(self) -> Detail:
        """Fetch offset and leader epoch of each partition named."""
        return [[tp, p.offset, p.current_leader_epoch] for tp, p in self.partitions.items()]


class FetchedPartition(Struct, frozen=True, array_like=True, gc=False):
    """What a fetch got of one partition.

    ``diverging`` is (epoch, end offset) where the leader's log differs.
    """

    error: str
    high_watermark: int
    log_start: int
    batches: list[RecordBatch]
    diverging: tuple[int, int] | None = None


class FetchResponse(Message, frozen=True):
    """The answer to a :class:`FetchRequest`.

    Partitions with data, an error, or another HW than last told.
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


class ListOffsetsRequest(Message, frozen=True):
    """Asks the leader for its log start and log end offset (as a follower out of range does)."""

    replica: int
    tp: str
    current_leader_epoch: int = -1


class ListOffsetsResponse(Message, frozen=True):
    """The leader's log start and end offset."""

    request: int
    tp: str
    error: str
    log_start: int
    log_end_offset: int


# ---- clients


class ProduceRequest(Message, frozen=True):
    """One batch for one partition; its offsets and epoch are the leader's to fill in."""

    tp: str
    batch: RecordBatch
    acks: int
    timeout_us: int

    def detail(self) -> Detail:
        """First record id, count and acks."""
        return [[self.tp, self.batch.first_record, self.batch.count, self.acks]]


class ProduceResponse(Message, frozen=True):
    """How a :class:`ProduceRequest` ended."""

    request: int
    tp: str
    error: str
    base_offset: int

    def detail(self) -> Detail:
        """Error and base offset."""
        return [[self.tp, self.error, self.base_offset]]


class MetadataRequest(Message, frozen=True):
    """Asks a broker what it knows of a topic."""

    topic: str


class MetadataResponse(Message, frozen=True):
    """The broker's view: leader by partition number, -1 if none is known, or an error."""

    request: int
    topic: str
    error: str
    leaders: dict[int, int]


# ---- controller


class PartitionInfo(Struct, frozen=True, array_like=True, gc=False):
    """A partition's state as the controller tells it (LeaderAndIsr, UpdateMetadata)."""

    leader: int
    leader_epoch: int
    isr: list[int]
    zk_version: int
    replicas: list[int]
    controller_epoch: int
    is_new: bool = False


class LeaderAndIsrRequest(Message, frozen=True):
    """Tells a broker which partitions to lead and which to follow."""

    controller: int
    controller_epoch: int
    broker_epoch: int
    partitions: dict[str, PartitionInfo]
    live_brokers: list[int]

    def detail(self) -> Detail:
        """Leader and leader epoch of each partition."""
        return [[tp, p.leader, p.leader_epoch] for tp, p in self.partitions.items()]


class StopReplicaRequest(Message, frozen=True):
    """Tells a broker to stop replicas, and with ``delete`` to remove their logs.

    ``partitions`` maps each to its leader epoch.
    """

    controller: int
    controller_epoch: int
    broker_epoch: int
    partitions: dict[str, int]
    delete: bool

    def detail(self) -> Detail:
        """Leader epoch of each partition."""
        return [[tp, epoch] for tp, epoch in self.partitions.items()]


class UpdateMetadataRequest(Message, frozen=True):
    """Tells a broker who is alive and what clients are to be told of partitions."""

    controller: int
    controller_epoch: int
    broker_epoch: int
    live_brokers: list[int]
    partitions: dict[str, PartitionInfo]

    def detail(self) -> Detail:
        """Leader and leader epoch of each partition."""
        return [[tp, p.leader, p.leader_epoch] for tp, p in self.partitions.items()]


class ControlResponse(Message, frozen=True):
    """A broker's answer to a controller request.

    The whole request's error and those of single partitions.
    """

    request: int
    broker: int
    error: str
    errors: dict[str, str]


class ControlledShutdownRequest(Message, frozen=True):
    """A broker that wants to go asks the controller to move its leaders away."""

    broker: int
    broker_epoch: int


class ControlledShutdownResponse(Message, frozen=True):
    """The partitions that the broker still leads."""

    request: int
    error: str
    remaining: list[str]


class AlterIsrItem(Struct, frozen=True, array_like=True, gc=False):
    """One partition of an AlterPartition request.

    The leader's epoch, the ISR it wants and the znode version it knows.
    """

    leader_epoch: int
    isr: list[int]
    zk_version: int


class AlterPartitionRequest(Message, frozen=True):
    """A leader asks the controller for other ISRs (AlterIsr in 2.7, KIP-497)."""

    broker: int
    broker_epoch: int
    partitions: dict[str, AlterIsrItem]


class AlterPartitionResponse(Message, frozen=True):
    """The answer.

    An error for the whole, or for each partition its error and the state that now holds.
    """

    request: int
    error: str
    partitions: dict[str, tuple[str, PartitionInfo | None]]


# ---- ZooKeeper's client


class ZkPing(Message, frozen=True):
    """A client's sign of life (and its reconnection)."""

    session: int


class ZkPong(Message, frozen=True):
    """The server's answer to a ping."""

    request: int
    session: int


class ZkExpired(Message, frozen=True):
    """The server does not know the session any longer."""

    request: int
    session: int


class WatchEvent(Message, frozen=True):
    """A one-shot watch fired."""

    path: str
    kind: str


# ---- what a host tells itself or is told by its connections


class ConnectionLost(Message, frozen=True):
    """The connection to ``peer`` broke.

    ``request`` is the one that was refused; 0: whatever was outstanding is lost.
    """

    peer: int
    request: int = 0


class Timer(Message, frozen=True):
    """A timer of the host itself; ``task`` names it, ``key`` and ``number`` say of what."""

    task: str
    key: str = ""
    number: int = 0


REQUESTS = (
    FetchRequest,
    OffsetsForLeaderEpochRequest,
    ListOffsetsRequest,
    ProduceRequest,
    MetadataRequest,
    LeaderAndIsrRequest,
    StopReplicaRequest,
    UpdateMetadataRequest,
    ControlledShutdownRequest,
    AlterPartitionRequest,
)
"""What a broker takes from others only while its sockets are open."""

AnyMessage = (
    FetchRequest
    | FetchResponse
    | OffsetsForLeaderEpochRequest
    | OffsetsForLeaderEpochResponse
    | ListOffsetsRequest
    | ListOffsetsResponse
    | ProduceRequest
    | ProduceResponse
    | MetadataRequest
    | MetadataResponse
    | LeaderAndIsrRequest
    | StopReplicaRequest
    | UpdateMetadataRequest
    | ControlResponse
    | ControlledShutdownRequest
    | ControlledShutdownResponse
    | AlterPartitionRequest
    | AlterPartitionResponse
    | ZkPing
    | ZkPong
    | ZkExpired
    | WatchEvent
    | ConnectionLost
    | Timer
)
"""Every message, as the type that codecs decode."""
