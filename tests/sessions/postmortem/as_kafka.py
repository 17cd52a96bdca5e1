"""A metadata log as Kafka's own tools print it, from what was read here: to be compared with them.

``dumped`` is what ``kafka-dump-log --cluster-metadata-decoder`` prints of the records, ``changed``
what ``tests/wire/Images.java`` prints of Kafka's own image after each batch.
"""

import base64
import json
import re
from collections.abc import Iterable, Iterator
from typing import Any, Final

from emulator.metadata_log.image import MetadataImage
from emulator.metadata_log.registrations import BrokerRegistration, PartitionRegistration
from emulator.wire.metadata.batches import MetadataBatch
from emulator.wire.schema import Array, Field, fields_of
from emulator.wire.types import Message, Sized
from sessions.postmortem.events import HistoryEvents
from sessions.postmortem.merging import MergedLog
from sessions.postmortem.transactions import Transactions

DUMPED: Final = re.compile(r"^\| offset: (\d+) CreateTime: (\d+) .*? headerKeys: \[\] (\w+): (.*)$")
PAYLOAD: Final = "payload"
UUID_BYTES: Final = 16

Dumped = tuple[int, int, str, dict[str, Any]]
"""A record: offset, time in milliseconds, what it is called, and its JSON."""


def printed(text: str) -> list[Dumped]:
    """The records in the output of ``kafka-dump-log``."""
    found = []
    for line in text.splitlines():
        match = DUMPED.match(line)
        if match is not None:
            offset, time_ms, kind, content = match.groups()
            found.append((int(offset), int(time_ms), kind, json.loads(content)))
    return found


def dumped(batches: Iterable[MetadataBatch]) -> list[Dumped]:
    """The records of batches, as ``kafka-dump-log`` prints them."""
    return [
        (offset, batch.timestamp, *_record(record, version))
        for batch in batches
        for offset, (record, version) in enumerate(
            zip(batch.records, batch.versions, strict=True), batch.base_offset
        )
    ]


def _record(record: Message, version: int) -> tuple[str, dict[str, Any]]:
    name = type(record).__name__
    if version < 0:  # a control record, which has its version in its value
        kind = name.removesuffix("Message").removesuffix("Record")
        return kind, {"version": 0, **_fields(record, 0)}
    kind = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).upper()
    return PAYLOAD, {"type": kind, "version": version, "data": _fields(record, version)}


def _fields(record: Message, version: int) -> dict[str, Any]:
    return {
        _camel_case(field.name): _value(getattr(record, field.name), field.kind, version)
        for field in fields_of(type(record))
        if version in field.versions and not _is_left_out(field, getattr(record, field.name))
    }


def _is_left_out(field: Field, value: object) -> bool:
    """A tagged field with its default is not printed, because it is not written."""
    return field.tag is not None and value == field.default


def _value(value: Any, kind: object, version: int) -> Any:  # noqa: ANN401 - JSON
    if value is None:
        return None
    if isinstance(kind, Array):
        return [_value(each, kind.item, version) for each in value]
    if isinstance(value, Message):
        return _fields(value, version)
    if isinstance(value, bytes):
        if kind is Sized.BYTES:
            return base64.b64encode(value).decode()
        return uuid_text(value)
    return value


def _camel_case(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(word.capitalize() for word in others)


def uuid_text(value: bytes) -> str:
    """A uuid as Kafka prints it."""
    assert len(value) == UUID_BYTES
    return base64.urlsafe_b64encode(value).decode().rstrip("=")


def changed(log: MergedLog, release: str) -> Iterator[dict[str, Any]]:
    """What each batch changes in the image; a batch that changes nothing has no line."""
    history = HistoryEvents([], 0, release)
    transactions = Transactions()
    before: dict[str, Any] = {}
    for batch in log.batches():
        for effective in transactions.resolve([batch]):
            history.take(effective)
        now = values_of(history.image)
        changes = {
            name: now.get(name)
            for name in sorted({*before, *now})
            if before.get(name) != now.get(name)
        }
        before = now
        if changes:
            yield {"offset": batch.base_offset, "changed": changes}


def values_of(image: MetadataImage) -> dict[str, Any]:
    """The image by name, as the program prints it."""
    values: dict[str, Any] = {f"feature {name}": level for name, level in image.features.items()}
    values |= {f"controller {number}": each for number, each in image.controllers.items()}
    values |= {f"broker {number}": _broker(each) for number, each in image.brokers.items()}
    for topic, number, partition in image.partitions():
        values[f"partition {topic.name}-{number}"] = {
            "topic_id": topic.id,
            **_partition(partition),
        }
    values |= {f"config {key}": dict(sorted(each.items())) for key, each in image.configs.items()}
    values["next producer id"] = image.next_producer_id or -1
    return values


def _broker(broker: BrokerRegistration) -> dict[str, Any]:
    return {
        "epoch": broker.epoch,
        "incarnation": broker.incarnation_id,
        "fenced": broker.fenced,
        "in_controlled_shutdown": broker.in_controlled_shutdown,
        "rack": broker.rack,
    }


def _partition(partition: PartitionRegistration) -> dict[str, Any]:
    return {
        "replicas": list(partition.replicas),
        "isr": list(partition.isr),
        "leader": partition.leader,
        "leader_epoch": partition.leader_epoch,
        "partition_epoch": partition.partition_epoch,
        "recovery": partition.leader_recovery_state,
        "adding": list(partition.adding_replicas),
        "removing": list(partition.removing_replicas),
        "elr": list(partition.elr),
        "last_known_elr": list(partition.last_known_elr),
    }
