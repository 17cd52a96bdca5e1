"""The groups that a broker coordinates, and their records in the log of __consumer_offsets.

Records take effect once they are replicated, and are read back by the next coordinator. Source:
``GroupMetadataManager`` 0.9 to 3.9 (``storeGroup``, ``storeOffsets``, ``loadGroupsAndOffsets``).
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Final

from msgspec.structs import replace

from emulator import events
from emulator.broker_context import BrokerContext
from emulator.common.errors import NONE
from emulator.coordinator import internal_topics
from emulator.coordinator.consumer_groups import records as consumer_records
from emulator.coordinator.consumer_groups.group import ConsumerGroup
from emulator.coordinator.groups import (
    EMPTY,
    NEXT,
    STABLE,
    TASK,
    CoordinatorState,
    Group,
    GroupAnswer,
    Member,
    Position,
    Replacement,
    Store,
    drop,
    keep,
    newest,
    store_key,
)
from emulator.coordinator.internal_topics import OFFSETS
from emulator.coordinator.modern_groups.records import EpochRecord
from emulator.coordinator.own_requests import OwnRequests
from emulator.coordinator.records import (
    GroupRecord,
    OffsetRecord,
    Record,
    group_record,
    key_of,
    read,
    size_of,
    text_of,
)
from emulator.coordinator.share_groups import records as share_records
from emulator.coordinator.share_groups.group import ShareGroup
from emulator.coordinator.write_errors import UNKNOWN_ERROR, WRITE_ERRORS
from emulator.events import CLIENTS
from emulator.protocol import (
    AnyMessage,
    DeleteGroupsResponse,
    OffsetCommitRequest,
    OffsetCommitResponse,
    OffsetDeleteResponse,
    OffsetFetchResponse,
    ProduceRequest,
    ProduceResponse,
    Protocol,
    RecordBatch,
    Subscription,
    TxnOffsetCommitRequest,
)
from emulator.protocol.record_batch import COMMIT, PLAIN, TRANSACTIONAL
from emulator.storage.log import Log

ASKER: Final = "groups"
VERIFIER: Final = "transactions of offsets"
LATE: Final = "REQUEST_TIMED_OUT"
NEVER_US: Final = 1 << 53
"""A timeout that no run reaches: nearly three centuries."""
UNAVAILABLE: Final = "COORDINATOR_NOT_AVAILABLE"
STORING_ERRORS: Final = {
    "UNKNOWN_TOPIC_OR_PARTITION": UNAVAILABLE,
    "NOT_ENOUGH_REPLICAS": UNAVAILABLE,
    "NOT_ENOUGH_REPLICAS_AFTER_APPEND": UNAVAILABLE,
    "NOT_LEADER_OR_FOLLOWER": "NOT_COORDINATOR",
    "MESSAGE_TOO_LARGE": UNKNOWN_ERROR,
    "NETWORK_EXCEPTION": "COORDINATOR_LOAD_IN_PROGRESS",
}
"""The error returned to a client for each error of the coordinator's own write.

Source: ``GroupMetadataManager.storeOffsets`` and ``storeGroup`` 0.9 to 3.9.
"""


ModernStored = Callable[[Store, str], None]
"""Called with the stored records of a consumer or share group and the error of the write."""


def failed(answer: GroupAnswer, error: str) -> GroupAnswer:
    """What is told instead of an answer if what it waits for is not replicated.

    Source: ``GroupCoordinatorService.handleOffsetFetchException``.
    """
    if isinstance(answer, OffsetDeleteResponse):
        return OffsetDeleteResponse(answer.request, error, {})
    if isinstance(answer, OffsetFetchResponse) and error == UNAVAILABLE:
        error = "NOT_COORDINATOR"
    return type(answer)(answer.request, answer.group, error)


AssignmentStored = Callable[[Group, Store, str], None]
"""Called with the group, the stored generation and the resulting error."""
DeletionDue = Callable[[int, list[str], str], None]
"""Called with a request, the groups that it deletes, and the error of what it waited for."""


class GroupMetadataManager:
    """Manages the groups, and writes and reads the log of __consumer_offsets."""

    def __init__(
        self,
        context: BrokerContext,
        state: CoordinatorState,
        own: OwnRequests,
        *,
        append: Callable[[int, int, ProduceRequest], None],
        log_of: Callable[[str], tuple[Log, int]],
        assignment_stored: AssignmentStored,
        modern_stored: ModernStored,
        deletion_due: DeletionDue,
    ) -> None:
        """Act in ``context``.

        ``append`` handles a ProduceRequest as if a client had sent it; ``log_of`` returns this
        broker's log of a partition and its high watermark.
        """
        self.context = context
        self.state = state
        self.own = own
        own.on_response(ASKER, self.stored)
        has = context.profile.has
        self.verifies_first = has("transaction_verified_before_member") and not has(
            "consumer_group_early_access"
        )
        self.kernel = context.kernel
        self.needs_min_isr = not context.profile.has("group_records_need_no_min_isr")
        self._append = append
        self._log_of = log_of
        self._assignment_stored = assignment_stored
        self._modern_stored = modern_stored
        self._deletion_due = deletion_due

    # ---- groups

    def partition_of(self, group: str) -> str:
        """The partition of __consumer_offsets that a group belongs to."""
        return internal_topics.partition_of(self.context, OFFSETS, self.state, group)

    def group(self, name: str) -> Group | None:
        return self.state.groups.get(name)

    def make(self, name: str) -> Group:
        group = self.state.groups[name] = Group(name, is_unwritten=True)
        return group

    def committed(self, names: Iterable[str] | None = None) -> dict[str, Group]:
        """Groups, by default all, as reads see them: from 4.0 on without what is not replicated.

        Source: ``CoordinatorRuntime.scheduleReadOperation``, which reads at the committed offset.
        """
        chosen = self.state.groups if names is None else names
        groups = {name: self.group(name) for name in chosen}
        # The last write comes first.
        for store in () if self.needs_min_isr else reversed(self.state.stores.values()):
            if names is None or store.group in groups:
                groups[store.group] = _without(store, groups.get(store.group))
        return {name: group for name, group in groups.items() if group is not None}

    def to(self, group: Group, state: str) -> None:
        follows = group.modern is not None or state in NEXT[group.state]
        assert follows, f"{group.state} -> {state}"
        group.state = state
        self.kernel.emit(
            events.GroupStateChanged, group.name, self.context.id, state, group.generation
        )

    def ended(self, request: int, group: str, error: str) -> None:
        """Note the end of a share group; respond if it is the last that a request waits for.

        ``error`` is why it goes on.
        """
        deletion = self.state.deletions[request]
        deletion.errors[group] = error
        deletion.waits.remove(group)
        if not deletion.waits:
            del self.state.deletions[request]
            self.respond(request, DeleteGroupsResponse(request, deletion.errors))

    def respond(self, request: int, message: AnyMessage) -> None:
        """Send the response to a client's request."""
        self.context.respond(CLIENTS, request, message)

    # ---- writing

    def commit(
        self, group: Group, request: int, message: OffsetCommitRequest | TxnOffsetCommitRequest
    ) -> None:
        """Write offsets; respond when they are replicated.

        Those of a transaction take effect when it commits. Offsets with too much metadata are left
        out.
        """
        now = self.kernel.now
        offsets, epochs, notes = message.offsets, message.epochs, message.notes
        longest = self.context.config.offset_metadata_max_bytes
        errors = {
            tp: "OFFSET_METADATA_TOO_LARGE" for tp in offsets if len(notes.get(tp, "")) > longest
        }
        if errors:
            offsets = {tp: offset for tp, offset in offsets.items() if tp not in errors}
            if not offsets:
                self.respond(request, OffsetCommitResponse(request, group.name, NONE, errors))
                return
        records = [
            OffsetRecord(group.name, tp, offset, now, epochs.get(tp, -1), notes.get(tp, ""))
            for tp, offset in offsets.items()
        ]
        store = Store(group.name, request, offsets=offsets, at_us=now, epochs=epochs, notes=notes)
        store.errors = errors
        if isinstance(message, TxnOffsetCommitRequest):
            store.producer_id, store.producer_epoch = message.producer_id, message.producer_epoch
            store.transactional_id = message.transactional_id
            store.adds_partition = message.adds_partition
            store.knows_abortable = message.knows_abortable
            store.is_verified = self.verifies_first
            positions = group.unstable.setdefault(store.producer_id, {})
            positions.update((record.tp, _position(record)) for record in records)
        self.write(store, records)

    def verify(self, request: int, message: TxnOffsetCommitRequest) -> None:
        """Have the transaction of offsets verified before they are looked at."""
        number = self.own.number(VERIFIER)
        self.state.verifying[number] = (request, message)
        batch = RecordBatch(
            0, 0, -1, 0, message.producer_id, message.producer_epoch, kind=TRANSACTIONAL
        )
        verifying = ProduceRequest(
            self.partition_of(message.group),
            batch,
            -1,
            NEVER_US,
            transactional_id=message.transactional_id,
            adds_partition=message.adds_partition,
            knows_abortable=message.knows_abortable,
            only_verifies=True,
        )
        self._append(self.context.id, number, verifying)

    def verified(
        self, number: int, outcome: ProduceResponse
    ) -> tuple[int, TxnOffsetCommitRequest, str]:
        """The request whose transaction was verified, and the error that its client is told."""
        errors = STORING_ERRORS if self.needs_min_isr else WRITE_ERRORS
        return *self.state.verifying.pop(number), errors.get(outcome.error, outcome.error)

    def store_assignment(
        self,
        group: Group,
        assignment: dict[str, list[str]],
        assignments: dict[str, bytes] | None = None,
        replacing: Replacement | None = None,
    ) -> None:
        """Write a generation and its assignment."""
        encoded = assignments or {}
        store = Store(group.name, 0, group.generation, assignment=assignment, assignments=encoded)
        store.replacing = replacing
        self.write(store, [group_record(group, assignment, encoded)])

    def write(self, store: Store, records: Sequence[Record], *, removes: bool = False) -> None:
        """Append records with acks=all; :meth:`stored` handles the outcome.

        What ``removes`` groups and offsets needs no min.insync.replicas, and from 4.0 on nothing
        does; what is not replicated in time is then only answered, and takes effect later
        (``cleanupGroupMetadata``, ``CoordinatorRuntime.scheduleWriteOperation``).
        """
        tp, group = self.partition_of(store.group), self.group(store.group)
        if group is not None:
            store.first, group.is_unwritten = group.is_unwritten, False
        keys: list[str | None] = [key_of(record) for record in records]
        values = [text_of(record) for record in records]
        first = self.context.ledger.enter(
            f"group {store.group}", tp, keys, values, acks=-1, now_us=self.kernel.now
        )
        self.kernel.emit(
            events.GroupRecordsWritten, tp, self.context.id, store.group, first, keys, values
        )
        number = self.own.number(ASKER)
        self.state.stores[number] = store
        size_bytes = sum(map(size_of, records, values)) + sum(len(key or "") for key in keys)
        batch = RecordBatch(
            0,
            len(records),
            -1,
            first,
            store.producer_id,
            store.producer_epoch,
            -1 if store.producer_id < 0 else 0,
            size_bytes=size_bytes,
            kind=PLAIN if store.producer_id < 0 else TRANSACTIONAL,
        )
        timeout_us = self.context.config.offsets_commit_timeout_us
        if not self.needs_min_isr:
            self._set_deadline(number)
            timeout_us = NEVER_US
        request = ProduceRequest(
            tp,
            batch,
            -1,
            timeout_us,
            size_bytes,
            transactional_id=store.transactional_id,
            adds_partition=store.adds_partition,
            knows_abortable=store.knows_abortable,
            is_verified=store.is_verified,
            needs_min_isr=self.needs_min_isr and not removes,
            is_coordinators=True,
        )
        self._append(self.context.id, number, request)

    def await_pending(self, group: str, answer: GroupAnswer) -> bool:
        """Answer when all that is written to a group's partition is replicated.

        False: that is so already.
        """
        store = self._pending(self.partition_of(group))
        if store is not None:
            store.answers.append(answer)
        return store is not None

    def delete_after_pending(self, tp: str, request: int, groups: list[str]) -> None:
        """Delete groups for a request when all that is written to their partition is replicated."""
        store = self._pending(tp)
        if store is None:
            self._deletion_due(request, groups, NONE)
        else:
            store.deletions[request] = groups

    def _pending(self, tp: str) -> Store | None:
        """The last write to a partition that is not replicated yet; who waits for it is told."""
        for number, store in reversed(self.state.stores.items()):
            if self.partition_of(store.group) == tp:
                if self.context.timers.deadline_of(TASK, store_key(number)) is None:
                    self._set_deadline(number)
                return store
        return None

    def uncommitted(self, group: Group) -> dict[str, int]:
        """A group's offsets with those that are not replicated yet."""
        offsets = dict(group.offsets)
        for store in self.state.stores.values():
            if store.group == group.name and store.producer_id < 0:
                offsets |= store.offsets
                for tp in store.drops:
                    offsets.pop(tp, None)
        return offsets

    def _set_deadline(self, number: int) -> None:
        due_us = self.kernel.now + self.context.config.offsets_commit_timeout_us
        self.context.timers.set_deadline(TASK, store_key(number), due_us)

    def late(self, number: int) -> None:
        """Answer those who wait for a write that is not replicated in time.

        It goes on: what it changes takes effect once it is replicated.
        """
        store = self.state.stores.get(number)
        if store is None:
            return
        self._finish(store, LATE)
        store.request, store.assignment, store.answers, store.deletes = 0, None, [], 0
        store.deletions = {}

    def stored(self, number: int, outcome: ProduceResponse) -> None:
        """Handle the outcome of a write, and inform those waiting for it."""
        self.context.timers.clear_deadline(TASK, store_key(number))
        self._finish(self.state.stores.pop(number), outcome.error)

    def _finish(self, store: Store, outcome: str) -> None:
        self._answer(store, NONE if outcome == NONE else WRITE_ERRORS.get(outcome, UNKNOWN_ERROR))
        if store.before is not None:
            self._modern_stored(store, outcome)
            return
        group, error = self.group(store.group), self._error(store, outcome)
        if store.assignment is not None:
            if group is not None:
                # A member whose assignment may or may not be stored joins again, whereas a consumer
                # is told that its commit timed out (GroupMetadataManager.storeGroup).
                late = "REBALANCE_IN_PROGRESS" if outcome == LATE else error
                self._assignment_stored(group, store, late)
            return
        if group is not None and error == NONE:
            self._offsets_stored(group, store)
        elif group is not None and (self.needs_min_isr or outcome != LATE):
            self._forget_unstable(group, store)
        if store.request:
            response = OffsetCommitResponse(store.request, store.group, error, store.errors)
            self.respond(store.request, response)

    def _answer(self, store: Store, error: str) -> None:
        """Answer the requests that wait for a write."""
        for answer in store.answers:
            self.respond(answer.request, answer if error == NONE else failed(answer, error))
        if store.deletes:
            self.ended(store.deletes, store.group, error)
        for request, groups in store.deletions.items():
            self._deletion_due(request, groups, error)

    def _error(self, store: Store, outcome: str) -> str:
        """The error for the client whose offsets or generation were to be written."""
        if not self.needs_min_isr:
            return WRITE_ERRORS.get(outcome, outcome)
        if outcome == "MESSAGE_TOO_LARGE" and store.assignment is None:
            return "INVALID_COMMIT_OFFSET_SIZE"
        return STORING_ERRORS.get(outcome, outcome)

    def _offsets_stored(self, group: Group, store: Store) -> None:
        """Let offsets take effect, but not those of a transaction that has not ended."""
        for tp in store.drops:
            drop(group, tp)
        for tp, offset in store.offsets.items() if store.producer_id < 0 else ():
            epoch, note = store.epochs.get(tp, -1), store.notes.get(tp, "")
            self._committed(group, tp, Position(offset, store.at_us, epoch, note))

    def _committed(self, group: Group, tp: str, position: Position) -> None:
        keep(group, tp, position)
        self.kernel.emit(events.OffsetCommitted, group.name, tp, self.context.id, position.offset)

    # ---- transactions

    @staticmethod
    def _forget_unstable(group: Group, store: Store) -> None:
        """Discard a transaction's offsets that could not be written."""
        positions = group.unstable.get(store.producer_id, {})
        for tp in store.offsets:
            positions.pop(tp, None)
        if not positions:
            group.unstable.pop(store.producer_id, None)

    def transaction_ended(self, tp: str, producer_id: int, *, commit: bool) -> None:
        """Commit or discard the pending offsets of a transaction that has ended in a partition.

        Source: ``GroupMetadata.completePendingTxnOffsetCommit``.
        """
        for group in self.state.groups.values():
            positions = group.unstable.get(producer_id)
            if positions is None or self.partition_of(group.name) != tp:
                continue
            del group.unstable[producer_id]
            if commit:
                for name, position in newest(group, positions).items():
                    self._committed(group, name, position)

    # ---- reading

    def load(self, tp: str) -> list[Group]:
        """Load a partition's groups from its log, up to the LEO (before 0.11: the HW).

        Return the groups.
        """
        log, high_watermark = self._log_of(tp)
        to_end = self.context.profile.has("offsets_loaded_to_log_end")
        bound = log.end if to_end else min(high_watermark, log.end)
        groups: dict[str, Group] = {}
        classic: set[str] = set()
        for batch in log.read(log.start, bound):
            if batch.is_control:
                _end_transaction(groups.values(), batch)
            if batch.is_control or batch.is_empty:
                continue
            for at in range(min(batch.count, bound - batch.base_offset)):
                record = read(self.context.ledger.value_of(batch.first_record + at))
                if record is not None:
                    group = groups.setdefault(record.group, Group(record.group))
                    self._apply(group, record, batch)
                    if isinstance(record, GroupRecord):
                        (classic.add if record.generation >= 0 else classic.discard)(group.name)
        groups = {
            name: loaded
            for name, loaded in groups.items()
            if name in classic or loaded.offsets or loaded.unstable or loaded.modern
        }
        self.state.groups.update(groups)
        self.kernel.emit(events.GroupsLoaded, tp, self.context.id, list(groups))
        for group in groups.values():
            for member in group.members.values():
                member.deadline_us = self.kernel.now + member.session_timeout_us
            members = group.consumer or group.share
            if members is not None:
                group.state, group.generation = members.state, members.epoch
            self.kernel.emit(
                events.GroupStateChanged,
                group.name,
                self.context.id,
                group.state,
                group.generation,
            )
        return list(groups.values())

    @staticmethod
    def _apply(group: Group, record: Record, batch: RecordBatch) -> None:
        if isinstance(record, OffsetRecord) and batch.kind == TRANSACTIONAL:
            group.unstable.setdefault(batch.producer_id, {})[record.tp] = _position(record)
            return
        if isinstance(record, OffsetRecord):
            if record.offset >= 0:
                keep(group, record.tp, _position(record))
            else:
                drop(group, record.tp)
            return
        if not isinstance(record, GroupRecord):
            _replay(group, record)
            return
        group.generation, group.leader = max(0, record.generation), record.leader
        group.empty_since_us = record.since_us
        group.assignor, group.protocol_type = record.assignor, record.protocol_type
        group.state = STABLE if record.members else EMPTY
        group.members = {
            name: Member(
                name,
                member.consumer,
                Subscription(member.topics),
                member.session_timeout_us,
                member.rebalance_timeout_us,
                is_new=False,
                partitions=member.partitions,
                protocols=[Protocol(*protocol) for protocol in member.protocols.items()],
                assignment=member.assignment,
                instance_id=member.instance_id,
            )
            for name, member in record.members.items()
        }


def _without(store: Store, group: Group | None) -> Group | None:
    """A group as it was before records were written."""
    before = store.before
    if store.first:
        return None
    if store.reverts is not None:
        return store.reverts
    if before is None or group is None:
        return group
    return replace(group, modern=before, state=before.state, generation=before.epoch)


def _replay(group: Group, record: consumer_records.Record | share_records.Record) -> None:
    """Apply a record of a consumer or share group; the last tombstone ends it."""
    if group.modern is None:
        is_consumer = isinstance(record, consumer_records.Record)
        group.modern = ConsumerGroup(group.name) if is_consumer else ShareGroup(group.name)
    group.modern.replay(record)
    if isinstance(record, EpochRecord) and record.epoch < 0:
        group.modern = None


def _end_transaction(groups: Iterable[Group], marker: RecordBatch) -> None:
    for group in groups:
        positions = group.unstable.pop(marker.producer_id, {})
        if marker.kind == COMMIT:
            for tp, position in newest(group, positions).items():
                keep(group, tp, position)


def _position(record: OffsetRecord) -> Position:
    return Position(record.offset, record.at_us, record.epoch, record.note)
