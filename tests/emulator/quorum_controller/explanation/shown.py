"""The metadata log of a golden recording as batches.

A recording has topics' names for their ids and ``ID.N`` for the Nth broker epoch of broker ID, and
neither no-ops, incarnations nor directories. Offsets are those of what it has, so that a broker
epoch is the offset at which that registration begins; ten seconds pass between batches.
"""

import hashlib
import re
from collections.abc import Iterator
from itertools import groupby
from typing import Any

from emulator.wire.metadata import messages as wire
from emulator.wire.metadata.batches import MetadataBatch
from emulator.wire.metadata.control_records import LeaderChangeMessage
from emulator.wire.types import Message

BETWEEN_BATCHES_MS = 10_000
ID_FIELDS = ("topic_id", "incarnation_id")


def batches_of_recording(recording: dict[str, Any]) -> list[MetadataBatch]:
    """The batches of a recording's log, from its beginning to its last mark."""
    return list(_Log().batches(recording))


class _Log:
    def __init__(self) -> None:
        self.offset = 0
        self.epochs: dict[str, int] = {}

    def batches(self, recording: dict[str, Any]) -> Iterator[MetadataBatch]:
        logs = [recording["boot_log"], *(m["metadata_log"] for m in recording["marks"].values())]
        for log in logs:
            for _, group in groupby(log, key=lambda each: each["batch"]):
                yield self.batch(list(group))

    def batch(self, records: list[dict[str, Any]]) -> MetadataBatch:
        self._name_epochs(records)
        is_control = records[0]["type"] == "LeaderChange"
        messages = tuple(map(self.message, records))
        base, self.offset = self.offset, self.offset + len(messages)
        return MetadataBatch(
            base,
            records[0]["epoch"],
            base * BETWEEN_BATCHES_MS,
            is_control,
            messages,
            tuple(record["version"] for record in records),
        )

    def _name_epochs(self, records: list[dict[str, Any]]) -> None:
        """A registration begins with the changes of partitions before it."""
        begin = self.offset
        for place, record in enumerate(records, self.offset):
            if record["type"] == "RegisterBroker":
                self.epochs.setdefault(record["data"]["brokerEpoch"], begin)
            if record["type"] != "PartitionChange":
                begin = place + 1

    def message(self, record: dict[str, Any]) -> Message:
        data = dict(record["data"])
        if record["type"] == "LeaderChange":
            return LeaderChangeMessage(leader_id=data["leaderId"])
        kind: type[Message] = getattr(wire, f"{record['type']}Record")
        values = {_snake_case(key): value for key, value in data.items()}
        if kind is wire.RegisterBrokerRecord:
            values["incarnation_id"] = values["broker_epoch"]
        for name in ID_FIELDS:
            if name in values:
                values[name] = hashlib.md5(values[name].encode()).digest()
        if "broker_epoch" in values:
            values["broker_epoch"] = self.epochs[values["broker_epoch"]]
        return kind(**values)


def _snake_case(name: str) -> str:
    return re.sub(r"([A-Z])", lambda match: f"_{match[1].lower()}", name)
