"""The image in ZooKeeper's znodes, however they were read."""

from collections.abc import Iterable, Iterator
from typing import Any, Final, TypeVar
from urllib.parse import unquote

from msgspec import Struct, field
from msgspec.structs import replace

from emulator.cluster_image.acls import entries_of
from emulator.cluster_image.image import (
    NO_RACK,
    Broker,
    ClientQuota,
    ClusterImage,
    CommittedOffset,
    Group,
    Partition,
    ScramUser,
    Topic,
    ZooKeeperController,
)
from emulator.common.acls import Acl
from emulator.zookeeper.acl_znodes import acls_in
from sessions.own_cluster.access import listeners_in, quota_values, scram_user
from sessions.own_cluster.content import json_of
from sessions.own_cluster.reading import FormatError
from sessions.text import clean

_IDS: Final = "/brokers/ids"
Value = TypeVar("Value")


class Znode(Struct, frozen=True):
    """A znode: its data, version, and the transaction that created it, if that is known."""

    path: str
    data: bytes | None
    version: int | None = None
    czxid: int | None = None


class _Id(Struct):
    rack: str | None = None
    host: str | None = None
    port: int | None = None
    endpoints: list[str] = []
    listener_security_protocol_map: dict[str, str] = {}


class _Assignment(Struct):
    partitions: dict[str, list[int]]
    topic_id: str | None = None
    adding_replicas: dict[str, list[int]] = {}
    removing_replicas: dict[str, list[int]] = {}


class _State(Struct):
    leader: int
    isr: list[int]
    leader_epoch: int
    controller_epoch: int = 0
    leader_recovery_state: int = 0


class _Config(Struct):
    config: dict[str, Any] = {}


class _Controller(Struct):
    brokerid: int


class _ClusterId(Struct):
    id: str


class _Producers(Struct):
    block_end: int | str


class _Contents(Struct):
    brokers: dict[int, Broker] = field(default_factory=dict)
    topics: dict[str, _Assignment] = field(default_factory=dict)
    states: dict[tuple[str, int], tuple[_State, int | None]] = field(default_factory=dict)
    topic_configs: dict[str, dict[str, str]] = field(default_factory=dict)
    broker_configs: dict[str, dict[str, str]] = field(default_factory=dict)
    deleting: set[str] = field(default_factory=set)
    offsets: dict[str, list[CommittedOffset]] = field(default_factory=dict)
    controller: int | None = None
    epoch: int | None = None
    epoch_version: int | None = None
    cluster_id: str | None = None
    next_producer_id: int | None = None
    acls: list[Acl] = field(default_factory=list)
    users: list[ScramUser] = field(default_factory=list)
    quotas: list[ClientQuota] = field(default_factory=list)


def image_of(znodes: Iterable[Znode]) -> ClusterImage:
    """Return the image in znodes; Kafka's may be below a chroot such as ``/kafka``.

    Raises:
        FormatError: there is no Kafka in them, or more than one, or a znode's data is damaged.
    """
    listed = list(znodes)
    chroots = sorted(znode.path.removesuffix(_IDS) for znode in listed if znode.path.endswith(_IDS))
    if len(chroots) > 1:
        names = ", ".join(clean(chroot or "/") for chroot in chroots)
        raise FormatError(
            f"has {len(chroots)} clusters of Kafka ({names}); wanted is a dump of one"
        )
    chroot = chroots[0] if chroots else ""
    contents = _Contents()
    for znode in listed:
        if znode.path.startswith(chroot):
            _take(contents, znode, znode.path.removeprefix(chroot))
    if not contents.brokers and not contents.topics:
        raise FormatError("has no brokers or topics of Kafka")
    return _image(contents)


def _take(contents: _Contents, znode: Znode, path: str) -> None:
    match path.split("/"):
        case ["", "brokers", "ids", broker]:
            _take_broker(contents, znode, _number(znode, broker))
        case ["", "brokers", "topics", topic]:
            if znode.data:
                contents.topics[topic] = _decoded(znode, _Assignment)
        case ["", "brokers", "topics", topic, "partitions", number, "state"]:
            state = _decoded(znode, _State)
            contents.states[topic, _number(znode, number)] = state, znode.version
        case ["", "config", *config_path]:
            _take_configs(contents, znode, config_path)
        case ["", "admin", "delete_topics", topic]:
            contents.deleting.add(topic)
        case ["", "consumers", group, "offsets", topic, number]:
            offset = _number(znode, (znode.data or b"").decode("utf-8", "replace"))
            committed = CommittedOffset(topic, _number(znode, number), offset)
            contents.offsets.setdefault(group, []).append(committed)
        case ["", "kafka-acl", _, _] | ["", "kafka-acl-extended", "prefixed", _, _]:
            contents.acls += acls_in(path, (znode.data or b"").decode("utf-8", "replace"))
        case _:
            _take_single(contents, znode, path)


def _take_broker(contents: _Contents, znode: Znode, broker: int) -> None:
    registration = _decoded(znode, _Id)
    listeners = listeners_in(registration.endpoints, registration.listener_security_protocol_map)
    first = listeners[0] if listeners and registration.host is None else registration
    contents.brokers[broker] = Broker(
        broker,
        rack=registration.rack or NO_RACK,
        up=True,
        epoch=znode.czxid,
        host=first.host,
        port=first.port,
        listeners=listeners,
    )


def _take_configs(contents: _Contents, znode: Znode, config_path: list[str]) -> None:
    """Configurations, SCRAM credentials and quotas.

    Names of users and clients are encoded as in URLs (``Sanitizer``).
    """
    match [unquote(name) for name in config_path]:
        case ["topics", topic]:
            contents.topic_configs[topic] = _config(znode)
        case ["brokers", broker]:
            contents.broker_configs[broker] = _config(znode)
        case ["users", user]:
            contents.users.append(scram_user(user, _config(znode)))
            contents.quotas.append(ClientQuota(user=user, values=quota_values(_config(znode))))
        case ["users", user, "clients", client]:
            values = quota_values(_config(znode))
            contents.quotas.append(ClientQuota(user=user, client_id=client, values=values))
        case ["clients", client]:
            values = quota_values(_config(znode))
            contents.quotas.append(ClientQuota(client_id=client, values=values))
        case ["ips", ip]:
            contents.quotas.append(ClientQuota(ip=ip, values=quota_values(_config(znode))))


def _take_single(contents: _Contents, znode: Znode, path: str) -> None:
    if not znode.data:
        return
    match path:
        case "/controller":
            contents.controller = _decoded(znode, _Controller).brokerid
        case "/controller_epoch":
            contents.epoch = _number(znode, znode.data.decode("utf-8", "replace"))
            contents.epoch_version = znode.version
        case "/cluster/id":
            contents.cluster_id = _decoded(znode, _ClusterId).id
        case "/latest_producer_id_block":
            contents.next_producer_id = int(_decoded(znode, _Producers).block_end) + 1


def _image(contents: _Contents) -> ClusterImage:
    topics = tuple(_topic(contents, name) for name in contents.topics)
    brokers = dict(contents.brokers)
    for topic in topics:
        for partition in topic.partitions:
            for broker in partition.replicas:
                brokers.setdefault(broker, Broker(broker, up=False))
    return ClusterImage(
        mode="zk",
        cluster_id=contents.cluster_id,
        controller=ZooKeeperController(
            -1 if contents.controller is None else contents.controller,
            contents.epoch,
            contents.epoch_version,
        ),
        configs=contents.broker_configs.get("<default>", {}),
        next_producer_id=contents.next_producer_id,
        acls=entries_of(contents.acls),
        users=tuple(user for user in contents.users if user.iterations),
        quotas=tuple(quota for quota in contents.quotas if quota.values),
        brokers=tuple(
            replace(broker, configs=contents.broker_configs.get(str(number), {}))
            for number, broker in brokers.items()
        ),
        topics=topics,
        groups=tuple(
            Group(name, offsets=tuple(offsets)) for name, offsets in contents.offsets.items()
        ),
    )


def _topic(contents: _Contents, name: str) -> Topic:
    assignment = contents.topics[name]
    return Topic(
        name,
        id=assignment.topic_id,
        configs=contents.topic_configs.get(name, {}),
        deleting=name in contents.deleting,
        partitions=tuple(_partitions(contents, name, assignment)),
    )


def _partitions(contents: _Contents, topic: str, assignment: _Assignment) -> Iterator[Partition]:
    for number, replicas in assignment.partitions.items():
        if not number.isdecimal():
            raise FormatError(
                f"is damaged: /brokers/topics/{clean(topic)} names a partition {number!r}"
            )
        state, version = contents.states.get((topic, int(number)), (None, None))
        adding = assignment.adding_replicas.get(number, [])
        removing = assignment.removing_replicas.get(number, [])
        partition = Partition(
            int(number), tuple(replicas), adding=tuple(adding), removing=tuple(removing)
        )
        if state is not None:
            partition = replace(
                partition,
                leader=state.leader,
                isr=tuple(state.isr),
                leader_epoch=state.leader_epoch,
                partition_epoch=version,
                controller_epoch=state.controller_epoch,
                recovering=bool(state.leader_recovery_state),
            )
        yield partition


def _config(znode: Znode) -> dict[str, str]:
    if not znode.data:
        return {}
    values = _decoded(znode, _Config).config
    return {name: str(value) for name, value in values.items()}


def _decoded(znode: Znode, kind: type[Value]) -> Value:
    try:
        return json_of(znode.data or b"", kind)
    except FormatError as error:
        raise FormatError(f"is damaged: the znode {clean(znode.path)} {error}") from error


def _number(znode: Znode, word: str) -> int:
    if word.isdecimal() and len(word) <= 19:  # noqa: PLR2004 - digits of a 64-bit number
        return int(word)
    raise FormatError(f"is damaged: the znode {clean(znode.path)} has no number where one belongs")
