"""The state of transactions and producers, for administrators (KIP-664)."""

from typing import Annotated, Final

from emulator.wire.types import Api, Int16, Int32, Int64, Message, String, since


class DescribeTransactionsRequest(Message, frozen=True):
    """Requests transactions from their coordinator."""

    transactional_ids: list[String] = []


class TopicData(Message, frozen=True):
    topic: String = ""
    partitions: list[Int32] = []


class DescribedTransaction(Message, frozen=True):
    error_code: Int16 = 0
    transactional_id: String = ""
    transaction_state: String = ""
    transaction_timeout_ms: Int32 = 0
    transaction_start_time_ms: Int64 = 0
    producer_id: Int64 = 0
    producer_epoch: Int16 = 0
    topics: list[TopicData] = []


class DescribeTransactionsResponse(Message, frozen=True):
    """The requested transactions."""

    throttle_time_ms: Int32 = 0
    transaction_states: list[DescribedTransaction] = []


class ListTransactionsRequest(Message, frozen=True):
    """Requests the transactional ids that a broker coordinates.

    Those of transactions older than a duration since version 1 (KIP-994).
    """

    state_filters: list[String] = []
    producer_id_filters: list[Int64] = []
    duration_filter: Annotated[Int64, since(1)] = -1


class ListedTransaction(Message, frozen=True):
    transactional_id: String = ""
    producer_id: Int64 = 0
    transaction_state: String = ""


class ListTransactionsResponse(Message, frozen=True):
    """The transactional ids that all filters let through."""

    throttle_time_ms: Int32 = 0
    error_code: Int16 = 0
    unknown_state_filters: list[String] = []
    transaction_states: list[ListedTransaction] = []


class DescribeProducersTopic(Message, frozen=True):
    name: String = ""
    partition_indexes: list[Int32] = []


class DescribeProducersRequest(Message, frozen=True):
    """Requests the producers that a leader knows of partitions."""

    topics: list[DescribeProducersTopic] = []


class ProducerState(Message, frozen=True):
    producer_id: Int64 = 0
    producer_epoch: Int32 = 0
    last_sequence: Int32 = -1
    last_timestamp: Int64 = -1
    coordinator_epoch: Int32 = 0
    current_txn_start_offset: Int64 = -1


class DescribeProducersPartition(Message, frozen=True):
    partition_index: Int32 = 0
    error_code: Int16 = 0
    error_message: String | None = None
    active_producers: list[ProducerState] = []


class DescribeProducersTopicResponse(Message, frozen=True):
    name: String = ""
    partitions: list[DescribeProducersPartition] = []


class DescribeProducersResponse(Message, frozen=True):
    """The producers of each partition."""

    throttle_time_ms: Int32 = 0
    topics: list[DescribeProducersTopicResponse] = []


APIS: Final = (
    Api(61, DescribeProducersRequest, DescribeProducersResponse, 0, 0),
    Api(65, DescribeTransactionsRequest, DescribeTransactionsResponse, 0, 0),
    Api(66, ListTransactionsRequest, ListTransactionsResponse, 1, 0),
)
