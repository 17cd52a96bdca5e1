"""What producers and consumers remember: plain data."""

from msgspec import Struct, field

from emulator.clients.external_state import ExternalState
from emulator.clients.group_state import Membership
from emulator.inputs.statements import Consume, Produce
from emulator.protocol import (
    AlterPartitionReassignmentsRequest,
    AlterPartitionRequest,
    CreatePartitionsRequest,
    CreateTopicsRequest,
    DeleteTopicsRequest,
    ElectLeadersRequest,
    IncrementalAlterConfigsRequest,
    RecordBatch,
)
from emulator.storage.record_ledger import LedgerEntries

ASKING = "asking"
IDENTIFYING = "identifying"
SENT = "sent"
WAITING = "waiting"
NEVER_US = (1 << 63) - 1
"""A time that does not come."""


class Connections(Struct, array_like=True):
    """What one client knows of its connections to brokers.

    ``open`` are the brokers that have answered on one that is still open. ``failed`` are those
    whose connection was refused or closed, or that did not answer in time, with the time in
    microseconds from which on it is worth trying them again.
    """

    open: dict[int, None] = field(default_factory=dict)
    failed: dict[int, int] = field(default_factory=dict)


class Question(Struct, array_like=True):
    """Something that any broker may be asked, put to one after another.

    ``left`` are the brokers still to be asked, ``asked`` the one whose answer is awaited (-1:
    none). ``error`` is what the answers so far say that is missing.
    """

    left: list[int] = field(default_factory=list)
    asked: int = -1
    error: str = "NONE"


class Flight(Struct, array_like=True):
    """A batch that is not done. ``tp`` is empty until the partition is chosen.

    ``phase``: a question for the leader is out (ASKING), one for a producer id (IDENTIFYING), the
    batch itself (SENT), or it waits for ``resume_us`` and its turn (WAITING). ``question`` is what
    is asked of brokers in turn. ``patience_us`` is until when errors that say where the leader is
    not cost no retry, ``deadline_us`` the end of it all (delivery.timeout.ms); ``token`` tells this
    flight's timer from older ones. ``error`` is what the last attempt ended in, ``renumbered`` that
    its sequence numbers changed since it was last sent.
    """

    token: int
    patience_us: int
    retries_left: int
    deadline_us: int
    tp: str = ""
    partition: int = -1
    batch: RecordBatch | None = None
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
    """An idempotent producer's count in one partition, under the id and epoch of ``owner``.

    ``acked`` is the last sequence number that was acknowledged and ``acked_offset`` its place (-1:
    none yet). ``unresolved`` is the number after a batch that was given up although it may be
    written (-1: there is none): until that is known nothing new is sent.
    """

    owner: tuple[int, int]
    next: int = 0
    acked: int = -1
    acked_offset: int = -1
    unresolved: int = -1


class Identity(Struct, array_like=True):
    """What makes a producer idempotent: its id and epoch (-1: none yet) and its counts by tp.

    ``in_doubt`` are the partitions with something unresolved.
    """

    producer_id: int = -1
    epoch: int = -1
    partitions: dict[str, PartitionSequences] = field(default_factory=dict)
    in_doubt: dict[str, None] = field(default_factory=dict)


class Job(Struct, array_like=True):
    """A `produce` statement under way: ``sent`` of its records have been given to requests.

    The next request begins at ``next_us``; ``token`` is that of the timer for it (0: none is set).
    ``error`` is the last one that any of its records ended in.
    """

    id: int
    input: Produce
    sent: int = 0
    next_us: int = 0
    token: int = 0
    error: str = "NONE"


class Producer(Struct, array_like=True):
    """A producer: its counts, its view of the leaders (by topic and partition), its work.

    ``learned_us`` tells when it was told of a topic, ``available`` which partitions have a leader
    (as far as that was asked), ``sticky_bytes`` how much it has given to the
    ``sticky`` partition of a topic. ``flights`` are its batches that are not done, in the order in
    which they are to be sent.
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

    @property
    def pending(self) -> int:
        """Records that are neither acknowledged nor given up."""
        waiting = sum(job.input.count - job.sent for job in self.jobs)
        return waiting + sum(f.batch.count for f in self.flights if f.batch is not None)


class Reading(Struct, array_like=True):
    """A `consume` statement under way.

    ``left`` partitions are still to be read, ``partition`` is being read from ``offset``;
    ``preferred`` is the follower that its leader named for that (-1: none). With a group ``stage``
    tells how far the statement is, ``positions`` where it stands in each of its partitions.

    Since 2.1 (KIP-320) ``leader_epoch`` is the partition's epoch by the metadata, ``epochs`` those
    of the last record before each position (a partition is missing if that is not known), and
    ``validating`` tells that the leader is asked where that epoch ends. ``located_by`` is the
    timestamp whose offset the leader is asked for (None: it is not): EARLIEST because the position
    is out of range, or the time to begin at.

    Once everything has been read, a statement with a timeout waits for more until ``idle_us``:
    ``polls`` are the brokers whose responses it waits for, by request. Each has the partitions
    that ``sources`` (broker and leader epoch) says are read from it.
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

    What it was given as runs of (first record id, count), where it stands, its work and its group.
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
    ElectLeadersRequest
    | AlterPartitionReassignmentsRequest
    | CreateTopicsRequest
    | DeleteTopicsRequest
    | CreatePartitionsRequest
    | IncrementalAlterConfigsRequest
    | AlterPartitionRequest
)


class AdminCall(Struct, array_like=True):
    """A call that has not ended: what is asked, about which partition.

    ``request`` is the one under way (0: none), sent to broker ``asked`` at ``sent_us``.
    ``error`` is what the last try ended in. Of a call about more than one thing (empty ``tp``) the
    errors of all are kept. ``controller``: the controller that is asked itself (-1: brokers are).
    """

    wanted: AdminRequest
    tp: str
    deadline_us: int
    request: int = 0
    asked: int = -1
    sent_us: int = 0
    error: str = "REQUEST_TIMED_OUT"
    controller: int = -1


class AdminState(Struct, array_like=True):
    """The calls under way, by job, and what the admin client knows of its connections.

    ``answers`` are the errors by what they are about of calls that have ended, until they are read.
    """

    calls: dict[int, AdminCall] = field(default_factory=dict)
    answers: dict[int, dict[str, str]] = field(default_factory=dict)
    connections: Connections = field(default_factory=Connections)


class ClientsState(Struct, array_like=True):
    """All clients, and the ledger of everything that was ever produced.

    ``finished`` maps the jobs whose ends somebody waits for to their errors, until that is read.
    ``unacknowledged`` tells which producer the last requests with acks=0 are of, oldest first:
    nothing waits for them. ``encoded`` are the batches of clients outside, as bytes, by the id of
    their first record.
    """

    producers: dict[str, Producer] = field(default_factory=dict)
    consumers: dict[str, Consumer] = field(default_factory=dict)
    ledger: LedgerEntries = field(default_factory=LedgerEntries)
    encoded: dict[int, bytes] = field(default_factory=dict)
    next_id: int = 1
    finished: dict[int, str] = field(default_factory=dict)
    unacknowledged: dict[int, str] = field(default_factory=dict)
    admin: AdminState = field(default_factory=AdminState)
    external: ExternalState = field(default_factory=ExternalState)
