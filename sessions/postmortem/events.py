"""The events of a metadata log, as an emulated cluster emits them for its own.

What changes topics, partitions and configurations is told by the same code
(:class:`emulator.kraft.facts.MetadataFacts`). Here brokers and controllers are added, as far as the
log knows them: a fenced broker may have died, hang or be cut off, so its process is only called
``fenced``. Logs of replicas, high watermarks and what brokers have applied appear in no event,
because nobody wrote them down.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import msgspec
from msgspec import Struct
from msgspec.structs import asdict, replace

from emulator import events
from emulator.events import Event
from emulator.kraft.facts import MetadataFacts
from emulator.kraft.state import CommittedMetadata
from emulator.metadata_log.changes import Change, MetadataDelta, TopicIdPartition
from emulator.metadata_log.image import MetadataImage
from emulator.metadata_log.records import (
    AnyRecord,
    NoOpRecord,
    PartitionChangeRecord,
    PartitionRecord,
)
from emulator.metadata_log.registrations import PartitionRegistration
from emulator.metadata_log.shown import LogNames, show, text_of
from emulator.protocol import PartitionInfo
from emulator.protocol.raft import MetadataBatch as LogBatch
from emulator.simulation.kernel import Kernel, KernelState
from emulator.wire.metadata import messages as wire
from emulator.wire.metadata.batches import MetadataBatch
from emulator.wire.metadata.control_records import LeaderChangeMessage
from emulator.wire.metadata.translation import translate, uuid_text
from emulator.wire.types import Message
from sessions.model.states import NO_SEED
from sessions.postmortem.text_logs.log_line import LogLine
from sessions.postmortem.witnesses import Witness, Witnesses

US_PER_MS: Final = 1_000
US_PER_DAY: Final = 86_400_000_000
NOBODY: Final = -1
_FENCED: Final = 1
_UNFENCED: Final = -1
_NOTHING: Final = NoOpRecord()
_NO_OP: Final = wire.NoOpRecord()
_EXISTS: Final = PartitionInfo(NOBODY, 0, [], 0, [], 0)
_SECRETS: Final = frozenset({"salt", "stored_key", "server_key"})
"""Fields of records that are not shown: a session is passed on more readily than a log."""


class Applied(Struct, frozen=True):
    """A batch that has been applied: its records, and what it changed.

    ``time_us`` is wall-clock time in microseconds since 1970 UTC. ``records`` are the typed ones,
    each at its place (a no-op for one without meaning for replication). ``is_snapshot``: the
    records sum up what came before. ``witnesses`` are lines of text logs about records, by offset.
    """

    batch: MetadataBatch
    records: tuple[AnyRecord, ...]
    time_us: int
    delta: MetadataDelta
    is_snapshot: bool
    witnesses: Mapping[int, Witness]


def midnight_before(time_us: int) -> int:
    """Return the last midnight (UTC) at or before a time since 1970."""
    return time_us - time_us % US_PER_DAY


class LoggedFacts(MetadataFacts):
    """Tells the records as they stand in the log, and their consequences with them as causes."""

    def __init__(self, kernel: Kernel, state: CommittedMetadata) -> None:
        states: dict[str, PartitionInfo] = {}
        super().__init__(kernel, state, states, {}, {})
        self.batch: MetadataBatch | None = None
        self.on_node_record: Callable[[Message, int], None] = lambda record, seq: None
        self.causes: Mapping[int, int] = {}
        self.unknown: list[tuple[int, str]] = []
        self._causes: dict[TopicIdPartition, int] = {}

    def read(self, controller: int, batch: LogBatch) -> MetadataDelta:
        """Read the next batch, and return what it changed.

        A record that refers to something that no record before it created is left out, and added to
        :attr:`unknown` with its offset.
        """
        delta = MetadataDelta()
        batch = self._replayed(batch, delta)
        if self.kernel.is_recorded:
            self.tell(controller, batch, delta)
        else:
            self._tell_nodes(batch)
        return delta

    def _replayed(self, batch: LogBatch, delta: MetadataDelta) -> LogBatch:
        assert self.batch is not None
        image, remaining, base_offset = self.state.image, batch.records, batch.base_offset
        while True:
            try:
                image.replay_batch(remaining, base_offset, batch.epoch, delta)
            except KeyError as error:
                self.unknown.append((image.offset, str(error)))
                position = image.offset - batch.base_offset
                records, originals = list(batch.records), list(self.batch.records)
                records[position], originals[position] = _NOTHING, _NO_OP
                batch = replace(batch, records=tuple(records))
                self.batch = replace(self.batch, records=tuple(originals))
                remaining, base_offset = batch.records[position + 1 :], image.offset + 1
            else:
                return batch

    def _tell_nodes(self, batch: LogBatch) -> None:
        """Take notice of brokers and controllers; nobody asks for events."""
        assert self.batch is not None
        self.state.epoch = batch.epoch
        for record in self.batch.records:
            if type(record) in _NODE_EVENTS:
                self.on_node_record(record, 0)

    def tell_records(self, batch: LogBatch) -> None:
        """Emit the records of a batch in the versions in which they were written."""
        assert self.batch is not None
        self._causes = {}
        kernel, names, cause = self.kernel, self.state.names, self.kernel.cause
        unknown, causes, emit = self.batch.unknown_tags, self.causes, kernel.emit
        epoch, base_offset = batch.epoch, batch.base_offset
        triples = zip(batch.records, self.batch.records, self.batch.versions, strict=True)
        for offset, (record, original, version) in enumerate(triples, base_offset):
            kernel.cause = causes.get(offset, cause)
            if type(record) is PartitionChangeRecord and not unknown:
                kind, _, text = text_of(record, names)
            elif isinstance(original, wire.NoOpRecord):
                continue
            else:
                kind, fields = _shown_record(record, original, names)
                if offset in unknown:
                    fields["taggedFields"] = {
                        str(tag): value.hex() for tag, value in unknown[offset]
                    }
                text = msgspec.json.encode(fields).decode()
            position = offset, epoch, base_offset
            seq = emit(events.MetadataRecordCommitted, *position, kind, max(0, version), text)
            if isinstance(record, PartitionRecord | PartitionChangeRecord):
                self._causes[TopicIdPartition(record.topic_id, record.partition_id)] = seq
            else:
                self.on_node_record(original, seq)
        kernel.cause = cause

    def store(self, tp: str, after: PartitionRegistration) -> None:
        """Only remember that it exists: nothing here asks for more."""
        self.states[tp] = _EXISTS

    def tell_partition(self, controller: int, key: TopicIdPartition, change: Change) -> None:
        """Emit what has changed of a partition, because of its record."""
        kernel = self.kernel
        cause, kernel.cause = kernel.cause, self._causes.get(key, kernel.cause)
        super().tell_partition(controller, key, change)
        kernel.cause = cause


class WallClockEvents:
    """Emits events at wall-clock times, and the lines of text logs.

    Their times are microseconds since the midnight (UTC) before the first one, ``zero_us``, so that
    they read like a clock. Time does not go back in a session: what has an earlier time than what
    is before it (the clocks of two nodes differ) has that one's time, and ``set_back_us`` is the
    largest difference.
    """

    def __init__(
        self, observers: Sequence[Callable[[Event], None]], begin_us: int, release: str
    ) -> None:
        """Emit that the cluster is there at ``begin_us``."""
        self.zero_us = midnight_before(begin_us)
        self.set_back_us = 0
        self.kernel = Kernel(KernelState(0, begin_us - self.zero_us), observers)
        self.kernel.emit(events.ClusterCreated, release, NO_SEED, [], [], {}, False)

    @property
    def now_us(self) -> int:
        """The wall-clock time of the last event."""
        return self.zero_us + self.kernel.now

    def go_to(self, time_us: int) -> None:
        """Move to a wall-clock time, unless that is past."""
        state = self.kernel.state
        time_us -= self.zero_us
        if time_us < state.now_us:
            self.set_back_us = max(self.set_back_us, state.now_us - time_us)
        else:
            state.now_us = time_us

    def note(self, line: LogLine, cause: int = 0) -> int:
        """Emit a line of a text log, and return the event's number."""
        self.go_to(line.time_us)
        self.kernel.cause = cause
        fact = line.fact
        tp = getattr(fact, "tp", None) or ""
        host = NOBODY if line.node is None else line.node
        kind = type(fact).__name__
        text = line.sentence
        return self.kernel.emit(events.LineLogged, host, tp, line.source, line.level, kind, text)


class HistoryEvents(WallClockEvents):
    """Turns the batches of a metadata log into events for ``observers``."""

    def __init__(
        self, observers: Sequence[Callable[[Event], None]], begin_us: int, release: str
    ) -> None:
        """Emit that the cluster is there at ``begin_us``."""
        super().__init__(observers, begin_us, release)
        self.metadata = CommittedMetadata()
        self.facts = LoggedFacts(self.kernel, self.metadata)
        self.facts.on_node_record = self._tell
        self.controller = NOBODY
        self.controllers: dict[int, str] = {}
        self.brokers: dict[int, str] = {}

    @property
    def image(self) -> MetadataImage:
        return self.metadata.image

    def take(
        self,
        batch: MetadataBatch,
        witnesses: Witnesses | None = None,
        *,
        is_snapshot: bool = False,
    ) -> Applied:
        """Apply the next batch, and emit its events; a record is caused by its witness.

        Records that refer to something unknown are left out (:attr:`LoggedFacts.unknown`).
        """
        time_us = batch.timestamp * US_PER_MS
        self.go_to(time_us)
        records = tuple([translate(record) or _NOTHING for record in batch.records])
        by_offset: dict[int, Witness] = {}
        if witnesses is not None:
            by_offset = witnesses.of_records(records, batch.base_offset, time_us, self.image)
        self.kernel.cause = 0
        self.facts.batch = batch
        causes = {offset: witness.seq for offset, witness in by_offset.items()}
        if len(records) > 1:
            self._decide(batch, records, causes)
        self.facts.causes = causes
        log_batch = LogBatch(batch.base_offset, batch.leader_epoch, records)
        delta = self.facts.read(self.controller, log_batch)
        batch = self.facts.batch
        return Applied(batch, records, self.now_us, delta, is_snapshot, by_offset)

    def skip(self, batch: MetadataBatch) -> None:
        """Take a batch that changes nothing: the log goes on, and so does the time."""
        self.go_to(batch.timestamp * US_PER_MS)
        image = self.metadata.image
        image.offset = batch.base_offset + len(batch.records) - 1
        image.epoch = self.metadata.epoch = batch.leader_epoch

    def _decide(
        self, batch: MetadataBatch, records: Sequence[AnyRecord], causes: dict[int, int]
    ) -> None:
        """Emit first what a batch does to brokers: its changes of partitions follow from that.

        In the batch they stand before it. Their ``causes`` are added.
        """
        decided: dict[int, int] = {}
        for offset, record in enumerate(batch.records, batch.base_offset):
            decision = _DECISIONS.get(type(record))
            if decision is not None:
                self.kernel.cause = causes.get(offset, 0)
                broker, seq = decision(self, record)
                if seq:
                    decided[broker] = causes[offset] = seq
        self.kernel.cause = 0
        if not decided:
            return
        for offset, changed in enumerate(records, batch.base_offset):
            if isinstance(changed, PartitionChangeRecord) and offset not in causes:
                topic = self.image.topics.get(changed.topic_id)
                partition = None if topic is None else topic.partitions.get(changed.partition_id)
                if partition is not None:
                    touched = [partition.leader, *partition.isr, *partition.elr]
                    touched += [changed.leader, *(changed.isr or ())]
                    seq = next((decided[broker] for broker in touched if broker in decided), 0)
                    causes[offset] = seq

    # ---- brokers and controllers

    def _tell(self, record: Message, seq: int) -> None:
        """Emit what a record says of a node."""
        tell = _NODE_EVENTS.get(type(record))
        if tell is not None:
            self.kernel.cause = seq
            tell(self, record)

    def register_broker(self, record: wire.RegisterBrokerRecord) -> None:
        broker = record.broker_id
        self.kernel.emit(events.BrokerRegistered, broker, record.broker_epoch, 0, record.rack)
        state = "running"
        if record.in_controlled_shutdown:
            state = "controlled_shutdown"
        elif record.fenced:
            state = "starting"
        self._process(broker, state)

    def change_broker(self, record: wire.BrokerRegistrationChangeRecord) -> tuple[int, int]:
        broker, seq = record.broker_id, 0
        if record.fenced == _FENCED:
            is_over = self.brokers.get(broker) in ("controlled_shutdown", "stopped")
            seq = self._process(broker, "stopped" if is_over else "fenced")
        elif record.fenced == _UNFENCED:
            seq = self._process(broker, "running")
        elif record.in_controlled_shutdown:
            seq = self._process(broker, "controlled_shutdown")
        return broker, seq

    def fence_broker(self, record: wire.FenceBrokerRecord) -> tuple[int, int]:
        return record.id, self._process(record.id, "fenced")

    def unfence_broker(self, record: wire.UnfenceBrokerRecord) -> tuple[int, int]:
        return record.id, self._process(record.id, "running")

    def unregister_broker(self, record: wire.UnregisterBrokerRecord) -> None:
        self._process(record.broker_id, "stopped")

    def _process(self, broker: int, state: str) -> int:
        """Emit a broker's state; return the event's number, 0 if it is so already."""
        if self.brokers.get(broker) == state:
            return 0
        self.brokers[broker] = state
        return self.kernel.emit(events.BrokerStateChanged, broker, state)

    def register_controller(self, record: wire.RegisterControllerRecord) -> None:
        self._controller_runs(record.controller_id)

    def change_leader(self, record: LeaderChangeMessage) -> None:
        """A leader won the votes of a majority; of the other voters nothing is known."""
        emit, leader = self.kernel.emit, record.leader_id
        epoch = self.metadata.epoch if self.facts.batch is None else self.facts.batch.leader_epoch
        granted = {voter.voter_id for voter in record.granting_voters} | {leader}
        for voter in sorted({voter.voter_id for voter in record.voters} | granted):
            if voter in granted:
                self._controller_runs(voter)
            elif voter not in self.controllers:
                self.controllers[voter] = "unknown"
                emit(events.ControllerStateChanged, voter, "unknown")
        if self.controller not in (NOBODY, leader):
            emit(events.ControllerResigned, self.controller, epoch, f"{leader} was elected")
            if self.controller not in granted:
                emit(events.QuorumRoleChanged, self.controller, "unattached", epoch, leader)
        for voter in sorted(granted - {leader}):
            emit(events.QuorumRoleChanged, voter, "follower", epoch, leader)
        emit(events.QuorumRoleChanged, leader, "leader", epoch, leader)
        emit(events.ControllerElected, leader, epoch, 0)
        self.controller = leader

    def _controller_runs(self, controller: int) -> None:
        if self.controllers.get(controller) != "running":
            self.controllers[controller] = "running"
            self.kernel.emit(events.ControllerStateChanged, controller, "running")


_DECISIONS: Final[dict[type[Message], Callable[[HistoryEvents, Any], tuple[int, int]]]] = {
    wire.BrokerRegistrationChangeRecord: HistoryEvents.change_broker,
    wire.FenceBrokerRecord: HistoryEvents.fence_broker,
    wire.UnfenceBrokerRecord: HistoryEvents.unfence_broker,
}
_NODE_EVENTS: Final[dict[type[Message], Callable[[HistoryEvents, Any], object]]] = {
    wire.RegisterBrokerRecord: HistoryEvents.register_broker,
    wire.BrokerRegistrationChangeRecord: HistoryEvents.change_broker,
    wire.FenceBrokerRecord: HistoryEvents.fence_broker,
    wire.UnfenceBrokerRecord: HistoryEvents.unfence_broker,
    wire.UnregisterBrokerRecord: HistoryEvents.unregister_broker,
    wire.RegisterControllerRecord: HistoryEvents.register_controller,
    LeaderChangeMessage: HistoryEvents.change_leader,
}


# ---- records as they are shown


def _shown_record(
    record: AnyRecord, original: Message, names: LogNames
) -> tuple[str, dict[str, Any]]:
    """A record's type, and its fields by Kafka's names."""
    if record is _NOTHING:
        name = type(original).__name__.removesuffix("Record").removesuffix("Message")
        return name, plain_record(original)
    shown_record = show(record, names)
    fields = shown_record.data
    if isinstance(original, wire.RegisterBrokerRecord | wire.RegisterControllerRecord):
        fields["incarnationId"] = uuid_text(original.incarnation_id)
        fields["endPoints"] = [
            f"{endpoint.host}:{endpoint.port}" for endpoint in original.end_points
        ]
        if isinstance(original, wire.RegisterBrokerRecord) and original.rack:
            fields["rack"] = original.rack
    return shown_record.type, fields


def plain_record(record: Message) -> dict[str, Any]:
    """Return a record's fields as plain data by Kafka's names, but secrets."""
    plain: dict[str, Any] = _plain(record)
    return plain


def _plain(value: object) -> Any:  # noqa: ANN401 - JSON
    if isinstance(value, Message):
        return {
            _camel_case(name): _plain(field)
            for name, field in asdict(value).items()
            if name not in _SECRETS
        }
    if isinstance(value, bytes):
        return uuid_text(value)
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value


def _camel_case(name: str) -> str:
    first_word, *other_words = name.split("_")
    return first_word + "".join(word.capitalize() for word in other_words)
