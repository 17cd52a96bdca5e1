"""How a leader writes the markers that end transactions (WriteTxnMarkers).

Source: ``KafkaApis.handleWriteTxnMarkersRequest``, ``ProducerAppendInfo.appendEndTxnMarker`` 0.11
to 4.1.
"""

from collections.abc import Callable
from typing import Final

from msgspec import Struct, field

from emulator import events
from emulator.broker.replication.replica import Replicas
from emulator.broker_context import BrokerContext
from emulator.common.errors import NONE
from emulator.coordinator.internal_topics import OFFSETS
from emulator.coordinator.own_requests import OwnRequests
from emulator.protocol import (
    ProduceRequest,
    ProduceResponse,
    RecordBatch,
    WriteTxnMarkersRequest,
    WriteTxnMarkersResponse,
)
from emulator.protocol.record_batch import ABORT, COMMIT

ASKER: Final = "marker writer"
TIMEOUT_US: Final = 30_000_000
"""The timeout for replicating a marker (request.timeout.ms)."""
MARKER_BYTES: Final = 78
"""The size of a marker in the log: a batch header and one small record."""
FENCED: Final = "TRANSACTION_COORDINATOR_FENCED"


class MarkersUnderWay(Struct, array_like=True):
    """A coordinator's request; ``waiting`` maps numbers of own requests to partitions."""

    source: int
    request: int
    message: WriteTxnMarkersRequest
    waiting: dict[int, str] = field(default_factory=dict)
    errors: dict[str, str] = field(default_factory=dict)


class MarkerWriterState(Struct, array_like=True):
    """The requests that have not been answered yet."""

    under_way: list[MarkersUnderWay] = field(default_factory=list)


class MarkerWriter:
    """Appends markers like a producer's batches, and responds once they are replicated."""

    def __init__(
        self,
        context: BrokerContext,
        state: MarkerWriterState,
        own: OwnRequests,
        replicas: Replicas,
        append: Callable[[int, int, ProduceRequest], None],
        ended: Callable[[str, int, bool], None],
    ) -> None:
        """Write in ``context``; ``append`` handles a ProduceRequest as if a client had sent it.

        ``ended`` is called when a producer's transaction has ended in a partition of
        __consumer_offsets.
        """
        self.context = context
        self.state = state
        self.own = own
        self.replicas = replicas
        self._append = append
        self._ended = ended
        own.on_response(ASKER, self._appended)

    def write(self, source: int, request: int, message: WriteTxnMarkersRequest) -> None:
        """Write a marker to each of the given partitions."""
        under_way = MarkersUnderWay(source, request, message)
        appends: list[tuple[int, ProduceRequest]] = []
        for tp in message.partitions:
            error = self._refusal(tp, message)
            if error != NONE:
                under_way.errors[tp] = error
                continue
            number = self.own.number(ASKER)
            under_way.waiting[number] = tp
            appends.append((number, self._marker(tp, message)))
        self.state.under_way.append(under_way)
        for number, marker in appends:
            self._append(self.context.id, number, marker)
        if not appends:
            self._respond(under_way)

    def _refusal(self, tp: str, message: WriteTxnMarkersRequest) -> str:
        """The error for a marker from a coordinator that has been replaced."""
        replica = self.replicas.get(tp)
        if replica is None:
            return "UNKNOWN_TOPIC_OR_PARTITION"
        state = replica.producers.producers.get(message.producer_id)
        if state is None or state.marker < 0:
            return NONE
        entry = self.context.ledger.entry_of(state.marker)
        return FENCED if int(entry.keys[0] or 0) > message.coordinator_epoch else NONE

    def _marker(self, tp: str, message: WriteTxnMarkersRequest) -> ProduceRequest:
        context = self.context
        keys: list[str | None] = [str(message.coordinator_epoch)]
        values = ["COMMIT" if message.commit else "ABORT"]
        producer_id, epoch = message.producer_id, message.producer_epoch
        first = context.ledger.enter(
            f"producer {producer_id}", tp, keys, values, acks=-1, now_us=context.kernel.now
        )
        fields = (tp, context.id, producer_id, epoch, first, keys, values)
        context.emit(events.TransactionMarkerWritten, *fields)
        kind = COMMIT if message.commit else ABORT
        batch = RecordBatch(0, 1, -1, first, producer_id, epoch, size_bytes=MARKER_BYTES, kind=kind)
        is_of_groups = OFFSETS.holds(tp) and context.profile.has("group_records_need_no_min_isr")
        return ProduceRequest(tp, batch, -1, TIMEOUT_US, needs_min_isr=not is_of_groups)

    def _appended(self, number: int, response: ProduceResponse) -> None:
        """Handle the outcome of a marker's replication."""
        under_way = next(entry for entry in self.state.under_way if number in entry.waiting)
        tp = under_way.waiting.pop(number)
        under_way.errors[tp] = response.error
        if response.error == NONE and OFFSETS.holds(tp):
            self._ended(tp, under_way.message.producer_id, under_way.message.commit)
        if not under_way.waiting:
            self._respond(under_way)

    def _respond(self, writing: MarkersUnderWay) -> None:
        self.state.under_way.remove(writing)
        response = WriteTxnMarkersResponse(
            writing.request, writing.message.producer_id, writing.errors
        )
        self.context.respond(writing.source, writing.request, response)
