"""The jobs ``durability`` and ``anomalies`` in plain Python, record by record."""

import json
from collections import Counter

from emulator.events import (
    AuditChanged,
    ClusterCreated,
    ConsumeFinished,
    Event,
    ExpectationChecked,
    InvariantViolated,
    MetadataRecordCommitted,
    PartitionStateRemoved,
    ProduceAcknowledged,
    RecordsConsumed,
    TopicDeleted,
)
from sessions.analysis.durability import generation_of
from tests.sessions.analysis.followed import Followed, Partition, Row, place
from tests.sessions.dataset.reference import expected_produced

ELR = "eligible.leader.replicas.version"
Found = tuple[str, int, int]
"""A fate, an offset and a record."""


def expected_fates(events: list[Event]) -> dict[str, list[Found]]:
    """What is wrong with each partition's records at the end."""
    followed = Followed(events)
    told: dict[str, dict[str, list[tuple[int, int]]]] = {}
    audited: dict[str, AuditChanged] = {}
    for event in followed:
        match event:
            case AuditChanged():
                audited[event.tp] = event
            case PartitionStateRemoved():
                audited.pop(event.tp, None)
            case ProduceAcknowledged():
                for i in range(event.count):
                    offset = event.base_offset + i if event.base_offset >= 0 else -1
                    of_tp = told.setdefault(event.tp, {})
                    of_tp.setdefault("lost", []).append((offset, event.first_record + i))
            case RecordsConsumed():
                of_tp = told.setdefault(event.tp, {})
                records = [first + i for first, count in event.runs for i in range(count)]
                of_tp.setdefault("consumed_lost", []).extend(enumerate(records, event.offset))
            case TopicDeleted():
                told = {tp: of for tp, of in told.items() if tp.rpartition("-")[0] != event.topic}
    return {
        tp: sorted(_fates(partition, told.get(tp, {}), audited.get(tp)))
        for tp, partition in followed.partitions.items()
        if partition.exists
    }


def _fates(
    partition: Partition, told: dict[str, list[tuple[int, int]]], audited: AuditChanged | None
) -> list[Found]:
    logs = {
        broker: partition.logs[broker] for broker in partition.replicas if broker in partition.logs
    }
    found = _diverged(logs)
    leader = partition.znode.leader if partition.znode else -1
    if leader in logs:
        start, log = logs[leader]
        held = set(log)
        for fate, records in told.items():
            found += [
                (fate, offset, record)
                for offset, record in records
                if record not in held and record >= partition.removed
            ]
        seen: set[int] = set()
        for offset, record in enumerate(log, start):
            if record in seen:
                found.append(("duplicated", offset, record))
            seen.add(record)
    elif audited is not None:  # nobody has back what the log of the last leader lacked
        for fate in ("lost", "duplicated", "consumed_lost"):
            found += [(fate, offset, record) for offset, record in getattr(audited, fate)]
    return found


def _diverged(logs: dict[int, tuple[int, list[int]]]) -> list[Found]:
    at: dict[int, set[int]] = {}
    for start, log in logs.values():
        for offset, record in enumerate(log, start):
            at.setdefault(offset, set()).add(record)
    return [
        ("diverged", offset, record)
        for offset, records in at.items()
        if len(records) > 1
        for record in records
    ]


def expected_durability_records(session: str, events: list[Event]) -> list[Row]:
    """The rows of ``durability_records``."""
    produced = {row["record"]: row for row in expected_produced(events)}
    names = ("producer", "acks", "sent_seq", "answered_seq")
    return [
        {**place(session, tp), "fate": _fate(fate, produced.get(record)), "record": record,
         "offset": offset,
         **{name: produced.get(record, {}).get(name) for name in names}}
        for tp, found in expected_fates(events).items()
        for fate, offset, record in found
    ]  # fmt: skip


def expected_lost_offsets(session: str, events: list[Event]) -> list[Row]:
    """The rows of ``lost_offsets``: what the audit said last of each partition that exists."""
    last: dict[str, AuditChanged] = {}
    for event in events:
        match event:
            case AuditChanged():
                last[event.tp] = event
            case PartitionStateRemoved():
                last.pop(event.tp, None)
    return [
        {**place(session, tp), "begin": begin, "end": end, "audit_seq": event.seq}
        for tp, event in last.items()
        for begin, end in event.lost_offsets
    ]


def _fate(fate: str, row: Row | None) -> str:
    """With acks=0 nobody was promised the record."""
    return "unacknowledged" if fate == "lost" and row and row["acks"] == 0 else fate


def _generation(version: str, events: list[Event]) -> str:
    """The generation of the protocol; without ZooKeeper it depends on a feature of the cluster."""
    records = [event for event in events if isinstance(event, MetadataRecordCommitted)]
    levels = [json.loads(each.data) for each in records if each.kind == "FeatureLevel"]
    elr = [each["featureLevel"] for each in levels if each["name"] == ELR]
    if not records:
        return generation_of(version)
    return "KIP-966" if elr and elr[-1] else "KIP-500"


def expected_durability(told: dict[str, list[Event]]) -> list[Row]:
    """The rows of ``durability`` of all sessions, without the columns that name examples."""
    cells: dict[tuple[object, ...], Counter[str]] = {}
    sessions: dict[tuple[object, ...], dict[str, set[str]]] = {}
    for session, events in told.items():
        (created,) = (event for event in events if isinstance(event, ClusterCreated))
        followed = Followed(events)
        for _ in followed:
            pass
        fates = expected_fates(events)
        generation = _generation(created.version, events)
        cell_of = {}
        for row in expected_produced(events):
            partition = followed.partitions[row["tp"]]
            cell = (
                generation, row["acks"], partition.min_isr, partition.unclean,
            )  # fmt: skip
            cell_of[row["record"]] = cell
            cells.setdefault(cell, Counter()).update(["records", row["outcome"]])
            sessions.setdefault(cell, {}).setdefault("sessions", set()).add(session)
        for found in fates.values():
            for said, _, record in found:
                if record in cell_of:
                    fate = "unacknowledged" if said == "lost" and cell_of[record][1] == 0 else said
                    cells[cell_of[record]][fate] += 1
                    if fate == "unacknowledged":
                        continue
                    names = ["harmed", "lost"] if fate == "lost" else ["harmed"]
                    for name in names:
                        sessions[cell_of[record]].setdefault(name, set()).add(session)
    counted = (
        *("records", "acked", "sent", "failed", "pending"),
        *("lost", "duplicated", "diverged", "unacknowledged"),
    )
    return [
        {
            **dict(zip(("generation", "acks", "min_isr", "unclean"), cell, strict=True)),
            **{name: cells[cell][name] for name in (*counted, "consumed_lost")},
            "sessions": len(sessions[cell]["sessions"]),
            "sessions_lost": len(sessions[cell].get("lost", ())),
            "sessions_harmed": len(sessions[cell].get("harmed", ())),
        }
        for cell in cells
    ]


def expected_anomalies(session: str, events: list[Event]) -> list[Row]:
    """The rows of ``anomalies``, without ``client``."""
    produced = expected_produced(events)
    given = _given(events)
    acked = [
        r for r in produced if r["outcome"] == "acked" and r["acks"] and r["offset"] is not None
    ]
    found: list[tuple[object, ...]] = []
    deleted = [(e.topic, e.seq) for e in events if isinstance(e, TopicDeleted)]

    def life(tp: str, seq: int) -> tuple[str, int]:
        topic = tp.rpartition("-")[0]
        return tp, sum(name == topic and gone < seq for name, gone in deleted)

    lives = {life(row["tp"], row["answered_seq"]) for row in acked}
    for tp, number in lives | {life(row["tp"], row["seq"]) for row in given}:
        mine = [row for row in acked if life(row["tp"], row["answered_seq"]) == (tp, number)]
        read = [row for row in given if life(row["tp"], row["seq"]) == (tp, number)]
        found += [(tp, *each) for each in (*_unread(mine, read), *_clashes(mine, read))]
        found += [(tp, *each) for each in (*_polls(read), *_sends(mine))]
        found += [(tp, *each) for each in _aborted(produced, read)]
    names = ("tp", "name", "record", "offset", "other_record", "other_offset", "seq")
    rows = [dict(zip(names, each, strict=True)) for each in found]
    return [{**place(session, str(row["tp"])), **row} for row in rows]


def _given(events: list[Event]) -> list[Row]:
    finished: Counter[str] = Counter()
    given = []
    for event in events:
        match event:
            case ConsumeFinished():
                finished[event.consumer] += 1
            case RecordsConsumed():
                records = [first + i for first, count in event.runs for i in range(count)]
                given += [
                    {"tp": event.tp, "seq": event.seq, "offset": offset, "record": record,
                     "consume": (event.consumer, finished[event.consumer])}
                    for offset, record in enumerate(records, event.offset)
                ]  # fmt: skip
    return given


Anomaly = tuple[str, int, int, int | None, int | None, int]


def _unread(acked: list[Row], read: list[Row]) -> list[Anomaly]:
    if not read:
        return []
    found: list[Anomaly] = []
    highest, seen = max(row["offset"] for row in read), {row["record"] for row in read}
    for row in acked:
        record, offset, seq = row["record"], row["offset"], row["answered_seq"]
        if record in seen:
            continue
        later = [r for r in read if r["offset"] == offset and r["seq"] > seq]
        if offset > highest:
            found.append(("unseen", record, offset, None, None, seq))
        elif later:
            instead = min(later, key=lambda r: r["seq"])["record"]
            found.append(("lost-write", record, offset, instead, offset, seq))
    return found


def _clashes(acked: list[Row], read: list[Row]) -> list[Anomaly]:
    ways: dict[tuple[int, int], int] = {}
    for record, offset, seq in (
        *((row["record"], row["offset"], row["answered_seq"]) for row in acked),
        *((row["record"], row["offset"], row["seq"]) for row in read),
    ):
        ways[record, offset] = min(seq, ways.get((record, offset), seq))
    found: list[Anomaly] = []
    for (record, offset), seq in ways.items():
        copies = [(s, o) for (r, o), s in ways.items() if r == record]
        if min(copies) != (seq, offset):
            found.append(("duplicate", record, offset, record, min(copies)[1], seq))
        others = [(s, r) for (r, o), s in ways.items() if o == offset]
        if min(others) != (seq, record):
            found.append(("inconsistent-offsets", record, offset, min(others)[1], offset, seq))
    return found


def _polls(read: list[Row]) -> list[Anomaly]:
    found: list[Anomaly] = []
    before: dict[tuple[str, int], tuple[int, int]] = {}
    for row in read:
        seq, end = before.get(row["consume"], (row["seq"], row["offset"]))
        if seq != row["seq"] and row["offset"] <= end:
            found.append(("nonmonotonic-poll", row["record"], row["offset"], None, end, row["seq"]))
        if seq != row["seq"] and row["offset"] > end + 1:
            found.append(("poll-skip", row["record"], row["offset"], None, end, row["seq"]))
        before[row["consume"]] = (row["seq"], row["offset"])
    return found


def _sends(acked: list[Row]) -> list[Anomaly]:
    found: list[Anomaly] = []
    before: dict[str, Row] = {}
    for row in sorted(acked, key=lambda row: row["record"]):
        last = before.get(row["producer"])
        if last is not None and row["offset"] <= last["offset"]:
            clash = (last["record"], last["offset"], row["answered_seq"])
            found.append(("nonmonotonic-send", row["record"], row["offset"], *clash))
        before[row["producer"]] = row
    return found


def _aborted(produced: list[Row], read: list[Row]) -> list[Anomaly]:
    definite = ("NOT_ENOUGH_REPLICAS", "MESSAGE_TOO_LARGE", "UNKNOWN_TOPIC_OR_PARTITION")
    failed = {r["record"] for r in produced if r["error"] in definite and not r["retries"]}
    first: dict[int, Row] = {}
    for row in read:
        first.setdefault(row["record"], row)
    return [
        ("G1a", record, row["offset"], None, None, row["seq"])
        for record, row in first.items()
        if record in failed
    ]


def expected_session(session: str, events: list[Event], end_us: int) -> Row:
    """The totals of a session in ``sessions``."""
    produced = {row["record"]: row for row in expected_produced(events)}
    outcomes = Counter(row["outcome"] for row in produced.values())
    fates = expected_fates(events)
    records = Counter(
        _fate(fate, produced.get(record)) for found in fates.values() for fate, _, record in found
    )
    diverged = {
        (tp, at) for tp, found in fates.items() for fate, at, _ in found if fate == "diverged"
    }
    checked = Counter(each.passed for each in events if isinstance(each, ExpectationChecked))
    violated = [each for each in events if isinstance(each, InvariantViolated) and not each.known]
    return {
        "session": session,
        "events": len(events),
        "last_seq": events[-1].seq,
        "time_us": end_us,
        "acked": outcomes["acked"],
        "failed": outcomes["failed"],
        "lost": records["lost"],
        "duplicated": records["duplicated"],
        "diverged": len(diverged),
        "consumed_lost": records["consumed_lost"],
        "expectations_passed": checked[True],
        "expectations_failed": checked[False],
        "invariants_violated": len(violated),
        "outcome": "failed" if violated or checked[False] else "passed",
    }
