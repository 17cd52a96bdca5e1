"""The recordings of real clusters in KRaft mode, their metadata logs read back as records.

``own`` holds those that were made later, in regions that the others do not reach; ``z*`` are the
scripts of ``tests/golden`` without what only a cluster with ZooKeeper has. In all of them a
partition's epoch counts the records about it, from its first on: Kafka's own is higher by one
wherever a ClearElr record emptied its ELR (c01 shows it).
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from msgspec.structs import fields

from emulator.metadata_log.records import AnyRecord, type_of

FOLDERS = ("recordings", "own")
RECORDINGS = sorted(
    path for folder in FOLDERS for path in (Path(__file__).parent / folder).glob("*/*.json")
)
IDS = [f"{path.parent.name}/{path.stem}" for path in RECORDINGS]
KINDS: dict[str, type[AnyRecord]] = {
    kind.__name__.removesuffix("Record").removesuffix("Message"): kind
    for kind in AnyRecord.__args__
}


class Recorded(NamedTuple):
    """One record of a recorded log; ``batch`` counts from 0 in each mark."""

    batch: int
    record: AnyRecord
    shown: dict[str, Any]


def load(path: Path) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(path.read_text())
    return loaded


def read_log(log: list[dict[str, Any]]) -> Iterator[Recorded]:
    for entry in log:
        record = _record(entry)
        assert type_of(record) == entry["type"]
        shown = {"type": entry["type"], "version": entry["version"], "data": entry["data"]}
        yield Recorded(entry["batch"], record, shown)


def epoch_number(name: str) -> int:
    """A broker epoch for a registration such as ``2.3``; the recordings have no number for it."""
    broker, registration = name.split(".")
    return 1_000 * int(registration) + int(broker)


def _record(entry: dict[str, Any]) -> AnyRecord:
    kind = KINDS[entry["type"]]
    data: dict[str, Any] = entry["data"]
    values: dict[str, Any] = {_snake_case(key): _value(key, value) for key, value in data.items()}
    for each in fields(kind):
        if each.required and each.name not in values:
            values[each.name] = None if kind.__name__ == "ConfigRecord" else "?"
    if entry["type"] == "RegisterBroker":
        values["incarnation_id"] = entry["data"]["brokerEpoch"]
    return kind(**values)


def _value(key: str, value: object) -> object:
    if key == "brokerEpoch":
        return epoch_number(str(value))
    return tuple(value) if isinstance(value, list) else value


def _snake_case(key: str) -> str:
    return re.sub("[A-Z]", lambda found: "_" + found.group().lower(), key)
