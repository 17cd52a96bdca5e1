"""All inputs of a cluster, as plain data.

A statement of the command language becomes one of these structs; the cluster executes them, a
session file stores them, and executing them again yields the same events. Durations are in
microseconds of virtual time; ``tp`` is a topic-partition written ``orders-0``.
"""

from collections.abc import Mapping
from typing import Annotated, Literal

from msgspec import Meta, Struct

from emulator.cluster_image.assumptions import known_brokers
from emulator.cluster_image.image import ClusterImage
from emulator.inputs.conditions import Clause

Count = Annotated[int, Meta(ge=1)]
Natural = Annotated[int, Meta(ge=0)]
Acks = Literal[-1, 0, 1]


class Input(Struct, frozen=True, tag=True, tag_field="input", omit_defaults=True, kw_only=True):
    """The base of all inputs."""


class CreateCluster(Input, frozen=True, kw_only=True):
    """Create a cluster: brokers ``first_id ..`` of release ``version``.

    ``racks`` and ``hosts`` are empty or have one name per broker. ``latency_us`` is the latency of
    a normal link; None means that of a data centre, with clients some milliseconds away. An empty
    ``mode`` is the release's default; in KRaft mode there are ``controllers`` with the ids 100,
    101, .. and the finalized ``features`` with which the release formats a cluster, whose levels
    these override. ``zxid`` is ZooKeeper's last transaction before the cluster's first one;
    ``zookeeper_session`` is the id of its first session (0: one made of its start time).

    A cluster with an ``image`` starts in that state: then the brokers and controllers, racks, hosts
    and features are the image's, and ``config`` overrides the configurations of its brokers' files.
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
    zxid: Annotated[int, Meta(ge=0, le=(1 << 63) - 1)] = 1 << 32
    zookeeper_session: Annotated[int, Meta(ge=0, le=(1 << 63) - 1)] = 0
    image: ClusterImage | None = None

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


class DeleteTopic(Input, frozen=True, kw_only=True):
    """Delete a topic."""

    topic: str


class Produce(Input, frozen=True, kw_only=True):
    """Send ``count`` records, ``batch`` per request, each after the previous response.

    ``partition``, ``acks``, ``retries`` None: the partitioner's choice, the release's defaults.
    ``in_flight`` is the number of concurrent requests. ``every_us`` is the interval between the
    starts of two requests. ``background`` returns at once. ``strict_retries``: every retry counts,
    whereas by default errors which only show that the leader is elsewhere are free for 3 s.
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

    With a group the consumer is a member of it, until it leaves as given by ``then`` (cleanly, or
    by crashing); ``from_beginning``: a position out of range is reset to the log start. ``rack`` is
    the consumer's rack (KIP-392): a leader may redirect it to a replica there.

    With ``timeout_us`` the consumer waits for more until no record has arrived for that time. Its
    fetches wait at the broker for ``min_bytes`` of records, at most for ``max_wait_us`` (None: the
    release's fetch.min.bytes and fetch.max.wait.ms). ``from_timestamp_us`` starts at the first
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
    """Run ``times`` complete fetch rounds of follower ``broker``."""

    tp: str
    broker: int
    times: Count = 1


class Tick(Input, frozen=True, kw_only=True):
    """Run one periodic task now, on one broker or (None) on all that are running."""

    task: Literal["isr", "checkpoint", "rebalance"]
    broker: int | None = None


class PauseReplica(Input, frozen=True, kw_only=True):
    """Pause follower ``broker``'s fetching of ``tp``; its messages in flight are dropped."""

    tp: str
    broker: int


class ResumeReplica(Input, frozen=True, kw_only=True):
    """Resume follower ``broker``'s fetching of ``tp``."""

    tp: str
    broker: int


class StopBroker(Input, frozen=True, kw_only=True):
    """Shut a broker down cleanly; done when the process has ended, with ``wait`` False at once."""

    broker: int
    wait: bool = True


class CrashBroker(Input, frozen=True, kw_only=True):
    """Kill the process.

    With ``lose_unflushed`` it is a power loss: only data flushed to disk survives.
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
    """Freeze a broker's process while everything else continues."""

    broker: int


class ThawBroker(Input, frozen=True, kw_only=True):
    """Thaw a frozen process."""

    broker: int


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


class CutLink(Input, frozen=True, kw_only=True):
    """Partition the link between two hosts, in both directions unless ``one_way``."""

    source: int
    destination: int
    one_way: bool = False


class HealLinks(Input, frozen=True, kw_only=True):
    """Remove the faults of one link, or (both None) of all links."""

    source: int | None = None
    destination: int | None = None
    one_way: bool = False


class DelayLink(Input, frozen=True, kw_only=True):
    """Delay each message between two hosts, in both directions unless ``one_way``."""

    source: int
    destination: int
    delay_us: Natural
    one_way: bool = False


class DropOnLink(Input, frozen=True, kw_only=True):
    """Drop messages between two hosts with a probability, in both directions unless ``one_way``."""

    source: int
    destination: int
    percent: Annotated[float, Meta(ge=0, le=100)]
    one_way: bool = False


class IsolateBroker(Input, frozen=True, kw_only=True):
    """Partition a broker from all other brokers and from ZooKeeper; clients still reach it."""

    broker: int


class HoldMessages(Input, frozen=True, kw_only=True):
    """Hold messages from ``source`` to ``destination``; with ``api`` only those of that name."""

    source: int
    destination: int
    api: str | None = None


class ReleaseMessages(Input, frozen=True, kw_only=True):
    """Release or drop the first ``count`` held messages; None: all, and stop holding.

    With ``api`` only those of that name.
    """

    source: int
    destination: int
    count: Count | None = None
    lose: bool = False
    api: str | None = None


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


class ExpireSession(Input, frozen=True, kw_only=True):
    """Expire a ZooKeeper session at once: a broker's, or (``CLIENTS``) that of zkCli."""

    broker: int


class ElectPreferred(Input, frozen=True, kw_only=True):
    """Write /admin/preferred_replica_election for the partitions (empty: all)."""

    partitions: list[str] = []


class ElectUnclean(Input, frozen=True, kw_only=True):
    """Elect a leader outside the ISR for one offline partition (ElectLeaders, 2.4+)."""

    tp: str


class AlterPartition(Input, frozen=True, kw_only=True):
    """Send the active controller an AlterPartitionRequest as ``broker`` (KRaft).

    Epochs are the actual ones plus these differences; those of ISR members are sent only for the
    brokers in ``isr_epochs``.
    """

    tp: str
    broker: int
    isr: list[int]
    leader_epoch: int = 0
    partition_epoch: int = 0
    broker_epoch: int = 0
    isr_epochs: dict[int, int] = {}


class DescribeTopic(Input, frozen=True, kw_only=True):
    """Request a topic's eligible leader replicas from a broker (DescribeTopicPartitions, KRaft)."""

    topic: str


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


class Settle(Input, frozen=True, kw_only=True):
    """Let time pass until there was only idle traffic for ``quiet_us``; at most 20 s."""

    quiet_us: Natural = 1_000_000


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


class InjectError(Input, frozen=True, kw_only=True):
    """Fail the next ``times`` requests of external clients to an API with an error."""

    api: str
    error: str
    times: Count = 1


class AdvertiseListeners(Input, frozen=True, kw_only=True):
    """Set the addresses at which clients reach brokers (advertised.listeners).

    ``listeners`` has host and port of each broker; omitted brokers keep their address.
    """

    listeners: dict[int, tuple[str, int]]


class OpenConnection(Input, frozen=True, kw_only=True):
    """An external client connects to a broker; ``connection`` is a unique number.

    ``address`` is the client's host and port.
    """

    connection: Count
    broker: int
    address: str = ""


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
