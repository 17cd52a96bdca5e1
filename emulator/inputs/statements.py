"""Everything that can be asked of a cluster, as plain data.

A statement of the command language becomes one of these structs; the cluster executes them, a
session file stores them, and running them again gives the same events. Durations are in
microseconds of virtual time; ``tp`` is a topic-partition written ``orders-0``.
"""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from emulator.inputs.conditions import Clause

Count = Annotated[int, Meta(ge=1)]
Natural = Annotated[int, Meta(ge=0)]
Acks = Literal[-1, 0, 1]


class Input(Struct, frozen=True, tag=True, tag_field="input", omit_defaults=True, kw_only=True):
    """What all inputs share."""


class CreateCluster(Input, frozen=True, kw_only=True):
    """Make a cluster: brokers ``first_id ..`` of release ``version``.

    ``racks`` and ``hosts`` are empty or have one name a broker. ``latency_us`` is how long each
    message takes on a plain link; None: as long as in a data centre, with clients some milliseconds
    away. ``mode`` is the release's own if it is empty; in KRaft mode there are ``controllers`` with
    the ids 100, 101, .. and the ``features`` that the release formats a cluster with are finalized,
    with these levels in place of its own.
    """

    brokers: Count = 3
    first_id: Natural = 0
    racks: list[str] = []
    hosts: list[str] = []
    version: str = "3.9"
    seed: int = 1
    config: dict[str, str] = {}
    stepwise: bool = False
    mode: Literal["", "zk", "kraft"] = ""
    controllers: Count = 1
    features: dict[str, int] = {}
    latency_us: Natural | None = None


class CreateTopic(Input, frozen=True, kw_only=True):
    """Create a topic, by numbers or by an explicit replica list for each partition."""

    topic: str
    partitions: Count = 1
    replication_factor: Count = 1
    assignment: list[list[int]] = []
    policy: Literal["seed", "kafka"] = "seed"
    config: dict[str, str] = {}


class AddPartitions(Input, frozen=True, kw_only=True):
    """Let a topic have ``partitions`` partitions in all.

    ``assignment`` has the replicas of each new one; without it they are placed as the topic's are.
    """

    topic: str
    partitions: Count
    assignment: list[list[int]] = []


class ConfigureTopic(Input, frozen=True, kw_only=True):
    """Set topic configuration values (an empty value removes one)."""

    topic: str
    config: dict[str, str]


class ConfigureBroker(Input, frozen=True, kw_only=True):
    """Set configuration values of one broker while it runs (an empty value removes one).

    In KRaft mode None stands for the default of all.
    """

    broker: int | None
    config: dict[str, str]


class DeleteTopic(Input, frozen=True, kw_only=True):
    """Delete a topic."""

    topic: str


class Produce(Input, frozen=True, kw_only=True):
    """Send ``count`` records, ``batch`` in each request, each after the last one's answer.

    ``partition``, ``acks``, ``retries`` None: the partitioner's choice, the release's defaults.
    ``in_flight`` requests may be under way at once. ``every_us`` is a pause from the start of one
    request to the next. ``background`` returns at once. ``strict_retries``: a batch that is sent
    again counts as a retry whatever the error, where otherwise errors that only say that the leader
    is elsewhere are free for 3 s.
    """

    topic: str
    partition: Natural | None = None
    key: str | None = None
    value: str = ""
    count: Count = 1
    acks: Acks | None = None
    retries: Natural | None = None
    timeout_us: Count = 30_000_000
    batch: Count = 1
    in_flight: Count = 1
    idempotent: bool = False
    producer: str = "p1"
    partitioner: Literal["default", "roundrobin", "sticky"] = "default"
    every_us: Natural = 0
    background: bool = False
    strict_retries: bool = False


class Consume(Input, frozen=True, kw_only=True):
    """Read up to the HW, at most ``max_records``, from ``offset``, the group's position or 0.

    With a group the consumer is a member of it, ``then`` until it leaves (in order, or by dying);
    ``from_beginning``: a position out of range begins again at the log's start. ``rack`` is where
    the consumer is (KIP-392): a leader may send it to a replica there.

    With ``timeout_us`` the consumer waits for more until nothing has come for so long. Its fetches
    wait at the broker for ``min_bytes`` of records, at most for ``max_wait_us`` (None: the
    release's fetch.min.bytes and fetch.max.wait.ms). ``from_timestamp_us`` begins at the first
    record that is not older than that virtual time.
    """

    topic: str
    partition: Natural | None = None
    offset: Natural | None = None
    max_records: Count | None = None
    group: str | None = None
    consumer: str = "c1"
    rack: str = ""
    assignor: Literal["range", "roundrobin", "cooperative-sticky"] = "range"
    from_beginning: bool = False
    then: Literal["stay", "leave", "die"] = "stay"
    timeout_us: Natural | None = None
    min_bytes: Natural | None = None
    max_wait_us: Natural | None = None
    from_timestamp_us: Natural | None = None


class FetchRound(Input, frozen=True, kw_only=True):
    """``times`` complete fetch rounds of follower ``broker``."""

    tp: str
    broker: int
    times: Count = 1


class Tick(Input, frozen=True, kw_only=True):
    """Run one periodic task now, on one broker or (None) on all that are running."""

    task: Literal["isr", "checkpoint", "rebalance"]
    broker: int | None = None


class PauseReplica(Input, frozen=True, kw_only=True):
    """Stop follower ``broker`` fetching ``tp``; what is in flight for it is dropped."""

    tp: str
    broker: int


class ResumeReplica(Input, frozen=True, kw_only=True):
    """Let follower ``broker`` fetch ``tp`` again."""

    tp: str
    broker: int


class StopBroker(Input, frozen=True, kw_only=True):
    """Controlled shutdown; done when the process has ended, with ``wait`` False at once."""

    broker: int
    wait: bool = True


class CrashBroker(Input, frozen=True, kw_only=True):
    """Kill the process.

    With ``lose_unflushed`` it is a power loss: only what was flushed to disk survives.
    """

    broker: int
    lose_unflushed: bool = False


class StartBroker(Input, frozen=True, kw_only=True):
    """Start a broker that is down (``clean``: with empty disks).

    Done when it has registered, and in KRaft mode is unfenced; with ``wait`` False at once.
    """

    broker: int
    clean: bool = False
    wait: bool = True


class FreezeBroker(Input, frozen=True, kw_only=True):
    """Let the process do nothing while the world goes on."""

    broker: int


class ThawBroker(Input, frozen=True, kw_only=True):
    """Let a frozen process go on."""

    broker: int


class ChangeController(Input, frozen=True, kw_only=True):
    """Do something to a controller's process (KRaft).

    ``which`` is an id, ``active`` (who leads the quorum), ``standby`` (the first that runs and does
    not), ``any`` (the first that runs), ``last`` (whom such a word meant last), or with ``start``
    ``all`` (those that are down). A start is done when there is an active controller; with ``wait``
    False at once.
    """

    action: Literal["crash", "stop", "start", "freeze", "thaw"]
    which: str
    wait: bool = True


class CutLink(Input, frozen=True, kw_only=True):
    """Break the link between two hosts, both ways unless ``one_way``."""

    source: int
    destination: int
    one_way: bool = False


class HealLinks(Input, frozen=True, kw_only=True):
    """Make one link, or (both None) all links, whole and fast again."""

    source: int | None = None
    destination: int | None = None
    one_way: bool = False


class DelayLink(Input, frozen=True, kw_only=True):
    """Add a delay to each message between two hosts, both ways unless ``one_way``."""

    source: int
    destination: int
    delay_us: Natural
    one_way: bool = False


class DropOnLink(Input, frozen=True, kw_only=True):
    """Lose each message between two hosts with a probability, both ways unless ``one_way``."""

    source: int
    destination: int
    percent: Annotated[float, Meta(ge=0, le=100)]
    one_way: bool = False


class IsolateBroker(Input, frozen=True, kw_only=True):
    """Cut a broker from every other broker and from ZooKeeper; clients still reach it."""

    broker: int


class HoldMessages(Input, frozen=True, kw_only=True):
    """Keep messages from ``source`` to ``destination`` waiting; with ``api`` those of that name."""

    source: int
    destination: int
    api: str | None = None


class ReleaseMessages(Input, frozen=True, kw_only=True):
    """Let the first ``count`` held messages through, or lose them; None: all, and hold no more.

    With ``api`` only those of that name.
    """

    source: int
    destination: int
    count: Count | None = None
    lose: bool = False
    api: str | None = None


class ZkCommand(Input, frozen=True, kw_only=True):
    """A ZooKeeper client's command as an outsider gives it."""

    command: Literal["ls", "get", "stat", "create", "set", "delete", "watches"]
    path: str
    data: str | None = None
    version: int = -1
    ephemeral: bool = False
    sequential: bool = False
    recursive: bool = False
    with_stat: bool = False


class ExpireSession(Input, frozen=True, kw_only=True):
    """Expire a ZooKeeper session at once: a broker's, or (``CLIENTS``) the outsiders' zkCli's."""

    broker: int


class ElectPreferred(Input, frozen=True, kw_only=True):
    """Write /admin/preferred_replica_election for the partitions (empty: all)."""

    partitions: list[str] = []


class ElectUnclean(Input, frozen=True, kw_only=True):
    """Elect a leader outside the ISR for one offline partition (ElectLeaders, 2.4+)."""

    tp: str


class AlterPartition(Input, frozen=True, kw_only=True):
    """Send the active controller an AlterPartitionRequest in ``broker``'s name (KRaft).

    Epochs are the true ones with these differences added; those of ISR members are sent only for
    the brokers in ``isr_epochs``.
    """

    tp: str
    broker: int
    isr: list[int]
    leader_epoch: int = 0
    partition_epoch: int = 0
    broker_epoch: int = 0
    isr_epochs: dict[int, int] = {}


class DescribeTopic(Input, frozen=True, kw_only=True):
    """Ask a broker for a topic's eligible leader replicas (DescribeTopicPartitions, KRaft)."""

    topic: str


class Reassign(Input, frozen=True, kw_only=True):
    """Write /admin/reassign_partitions: move one partition to ``replicas``."""

    tp: str
    replicas: list[int]


class CancelReassignment(Input, frozen=True, kw_only=True):
    """Take back a reassignment that is under way (2.4+)."""

    tp: str


class Wait(Input, frozen=True, kw_only=True):
    """Let virtual time pass."""

    duration_us: Natural


class WaitUntil(Input, frozen=True, kw_only=True):
    """Let virtual time pass until all clauses hold.

    Running out after ``within_us`` is a failed statement.
    """

    clauses: list[Clause]
    within_us: Natural = 60_000_000


class Settle(Input, frozen=True, kw_only=True):
    """Let time pass until nothing but idle traffic has happened for ``quiet_us``; at most 20 s."""

    quiet_us: Natural = 1_000_000


class Expect(Input, frozen=True, kw_only=True):
    """An assertion: recorded and counted."""

    clauses: list[Clause]


class ExpectError(Input, frozen=True, kw_only=True):
    """The last statement ended in the Kafka error of this name (``NONE``: in none)."""

    error: str


class ExpectEvents(Input, frozen=True, kw_only=True):
    """An assertion about events that have happened, which whoever gives it has looked up.

    A cluster keeps nothing of its past, so ``passed`` is the giver's verdict, None before it has
    looked; ``actual`` says what was found. ``patterns``, each the words that it is written with,
    are sought in this order, each after the one before; a single one is sought ``times`` times (0:
    never; None: at least once). ``since`` is the bookmark behind which they are sought.
    """

    patterns: list[list[str]]
    times: int | None = None
    since: str = ""
    passed: bool | None = None
    actual: str = ""


class Mark(Input, frozen=True, kw_only=True):
    """A bookmark in the recording."""

    name: str
    note: str = ""


class InjectError(Input, frozen=True, kw_only=True):
    """Have the next ``times`` requests of an API by clients outside refused with an error."""

    api: str
    error: str
    times: Count = 1


class AdvertiseListeners(Input, frozen=True, kw_only=True):
    """Tell the brokers the addresses at which clients reach them (advertised.listeners).

    ``listeners`` has host and port of each broker; what is not in it keeps its old address.
    """

    listeners: dict[int, tuple[str, int]]


class OpenConnection(Input, frozen=True, kw_only=True):
    """A client outside the emulator connects to a broker; ``connection`` is a number of its own.

    ``address`` is where it connects from, host and port.
    """

    connection: Count
    broker: int
    address: str = ""


class CloseConnection(Input, frozen=True, kw_only=True):
    """A client outside the emulator closes a connection, or its end has broken it.

    ``reason`` says why it was closed for the client, if it was; empty: it hung up.
    """

    connection: Count
    reason: str = ""


class ReceiveRequest(Input, frozen=True, kw_only=True):
    """A request of a client outside the emulator, as it came by a connection.

    ``frame`` is all of it but the length that goes before.
    """

    connection: Count
    frame: bytes


AnyInput = (
    CreateCluster
    | CreateTopic
    | AddPartitions
    | ConfigureTopic
    | ConfigureBroker
    | DeleteTopic
    | Produce
    | Consume
    | FetchRound
    | Tick
    | PauseReplica
    | ResumeReplica
    | StopBroker
    | CrashBroker
    | StartBroker
    | FreezeBroker
    | ThawBroker
    | ChangeController
    | AlterPartition
    | DescribeTopic
    | CutLink
    | HealLinks
    | DelayLink
    | DropOnLink
    | IsolateBroker
    | HoldMessages
    | ReleaseMessages
    | ZkCommand
    | ExpireSession
    | ElectPreferred
    | ElectUnclean
    | Reassign
    | CancelReassignment
    | Wait
    | WaitUntil
    | Settle
    | Expect
    | ExpectError
    | ExpectEvents
    | Mark
    | InjectError
    | AdvertiseListeners
    | OpenConnection
    | CloseConnection
    | ReceiveRequest
)
"""Every input, as the type that codecs decode."""

OF_CONNECTIONS = (AdvertiseListeners, OpenConnection, CloseConnection, ReceiveRequest)
"""The inputs that are no statements: they come from clients outside, by the network."""


class Statement(Struct, frozen=True, array_like=True):
    """An input with the text and line (0: none) that it was written as.

    ``expected_error`` is what an ``expect error`` after it names: ending in that is no failure.
    """

    input: AnyInput
    text: str
    line: int = 0
    expected_error: str = ""
