"""The controller quorum (KRaft)."""

from typing import Annotated, Final

from emulator.wire.types import (
    NO_UUID,
    Api,
    Int16,
    Int32,
    Int64,
    Message,
    String,
    Uint16,
    Uuid,
    since,
)


class DescribeQuorumPartition(Message, frozen=True):
    partition_index: Int32 = 0


class DescribeQuorumTopic(Message, frozen=True):
    topic_name: String = ""
    partitions: list[DescribeQuorumPartition] = []


class DescribeQuorumRequest(Message, frozen=True):
    """Requests the state of the metadata quorum from the active controller (KIP-595)."""

    topics: list[DescribeQuorumTopic] = []


class ReplicaState(Message, frozen=True):
    replica_id: Int32 = 0
    replica_directory_id: Annotated[Uuid, since(2)] = NO_UUID
    log_end_offset: Int64 = 0
    last_fetch_timestamp: Annotated[Int64, since(1)] = -1
    last_caught_up_timestamp: Annotated[Int64, since(1)] = -1


class PartitionData(Message, frozen=True):
    partition_index: Int32 = 0
    error_code: Int16 = 0
    error_message: Annotated[String | None, since(2)] = ""
    leader_id: Int32 = 0
    leader_epoch: Int32 = 0
    high_watermark: Int64 = 0
    current_voters: list[ReplicaState] = []
    observers: list[ReplicaState] = []


class TopicData(Message, frozen=True):
    topic_name: String = ""
    partitions: list[PartitionData] = []


class Listener(Message, frozen=True):
    name: String = ""
    host: String = ""
    port: Uint16 = 0


class Node(Message, frozen=True):
    node_id: Int32 = 0
    listeners: list[Listener] = []


class DescribeQuorumResponse(Message, frozen=True):
    """Leader, voters and observers of the metadata quorum."""

    error_code: Int16 = 0
    error_message: Annotated[String | None, since(2)] = ""
    topics: list[TopicData] = []
    nodes: Annotated[list[Node], since(2)] = []


APIS: Final = (Api(55, DescribeQuorumRequest, DescribeQuorumResponse, 2, 0),)
