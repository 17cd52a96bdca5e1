"""The job on KRaft's quorum in plain Python, straight from events."""

import json
from collections import defaultdict
from typing import Any

from emulator.events import (
    BrokerStateChanged,
    ControllerStateChanged,
    Event,
    MetadataRecordCommitted,
    QuorumRoleChanged,
)
from tests.sessions.analysis.followed import Row

DOWN = ("crashed", "stopped", "frozen")


def records_of(events: list[Event]) -> list[tuple[MetadataRecordCommitted, dict[str, Any]]]:
    return [(e, json.loads(e.data)) for e in events if isinstance(e, MetadataRecordCommitted)]


def expected_terms(session: str, events: list[Event]) -> list[Row]:
    """The rows of ``quorum_terms``."""
    rows: list[Row] = []
    leading: Row | None = None
    stood = 0
    for event in events:
        ends = False
        match event:
            case QuorumRoleChanged(role="leader"):
                ends = True
            case QuorumRoleChanged() | ControllerStateChanged():
                gone = isinstance(event, QuorumRoleChanged) or event.state in DOWN[:2]
                ends = gone and leading is not None and leading["controller"] == event.controller
        if ends and leading is not None:
            leading |= {"to_seq": event.seq, "to_us": event.time_us}
            leading = None
        if isinstance(event, QuorumRoleChanged) and event.role == "candidate":
            stood += 1
        if isinstance(event, QuorumRoleChanged) and event.role == "leader":
            before = _silent_us(events, rows[-1], event.seq) if rows else None
            leading = {
                "session": session, "controller": event.controller, "epoch": event.epoch,
                "from_seq": event.seq, "from_us": event.time_us, "to_seq": None, "to_us": None,
                "without_us": None if before is None else event.time_us - before,
                "candidacies": stood,
            }  # fmt: skip
            stood = 0
            rows.append(leading)
    elected = elections(events)
    for row in rows:
        mine = [(e, data) for e, data in records_of(events) if e.epoch == row["epoch"]]
        changes = [data for e, data in mine if e.kind == "PartitionChange"]
        row |= {
            "records": len(mine),
            "batches": len({e.batch for e, _ in mine}),
            "fencings": sum(
                e.kind == "BrokerRegistrationChange" and data["fenced"] == 1 for e, data in mine
            ),
            "registrations": sum(e.kind == "RegisterBroker" for e, _ in mine),
            "elections": sum(e.seq in elected for e, _ in mine),
            "unclean": sum(data.get("leaderRecoveryState") == 1 for data in changes),
            "eligible": sum("eligibleLeaderReplicas" in data for data in changes),
        }
    return rows


def elections(events: list[Event]) -> set[int]:
    """The records that name a leader of a partition that it did not have."""
    leaders: dict[tuple[str, int], int] = {}
    found = set()
    for event, data in records_of(events):
        if event.kind in ("Partition", "PartitionChange") and "leader" in data:
            key = (data["topicId"], data["partitionId"])
            if event.kind == "PartitionChange" and data["leader"] not in (-1, leaders.get(key)):
                found.add(event.seq)
            leaders[key] = data["leader"]
    return found


def _silent_us(events: list[Event], term: Row, until_seq: int) -> int:
    """When the leader of a term ended, or froze and did not thaw until then."""
    silent_us: int = term["to_us"]
    for event in events[: until_seq - 1]:
        if not isinstance(event, ControllerStateChanged) or event.seq < term["from_seq"]:
            continue
        if event.controller == term["controller"] and event.state in ("frozen", "running"):
            froze_us = event.time_us if event.state == "frozen" else term["to_us"]
            silent_us = min(froze_us, term["to_us"])
    return silent_us


def expected_work(session: str, events: list[Event]) -> list[Row]:
    """The rows of ``metadata_work``."""
    groups: dict[tuple[int, str], list[MetadataRecordCommitted]] = defaultdict(list)
    for event, _ in records_of(events):
        groups[event.epoch, event.kind].append(event)
    return [
        {
            "session": session, "epoch": epoch, "type": kind, "records": len(mine),
            "batches": len({each.batch for each in mine}), "first_seq": mine[0].seq,
            "first_us": mine[0].time_us, "last_us": mine[-1].time_us,
        }
        for (epoch, kind), mine in groups.items()
    ]  # fmt: skip


def expected_fencings(session: str, events: list[Event]) -> list[Row]:
    """The rows of ``fencings``."""
    rows: list[Row] = []
    fenced: dict[int, Row] = {}
    processes: dict[int, BrokerStateChanged] = {}
    records = records_of(events)
    for event in events:
        if isinstance(event, BrokerStateChanged):
            processes[event.broker] = event
        if not isinstance(event, MetadataRecordCommitted):
            continue
        data = json.loads(event.data)
        if event.kind != "BrokerRegistrationChange" or not data["fenced"]:
            continue
        broker = data["brokerId"]
        before = fenced.pop(broker, None)
        if data["fenced"] == -1:
            if before is not None:
                before |= {
                    "unfenced_seq": event.seq, "unfenced_us": event.time_us,
                    "fenced_for_us": event.time_us - before["fenced_us"],
                }  # fmt: skip
            continue
        was = processes.get(broker)
        fault = was if was is not None and was.state in DOWN else None
        fenced[broker] = {
            "session": session, "broker": broker,
            "fenced_seq": event.seq, "fenced_us": event.time_us,
            "process": fault.state if fault else "running",
            "fault_seq": fault and fault.seq, "fault_us": fault and fault.time_us,
            "noticed_us": fault and event.time_us - fault.time_us,
            "partitions": sum(
                e.kind == "PartitionChange" and e.batch == event.batch for e, _ in records
            ),
            "unfenced_seq": None, "unfenced_us": None, "fenced_for_us": None,
        }  # fmt: skip
        rows.append(fenced[broker])
    return rows
