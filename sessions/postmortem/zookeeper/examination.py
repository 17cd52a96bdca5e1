"""One pass over a transaction log: its events, its timeline, and what it meant for users."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, tzinfo
from pathlib import Path
from typing import Final, Literal

import msgspec
from msgspec import Struct, field

from emulator.events import Event
from emulator.inputs.statements import CreateCluster
from emulator.metadata_log.changes import Change, MetadataDelta, TopicIdPartition
from emulator.metadata_log.image import MetadataImage
from emulator.metadata_log.records import (
    FENCE,
    AnyRecord,
    BrokerRegistrationChangeRecord,
    LeaderChangeMessage,
    PartitionRecord,
    RegisterBrokerRecord,
)
from emulator.wire.metadata.batches import MetadataBatch
from emulator.zookeeper import data as znodes
from sessions.own_cluster.formats import zookeeper_log
from sessions.own_cluster.formats.zookeeper_log import Transaction
from sessions.own_cluster.places import Place
from sessions.own_cluster.reading import SourceError
from sessions.own_cluster.zookeeper_history.log_copies import TransactionLog, find_transaction_logs
from sessions.own_cluster.zookeeper_history.znode_tree import ZnodeChange, ZnodeTree
from sessions.postmortem.events import US_PER_MS, Applied
from sessions.postmortem.impact import Impact
from sessions.postmortem.incident import Examination, Incident, Progress
from sessions.postmortem.log_files import is_text_log
from sessions.postmortem.processes import Processes
from sessions.postmortem.session import write_session
from sessions.postmortem.text_logs.facts import (
    BrokerFailed,
    BrokersChanged,
    ControllerElected,
    LeftIsr,
    SessionExpired,
)
from sessions.postmortem.text_logs.log_line import LogLine
from sessions.postmortem.text_logs.merging import TextLogs, find_text_logs
from sessions.postmortem.timeline import Timeline, TimelineEntry
from sessions.postmortem.witnesses import Witness
from sessions.postmortem.zookeeper.events import ZnodeEvents
from sessions.postmortem.zookeeper.records import RecordWriter
from sessions.text import clean

MODE: Final[Literal["zk"]] = "zk"
_EXPIRED: Final = "its ZooKeeper session expired"
_CLOSED: Final = "it closed its ZooKeeper session"
_IN_ZNODES: Final = (LeftIsr, BrokersChanged, BrokerFailed, ControllerElected)
_FORMATS: Final = (
    ("ids", 1, "0.8.2"),
    ("ids", 2, "0.9.0"),
    ("ids", 3, "0.10.0"),
    ("ids", 4, "1.1"),
    ("topics", 2, "2.4"),
    ("ids", 5, "2.7"),
    ("topics", 3, "2.8"),
    ("states", 2, "3.2"),
)
"""The first release that writes a version of a znode's format, oldest first."""


class _Version(Struct):
    version: int = 1
    leader_recovery_state: int | None = None


class Overview(Struct):
    """What a first look at a log tells: the release, at least, and the sessions of brokers."""

    release: str = _FORMATS[0][2]
    begin_ms: int | None = None
    chroots: dict[str, None] = field(default_factory=dict)
    brokers_of: dict[int, int] = field(default_factory=dict)
    formats: dict[str, int] = field(default_factory=dict)

    @property
    def chroot(self) -> str:
        """What is in front of the paths of Kafka, such as ``/kafka``; usually nothing."""
        return next(iter(self.chroots), "")


class ZnodeTimeline(Timeline):
    """The timeline in the words of a cluster with ZooKeeper."""

    def __init__(self) -> None:
        super().__init__()
        self.transaction: Transaction | None = None

    def _add(self, applied: Applied, offset: int, kind: str, sentence: str, because: str) -> None:
        zxid = applied.batch.base_offset
        witness = applied.witnesses.get(offset)
        source = f"ZooKeeper zxid 0x{zxid:x}" if witness is None else witness.line.source
        self.add(TimelineEntry(applied.time_us, kind, sentence, because, source, zxid))

    def note(self, line: LogLine) -> None:
        """Add a line of a text log, unless znodes say the same."""
        if not isinstance(line.fact, _IN_ZNODES):
            super().note(line)

    def _of_record(self, record: AnyRecord) -> tuple[str, str, str] | None:
        match record:
            case LeaderChangeMessage(leader_id=broker):
                sentence = f"broker {broker} becomes the controller"
                return "controller", sentence, "it was the first to create /controller"
            case RegisterBrokerRecord(broker_id=broker):
                return "broker", f"broker {broker} registers", "it has a new ZooKeeper session"
            case BrokerRegistrationChangeRecord(fenced=fenced) if fenced != FENCE:
                return None
            case BrokerRegistrationChangeRecord(broker_id=broker):
                why = _CLOSED if self.transaction and self.transaction.cxid else _EXPIRED
                return "broker", f"the registration of broker {broker} is gone", why
            case _:
                return super()._of_record(record)


def read_sources(
    paths: Sequence[str], zone: tzinfo = UTC
) -> tuple[TransactionLog, TextLogs] | None:
    """Return the transaction log of which the paths have copies, and the text logs in them.

    None if there is no transaction log.

    Raises:
        SourceError: a file cannot be read.
    """
    log = find_transaction_logs([Path(path) for path in paths])
    if log is None:
        return None
    texts = [Path(path) for path in paths if Path(path).is_dir() or is_text_log(Path(path), path)]
    return log, find_text_logs(texts, zone)


def overview_of(log: TransactionLog, lines: TextLogs | None = None) -> Overview:
    """Look at a log once.

    Raises:
        SourceError: there is no Kafka in it, or more than one.
    """
    overview = Overview()
    tree = log.start()
    for path, znode in tree.znodes.items():
        _note_znode(overview, path, znode.data, znode.owner)
    for transaction in log.transactions(tree.zxid):
        if overview.begin_ms is None:
            overview.begin_ms = transaction.time_ms
        for operation in transaction.operations:
            _note_znode(overview, operation.path, operation.data, transaction.session)
    for kind, version, release in _FORMATS:
        if overview.formats.get(kind, 0) >= version:
            overview.release = release
    overview.release = Processes.at_the_beginning(lines).release(overview.release, is_exact=False)
    if overview.begin_ms is not None and lines is not None:
        begins_ms = [file.first_us // US_PER_MS for file in lines.files]
        overview.begin_ms = min([overview.begin_ms, *begins_ms])
    if not overview.chroots or overview.begin_ms is None:
        raise SourceError(f"{clean(log.name)}: there is no Kafka in it (no /brokers/ids)")
    if len(overview.chroots) > 1:
        names = ", ".join(clean(chroot or "/") for chroot in overview.chroots)
        raise SourceError(f"{clean(log.name)}: it has {len(overview.chroots)} clusters ({names})")
    return overview


def _note_znode(overview: Overview, path: str, data: bytes | None, session: int) -> None:
    for folder in (znodes.BROKER_IDS, znodes.TOPICS):
        chroot, is_kafka, _ = path.partition(folder)
        if is_kafka:
            overview.chroots[chroot] = None
    above, _, name = path.rpartition("/")
    if above.endswith(znodes.BROKER_IDS):
        if name.isdecimal():
            overview.brokers_of[session] = int(name)
        _note_format(overview, "ids", data)
    elif above.endswith(znodes.TOPICS):
        _note_format(overview, "topics", data)
    elif name == "state" and data and b"leader_recovery_state" in data:
        overview.formats["states"] = 2


def _note_format(overview: Overview, kind: str, data: bytes | None) -> None:
    try:
        version = msgspec.json.decode(data or b"", type=_Version).version
    except msgspec.DecodeError:
        return
    overview.formats[kind] = max(overview.formats.get(kind, 0), version)


def examine(
    log: TransactionLog,
    observers: Sequence[Callable[[Event], None]] = (),
    *,
    lines: TextLogs | None = None,
    until: Place | None = None,
    progress: Progress | None = None,
    overview: Overview | None = None,
) -> Incident:
    """Read a history once; ``observers`` receive its events.

    ``lines`` are the text logs of its nodes.

    Raises:
        SourceError: there is no Kafka in it.
    """
    overview = overview_of(log, lines) if overview is None else overview
    return _Examination(log, overview, observers, lines, until, progress).run()


def record(
    log: TransactionLog,
    path: Path,
    sources: Sequence[str],
    *,
    lines: TextLogs | None = None,
    until: Place | None = None,
    progress: Progress | None = None,
) -> Incident:
    """Read a history once, and write its session.

    Raises:
        SourceError: there is no Kafka in it.
        SessionError: the file exists or cannot be written.
    """
    overview = overview_of(log, lines)
    return write_session(
        path,
        sources,
        CreateCluster(version=overview.release, mode=MODE),
        (overview.begin_ms or 0) * US_PER_MS,
        lambda recorder: examine(
            log, [recorder], lines=lines, until=until, progress=progress, overview=overview
        ),
    )


def _key(record: PartitionRecord) -> TopicIdPartition:
    return TopicIdPartition(record.topic_id, record.partition_id)


class _Examination(Examination):
    unit = "transaction"
    history: ZnodeEvents

    def __init__(
        self,
        log: TransactionLog,
        overview: Overview,
        observers: Sequence[Callable[[Event], None]],
        lines: TextLogs | None,
        until: Place | None,
        progress: Progress | None,
    ) -> None:
        self.log = log
        self.overview = overview
        self.timeline = ZnodeTimeline()
        self.expired: dict[int, Witness] = {}
        self.image, self.tree = MetadataImage(), log.start()
        self.writer = RecordWriter(self.image)
        begin_us = (overview.begin_ms or 0) * US_PER_MS
        history = ZnodeEvents(observers, begin_us, overview.release, overview.brokers_of)
        incident = Incident(
            overview.release, self.image, self.timeline, Impact(), [], begin_us, begin_us, mode=MODE
        )
        super().__init__(incident, history, lines, until, progress)

    def run(self) -> Incident:
        incident, tree = self.incident, self.tree
        self._begin(tree)
        for transaction in self.log.transactions(tree.zxid):
            time_us = transaction.time_ms * US_PER_MS
            if self.until.is_before(transaction.zxid, time_us):
                break
            self.count(len(transaction.operations))
            changes = [*filter(None, map(self._kafka_change, tree.apply(transaction)))]
            self.note_until(time_us)
            self._note_session(transaction)
            self._apply(transaction, changes)
        self.note_rest()
        incident.release = incident.processes.release(incident.release, is_exact=False)
        incident.nodes = sorted({*self.image.brokers})
        self.end([*self.log.notes, *self._notes()])
        return incident

    def _begin(self, tree: ZnodeTree) -> None:
        znodes_by_path = {
            path.removeprefix(self.overview.chroot): znode
            for path, znode in tree.znodes.items()
            if path.startswith(self.overview.chroot)
        }
        self.history.begin(znodes_by_path)
        changes = [ZnodeChange(path, None, znodes_by_path[path]) for path in sorted(znodes_by_path)]
        if changes:
            transaction = Transaction(tree.zxid, self.overview.begin_ms or 0, 0, 0, 0, ())
            records, delta = self._replay(transaction, changes)
            self._report(transaction, records, delta, {}, is_snapshot=True)

    def _kafka_change(self, change: ZnodeChange) -> ZnodeChange | None:
        """A change of a znode of Kafka, with its path as Kafka calls it."""
        chroot = self.overview.chroot
        if not chroot:
            return change
        if not change.path.startswith(f"{chroot}/"):
            return None
        return ZnodeChange(change.path.removeprefix(chroot), change.before, change.after)

    def take_line(self, line: LogLine, seq: int) -> None:
        if isinstance(line.fact, SessionExpired) and line.fact.session is not None:
            self.expired.setdefault(int(line.fact.session, 16), Witness(seq, line))

    def _note_session(self, transaction: Transaction) -> None:
        """Take the timeout of a broker's session."""
        broker = self.overview.brokers_of.get(transaction.session)
        if broker is not None and transaction.type == zookeeper_log.CREATE_SESSION:
            self.incident.processes.note_session(broker, transaction.operations[0].timeout_ms)

    def _apply(self, transaction: Transaction, changes: Sequence[ZnodeChange]) -> None:
        """Apply a transaction, whose cause is the line of a text log that led to it."""
        records, delta = self._replay(transaction, changes)
        time_us = transaction.time_ms * US_PER_MS
        witnesses = self.witnesses.of_records(records, transaction.zxid, time_us, self.image)
        expired = self.expired.get(transaction.session)
        if transaction.type == zookeeper_log.CLOSE_SESSION and expired is not None:
            fenced = (
                offset
                for offset, record in enumerate(records, transaction.zxid)
                if isinstance(record, BrokerRegistrationChangeRecord) and record.fenced == FENCE
            )
            witnesses |= dict.fromkeys(fenced, expired)
        witness = next(iter(witnesses.values()), None)
        self.history.take(transaction, changes, 0 if witness is None else witness.seq)
        if records:
            self._report(transaction, records, delta, witnesses)

    def _replay(
        self, transaction: Transaction, changes: Sequence[ZnodeChange]
    ) -> tuple[list[AnyRecord], MetadataDelta]:
        """Apply changes as records, one after another: each is written for the image then."""
        delta = MetadataDelta()
        records: list[AnyRecord] = []
        self.writer.is_closed = transaction.cxid != 0
        for change in changes:
            for record in self.writer.records([change]):
                self.image.replay(record, transaction.zxid, None, delta)
                records.append(record)
        return records, delta

    def _report(
        self,
        transaction: Transaction,
        records: Sequence[AnyRecord],
        delta: MetadataDelta,
        witnesses: Mapping[int, Witness],
        *,
        is_snapshot: bool = False,
    ) -> None:
        batch = MetadataBatch(transaction.zxid, 0, transaction.time_ms, False, (), ())
        applied = Applied(batch, tuple(records), self.history.now_us, delta, is_snapshot, witnesses)
        self.timeline.transaction = transaction
        because = {
            offset: why
            for offset, record in enumerate(records, transaction.zxid)
            if isinstance(record, PartitionRecord)
            and (changed := delta.partitions.get(_key(record)))
            and (why := self._because(transaction, changed))
        }
        self.take(applied, because)

    def _because(self, transaction: Transaction, change: Change) -> str:
        """Why a partition was changed, as far as znodes tell; empty if the change itself tells."""
        before, after = change.before, change.after
        if before is None or after is None:
            return ""
        if f"{self.overview.chroot}{znodes.DELETE_TOPICS}/{change.topic}" in self.tree.znodes:
            return f"topic {change.topic} is being deleted"
        removed = [broker for broker in before.isr if broker not in after.isr]
        if before.leader != after.leader:
            removed.insert(0, before.leader)
        lost_broker = next(
            (broker for broker in removed if broker in self.history.session_ends), None
        )
        if lost_broker is not None:
            return f"the registration of broker {lost_broker} is gone"
        writer = self.overview.brokers_of.get(transaction.session)
        if writer is None or not removed:
            return ""
        if writer == before.leader == after.leader and writer != self.history.controller:
            return ""
        if writer == self.history.controller:
            return f"the controller, broker {writer}, wrote it"
        return f"broker {writer} wrote it"

    def _notes(self) -> Iterator[str]:
        if not self.incident.processes.releases:
            yield (
                f"the release is at least {self.incident.release}, by the format of its znodes; "
                "the transaction log does not say more"
            )
