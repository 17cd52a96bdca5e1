"""Cluster metadata for clients."""

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
    nullable_since,
    since,
    tag,
)


class ApiVersionsRequest(Message, frozen=True):
    """Requests the supported versions (KIP-35), with the client's name since 3 (KIP-511).

    Since 5 it may name the cluster and the broker that the client means to talk to.
    """

    client_software_name: Annotated[String, since(3)] = ""
    client_software_version: Annotated[String, since(3)] = ""
    cluster_id: Annotated[String | None, since(5)] = None
    node_id: Annotated[Int32, since(5)] = -1


class ApiVersion(Message, frozen=True):
    api_key: Int16 = 0
    min_version: Int16 = 0
    max_version: Int16 = 0


class SupportedFeatureKey(Message, frozen=True):
    name: String = ""
    min_version: Int16 = 0
    max_version: Int16 = 0


class FinalizedFeatureKey(Message, frozen=True):
    name: String = ""
    max_version_level: Int16 = 0
    min_version_level: Int16 = 0


class ApiVersionsResponse(Message, frozen=True):
    """The versions of each API, and since version 3 the features of the cluster (KIP-584)."""

    error_code: Int16 = 0
    api_keys: list[ApiVersion] = []
    throttle_time_ms: Annotated[Int32, since(1)] = 0
    supported_features: Annotated[list[SupportedFeatureKey], since(3), tag(0)] = []
    finalized_features_epoch: Annotated[Int64, since(3), tag(1)] = -1
    finalized_features: Annotated[list[FinalizedFeatureKey], since(3), tag(2)] = []
    zk_migration_ready: Annotated[Bool, since(3), tag(3)] = False


class MetadataRequestTopic(Message, frozen=True):
    topic_id: Annotated[Uuid, since(10)] = NO_UUID
    name: Annotated[String | None, nullable_since(10)] = ""


class MetadataRequest(Message, frozen=True):
    """Requests brokers, controller, and leaders of topics.

    An empty list means all topics in version 0; since version 1 null does.
    """

    topics: Annotated[list[MetadataRequestTopic] | None, nullable_since(1)] = []
    allow_auto_topic_creation: Annotated[Bool, since(4)] = True
    include_cluster_authorized_operations: Annotated[Bool, since(8, 10)] = False
    include_topic_authorized_operations: Annotated[Bool, since(8)] = False


class MetadataResponseBroker(Message, frozen=True):
    node_id: Int32 = 0
    host: String = ""
    port: Int32 = 0
    rack: Annotated[String | None, since(1)] = None


class MetadataResponsePartition(Message, frozen=True):
    error_code: Int16 = 0
    partition_index: Int32 = 0
    leader_id: Int32 = 0
    leader_epoch: Annotated[Int32, since(7)] = -1
    replica_nodes: list[Int32] = []
    isr_nodes: list[Int32] = []
    offline_replicas: Annotated[list[Int32], since(5)] = []


class MetadataResponseTopic(Message, frozen=True):
    error_code: Int16 = 0
    name: Annotated[String | None, nullable_since(12)] = ""
    topic_id: Annotated[Uuid, since(10)] = NO_UUID
    is_internal: Annotated[Bool, since(1)] = False
    partitions: list[MetadataResponsePartition] = []
    topic_authorized_operations: Annotated[Int32, since(8)] = -2147483648


class MetadataResponse(Message, frozen=True):
    """The brokers, and the partitions of each requested topic."""

    throttle_time_ms: Annotated[Int32, since(3)] = 0
    brokers: list[MetadataResponseBroker] = []
    cluster_id: Annotated[String | None, since(2)] = None
    controller_id: Annotated[Int32, since(1)] = -1
    topics: list[MetadataResponseTopic] = []
    cluster_authorized_operations: Annotated[Int32, since(8, 10)] = -2147483648
    error_code: Annotated[Int16, since(13)] = 0


class DescribeClusterRequest(Message, frozen=True):
    """Requests the cluster's id, controller and brokers (KIP-700)."""

    include_cluster_authorized_operations: Bool = False
    endpoint_type: Annotated[Int8, since(1)] = 1
    include_fenced_brokers: Annotated[Bool, since(2)] = False


class DescribeClusterBroker(Message, frozen=True):
    broker_id: Int32 = 0
    host: String = ""
    port: Int32 = 0
    rack: String | None = None
    is_fenced: Annotated[Bool, since(2)] = False


class DescribeClusterResponse(Message, frozen=True):
    """The cluster's id, controller and brokers."""

    throttle_time_ms: Int32 = 0
    error_code: Int16 = 0
    error_message: String | None = None
    endpoint_type: Annotated[Int8, since(1)] = 1
    cluster_id: String = ""
    controller_id: Int32 = -1
    brokers: list[DescribeClusterBroker] = []
    cluster_authorized_operations: Int32 = -2147483648


class TopicRequest(Message, frozen=True):
    name: String = ""


class Cursor(Message, frozen=True):
    """The ``cursor`` of :class:`DescribeTopicPartitionsRequest`."""

    topic_name: String = ""
    partition_index: Int32 = 0


class DescribeTopicPartitionsRequest(Message, frozen=True):
    """Requests partitions with paging (KIP-966)."""

    topics: list[TopicRequest] = []
    response_partition_limit: Int32 = 2000
    cursor: Cursor | None = None


class DescribeTopicPartitionsResponsePartition(Message, frozen=True):
    error_code: Int16 = 0
    partition_index: Int32 = 0
    leader_id: Int32 = 0
    leader_epoch: Int32 = -1
    replica_nodes: list[Int32] = []
    isr_nodes: list[Int32] = []
    eligible_leader_replicas: list[Int32] | None = None
    last_known_elr: list[Int32] | None = None
    offline_replicas: list[Int32] = []


class DescribeTopicPartitionsResponseTopic(Message, frozen=True):
    error_code: Int16 = 0
    name: String | None = ""
    topic_id: Uuid = NO_UUID
    is_internal: Bool = False
    partitions: list[DescribeTopicPartitionsResponsePartition] = []
    topic_authorized_operations: Int32 = -2147483648


class DescribeTopicPartitionsResponse(Message, frozen=True):
    """A page of partitions, and the cursor of the next page, if any."""

    throttle_time_ms: Int32 = 0
    topics: list[DescribeTopicPartitionsResponseTopic] = []
    next_cursor: Cursor | None = None


APIS: Final = (
    Api(3, MetadataRequest, MetadataResponse, 13, 9),
    Api(18, ApiVersionsRequest, ApiVersionsResponse, 5, 3),
    Api(60, DescribeClusterRequest, DescribeClusterResponse, 2, 0),
    Api(75, DescribeTopicPartitionsRequest, DescribeTopicPartitionsResponse, 0, 0),
)
