"""All inputs of a cluster, as plain data.

A statement of the command language becomes one of these structs; the cluster executes them, a
session file stores them, and executing them again yields the same events. Durations are in
microseconds of virtual time; ``tp`` is a topic-partition written ``orders-0``.
"""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

from msgspec import Meta, Struct, StructMeta

from emulator.cluster_image.assumptions import known_brokers
from emulator.cluster_image.image import ClusterImage
from emulator.inputs.conditions import Clause
from emulator.inputs.words import (
    MESSAGE,
    BrokerId,
    Config,
    Count,
    Host,
    Natural,
    OneWay,
    ProducerName,
    TopicName,
    TopicPartition,
    argument,
    flag,
    option,
)

Acks = Literal[-1, 0, 1]


class InputType(StructMeta):
    """The type of a class of inputs, which takes the ``statement`` that the class declares.

    It is the statement's words up to its arguments (empty: the fields alone do not say how it is
    written). The class's docstring is then its help.
    """

    def __new__(
        cls,
        name: str,
        bases: tuple[type, ...],
        namespace: dict[str, Any],
        *,
        statement: str = "",
        **config: Any,
    ) -> "InputType":
        """Make the class."""
        made: Any = super().__new__(cls, name, bases, namespace, **config)
        made.statement = statement
        kind: InputType = made
        return kind


class Input(
    Struct,
    metaclass=InputType,
    frozen=True,
    tag=True,
    tag_field="input",
    omit_defaults=True,
    kw_only=True,
):
    """The base of all inputs."""

    statement: ClassVar[str]


class CreateCluster(Input, frozen=True, kw_only=True, statement="cluster"):
    """Create the cluster; always the first statement of a script."""

    # Brokers are ``first_id ..``; ``racks`` and ``hosts`` have one name per broker, or none.
    brokers: Annotated[
        Count, option("--brokers", "N", "number of brokers", default="3", kind="brokers")
    ] = 3
    first_id: Annotated[Natural, option("--first-id", "I", "ids I, I+1, ..", default="0")] = 0
    racks: Annotated[list[str], option("--racks", "a,b,..", "one rack per broker")] = []
    hosts: Annotated[
        list[str], option("--hosts", "a,b,..", "the host name that each broker registers")
    ] = []
    version: Annotated[
        str,
        option(
            "--version",
            "VERSION",
            "the release, or documents: what Kafka is taught from (also documents-leader-epochs,"
            " documents-without-hw)",
            default="3.9",
        ),
    ] = "3.9"
    seed: Annotated[int, option("--seed", "S", "the random seed", default="1")] = 1
    config: Config = {}
    # Read when the statement is parsed: what has an effect is in ``config`` then.
    properties: Annotated[
        dict[str, str],
        option(
            "--properties",
            "FILE",
            "set the properties of this server.properties, as far as they have an effect here;"
            " --config overrides them",
            kind="properties",
        ),
    ] = {}
    stepwise: Annotated[
        bool, flag("--stepwise", "fetches and periodic tasks run only by statements")
    ] = False
    # Empty: the release's default.
    mode: Annotated[
        Literal["", "zk", "kraft"],
        option(
            "--mode",
            "kraft|zk",
            "with ZooKeeper (up to 3.9) or without it (3.3 to 4.4)",
            default="zk up to 3.9",
        ),
    ] = ""
    controllers: Annotated[
        Count,
        option("--controllers", "N", "KRaft: ids 100, 101, ..", default="1", kind="controllers"),
    ] = 1
    features: Annotated[
        dict[str, int],
        option(
            "--feature",
            "NAME=LEVEL",
            "KRaft, from 4.0: a feature's level in place of the release's; may be repeated",
            many=True,
        ),
    ] = {}
    # None: that of a data centre, with clients some milliseconds away.
    latency_us: Annotated[
        Natural | None,
        option(
            "--latency",
            "TIME",
            "how long each message takes: 0.00002s",
            default="0.2 to 0.4 ms between brokers, 5 ms more from clients",
        ),
    ] = None
    zxid: Annotated[
        int,
        Meta(ge=0, le=(1 << 63) - 1),
        option(
            "--zxid",
            "0xN",
            "ZooKeeper's last transaction before this cluster; the upper half counts the"
            " elections of its leader",
            default="0x100000000",
        ),
    ] = 1 << 32
    # 0: an id made of ZooKeeper's start time.
    zookeeper_session: Annotated[
        int,
        Meta(ge=0, le=(1 << 63) - 1),
        option(
            "--zookeeper-session",
            "0xN",
            "the id of ZooKeeper's first session; ids count up",
            default="made of its start time",
        ),
    ] = 0
    # 0: 15 March 2020. Served clusters begin now.
    started_ms: Annotated[
        Natural,
        option(
            "--started-ms",
            "MS",
            "the wall-clock time at which the cluster begins, in milliseconds since 1970",
            default="15 March 2020; now where clients are served",
        ),
    ] = 0
    # The cluster starts in that state: then the brokers and controllers, racks, hosts and features
    # are the image's, and ``config`` overrides the configurations of its brokers' files.
    image: Annotated[
        ClusterImage | None,
        option(
            "--image",
            "FILE",
            "start in the state of this image (tidegauge import), with its brokers, racks and mode",
            kind="image",
        ),
    ] = None

    @property
    def broker_ids(self) -> list[int]:
        """The ids of the cluster's brokers, sorted."""
        if self.image is not None:
            return known_brokers(self.image)
        return list(range(self.first_id, self.first_id + self.brokers))


class CreateTopic(Input, frozen=True, kw_only=True):
    """Create a topic, by numbers or by an explicit replica list for each partition."""

    topic: str
    partitions: Count = 1
    replication_factor: Count = 1
    assignment: list[list[int]] = []
    policy: Literal["seed", "kafka"] = "seed"
    config: dict[str, str] = {}


class AddPartitions(Input, frozen=True, kw_only=True):
    """Increase a topic's partition count to ``partitions``.

    ``assignment`` has the replicas of each new partition; if empty, the topic's policy places them.
    """

    topic: str
    partitions: Count
    assignment: list[list[int]] = []


class ConfigureTopic(Input, frozen=True, kw_only=True):
    """Set topic configuration values; None removes one.

    With ZooKeeper an empty value removes one, too. Without it an empty value is set, which
    controllers refuse.
    """

    topic: str
    config: Mapping[str, str | None]


class ConfigureBroker(Input, frozen=True, kw_only=True):
    """Set configuration values of one broker while it runs, as :class:`ConfigureTopic` does.

    ``broker`` None is the cluster-wide default (KRaft).
    """

    broker: int | None
    config: Mapping[str, str | None]


class ConfigureGroup(Input, frozen=True, kw_only=True):
    """Set configuration values of one group (4.0 and newer), as :class:`ConfigureTopic` does."""

    group: str
    config: Mapping[str, str | None]


class DeleteTopic(Input, frozen=True, kw_only=True, statement="topic delete"):
    """Delete a topic."""

    topic: TopicName


class Produce(Input, frozen=True, kw_only=True, statement="produce"):
    """Send N records, one request after another, and wait for the last response or error."""

    topic: TopicName
    # None: the partitioner's choice.
    partition: Annotated[Natural | None, option("--partition", "P", "only this partition")] = None
    key: Annotated[str | None, option("--key", "K", "the records' key")] = None
    value: Annotated[
        str, option("--value", "V", "the value; V-0, V-1, .. if there are several")
    ] = ""
    # 0: a request without records, which the leader answers although there is nothing to append.
    count: Annotated[Natural, option("--count", "N", "how many records", default="1")] = 1
    acks: Annotated[
        Acks | None,
        option(
            "--acks",
            "0|1|all",
            "acknowledgements that the leader waits for",
            default="the release's",
        ),
    ] = None
    retries: Annotated[
        Natural | None, option("--retries", "N", "number of retries", default="the release's")
    ] = None
    timeout_us: Annotated[
        Count,
        option(
            "--timeout",
            "D",
            "the timeout sent to the leader; the client gives up 2 s later",
            default="30s",
            kind="positive D",
        ),
    ] = 30_000_000
    batch: Annotated[
        Count, option("--batch", "B", "records per request", default="1", kind="N")
    ] = 1
    in_flight: Annotated[
        Count, option("--in-flight", "N", "the most requests in flight at once", default="1")
    ] = 1
    idempotent: Annotated[bool, flag("--idempotent", "use a producer id and sequence numbers")] = (
        False
    )
    producer: ProducerName = "p1"
    partitioner: Annotated[
        Literal["default", "roundrobin", "sticky"],
        option("--partitioner", "", "how a partition is chosen", default="default"),
    ] = "default"
    # Between the starts of two requests.
    every_us: Annotated[Natural, option("--every", "D", "the time between two requests")] = 0
    background: Annotated[bool, flag("--async", "do not wait for the responses")] = False
    # Without it, errors which only show that the leader is elsewhere are free for 3 s.
    strict_retries: Annotated[
        bool,
        flag(
            "--strict-retries",
            "count each resend as a retry, as in Kafka's producer, not only after 3 s",
        ),
    ] = False
    # In the producer's transaction, by the statement 'transaction produce'.
    transactional: bool = False


class BeginTransaction(Input, frozen=True, kw_only=True, statement="transaction begin"):
    """Begin a producer's transaction (0.11+).

    Before its first one the producer gets its id and epoch from the coordinator of its
    transactional id, which fences older producers with that id.
    """

    producer: ProducerName = "p1"
    # Empty: the producer's name.
    transactional_id: Annotated[
        str,
        option("--transactional-id", "ID", "transactional.id", default="the producer's name"),
    ] = ""
    timeout_us: Annotated[
        Count, option("--timeout", "D", "transaction.timeout.ms", default="1m", kind="positive D")
    ] = 60_000_000


class ProduceInTransaction(Input, frozen=True, kw_only=True, statement="transaction produce"):
    """Send N records in a producer's transaction, with acks=all and sequence numbers."""

    topic: TopicName
    # None: the partitioner's choice.
    partition: Annotated[Natural | None, option("--partition", "P", "only this partition")] = None
    key: Annotated[str | None, option("--key", "K", "the records' key")] = None
    value: Annotated[
        str, option("--value", "V", "the value; V-0, V-1, .. if there are several")
    ] = ""
    count: Annotated[Count, option("--count", "N", "how many records", default="1")] = 1
    batch: Annotated[
        Count, option("--batch", "B", "records per request", default="1", kind="N")
    ] = 1
    producer: ProducerName = "p1"
    background: Annotated[bool, flag("--async", "do not wait for the responses")] = False


class CommitTransaction(Input, frozen=True, kw_only=True, statement="transaction commit"):
    """Commit a producer's transaction; ends when the coordinator has decided it.

    The markers in the partitions follow. If a record of the transaction failed, only an abort is
    possible.
    """

    producer: ProducerName = "p1"


class AbortTransaction(Input, frozen=True, kw_only=True, statement="transaction abort"):
    """Abort a producer's transaction; read_committed consumers never see its records."""

    producer: ProducerName = "p1"


class Consume(Input, frozen=True, kw_only=True, statement="consume"):
    """Read records up to the HW, never past it.

    With --timeout the consumer then waits for more, as kafka-console-consumer --timeout-ms does,
    until it has --max records or none has arrived for that time. Its fetches wait at the brokers.
    With --group the consumer joins the group, reads its assigned partitions from the committed
    offsets (from 0 where there are none), and commits. It then remains a member and takes part in
    rebalances until a later statement says --then leave or --then die. The partitions of a dead
    member are reassigned to the others when its session times out. With --partition the consumer
    does not join the group; it only reads and commits the group's offset. When its group
    rebalances, a member stops waiting, so that it commits its offsets before it rejoins.
    """

    topic: TopicName
    partition: Annotated[Natural | None, option("--partition", "P", "only this partition")] = None
    # None: the group's position, or 0.
    offset: Annotated[Natural | None, option("--offset", "O", "from this offset")] = None
    max_records: Annotated[Count | None, option("--max", "N", "at most N records")] = None
    group: Annotated[
        str | None, option("--group", "G", "join this group and commit its offsets (0.9+)")
    ] = None
    consumer: Annotated[str, option("--consumer", "CONSUMER", "the consumer", default="c1")] = "c1"
    # A leader may redirect the consumer to a replica in its rack (KIP-392).
    rack: Annotated[
        str, option("--rack", "R", "client.rack: replicas in it may serve it (2.4+)")
    ] = ""
    assignor: Annotated[
        Literal["range", "roundrobin", "cooperative-sticky"],
        option("--assignor", "", "how the group assigns partitions", default="range"),
    ] = "range"
    protocol: Annotated[
        Literal["classic", "consumer", "share"],
        option(
            "--protocol",
            "",
            "group.protocol: with consumer the coordinator assigns partitions (4.0+), with share"
            " members share them (4.1+)",
            default="classic",
        ),
    ] = "classic"
    acknowledge: Annotated[
        Literal["accept", "release", "reject", "none"],
        option(
            "--acknowledge",
            "",
            "what a member of a share group does with its records; none: its locks expire",
            default="accept",
        ),
    ] = "accept"
    # Of a member of a group: its position that is out of range is reset to the log start.
    from_beginning: Annotated[
        bool, flag("--from-beginning", "from offset 0; for a group: if it has no valid offset")
    ] = False
    then: Annotated[
        Literal["stay", "leave", "die"],
        option(
            "--then",
            "",
            "what the member does afterwards: stay, leave, or be killed",
            default="stay",
        ),
    ] = "stay"
    timeout_us: Annotated[
        Natural | None,
        option(
            "--timeout",
            "D",
            "wait for more records until none has come for this time",
            kind="positive D",
        ),
    ] = None
    # None: the release's fetch.min.bytes and fetch.max.wait.ms.
    min_bytes: Annotated[
        Natural | None,
        option(
            "--min-bytes",
            "N",
            "fetch.min.bytes: the amount of data that a broker waits for",
            default="1",
        ),
    ] = None
    max_wait_us: Annotated[
        Natural | None,
        option(
            "--max-wait",
            "D",
            "fetch.max.wait.ms: the longest time that a broker waits",
            default="500ms",
        ),
    ] = None
    isolation: Annotated[
        Literal["read_uncommitted", "read_committed"],
        option(
            "--isolation",
            "",
            "read_committed: up to the last stable offset, without aborted records (0.11+)",
            default="read_uncommitted",
        ),
    ] = "read_uncommitted"
    from_timestamp_us: Annotated[
        Natural | None,
        option(
            "--from-timestamp",
            "TIME",
            "from the first record that is not older than this virtual time (0.10.1+)",
            kind="D",
        ),
    ] = None


class FetchRound(Input, frozen=True, kw_only=True):
    """Run ``times`` complete fetch rounds of follower ``broker``."""

    tp: str
    broker: int
    times: Count = 1


class Tick(Input, frozen=True, kw_only=True, statement="tick"):
    """Run one periodic task now."""

    task: Annotated[Literal["isr", "checkpoint", "rebalance"], argument("", "the periodic task")]
    broker: Annotated[int | None, argument("B", "a broker id; all running brokers by default")] = (
        None
    )


class PauseReplica(Input, frozen=True, kw_only=True):
    """Pause follower ``broker``'s fetching of ``tp``; its messages in flight are dropped."""

    tp: str
    broker: int


class ResumeReplica(Input, frozen=True, kw_only=True):
    """Resume follower ``broker``'s fetching of ``tp``."""

    tp: str
    broker: int


class StopBroker(Input, frozen=True, kw_only=True, statement="broker stop"):
    """Start a controlled shutdown of a broker; ends when its process has exited."""

    broker: BrokerId
    wait: Annotated[
        bool, flag("--no-wait", "continue without waiting for its process to end", off=True)
    ] = True


class CrashBroker(Input, frozen=True, kw_only=True, statement="broker crash"):
    """Kill a broker's process."""

    broker: BrokerId
    lose_unflushed: Annotated[
        bool, flag("--lose-unflushed", "as in a power failure: only flushed data survives")
    ] = False


class StartBroker(Input, frozen=True, kw_only=True, statement="broker start"):
    """Start a broker that is down; ends when it has registered (in KRaft mode: is unfenced)."""

    broker: BrokerId
    clean: Annotated[bool, flag("--clean", "with empty disks")] = False
    wait: Annotated[
        bool, flag("--no-wait", "continue without waiting until it is up", off=True)
    ] = True


class FreezeBroker(Input, frozen=True, kw_only=True, statement="broker freeze"):
    """Pause a broker's process (SIGSTOP), as a long garbage collection does, while time passes."""

    broker: BrokerId


class ThawBroker(Input, frozen=True, kw_only=True, statement="broker thaw"):
    """Resume a frozen broker (SIGCONT)."""

    broker: BrokerId


class ChangeController(Input, frozen=True, kw_only=True):
    """Crash, stop, start, freeze or thaw a controller's process (KRaft).

    ``which`` is an id, ``active`` (the leader of the quorum), ``standby`` (the first running one
    that is not the leader), ``any`` (the first running one), ``last`` (the one last selected by
    such a word), or with ``start`` ``all`` (those that are down). A start is done when there is an
    active controller; with ``wait`` False at once.
    """

    action: Literal["crash", "stop", "start", "freeze", "thaw"]
    which: str
    wait: bool = True


class CutLink(Input, frozen=True, kw_only=True, statement="network cut"):
    """Cut a link: messages wait and are resent after heal, unless one end has given up."""

    source: Host
    destination: Host
    one_way: OneWay = False


class HealLinks(Input, frozen=True, kw_only=True, statement="network heal"):
    """Restore one link, or all links."""

    source: Annotated[int | None, argument("HOST", "a host")] = None
    destination: Annotated[int | None, argument("HOST", "another")] = None
    one_way: OneWay = False


class DelayLink(Input, frozen=True, kw_only=True, statement="network delay"):
    """Add a delay to each message between two hosts."""

    source: Host
    destination: Host
    delay_us: Annotated[Natural, argument("D", "the delay of each message")]
    one_way: OneWay = False


class DropOnLink(Input, frozen=True, kw_only=True, statement="network drop"):
    """Lose messages between two hosts at random, as if the connection broke."""

    source: Host
    destination: Host
    percent: Annotated[
        float, Meta(ge=0, le=100), option("--percent", "PERCENT", "share of the messages to lose")
    ]
    one_way: OneWay = False


class IsolateBroker(Input, frozen=True, kw_only=True, statement="network isolate"):
    """Cut a broker off from every other broker and from ZooKeeper; clients still reach it."""

    broker: BrokerId


class HoldMessages(Input, frozen=True, kw_only=True, statement="network hold"):
    """Hold messages from the first host to the second, in order, until they are released."""

    source: Host
    destination: Host
    api: Annotated[
        str | None, option("--only", "API", f"{MESSAGE}: LeaderAndIsr, FetchResponse")
    ] = None


class ReleaseMessages(Input, frozen=True, kw_only=True, statement="network release"):
    """Deliver held messages, or drop them; without --count, the hold ends as well."""

    source: Host
    destination: Host
    count: Annotated[Count | None, option("--count", "N", "the first N", default="all")] = None
    lose: Annotated[bool, flag("--lose", "lose them instead")] = False
    api: Annotated[str | None, option("--only", "API", MESSAGE)] = None


class ZkCommand(Input, frozen=True, kw_only=True):
    """Execute a zkCli command.

    It prints times as in the time zone ``zone``, whose clocks are ``utc_offset_s`` ahead of UTC.
    """

    command: Literal["ls", "get", "stat", "create", "set", "delete", "watches"]
    path: str
    data: str | None = None
    version: int = -1
    ephemeral: bool = False
    sequential: bool = False
    recursive: bool = False
    with_stat: bool = False
    zone: str = "UTC"
    utc_offset_s: int = 0


class ExpireSession(Input, frozen=True, kw_only=True, statement="zk expire"):
    """Expire a broker's session immediately, or the session that 'zk create -e' uses."""

    broker: Host


class ElectPreferred(Input, frozen=True, kw_only=True, statement="election preferred"):
    """Elect preferred leaders (by writing /admin/preferred_replica_election, or ElectLeaders)."""

    partitions: Annotated[list[str], argument("TP", "all by default", many=True)] = []


class ElectUnclean(Input, frozen=True, kw_only=True, statement="election unclean"):
    """Elect a leader outside the ISR for an offline partition."""

    tp: TopicPartition


class AlterPartition(Input, frozen=True, kw_only=True, statement="alterpartition"):
    """Send the active controller an AlterPartitionRequest on behalf of a broker (KRaft)."""

    # Epochs are the actual ones plus these differences; those of the ISR's members are sent only
    # for the brokers in ``isr_epochs``.
    tp: TopicPartition
    broker: BrokerId
    isr: Annotated[list[int], argument("1,2,3", "the ISR")]
    leader_epoch: Annotated[
        int, option("--leader-epoch", "D", "difference from the true one", kind="difference")
    ] = 0
    partition_epoch: Annotated[
        int, option("--partition-epoch", "D", "difference from the true one", kind="difference")
    ] = 0
    broker_epoch: Annotated[
        int, option("--broker-epoch", "D", "difference from the true one", kind="difference")
    ] = 0
    isr_epochs: Annotated[
        dict[int, int],
        option(
            "--isr-epoch",
            "B:D",
            "name member B's broker epoch, with D added; may be repeated",
            many=True,
        ),
    ] = {}


class DescribeTopic(Input, frozen=True, kw_only=True, statement="describe"):
    """Print a topic's eligible leader replicas, as a broker reports them (KRaft)."""

    topic: TopicName


class Reassign(Input, frozen=True, kw_only=True):
    """Write /admin/reassign_partitions: reassign one partition to ``replicas``."""

    tp: str
    replicas: list[int]


class CancelReassignment(Input, frozen=True, kw_only=True):
    """Cancel an ongoing reassignment (2.4+)."""

    tp: str


class Wait(Input, frozen=True, kw_only=True):
    """Let virtual time pass."""

    duration_us: Natural


class WaitUntil(Input, frozen=True, kw_only=True):
    """Let virtual time pass until all clauses are true.

    Exceeding ``within_us`` fails the statement.
    """

    clauses: list[Clause]
    within_us: Natural = 60_000_000


class Settle(Input, frozen=True, kw_only=True, statement="settle"):
    """Wait until only idle traffic has happened for D; at most 20s."""

    quiet_us: Annotated[Natural, argument("D", "duration without other traffic; 1s by default")] = (
        1_000_000
    )


class Expect(Input, frozen=True, kw_only=True):
    """An assertion: recorded and counted."""

    clauses: list[Clause]


class ExpectError(Input, frozen=True, kw_only=True):
    """An assertion that the last statement ended in this Kafka error (``NONE``: in none)."""

    error: str


class ExpectEvents(Input, frozen=True, kw_only=True):
    """An assertion about past events, which the caller has evaluated.

    A cluster keeps no history, so ``passed`` is the caller's verdict, None if it has not been
    evaluated; ``actual`` describes what was found. ``patterns``, each given by its words, must
    occur in this order; a single one must occur ``times`` times (0: never; None: at least once).
    ``since`` is the bookmark after which they are searched for.
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


class InjectError(Input, frozen=True, kw_only=True, statement="inject"):
    """Inject a fault into the next requests of external clients (`tidegauge serve`).

    With ERROR they fail without being executed. Options select them: those of one client, of one
    broker, or about one topic or group. `show faults` and `fault.NAME.injected` count them.
    """

    api: Annotated[str, argument("API", "Produce, Fetch, JoinGroup, ..", kind="served API")]
    error: Annotated[str, argument("ERROR", "NOT_ENOUGH_REPLICAS, ..")] = ""
    drop: Annotated[bool, flag("--drop", "never handle them, nor later ones of the connection")] = (
        False
    )
    delay_us: Annotated[Natural, option("--delay", "D", "hold the responses back: 500ms")] = 0
    throttle_us: Annotated[
        Natural,
        option(
            "--throttle", "D", "tell clients that a quota is exceeded, and read no more so long"
        ),
    ] = 0
    close_after: Annotated[
        bool, flag("--close-after", "execute them, and close the connection without a response")
    ] = False
    times: Annotated[Count, option("--times", "N", "number of requests", default="1")] = 1
    after: Annotated[
        Natural, option("--after", "N", "let so many such requests pass first", default="0")
    ] = 0
    client: Annotated[str, option("--client", "ID", "only those with this client id")] = ""
    broker: Annotated[Natural | None, option("--broker", "ID", "only those to this broker")] = None
    topic: Annotated[str, option("--topic", "T", "only those that name this topic")] = ""
    partition: Annotated[
        Natural | None, option("--partition", "N", "only those about this partition of it")
    ] = None
    group: Annotated[str, option("--group", "G", "only those of this group")] = ""
    transactional_id: Annotated[
        str, option("--transactional-id", "ID", "only those of this transactional id")
    ] = ""
    name: Annotated[str, option("--name", "FAULT", "the fault's name", default="its number")] = ""

    @property
    def effect(self) -> str:
        """What becomes of the requests, in words of the statement."""
        delay = f"--delay {self.delay_us / 1_000:g}ms" if self.delay_us else ""
        throttle = f"--throttle {self.throttle_us / 1_000:g}ms" if self.throttle_us else ""
        drop, close = "--drop" if self.drop else "", "--close-after" if self.close_after else ""
        return " ".join(filter(None, (self.error, drop, delay, throttle, close)))


class AdvertiseListeners(Input, frozen=True, kw_only=True):
    """Set the addresses at which clients reach brokers (advertised.listeners).

    ``listeners`` has host and port of each broker; omitted brokers keep their address. ``name`` is
    that of the listener, ``bound`` where brokers listen (empty: at the same addresses), and
    ``protocol`` the listener's security protocol. ``users`` are those of the brokers' files with
    their passwords; others stay as they are.
    """

    listeners: dict[int, tuple[str, int]]
    name: str = "PLAINTEXT"
    bound: dict[int, tuple[str, int]] = {}
    protocol: str = "PLAINTEXT"
    users: dict[str, str] = {}


class OpenConnection(Input, frozen=True, kw_only=True):
    """An external client connects to a broker; ``connection`` is a unique number.

    ``address`` is the client's host and port, ``listener`` the name of the broker's listener.
    ``subject`` is the distinguished name in the certificate that it has shown (None: in none).
    """

    connection: Count
    broker: int
    address: str = ""
    listener: str = "PLAINTEXT"
    subject: str | None = None


class CloseConnection(Input, frozen=True, kw_only=True):
    """An external client's connection is closed, by either end.

    ``reason`` says why it was closed by the server; empty if the client disconnected.
    """

    connection: Count
    reason: str = ""


class ReceiveRequest(Input, frozen=True, kw_only=True):
    """A request of an external client, as received on a connection.

    ``frame`` is the whole request without its length prefix.
    """

    connection: Count
    frame: bytes


AnyInput = (
    CreateCluster
    | CreateTopic
    | AddPartitions
    | ConfigureTopic
    | ConfigureBroker
    | ConfigureGroup
    | DeleteTopic
    | Produce
    | BeginTransaction
    | ProduceInTransaction
    | CommitTransaction
    | AbortTransaction
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
"""The inputs of external clients, which are not statements."""


class Statement(Struct, frozen=True, array_like=True):
    """An input with the text and line (0: none) of its statement.

    ``expected_error`` is the error of the ``expect error`` that follows: ending in it is no
    failure.
    """

    input: AnyInput
    text: str
    line: int = 0
    expected_error: str = ""
