"""Which objects an event touches, by name: what jumping to the next event of an object goes by.

Names: ``orders-0`` a partition, ``/path`` a znode, ``broker.2``, ``topic.orders``, ``producer.p1``,
``consumer.c1``, ``group.g``, ``transaction.id``, ``client.3`` the connection of a client outside. A
broker is touched by what happens to its process, sessions, links and roles, not by every record
that it writes. In KRaft a path is one of the metadata image, as kafka-metadata-shell shows it, and
``broker.100`` is a controller. The classes of events declare the fields that hold the names
(:class:`emulator.events.fields.Names`).
"""

from collections.abc import Iterable, Sequence, Set
from itertools import chain
from typing import Any, Final

from emulator import events
from emulator.events import Event, MetadataRecordCommitted
from emulator.events.fields import is_touched, names_in
from sessions.decoding import decode_object
from sessions.model.metadata_log import OF_PARTITIONS, abouts, path_of, topic_name


def broker_name(broker: int) -> str:
    """The name of a broker as an object; empty for ZooKeeper, the clients and nobody."""
    return f"broker.{broker}" if broker >= 0 else ""


def connection_name(connection: int) -> str:
    """The name of a connection as an object."""
    return f"client.{connection}"


def object_name(selected: int | str) -> str:
    """The name of a selected object: a broker id, or a name as it is."""
    return broker_name(selected) if isinstance(selected, int) else selected


def _of_records(group: Iterable[Any]) -> Iterable[str]:
    """The paths in the image, and the partitions and brokers that they stand for."""
    of_partitions: list[str] = []
    for event in group:
        if event.kind in OF_PARTITIONS:
            of_partitions.append(event.data)
            continue
        data = decode_object(event.data) if event.data else {}
        yield path_of(event.kind, data) if data else ""
        if "brokerId" in data:
            yield broker_name(data["brokerId"])
    for topic, number in {(about.topicId, about.partitionId) for about in abouts(of_partitions)}:
        name = topic_name(topic)
        yield f"/topics/{name}/{number}"
        yield f"{name}-{number}"


def _name_fields(kind: type[Event]) -> list[tuple[str, str]]:
    """The fields of a class that hold names of objects, with what precedes the name."""
    return [
        (field, names.prefix)
        for field in kind.__struct_fields__
        if (names := names_in(kind, field)) is not None and is_touched(kind, field)
    ]


NAME_FIELDS: Final = {kind: _name_fields(kind) for kind in events.TYPES.values()}


def objects_of(event: Event) -> set[str]:
    """The names of all objects that the event touches."""
    return objects_of_all(type(event), (event,))


def touches(event: Event, names: Set[str]) -> bool:
    """Whether an event touches one of these objects.

    A search asks this of thousands of events, and most name two or three objects.
    """
    kind = type(event)
    for field, prefix in NAME_FIELDS[kind]:
        value = getattr(event, field)
        if (f"{prefix}{value}" if prefix else value) in names and is_name(value):
            return True
    if kind.names is not Event.names:
        others = event.names()
        if isinstance(others, dict):  # of a whole broker, such as its checkpoints
            return any(name in others for name in names)
        return not names.isdisjoint(others)
    return kind is MetadataRecordCommitted and not names.isdisjoint(_of_records((event,)))


def objects_of_all(kind: type[Event], group: Sequence[Event]) -> set[str]:
    """The names of all objects that events of one type touch."""
    objects: set[str] = set()
    for field, prefix in NAME_FIELDS[kind]:
        names = {getattr(event, field) for event in group}
        if prefix:
            objects |= {f"{prefix}{name}" for name in names if is_name(name)}
        else:
            objects |= names
    if kind.names is not Event.names:
        objects.update(chain.from_iterable(map(kind.names, group)))
    elif kind is MetadataRecordCommitted:
        objects.update(_of_records(group))
    objects.discard("")
    return objects


def is_name(value: int | str) -> bool:
    """Whether a field's value names an object: ids of hosts are negative if it is no broker."""
    return value >= 0 if isinstance(value, int) else bool(value)
