"""Every znode of Kafka: its path, and its JSON, written and read.

A format that changed between releases is written in the format of ``profile``, with the fields in
the order in which that release prints them. Readers accept fields in any order and ignore unknown
ones, as Kafka does.

**Reading never raises.** A znode can contain anything, so each function named ``..._in`` returns
None for malformed content: text that is not JSON, JSON of an unexpected structure, a number that is
not a Java ``Int``. Kafka distinguishes two cases. Text that is not JSON counts as no data
(``Json.parseBytes`` returns None); JSON of the wrong structure throws, which the controller's event
thread logs before it continues with its next event. Here both are None, and the callers document
the consequences. Source: ``ZkData.scala`` 1.1 to 3.9, ``ZkUtils.scala`` 0.8.2 to 1.0.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Annotated, Any, Final, TypeVar

import msgspec
from msgspec import Meta, Struct

from emulator.common.names import random_uuid, split
from emulator.releases.config import Endpoint
from emulator.releases.profiles import Profile

# ---- paths

CONTROLLER: Final = "/controller"
CONTROLLER_EPOCH: Final = "/controller_epoch"
CLUSTER: Final = "/cluster"
CLUSTER_ID: Final = "/cluster/id"
BROKERS: Final = "/brokers"
BROKER_IDS: Final = "/brokers/ids"
BROKER_ID_SEQUENCE: Final = "/brokers/seqid"
TOPICS: Final = "/brokers/topics"
ADMIN: Final = "/admin"
DELETE_TOPICS: Final = "/admin/delete_topics"
PREFERRED_ELECTION: Final = "/admin/preferred_replica_election"
REASSIGN_PARTITIONS: Final = "/admin/reassign_partitions"
CONFIG: Final = "/config"
CONFIG_CHANGES: Final = "/config/changes"
CONFIG_CHANGE: Final = "/config/changes/config_change_"
TOPIC_CONFIGS: Final = "/config/topics"
BROKER_CONFIGS: Final = "/config/brokers"
ALL_BROKERS: Final = "<default>"
"""The name of the configuration that holds for all brokers (``ConfigEntityName.Default``)."""
CLIENT_CONFIGS: Final = "/config/clients"
USER_CONFIGS: Final = "/config/users"
IP_CONFIGS: Final = "/config/ips"
ISR_CHANGES: Final = "/isr_change_notification"
ISR_CHANGE: Final = "/isr_change_notification/isr_change_"
LOG_DIR_EVENTS: Final = "/log_dir_event_notification"
PRODUCER_IDS: Final = "/latest_producer_id_block"
CONSUMERS: Final = "/consumers"
FEATURE: Final = "/feature"


def broker_path(broker: int) -> str:
    """The path of a broker's registration."""
    return f"{BROKER_IDS}/{broker}"


def topic_path(topic: str) -> str:
    """The path of a topic's assignment."""
    return f"{TOPICS}/{topic}"


def partitions_path(topic: str) -> str:
    """The parent path of a topic's partitions."""
    return f"{TOPICS}/{topic}/partitions"


def partition_path(tp: str) -> str:
    """The path of a partition's znode, which contains only the state znode."""
    topic, number = split(tp)
    return f"{TOPICS}/{topic}/partitions/{number}"


def state_path(tp: str) -> str:
    """The path of a partition's state znode."""
    topic, number = split(tp)
    return f"{TOPICS}/{topic}/partitions/{number}/state"


def topic_config_path(topic: str) -> str:
    """The path of a topic's configuration."""
    return f"{TOPIC_CONFIGS}/{topic}"


def broker_config_path(broker: int | None) -> str:
    """The path of a broker's own configuration (1.1+), or None for that of all brokers."""
    return f"{BROKER_CONFIGS}/{ALL_BROKERS if broker is None else broker}"


def delete_topic_path(topic: str) -> str:
    """The path that requests the deletion of a topic."""
    return f"{DELETE_TOPICS}/{topic}"


def topic_of(path: str) -> str | None:
    """The topic whose assignment is at ``path``; None if it is no such path."""
    above, _, name = path.rpartition("/")
    return name if above == TOPICS else None


_STATE_PATH: Final = re.compile(
    rf"{TOPICS}/([^/]*)/partitions/(0|[1-9][0-9]{{0,9}})/state"
).fullmatch


def partition_of(path: str) -> str | None:
    """The partition whose state is at ``path``; None if it is no such path."""
    match = _STATE_PATH(path)
    return None if match is None or int(match[2]) > INT_MAX else f"{match[1]}-{match[2]}"


# ---- numbers and JSON

INT_MIN: Final = -(1 << 31)
INT_MAX: Final = (1 << 31) - 1
_INT_DIGITS: Final = 11
"""The maximum length of a Java ``Int`` in decimal, including its sign."""

Int = Annotated[int, Meta(ge=INT_MIN, le=INT_MAX)]
"""A Java ``Int``: the only numbers that Kafka reads as an id, an epoch or a version."""

_T = TypeVar("_T")


def compact(value: object) -> str:
    """JSON without spaces, fields in the given order, non-ASCII unescaped (like Jackson)."""
    return msgspec.json.encode(value).decode()


def _reader(kind: type[_T]) -> Callable[[str | None], _T | None]:
    """A function that reads JSON of one structure; None if ``data`` is anything else."""
    decode = msgspec.json.Decoder(kind).decode

    def read(data: str | None) -> _T | None:
        if data is None:
            return None
        try:
            return decode(data)
        except (msgspec.MsgspecError, UnicodeError, RecursionError):
            return None

    return read


def number_in(text: str | None) -> int | None:
    """A plain decimal number (a broker id, a partition number); None if it is not one.

    Only Kafka's own spelling is accepted: no sign, no leading zero.
    """
    if text is None:
        return None
    try:
        number = int(text)
    except ValueError:
        return None
    return number if 0 <= number <= INT_MAX and str(number) == text else None


def following(number: int) -> int:
    """``number + 1`` with Java's overflow: the largest ``Int`` is followed by the smallest."""
    return INT_MIN if number >= INT_MAX else number + 1


# ---- /controller and /controller_epoch


class _ControllerJson(Struct):
    brokerid: Int


_controller = _reader(_ControllerJson)


def controller_json(profile: Profile, broker: int, timestamp_ms: int) -> str:
    """The content of /controller."""
    data: dict[str, object] = {"version": 1, "brokerid": broker, "timestamp": str(timestamp_ms)}
    if profile.has("kraft_controller_epoch"):
        data = {**data, "version": 2, "kraftControllerEpoch": -1}
    return compact(data)


def controller_in(data: str | None) -> int | None:
    """The broker in /controller."""
    controller = _controller(data)
    return None if controller is None else controller.brokerid


def controller_epoch_in(data: str | None) -> int | None:
    """The number in /controller_epoch, which is not JSON.

    Kafka throws if it is malformed (``ControllerEpochZNode.decode``), so no broker can become
    controller until the znode is repaired.
    """
    if data is None or len(data) > _INT_DIGITS or not data.isascii():
        return None
    digits = data[1:] if data[:1] in ("-", "+") else data
    if not digits.isdecimal():
        return None
    number = int(data)
    return number if INT_MIN <= number <= INT_MAX else None


# ---- /brokers/ids/N and /cluster/id


PLAINTEXT: Final = "PLAINTEXT"


class _BrokerJson(Struct):
    version: Annotated[int, Meta(ge=1, le=INT_MAX)]
    host: str | None = None
    port: Int | None = None
    endpoints: list[str] | None = None


_broker = _reader(_BrokerJson)


def broker_json(
    profile: Profile,
    broker: int,
    host: str,
    rack: str | None,
    timestamp_ms: int,
    endpoints: Sequence[Endpoint] = (),
) -> str:
    """The content of /brokers/ids/N (``BrokerIdZNode``).

    Kafka puts the fields in a Scala map, so their order is that of the map's class: an immutable
    ``HashMap`` up to 0.10.0, then a mutable one, whose order is another from Scala 2.13 on.
    """
    endpoints = endpoints or [Endpoint(PLAINTEXT, host, 9092 + broker, PLAINTEXT)]
    plain = next((endpoint for endpoint in endpoints if endpoint.protocol == PLAINTEXT), None)
    version = 1
    fields: dict[str, object] = {
        "jmx_port": -1,
        "timestamp": str(timestamp_ms),
        "host": plain.host if plain else None,
        "port": plain.port if plain else -1,
    }
    if profile.has("broker_endpoints"):
        version = 2
        fields["endpoints"] = [
            f"{endpoint.name}://{endpoint.host}:{endpoint.port}" for endpoint in endpoints
        ]
    if profile.has("broker_rack"):
        version = 3
        if rack is not None:
            fields["rack"] = rack
    order: tuple[str, ...] = _IMMUTABLE_MAP_ORDER
    if profile.has("listener_protocol_map"):
        version = 4
        fields["listener_security_protocol_map"] = {
            endpoint.name: endpoint.protocol for endpoint in endpoints
        }
        in_scala_2_13 = profile.has("registrations_by_scala_2_13")
        order = _SCALA_2_13_MAP_ORDER if in_scala_2_13 else _MUTABLE_MAP_ORDER
    if profile.has("finalized_features"):
        version = 5
        fields["features"] = {}
    fields["version"] = version
    return compact({name: fields[name] for name in order if name in fields})


_IMMUTABLE_MAP_ORDER: Final = (
    *("jmx_port", "timestamp", "endpoints", "host", "version", "port", "rack"),
)
_MUTABLE_MAP_ORDER: Final = (
    *("listener_security_protocol_map", "endpoints", "rack", "jmx_port", "host"),
    *("timestamp", "port", "version"),
)
_SCALA_2_13_MAP_ORDER: Final = (
    *("features", "listener_security_protocol_map", "endpoints", "rack", "jmx_port", "port"),
    *("host", "version", "timestamp"),
)


def is_broker(data: str | None) -> bool:
    """Whether a registration is valid: it contains the broker's address.

    Kafka throws if it does not (``BrokerIdZNode.decode``).
    """
    broker = _broker(data)
    if broker is None:
        return False
    return broker.endpoints is not None or (broker.host is not None and broker.port is not None)


def cluster_id_json(cluster_id: str) -> str:
    """The content of /cluster/id (0.10.1+)."""
    return compact({"version": "1", "id": cluster_id})


class _ClusterIdJson(Struct):
    id: str


_cluster_id = _reader(_ClusterIdJson)


def cluster_id_in(data: str | None) -> str:
    """The cluster id in /cluster/id; empty if there is none."""
    cluster_id = _cluster_id(data)
    return "" if cluster_id is None else cluster_id.id


# ---- topics


class TopicAssignment(Struct):
    """The content of a topic's znode: each partition's replicas, by number.

    ``adding`` and ``removing`` belong to a reassignment in progress (2.4+, KIP-455). ``text`` is
    the whole JSON, so that a rewrite preserves unknown fields.
    """

    replicas: dict[int, list[int]]
    adding: dict[int, list[int]]
    removing: dict[int, list[int]]
    topic_id: str
    text: str


_Number = Annotated[int, Meta(ge=0, le=INT_MAX)]


class _TopicJson(Struct):
    partitions: dict[_Number, list[Int]]
    adding_replicas: dict[_Number, list[Int]] = {}
    removing_replicas: dict[_Number, list[Int]] = {}
    topic_id: str = ""


_topic = _reader(_TopicJson)


def new_topic_json(
    profile: Profile, lists: list[list[int]], random_below: Callable[[int], int]
) -> tuple[str, str]:
    """A new topic's znode, from 2.8 on with a topic id, and the id (empty before)."""
    topic_id = random_uuid(random_below) if profile.has("topic_ids") else ""
    return topic_json(profile, lists, topic_id), topic_id


def topic_json(profile: Profile, lists: Sequence[Sequence[int]], topic_id: str) -> str:
    """A new topic's znode; ``topic_id`` is written from 2.8 on (KIP-516)."""
    partitions = {str(number): replicas for number, replicas in enumerate(lists)}
    if not profile.has("cancel_reassignment"):
        return compact({"version": 1, "partitions": partitions})
    moving: dict[str, object] = {"adding_replicas": {}, "removing_replicas": {}}
    if not profile.has("topic_ids"):
        return compact({"version": 2, "partitions": partitions, **moving})
    return compact({"partitions": partitions, "topic_id": topic_id, **moving, "version": 3})


def topic_in(data: str | None) -> TopicAssignment | None:
    """The content of a topic's znode; partitions in order of their numbers.

    Kafka treats text that is not JSON as a topic without partitions, and throws at another
    structure, such as a partition whose number is none. A partition without replicas is skipped.
    """
    topic = _topic(data)
    if topic is None or data is None:
        return None
    return TopicAssignment(
        _in_order(topic.partitions),
        _in_order(topic.adding_replicas),
        _in_order(topic.removing_replicas),
        topic.topic_id,
        data,
    )


def topic_id_in(data: str | None) -> str:
    """The topic id in a topic's znode; empty before 2.8."""
    topic = _topic(data)
    return "" if topic is None else topic.topic_id


def _in_order(lists: dict[int, list[int]]) -> dict[int, list[int]]:
    """The non-empty lists, by ascending number, as Kafka writes them."""
    if all(lists.values()) and (numbers := list(lists)) == sorted(numbers):
        return lists
    return {number: lists[number] for number in sorted(lists) if lists[number]}


def changed_topic_json(
    assignment: TopicAssignment,
    replicas: Mapping[int, Sequence[int]],
    adding: Mapping[int, Sequence[int]] | None = None,
    removing: Mapping[int, Sequence[int]] | None = None,
) -> str:
    """A topic's znode with the replicas of some partitions changed or added.

    ``adding`` and ``removing`` are the replicas that a reassignment adds and removes, by
    partition; an empty list removes the entry. Releases before 2.4 do not have these fields; from
    2.4 on a reassignment adds them if somebody else wrote the znode without them.
    """
    fields: dict[str, Any] = msgspec.json.decode(assignment.text)
    fields["partitions"] = _with(fields["partitions"], replicas)
    for name, changes in (("adding_replicas", adding), ("removing_replicas", removing)):
        if changes is not None:
            entries = _with(fields.get(name, {}), changes)
            fields[name] = {number: brokers for number, brokers in entries.items() if brokers}
            fields["version"] = 3 if "topic_id" in fields else 2
    return compact(fields)


def identified_topic_json(assignment: TopicAssignment, random_below: Callable[[int], int]) -> str:
    """A topic's znode with a topic id and all fields that Kafka 2.8+ writes."""
    fields: dict[str, Any] = {"adding_replicas": {}, "removing_replicas": {}}
    fields |= msgspec.json.decode(assignment.text)
    return compact(fields | {"topic_id": random_uuid(random_below), "version": 3})


def shrunk_topic_json(assignment: TopicAssignment, numbers: Iterable[str]) -> str:
    """A topic's znode with only some of its partitions."""
    remaining = frozenset(numbers)
    fields: dict[str, Any] = msgspec.json.decode(assignment.text)
    for name in ("partitions", "adding_replicas", "removing_replicas"):
        if name in fields:
            fields[name] = {
                number: fields[name][number] for number in fields[name] if number in remaining
            }
    return compact(fields)


def _with(
    lists: Mapping[str, Sequence[int]], changes: Mapping[int, Sequence[int]]
) -> dict[str, Sequence[int]]:
    return {**lists, **{str(number): brokers for number, brokers in changes.items()}}


# ---- the state of a partition

RECOVERED: Final = 0
RECOVERING: Final = 1
"""KIP-704: the leader was elected from outside the ISR, and has not confirmed its recovery yet."""


class PartitionState(Struct, frozen=True):
    """The content of a state znode."""

    controller_epoch: Int
    leader: Int
    leader_epoch: Int
    isr: list[Int]
    leader_recovery_state: Int = RECOVERED


_KNOWN_STATES: Final = 1024
_KNOWN_STATE_MAX: Final = 256
"""Of how many state znodes the content is kept, up to which length in characters: partitions have
few different ones, above all when they are created."""

_read_state: Final = _reader(PartitionState)
_known_state: Final = lru_cache(_KNOWN_STATES)(_read_state)


def state_in(data: str | None) -> PartitionState | None:
    """The content of a state znode; it may be that of others, too: its lists are not modified.

    To Kafka a state that is not JSON is missing, as if the znode did not exist; at another
    structure the controller's event, or the leader's ISR change, ends in an exception.
    """
    if data is None or len(data) > _KNOWN_STATE_MAX:
        return _read_state(data)
    return _known_state(data)


class _StateJson(Struct, gc=False):
    controller_epoch: int
    leader: int
    version: int
    leader_recovery_state: int | msgspec.UnsetType
    leader_epoch: int
    isr: Sequence[int]


def state_json(
    leader: int,
    leader_epoch: int,
    isr: Sequence[int],
    controller_epoch: int,
    leader_recovery_state: int = RECOVERED,
) -> str:
    """The content of a state znode, in the order in which Kafka prints its fields.

    ``leader_recovery_state`` is omitted when it is 0 (``TopicPartitionStateZNode``, 3.2+). The
    order is that of Scala's hash map, which puts a sixth field in the middle.
    """
    return _state_json(leader, leader_epoch, tuple(isr), controller_epoch, leader_recovery_state)


@lru_cache(_KNOWN_STATES)
def _state_json(
    leader: int, leader_epoch: int, isr: tuple[int, ...], controller_epoch: int, recovery: int
) -> str:
    state = _StateJson(controller_epoch, leader, 1, recovery or msgspec.UNSET, leader_epoch, isr)
    return compact(state)


# ---- lists of partitions: elections, reassignments, ISR changes


class _PartitionJson(Struct):
    topic: str
    partition: Int


class _PartitionsJson(Struct):
    partitions: list[_PartitionJson]


class _MoveJson(Struct):
    topic: str
    partition: Int
    replicas: list[Int]


class _MovesJson(Struct):
    partitions: list[_MoveJson]


_partitions = _reader(_PartitionsJson)
_moves = _reader(_MovesJson)


def partitions_json(tps: Iterable[str]) -> str:
    """The content of /admin/preferred_replica_election and of an ISR change notification."""
    entries = [{"topic": topic, "partition": number} for topic, number in map(split, tps)]
    return compact({"version": 1, "partitions": entries})


def partitions_in(data: str | None) -> list[str] | None:
    """The partitions in an election or a notification."""
    node = _partitions(data)
    return None if node is None else [f"{e.topic}-{e.partition}" for e in node.partitions]


def moves_json(moves: Iterable[tuple[str, Sequence[int]]]) -> str:
    """The content of /admin/reassign_partitions: partitions with their target replicas."""
    entries = [
        {"topic": topic, "partition": number, "replicas": replicas}
        for (topic, number), replicas in ((split(tp), replicas) for tp, replicas in moves)
    ]
    return compact({"version": 1, "partitions": entries})


def moves_in(data: str | None) -> list[tuple[str, list[int]]] | None:
    """The partitions to be reassigned, with their target replicas."""
    node = _moves(data)
    if node is None:
        return None
    return [(f"{move.topic}-{move.partition}", move.replicas) for move in node.partitions]


# ---- configuration


class _ConfigJson(Struct):
    config: dict[str, str]


_config = _reader(_ConfigJson)


def config_json(values: Mapping[str, str]) -> str:
    """The content of a configuration znode."""
    return compact({"version": 1, "config": values})


def config_in(data: str | None) -> dict[str, str] | None:
    """The values in a configuration znode.

    Kafka reads none if it is not JSON or has no field ``config``, and throws at another structure.
    """
    config = _config(data)
    return None if config is None else config.config


class _ConfigChangeJson(Struct):
    entity_path: str = ""
    entity_type: str = ""
    entity_name: str = ""


_config_change = _reader(_ConfigChangeJson)
_text = _reader(str)


def config_change_json(profile: Profile, kind: str, name: str) -> str:
    """A notification of a changed configuration; ``kind`` is ``topics`` or ``brokers``."""
    if not profile.has("json_config_changes"):
        return compact(name)
    if not profile.has("config_entity_paths"):
        return compact({"version": 1, "entity_type": kind, "entity_name": name})
    return compact({"version": 2, "entity_path": f"{kind}/{name}"})


def config_change_in(data: str | None) -> tuple[str, str] | None:
    """The contents of a notification: ``topics`` or ``brokers``, and the name.

    Brokers of any release accept the notifications of all releases here. At another structure
    Kafka logs an error and continues with the next one.
    """
    topic = _text(data)
    if topic is not None:
        return "topics", topic
    change = _config_change(data)
    if change is None:
        return None
    kind, _, name = change.entity_path.partition("/")
    if change.entity_type:
        kind, name = change.entity_type, change.entity_name
    return (kind, name) if kind and name else None


# ---- producer ids

LONG_MAX: Final = (1 << 63) - 1
_LONG_DIGITS: Final = 20


class _ProducerIdsJson(Struct):
    version: Int
    broker: Int
    block_start: str
    block_end: str


_producer_ids = _reader(_ProducerIdsJson)


def producer_ids_json(broker: int, first: int, last: int) -> str:
    """The content of /latest_producer_id_block: the ids of ``broker``, both ends included."""
    return compact(
        {"version": 1, "broker": broker, "block_start": str(first), "block_end": str(last)}
    )


def producer_ids_in(data: str | None) -> tuple[int, int, int] | None:
    """The broker, the first and the last id of the block allocated last.

    Kafka throws if there is none, and the broker gets no block (``ProducerIdBlockZNode``).
    """
    block = _producer_ids(data)
    if block is None:
        return None
    first, last = _long(block.block_start), _long(block.block_end)
    return None if first is None or last is None else (block.broker, first, last)


def _long(text: str) -> int | None:
    digits = text.removeprefix("-")
    if len(text) > _LONG_DIGITS or not (digits.isascii() and digits.isdecimal()):
        return None
    number = int(text)
    return number if -LONG_MAX - 1 <= number <= LONG_MAX else None
