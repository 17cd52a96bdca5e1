"""What hosts send each other, by Kafka's names.

A request is identified by the ``seq`` of the event that stated its sending: the receiver finds it
as the environment's ``cause`` and quotes it in the response's ``request``. Everything is plain
data; messages in flight are part of the cluster's state.
"""

from emulator.protocol.admin import (
    AdminResponse,
    AlterPartitionReassignmentsRequest,
    AlterPartitionReassignmentsResponse,
    DescribeClusterRequest,
    DescribeClusterResponse,
    ElectLeadersRequest,
    ElectLeadersResponse,
)
from emulator.protocol.controller import (
    AlterIsrItem,
    AlterPartitionRequest,
    AlterPartitionResponse,
    ControlledShutdownRequest,
    ControlledShutdownResponse,
    ControlResponse,
    LeaderAndIsrRequest,
    LeaderAndIsrResponse,
    PartitionInfo,
    StopReplicaRequest,
    StopReplicaResponse,
    UpdateMetadataRequest,
    UpdateMetadataResponse,
)
from emulator.protocol.fetch import (
    FetchedPartition,
    FetchPartition,
    FetchRequest,
    FetchResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    OffsetsForLeaderEpochRequest,
    OffsetsForLeaderEpochResponse,
)
from emulator.protocol.groups import (
    FindCoordinatorRequest,
    FindCoordinatorResponse,
    GroupRequest,
    GroupResponse,
    HeartbeatRequest,
    HeartbeatResponse,
    JoinGroupRequest,
    JoinGroupResponse,
    LeaveGroupRequest,
    LeaveGroupResponse,
    OffsetCommitRequest,
    OffsetCommitResponse,
    OffsetFetchRequest,
    OffsetFetchResponse,
    Subscription,
    SyncGroupRequest,
    SyncGroupResponse,
)
from emulator.protocol.kraft import (
    AllocateProducerIdsRequest,
    AllocateProducerIdsResponse,
    BrokerHeartbeatRequest,
    BrokerHeartbeatResponse,
    BrokerRegistrationRequest,
    BrokerRegistrationResponse,
    ControllerRegistrationRequest,
    ControllerRegistrationResponse,
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreateTopicsRequest,
    CreateTopicsResponse,
    DeleteTopicsRequest,
    DeleteTopicsResponse,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
    NewTopic,
)
from emulator.protocol.message import ConnectionLost, Detail, Message, Timer
from emulator.protocol.metadata import MetadataRequest, MetadataResponse, PartitionMetadata
from emulator.protocol.produce import (
    InitProducerIdRequest,
    InitProducerIdResponse,
    ProduceRequest,
    ProduceResponse,
)
from emulator.protocol.raft import (
    BeginQuorumEpochRequest,
    BeginQuorumEpochResponse,
    EndQuorumEpochRequest,
    EndQuorumEpochResponse,
    MetadataBatch,
    MetadataFetchRequest,
    MetadataFetchResponse,
    VoteRequest,
    VoteResponse,
)
from emulator.protocol.record_batch import RecordBatch, up_to
from emulator.protocol.zookeeper import WatchEvent, ZkExpired, ZkPing, ZkPong

AnyMessage = (
    FetchRequest
    | FetchResponse
    | OffsetsForLeaderEpochRequest
    | OffsetsForLeaderEpochResponse
    | ListOffsetsRequest
    | ListOffsetsResponse
    | ProduceRequest
    | ProduceResponse
    | InitProducerIdRequest
    | InitProducerIdResponse
    | MetadataRequest
    | MetadataResponse
    | GroupRequest
    | GroupResponse
    | LeaderAndIsrRequest
    | StopReplicaRequest
    | UpdateMetadataRequest
    | LeaderAndIsrResponse
    | StopReplicaResponse
    | UpdateMetadataResponse
    | ControlledShutdownRequest
    | ControlledShutdownResponse
    | AlterPartitionRequest
    | AlterPartitionResponse
    | AlterPartitionReassignmentsRequest
    | AlterPartitionReassignmentsResponse
    | DescribeClusterRequest
    | DescribeClusterResponse
    | ElectLeadersRequest
    | ElectLeadersResponse
    | AllocateProducerIdsRequest
    | AllocateProducerIdsResponse
    | BrokerHeartbeatRequest
    | BrokerHeartbeatResponse
    | BrokerRegistrationRequest
    | BrokerRegistrationResponse
    | ControllerRegistrationRequest
    | ControllerRegistrationResponse
    | CreatePartitionsRequest
    | CreatePartitionsResponse
    | CreateTopicsRequest
    | CreateTopicsResponse
    | DeleteTopicsRequest
    | DeleteTopicsResponse
    | IncrementalAlterConfigsRequest
    | IncrementalAlterConfigsResponse
    | BeginQuorumEpochRequest
    | BeginQuorumEpochResponse
    | EndQuorumEpochRequest
    | EndQuorumEpochResponse
    | MetadataFetchRequest
    | MetadataFetchResponse
    | VoteRequest
    | VoteResponse
    | ZkPing
    | ZkPong
    | ZkExpired
    | WatchEvent
    | ConnectionLost
    | Timer
)
"""Every message, as the type that codecs decode."""

REQUESTS = (
    FetchRequest,
    OffsetsForLeaderEpochRequest,
    ListOffsetsRequest,
    ProduceRequest,
    InitProducerIdRequest,
    MetadataRequest,
    LeaderAndIsrRequest,
    StopReplicaRequest,
    UpdateMetadataRequest,
    ControlledShutdownRequest,
    AlterPartitionRequest,
    DescribeClusterRequest,
    ElectLeadersRequest,
    AlterPartitionReassignmentsRequest,
    FindCoordinatorRequest,
    JoinGroupRequest,
    SyncGroupRequest,
    HeartbeatRequest,
    LeaveGroupRequest,
    OffsetCommitRequest,
    OffsetFetchRequest,
)
"""What a broker takes from others only while its sockets are open."""

__all__ = [
    "REQUESTS",
    "AdminResponse",
    "AllocateProducerIdsRequest",
    "AllocateProducerIdsResponse",
    "AlterIsrItem",
    "AlterPartitionReassignmentsRequest",
    "AlterPartitionReassignmentsResponse",
    "AlterPartitionRequest",
    "AlterPartitionResponse",
    "AnyMessage",
    "BeginQuorumEpochRequest",
    "BeginQuorumEpochResponse",
    "BrokerHeartbeatRequest",
    "BrokerHeartbeatResponse",
    "BrokerRegistrationRequest",
    "BrokerRegistrationResponse",
    "ConnectionLost",
    "ControlResponse",
    "ControlledShutdownRequest",
    "ControlledShutdownResponse",
    "ControllerRegistrationRequest",
    "ControllerRegistrationResponse",
    "CreatePartitionsRequest",
    "CreatePartitionsResponse",
    "CreateTopicsRequest",
    "CreateTopicsResponse",
    "DeleteTopicsRequest",
    "DeleteTopicsResponse",
    "DescribeClusterRequest",
    "DescribeClusterResponse",
    "Detail",
    "ElectLeadersRequest",
    "ElectLeadersResponse",
    "EndQuorumEpochRequest",
    "EndQuorumEpochResponse",
    "FetchPartition",
    "FetchRequest",
    "FetchResponse",
    "FetchedPartition",
    "FindCoordinatorRequest",
    "FindCoordinatorResponse",
    "GroupRequest",
    "GroupResponse",
    "HeartbeatRequest",
    "HeartbeatResponse",
    "IncrementalAlterConfigsRequest",
    "IncrementalAlterConfigsResponse",
    "InitProducerIdRequest",
    "InitProducerIdResponse",
    "JoinGroupRequest",
    "JoinGroupResponse",
    "LeaderAndIsrRequest",
    "LeaderAndIsrResponse",
    "LeaveGroupRequest",
    "LeaveGroupResponse",
    "ListOffsetsRequest",
    "ListOffsetsResponse",
    "Message",
    "MetadataBatch",
    "MetadataFetchRequest",
    "MetadataFetchResponse",
    "MetadataRequest",
    "MetadataResponse",
    "NewTopic",
    "OffsetCommitRequest",
    "OffsetCommitResponse",
    "OffsetFetchRequest",
    "OffsetFetchResponse",
    "OffsetsForLeaderEpochRequest",
    "OffsetsForLeaderEpochResponse",
    "PartitionInfo",
    "PartitionMetadata",
    "ProduceRequest",
    "ProduceResponse",
    "RecordBatch",
    "StopReplicaRequest",
    "StopReplicaResponse",
    "Subscription",
    "SyncGroupRequest",
    "SyncGroupResponse",
    "Timer",
    "UpdateMetadataRequest",
    "UpdateMetadataResponse",
    "VoteRequest",
    "VoteResponse",
    "WatchEvent",
    "ZkExpired",
    "ZkPing",
    "ZkPong",
    "up_to",
]
