"""Records of producers outside: entered as bytes, and acknowledged as the leader says.

A batch that comes again is the same records: its producer was not told that the first attempt had
come to anything, or it numbers its batches. So a copy in the log is known as a duplicate, and a
record that only the second attempt brought as the one that was acknowledged.
"""

from collections.abc import Sequence
from typing import Final

from emulator import events
from emulator.clients.context import ClientContext
from emulator.clients.external.call import Call
from emulator.protocol import AnyMessage, ProduceRequest, ProduceResponse, RecordBatch
from emulator.protocol.errors import ERRORS, NONE
from emulator.protocol.names import is_topic_name
from emulator.wire import records
from emulator.wire.exceptions import WireError
from emulator.wire.messages import produce as wire
from emulator.wire.types import Message

US_PER_MS: Final = 1_000
DOUBTS_MAX: Final = 1_000
"""How many batches of a partition are remembered in case they come again."""


class Produce:
    """Produce: one request to the broker for each partition, and one answer to the client."""

    def __init__(self, context: ClientContext) -> None:
        """Enter records in the ledger of ``context``."""
        self.context = context
        self.kernel = context.kernel
        self.ledger = context.ledger
        self.in_doubt = context.state.external.in_doubt

    def ask(self, call: Call) -> list[AnyMessage]:
        """Enter the batches; what is no batch is refused here, as a broker does before it writes."""
        request = call.message
        assert isinstance(request, wire.ProduceRequest)
        asked: list[AnyMessage] = []
        for topic in request.topic_data:
            for each in topic.partition_data:
                tp = f"{topic.name}-{each.index}"
                if is_topic_name(topic.name):
                    asked.append(self._batch(call, request, tp, each.records or b""))
                else:
                    asked.append(ProduceResponse(0, tp, "INVALID_TOPIC_EXCEPTION", -1))
        return asked

    def _batch(
        self, call: Call, request: wire.ProduceRequest, tp: str, data: bytes
    ) -> ProduceRequest | ProduceResponse:
        try:
            header = records.only_batch(data)
        except WireError:
            return ProduceResponse(0, tp, "CORRUPT_MESSAGE", -1)
        first = self._entered(call, request.acks, tp, data, header)
        call.connection.entered.append(first)
        batch = RecordBatch(
            0,
            header.count,
            -1,
            first,
            header.producer_id,
            header.producer_epoch,
            header.base_sequence,
            len(data),
        )
        timeout_us = max(0, request.timeout_ms) * US_PER_MS
        return ProduceRequest(tp, batch, request.acks, timeout_us, len(data))

    def _entered(
        self, call: Call, acks: int, tp: str, data: bytes, header: records.BatchHeader
    ) -> int:
        """The id of the first record: that of an earlier attempt, if this is another one."""
        doubts = self.in_doubt.setdefault(tp, {})
        known = doubts.get(_mark(header))
        if known is not None:
            fields = (call.client, tp, known, "NETWORK_EXCEPTION", False)
            self.kernel.emit(events.ProduceRetried, *fields)
            return known
        first = self.ledger.enter_encoded(
            call.client, tp, data, header.count, acks=acks, now_us=self.kernel.now
        )
        doubts[_mark(header)] = first
        if len(doubts) > DOUBTS_MAX:
            del doubts[next(iter(doubts))]
        if self.kernel.observed(events.ProduceSent):
            keys, values = self._shown(first, header.count)
            self.kernel.emit(events.ProduceSent, call.client, tp, first, keys, values, acks)
        return first

    def _shown(self, first: int, count: int) -> tuple[list[str | None], list[str]]:
        """Keys and values as text; nobody who only counts records needs them."""
        if not self.kernel.is_recorded:
            return [], [""] * count
        return self.ledger.texts_of(first)

    def answer(self, call: Call, answers: Sequence[AnyMessage]) -> Message | None:
        """Tell the producer; what it is told is written is acknowledged from here on."""
        request = call.message
        assert isinstance(request, wire.ProduceRequest)
        told = iter(answers)
        entered = iter(call.connection.entered)
        topics = []
        for topic in request.topic_data:
            rows = []
            for each in topic.partition_data:
                found = next(told)
                assert isinstance(found, ProduceResponse)
                if found.error not in UNENTERED:
                    self._concluded(call, found, next(entered), each.records or b"")
                rows.append(
                    wire.PartitionProduceResponse(
                        each.index,
                        ERRORS[found.error].code,
                        found.base_offset,
                        log_start_offset=found.log_start,
                    )
                )
            topics.append(wire.TopicProduceResponse(topic.name, topic.topic_id, rows))
        return wire.ProduceResponse(topics) if request.acks else None

    def _concluded(self, call: Call, found: ProduceResponse, first: int, data: bytes) -> None:
        """One partition's batch: acknowledged, or refused."""
        header = records.only_batch(data)
        if found.error == NONE:
            if header.producer_id < 0:
                self.in_doubt.get(found.tp, {}).pop(_mark(header), None)
            fields = (call.client, found.tp, first, header.count, found.base_offset)
            self.kernel.emit(events.ProduceAcknowledged, *fields)
        elif not ERRORS[found.error].retriable:  # or else it comes again
            failed = (call.client, found.tp, first, header.count, found.error)
            self.kernel.emit(events.ProduceFailed, *failed)


UNENTERED: Final = ("CORRUPT_MESSAGE", "INVALID_TOPIC_EXCEPTION")
"""The errors of records that no broker has seen."""


def _mark(header: records.BatchHeader) -> str:
    """What tells a batch from others: its producer's number of it, or else its bytes."""
    if header.producer_id >= 0:
        return f"{header.producer_id} {header.producer_epoch} {header.base_sequence}"
    return f"{header.crc:08x} {header.count}"
