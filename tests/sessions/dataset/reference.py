"""The simplest code that knows what the tables must hold: whole logs, record by record."""

from typing import Any

from emulator.events import (
    Event,
    HighWatermarkChanged,
    LogCreated,
    LogDeleted,
    LogLoaded,
    LogTruncated,
    PartitionStateChanged,
    PartitionStateRemoved,
    ProduceAcknowledged,
    ProduceFailed,
    ProduceRetried,
    ProduceSent,
    RecordsAppended,
    RemoteLogEndOffsetChanged,
    ReplicaRoleChanged,
)

Row = dict[str, Any]
Replica = tuple[str, int]
NO_RECORD = -1
"""Stands at offsets below the start of a log that was begun anew."""
COMMITTING = (
    ProduceSent, RecordsAppended, LogTruncated, LogLoaded, LogDeleted, HighWatermarkChanged,
    ReplicaRoleChanged,
)  # fmt: skip
"""After all others, the same records are below the same leaders' high watermarks as before."""


class Records:
    """All records that were sent, and all logs, after each event of a story."""

    def __init__(self) -> None:
        self.rows: dict[int, Row] = {}
        self.logs: dict[Replica, list[int]] = {}
        self.high_watermarks: dict[Replica, int] = {}
        self.leaders: set[Replica] = set()

    def apply(self, event: Event) -> None:
        """Take one more event into account."""
        self._follow_producers(event)
        self._follow_logs(event)
        if not isinstance(event, COMMITTING):
            return
        for replica in self.leaders:
            for record in self.logs.get(replica, [])[: self.high_watermarks.get(replica, 0)]:
                row = self.rows.get(record)
                if row is not None and row["committed_seq"] is None:
                    row |= {"committed_seq": event.seq, "committed_us": event.time_us}

    def _follow_producers(self, event: Event) -> None:
        match event:
            case ProduceSent():
                for index, value in enumerate(event.values):
                    self.rows[event.first_record + index] = _sent(event, index, value)
            case ProduceRetried():
                batch = self.rows[event.first_record]["sent_seq"]
                for row in self.rows.values():
                    row["retries"] += row["sent_seq"] == batch
            case ProduceAcknowledged() | ProduceFailed():
                _respond(event, self.rows)

    def _follow_logs(self, event: Event) -> None:
        match event:
            case RecordsAppended():
                log = self.logs.setdefault((event.tp, event.broker), [])
                _append(event, self.rows, log, self.leaders)
            case LogTruncated() | LogLoaded():
                log = self.logs.setdefault((event.tp, event.broker), [])
                del log[event.log_end_offset :]
                log += [NO_RECORD] * (event.log_end_offset - len(log))
                if isinstance(event, LogLoaded):
                    self.high_watermarks[event.tp, event.broker] = event.high_watermark
            case LogDeleted():
                self.logs.pop((event.tp, event.broker), None)
                self.high_watermarks.pop((event.tp, event.broker), None)
                self.leaders.discard((event.tp, event.broker))
            case HighWatermarkChanged():
                self.high_watermarks[event.tp, event.broker] = event.high_watermark
            case ReplicaRoleChanged():
                change = self.leaders.add if event.role == "leader" else self.leaders.discard
                change((event.tp, event.broker))


def expected_produced(events: list[Event]) -> list[Row]:
    """The rows of ``produced``, by record."""
    records = Records()
    for event in events:
        records.apply(event)
    return [records.rows[record] for record in sorted(records.rows)]


def _sent(event: ProduceSent, index: int, value: str) -> Row:
    topic, _, partition = event.tp.rpartition("-")
    return {
        "record": event.first_record + index,
        "producer": event.producer,
        "tp": event.tp,
        "topic": topic,
        "partition": int(partition),
        "key": event.keys[index] if event.keys else None,
        "value": value,
        "acks": event.acks,
        "sent_seq": event.seq,
        "sent_us": event.time_us,
        "retries": 0,
        "appended_seq": None,
        "appended_us": None,
        "offset": None,
        "outcome": "pending",
        "error": "NONE",
        "answered_seq": None,
        "answered_us": None,
        "committed_seq": None,
        "committed_us": None,
    }


def _append(
    event: RecordsAppended, found: dict[int, Row], log: list[int], leaders: set[Replica]
) -> None:
    assert len(log) == event.base_offset
    for index in range(event.count):
        record = event.first_record + index
        log.append(record)
        row = found.get(record)
        if row is None:  # a coordinator's record
            continue
        if (event.tp, event.broker) in leaders and row["appended_seq"] is None:
            row |= {"appended_seq": event.seq, "appended_us": event.time_us}
            if row["offset"] is None:
                row["offset"] = event.base_offset + index


def _respond(event: ProduceAcknowledged | ProduceFailed, found: dict[int, Row]) -> None:
    for index in range(event.count):
        row = found[event.first_record + index]
        row |= {"answered_seq": event.seq, "answered_us": event.time_us}
        if isinstance(event, ProduceFailed):
            row |= {"outcome": "failed", "error": event.error}
            continue
        row["outcome"] = "acked" if row["acks"] else "sent"
        if event.base_offset >= 0:
            row["offset"] = event.base_offset + index


class Moment:
    """What replicas and partitions are like after each event of a story, worked out anew."""

    def __init__(self) -> None:
        self.replicas: dict[Replica, Row] = {}
        self.znodes: dict[str, PartitionStateChanged] = {}
        self.remembered: dict[tuple[str, int, int], int] = {}

    def apply(self, event: Event) -> None:
        """Take one more event into account."""
        match event:
            case PartitionStateChanged():
                self.znodes[event.tp] = event
            case PartitionStateRemoved():
                self.znodes.pop(event.tp, None)
            case HighWatermarkChanged():
                self._replica(event.tp, event.broker)["hw"] = event.high_watermark
            case RemoteLogEndOffsetChanged():
                self.remembered[event.tp, event.broker, event.follower] = event.log_end_offset
            case _:
                self._follow_log(event)

    def _follow_log(self, event: Event) -> None:
        match event:
            case LogCreated():
                self._replica(event.tp, event.broker)
            case LogLoaded():
                ends = {"leo": event.log_end_offset, "hw": event.high_watermark}
                self._replica(event.tp, event.broker).update(ends)
            case LogDeleted():
                self.replicas.pop((event.tp, event.broker), None)
            case ReplicaRoleChanged():
                change = {"role": event.role, "leader_epoch": event.leader_epoch}
                self._replica(event.tp, event.broker).update(change)
                if event.role != "leader":
                    for key in [k for k in self.remembered if k[:2] == (event.tp, event.broker)]:
                        del self.remembered[key]
            case RecordsAppended():
                leo = event.base_offset + event.count
                self._replica(event.tp, event.broker)["leo"] = leo
            case LogTruncated():
                self._replica(event.tp, event.broker)["leo"] = event.log_end_offset

    def _replica(self, tp: str, broker: int) -> Row:
        new = {"role": "offline", "leader_epoch": -1, "leo": 0, "hw": 0}
        return self.replicas.setdefault((tp, broker), new)

    def replica(self, tp: str, broker: int) -> Row:
        """The replica's values, by the names of columns."""
        znode = self.znodes.get(tp)
        leader = znode.leader if znode else -1
        return {
            **self._replica(tp, broker),
            "in_isr": znode is not None and broker in znode.isr,
            "remote_leo": self.remembered.get((tp, leader, broker)),
        }

    def partition(self, tp: str) -> Row:
        """The partition's values, by the names of columns."""
        znode = self.znodes.get(tp)
        if znode is None:
            return {"state": "nonexistent", "leader": None, "isr": [], "hw": None, "leo": None}
        leader = self.replicas.get((tp, znode.leader), {})
        if leader.get("role") != "leader":
            leader = {"hw": None, "leo": None}
        return {
            "state": "online" if znode.leader >= 0 else "offline",
            "leader": znode.leader,
            "leader_epoch": znode.leader_epoch,
            "zk_version": znode.zk_version,
            "isr": znode.isr,
            "hw": leader["hw"],
            "leo": leader["leo"],
        }
