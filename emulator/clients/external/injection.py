"""Which requests of clients a fault is for."""

from collections.abc import Iterator, Sequence
from typing import Final

from emulator.clients.external.call import AnyCall
from emulator.clients.external.metadata import TopicIds
from emulator.inputs.statements import InjectError
from emulator.wire.messages.coordinator import FindCoordinatorRequest
from emulator.wire.types import Message

OF_TRANSACTION: Final = 1
"""The type of a coordinator's key that is a transactional id."""
TRANSACTION_FIELDS: Final = (
    *("transactional_id", "v3_and_below_transactional_id", "transactional_ids"),
    *("key", "coordinator_keys"),
)
GROUP_FIELDS: Final = ("group_id", "group_ids", "groups_names", "groups", "key", "coordinator_keys")
TOPICS_FIELDS: Final = (
    *("topics", "v3_and_below_topics", "topic_data", "topic_names", "topic_partitions"),
)
PARTITIONS_FIELDS: Final = ("partitions", "partition_data", "partition_indexes")
PARTITION_FIELDS: Final = ("partition_index", "partition", "index")


def is_selected(fault: InjectError, call: AnyCall, known_ids: TopicIds) -> bool:
    """Return whether a request is one of those that a fault is for; an empty selector is met."""
    message = call.message
    return (
        fault.client in ("", call.client)
        and fault.broker in (None, call.connection.broker)
        and (not fault.transactional_id or fault.transactional_id in _transactions(message))
        and (not fault.group or fault.group in _groups(message))
        and ((not fault.topic and fault.partition is None) or _names(message, fault, known_ids))
    )


def _parts(value: object) -> Iterator[Message]:
    """A message and all that it consists of."""
    if isinstance(value, Message):
        yield value
        for name in value.__struct_fields__:
            yield from _parts(getattr(value, name))
    elif isinstance(value, list):
        for item in value:
            yield from _parts(item)


def _values(message: Message, fields: Sequence[str]) -> Iterator[object]:
    """The values of some fields of a message, or of its parts."""
    for part in _parts(message):
        for name in fields:
            value = getattr(part, name, None)
            yield from value if isinstance(value, list) else [value]


def _transactions(message: Message) -> Iterator[object]:
    """The transactional ids that a request is about."""
    if isinstance(message, FindCoordinatorRequest) and message.key_type != OF_TRANSACTION:
        return iter(())
    return _values(message, TRANSACTION_FIELDS)


def _groups(message: Message) -> Iterator[object]:
    """The groups that a request is about."""
    if isinstance(message, FindCoordinatorRequest) and message.key_type == OF_TRANSACTION:
        return iter(())
    return _values(message, GROUP_FIELDS)


def _names(message: Message, fault: InjectError, known_ids: TopicIds) -> bool:
    """Whether a request names the topic that is wanted, and the partition."""
    for part in _parts(message):
        for name in TOPICS_FIELDS:
            for topic in getattr(part, name, None) or ():
                if fault.topic and _topic_name(topic, known_ids) != fault.topic:
                    continue
                if fault.partition is None or fault.partition in _partitions(topic):
                    return True
    return False


def _topic_name(topic: object, known_ids: TopicIds) -> str | None:
    """A topic's name in a request, also by its id; None if it has none."""
    if isinstance(topic, str):
        return topic
    name = getattr(topic, "name", None) or getattr(topic, "topic", None)
    topic_id = getattr(topic, "topic_id", None)
    if name is None and topic_id is not None:
        name = known_ids.name(topic_id)
    return name if isinstance(name, str) else None


def _partitions(topic: object) -> Iterator[int]:
    """The partitions that a request names of a topic."""
    for field in PARTITIONS_FIELDS:
        for partition in getattr(topic, field, None) or ():
            if isinstance(partition, int):
                yield partition
                continue
            for name in PARTITION_FIELDS:
                if isinstance(number := getattr(partition, name, None), int):
                    yield number
