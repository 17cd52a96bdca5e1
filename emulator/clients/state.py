"""The state of producers and consumers, as plain data."""

from msgspec import Struct, field

from emulator import protocol as messages
from emulator.clients.external_state import ExternalState
from emulator.clients.group_state import Membership
from emulator.inputs.statements import Consume, Produce
from emulator.simulation.bytes_by_number import BytesByNumber
from emulator.storage.record_ledger import LedgerEntries

ASKING = "asking"
IDENTIFYING = "identifying"
ADDING = "adding"
SENT = "sent"
WAITING = "waiting"
NEVER_US = (1 << 63) - 1
"""A time that is never reached."""


class Connections(Struct, array_like=True):
    """One client's view of its connections to brokers.

    ``open`` lists the brokers that have responded on a connection that is still open. ``failed``
    maps brokers whose connection was refused or closed, or that timed out, to the time in
    microseconds at which the client may reconnect.
    """

    open: dict[int, None] = field(default_factory=dict)
    failed: dict[int, int] = field(default_factory=dict)


class Question(Struct, array_like=True):
    """A request that any broker can handle, sent to one broker after another.

    ``left`` lists the brokers still to be tried, ``asked`` is the one whose response is awaited
    (-1: none). ``error`` is what is missing according to the responses so far.
    """

    left: list[int] = field(default_factory=list)
    asked: int = -1
    error: str = "NONE"


class Flight(Struct, array_like=True):
    """A batch in progress. ``tp`` is empty until the partition is chosen.

    ``phase``: the leader is being looked up (ASKING), a producer id is requested (IDENTIFYING), its
    partition is added to the transaction (ADDING), the batch is in flight (SENT), or it waits until
    ``resume_us`` and for its turn (WAITING).
    ``question`` is the current request to brokers in turn. Until ``patience_us`` routing errors
    cost no retry; ``deadline_us`` is the delivery timeout (delivery.timeout.ms); ``token``
    distinguishes this batch's timer from older ones. ``error`` is the error of the last attempt,
    and ``renumbered`` tells whether its sequence numbers changed since it was last sent.
    """

    token: int
    patience_us: int
    retries_left: int
    deadline_us: int
    tp: str = ""
    partition: int = -1
    batch: messages.RecordBatch | None = None
    size: int = 0
    phase: str = WAITING
    resume_us: int = 0
    question: Question = field(default_factory=Question)
    request: int = 0
    target: int = -1
    attempts: int = 0
    error: str = "NONE"
    renumbered: bool = False


class PartitionSequences(Struct, array_like=True):
    """An idempotent producer's sequence numbers in a partition, for the id and epoch in ``owner``.

    ``acked`` is the last acknowledged sequence number and ``acked_offset`` its offset (-1: none
    yet). ``unresolved`` is the sequence number after a batch that failed but may have been written
    (-1: none): no new batch is sent until this is resolved.
    """

    owner: tuple[int, int]
    next: int = 0
    acked: int = -1
    acked_offset: int = -1
    unresolved: int = -1


class Identity(Struct, array_like=True):
    """An idempotent producer's id and epoch (-1: none yet), and its sequence numbers by partition.

    ``in_doubt`` lists the partitions with an unresolved batch.
    """

    producer_id: int = -1
    epoch: int = -1
    partitions: dict[str, PartitionSequences] = field(default_factory=dict)
    in_doubt: dict[str, None] = field(default_factory=dict)


class TransactionState(Struct, array_like=True):
    """A transactional producer: its current transaction, and its request to the coordinator.

    ``is_ready``: it has its producer id and epoch. ``partitions`` belong to the transaction,
    ``adding`` are being added to it. ``error`` leaves only the abort. ``ending`` is how it is to
    end, once no batch is left. ``call`` is what the coordinator is asked for (empty: nothing), by
    ``deadline_us``, in ``request`` (0: none in flight) to ``target``; ``left`` are the brokers to
    be asked for the coordinator. ``job`` is the statement that waits.
    """

    transactional_id: str
    timeout_us: int
    is_ready: bool = False
    is_open: bool = False
    partitions: dict[str, None] = field(default_factory=dict)
    adding: list[str] = field(default_factory=list)
    error: str = "NONE"
    ending: str = ""
    call: str = ""
    job: int = 0
    coordinator: int = -1
    left: list[int] = field(default_factory=list)
    request: int = 0
    target: int = -1
    token: int = 0
    deadline_us: int = 0


class Job(Struct, array_like=True):
    """A `produce` statement in progress; ``sent`` of its records have been put into batches.

    The next batch starts at ``next_us``; ``token`` is that of its timer (0: not set). ``error`` is
    the latest error of any of its records. ``begun``: its first batch has been started.
    """

    id: int
    input: Produce
    sent: int = 0
    next_us: int = 0
    token: int = 0
    error: str = "NONE"
    begun: bool = False


class Producer(Struct, array_like=True):
    """A producer: its counters, its metadata (by topic and partition) and its jobs.

    ``learned_us`` is when a topic's metadata was received, ``available`` the partitions with a
    known leader (as far as requested), and ``sticky_bytes`` the bytes sent to the ``sticky``
    partition of a topic. ``flights`` are its batches in progress, in the order in which they are
    sent.
    """

    name: str
    acked: int = 0
    failed: int = 0
    retries: int = 0
    connections: Connections = field(default_factory=Connections)
    leaders: dict[str, dict[int, int]] = field(default_factory=dict)
    learned_us: dict[str, int] = field(default_factory=dict)
    available: dict[str, list[int]] = field(default_factory=dict)
    round_robin: dict[str, int] = field(default_factory=dict)
    sticky: dict[str, int] = field(default_factory=dict)
    sticky_bytes: dict[str, int] = field(default_factory=dict)
    jobs: list[Job] = field(default_factory=list)
    flights: list[Flight] = field(default_factory=list)
    identity: Identity = field(default_factory=Identity)
    transaction: TransactionState | None = None

    @property
    def pending(self) -> int:
        """Records that are neither acknowledged nor failed."""
        waiting = sum(job.input.count - job.sent for job in self.jobs)
        return waiting + sum(f.batch.count for f in self.flights if f.batch is not None)


class Reading(Struct, array_like=True):
    """A `consume` statement in progress.

    ``left`` are the partitions still to be read, ``partition`` is being read from ``offset``;
    ``preferred`` is the preferred read replica (-1: none). With a group, ``stage`` is the
    statement's stage, and ``positions`` its position in each partition.

    Since 2.1 (KIP-320) ``leader_epoch`` is the partition's leader epoch in the metadata, ``epochs``
    those of the last record before each position (if known), and ``validating`` tells that the
    leader is asked for the end offset of that epoch. ``located_by`` is the timestamp whose offset
    is being looked up (None: no lookup): EARLIEST because the position is out of range, or the
    timestamp to start at.

    Once everything has been read, a statement with a timeout waits for more records until
    ``idle_us``: ``polls`` maps pending fetch requests to brokers. Each of them contains the
    partitions whose source (broker and leader epoch) is that broker in ``sources``.
    """

    id: int
    input: Consume
    token: int
    patience_us: int
    question: Question = field(default_factory=Question)
    left: list[int] | None = None
    partition: int = -1
    offset: int = 0
    given: int = 0
    request: int = 0
    target: int = -1
    preferred: int = -1
    error: str = "NONE"
    stage: str = ""
    positions: dict[int, int] = field(default_factory=dict)
    epochs: dict[int, int] = field(default_factory=dict)
    leader_epoch: int = -1
    validating: bool = False
    located_by: int | None = None
    sources: dict[int, tuple[int, int]] = field(default_factory=dict)
    polls: dict[int, int] = field(default_factory=dict)
    idle_us: int = 0


class Consumer(Struct, array_like=True):
    """A consumer.

    The records it has received, as runs of (first record id, count), its positions, its statement
    and its group membership.
    """

    name: str
    runs: list[tuple[int, int]] = field(default_factory=list)
    position: int = 0
    error: str = "NONE"
    connections: Connections = field(default_factory=Connections)
    reading: Reading | None = None
    queue: list[Reading] = field(default_factory=list)
    membership: Membership | None = None


AdminRequest = (
    messages.ElectLeadersRequest
    | messages.AlterPartitionReassignmentsRequest
    | messages.CreateTopicsRequest
    | messages.DeleteTopicsRequest
    | messages.CreatePartitionsRequest
    | messages.IncrementalAlterConfigsRequest
    | messages.AlterPartitionRequest
)


class AdminCall(Struct, array_like=True):
    """An admin call in progress: the request and its partition.

    ``request`` is the one in flight (0: none), sent to broker ``asked`` at ``sent_us``. ``error``
    is the error of the last attempt. If the call concerns several resources (empty ``tp``), the
    errors of all are kept. ``controller``: the controller to which the call is sent directly (-1:
    brokers).
    """

    message: AdminRequest
    tp: str
    deadline_us: int
    request: int = 0
    asked: int = -1
    sent_us: int = 0
    error: str = "REQUEST_TIMED_OUT"
    controller: int = -1


class AdminState(Struct, array_like=True):
    """The calls in progress, by job, and the admin client's view of its connections.

    ``responses`` holds the per-resource errors of completed calls, each with a sentence that
    explains it (or an empty one), until they are read.
    """

    calls: dict[int, AdminCall] = field(default_factory=dict)
    responses: dict[int, dict[str, tuple[str, str]]] = field(default_factory=dict)
    connections: Connections = field(default_factory=Connections)


class ClientsState(Struct, array_like=True):
    """All clients, and the ledger of every record ever produced.

    ``finished`` maps awaited jobs to their errors until they are read. ``unacknowledged`` maps the
    latest acks=0 requests to their producers, oldest first; no response is expected for them.
    ``encoded`` holds external clients' batches as bytes, by the id of their first record.
    """

    producers: dict[str, Producer] = field(default_factory=dict)
    consumers: dict[str, Consumer] = field(default_factory=dict)
    ledger: LedgerEntries = field(default_factory=LedgerEntries)
    encoded: BytesByNumber = field(default_factory=BytesByNumber)
    next_id: int = 1
    finished: dict[int, str] = field(default_factory=dict)
    unacknowledged: dict[int, str] = field(default_factory=dict)
    admin: AdminState = field(default_factory=AdminState)
    external: ExternalState = field(default_factory=ExternalState)
