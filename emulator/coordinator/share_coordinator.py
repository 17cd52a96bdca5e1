"""The share coordinator: keeps the state of share-partitions in __share_group_state.

A broker coordinates those share-partitions whose partition of the topic it leads, once it has
loaded it. A record takes effect at once, and is answered when it is replicated; if it cannot be
appended, the state is again as it was before. Source: ``ShareCoordinatorService`` and
``CoordinatorRuntime`` 4.1.
"""

from collections.abc import Callable
from typing import Final

from msgspec import Struct, field
from msgspec.structs import replace

from emulator import events
from emulator.broker_context import BrokerContext
from emulator.common.errors import LOADING, NONE
from emulator.coordinator import internal_topics
from emulator.coordinator.internal_topics import SHARE_STATE
from emulator.coordinator.own_requests import OwnRequests
from emulator.coordinator.share_state.records import Record, read, text_of
from emulator.coordinator.share_state.requests import Request, ShareState, answer, replayed
from emulator.coordinator.write_errors import WRITE_ERRORS
from emulator.protocol import (
    ProduceRequest,
    ProduceResponse,
    RecordBatch,
    ShareGroupStateResponse,
    SharePartitionKey,
)
from emulator.storage.log import Log

TASK: Final = "share-state"
ASKER: Final = "share-state"
LOADING_US: Final = 5_000
"""How long loading a partition of __share_group_state takes."""


class StateStore(Struct, array_like=True):
    """A record being written: the state before it, and who is answered when it is replicated."""

    key: str
    before: ShareState | None
    answers: list[tuple[int, int, ShareGroupStateResponse]]


class ShareCoordinatorState(Struct, array_like=True):
    """A broker's entire state as share coordinator; lost when the process ends.

    ``partitions`` maps the led partitions of __share_group_state to when they will be loaded (0:
    already loaded); ``partition_count`` is the topic's partition count (0: not read yet).
    """

    states: dict[str, ShareState] = field(default_factory=dict)
    partitions: dict[str, int] = field(default_factory=dict)
    partition_count: int = 0
    stores: dict[int, StateStore] = field(default_factory=dict)


class ShareCoordinator:
    """Handles requests about the state of share-partitions."""

    def __init__(
        self,
        context: BrokerContext,
        state: ShareCoordinatorState,
        own: OwnRequests,
        *,
        append: Callable[[int, int, ProduceRequest], None],
        log_of: Callable[[str], tuple[Log, int]],
    ) -> None:
        """Act in ``context``.

        ``append`` handles a ProduceRequest as if a client had sent it; ``log_of`` returns this
        broker's log of a partition and its high watermark.
        """
        self.context = context
        self.state = state
        self.kernel = context.kernel
        self.own = own
        own.on_response(ASKER, self._stored)
        self._append = append
        self._log_of = log_of

    def partition_of(self, key: SharePartitionKey) -> str:
        """The partition of __share_group_state that a share-partition belongs to."""
        return internal_topics.partition_of(self.context, SHARE_STATE, self.state, str(key))

    # ---- becoming and resigning as coordinator

    def leads(self, tp: str) -> None:
        """Load a partition's states on becoming its leader, if it belongs to the topic."""
        partitions = self.state.partitions
        if SHARE_STATE.holds(tp) and tp not in partitions:
            partitions[tp] = self.kernel.now + LOADING_US
            self.context.timers.set_deadline(TASK, tp, partitions[tp])

    def leads_no_more(self, tp: str) -> None:
        """Forget a partition's states: they move to another coordinator."""
        if self.state.partitions.pop(tp, None) is None:
            return
        self.context.timers.clear_deadline(TASK, tp)
        states = self.state.states
        for key in [name for name in states if self._partition_of(name) == tp]:
            del states[key]

    def _partition_of(self, key: str) -> str:
        return internal_topics.partition_of(self.context, SHARE_STATE, self.state, key)

    def tick(self) -> None:
        for key in self.context.timers.overdue(TASK):
            self._load(str(key))

    def _load(self, tp: str) -> None:
        self.state.partitions[tp] = 0
        log, _ = self._log_of(tp)
        for batch in log.read(log.start, log.end):
            if batch.is_control or batch.is_empty:
                continue
            for index in range(batch.count):
                record = read(self.context.ledger.value_of(batch.first_record + index))
                if record is not None:
                    self._replay(record)

    def _replay(self, record: Record) -> None:
        key, states = str(record.key), self.state.states
        per_snapshot = self.context.config.share_updates_per_snapshot
        state = replayed(states.get(key), record, per_snapshot)
        if state is None:
            states.pop(key, None)
        else:
            states[key] = state

    # ---- requests

    def handle(self, source: int, request: int, message: Request) -> None:
        """Answer a request; one that changes the state when its record is replicated."""
        key = message.key
        due_us = self.state.partitions.get(self.partition_of(key))
        if due_us is None or due_us:
            error = LOADING if due_us else "NOT_COORDINATOR"
            self.context.respond(source, request, ShareGroupStateResponse(request, key, error))
            return
        config = self.context.config
        states = self.state.states
        record, response = answer(
            states,
            message,
            self._has_partition,
            config.share_updates_per_snapshot,
            begins_itself=self.context.profile.has("share_group_early_access"),
        )
        response = replace(response, request=request)
        if record is not None:
            former = states.get(str(key))
            self._replay(record)
            store = StateStore(str(key), former, [(source, request, response)])
            self._write(key, record, store)
            return
        pending = [store for store in self.state.stores.values() if store.key == str(key)]
        if pending:
            pending[-1].answers.append((source, request, response))
        else:
            self.context.respond(source, request, response)

    def _has_partition(self, topic_id: str, partition: int) -> bool:
        topic = self.context.metadata.topic_with_id(topic_id)
        return topic is not None and partition < topic.partitions

    def _write(self, key: SharePartitionKey, record: Record, store: StateStore) -> None:
        tp = self.partition_of(key)
        keys: list[str | None] = [str(key)]
        values = [text_of(record)]
        first = self.context.ledger.enter(
            f"share group {key.group}", tp, keys, values, acks=-1, now_us=self.kernel.now
        )
        self.kernel.emit(
            events.GroupRecordsWritten, tp, self.context.id, key.group, first, keys, values
        )
        number = self.own.number(ASKER)
        self.state.stores[number] = store
        size_bytes = len(values[0]) + len(keys[0] or "")
        batch = RecordBatch(0, 1, -1, first, size_bytes=size_bytes)
        timeout_us = self.context.config.share_state_write_timeout_us
        append_request = ProduceRequest(tp, batch, -1, timeout_us, needs_min_isr=False)
        self._append(self.context.id, number, append_request)

    def _stored(self, number: int, outcome: ProduceResponse) -> None:
        store = self.state.stores.pop(number)
        if outcome.error not in (NONE, "REQUEST_TIMED_OUT"):
            if store.before is None:
                self.state.states.pop(store.key, None)
            else:
                self.state.states[store.key] = store.before
        error = WRITE_ERRORS.get(outcome.error, outcome.error)
        for source, request, response in store.answers:
            if error != NONE:
                response = ShareGroupStateResponse(request, response.key, error)  # noqa: PLW2901
            self.context.respond(source, request, response)
