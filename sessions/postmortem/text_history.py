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
from sessions.postmortem.incident import Examination, Incident, Progress
from sessions.postmortem.log_files import copies_of
from sessions.postmortem.session import write_session
from sessions.postmortem.text_logs import facts
from sessions.postmortem.text_logs.log_line import LogLine
from sessions.postmortem.text_logs.merging import TextLogs, find_text_logs
from sessions.postmortem.timeline import Timeline, TimelineEntry
from sessions.text import clean, natural_list

OLDEST_KRAFT: Final = "3.3"
OLDEST: Final = "0.8.2"
NAMED_MAX: Final = 3
"""How many files a refusal names."""
LOOKED_AT: Final = 100_000
"""How many entries are searched for the release."""
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


class PartitionClaim(Struct, frozen=True):
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
        self.line: LogLine | None = None

    def _add(self, applied: Applied, offset: int, kind: str, sentence: str, because: str) -> None:
        source = "" if self.line is None else self.line.source
        self.add(TimelineEntry(applied.time_us, kind, sentence, because, source, offset))

    def _add_unanswered(self, now_us: int) -> None:
        """Nobody else could say whether there was an answer."""

    def _of_record(self, record: AnyRecord) -> tuple[str, str, str] | None:
        match record:
            case BrokerRegistrationChangeRecord(fenced=fenced) if fenced != FENCE:
                return None
            case BrokerRegistrationChangeRecord(broker_id=broker) if self.mode == "zk":
                return "broker", f"the registration of broker {broker} is gone", ""
            case _:
                return super()._of_record(record)


def claim_of(line: LogLine) -> PartitionClaim | None:
    """What a line says of a partition's leader, epoch and ISR."""
    match line.fact:
        case facts.PartitionChanged() as fact:
            leader = fact.leader
            if leader is None and fact.state == "OfflinePartition":
                leader = _NOBODY
            is_unclean = fact.recovery == "RECOVERING"
            is_known = fact.isr is not None or leader == _NOBODY
            return PartitionClaim(
                fact.tp, leader, fact.isr, fact.epoch, fact.version, is_unclean, is_known
            )
        case facts.ElectionFailed(tp=tp, state="OfflinePartition"):
            return PartitionClaim(tp, _NOBODY, is_election=True)
        case facts.LeaderAndIsrReceived() | facts.LeftIsr() as fact:
            return PartitionClaim(fact.tp, fact.leader, fact.isr, fact.epoch, fact.version)
        case facts.LeaderStarted() as fact:
            return PartitionClaim(fact.tp, line.node, fact.isr, fact.epoch)
        case facts.FollowerStarted() as fact:
            return PartitionClaim(fact.tp, fact.leader, None, fact.epoch)
        case facts.IsrStored() as fact:
            return PartitionClaim(fact.tp, line.node, fact.isr, None, fact.version)
        case facts.IsrShrunk() | facts.IsrExpanded() as fact:
            return PartitionClaim(fact.tp, line.node, fact.isr)
        case _:
            return None


class LineRecords:
    """Writes records of what lines say, where that is news."""

    def __init__(self, image: MetadataImage) -> None:
        """Write for ``image``, to which the caller applies what is written."""
        self.image = image
        self._unclean: dict[str, int] = {}

    def records(self, line: LogLine) -> Iterator[AnyRecord]:
        """Yield what a line adds to the image."""
        match line.fact:
            case facts.TopicDeleted(topic=name):
                topic = self.image.topic(name)
                if topic is not None:
                    yield RemoveTopicRecord(topic.id)
            case facts.UncleanLeaderElected(tp=str(tp), leader=leader):
                self._unclean[tp] = leader  # the lines that follow have its epoch
            case fact:
                yield from self._broker_records(fact)
                claim = claim_of(line)
                if claim is not None:
                    yield from self._partition_records(claim)

    def _broker_records(self, fact: facts.Fact) -> Iterator[AnyRecord]:
        """Yield the records of brokers that come and go."""
        match fact:
            case facts.BrokerRegistered(broker=broker, broker_epoch=epoch):
                yield from self._registrations((broker,), epoch or 0)
            case facts.BrokerUnfenced(broker=int(broker)):
                registration = self.image.brokers.get(broker)
                if registration is not None and registration.fenced:
                    yield BrokerRegistrationChangeRecord(broker, registration.epoch, UNFENCE)
            case facts.BrokerFenced(broker=broker):
                yield from self._fencings((broker,))
            case facts.BrokersChanged(live=live, at_start=True):
                yield from self._fencings([node for node in self.image.brokers if node not in live])
                yield from self._registrations(live)
            case facts.BrokersChanged(added=added, deleted=deleted):
                yield from self._fencings(deleted)
                yield from self._registrations(added)
            case facts.ControlledShutdown(node=int(node)):
                registration = self.image.brokers.get(node)
                if registration is None or registration.fenced:
                    return
                if not registration.in_controlled_shutdown:
                    epoch = registration.epoch
                    yield BrokerRegistrationChangeRecord(node, epoch, NO_FENCING_CHANGE, 1)
            case _:
                pass

    def _registrations(self, brokers: Sequence[int], epoch: int = 0) -> Iterator[AnyRecord]:
        for broker in brokers:
            registration = self.image.brokers.get(broker)
            if registration is None or registration.fenced:
                yield RegisterBrokerRecord(broker, "", epoch)
                yield BrokerRegistrationChangeRecord(broker, epoch, UNFENCE)

    def _fencings(self, brokers: Sequence[int]) -> Iterator[AnyRecord]:
        for broker in brokers:
            registration = self.image.brokers.get(broker)
            if registration is not None and not registration.fenced:
                yield BrokerRegistrationChangeRecord(broker, registration.epoch, FENCE)

    def _partition_records(self, claim: PartitionClaim) -> Iterator[AnyRecord]:
        name, _, number = claim.tp.rpartition("-")
        topic = self.image.topic(name)
        partition = None if topic is None else topic.partitions.get(int(number))
        if claim.isr is None if partition is None else _is_outdated(partition, claim):
            return
        former = partition if partition is not None else _UNKNOWN
        leader = former.leader if claim.leader is None else claim.leader
        isr = former.isr if claim.isr is None else claim.isr
        epoch = former.leader_epoch if claim.epoch is None else claim.epoch
        former_state = former.leader, former.isr, former.leader_epoch
        if partition is not None and (leader, isr, epoch) == former_state:
            return
        if topic is None:
            yield TopicRecord(name, name)
        yield PartitionRecord(
            int(number),
            name,
            (),
            isr,
            leader=leader,
            leader_recovery_state=self._recovery(partition, claim, leader),
            leader_epoch=epoch,
            partition_epoch=former.partition_epoch if claim.version is None else claim.version,
        )

    def _recovery(
        self, former: PartitionRegistration | None, claim: PartitionClaim, leader: int
    ) -> int:
        """Only a controller's lines tell an unclean election: others come late or not at all."""
        if former is None or leader in (_NOBODY, former.leader):
            return RECOVERED
        is_unclean = claim.is_unclean or self._unclean.pop(claim.tp, None) == leader
        is_outside = claim.is_election and bool(former.isr) and leader not in former.isr
        return RECOVERING if is_unclean or is_outside else RECOVERED


def _is_outdated(partition: PartitionRegistration, claim: PartitionClaim) -> bool:
    """Whether something newer is known: nodes hear of a change one after the other."""
    if claim.epoch is not None and claim.epoch < partition.leader_epoch:
        return True
    if claim.version is not None:
        return claim.version < partition.partition_epoch
    if claim.epoch is not None or claim.leader is None or claim.is_election:
        return False
    return claim.leader != partition.leader and not claim.is_unclean


def read_sources(paths: Sequence[str], zone: tzinfo = UTC) -> TextLogs | None:
    """Return the text logs, if the paths have nothing else; None if they have a metadata log.

    Raises:
        SourceError: a file is neither or cannot be read, or there are metadata logs and none of
            them can be used.
    """
    if copies_of(paths):
        return None
    logs = find_text_logs([Path(path) for path in paths], zone)
    return logs if logs.files else None


def release_of(lines: TextLogs) -> tuple[str, Literal["zk", "kraft"]]:
    """Return the release that the logs name, or the oldest one that fits, and the mode."""
    release, is_kraft = "", False
    for _, line in zip(range(LOOKED_AT), lines.entries(), strict=False):
        if isinstance(line.fact, facts.KafkaVersion) and line.fact.version in RELEASE_OF:
            release = line.fact.version
        is_kraft = is_kraft or isinstance(line.fact, _KRAFT)
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
        SourceError: no line in them is recognized, or ``until`` is an offset.
    """
    if until is not None and until.offset is not None:
        raise SourceError("lines of text logs have no offsets: end at a time instead")
    return _Examination(lines, observers, until, progress).run()


class _Examination(Examination):
    unit = "line"

    def __init__(
        self,
        lines: TextLogs,
        observers: Sequence[Callable[[Event], None]],
        until: Place | None,
        progress: Progress | None,
    ) -> None:
        self.logs = lines
        release, mode = release_of(lines)
        self.names_release = lines.counts["KafkaVersion"] > 0
        begin_us = min(file.first_us for file in lines.files)
        history = WallClockEvents(observers, begin_us, release)
        self.image = MetadataImage()
        self.timeline, self.writer = LineTimeline(mode), LineRecords(self.image)
        incident = Incident(
            release, self.image, self.timeline, Impact(), [], begin_us, begin_us, mode=mode
        )
        incident.is_of_lines = True
        super().__init__(incident, history, lines, until, progress)

    def run(self) -> Incident:
        incident = self.incident
        self.note_rest()
        if not incident.batches:
            names = natural_list(clean(file.name) for file in self.logs.files[:NAMED_MAX])
            raise SourceError(
                f"{names}: no line in it is one of those of Kafka that are recognized"
            )
        incident.nodes = sorted({*self.logs.nodes, *self.image.brokers})
        oldest = f"no line names the release: {incident.release} is the oldest that it can be"
        self.end([*([] if self.names_release else [oldest]), MISSING])
        return incident

    def take_line(self, line: LogLine, seq: int) -> None:
        records: list[AnyRecord] = []
        delta, offset = MetadataDelta(), self.incident.batches
        for record in self.writer.records(line):
            self.image.replay(record, offset, None, delta)
            records.append(record)
        if records:
            _emit(self.history, seq, delta)
            batch = MetadataBatch(offset, 0, line.time_us // US_PER_MS, False, (), ())
            now_us = self.history.now_us
            self.timeline.line = line
            because = dict.fromkeys(range(offset, offset + len(records)), line.sentence)
            self.take(Applied(batch, tuple(records), now_us, delta, False, {}), because)
        self.count(1)


def _emit(history: WallClockEvents, seq: int, delta: MetadataDelta) -> None:
    """Emit what a line changes, because of it."""
    kernel = history.kernel
    kernel.cause = seq
    for key, change in delta.partitions.items():
        partition = change.after
        if partition is None:
            continue
        tp, isr = f"{change.topic}-{key.partition}", list(partition.isr)
        if change.before is None:
            kernel.emit(events.PartitionsAdded, change.topic, key.partition, [isr])
        kernel.emit(
            events.PartitionStateChanged,
            tp,
            partition.leader,
            partition.leader_epoch,
            isr,
            0,
            partition.partition_epoch,
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
