"""The recorded metadata log of a real cluster that wrote snapshots."""

import json
import re
from pathlib import Path
from typing import Any

from emulator.metadata_log import records
from emulator.metadata_log.records import AnyRecord
from emulator.protocol.raft import MetadataBatch

PATH = Path(__file__).with_name("snapshots") / "4.1.2.json"
RECORDING: dict[str, Any] = json.loads(PATH.read_text(encoding="utf-8"))
MAX_BYTES: int = RECORDING["config"]["metadata.log.max.record.bytes.between.snapshots"]
SNAPSHOTS: dict[str, list[list[int]]] = RECORDING["snapshots"]
"""By node: end offset, epoch and size of each."""


def batches() -> list[MetadataBatch]:
    """The log, with the sizes that batches have on disk."""
    return [
        MetadataBatch(base, epoch, tuple(_record(*each) for each in told), 0, size)
        for base, epoch, size, told in RECORDING["batches"]
    ]


def _record(kind: str, data: dict[str, Any]) -> AnyRecord:
    made = getattr(records, f"{kind}Record", None) or getattr(records, f"{kind}Message")
    fields = {
        re.sub(r"[A-Z]", lambda match: f"_{match[0].lower()}", name): value
        for name, value in data.items()
    }
    known = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in fields.items()
        if name in made.__struct_fields__
    }
    record: AnyRecord = made(**known)
    return record
