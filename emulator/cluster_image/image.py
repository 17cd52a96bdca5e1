"""The state of a cluster at one moment, as plain data without history.

What is not known is None, or absent from a dict: no value is invented here. What a cluster needs to
start and the image does not know is assumed by :func:`emulator.cluster_image.assumptions.complete`.
An empty tuple, dict or text is knowledge: a partition with ``elr=()`` has an empty ELR, a broker
with ``rack=""`` has no rack.

Offsets count records, sizes are bytes. Replicas are in the order of the assignment; the ISR, ELR
and the replicas being added or removed are in the order in which the cluster keeps them.
"""

from typing import Final, Literal

from msgspec import Struct

Mode = Literal["kraft", "zk"]
"""Whether the metadata is kept by a controller quorum or in ZooKeeper."""
Brokers = tuple[int, ...]

NO_LEADER: Final = -1
"""The leader of a partition that has none."""
NO_RACK: Final = ""
"""The rack of a broker without ``broker.rack``."""
DEFAULT: Final = "<default>"
"""The name of all users, client ids or addresses that have no quota of their own."""


class Listener(Struct, frozen=True, omit_defaults=True):
    """Where a broker tells its clients to connect; ``protocol`` is such as ``SASL_SSL``."""

    name: str
    host: str | None = None
    port: int | None = None
    protocol: str | None = None


class Broker(Struct, frozen=True, omit_defaults=True):
    """A broker, whether it runs or not.

    ``up``: whether its process runs, as far as the cluster knows: its session has not expired.
    ``fenced`` and ``in_controlled_shutdown`` are those of its registration in KRaft mode.
    ``epoch`` is the broker epoch: an offset of the metadata log, or the czxid of its znode.
    ``host`` and ``port`` are those of its first listener; ``listeners`` has all that it advertises,
    in its order. ``log_dirs`` are paths, in the order in which the broker reported them;
    ``directories`` are their ids in KRaft mode (KIP-858).
    ``configs`` were set dynamically, ``static_configs`` in ``server.properties``; both are this
    broker's own.
    """

    id: int
    rack: str | None = None
    up: bool | None = None
    fenced: bool | None = None
    in_controlled_shutdown: bool | None = None
    epoch: int | None = None
    incarnation_id: str | None = None
    host: str | None = None
    port: int | None = None
    listeners: tuple[Listener, ...] | None = None
    log_dirs: tuple[str, ...] | None = None
    directories: tuple[str, ...] | None = None
    configs: dict[str, str] | None = None
    static_configs: dict[str, str] | None = None


class Controller(Struct, frozen=True, omit_defaults=True):
    """A node of the controller quorum in KRaft mode.

    ``voter``: whether it votes; without it, the node is an observer that could become a voter.
    ``directory_id`` identifies the voter's disk in a dynamic quorum (KIP-853).
    """

    id: int
    up: bool | None = None
    voter: bool | None = None
    directory_id: str | None = None
    incarnation_id: str | None = None
    host: str | None = None
    port: int | None = None


class Quorum(Struct, frozen=True, omit_defaults=True):
    """The controller quorum and the end of its log.

    ``leader`` is the active controller, -1 if there is none; ``epoch`` is the leader's.
    ``offset`` is the offset of the last committed record of the metadata log that is known.
    ``controllers`` are sorted by id.
    """

    leader: int | None = None
    epoch: int | None = None
    offset: int | None = None
    controllers: tuple[Controller, ...] = ()


class ZooKeeperController(Struct, frozen=True, omit_defaults=True):
    """The controller in ZooKeeper mode: a broker's id (-1: none) and ``/controller_epoch``.

    ``epoch_version`` is the version of that znode, with which the controller fences its writes.
    """

    broker: int | None = None
    epoch: int | None = None
    epoch_version: int | None = None


class ReplicaLog(Struct, frozen=True, omit_defaults=True, gc=False):
    """A replica's log on one broker.

    ``lag`` is how many records its end is behind the partition's high watermark, as
    DescribeLogDirs says; ``end`` is its log end offset. A ``future`` log is being copied to another
    directory of the same broker.
    """

    broker: int
    size: int | None = None
    lag: int | None = None
    start: int | None = None
    end: int | None = None
    log_dir: str | None = None
    future: bool = False


class Partition(Struct, frozen=True, omit_defaults=True):
    """A partition.

    ``replicas`` is empty if no source knows the placement. ``leader`` is -1 if there is none.
    ``isr`` is empty while the partition has no leader and nobody in sync (KRaft with ELR).
    ``partition_epoch`` is the version of the state znode in ZooKeeper mode; ``controller_epoch``
    exists only there. ``recovering``: elected uncleanly, and not recovered since (KIP-704).
    ``directories`` are the ids of the replicas' directories, in the order of ``replicas``.
    ``log_start`` and ``log_end`` are the leader's offsets, ``high_watermark`` is the partition's;
    ``logs`` are sorted by broker.
    """

    partition: int
    replicas: Brokers = ()
    leader: int | None = None
    isr: Brokers | None = None
    elr: Brokers | None = None
    last_known_elr: Brokers | None = None
    leader_epoch: int | None = None
    partition_epoch: int | None = None
    controller_epoch: int | None = None
    recovering: bool | None = None
    adding: Brokers | None = None
    removing: Brokers | None = None
    directories: tuple[str, ...] | None = None
    log_start: int | None = None
    log_end: int | None = None
    high_watermark: int | None = None
    logs: tuple[ReplicaLog, ...] = ()


class Topic(Struct, frozen=True, omit_defaults=True):
    """A topic with its partitions, which are sorted by number.

    ``configs`` are those that differ from the brokers' defaults. ``deleting``: its deletion was
    requested and is not complete. ``replication_factor`` is intended; it matters only for
    partitions whose placement is unknown.
    """

    name: str
    id: str | None = None
    replication_factor: int | None = None
    configs: dict[str, str] | None = None
    deleting: bool | None = None
    partitions: tuple[Partition, ...] = ()


class CommittedOffset(Struct, frozen=True, omit_defaults=True, gc=False):
    """A group's committed offset of a partition, and the member that reads it, if there is one.

    An ``offset`` of None means that the member reads the partition and nothing was committed.
    """

    topic: str
    partition: int
    offset: int | None = None
    leader_epoch: int | None = None
    metadata: str | None = None
    member: str | None = None


class Member(Struct, frozen=True, omit_defaults=True):
    """A member of a group."""

    id: str
    client_id: str | None = None
    host: str | None = None
    instance_id: str | None = None


class Group(Struct, frozen=True, omit_defaults=True):
    """A group of consumers and its committed offsets, sorted by topic and partition.

    ``type`` is Kafka's: Classic, Consumer, Share, Streams; ``state`` such as Stable or Empty.
    """

    id: str
    type: str | None = None
    state: str | None = None
    coordinator: int | None = None
    configs: dict[str, str] | None = None
    members: tuple[Member, ...] = ()
    offsets: tuple[CommittedOffset, ...] = ()


class AclEntry(Struct, frozen=True, omit_defaults=True):
    """An access control entry, in the words of ``kafka-acls``: ``ALLOW``, ``READ``, ``TOPIC``."""

    permission: str
    principal: str
    operation: str
    resource_type: str
    resource: str
    pattern: str = "LITERAL"
    host: str = "*"


class ScramUser(Struct, frozen=True, omit_defaults=True):
    """A user who can authenticate by SCRAM: the iterations of the credential, by mechanism.

    Salts and keys are secrets, and no part of an image.
    """

    name: str
    iterations: dict[str, int] = {}


class ClientQuota(Struct, frozen=True, omit_defaults=True):
    """The quotas of a user, a client id, both together, or an address; the others are empty.

    :data:`DEFAULT` stands for all who have none of their own. ``values`` are by Kafka's names:
    bytes a second, percent of a thread's time, changes or connections a second.
    """

    user: str = ""
    client_id: str = ""
    ip: str = ""
    values: dict[str, float] = {}


class ClusterImage(Struct, frozen=True, omit_defaults=True):
    """A cluster: what is known of it at one moment.

    ``release`` is a release of Kafka or a prefix of one, such as ``4.1``. ``configs`` were set
    dynamically for all brokers, ``static_configs`` stand in every broker's ``server.properties``.
    ``features`` are finalized levels. ``next_producer_id`` is the first id that no broker has been
    given. ``acls`` matter where brokers have an authorizer. Everything is sorted: brokers by id,
    topics, groups and users by name.
    """

    release: str | None = None
    mode: Mode | None = None
    cluster_id: str | None = None
    quorum: Quorum | None = None
    controller: ZooKeeperController | None = None
    features: dict[str, int] | None = None
    configs: dict[str, str] | None = None
    static_configs: dict[str, str] | None = None
    next_producer_id: int | None = None
    acls: tuple[AclEntry, ...] = ()
    users: tuple[ScramUser, ...] = ()
    quotas: tuple[ClientQuota, ...] = ()
    brokers: tuple[Broker, ...] = ()
    topics: tuple[Topic, ...] = ()
    groups: tuple[Group, ...] = ()

    def broker(self, broker: int) -> Broker | None:
        return next((candidate for candidate in self.brokers if candidate.id == broker), None)

    def topic(self, name: str) -> Topic | None:
        return next((topic for topic in self.topics if topic.name == name), None)

    def partition(self, topic: str, partition: int) -> Partition | None:
        """Return a partition by topic name and number."""
        of_topic = self.topic(topic)
        numbered = of_topic.partitions if of_topic else ()
        return next((candidate for candidate in numbered if candidate.partition == partition), None)

    @property
    def partition_count(self) -> int:
        return sum(len(topic.partitions) for topic in self.topics)
