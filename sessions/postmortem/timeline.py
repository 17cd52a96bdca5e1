"""What happened, for people: one entry for what a batch did, and for how long what was unavailable.

A batch may change thousands of partitions for one reason; it is one entry then. Times are
wall-clock times in microseconds since 1970 UTC.
"""

from collections.abc import Iterable, Sequence
from typing import Final

from msgspec import Struct

from emulator.metadata_log.image import Change, MetadataImage
from emulator.metadata_log.records import (
    FENCE,
    UNFENCE,
    AnyRecord,
    BrokerRegistrationChangeRecord,
    ConfigRecord,
    FeatureLevelRecord,
    LeaderChangeMessage,
    RegisterBrokerRecord,
    TopicRecord,
    UnregisterBrokerRecord,
)
from sessions.postmortem.events import Applied
from sessions.text import brackets, plural

NAMED_MAX: Final = 5
"""How many partitions an entry names."""
ENTRIES_MAX: Final = 200_000
"""How many entries are kept: more than anybody reads, and bounded."""


class Entry(Struct, frozen=True):
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


class Outage(Struct):
    """A partition without a leader, from ``begin_us`` to ``end_us`` (None: to the end).

    ``lost`` is the broker that led it, ``leader`` the one elected at the end; ``is_unclean``: from
    outside the ISR and the ELR.
    """

    tp: str
    begin_us: int
    lost: int
    begin_offset: int
    end_us: int | None = None
    leader: int | None = None
    is_unclean: bool = False


class Shrink(Struct, frozen=True):
    """Members that left an ISR: ``removed`` from ``tp``, leaving ``isr``."""

    time_us: int
    tp: str
    removed: tuple[int, ...]
    isr: tuple[int, ...]
    offset: int
    because: str


class UncleanElection(Struct, frozen=True):
    """A leader that was not in sync: records that only ``isr`` had are lost."""

    time_us: int
    tp: str
    leader: int
    isr: tuple[int, ...]
    offset: int


class Timeline:
    """Collects entries, outages, shrinks and unclean elections."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self.outages: list[Outage] = []
        self.shrinks: list[Shrink] = []
        self.unclean: list[UncleanElection] = []
        self.left_out = 0
        self._open: dict[str, Outage] = {}
        self._leaving: set[int] = set()

    def add(self, entry: Entry) -> None:
        """Add an entry."""
        if len(self.entries) >= ENTRIES_MAX:
            self.left_out += 1
        else:
            self.entries.append(entry)

    def take(self, applied: Applied, image: MetadataImage, because: str = "") -> None:
        """Add what a batch did; ``image`` is the metadata after it."""
        if applied.is_snapshot:
            return
        offset = applied.batch.base_offset
        for at, record in enumerate(applied.records, offset):
            told = self._of_record(record)
            if told is not None:
                kind, what, why = told
                self._add(applied, at, kind, what, why or because)
        self._partitions(applied, because or self._reason(applied.records))

    def _add(self, applied: Applied, offset: int, kind: str, what: str, because: str) -> None:
        source = f"__cluster_metadata offset {offset}"
        self.add(Entry(applied.time_us, kind, what, because, source, offset))

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

    @staticmethod
    def _reason(records: Sequence[AnyRecord]) -> str:
        """Why a batch changes partitions, as far as the batch says so."""
        for record in records:
            match record:
                case BrokerRegistrationChangeRecord(broker_id=broker, fenced=1):
                    return f"broker {broker} is fenced"
                case BrokerRegistrationChangeRecord(broker_id=broker, fenced=-1):
                    return f"broker {broker} is unfenced"
                case BrokerRegistrationChangeRecord(broker_id=broker, in_controlled_shutdown=1):
                    return f"broker {broker} shuts down"
                case RegisterBrokerRecord(broker_id=broker):
                    return f"broker {broker} has restarted"
                case _:
                    pass
        return ""

    # ---- partitions

    def _partitions(self, applied: Applied, because: str) -> None:
        groups: dict[tuple[str, str], list[str]] = {}
        for key, change in applied.delta.partitions.items():
            tp = f"{change.topic}-{key.partition}"
            for kind, what in self._of_partition(tp, change, applied, because):
                groups.setdefault((kind, what), []).append(tp)
        for (kind, what), tps in groups.items():
            self._add(applied, applied.batch.base_offset, kind, what.format(_named(tps)), because)

    def _of_partition(
        self, tp: str, change: Change, applied: Applied, because: str
    ) -> Iterable[tuple[str, str]]:
        before, after = change.before, change.after
        offset, now_us = applied.batch.base_offset, applied.time_us
        if after is None:
            self._close(tp, now_us, None, is_unclean=False)
            yield "topic", f"topic {change.topic} is deleted"
            return
        if before is None:
            return
        if before.leader != after.leader:
            is_unclean = bool(after.leader_recovery_state) and after.leader not in before.isr
            if after.leader < 0:
                outage = Outage(tp, now_us, before.leader, offset)
                self._open[tp] = outage
                self.outages.append(outage)
                yield "offline", f"{{}} lost the leader {before.leader}, and nobody may lead"
            elif is_unclean:
                self.unclean.append(UncleanElection(now_us, tp, after.leader, before.isr, offset))
                self._close(tp, now_us, after.leader, is_unclean=True)
                yield "unclean", f"{{}}: {after.leader} is elected although it was not in sync"
            else:
                self._close(tp, now_us, after.leader, is_unclean=False)
                was = f"in place of {before.leader}" if before.leader >= 0 else "after none"
                yield "leader", f"{{}}: {after.leader} leads {was}"
        gone = tuple(broker for broker in before.isr if broker not in after.isr)
        come = [broker for broker in after.isr if broker not in before.isr]
        if gone:
            self.shrinks.append(Shrink(now_us, tp, gone, after.isr, offset, because))
            yield (
                "isr-shrink",
                f"{{}}: {brackets(gone)} left the ISR, which is {brackets(after.isr)}",
            )
        if come:
            yield (
                "isr-expand",
                f"{{}}: {brackets(come)} joined the ISR, which is {brackets(after.isr)}",
            )
        if before.is_reassigning != after.is_reassigning:
            word = "starts" if after.is_reassigning else "is complete"
            yield "reassignment", f"{{}}: its reassignment {word}"

    def _close(self, tp: str, time_us: int, leader: int | None, *, is_unclean: bool) -> None:
        outage = self._open.pop(tp, None)
        if outage is not None:
            outage.end_us, outage.leader, outage.is_unclean = time_us, leader, is_unclean


def _named(tps: Sequence[str]) -> str:
    if len(tps) <= NAMED_MAX:
        return ", ".join(tps)
    return f"{plural(len(tps), 'partition')} ({', '.join(tps[:NAMED_MAX])}, ..)"


def _of_topic_or_setting(record: AnyRecord) -> tuple[str, str, str] | None:
    match record:
        case TopicRecord(name=name):
            return "topic", f"topic {name} is created", ""
        case ConfigRecord(resource_name=name, name=key, value=value):
            what = "is removed" if value is None else f"is set to {value}"
            return "config", f"{key} of {name or 'all brokers'} {what}", ""
        case FeatureLevelRecord(name=name, feature_level=level):
            return "feature", f"{name} is finalized at level {level}", ""
        case _:
            return None
