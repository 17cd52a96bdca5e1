"""What happened, for people: one entry for each thing that a batch did.

A batch may change thousands of partitions for one reason; that is one entry. Times are wall-clock
times in microseconds since 1970 UTC.
"""

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct

from emulator.metadata_log.changes import Change
from emulator.metadata_log.records import (
    FENCE,
    UNFENCE,
    AnyRecord,
    BrokerRegistrationChangeRecord,
    ConfigRecord,
    FeatureLevelRecord,
    LeaderChangeMessage,
    PartitionChangeRecord,
    PartitionRecord,
    RegisterBrokerRecord,
    TopicRecord,
    UnregisterBrokerRecord,
)
from emulator.metadata_log.registrations import PartitionRegistration
from sessions.postmortem.events import Applied
from sessions.postmortem.reasons import Causes
from sessions.postmortem.text_logs.facts import (
    BrokerFenced,
    BrokerRegistered,
    BrokerUnfenced,
    Configured,
    FollowerStarted,
    IsrExpanded,
    IsrShrunk,
    IsrStored,
    LeaderAndIsrReceived,
    LeaderStarted,
    PartitionChanged,
    PartitionRecordChanged,
    QuorumHighWatermark,
    SegmentRecovered,
    UncleanLeaderElected,
)
from sessions.postmortem.text_logs.log_line import LogLine
from sessions.postmortem.witnesses import FOREVER_US, SOON_US
from sessions.text import brackets, plural

NAMED_MAX: Final = 5
"""How many partitions an entry names."""
PLACE: Final = "\0"
"""Stands for the names of partitions in a sentence about them."""
LEFT_OUT: Final = (
    *(BrokerFenced, BrokerRegistered, BrokerUnfenced, Configured, FollowerStarted),
    *(IsrExpanded, IsrShrunk, IsrStored, LeaderAndIsrReceived, LeaderStarted, PartitionChanged),
    *(PartitionRecordChanged, QuorumHighWatermark, SegmentRecovered, UncleanLeaderElected),
)
"""Lines that say what a record says, which they are witnesses of, or what follows from it."""
UNANSWERED: Final = "no record followed: the request did not arrive, or was refused"
SAME_PROCESS: Final = (
    "; it has not registered again, so that its process is the same: it hung, or was cut off"
)
ISR_SHRINK: Final = "isr-shrink"
ENTRIES_MAX: Final = 200_000
"""How many entries are kept: more than anybody reads, and bounded."""


class TimelineEntry(Struct, frozen=True):
    """One line of the timeline.

    ``source`` is the record or the line of a text log that says so; ``because`` is empty if nothing
    is known. ``kind`` groups entries in a report, and ``offset`` is that of the batch (-1: none).
    """

    time_us: int
    kind: str
    what: str
    because: str = ""
    source: str = ""
    offset: int = -1


class Timeline:
    """Collects entries; ``left_out`` counts those that were too many to be kept."""

    def __init__(self) -> None:
        self.entries: list[TimelineEntry] = []
        self.left_out = 0
        self._leaving: set[int] = set()
        self._silent: set[int] = set()
        self._shrinks: dict[str, LogLine] = {}
        self._shrinks_in_order: deque[LogLine] = deque()

    def add(self, entry: TimelineEntry) -> None:
        if len(self.entries) >= ENTRIES_MAX:
            self.left_out += 1
        else:
            self.entries.append(entry)

    def take(self, applied: Applied, because: Mapping[int, str]) -> None:
        """Add what a batch did; ``because`` is what the rules say of records, by offset."""
        if applied.is_snapshot:
            return
        for witness in applied.witnesses.values():
            if isinstance(witness.line.fact, IsrShrunk):
                self._shrinks.pop(witness.line.fact.tp, None)
        self._add_unanswered(applied.time_us)
        causes = Causes(applied, because)
        for offset, record in enumerate(applied.records, applied.batch.base_offset):
            if isinstance(record, PartitionRecord | PartitionChangeRecord):
                continue
            entry = self._of_record(record)
            if entry is not None:
                kind, sentence, why = entry
                reason = causes.of_record(offset, why) + self._of_process(record)
                self._add(applied, offset, kind, sentence, reason)
        self._partitions(applied, causes)

    def _add(self, applied: Applied, offset: int, kind: str, sentence: str, because: str) -> None:
        witness = applied.witnesses.get(offset)
        source = f"__cluster_metadata offset {offset}" if witness is None else witness.line.source
        self.add(TimelineEntry(applied.time_us, kind, sentence, because, source, offset))

    def note(self, line: LogLine) -> None:
        """Add a line of a text log, unless records say the same, or nobody asks for it."""
        self._add_unanswered(line.time_us)
        if isinstance(line.fact, IsrShrunk):
            self._shrinks[line.fact.tp] = line
            self._shrinks_in_order.append(line)
        if not isinstance(line.fact, LEFT_OUT):
            self.add(TimelineEntry(line.time_us, "line", line.sentence, "", line.source))

    def end(self) -> None:
        """Add what waits for an answer that may still come, and put all in the order of time."""
        self._add_unanswered(FOREVER_US)
        self.entries.sort(key=lambda entry: entry.time_us)

    def _add_unanswered(self, now_us: int) -> None:
        """Add the shrinks of ISRs that leaders wanted, and that no record makes.

        The leader is then cut off from the controller, or leads no longer and does not know it.
        """
        waiting = self._shrinks_in_order
        while waiting and now_us - waiting[0].time_us > SOON_US:
            line = waiting.popleft()
            fact = line.fact
            assert isinstance(fact, IsrShrunk)
            if self._shrinks.get(fact.tp) is line:
                del self._shrinks[fact.tp]
                self.add(
                    TimelineEntry(line.time_us, "line", line.sentence, UNANSWERED, line.source)
                )

    # ---- nodes, topics, configurations

    def _of_record(self, record: AnyRecord) -> tuple[str, str, str] | None:
        match record:
            case LeaderChangeMessage(leader_id=leader):
                return "controller", f"controller {leader} becomes active", "the quorum elected it"
            case RegisterBrokerRecord(broker_id=broker):
                self._leaving.discard(broker)
                return "broker", f"broker {broker} registers", "its process has started"
            case UnregisterBrokerRecord(broker_id=broker):
                return "broker", f"broker {broker} is unregistered", "an administrator asked for it"
            case BrokerRegistrationChangeRecord():
                return self._of_broker(record)
            case _:
                return _of_topic_or_setting(record)

    def _of_broker(self, record: BrokerRegistrationChangeRecord) -> tuple[str, str, str] | None:
        broker = record.broker_id
        if record.fenced == FENCE:
            if broker in self._leaving:
                return "broker", f"broker {broker} is fenced", "its controlled shutdown is complete"
            why = "the active controller had no heartbeat from it for broker.session.timeout.ms"
            return "broker", f"broker {broker} is fenced", why
        if record.fenced == UNFENCE:
            self._leaving.discard(broker)
            return (
                "broker",
                f"broker {broker} is unfenced",
                "it has caught up with the metadata log",
            )
        if record.in_controlled_shutdown:
            self._leaving.add(broker)
            return "broker", f"broker {broker} starts a controlled shutdown", "it asked to stop"
        return None

    def _of_process(self, record: AnyRecord) -> str:
        """What a broker's return tells of its process: only a new one registers again."""
        match record:
            case BrokerRegistrationChangeRecord(broker_id=broker, fenced=fenced):
                if fenced == FENCE:
                    self._silent.add(broker)
                elif fenced == UNFENCE and broker in self._silent:
                    self._silent.discard(broker)
                    return SAME_PROCESS
            case RegisterBrokerRecord(broker_id=broker):
                self._silent.discard(broker)
            case _:
                pass
        return ""

    # ---- partitions

    def _partitions(self, applied: Applied, causes: Causes) -> None:
        """Add an entry for each thing that happened to any partitions, for one reason."""
        groups: dict[tuple[str, str, str], list[str]] = {}
        places: dict[tuple[str, str, str], int] = {}
        for key, change in applied.delta.partitions.items():
            why = causes.of_partition(key, change)
            for kind, sentence in _of_partition(change):
                group = kind, sentence, why
                groups.setdefault(group, []).append(f"{change.topic}-{key.partition}")
                places.setdefault(group, causes.place(key))
        for group, tps in groups.items():
            kind, sentence, why = group
            self._add(
                applied, places[group], kind, sentence.replace(PLACE, partitions_text(tps)), why
            )


def _of_partition(change: Change) -> Iterator[tuple[str, str]]:
    """The kinds of what happened to a partition, and sentences with a place for its name."""
    before, after = change.before, change.after
    if after is None:
        yield "topic", f"topic {change.topic} is deleted"
        return
    if before is None:
        return
    if before.leader != after.leader:
        yield _of_leader(before, after)
    removed = [broker for broker in before.isr if broker not in after.isr]
    added = [broker for broker in after.isr if broker not in before.isr]
    isr = brackets(after.isr)
    if removed:
        yield ISR_SHRINK, f"{PLACE}: {brackets(removed)} left the ISR, which is {isr}"
    if added:
        yield "isr-expand", f"{PLACE}: {brackets(added)} joined the ISR, which is {isr}"
    if before.is_reassigning != after.is_reassigning:
        word = "starts" if after.is_reassigning else "is complete"
        yield "reassignment", f"{PLACE}: the reassignment {word}"


def _of_leader(before: PartitionRegistration, after: PartitionRegistration) -> tuple[str, str]:
    if after.leader < 0:
        return "offline", f"{PLACE} lost the leader {before.leader}, and nobody may lead"
    if after.leader_recovery_state and after.leader not in before.isr:
        return "unclean", f"{PLACE}: {after.leader} is elected although it was not in sync"
    if before.leader < 0:
        return "online", f"{PLACE}: {after.leader} leads; there was no leader"
    return "leader", f"{PLACE}: {after.leader} leads in place of {before.leader}"


def partitions_text(tps: Sequence[str]) -> str:
    """The names of partitions; of more than five, how many they are and the first ones."""
    if len(tps) <= NAMED_MAX:
        return ", ".join(tps)
    return f"{plural(len(tps), 'partition')} ({', '.join(tps[:NAMED_MAX])}, ..)"


def _of_topic_or_setting(record: AnyRecord) -> tuple[str, str, str] | None:
    match record:
        case TopicRecord(name=name):
            return "topic", f"topic {name} is created", ""
        case ConfigRecord(resource_name=name, name=key, value=value):
            change = "is removed" if value is None else f"is set to {value}"
            return "config", f"{key} of {name or 'all brokers'} {change}", ""
        case FeatureLevelRecord(name=name, feature_level=level):
            return "feature", f"{name} is finalized at level {level}", ""
        case _:
            return None
