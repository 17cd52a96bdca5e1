"""What producers and consumers remember: plain data."""

from msgspec import Struct, field

from emulator.inputs import Consume, Produce
from emulator.messages import RecordBatch

ASKING = "asking"
SENT = "sent"
WAITING = "waiting"


class LedgerEntry(Struct, frozen=True, array_like=True, gc=False):
    """What one batch of records really was.

    Ids ``first_record ..``, its partition, keys and values.
    """

    first_record: int
    producer: str
    tp: str
    keys: list[str | None]
    values: list[str]
    acks: int


class Flight(Struct, array_like=True):
    """A batch on its way. ``tp`` is empty until the partition is chosen.

    ``ask`` are brokers still to be asked for the leader. ``patience_us`` is until when errors that
    say where the leader is not cost no retry, ``deadline_us`` until when attempts may begin
    (delivery.timeout.ms); ``token`` tells this flight's timers from older ones.
    """

    token: int
    patience_us: int
    retries_left: int
    deadline_us: int = 0
    tp: str = ""
    partition: int = -1
    batch: RecordBatch | None = None
    phase: str = ASKING
    ask: list[int] = field(default_factory=list)
    asked: int = -1
    request: int = 0
    target: int = -1


class Job(Struct, array_like=True):
    """A `produce` statement under way: ``sent`` of its records have been given to requests.

    ``error`` is the last one that any of its records ended in.
    """

    id: int
    input: Produce
    sent: int = 0
    next_us: int = 0
    error: str = "NONE"


class Producer(Struct, array_like=True):
    """A producer: its counts, its view of the leaders (by topic and partition), its work."""

    name: str
    acked: int = 0
    failed: int = 0
    retries: int = 0
    errors: list[str] = field(default_factory=list)
    leaders: dict[str, dict[int, int]] = field(default_factory=dict)
    round_robin: dict[str, int] = field(default_factory=dict)
    sticky: dict[str, int] = field(default_factory=dict)
    jobs: list[Job] = field(default_factory=list)
    flight: Flight | None = None


class Reading(Struct, array_like=True):
    """A `consume` statement under way.

    ``left`` partitions are still to be read, ``partition`` is being read from ``offset``;
    ``preferred`` is the follower that its leader named for that (-1: none).
    """

    id: int
    input: Consume
    token: int
    patience_us: int
    ask: list[int] = field(default_factory=list)
    asked: int = -1
    left: list[int] | None = None
    partition: int = -1
    offset: int = 0
    given: int = 0
    request: int = 0
    target: int = -1
    preferred: int = -1
    error: str = "NONE"


class Consumer(Struct, array_like=True):
    """A consumer.

    What it was given as runs of (first record id, count), where it stands, and its work.
    """

    name: str
    runs: list[tuple[int, int]] = field(default_factory=list)
    position: int = 0
    error: str = "NONE"
    reading: Reading | None = None
    queue: list[Reading] = field(default_factory=list)


class ClientsState(Struct, array_like=True):
    """All clients, and the ledger of everything that was ever produced.

    ``finished`` maps statement ids to their error.
    """

    producers: dict[str, Producer] = field(default_factory=dict)
    consumers: dict[str, Consumer] = field(default_factory=dict)
    ledger: list[LedgerEntry] = field(default_factory=list)
    next_record: int = 1
    next_id: int = 1
    finished: dict[int, str] = field(default_factory=dict)
