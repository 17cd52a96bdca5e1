"""A history from text logs alone: best effort, where nobody kept a metadata or transaction log.

What controllers and brokers say of leaders, ISRs and registrations becomes records, so that the
timeline is the one of an exact history; its source is the line. What no line says stays unknown:
replicas that were never in an ISR, configurations, and what happened on nodes whose logs are
missing or rotated away.
"""

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, tzinfo
from pathlib import Path
from typing import Final, Literal

from msgspec import Struct

from emulator import events
from emulator.events import Event
from emulator.inputs.statements import CreateCluster
from emulator.metadata_log.changes import MetadataDelta
from emulator.metadata_log.image import MetadataImage
from emulator.metadata_log.records import (
    FENCE,
    NO_FENCING_CHANGE,
    RECOVERED,
    RECOVERING,
    UNFENCE,
    AnyRecord,
    BrokerRegistrationChangeRecord,
    PartitionRecord,
    RegisterBrokerRecord,
    RemoveTopicRecord,
    TopicRecord,
)
from emulator.metadata_log.registrations import PartitionRegistration
from emulator.releases.versions import RELEASE_OF
from emulator.wire.metadata.batches import MetadataBatch
from sessions.own_cluster.places import Place
from sessions.own_cluster.reading import SourceError
from sessions.postmortem.events import US_PER_MS, Applied, WallClockEvents
from sessions.postmortem.impact import Impact
from sessions.postmortem.incident import Incident, Progress
from sessions.postmortem.log_files import copies_in, is_text_log
from sessions.postmortem.session import write_session
from sessions.postmortem.text_logs import facts
from sessions.postmortem.text_logs.entries import Entry
from sessions.postmortem.text_logs.merging import TextLogs, find_text_logs
from sessions.postmortem.timeline import Entry as TimelineEntry
from sessions.postmortem.timeline import Timeline
from sessions.postmortem.witnesses import FOREVER_US, Lines, Witnesses
from sessions.text import clean

OLDEST_KRAFT: Final = "3.3"
OLDEST: Final = "0.8.2"
NAMED_MAX: Final = 3
"""How many files a refusal names."""
LOOKED_AT: Final = 100_000
"""How many entries are searched for the release."""
TOLD_EVERY: Final = 4_096
_NOBODY: Final = -1
_KRAFT: Final = (facts.BrokerFenced, facts.QuorumRole, facts.PartitionRecordChanged)
_UNKNOWN: Final = PartitionRegistration((), (), _NOBODY)
MISSING: Final = (
    "there is no metadata log and no transaction log of ZooKeeper: the history is what the text "
    "logs say, and nothing of configurations, of replicas that no line names, and of nodes whose "
    "logs are missing"
)

NO_IMAGE: Final = (
    "text logs do not always say which replicas a partition has and how its topic is configured; "
    "add the folder version-2 of a ZooKeeper server, or __cluster_metadata-0 of a controller"
)
"""Why no cluster can be started in the state before an incident."""


class Told(Struct, frozen=True):
    """What a line says of a partition; None: it does not say.

    ``is_election``: it is the controller's, who knows the state before.
    """

    tp: str
    leader: int | None = None
    isr: tuple[int, ...] | None = None
    epoch: int | None = None
    version: int | None = None
    is_unclean: bool = False
    is_election: bool = False


class LineTimeline(Timeline):
    """The timeline in which the source of each entry is the line ``line``."""

    def __init__(self, mode: str) -> None:
        """Use the words of a cluster with or without ZooKeeper."""
        super().__init__()
        self.mode = mode
        self.line: Entry | None = None

    def _add(self, applied: Applied, offset: int, kind: str, what: str, because: str) -> None:
        source = "" if self.line is None else self.line.source
        self.add(TimelineEntry(applied.time_us, kind, what, because, source, offset))

    def _tell_unanswered(self, now_us: int) -> None:
        """Nobody else could say whether there was an answer."""

    def _of_record(self, record: AnyRecord) -> tuple[str, str, str] | None:
        match record:
            case BrokerRegistrationChangeRecord(fenced=fenced) if fenced != FENCE:
                return None
            case BrokerRegistrationChangeRecord(broker_id=broker) if self.mode == "zk":
                return "broker", f"the registration of broker {broker} is gone", ""
            case _:
                return super()._of_record(record)


def told_by(entry: Entry) -> Told | None:
    """What a line says of a partition's leader, epoch and ISR."""
    match entry.fact:
        case facts.PartitionChanged() as fact:
            leader = fact.leader
            if leader is None and fact.state == "OfflinePartition":
                leader = _NOBODY
            is_unclean = fact.recovery == "RECOVERING"
            is_known = fact.isr is not None or leader == _NOBODY
            return Told(fact.tp, leader, fact.isr, fact.epoch, fact.version, is_unclean, is_known)
        case facts.ElectionFailed(tp=tp, state="OfflinePartition"):
            return Told(tp, _NOBODY, is_election=True)
        case facts.LeaderAndIsrReceived() | facts.LeftIsr() as fact:
            return Told(fact.tp, fact.leader, fact.isr, fact.epoch, fact.version)
        case facts.LeaderStarted() as fact:
            return Told(fact.tp, entry.node, fact.isr, fact.epoch)
        case facts.FollowerStarted() as fact:
            return Told(fact.tp, fact.leader, None, fact.epoch)
        case facts.IsrStored() as fact:
            return Told(fact.tp, entry.node, fact.isr, None, fact.version)
        case facts.IsrShrunk() | facts.IsrExpanded() as fact:
            return Told(fact.tp, entry.node, fact.isr)
        case _:
            return None


class LineRecords:
    """Writes records of what lines say, where that is news."""

    def __init__(self, image: MetadataImage) -> None:
        """Write for ``image``, to which the caller applies what is written."""
        self.image = image
        self._unclean: dict[str, int] = {}

    def records(self, entry: Entry) -> Iterator[AnyRecord]:
        """Yield what a line adds to the image."""
        match entry.fact:
            case facts.TopicDeleted(topic=name):
                topic = self.image.topic(name)
                if topic is not None:
                    yield RemoveTopicRecord(topic.id)
            case facts.UncleanLeaderElected(tp=str(tp), leader=leader):
                self._unclean[tp] = leader  # the lines that follow have its epoch
            case fact:
                yield from self._brokers(fact)
                told = told_by(entry)
                if told is not None:
                    yield from self._partition(told)

    def _brokers(self, fact: facts.Fact) -> Iterator[AnyRecord]:
        """Yield the records of brokers that come and go."""
        match fact:
            case facts.BrokerRegistered(broker=broker, broker_epoch=epoch):
                yield from self._here((broker,), epoch or 0)
            case facts.BrokerUnfenced(broker=int(broker)):
                known = self.image.brokers.get(broker)
                if known is not None and known.fenced:
                    yield BrokerRegistrationChangeRecord(broker, known.epoch, UNFENCE)
            case facts.BrokerFenced(broker=broker):
                yield from self._gone((broker,))
            case facts.BrokersChanged(live=live, at_start=True):
                yield from self._gone([known for known in self.image.brokers if known not in live])
                yield from self._here(live)
            case facts.BrokersChanged(added=added, deleted=deleted):
                yield from self._gone(deleted)
                yield from self._here(added)
            case facts.ControlledShutdown(node=int(node)):
                known = self.image.brokers.get(node)
                if known is not None and not known.fenced and not known.in_controlled_shutdown:
                    yield BrokerRegistrationChangeRecord(node, known.epoch, NO_FENCING_CHANGE, 1)
            case _:
                pass

    def _here(self, brokers: Sequence[int], epoch: int = 0) -> Iterator[AnyRecord]:
        for broker in brokers:
            known = self.image.brokers.get(broker)
            if known is None or known.fenced:
                yield RegisterBrokerRecord(broker, "", epoch)
                yield BrokerRegistrationChangeRecord(broker, epoch, UNFENCE)

    def _gone(self, brokers: Sequence[int]) -> Iterator[AnyRecord]:
        for broker in brokers:
            known = self.image.brokers.get(broker)
            if known is not None and not known.fenced:
                yield BrokerRegistrationChangeRecord(broker, known.epoch, FENCE)

    def _partition(self, told: Told) -> Iterator[AnyRecord]:
        topic, _, number = told.tp.rpartition("-")
        known = self.image.topic(topic)
        before = None if known is None else known.partitions.get(int(number))
        if told.isr is None if before is None else _is_old(before, told):
            return
        was = before if before is not None else _UNKNOWN
        leader = was.leader if told.leader is None else told.leader
        isr = was.isr if told.isr is None else told.isr
        epoch = was.leader_epoch if told.epoch is None else told.epoch
        if before is not None and (leader, isr, epoch) == (was.leader, was.isr, was.leader_epoch):
            return
        if known is None:
            yield TopicRecord(topic, topic)
        yield PartitionRecord(
            int(number),
            topic,
            (),
            isr,
            leader=leader,
            leader_recovery_state=self._recovery(before, told, leader),
            leader_epoch=epoch,
            partition_epoch=was.partition_epoch if told.version is None else told.version,
        )

    def _recovery(self, before: PartitionRegistration | None, told: Told, leader: int) -> int:
        """Only a controller's lines tell an unclean election: others come late or not at all."""
        if before is None or leader in (_NOBODY, before.leader):
            return RECOVERED
        is_unclean = told.is_unclean or self._unclean.pop(told.tp, None) == leader
        is_outside = told.is_election and bool(before.isr) and leader not in before.isr
        return RECOVERING if is_unclean or is_outside else RECOVERED


def _is_old(before: PartitionRegistration, told: Told) -> bool:
    """Whether something newer is known: nodes hear of a change one after the other."""
    if told.epoch is not None and told.epoch < before.leader_epoch:
        return True
    if told.version is not None:
        return told.version < before.partition_epoch
    if told.epoch is not None or told.leader is None or told.is_election:
        return False
    return told.leader != before.leader and not told.is_unclean


def read_sources(paths: Sequence[str], zone: tzinfo = UTC) -> TextLogs | None:
    """Return the text logs, if the paths have nothing else; None if they have a metadata log.

    Raises:
        SourceError: a file is neither, or cannot be read.
    """
    for path in paths:
        if not is_text_log(Path(path), path) and copies_in(Path(path), path):
            return None
    logs = find_text_logs([Path(path) for path in paths], zone)
    return logs if logs.files else None


def release_of(lines: TextLogs) -> tuple[str, Literal["zk", "kraft"]]:
    """Return the release that the logs name, or the oldest one that fits, and the mode."""
    release, is_kraft = "", False
    for _, entry in zip(range(LOOKED_AT), lines.entries(), strict=False):
        if isinstance(entry.fact, facts.KafkaVersion) and entry.fact.version in RELEASE_OF:
            release = entry.fact.version
        is_kraft = is_kraft or isinstance(entry.fact, _KRAFT)
    return release or (OLDEST_KRAFT if is_kraft else OLDEST), "kraft" if is_kraft else "zk"


def examine(
    lines: TextLogs,
    observers: Sequence[Callable[[Event], None]] = (),
    *,
    until: Place | None = None,
    progress: Progress | None = None,
) -> Incident:
    """Read text logs once; ``observers`` receive the events.

    Raises:
        SourceError: no line in them is recognized.
    """
    release, mode = release_of(lines)
    is_named = lines.counts["KafkaVersion"] > 0
    begin_us = min(file.first_us for file in lines.files)
    history = WallClockEvents(observers, begin_us, release)
    image = MetadataImage()
    timeline, impact = LineTimeline(mode), Impact()
    incident = Incident(release, image, timeline, impact, [], begin_us, begin_us, mode=mode)
    writer, witnesses = LineRecords(image), Witnesses()
    place = until or Place()
    end_us = FOREVER_US if place.time_us is None else place.time_us
    for entry in Lines(lines.entries()).until(end_us):
        seq = history.note(entry, witnesses.cause_of(entry))
        witnesses.add(seq, entry)
        records: list[AnyRecord] = []
        delta = MetadataDelta()
        for record in writer.records(entry):
            image.replay(record, incident.batches, None, delta)
            records.append(record)
        if records:
            _emit(history, seq, delta)
            batch = MetadataBatch(incident.batches, 0, entry.time_us // US_PER_MS, False, (), ())
            applied = Applied(batch, tuple(records), history.now_us, delta, False, {})
            timeline.line = entry
            offsets = range(batch.base_offset, batch.base_offset + len(records))
            because = dict.fromkeys(offsets, entry.sentence)
            timeline.take(applied, because)
            impact.take(applied, image, because)
        timeline.note(entry)
        impact.note(entry)
        incident.processes.note(entry)
        incident.batches += 1
        if progress is not None and incident.batches % TOLD_EVERY == 0:
            progress(incident.batches)
    if not incident.batches:
        named = " and ".join(clean(file.name) for file in lines.files[:NAMED_MAX])
        raise SourceError(f"{named}: no line in it is one of those of Kafka that are recognized")
    incident.records = incident.batches
    incident.nodes = sorted({*lines.nodes, *image.brokers})
    incident.is_of_lines = True
    incident.timeline.end()
    incident.end_us = history.now_us
    incident.notes += incident.processes.remarks()
    if not is_named:
        incident.notes.append(f"no line names the release: {release} is the oldest that it can be")
    incident.notes += [MISSING, *lines.remarks()]
    return incident


def _emit(history: WallClockEvents, seq: int, delta: MetadataDelta) -> None:
    """Emit what a line changes, because of it."""
    kernel = history.kernel
    kernel.cause = seq
    for key, change in delta.partitions.items():
        after = change.after
        if after is None:
            continue
        tp, isr = f"{change.topic}-{key.partition}", list(after.isr)
        if change.before is None:
            kernel.emit(events.PartitionsAdded, change.topic, key.partition, [isr])
        kernel.emit(
            events.PartitionStateChanged,
            tp,
            after.leader,
            after.leader_epoch,
            isr,
            0,
            after.partition_epoch,
        )
    kernel.cause = 0


def record(
    lines: TextLogs,
    path: Path,
    sources: Sequence[str],
    *,
    until: Place | None = None,
    progress: Progress | None = None,
) -> Incident:
    """Read text logs once, and write their session.

    Raises:
        SourceError: no line in them is recognized.
        SessionError: the file exists or cannot be written.
    """
    release, mode = release_of(lines)
    return write_session(
        path,
        sources,
        CreateCluster(version=release, mode=mode),
        min(file.first_us for file in lines.files),
        lambda recorder: examine(lines, [recorder], until=until, progress=progress),
    )
