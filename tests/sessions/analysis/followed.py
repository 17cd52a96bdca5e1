"""A session followed event by event in plain Python: what the jobs' references look at.

Nothing here is fast or clever; each value is what the events have said of it so far.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from emulator.events import (
    BrokerStateChanged,
    ClusterCreated,
    ConfigChanged,
    ControllerElected,
    Event,
    LogCreated,
    LogDeleted,
    LogLoaded,
    LogStartOffsetChanged,
    LogTruncated,
    MetadataRecordCommitted,
    PartitionsAdded,
    PartitionStateChanged,
    PartitionStateRemoved,
    RecordsAppended,
    ReplicaRoleChanged,
    ReplicasAssigned,
    TopicCreated,
    TopicDeleted,
)
from emulator.releases.config import resolve

Row = dict[str, Any]
LEADING = (
    TopicCreated, PartitionsAdded, TopicDeleted, PartitionStateChanged, BrokerStateChanged,
    LogDeleted, ReplicaRoleChanged,
)  # fmt: skip
"""After all others, the same partitions exist, and the same replicas lead, as before."""


@dataclass
class Partition:
    """What is known of a partition; ``roles`` holds a role and leader epoch a broker."""

    exists: bool = False
    led: bool = False
    replicas: list[int] = field(default_factory=list)
    znode: PartitionStateChanged | None = None
    min_isr: int = 1
    unclean: bool = False
    roles: dict[int, tuple[str, int]] = field(default_factory=dict)
    logs: dict[int, tuple[int, list[int]]] = field(default_factory=dict)
    frozen: set[int] = field(default_factory=set)
    removed: int = 0
    """Records below were deleted from the start of a log, by retention or on request."""

    @property
    def leading(self) -> int:
        """How many replicas act as leader on a broker that is not frozen."""
        return sum(
            role == "leader" and broker not in self.frozen
            for broker, (role, _) in self.roles.items()
        )

    def wrong(self) -> dict[str, bool]:
        """What is wrong with it, by the kinds of outages."""
        there = self.exists and self.znode is not None
        isr = self.znode.isr if self.znode else []
        return {
            "offline": there and self.znode is not None and self.znode.leader < 0,
            "leaderless": self.exists and self.led and not self.leading,
            "under_min_isr": there and len(isr) < self.min_isr,
            "under_replicated": there and bool(set(self.replicas) - set(isr)),
        }


class Followed:
    """The cluster after each event."""

    def __init__(self, events: list[Event]) -> None:
        self.events = events
        self.partitions: dict[str, Partition] = {}
        self.processes: dict[int, str] = {}
        self.frozen: set[int] = set()
        self.controller: int | None = None
        self.defaults = resolve("3.9", {})

    def __iter__(self) -> Iterator[Event]:
        """Each event, after it has been taken into account."""
        for event in self.events:
            self.apply(event)
            yield event

    def of(self, tp: str) -> Partition:
        return self.partitions.setdefault(tp, Partition(frozen=self.frozen))

    def apply(self, event: Event) -> None:
        """Take one more event into account."""
        self._topics(event)
        self._replicas(event)
        match event:
            case ClusterCreated():
                self.defaults = resolve(event.version, event.config)
            case BrokerStateChanged():
                self.processes[event.broker] = event.state
                change = self.frozen.add if event.state == "frozen" else self.frozen.discard
                change(event.broker)
            case ControllerElected():
                self.controller = event.broker
            case PartitionStateChanged():
                found = self.of(event.tp)
                found.exists, found.znode = True, event
            case PartitionStateRemoved():
                self.of(event.tp).znode = None
        if not isinstance(event, LEADING):
            return
        for found in self.partitions.values():
            found.led = found.exists and (found.led or found.leading > 0)

    def _topics(self, event: Event) -> None:
        match event:
            case TopicCreated():
                config = event.config
                for number, replicas in enumerate(event.assignment):
                    found = self.of(f"{event.topic}-{number}")
                    found.exists, found.replicas = True, replicas
                    self._configure(found, "min.insync.replicas", config)
                    self._configure(found, "unclean.leader.election.enable", config)
            case PartitionsAdded():
                known = self.of(f"{event.topic}-0")
                for number, replicas in enumerate(event.assignment, event.first):
                    found = self.of(f"{event.topic}-{number}")
                    found.exists, found.replicas = True, replicas
                    found.min_isr, found.unclean = known.min_isr, known.unclean
            case TopicDeleted():
                for found in self._of_topic(event.topic):
                    found.exists, found.znode = False, None
            case ReplicasAssigned():
                self.of(event.tp).replicas = event.replicas
            case ConfigChanged() if event.entity == "topic":
                for found in self._of_topic(event.name):
                    self._configure(found, event.key, {event.key: event.value})

    def _of_topic(self, topic: str) -> list[Partition]:
        return [
            p for tp, p in self.partitions.items() if p.exists and tp.rpartition("-")[0] == topic
        ]

    def _configure(self, found: Partition, key: str, config: dict[str, str]) -> None:
        value = config.get(key)
        if key == "min.insync.replicas":
            found.min_isr = int(value or self.defaults.min_insync_replicas)
        elif key == "unclean.leader.election.enable":
            default = self.defaults.unclean_leader_election_enable
            found.unclean = value == "true" if value else default

    def _replicas(self, event: Event) -> None:
        match event:
            case LogCreated():
                self.of(event.tp).logs.setdefault(event.broker, (0, []))
            case LogDeleted():
                self.of(event.tp).roles.pop(event.broker, None)
                self.of(event.tp).logs.pop(event.broker, None)
            case ReplicaRoleChanged():
                self.of(event.tp).roles[event.broker] = (event.role, event.leader_epoch)
            case RecordsAppended():
                _, log = self.of(event.tp).logs.setdefault(event.broker, (0, []))
                log.extend(range(event.first_record, event.first_record + event.count))
            case LogTruncated() | LogLoaded():
                start, log = self.of(event.tp).logs.setdefault(event.broker, (0, []))
                del log[max(0, event.log_end_offset - start) :]
                if not log:
                    self.of(event.tp).logs[event.broker] = (event.log_end_offset, [])
            case LogStartOffsetChanged():
                found = self.of(event.tp)
                start, log = found.logs[event.broker]
                gone = max(0, event.log_start - start)
                found.logs[event.broker] = (event.log_start, log[gone:])
                found.removed = max((found.removed, *(record + 1 for record in log[:gone])))


Release = tuple[str, str]
"""A version and ``zk`` or ``kraft``."""


def release_of(events: list[Event]) -> Release:
    """The release that a session ran by, and its mode."""
    version = next(event.version for event in events if isinstance(event, ClusterCreated))
    kraft = any(isinstance(event, MetadataRecordCommitted) for event in events)
    return version, "kraft" if kraft else "zk"


def place(session: str, tp: str) -> Row:
    """The columns that say where a row belongs."""
    topic, _, number = tp.rpartition("-")
    return {"session": session, "tp": tp, "topic": topic, "partition": int(number)}


def stretches(durations: list[tuple[int, int, int]]) -> tuple[int | None, int | None]:
    """The longest of (lasted, from_seq, ..) with its first event, the earliest of several."""
    if not durations:
        return None, None
    lasted, first, *_ = max(durations, key=lambda each: (each[0], -each[1]))
    return lasted, first


def percentiles(prefix: str, values: list[int]) -> Row:
    """Nearest-rank percentiles: the first value at or above which that share of all values ends."""
    ordered = sorted(values)
    ranks = {percent: -(-len(ordered) * percent // 100) for percent in (50, 95, 99)}
    found = {
        f"{prefix}_p{percent}_us": ordered[rank - 1] if ordered else None
        for percent, rank in ranks.items()
    }
    return {**found, f"{prefix}_n": len(ordered), f"{prefix}_max_us": max(ordered, default=None)}
