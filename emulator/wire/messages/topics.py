"""Creating and deleting topics and partitions."""

from typing import Annotated, Final

from emulator.wire.types import (
    NO_UUID,
    Api,
    Bool,
    Int8,
    Int16,
    Int32,
    Message,
    String,
    Uuid,
    nullable_since,
    since,
    tag,
    until,
)


class CreatableReplicaAssignment(Message, frozen=True):
    partition_index: Int32 = 0
    broker_ids: list[Int32] = []


class CreatableTopicConfig(Message, frozen=True):
    name: String = ""
    value: String | None = ""


class CreatableTopic(Message, frozen=True):
    name: String = ""
    num_partitions: Int32 = 0
    replication_factor: Int16 = 0
    assignments: list[CreatableReplicaAssignment] = []
    configs: list[CreatableTopicConfig] = []


class CreateTopicsRequest(Message, frozen=True):
    """Creates topics (KIP-4).

    Since version 4, -1 partitions or replicas mean the broker's default (KIP-464).
    """

    topics: list[CreatableTopic] = []
    timeout_ms: Int32 = 60000
    validate_only: Annotated[Bool, since(1)] = False


class CreatableTopicConfigs(Message, frozen=True):
    name: String = ""
    value: String | None = ""
    read_only: Bool = False
    config_source: Int8 = -1
    is_sensitive: Bool = False


class CreatableTopicResult(Message, frozen=True):
    name: String = ""
    topic_id: Annotated[Uuid, since(7)] = NO_UUID
    error_code: Int16 = 0
    error_message: Annotated[String | None, since(1)] = ""
    topic_config_error_code: Annotated[Int16, since(5), tag(0)] = 0
    num_partitions: Annotated[Int32, since(5)] = -1
    replication_factor: Annotated[Int16, since(5)] = -1
    configs: Annotated[list[CreatableTopicConfigs] | None, since(5)] = []


class CreateTopicsResponse(Message, frozen=True):
    """The result for each topic; its id since version 7 (KIP-516)."""

    throttle_time_ms: Annotated[Int32, since(2)] = 0
    topics: list[CreatableTopicResult] = []


class DeleteTopicState(Message, frozen=True):
    name: String | None = None
    topic_id: Uuid = NO_UUID


class DeleteTopicsRequest(Message, frozen=True):
    """Deletes topics; by id since version 6 (KIP-516)."""

    topics: Annotated[list[DeleteTopicState], since(6)] = []
    topic_names: Annotated[list[String], until(5)] = []
    timeout_ms: Int32 = 0


class DeletableTopicResult(Message, frozen=True):
    name: Annotated[String | None, nullable_since(6)] = ""
    topic_id: Annotated[Uuid, since(6)] = NO_UUID
    error_code: Int16 = 0
    error_message: Annotated[String | None, since(5)] = None


class DeleteTopicsResponse(Message, frozen=True):
    """The result for each topic."""

    throttle_time_ms: Annotated[Int32, since(1)] = 0
    responses: list[DeletableTopicResult] = []


class CreatePartitionsAssignment(Message, frozen=True):
    broker_ids: list[Int32] = []


class CreatePartitionsTopic(Message, frozen=True):
    name: String = ""
    count: Int32 = 0
    assignments: list[CreatePartitionsAssignment] | None = []


class CreatePartitionsRequest(Message, frozen=True):
    """Adds partitions to topics (KIP-195)."""

    topics: list[CreatePartitionsTopic] = []
    timeout_ms: Int32 = 0
    validate_only: Bool = False


class CreatePartitionsTopicResult(Message, frozen=True):
    name: String = ""
    error_code: Int16 = 0
    error_message: String | None = None


class CreatePartitionsResponse(Message, frozen=True):
    """The result for each topic."""

    throttle_time_ms: Int32 = 0
    results: list[CreatePartitionsTopicResult] = []


APIS: Final = (
    Api(19, CreateTopicsRequest, CreateTopicsResponse, 7, 5),
    Api(20, DeleteTopicsRequest, DeleteTopicsResponse, 6, 4),
    Api(37, CreatePartitionsRequest, CreatePartitionsResponse, 3, 2),
)
