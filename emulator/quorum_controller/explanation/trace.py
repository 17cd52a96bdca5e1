"""Trace validation: each record of a real controller's log, explained by a rule of its release.

A rule is applied to the state before, and its whole outcome is compared with what stands in the
log: every partition that it changes, in every field, and no other. The controller may write several
outcomes into one batch (``controller.quorum.append.linger.ms``), and one outcome of more than
10,000 records into several batches, so the log is read as one sequence of records.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from emulator.metadata_log.metadata_version import METADATA_VERSION, is_transaction_supported
from emulator.metadata_log.records import (
    AbortTransactionRecord,
    BeginTransactionRecord,
    EndTransactionRecord,
    PartitionChangeRecord,
)
from emulator.quorum_controller.explanation.administration import ADMINISTRATION
from emulator.quorum_controller.explanation.brokers import (
    ABOUT_BROKERS,
    match_closing,
    match_opening,
    match_partly,
    next_chance,
)
from emulator.quorum_controller.explanation.entry import Entry, Upcoming, entries
from emulator.quorum_controller.explanation.hypotheses import (
    Hypothesis,
    hypotheses,
    releases_of_level,
    releases_since_level,
)
from emulator.quorum_controller.explanation.match import Attempt, Match, NoRule
from emulator.quorum_controller.explanation.observed import BROKEN_IMAGE, ObservedController
from emulator.quorum_controller.explanation.partition_changes import match_change
from emulator.quorum_controller.explanation.rules import Rule
from emulator.quorum_controller.explanation.topics import (
    match_configs,
    match_deletion,
    match_partitions,
    match_topic,
)
from emulator.quorum_controller.result import MAX_RECORDS_PER_BATCH
from emulator.wire.metadata import messages as wire
from emulator.wire.metadata.batches import MetadataBatch
from emulator.wire.metadata.control_records import (
    KRaftVersionRecord,
    LeaderChangeMessage,
    SnapshotFooterRecord,
    SnapshotHeaderRecord,
    VotersRecord,
)
from emulator.wire.types import Message

BOOTSTRAP_TRANSACTION: Final = "Bootstrap records"
MIGRATION_TRANSACTION: Final = "ZK Migration"
NOTHING: Final = -1
LONG: Final = 50
"""A run of so many changes is not compared with a rule more often than necessary."""
IDLE: Final = "nothing else was written for metadata.max.idle.interval.ms"


Way = Callable[[Attempt, int | None], Match | None]
"""A way to explain the first records, given where the next one about a broker is."""


class Explanation(Struct, frozen=True):
    """Records that follow each other, and the rule whose outcome they are.

    ``offset`` is that of the first record, ``messages`` are the records as they stand in the log.
    ``rule`` is None for a record that no rule permits. ``because`` is the cause, or why there is
    no rule, as a phrase without a full stop.
    """

    offset: int
    timestamp_ms: int
    messages: tuple[Message, ...]
    rule: Rule | None
    because: str

    @property
    def is_explained(self) -> bool:
        """Whether a rule permits the records."""
        return self.rule is not None

    @property
    def end_offset(self) -> int:
        """The offset after the last record."""
        return self.offset + len(self.messages)


class Explainer:
    """Explains the batches of a log, given in order.

    Batches of a snapshot are the state that the log continues; they need no explanation.
    """

    def __init__(self, release: str | None = None) -> None:
        """Begin with an empty log; ``release`` None: it follows from what the log says."""
        self.observed = ObservedController()
        self._release = release
        self._waiting: list[Entry] = []
        self._in_snapshot = False
        self._next_offset: int | None = None
        self._epoch = 0
        self._levels: tuple[int, ...] | None = None
        self._next_closing = 0
        self._hypotheses = hypotheses([release]) if release else hypotheses(releases_since_level(1))

    @property
    def hypothesis(self) -> Hypothesis:
        """The release and static configuration that explain the log so far."""
        return self._hypotheses[0]

    def feed(self, batch: MetadataBatch) -> Iterator[Explanation]:
        """Explain the next batch.

        The explanation of the last records waits for further batches if the outcome of a rule
        may continue there.
        """
        if batch.records and isinstance(batch.records[0], SnapshotHeaderRecord):
            self._in_snapshot = True
        if self._in_snapshot:
            self._restore(batch)
            return
        yield from self._check_place(batch)
        if batch.is_control:
            yield from self._explain_waiting(is_complete=True)
            for entry in entries(batch, self.observed.directories):
                yield self._control(entry)
            return
        if not self._waiting and batch.is_idle:
            yield Explanation(batch.base_offset, batch.timestamp, batch.records, Rule.NO_OP, IDLE)
            return
        self._waiting.extend(entries(batch, self.observed.directories))
        may_continue = len(batch.records) >= MAX_RECORDS_PER_BATCH
        yield from self._explain_waiting(is_complete=not may_continue)

    def end(self) -> Iterator[Explanation]:
        """Explain what waited for further batches: there are none."""
        yield from self._explain_waiting(is_complete=True)
        for entry in self._waiting:
            yield _explanation([entry], None, "its metadata transaction has no end")
        self._waiting.clear()

    # ---- where batches stand

    def _restore(self, batch: MetadataBatch) -> None:
        for entry in entries(batch, self.observed.directories):
            self._apply(entry)
            if isinstance(entry.message, SnapshotFooterRecord):
                self._in_snapshot = False
                self.observed.forget_contacts()
        self._find_release()

    def _check_place(self, batch: MetadataBatch) -> Iterator[Explanation]:
        if not batch.records:
            return
        fault = None
        is_new_epoch = isinstance(batch.records[0], LeaderChangeMessage)
        if self._next_offset is not None and batch.base_offset != self._next_offset:
            fault = f"the offset after the last batch is {self._next_offset:,}"
        elif batch.leader_epoch < self._epoch:
            fault = f"epoch {self._epoch} has begun, and this was written in {batch.leader_epoch}"
        elif batch.leader_epoch > self._epoch and not batch.is_control and self._epoch:
            fault = f"no controller was elected for epoch {batch.leader_epoch}"
        elif is_new_epoch and batch.leader_epoch == self._epoch:
            fault = f"a controller was elected for epoch {self._epoch} before"
        self._next_offset = batch.base_offset + len(batch.records)
        self._epoch = max(self._epoch, batch.leader_epoch)
        if fault is not None:
            messages = tuple(batch.records[:1])
            yield Explanation(batch.base_offset, batch.timestamp, messages, None, fault)

    def _control(self, entry: Entry) -> Explanation:
        message = entry.message
        self._apply(entry)
        match message:
            case LeaderChangeMessage(leader_id=leader):
                voters = self.observed.voters
                if voters and leader not in voters:
                    return _explanation([entry], None, f"controller {leader} is no voter: {voters}")
                self._levels = None
                self._find_release()
                because = (
                    f"a majority of the voters elected controller {leader} for epoch {entry.epoch}"
                )
                return _explanation([entry], Rule.LEADER_CHANGE, because)
            case KRaftVersionRecord() | VotersRecord():
                return _explanation([entry], Rule.VOTERS, "the leader of the quorum wrote it")
            case _:
                return _explanation([entry], Rule.VOTERS, "a snapshot begins or ends")

    # ---- explaining

    def _explain_waiting(self, *, is_complete: bool) -> Iterator[Explanation]:
        index = 0
        waiting = self._waiting
        closings = _closings(waiting)
        while index < len(waiting):
            upcoming = Upcoming(waiting, index)
            if isinstance(upcoming[0].record, BeginTransactionRecord):
                size = _transaction_size(upcoming)
                if size is None:
                    break
                yield from self._explain_transaction(upcoming[:size])
                index += size
                continue
            at = closings[index]
            if at is None and not is_complete:
                break
            closing = None if at is None or at == NOTHING else at - index
            answer = self._match(upcoming, closing)
            match = Match(1, Rule.NO_OP, "", {0: answer}) if isinstance(answer, str) else answer
            yield from _explanations(upcoming[: match.count], match)
            tells_release = False
            for entry in upcoming[: match.count]:
                self._apply(entry)
                tells_release |= type(entry.message) not in _OF_PARTITIONS
            index += match.count
            if tells_release:
                self._find_release()
        if index:
            self._waiting = waiting[index:]

    def _match(self, upcoming: Sequence[Entry], closing: int | None) -> Match | str:
        """Explain the first records, or say why nothing does."""
        reasons: list[str] = []
        attempts = [
            Attempt(self.observed, hypothesis, self.observed.context(hypothesis), upcoming)
            for hypothesis in self._hypotheses
        ]
        for find in self._ways(attempts, closing):
            for number, attempt in enumerate(attempts):
                hypothesis = attempt.hypothesis
                try:
                    match = find(attempt, closing)
                except NoRule as why:
                    reasons.append(str(why))
                    continue
                except BROKEN_IMAGE as error:
                    reasons.append(f"it refers to {error}, which does not exist")
                    continue
                if match is None:
                    continue
                if match.faults:
                    return match
                self._hypotheses = self._hypotheses[number:]
                if number and not hypothesis.is_default:
                    because = f"{match.because} (so {hypothesis.configuration} must be set)"
                    return replace(match, because=because)
                return match
        return reasons[0] if reasons else "no rule writes this"

    def _ways(self, attempts: Sequence[Attempt], closing: int | None) -> Iterator[Way]:
        """The ways to explain the first records, in order."""
        offset = attempts[0].entry.offset
        if closing and offset >= self._next_closing:
            yield _with_closing
            if closing >= LONG:
                with suppress(*BROKEN_IMAGE):
                    chance = min(next_chance(attempt, closing) for attempt in attempts)
                    self._next_closing = offset + chance
        yield _on_its_own
        yield _partly

    def _explain_transaction(self, inside: Sequence[Entry]) -> Iterator[Explanation]:
        begin, end = inside[0], inside[-1]
        assert isinstance(begin.record, BeginTransactionRecord)
        name = begin.record.name
        if isinstance(end.record, AbortTransactionRecord):
            because = f"the transaction {name!r} was aborted: {end.record.reason}"
            yield _explanation(inside, Rule.TRANSACTION, because)
            return
        image = self.observed.image
        is_bootstrap = name == BOOTSTRAP_TRANSACTION and not image.brokers and not image.topics
        if is_bootstrap or name == MIGRATION_TRANSACTION:
            for entry in inside:
                self._apply(entry)
            rule = Rule.BOOTSTRAP if is_bootstrap else Rule.ZK_MIGRATION
            level = self.observed.image.metadata_version
            if is_transaction_supported(level):
                yield _explanation(inside, rule, f"the transaction {name!r}")
            else:
                reason = f"metadata.version {level} has no transactions"
                yield _explanation(inside, None, reason)
            self._find_release()
            return
        yield _explanation([begin], Rule.TRANSACTION, f"the transaction {name!r}")
        outer, self._waiting = self._waiting, list(inside[1:-1])
        yield from self._explain_waiting(is_complete=True)
        self._waiting = outer
        yield _explanation([end], Rule.TRANSACTION, f"the transaction {name!r}")

    def _apply(self, entry: Entry) -> None:
        with suppress(*BROKEN_IMAGE):  # it refers to what does not exist, which has been told
            self.observed.apply(entry)

    # ---- the release

    def _find_release(self) -> None:
        """Begin with new hypotheses if the nodes' levels tell of another release."""
        if self._release is not None:
            return
        observed = self.observed
        levels = _supported_levels(observed)
        state = (*levels, -1, observed.zk_migration_state)
        if state == self._levels:
            return
        self._levels = state
        if len(levels) == 1:
            releases = releases_of_level(levels[0])
        elif levels:
            releases = [release for level in levels for release in releases_of_level(level)]
        else:
            releases = releases_since_level(observed.image.metadata_version)
        candidates = hypotheses(releases, is_migrating=observed.zk_migration_state != 0)
        # The controllers of a cluster are likely to have the same patch release and configuration.
        first = self.hypothesis
        candidates.sort(
            key=lambda candidate: (candidate.settings != first.settings, candidate != first)
        )
        self._hypotheses = candidates


def _supported_levels(observed: ObservedController) -> list[int]:
    """The newest metadata versions that the active controller may support, the newest first.

    That is what it registered with, or any of those of the brokers: controllers register only from
    3.7 on.
    """
    leader = observed.leader
    if leader is not None and leader in observed.controller_levels:
        levels = observed.controller_levels[leader].get(METADATA_VERSION)
        if levels is not None:
            return [levels[1]]
    newest = {
        levels[METADATA_VERSION][1]
        for levels in observed.broker_levels.values()
        if METADATA_VERSION in levels
    }
    return sorted(newest, reverse=True)


def _with_closing(attempt: Attempt, closing: int | None) -> Match | None:
    """An outcome that ends with a record about a broker, after changes of partitions."""
    return None if closing is None else match_closing(attempt, closing)


def _partly(attempt: Attempt, closing: int | None) -> Match | None:
    """An outcome about a broker of which some records are not what the rule writes."""
    return None if closing is None else match_partly(attempt, closing)


def _on_its_own(attempt: Attempt, _: int | None) -> Match | None:
    """The outcome that begins with the first record."""
    match = _OUTCOMES.get(type(attempt.entry.message))
    return None if match is None else match(attempt)


def _no_op(_: Attempt) -> Match:
    return Match(1, Rule.NO_OP, IDLE)


def _about_broker(attempt: Attempt) -> Match | None:
    return match_opening(attempt) or match_closing(attempt, 0)


def _explanations(entries: Sequence[Entry], match: Match) -> Iterator[Explanation]:
    """The explanation of records; those that the rule does not write stand alone."""
    begin = 0
    for index in sorted(match.faults):
        if index > begin:
            yield _explanation(entries[begin:index], match.rule, match.because)
        yield _explanation(entries[index : index + 1], None, match.faults[index])
        begin = index + 1
    if begin < len(entries):
        yield _explanation(entries[begin:], match.rule, match.because)


def _never(reason: str) -> Callable[[Attempt], Match | None]:
    def refuse(_: Attempt) -> Match | None:
        raise NoRule(reason)

    return refuse


_OF_PARTITIONS: Final = frozenset({wire.PartitionRecord, wire.PartitionChangeRecord})
"""Records that say nothing of the release: most of a log."""

_OUTCOMES: Final[dict[type[Message], Callable[[Attempt], Match | None]]] = {
    wire.NoOpRecord: _no_op,
    wire.PartitionChangeRecord: match_change,
    wire.BrokerRegistrationChangeRecord: _about_broker,
    wire.FenceBrokerRecord: _about_broker,
    wire.UnfenceBrokerRecord: _about_broker,
    wire.RegisterBrokerRecord: _about_broker,
    wire.UnregisterBrokerRecord: _about_broker,
    wire.TopicRecord: match_topic,
    wire.PartitionRecord: match_partitions,
    wire.RemoveTopicRecord: match_deletion,
    wire.ConfigRecord: match_configs,
    wire.ClearElrRecord: _never("the ELRs are cleared, and min.insync.replicas does not change"),
    wire.EndTransactionRecord: _never("no metadata transaction has begun"),
    wire.AbortTransactionRecord: _never("no metadata transaction has begun"),
    **ADMINISTRATION,
}


def _closings(waiting: Sequence[Entry]) -> list[int | None]:
    """For each record, where the next one is that changes no partition, if it is about a broker.

    NOTHING stands for another record there, None if there is none yet.
    """
    closings: list[int | None] = [None] * len(waiting)
    closing: int | None = None
    for index in range(len(waiting) - 1, -1, -1):
        record = waiting[index].record
        if not isinstance(record, PartitionChangeRecord):
            closing = index if isinstance(record, ABOUT_BROKERS) else NOTHING
        closings[index] = closing
    return closings


def _transaction_size(upcoming: Sequence[Entry]) -> int | None:
    for index, entry in enumerate(upcoming):
        if isinstance(entry.record, EndTransactionRecord | AbortTransactionRecord):
            return index + 1
    return None


def _explanation(entries: Sequence[Entry], rule: Rule | None, because: str) -> Explanation:
    first = entries[0]
    messages = tuple(entry.message for entry in entries)
    return Explanation(first.offset, first.timestamp_ms, messages, rule, because)
