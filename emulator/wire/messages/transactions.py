"""Transactions (KIP-98)."""

from typing import Annotated, Final

from emulator.wire.types import (
    NO_UUID,
    Api,
    Bool,
    Int8,
    Int16,
    Int32,
    Int64,
    Message,
    String,
    Uuid,
    since,
    until,
)


class AddPartitionsToTxnTopic(Message, frozen=True):
    name: String = ""
    partitions: list[Int32] = []


class AddPartitionsToTxnTransaction(Message, frozen=True):
    transactional_id: String = ""
    producer_id: Int64 = 0
    producer_epoch: Int16 = 0
    verify_only: Bool = False
    topics: list[AddPartitionsToTxnTopic] = []


class AddPartitionsToTxnRequest(Message, frozen=True):
    """Adds partitions to a transaction before they are written to."""

    transactions: Annotated[list[AddPartitionsToTxnTransaction], since(4)] = []
    v3_and_below_transactional_id: Annotated[String, until(3)] = ""
    v3_and_below_producer_id: Annotated[Int64, until(3)] = 0
    v3_and_below_producer_epoch: Annotated[Int16, until(3)] = 0
    v3_and_below_topics: Annotated[list[AddPartitionsToTxnTopic], until(3)] = []


class AddPartitionsToTxnPartitionResult(Message, frozen=True):
    partition_index: Int32 = 0
    partition_error_code: Int16 = 0


class AddPartitionsToTxnTopicResult(Message, frozen=True):
    name: String = ""
    results_by_partition: list[AddPartitionsToTxnPartitionResult] = []


class AddPartitionsToTxnResult(Message, frozen=True):
    transactional_id: String = ""
    topic_results: list[AddPartitionsToTxnTopicResult] = []


class AddPartitionsToTxnResponse(Message, frozen=True):
    """The result for each partition."""

    throttle_time_ms: Int32 = 0
    error_code: Annotated[Int16, since(4)] = 0
    results_by_transaction: Annotated[list[AddPartitionsToTxnResult], since(4)] = []
    results_by_topic_v3_and_below: Annotated[list[AddPartitionsToTxnTopicResult], until(3)] = []


class AddOffsetsToTxnRequest(Message, frozen=True):
    """Adds the offsets of a group to a transaction."""

    transactional_id: String = ""
    producer_id: Int64 = 0
    producer_epoch: Int16 = 0
    group_id: String = ""


class AddOffsetsToTxnResponse(Message, frozen=True):
    """The result."""

    throttle_time_ms: Int32 = 0
    error_code: Int16 = 0


class EndTxnRequest(Message, frozen=True):
    """Commits or aborts a transaction."""

    transactional_id: String = ""
    producer_id: Int64 = 0
    producer_epoch: Int16 = 0
    committed: Bool = False


class EndTxnResponse(Message, frozen=True):
    """The result; since version 5 with the producer's next epoch (KIP-890)."""

    throttle_time_ms: Int32 = 0
    error_code: Int16 = 0
    producer_id: Annotated[Int64, since(5)] = -1
    producer_epoch: Annotated[Int16, since(5)] = -1


class WritableTxnMarkerTopic(Message, frozen=True):
    name: String = ""
    partition_indexes: list[Int32] = []


class WritableTxnMarker(Message, frozen=True):
    producer_id: Int64 = 0
    producer_epoch: Int16 = 0
    transaction_result: Bool = False
    topics: list[WritableTxnMarkerTopic] = []
    coordinator_epoch: Int32 = 0
    transaction_version: Annotated[Int8, since(2)] = 0


class WriteTxnMarkersRequest(Message, frozen=True):
    """The transaction coordinator sends leaders the results of transactions."""

    markers: list[WritableTxnMarker] = []


class WritableTxnMarkerPartitionResult(Message, frozen=True):
    partition_index: Int32 = 0
    error_code: Int16 = 0


class WritableTxnMarkerTopicResult(Message, frozen=True):
    name: String = ""
    partitions: list[WritableTxnMarkerPartitionResult] = []


class WritableTxnMarkerResult(Message, frozen=True):
    producer_id: Int64 = 0
    topics: list[WritableTxnMarkerTopicResult] = []


class WriteTxnMarkersResponse(Message, frozen=True):
    """The result for each partition."""

    markers: list[WritableTxnMarkerResult] = []


class TxnOffsetCommitRequestPartition(Message, frozen=True):
    partition_index: Int32 = 0
    committed_offset: Int64 = 0
    committed_leader_epoch: Annotated[Int32, since(2)] = -1
    committed_metadata: String | None = ""


class TxnOffsetCommitRequestTopic(Message, frozen=True):
    name: Annotated[String, until(5)] = ""
    topic_id: Annotated[Uuid, since(6)] = NO_UUID
    partitions: list[TxnOffsetCommitRequestPartition] = []


class TxnOffsetCommitRequest(Message, frozen=True):
    """Commits offsets of a group as part of a transaction."""

    transactional_id: String = ""
    group_id: String = ""
    producer_id: Int64 = 0
    producer_epoch: Int16 = 0
    generation_id: Annotated[Int32, since(3)] = -1
    member_id: Annotated[String, since(3)] = ""
    group_instance_id: Annotated[String | None, since(3)] = None
    topics: list[TxnOffsetCommitRequestTopic] = []


class TxnOffsetCommitResponsePartition(Message, frozen=True):
    partition_index: Int32 = 0
    error_code: Int16 = 0


class TxnOffsetCommitResponseTopic(Message, frozen=True):
    name: Annotated[String, until(5)] = ""
    topic_id: Annotated[Uuid, since(6)] = NO_UUID
    partitions: list[TxnOffsetCommitResponsePartition] = []


class TxnOffsetCommitResponse(Message, frozen=True):
    """The result for each partition."""

    throttle_time_ms: Int32 = 0
    topics: list[TxnOffsetCommitResponseTopic] = []


APIS: Final = (
    Api(24, AddPartitionsToTxnRequest, AddPartitionsToTxnResponse, 5, 3),
    Api(25, AddOffsetsToTxnRequest, AddOffsetsToTxnResponse, 4, 3),
    Api(26, EndTxnRequest, EndTxnResponse, 5, 3),
    Api(27, WriteTxnMarkersRequest, WriteTxnMarkersResponse, 2, 1),
    Api(28, TxnOffsetCommitRequest, TxnOffsetCommitResponse, 6, 3),
)
