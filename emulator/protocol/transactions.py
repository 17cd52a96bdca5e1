"""Messages between transactional producers, coordinators and leaders (KIP-98)."""

from typing import ClassVar

from msgspec import Struct, field

from emulator.protocol.message import CoordinatorMessage, Detail, Message


class TransactionMessage(CoordinatorMessage, frozen=True):
    """The base of messages to and from coordinators of transactions."""

    key: ClassVar[str] = "transactional_id"


class InitProducerIdRequest(TransactionMessage, frozen=True):
    """Requests a producer id; without a ``transactional_id`` any broker can allocate one.

    A transactional producer includes its transaction timeout; one that recovers from an error
    includes its current id and epoch (KIP-360).
    """

    transactional_id: str = ""
    timeout_us: int = 0
    producer_id: int = -1
    producer_epoch: int = -1

    def detail(self) -> Detail:
        """The transactional id, if there is one."""
        return super().detail() if self.transactional_id else []


class InitProducerIdResponse(Message, frozen=True):
    """A producer id and its epoch; -1 and -1 with an error."""

    request: int
    error: str
    producer_id: int
    producer_epoch: int


class AddPartitionsToTxnRequest(TransactionMessage, frozen=True):
    """Adds partitions to a transaction before they are written to.

    ``verify_only``: a leader checks whether they have been added (KIP-890). A client that is not a
    broker, as ``is_clients`` says, may not add those of internal topics.
    """

    transactional_id: str
    producer_id: int
    producer_epoch: int
    partitions: list[str]
    verify_only: bool = False
    is_clients: bool = False

    def other_rows(self) -> Detail:
        return [[tp] for tp in self.partitions]


class AddPartitionsToTxnResponse(TransactionMessage, frozen=True):
    """The result for each partition."""

    request: int
    transactional_id: str
    errors: dict[str, str]

    def other_rows(self) -> Detail:
        return [[tp, e] for tp, e in self.errors.items()]


class AddOffsetsToTxnRequest(TransactionMessage, frozen=True):
    """Adds the offsets of a group to a transaction."""

    transactional_id: str
    producer_id: int
    producer_epoch: int
    group: str

    def other_rows(self) -> Detail:
        return [[f"group.{self.group}"]]


class AddOffsetsToTxnResponse(TransactionMessage, frozen=True):
    """The result."""

    tells: ClassVar[tuple[str, ...]] = ("error",)
    request: int
    transactional_id: str
    error: str


class EndTxnRequest(TransactionMessage, frozen=True):
    """Commits or aborts a transaction.

    ``bumps_epoch``: the producer continues in the next epoch (EndTxn 5, KIP-890).
    """

    tells: ClassVar[tuple[str, ...]] = ("result",)
    transactional_id: str
    producer_id: int
    producer_epoch: int
    commit: bool
    bumps_epoch: bool = False

    @property
    def result(self) -> str:
        """``commit`` or ``abort``."""
        return "commit" if self.commit else "abort"


class EndTxnResponse(TransactionMessage, frozen=True):
    """The decision is final; the producer continues with this id and epoch."""

    tells: ClassVar[tuple[str, ...]] = ("error",)
    request: int
    transactional_id: str
    error: str
    producer_id: int = -1
    producer_epoch: int = -1


class WriteTxnMarkersRequest(Message, frozen=True):
    """A coordinator sends a leader the result of a producer's transaction.

    ``coordinator_epoch`` is the leader epoch of the coordinator's partition.
    """

    producer_id: int
    producer_epoch: int
    coordinator_epoch: int
    commit: bool
    partitions: list[str]

    def detail(self) -> Detail:
        """The partitions, the producer's id and epoch, and the result of its transaction."""
        how = "commit" if self.commit else "abort"
        return [[tp, self.producer_id, self.producer_epoch, how] for tp in self.partitions]


class WriteTxnMarkersResponse(Message, frozen=True):
    """The result for each partition, once the marker is replicated."""

    request: int
    producer_id: int
    errors: dict[str, str]

    def detail(self) -> Detail:
        return [[tp, error] for tp, error in self.errors.items()]


class TxnOffsetCommitRequest(TransactionMessage, frozen=True):
    """Commits offsets of a group that take effect when a transaction commits.

    Since 2.5 the request has a member's id and generation (KIP-447); otherwise those are empty and
    -1. ``adds_partition`` and ``knows_abortable`` are those of a :class:`ProduceRequest`.
    """

    transactional_id: str
    producer_id: int
    producer_epoch: int
    group: str
    generation: int
    member_id: str
    offsets: dict[str, int]
    epochs: dict[str, int] = field(default_factory=dict)
    notes: dict[str, str] = field(default_factory=dict)
    instance_id: str = ""
    adds_partition: bool = False
    knows_abortable: bool = False

    def other_rows(self) -> Detail:
        offsets: Detail = [[tp, offset] for tp, offset in self.offsets.items()]
        return [[f"group.{self.group}"], *offsets]


class DescribeTransactionsRequest(Message, frozen=True):
    """Requests transactions by transactional id (None: all), KIP-664."""

    transactional_ids: list[str] | None


class TransactionDescription(Struct, frozen=True, array_like=True, gc=False):
    """A transaction according to its coordinator; ``start_us`` is -1 if none has started."""

    error: str
    state: str = ""
    timeout_us: int = 0
    start_us: int = -1
    producer_id: int = -1
    producer_epoch: int = -1
    partitions: list[str] = field(default_factory=list)


class DescribeTransactionsResponse(Message, frozen=True):
    """The requested transactions."""

    request: int
    error: str
    transactions: dict[str, TransactionDescription]


class DescribeProducersRequest(Message, frozen=True):
    """Requests the producers of partitions from their leader (KIP-664)."""

    partitions: list[str]


class ProducerDescription(Struct, frozen=True, array_like=True, gc=False):
    """A producer according to a leader's log.

    ``last_timestamp_ms`` is that of its last record or marker, as written. ``transaction_start`` is
    the first offset of its ongoing transaction. Each may be -1.
    """

    producer_id: int
    producer_epoch: int
    last_sequence: int = -1
    last_timestamp_ms: int = -1
    coordinator_epoch: int = -1
    transaction_start: int = -1


class DescribeProducersResponse(Message, frozen=True):
    """The error or the producers of each partition, and the topics that the broker lacks."""

    request: int
    partitions: dict[str, tuple[str, list[ProducerDescription]]]
    unknown_topics: list[str] = field(default_factory=list)
