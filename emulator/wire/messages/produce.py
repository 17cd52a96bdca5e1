"""Producing records."""

from typing import Annotated, Final

from emulator.wire.types import (
    NO_UUID,
    Api,
    Bool,
    Int16,
    Int32,
    Int64,
    Message,
    Records,
    String,
    Uuid,
    since,
    tag,
    until,
)


class PartitionProduceData(Message, frozen=True):
    index: Int32 = 0
    records: Records | None = b""


class TopicProduceData(Message, frozen=True):
    name: Annotated[String, until(12)] = ""
    topic_id: Annotated[Uuid, since(13)] = NO_UUID
    partition_data: list[PartitionProduceData] = []


class ProduceRequest(Message, frozen=True):
    """Appends records to partitions; with ``acks`` 0 there is no response.

    Record batches (format 2) since version 3 (KIP-98), message sets of format 1 in version 2
    (KIP-32) and of format 0 before; zstd since 7 (KIP-110), topic ids since 13 (KIP-516).
    """

    transactional_id: Annotated[String | None, since(3)] = None
    acks: Int16 = 0
    timeout_ms: Int32 = 0
    topic_data: list[TopicProduceData] = []


class BatchIndexAndErrorMessage(Message, frozen=True):
    batch_index: Int32 = 0
    batch_index_error_message: String | None = None


class LeaderIdAndEpoch(Message, frozen=True):
    """The ``current_leader`` of :class:`ProduceResponse`."""

    leader_id: Int32 = -1
    leader_epoch: Int32 = -1


class PartitionProduceResponse(Message, frozen=True):
    index: Int32 = 0
    error_code: Int16 = 0
    base_offset: Int64 = 0
    log_append_time_ms: Annotated[Int64, since(2)] = -1
    log_start_offset: Annotated[Int64, since(5)] = -1
    record_errors: Annotated[list[BatchIndexAndErrorMessage], since(8)] = []
    error_message: Annotated[String | None, since(8)] = None
    current_leader: Annotated[LeaderIdAndEpoch, since(10), tag(0)] = LeaderIdAndEpoch()


class TopicProduceResponse(Message, frozen=True):
    name: Annotated[String, until(12)] = ""
    topic_id: Annotated[Uuid, since(13)] = NO_UUID
    partition_responses: list[PartitionProduceResponse] = []


class NodeEndpoint(Message, frozen=True):
    node_id: Int32 = 0
    host: String = ""
    port: Int32 = 0
    rack: String | None = None


class ProduceResponse(Message, frozen=True):
    """The result for each partition.

    ``log_append_time_ms`` since version 2 (KIP-32), ``log_start_offset`` since 5 (KIP-107), errors
    of single records since 8 (KIP-467), the new leader since 10 (KIP-951).
    """

    responses: list[TopicProduceResponse] = []
    throttle_time_ms: Annotated[Int32, since(1)] = 0
    node_endpoints: Annotated[list[NodeEndpoint], since(10), tag(0)] = []


class InitProducerIdRequest(Message, frozen=True):
    """Requests a producer id (KIP-98); a transactional id fences its earlier epochs."""

    transactional_id: String | None = ""
    transaction_timeout_ms: Int32 = 0
    producer_id: Annotated[Int64, since(3)] = -1
    producer_epoch: Annotated[Int16, since(3)] = -1
    enable2_pc: Annotated[Bool, since(6)] = False
    keep_prepared_txn: Annotated[Bool, since(6)] = False


class InitProducerIdResponse(Message, frozen=True):
    """A producer id and its epoch."""

    throttle_time_ms: Int32 = 0
    error_code: Int16 = 0
    producer_id: Int64 = -1
    producer_epoch: Int16 = 0
    ongoing_txn_producer_id: Annotated[Int64, since(6)] = -1
    ongoing_txn_producer_epoch: Annotated[Int16, since(6)] = -1


APIS: Final = (
    Api(0, ProduceRequest, ProduceResponse, 13, 9),
    Api(22, InitProducerIdRequest, InitProducerIdResponse, 6, 2),
)
