"""The result as JSON: ``tidegauge postmortem --json``."""

from collections.abc import Sequence
from typing import Any, Final

from msgspec.structs import asdict

from emulator.metadata_log.image import MetadataImage
from sessions.own_cluster.places import time_text
from sessions.postmortem.incident import Incident
from sessions.postmortem.timeline import TimelineEntry
from sessions.postmortem.what_if import WhatIf

SCHEMA: Final = 1
NO_LEADER: Final = -1


def as_plain(incident: Incident, comparisons: Sequence[WhatIf] = ()) -> dict[str, Any]:
    """Return the result as plain data, with what changes would have done."""
    plain: dict[str, Any] = {
        "schema": SCHEMA,
        "release": incident.release,
        "mode": incident.mode,
        "nodes": incident.nodes,
        "records": incident.records,
        "batches": incident.batches,
        "unexplained": [
            {
                "offset": unexplained.offset,
                "record": {"type": unexplained.kind, "data": unexplained.record},
                "why": unexplained.why,
            }
            for unexplained in incident.unexplained
        ],
        "partitions": partitions_of(incident.image),
        "brokers": brokers_of(incident.image),
        "timeline": [_entry(entry) for entry in incident.timeline.entries],
    }
    if incident.notes:
        plain["notes"] = incident.notes
    if comparisons:
        plain["what_if"] = [_what_if(comparison) for comparison in comparisons]
    return plain


def partitions_of(image: MetadataImage) -> list[dict[str, Any]]:
    """All partitions, in the form in which a rehearsal lists them."""
    partitions = [
        {
            "topic": topic.name,
            "partition": number,
            "state": "offline" if partition.leader == NO_LEADER else "online",
            "leader": partition.leader,
            "isr": list(partition.isr),
            "elr": list(partition.elr),
            "leader_epoch": partition.leader_epoch,
            "partition_epoch": partition.partition_epoch,
        }
        for topic, number, partition in image.partitions()
    ]
    return sorted(partitions, key=lambda partition: (partition["topic"], partition["partition"]))


def brokers_of(image: MetadataImage) -> list[dict[str, Any]]:
    """All registered brokers."""
    return [
        {"id": broker.id, "fenced": broker.fenced, "rack": broker.rack or None}
        for broker in sorted(image.brokers.values(), key=lambda broker: broker.id)
    ]


def _what_if(comparison: WhatIf) -> dict[str, Any]:
    return {
        "setting": str(comparison.setting),
        "begin": time_text(comparison.begin_us),
        "end": time_text(comparison.end_us),
        "faults": [
            {"seconds": fault.after_us / 1_000_000, "what": fault.what}
            for fault in comparison.faults
        ],
        "without": asdict(comparison.without),
        "with": asdict(comparison.changed),
        "configured": {
            setting.name: {"value": setting.value, "source": source}
            for setting, source in comparison.configured
        },
        "prevented": comparison.prevented,
        "caused": comparison.caused,
    }


def _entry(entry: TimelineEntry) -> dict[str, Any]:
    return {
        "time": time_text(entry.time_us),
        "what": entry.what,
        "because": entry.because,
        "source": entry.source,
    }
