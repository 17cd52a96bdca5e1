"""Which objects an event touches, by name: what jumping to the next event of an object goes by.

Names: ``orders-0`` a partition, ``/path`` a znode, ``broker.2``, ``topic.orders``, ``producer.p1``,
``consumer.c1``, ``group.g``, ``transaction.id``, ``client.3`` the connection of a client outside. A
broker is touched by what happens to its process, sessions, links and roles, not by every record
that it writes. In KRaft a path is one of the metadata image, as kafka-metadata-shell shows it, and
``broker.100`` is a controller.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import Any, Final

from emulator import events
from emulator.events import Event
from sessions.decoding import decode_object
from sessions.model.metadata_log import path_of, topic_name

PREFIXES: Final = {
    "topic": "topic.",
    "producer": "producer.",
    "consumer": "consumer.",
    "group": "group.",
    "transactional_id": "transaction.",
}
"""What precedes the name in an event's field of that name (nothing in ``tp``, ``path``)."""

BROKER_FIELDS: Final[dict[type[Event], tuple[str, ...]]] = {
    events.BrokerStateChanged: ("broker",),
    events.BrokerRegistered: ("broker",),
    events.LinkChanged: ("source", "destination"),
    events.ReplicaRoleChanged: ("broker",),
    events.SessionCreated: ("host",),
    events.SessionEnded: ("host",),
    events.ZkConnectionChanged: ("broker",),
    events.ControllerElected: ("broker",),
    events.ControllerResigned: ("broker",),
    events.ControllerStep: ("broker",),
    events.LeaderElected: ("controller", "leader"),
    events.ElectionHeld: ("controller",),
    events.RequestRefused: ("broker", "source"),
    events.ZooKeeperRefused: ("broker",),
    events.PartitionCached: ("broker",),
    events.MetadataUpdated: ("broker",),
    events.ControllerStateChanged: ("controller",),
    events.QuorumRoleChanged: ("controller",),
    events.ReplicaFolderMoved: ("broker",),
    events.MetadataSnapshotTaken: ("host",),
    events.MetadataLogStartChanged: ("host",),
}
"""The fields that name a broker which the event touches."""


def broker_name(broker: int) -> str:
    """The name of a broker as an object; empty for ZooKeeper, the clients and nobody."""
    return f"broker.{broker}" if broker >= 0 else ""


def connection_name(connection: int) -> str:
    """The name of a connection as an object."""
    return f"client.{connection}"


def object_name(thing: int | str) -> str:
    """The name of what a reader selected: a broker id, or a name as it is."""
    return broker_name(thing) if isinstance(thing, int) else thing


def _of_messages(group: Iterable[events.MessageSent]) -> Iterable[str]:
    return map(str, {row[0] for event in group for row in event.detail if row})


def _of_checkpoints(group: Iterable[events.HighWatermarksCheckpointed]) -> Iterable[str]:
    return chain.from_iterable(event.high_watermarks for event in group)


def _of_recovery_points(group: Iterable[events.RecoveryPointsCheckpointed]) -> Iterable[str]:
    return chain.from_iterable(event.recovery_points for event in group)


def _of_new_topics(group: Iterable[events.TopicCreated]) -> Iterator[str]:
    for event in group:
        yield from (f"{event.topic}-{number}" for number in range(len(event.assignment)))


def _of_added_partitions(group: Iterable[events.PartitionsAdded]) -> Iterator[str]:
    for event in group:
        for number in range(len(event.assignment)):
            yield f"{event.topic}-{event.first + number}"


def _of_configs(group: Iterable[events.ConfigChanged]) -> Iterator[str]:
    return (f"{event.entity}.{event.name}" for event in group)


def _of_records(group: Iterable[events.MetadataRecordCommitted]) -> Iterator[str]:
    """The paths in the image, and the partitions and brokers that they stand for."""
    for event in group:
        data = decode_object(event.data) if event.data else {}
        yield path_of(event.kind, data) if data else ""
        if "brokerId" in data:
            yield broker_name(data["brokerId"])
        if "partitionId" in data:
            yield f"{topic_name(data['topicId'])}-{data['partitionId']}"


def _of_connections(group: Iterable[Any]) -> Iterator[str]:
    return (connection_name(event.connection) for event in group)


SPECIAL: Final[dict[type[Event], Callable[[Iterable[Any]], Iterable[str]]]] = {
    events.MessageSent: _of_messages,
    events.HighWatermarksCheckpointed: _of_checkpoints,
    events.RecoveryPointsCheckpointed: _of_recovery_points,
    events.TopicCreated: _of_new_topics,
    events.PartitionsAdded: _of_added_partitions,
    events.ConfigChanged: _of_configs,
    events.MetadataRecordCommitted: _of_records,
    events.ClientConnected: _of_connections,
    events.ClientIdentified: _of_connections,
    events.ClientRequestReceived: _of_connections,
    events.ClientResponseSent: _of_connections,
    events.ClientDisconnected: _of_connections,
}
"""Types whose objects have no field of their own, and the objects of several such events."""


def name_fields(kind: type[Event]) -> tuple[tuple[str, str], ...]:
    """The fields of a type that hold names of objects, with what precedes the name."""
    fields = kind.__struct_fields__
    plain = tuple((field, "") for field in ("tp", "path") if field in fields)
    prefixed = tuple((field, before) for field, before in PREFIXES.items() if field in fields)
    return plain + prefixed


NAME_FIELDS: Final = {kind: name_fields(kind) for kind in Event.__subclasses__()}


def objects_of(event: Event) -> set[str]:
    """The names of all objects that the event touches."""
    return objects_of_all(type(event), (event,))


def objects_of_all(kind: type[Event], group: Sequence[Event]) -> set[str]:
    """The names of all objects that events of one type touch."""
    found: set[str] = set()
    for field, before in NAME_FIELDS[kind]:
        names = {getattr(event, field) for event in group}
        found |= {before + name for name in names if name} if before else names
    for field in BROKER_FIELDS.get(kind, ()):
        found |= {broker_name(broker) for broker in {getattr(event, field) for event in group}}
    special = SPECIAL.get(kind)
    if special is not None:
        found.update(special(group))
    found.discard("")
    return found
