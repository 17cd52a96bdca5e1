"""Producer ids and transactions of external producers (KIP-98)."""

from collections.abc import Iterable
from typing import Final

from msgspec import Struct

from emulator import protocol
from emulator.clients.external.call import AnyCall, Call
from emulator.clients.external.committed_offsets import (
    commit_results,
    committed_by,
    partitions_asked,
)
from emulator.clients.external.ids import tp_of
from emulator.clients.external.metadata import TopicIds
from emulator.common.errors import ERRORS, NONE
from emulator.protocol import AnyMessage
from emulator.wire.messages import produce as ids
from emulator.wire.messages import transactions as wire
from emulator.wire.types import Message

US_PER_MS: Final = 1_000
SEVERAL_SINCE: Final = 4
"""The first AddPartitionsToTxn version with several transactions, which brokers send."""
BUMP_SINCE: Final = 5
"""The first EndTxn version that bumps the producer epoch (KIP-890)."""
OFFSETS_ABORTABLE_SINCE: Final = 4
"""The first TxnOffsetCommit version whose producers know TRANSACTION_ABORTABLE (KIP-1050)."""
OFFSETS_ADD_PARTITION_SINCE: Final = 5
"""The first TxnOffsetCommit version without an AddOffsetsToTxn request before it (KIP-890)."""
FENCED_SINCE: Final = {
    "InitProducerId": 4,
    "AddPartitionsToTxn": 2,
    "AddOffsetsToTxn": 2,
    "EndTxn": 2,
}
"""The first version of each API that returns PRODUCER_FENCED (KIP-588)."""


def _code(error: str, api: str, call: AnyCall) -> int:
    """The code of an error, replaced by its older equivalent for older producers."""
    if error == "PRODUCER_FENCED" and call.header.api_version < FENCED_SINCE[api]:
        error = "INVALID_PRODUCER_EPOCH"
    return ERRORS[error].code


class InitProducerId:
    """InitProducerId: a new producer id, or the next epoch of a transactional producer."""

    def ask(self, call: Call[ids.InitProducerIdRequest]) -> list[AnyMessage]:
        """Request an id; a transactional producer requests it from its coordinator.

        Who has an id has an epoch, too (``KafkaApis.handleInitProducerIdRequest``).
        """
        request = call.message
        name = request.transactional_id
        has_half = (request.producer_id == -1) != (request.producer_epoch == -1)
        if name == "" or has_half:
            return [protocol.InitProducerIdResponse(0, "INVALID_REQUEST", -1, -1)]
        if name is None:
            return [protocol.InitProducerIdRequest()]
        return [
            protocol.InitProducerIdRequest(
                name,
                request.transaction_timeout_ms * US_PER_MS,
                request.producer_id,
                request.producer_epoch,
            )
        ]

    def respond(self, call: AnyCall, response: protocol.InitProducerIdResponse) -> Message:
        return ids.InitProducerIdResponse(
            error_code=_code(response.error, "InitProducerId", call),
            producer_id=response.producer_id,
            producer_epoch=response.producer_epoch,
        )


class AddPartitionsToTxn:
    """AddPartitionsToTxn: of one transaction, or of several from version 4 on."""

    def ask(self, call: AnyCall) -> list[AnyMessage]:
        return [
            protocol.AddPartitionsToTxnRequest(
                transaction.transactional_id,
                transaction.producer_id,
                transaction.producer_epoch,
                [
                    tp_of(topic.name, number)
                    for topic in transaction.topics
                    for number in topic.partitions
                ],
                transaction.verify_only,
                call.header.api_version < SEVERAL_SINCE,
            )
            for transaction in self._transactions(call)
        ]

    @staticmethod
    def _transactions(
        call: Call[wire.AddPartitionsToTxnRequest],
    ) -> list[wire.AddPartitionsToTxnTransaction]:
        request = call.message
        if call.header.api_version >= SEVERAL_SINCE:
            return request.transactions
        return [
            wire.AddPartitionsToTxnTransaction(
                request.v3_and_below_transactional_id,
                request.v3_and_below_producer_id,
                request.v3_and_below_producer_epoch,
                topics=request.v3_and_below_topics,
            )
        ]

    def respond(self, call: AnyCall, *responses: protocol.AddPartitionsToTxnResponse) -> Message:
        results = []
        for asked, response in zip(self._transactions(call), responses, strict=True):
            topics = [
                wire.AddPartitionsToTxnTopicResult(
                    topic.name,
                    [
                        wire.AddPartitionsToTxnPartitionResult(
                            number,
                            _code(
                                response.errors[tp_of(topic.name, number)],
                                "AddPartitionsToTxn",
                                call,
                            ),
                        )
                        for number in topic.partitions
                    ],
                )
                for topic in asked.topics
            ]
            results.append(wire.AddPartitionsToTxnResult(asked.transactional_id, topics))
        if call.header.api_version >= SEVERAL_SINCE:
            return wire.AddPartitionsToTxnResponse(results_by_transaction=results)
        (only,) = results
        return wire.AddPartitionsToTxnResponse(results_by_topic_v3_and_below=only.topic_results)


class AddOffsetsToTxn:
    """AddOffsetsToTxn."""

    def ask(self, call: Call[wire.AddOffsetsToTxnRequest]) -> list[AnyMessage]:
        """Add the group's offsets partition to the transaction."""
        request = call.message
        return [
            protocol.AddOffsetsToTxnRequest(
                request.transactional_id,
                request.producer_id,
                request.producer_epoch,
                request.group_id,
            )
        ]

    def respond(self, call: AnyCall, response: protocol.AddOffsetsToTxnResponse) -> Message:
        code = _code(response.error, "AddOffsetsToTxn", call)
        return wire.AddOffsetsToTxnResponse(error_code=code)


class EndTxn:
    """EndTxn: completed once the commit or abort is decided."""

    def ask(self, call: Call[wire.EndTxnRequest]) -> list[AnyMessage]:
        request = call.message
        return [
            protocol.EndTxnRequest(
                request.transactional_id,
                request.producer_id,
                request.producer_epoch,
                request.committed,
                call.header.api_version >= BUMP_SINCE,
            )
        ]

    def respond(self, call: AnyCall, response: protocol.EndTxnResponse) -> Message:
        return wire.EndTxnResponse(
            error_code=_code(response.error, "EndTxn", call),
            producer_id=response.producer_id,
            producer_epoch=response.producer_epoch,
        )


class TxnOffsetCommit(Struct, eq=False):
    """TxnOffsetCommit: completed when the offsets are replicated.

    Topics are named by id from version 6 on.
    """

    known_ids: TopicIds

    def ask(self, call: Call[wire.TxnOffsetCommitRequest]) -> list[AnyMessage]:
        """Commit all offsets in one request; there is none if no topic is known."""
        request = call.message
        committed = committed_by(request, self.known_ids)
        if committed is None:
            return []
        return [
            partitions_asked(committed),
            protocol.TxnOffsetCommitRequest(
                request.transactional_id,
                request.producer_id,
                request.producer_epoch,
                request.group_id,
                request.generation_id,
                request.member_id,
                *committed,
                request.group_instance_id or "",
                call.header.api_version >= OFFSETS_ADD_PARTITION_SINCE,
                call.header.api_version >= OFFSETS_ABORTABLE_SINCE,
            ),
        ]

    def respond(self, call: Call[wire.TxnOffsetCommitRequest], *responses: AnyMessage) -> Message:
        topics = [
            wire.TxnOffsetCommitResponseTopic(
                topic.name,
                topic.topic_id,
                [
                    wire.TxnOffsetCommitResponsePartition(number, code)
                    for number, code in codes.items()
                ],
            )
            for topic, codes in commit_results(call.message.topics, responses, self.known_ids)
        ]
        return wire.TxnOffsetCommitResponse(topics=topics)


class WriteTxnMarkers:
    """WriteTxnMarkers: an administrator aborts a hanging transaction (KIP-664)."""

    def ask(self, call: Call[wire.WriteTxnMarkersRequest]) -> list[AnyMessage]:
        return [
            protocol.WriteTxnMarkersRequest(
                marker.producer_id,
                marker.producer_epoch,
                marker.coordinator_epoch,
                marker.transaction_result,
                _named(marker.topics),
            )
            for marker in call.message.markers
        ]

    def respond(
        self, call: Call[wire.WriteTxnMarkersRequest], *responses: protocol.WriteTxnMarkersResponse
    ) -> Message:
        markers = []
        for asked, response in zip(call.message.markers, responses, strict=True):
            topics = [
                wire.WritableTxnMarkerTopicResult(
                    topic.name,
                    [
                        wire.WritableTxnMarkerPartitionResult(
                            number,
                            ERRORS[response.errors.get(tp_of(topic.name, number), NONE)].code,
                        )
                        for number in topic.partition_indexes
                    ],
                )
                for topic in asked.topics
            ]
            markers.append(wire.WritableTxnMarkerResult(asked.producer_id, topics))
        return wire.WriteTxnMarkersResponse(markers)


def _named(topics: Iterable[wire.WritableTxnMarkerTopic]) -> list[str]:
    return [tp_of(topic.name, number) for topic in topics for number in topic.partition_indexes]
