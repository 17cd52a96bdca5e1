"""Records for display, with meaningful names of topics and registrations.

Topic ids are random and broker epochs are offsets, so neither is meaningful. Here a topic is shown
by name (``t#2``: the second topic called t) and a broker epoch as ``ID.N``, the Nth registration of
broker ID. Null and "no change" values are omitted, as are incarnation ids and racks. A shown record
can be read back (:func:`read_back`), so that an image is built from it as from the log.
"""

from collections.abc import Mapping
from functools import cache
from typing import Any, Final

import msgspec
from msgspec import Struct, convert, field
from msgspec.structs import FieldInfo, fields

from emulator.metadata_log.metadata_version import METADATA_VERSION
from emulator.metadata_log.records import (
    NO_LEADER_CHANGE,
    NO_RECOVERY_CHANGE,
    AnyRecord,
    BrokerRegistrationChangeRecord,
    FeatureLevelRecord,
    PartitionChangeRecord,
    RegisterBrokerRecord,
    TopicRecord,
    version_of,
)


class ShownRecord(Struct, frozen=True):
    """A record's type and version, and its fields by Kafka's names."""

    type: str
    version: int
    data: dict[str, Any]


class LogNames(Struct):
    """The names defined by the records of a log so far; plain state.

    Read the log from its beginning with :func:`show`. ``metadata_version`` is the current one.
    """

    metadata_version: int = 0
    topics: dict[str, str] = field(default_factory=dict)
    topics_called: dict[str, int] = field(default_factory=dict)
    broker_epochs: dict[int, dict[int, str]] = field(default_factory=dict)

    def topic(self, topic_id: str) -> str:
        """Return a topic's name, with a number if it is not the first of that name."""
        return self.topics.get(topic_id, topic_id)

    def broker_epoch(self, broker: int, epoch: int) -> str:
        """Return the name of a registration: ``2.1`` is the first of broker 2."""
        return self.broker_epochs.get(broker, {}).get(epoch, str(epoch))

    def read(self, record: AnyRecord) -> None:
        """Store the names that a record defines."""
        match record:
            case FeatureLevelRecord(name=name, feature_level=level) if name == METADATA_VERSION:
                self.metadata_version = level
            case TopicRecord(name=name, topic_id=topic_id):
                number = self.topics_called[name] = self.topics_called.get(name, 0) + 1
                self.topics[topic_id] = name if number == 1 else f"{name}#{number}"
            case RegisterBrokerRecord(broker_id=broker, broker_epoch=epoch):
                epochs = self.broker_epochs.setdefault(broker, {})
                epochs.setdefault(epoch, f"{broker}.{len(epochs) + 1}")
            case _:
                pass


def show(record: AnyRecord, names: LogNames) -> ShownRecord:
    """Return a record for display; ``names`` stores the names that it defines."""
    names.read(record)
    version = version_of(record, names.metadata_version)
    data: dict[str, Any] = {}
    type_, keys = _SHOWN[type(record)]
    for name, key, unchanged in keys:
        value = getattr(record, name)
        if value is not None and value != unchanged:
            data[key] = list(value) if type(value) is tuple else value
    if _TOPIC_ID in data:
        data[_TOPIC_ID] = names.topic(data[_TOPIC_ID])
    elif _BROKER_EPOCH in data:
        data[_BROKER_EPOCH] = names.broker_epoch(data[_BROKER_ID], data[_BROKER_EPOCH])
        if version == 0 and type(record) is BrokerRegistrationChangeRecord:
            del data[_SINCE_VERSION_1]
    return ShownRecord(type_, version, data)


def text_of(record: AnyRecord, names: LogNames) -> tuple[str, int, str]:
    """Return type, version and data of a record as :func:`show`, the data as JSON.

    The most frequent type, of which a log can have millions, takes a short way.
    """
    if type(record) is not PartitionChangeRecord:
        shown = show(record, names)
        return shown.type, shown.version, _JSON(shown.data).decode()
    text = _JSON(
        _Change(
            record.partition_id,
            names.topic(record.topic_id),
            record.isr,
            record.leader,
            record.replicas,
            record.removing_replicas,
            record.adding_replicas,
            record.leader_recovery_state,
            record.eligible_leader_replicas,
            record.last_known_elr,
        )
    )
    return _CHANGE, version_of(record, names.metadata_version), text.decode()


@cache
def _members(kind: type[AnyRecord]) -> tuple[FieldInfo, ...]:
    """The fields of a record, which take longer to find than to read."""
    return fields(kind)


def read_back(type_: str, data: Mapping[str, Any]) -> AnyRecord:
    """Return the record that is shown so: topics' names are their ids, ``ID.N`` the epoch N.

    Raises:
        ValueError: there is no such record, or its data is not complete or of another type.
    """
    kind = _KINDS.get(type_)
    if kind is None:
        raise ValueError(f"there is no record '{type_}'")
    values: list[object] = [kind.__name__]
    for member in _members(kind):
        key = member.encode_name
        value = data.get(key, None if member.required else member.default)
        if key == "brokerEpoch" and isinstance(value, str):
            value = int(value.rpartition(".")[2])
        values.append(
            "" if value is None and member.name in kind.hidden and member.required else value
        )
    record: AnyRecord = convert(values, kind)
    return record


class _Change(PartitionChangeRecord, frozen=True, array_like=False, tag=False, omit_defaults=True):
    """A change as it is shown: without unchanged fields."""


_CHANGE: Final = "PartitionChange"
_JSON: Final = msgspec.json.Encoder().encode
_TOPIC_ID: Final = "topicId"
_BROKER_ID: Final = "brokerId"
_BROKER_EPOCH: Final = "brokerEpoch"
_SINCE_VERSION_1: Final = "inControlledShutdown"
"""A field of registration changes that their version 0 does not have."""
_UNCHANGED: Final[dict[type[AnyRecord], dict[str, int]]] = {
    PartitionChangeRecord: {
        "leader": NO_LEADER_CHANGE,
        "leader_recovery_state": NO_RECOVERY_CHANGE,
    }
}
"""Values other than None that mean no change."""
_SHOWN: Final = {
    kind: (
        kind.__name__.removesuffix("Record").removesuffix("Message"),
        [
            (field.name, field.encode_name, _UNCHANGED.get(kind, {}).get(field.name))
            for field in fields(kind)
            if field.name not in kind.hidden
        ],
    )
    for kind in AnyRecord.__args__
}
"""The name of each type, and its fields: name, Kafka's name, and the value that is omitted."""
_KINDS: Final = {
    kind.__name__.removesuffix("Record").removesuffix("Message"): kind
    for kind in AnyRecord.__args__
}
