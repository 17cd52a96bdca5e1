"""Records of external producers: received as bytes, and acknowledged by the leader's response.

A batch that is sent again counts as the same records if its producer does not know that the first
attempt succeeded, or if the batch has a sequence number. A second copy in the log is therefore
recognised as a duplicate, and a record written only by the second attempt as the acknowledged one.
"""

from typing import Final
from zlib import crc32

from msgspec.structs import replace

from emulator import events
from emulator.clients.context import ClientContext
from emulator.clients.external.call import AnyCall, Call
from emulator.clients.external.ids import tp_of
from emulator.clients.external.metadata import TopicIds
from emulator.common.errors import ERRORS, NONE
from emulator.common.names import is_topic_name
from emulator.protocol import AnyMessage, ProduceRequest, ProduceResponse, RecordBatch
from emulator.protocol.record_batch import NO_RECORDS, PLAIN, TRANSACTIONAL
from emulator.releases.profiles import Profile
from emulator.wire.exceptions import InvalidRecords, UnsupportedCompression, WireError
from emulator.wire.messages import produce as wire
from emulator.wire.records import memory_records
from emulator.wire.records.memory_records import Summary
from emulator.wire.types import Message

US_PER_MS: Final = 1_000
ADDS_PARTITION_SINCE: Final = 12
"""The first Produce version that adds partitions to a transaction (KIP-890)."""
KNOWS_ABORTABLE_SINCE: Final = 11
"""The first Produce version whose producers know TRANSACTION_ABORTABLE."""
NOT_ENTERED: Final = (NO_RECORDS, 0)
"""In place of the first record and the count of a batch that the ledger does not have."""
DOUBTS_MAX: Final = 1_000
"""The number of batches remembered for each partition in case they are sent again."""


class Produce:
    """Produce: one request to the broker for each partition, one response to the client."""

    def __init__(self, context: ClientContext, magic: int, known_ids: TopicIds) -> None:
        """Record batches in the ledger of ``context``; ``magic`` is the brokers' message format."""
        self.profile = context.profile
        self.known_ids = known_ids
        self.context = context
        self.magic = magic
        self.kernel = context.kernel
        self.ledger = context.ledger
        self.in_doubt = context.state.external.in_doubt

    def ask(self, call: Call[wire.ProduceRequest]) -> list[AnyMessage]:
        """Record the batches; reject an invalid one here, as a broker does before appending."""
        request = call.message
        asked: list[AnyMessage] = []
        is_unauthorized = request.transactional_id is None and self._has_transactional(request)
        for topic in request.topic_data:
            name = self.known_ids.name_of(topic)
            for partition in topic.partition_data:
                tp = tp_of(name, partition.index)
                call.connection.entered.append(NOT_ENTERED)
                if is_unauthorized:
                    error = "TRANSACTIONAL_ID_AUTHORIZATION_FAILED"
                    asked.append(ProduceResponse(0, tp, error, -1))
                elif name is None:
                    asked.append(ProduceResponse(0, tp, "UNKNOWN_TOPIC_ID", -1))
                elif is_topic_name(name):
                    asked.append(self._batch(call, request, tp, partition.records or b""))
                else:
                    asked.append(ProduceResponse(0, tp, "INVALID_TOPIC_EXCEPTION", -1))
        return asked

    def _has_transactional(self, request: wire.ProduceRequest) -> bool:
        """Whether the request has records that need a transactional id."""
        return self.profile.has("transactional_records_need_id") and any(
            memory_records.is_transactional(partition.records or b"")
            for topic in request.topic_data
            for partition in topic.partition_data
        )

    def _batch(
        self, call: AnyCall, request: wire.ProduceRequest, tp: str, data: bytes
    ) -> ProduceRequest:
        timeout_us = max(0, request.timeout_ms) * US_PER_MS
        nothing = RecordBatch(0, 0, -1, NO_RECORDS)
        refused = ProduceRequest(tp, nothing, request.acks, timeout_us, len(data))
        try:
            memory_records.check_version(data, call.header.api_version)
        except WireError as error:
            return replace(refused, malformed=_error_of(error))
        try:
            summary = memory_records.check_produced(data)
            if summary.magic < self.magic:
                data = memory_records.convert(data, self.magic)
        except WireError as error:
            return replace(refused, invalid=_error_of(error))
        first = self._entered(call, request.acks, tp, data, summary)
        call.connection.entered[-1] = first, summary.count
        batch = RecordBatch(
            0,
            summary.count,
            -1,
            first,
            summary.producer_id,
            summary.producer_epoch,
            summary.base_sequence,
            len(data),
            TRANSACTIONAL if summary.is_transactional else PLAIN,
        )
        return ProduceRequest(
            tp,
            batch,
            request.acks,
            timeout_us,
            len(data),
            request.transactional_id or "",
            call.header.api_version >= ADDS_PARTITION_SINCE,
            call.header.api_version >= KNOWS_ABORTABLE_SINCE,
        )

    def _entered(self, call: AnyCall, acks: int, tp: str, data: bytes, summary: Summary) -> int:
        """The first record's id; a batch sent again keeps the id of its earlier attempt."""
        doubts = self.in_doubt.setdefault(tp, {})
        mark = _mark(data, summary)
        known = doubts.get(mark)
        if known is not None and known in self.ledger.encoded:
            fields = (call.client, tp, known, "NETWORK_EXCEPTION", False)
            self.kernel.emit(events.ProduceRetried, *fields)
            return known
        first = self.ledger.enter_encoded(
            call.client, tp, data, summary.count, acks=acks, now_us=self.kernel.now
        )
        doubts[mark] = first
        if len(doubts) > DOUBTS_MAX:
            del doubts[next(iter(doubts))]
        if self.kernel.observed(events.ProduceSent):
            keys, values = self._shown(first, summary.count)
            self.kernel.emit(events.ProduceSent, call.client, tp, first, keys, values, acks)
        return first

    def _shown(self, first: int, count: int) -> tuple[list[str | None], list[str]]:
        """Keys and values as text, unless records are only counted."""
        if not self.kernel.is_recorded:
            return [], [""] * count
        return self.ledger.texts_of(first)

    def respond(
        self, call: Call[wire.ProduceRequest], *responses: ProduceResponse
    ) -> Message | None:
        """Return the results; records reported as written count as acknowledged from now on."""
        remaining = iter(responses)
        entered = iter(call.connection.entered)
        topics = []
        for topic in call.message.topic_data:
            rows = []
            for partition in topic.partition_data:
                response = next(remaining)
                first, count = next(entered)
                if count:
                    self._concluded(call, response, first, count)
                rows.append(
                    wire.PartitionProduceResponse(
                        partition.index,
                        ERRORS[response.error].code,
                        response.base_offset,
                        response.append_time_ms,
                        log_start_offset=response.log_start,
                        record_errors=[
                            wire.BatchIndexAndErrorMessage(at, _keyless(response, self.profile))
                            for at in response.keyless
                        ],
                        error_message=_refusal(response, self.profile)
                        if response.keyless
                        else None,
                    )
                )
            topics.append(wire.TopicProduceResponse(topic.name, topic.topic_id, rows))
        return wire.ProduceResponse(topics)

    def _concluded(self, call: AnyCall, response: ProduceResponse, first: int, count: int) -> None:
        """Record a batch as acknowledged or failed; after a retriable error it remains in doubt."""
        if response.error == NONE:
            self._no_more_in_doubt(response.tp, first)
            fields = (call.client, response.tp, first, count, response.base_offset)
            self.kernel.emit(events.ProduceAcknowledged, *fields)
        elif not ERRORS[response.error].retriable:
            failed = (call.client, response.tp, first, count, response.error)
            self.kernel.emit(events.ProduceFailed, *failed)

    def _no_more_in_doubt(self, tp: str, first: int) -> None:
        """Forget a batch whose result the producer knows; a numbered one may be sent again."""
        doubts = self.in_doubt.get(tp, {})
        mark = next((mark for mark, record in doubts.items() if record == first), None)
        if mark is not None and mark.startswith(UNNUMBERED):
            del doubts[mark]


NO_KEY: Final = "Compacted topic cannot accept message without key in topic partition"
REJECTED: Final = "One or more records have been rejected"


def _keyless(response: ProduceResponse, profile: Profile) -> str:
    """Why a record without a key is refused."""
    return f"{NO_KEY} {response.tp}{'.' if profile.has('refusals_of_keys_end_with_stop') else ''}"


def _refusal(response: ProduceResponse, profile: Profile) -> str:
    """Why records are refused; up to three are named (``LogValidator.processRecordErrors``)."""
    places, reason = response.keyless, _keyless(response, profile)
    if not profile.has("refused_records_counted"):
        return REJECTED
    named = ", ".join(f"RecordError(batchIndex={at}, message='{reason}')" for at in places[:3])
    return (
        f"{REJECTED} due to {len(places)} record errors in total, and only showing the first three"
        f" errors at most: [{named}]"
    )


def _error_of(error: WireError) -> str:
    """The error code's name for records that are refused."""
    if isinstance(error, UnsupportedCompression):
        return "UNSUPPORTED_COMPRESSION_TYPE"
    return "INVALID_RECORD" if isinstance(error, InvalidRecords) else "CORRUPT_MESSAGE"


UNNUMBERED: Final = "bytes "
CHECKSUM: Final = slice(17, 21)
"""The position of the checksum in a format 2 batch."""


def _mark(data: bytes, summary: Summary) -> str:
    """The identity of a batch: the producer's sequence number and checksum, or else its bytes."""
    if summary.producer_id >= 0:
        number = f"{summary.producer_id} {summary.producer_epoch} {summary.base_sequence}"
        return f"{number} {data[CHECKSUM].hex()}"
    return f"{UNNUMBERED}{crc32(data):08x} {len(data)}"
