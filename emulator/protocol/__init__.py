"""The messages between hosts, by Kafka's names.

A request is identified by the ``seq`` of its send event: the receiver reads it from the
environment's ``cause`` and returns it in the response's ``request``. All messages are plain data;
those in flight are part of the cluster's state.
"""

from emulator.protocol.admin import (
    AdminResponse,
    AlterConfigsRequest,
    AlterPartitionReassignmentsRequest,
    AlterPartitionReassignmentsResponse,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirsResponse,
    ApiVersionsRequest,
    ApiVersionsResponse,
    CreatePartitionsRequest,
    CreateTopicsRequest,
    DeleteRecordsRequest,
    DeleteRecordsResponse,
    DeleteTopicsRequest,
    DescribeClusterRequest,
    DescribeClusterResponse,
    DescribeConfigsRequest,
    DescribeConfigsResponse,
    DescribeLogDirsRequest,
    DescribeLogDirsResponse,
    ElectLeadersRequest,
    ElectLeadersResponse,
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsResponse,
    NewTopic,
    TopicCreated,
    TopicsResponse,
)
from emulator.protocol.consumer_groups import (
    ConsumerGroupDescribeRequest,
    ConsumerGroupDescribeResponse,
    ConsumerGroupDescription,
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    ConsumerMemberDescription,
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
    DeleteGroupsRequest,
    DeleteGroupsResponse,
    DescribeGroupsRequest,
    DescribeGroupsResponse,
    FindCoordinatorRequest,
    FindCoordinatorResponse,
    GroupDescription,
    GroupRequest,
    GroupResponse,
    HeartbeatRequest,
    HeartbeatResponse,
    JoinGroupRequest,
    JoinGroupResponse,
    LeaveGroupRequest,
    LeaveGroupResponse,
    MemberDescription,
    OffsetCommitRequest,
    OffsetCommitResponse,
    OffsetDeleteRequest,
    OffsetDeleteResponse,
    OffsetFetchRequest,
    OffsetFetchResponse,
    Protocol,
    Subscription,
    SyncGroupRequest,
    SyncGroupResponse,
)
from emulator.protocol.kraft import (
    AclsResponse,
    AllocateProducerIdsRequest,
    AllocateProducerIdsResponse,
    AssignReplicasToDirsRequest,
    AssignReplicasToDirsResponse,
    BrokerHeartbeatRequest,
    BrokerHeartbeatResponse,
    BrokerRegistrationRequest,
    BrokerRegistrationResponse,
    ControllerRegistrationRequest,
    ControllerRegistrationResponse,
    CreateAclsRequest,
    DeleteAclsRequest,
    DescribeQuorumRequest,
    DescribeQuorumResponse,
    EnvelopeRequest,
    EnvelopeResponse,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
    ListConfigResourcesRequest,
    ListConfigResourcesResponse,
    QuorumDescription,
    QuorumMember,
    UnregisterBrokerRequest,
    UnregisterBrokerResponse,
    UpdateFeaturesRequest,
    UpdateFeaturesResponse,
)
from emulator.protocol.message import ConnectionLost, Detail, Message, Timer
from emulator.protocol.metadata import (
    ClusterMetadataRequest,
    ClusterMetadataResponse,
    MetadataRequest,
    MetadataResponse,
    PartitionDescription,
    PartitionMetadata,
    TopicDescription,
)
from emulator.protocol.produce import ProduceRequest, ProduceResponse
from emulator.protocol.raft import (
    BeginQuorumEpochRequest,
    BeginQuorumEpochResponse,
    EndQuorumEpochRequest,
    EndQuorumEpochResponse,
    FetchSnapshotRequest,
    FetchSnapshotResponse,
    MetadataBatch,
    MetadataFetchRequest,
    MetadataFetchResponse,
    MetadataSnapshot,
    VoteRequest,
    VoteResponse,
)
from emulator.protocol.record_batch import RecordBatch, up_to
from emulator.protocol.share_groups import (
    Acknowledgement,
    AcquiredRange,
    AlterShareGroupOffsetsRequest,
    ConnectionClosed,
    DeleteShareGroupOffsetsRequest,
    DeleteShareGroupStateRequest,
    DescribeShareGroupOffsetsRequest,
    DescribeShareGroupOffsetsResponse,
    InitializeShareGroupStateRequest,
    ReadShareGroupStateRequest,
    ReadShareGroupStateSummaryRequest,
    ShareAcknowledgeRequest,
    ShareAcknowledgeResponse,
    SharedPartition,
    ShareFetchRequest,
    ShareFetchResponse,
    ShareGroupDescribeRequest,
    ShareGroupDescribeResponse,
    ShareGroupHeartbeatRequest,
    ShareGroupHeartbeatResponse,
    ShareGroupOffsetsResponse,
    ShareGroupStateResponse,
    ShareOffset,
    SharePartitionKey,
    StateBatch,
    WriteShareGroupStateRequest,
)
from emulator.protocol.transactions import (
    AddOffsetsToTxnRequest,
    AddOffsetsToTxnResponse,
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    DescribeProducersRequest,
    DescribeProducersResponse,
    DescribeTransactionsRequest,
    DescribeTransactionsResponse,
    EndTxnRequest,
    EndTxnResponse,
    InitProducerIdRequest,
    InitProducerIdResponse,
    ProducerDescription,
    TransactionDescription,
    TxnOffsetCommitRequest,
    WriteTxnMarkersRequest,
    WriteTxnMarkersResponse,
)
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
    | AddOffsetsToTxnRequest
    | AddOffsetsToTxnResponse
    | AddPartitionsToTxnRequest
    | AddPartitionsToTxnResponse
    | DescribeProducersRequest
    | DescribeProducersResponse
    | DescribeTransactionsRequest
    | DescribeTransactionsResponse
    | EndTxnRequest
    | EndTxnResponse
    | TxnOffsetCommitRequest
    | WriteTxnMarkersRequest
    | WriteTxnMarkersResponse
    | MetadataRequest
    | MetadataResponse
    | ClusterMetadataRequest
    | ClusterMetadataResponse
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
    | DescribeLogDirsRequest
    | DescribeLogDirsResponse
    | AlterReplicaLogDirsRequest
    | AlterReplicaLogDirsResponse
    | ApiVersionsRequest
    | ApiVersionsResponse
    | ElectLeadersRequest
    | ElectLeadersResponse
    | AllocateProducerIdsRequest
    | AllocateProducerIdsResponse
    | AssignReplicasToDirsRequest
    | AssignReplicasToDirsResponse
    | BrokerHeartbeatRequest
    | BrokerHeartbeatResponse
    | BrokerRegistrationRequest
    | BrokerRegistrationResponse
    | ControllerRegistrationRequest
    | ControllerRegistrationResponse
    | EnvelopeRequest
    | EnvelopeResponse
    | DescribeQuorumRequest
    | DescribeQuorumResponse
    | ListConfigResourcesRequest
    | ListConfigResourcesResponse
    | UnregisterBrokerRequest
    | UnregisterBrokerResponse
    | UpdateFeaturesRequest
    | UpdateFeaturesResponse
    | CreateAclsRequest
    | DeleteAclsRequest
    | AclsResponse
    | IncrementalAlterConfigsRequest
    | IncrementalAlterConfigsResponse
    | BeginQuorumEpochRequest
    | BeginQuorumEpochResponse
    | EndQuorumEpochRequest
    | EndQuorumEpochResponse
    | MetadataFetchRequest
    | MetadataFetchResponse
    | FetchSnapshotRequest
    | FetchSnapshotResponse
    | VoteRequest
    | VoteResponse
    | AlterConfigsRequest
    | CreatePartitionsRequest
    | CreateTopicsRequest
    | DeleteRecordsRequest
    | DeleteRecordsResponse
    | DeleteTopicsRequest
    | DescribeConfigsRequest
    | DescribeConfigsResponse
    | TopicsResponse
    | ListPartitionReassignmentsRequest
    | ListPartitionReassignmentsResponse
    | ShareGroupHeartbeatRequest
    | ShareGroupHeartbeatResponse
    | ShareGroupDescribeRequest
    | ShareGroupDescribeResponse
    | ConnectionClosed
    | ShareFetchRequest
    | ShareFetchResponse
    | ShareAcknowledgeRequest
    | ShareAcknowledgeResponse
    | InitializeShareGroupStateRequest
    | ReadShareGroupStateRequest
    | WriteShareGroupStateRequest
    | DeleteShareGroupStateRequest
    | ReadShareGroupStateSummaryRequest
    | ShareGroupStateResponse
    | DescribeShareGroupOffsetsRequest
    | DescribeShareGroupOffsetsResponse
    | AlterShareGroupOffsetsRequest
    | DeleteShareGroupOffsetsRequest
    | ShareGroupOffsetsResponse
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
    AddPartitionsToTxnRequest,
    AddOffsetsToTxnRequest,
    EndTxnRequest,
    WriteTxnMarkersRequest,
    TxnOffsetCommitRequest,
    DescribeProducersRequest,
    DescribeTransactionsRequest,
    MetadataRequest,
    ClusterMetadataRequest,
    LeaderAndIsrRequest,
    StopReplicaRequest,
    UpdateMetadataRequest,
    ControlledShutdownRequest,
    AlterPartitionRequest,
    ApiVersionsRequest,
    DescribeClusterRequest,
    DescribeLogDirsRequest,
    AlterReplicaLogDirsRequest,
    ElectLeadersRequest,
    AlterPartitionReassignmentsRequest,
    AlterConfigsRequest,
    IncrementalAlterConfigsRequest,
    CreatePartitionsRequest,
    CreateTopicsRequest,
    DeleteRecordsRequest,
    DeleteTopicsRequest,
    DescribeConfigsRequest,
    DescribeQuorumRequest,
    ListConfigResourcesRequest,
    UnregisterBrokerRequest,
    UpdateFeaturesRequest,
    CreateAclsRequest,
    DeleteAclsRequest,
    FindCoordinatorRequest,
    JoinGroupRequest,
    SyncGroupRequest,
    HeartbeatRequest,
    LeaveGroupRequest,
    OffsetCommitRequest,
    OffsetFetchRequest,
    DescribeGroupsRequest,
    DeleteGroupsRequest,
    OffsetDeleteRequest,
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupDescribeRequest,
    ShareGroupHeartbeatRequest,
    ShareGroupDescribeRequest,
    ShareFetchRequest,
    ShareAcknowledgeRequest,
    InitializeShareGroupStateRequest,
    ReadShareGroupStateRequest,
    WriteShareGroupStateRequest,
    DeleteShareGroupStateRequest,
    ReadShareGroupStateSummaryRequest,
    DescribeShareGroupOffsetsRequest,
    AlterShareGroupOffsetsRequest,
    DeleteShareGroupOffsetsRequest,
    IncrementalAlterConfigsRequest,
    ListPartitionReassignmentsRequest,
)
"""The requests that a broker accepts only while its sockets are open."""

__all__ = [
    "REQUESTS",
    "Acknowledgement",
    "AclsResponse",
    "AcquiredRange",
    "AddOffsetsToTxnRequest",
    "AddOffsetsToTxnResponse",
    "AddPartitionsToTxnRequest",
    "AddPartitionsToTxnResponse",
    "AdminResponse",
    "AllocateProducerIdsRequest",
    "AllocateProducerIdsResponse",
    "AlterConfigsRequest",
    "AlterIsrItem",
    "AlterPartitionReassignmentsRequest",
    "AlterPartitionReassignmentsResponse",
    "AlterPartitionRequest",
    "AlterPartitionResponse",
    "AlterReplicaLogDirsRequest",
    "AlterReplicaLogDirsResponse",
    "AlterShareGroupOffsetsRequest",
    "AnyMessage",
    "ApiVersionsRequest",
    "ApiVersionsResponse",
    "AssignReplicasToDirsRequest",
    "AssignReplicasToDirsResponse",
    "BeginQuorumEpochRequest",
    "BeginQuorumEpochResponse",
    "BrokerHeartbeatRequest",
    "BrokerHeartbeatResponse",
    "BrokerRegistrationRequest",
    "BrokerRegistrationResponse",
    "ClusterMetadataRequest",
    "ClusterMetadataResponse",
    "ConnectionClosed",
    "ConnectionLost",
    "ConsumerGroupDescribeRequest",
    "ConsumerGroupDescribeResponse",
    "ConsumerGroupDescription",
    "ConsumerGroupHeartbeatRequest",
    "ConsumerGroupHeartbeatResponse",
    "ConsumerMemberDescription",
    "ControlResponse",
    "ControlledShutdownRequest",
    "ControlledShutdownResponse",
    "ControllerRegistrationRequest",
    "ControllerRegistrationResponse",
    "CreateAclsRequest",
    "CreatePartitionsRequest",
    "CreateTopicsRequest",
    "DeleteAclsRequest",
    "DeleteGroupsRequest",
    "DeleteGroupsResponse",
    "DeleteRecordsRequest",
    "DeleteRecordsResponse",
    "DeleteShareGroupOffsetsRequest",
    "DeleteShareGroupStateRequest",
    "DeleteTopicsRequest",
    "DescribeClusterRequest",
    "DescribeClusterResponse",
    "DescribeConfigsRequest",
    "DescribeConfigsResponse",
    "DescribeGroupsRequest",
    "DescribeGroupsResponse",
    "DescribeLogDirsRequest",
    "DescribeLogDirsResponse",
    "DescribeProducersRequest",
    "DescribeProducersResponse",
    "DescribeQuorumRequest",
    "DescribeQuorumResponse",
    "DescribeShareGroupOffsetsRequest",
    "DescribeShareGroupOffsetsResponse",
    "DescribeTransactionsRequest",
    "DescribeTransactionsResponse",
    "Detail",
    "ElectLeadersRequest",
    "ElectLeadersResponse",
    "EndQuorumEpochRequest",
    "EndQuorumEpochResponse",
    "EndTxnRequest",
    "EndTxnResponse",
    "EnvelopeRequest",
    "EnvelopeResponse",
    "FetchPartition",
    "FetchRequest",
    "FetchResponse",
    "FetchSnapshotRequest",
    "FetchSnapshotResponse",
    "FetchedPartition",
    "FindCoordinatorRequest",
    "FindCoordinatorResponse",
    "GroupDescription",
    "GroupRequest",
    "GroupResponse",
    "HeartbeatRequest",
    "HeartbeatResponse",
    "IncrementalAlterConfigsRequest",
    "IncrementalAlterConfigsResponse",
    "InitProducerIdRequest",
    "InitProducerIdResponse",
    "InitializeShareGroupStateRequest",
    "JoinGroupRequest",
    "JoinGroupResponse",
    "LeaderAndIsrRequest",
    "LeaderAndIsrResponse",
    "LeaveGroupRequest",
    "LeaveGroupResponse",
    "ListConfigResourcesRequest",
    "ListConfigResourcesResponse",
    "ListOffsetsRequest",
    "ListOffsetsResponse",
    "ListPartitionReassignmentsRequest",
    "ListPartitionReassignmentsResponse",
    "MemberDescription",
    "Message",
    "MetadataBatch",
    "MetadataFetchRequest",
    "MetadataFetchResponse",
    "MetadataRequest",
    "MetadataResponse",
    "MetadataSnapshot",
    "NewTopic",
    "OffsetCommitRequest",
    "OffsetCommitResponse",
    "OffsetDeleteRequest",
    "OffsetDeleteResponse",
    "OffsetFetchRequest",
    "OffsetFetchResponse",
    "OffsetsForLeaderEpochRequest",
    "OffsetsForLeaderEpochResponse",
    "PartitionDescription",
    "PartitionInfo",
    "PartitionMetadata",
    "ProduceRequest",
    "ProduceResponse",
    "ProducerDescription",
    "Protocol",
    "QuorumDescription",
    "QuorumMember",
    "ReadShareGroupStateRequest",
    "ReadShareGroupStateSummaryRequest",
    "RecordBatch",
    "ShareAcknowledgeRequest",
    "ShareAcknowledgeResponse",
    "ShareFetchRequest",
    "ShareFetchResponse",
    "ShareGroupDescribeRequest",
    "ShareGroupDescribeResponse",
    "ShareGroupHeartbeatRequest",
    "ShareGroupHeartbeatResponse",
    "ShareGroupOffsetsResponse",
    "ShareGroupStateResponse",
    "ShareOffset",
    "SharePartitionKey",
    "SharedPartition",
    "StateBatch",
    "StopReplicaRequest",
    "StopReplicaResponse",
    "Subscription",
    "SyncGroupRequest",
    "SyncGroupResponse",
    "Timer",
    "TopicCreated",
    "TopicDescription",
    "TopicsResponse",
    "TransactionDescription",
    "TxnOffsetCommitRequest",
    "UnregisterBrokerRequest",
    "UnregisterBrokerResponse",
    "UpdateFeaturesRequest",
    "UpdateFeaturesResponse",
    "UpdateMetadataRequest",
    "UpdateMetadataResponse",
    "VoteRequest",
    "VoteResponse",
    "WatchEvent",
    "WriteShareGroupStateRequest",
    "WriteTxnMarkersRequest",
    "WriteTxnMarkersResponse",
    "ZkExpired",
    "ZkPing",
    "ZkPong",
    "up_to",
]
