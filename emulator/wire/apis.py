"""Every supported API: its key, its messages and their versions."""

from typing import Final

from msgspec import Struct

from emulator.wire.messages.alter_configs import (
    AlterConfigsRequest,
    AlterConfigsResponse,
)
from emulator.wire.messages.cluster import (
    ApiVersionsRequest,
    ApiVersionsResponse,
    DescribeClusterRequest,
    DescribeClusterResponse,
    DescribeTopicPartitionsRequest,
    DescribeTopicPartitionsResponse,
    MetadataRequest,
    MetadataResponse,
)
from emulator.wire.messages.committed_offsets import (
    OffsetCommitRequest,
    OffsetCommitResponse,
    OffsetFetchRequest,
    OffsetFetchResponse,
)
from emulator.wire.messages.configs import (
    DescribeConfigsRequest,
    DescribeConfigsResponse,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)
from emulator.wire.messages.consumer_groups import (
    ConsumerGroupDescribeRequest,
    ConsumerGroupDescribeResponse,
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
)
from emulator.wire.messages.coordinator import (
    FindCoordinatorRequest,
    FindCoordinatorResponse,
)
from emulator.wire.messages.features import (
    ListConfigResourcesRequest,
    ListConfigResourcesResponse,
    UnregisterBrokerRequest,
    UnregisterBrokerResponse,
    UpdateFeaturesRequest,
    UpdateFeaturesResponse,
)
from emulator.wire.messages.fetch import (
    FetchRequest,
    FetchResponse,
)
from emulator.wire.messages.groups import (
    DeleteGroupsRequest,
    DeleteGroupsResponse,
    DescribeGroupsRequest,
    DescribeGroupsResponse,
    ListGroupsRequest,
    ListGroupsResponse,
    OffsetDeleteRequest,
    OffsetDeleteResponse,
)
from emulator.wire.messages.log_dirs import (
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirsResponse,
    DescribeLogDirsRequest,
    DescribeLogDirsResponse,
)
from emulator.wire.messages.membership import (
    HeartbeatRequest,
    HeartbeatResponse,
    JoinGroupRequest,
    JoinGroupResponse,
    LeaveGroupRequest,
    LeaveGroupResponse,
    SyncGroupRequest,
    SyncGroupResponse,
)
from emulator.wire.messages.offsets import (
    DeleteRecordsRequest,
    DeleteRecordsResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    OffsetForLeaderEpochRequest,
    OffsetForLeaderEpochResponse,
)
from emulator.wire.messages.partitions import (
    AlterPartitionReassignmentsRequest,
    AlterPartitionReassignmentsResponse,
    ElectLeadersRequest,
    ElectLeadersResponse,
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsResponse,
)
from emulator.wire.messages.produce import (
    InitProducerIdRequest,
    InitProducerIdResponse,
    ProduceRequest,
    ProduceResponse,
)
from emulator.wire.messages.quorum import (
    DescribeQuorumRequest,
    DescribeQuorumResponse,
)
from emulator.wire.messages.sasl import (
    SaslAuthenticateRequest,
    SaslAuthenticateResponse,
    SaslHandshakeRequest,
    SaslHandshakeResponse,
)
from emulator.wire.messages.security import (
    AlterClientQuotasRequest,
    AlterClientQuotasResponse,
    AlterUserScramCredentialsRequest,
    AlterUserScramCredentialsResponse,
    CreateAclsRequest,
    CreateAclsResponse,
    CreateDelegationTokenRequest,
    CreateDelegationTokenResponse,
    DeleteAclsRequest,
    DeleteAclsResponse,
    DescribeAclsRequest,
    DescribeAclsResponse,
    DescribeClientQuotasRequest,
    DescribeClientQuotasResponse,
    DescribeDelegationTokenRequest,
    DescribeDelegationTokenResponse,
    DescribeUserScramCredentialsRequest,
    DescribeUserScramCredentialsResponse,
    ExpireDelegationTokenRequest,
    ExpireDelegationTokenResponse,
    RenewDelegationTokenRequest,
    RenewDelegationTokenResponse,
)
from emulator.wire.messages.share_groups import (
    AlterShareGroupOffsetsRequest,
    AlterShareGroupOffsetsResponse,
    DeleteShareGroupOffsetsRequest,
    DeleteShareGroupOffsetsResponse,
    DescribeShareGroupOffsetsRequest,
    DescribeShareGroupOffsetsResponse,
    ShareAcknowledgeRequest,
    ShareAcknowledgeResponse,
    ShareFetchRequest,
    ShareFetchResponse,
    ShareGroupDescribeRequest,
    ShareGroupDescribeResponse,
    ShareGroupHeartbeatRequest,
    ShareGroupHeartbeatResponse,
)
from emulator.wire.messages.topics import (
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreateTopicsRequest,
    CreateTopicsResponse,
    DeleteTopicsRequest,
    DeleteTopicsResponse,
)
from emulator.wire.messages.transaction_states import (
    DescribeProducersRequest,
    DescribeProducersResponse,
    DescribeTransactionsRequest,
    DescribeTransactionsResponse,
    ListTransactionsRequest,
    ListTransactionsResponse,
)
from emulator.wire.messages.transactions import (
    AddOffsetsToTxnRequest,
    AddOffsetsToTxnResponse,
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    EndTxnRequest,
    EndTxnResponse,
    TxnOffsetCommitRequest,
    TxnOffsetCommitResponse,
    WriteTxnMarkersRequest,
    WriteTxnMarkersResponse,
)
from emulator.wire.types import NEVER, Message

API_VERSIONS: Final = 18
"""The key of the API that a client requests first."""


class Api(Struct, frozen=True):
    """One API of the protocol.

    ``flexible_since`` is the first version with compact types and tagged fields (KIP-482).
    """

    key: int
    request: type[Message]
    response: type[Message]
    last_version: int
    flexible_since: int = NEVER

    @property
    def name(self) -> str:
        """Kafka's name of the API, such as ``ListOffsets``."""
        return self.request.__name__.removesuffix("Request")

    @property
    def versions(self) -> range:
        return range(self.last_version + 1)

    def is_flexible(self, version: int) -> bool:
        """Whether that version has compact types, tagged fields and request header 2."""
        return version >= self.flexible_since

    def has_flexible_response_header(self, version: int) -> bool:
        """Whether a response has tagged fields in its header.

        Responses of ApiVersions never do: a client decodes them before it knows what the broker
        supports (KIP-511).
        """
        return version >= self.flexible_since and self.key != API_VERSIONS


_TABLE: Final = (
    Api(0, ProduceRequest, ProduceResponse, 13, 9),
    Api(1, FetchRequest, FetchResponse, 18, 12),
    Api(2, ListOffsetsRequest, ListOffsetsResponse, 11, 6),
    Api(3, MetadataRequest, MetadataResponse, 13, 9),
    Api(8, OffsetCommitRequest, OffsetCommitResponse, 10, 8),
    Api(9, OffsetFetchRequest, OffsetFetchResponse, 10, 6),
    Api(10, FindCoordinatorRequest, FindCoordinatorResponse, 6, 3),
    Api(11, JoinGroupRequest, JoinGroupResponse, 9, 6),
    Api(12, HeartbeatRequest, HeartbeatResponse, 4, 4),
    Api(13, LeaveGroupRequest, LeaveGroupResponse, 5, 4),
    Api(14, SyncGroupRequest, SyncGroupResponse, 5, 4),
    Api(15, DescribeGroupsRequest, DescribeGroupsResponse, 6, 5),
    Api(16, ListGroupsRequest, ListGroupsResponse, 5, 3),
    Api(17, SaslHandshakeRequest, SaslHandshakeResponse, 1),
    Api(18, ApiVersionsRequest, ApiVersionsResponse, 5, 3),
    Api(19, CreateTopicsRequest, CreateTopicsResponse, 7, 5),
    Api(20, DeleteTopicsRequest, DeleteTopicsResponse, 6, 4),
    Api(21, DeleteRecordsRequest, DeleteRecordsResponse, 2, 2),
    Api(22, InitProducerIdRequest, InitProducerIdResponse, 6, 2),
    Api(23, OffsetForLeaderEpochRequest, OffsetForLeaderEpochResponse, 4, 4),
    Api(24, AddPartitionsToTxnRequest, AddPartitionsToTxnResponse, 5, 3),
    Api(25, AddOffsetsToTxnRequest, AddOffsetsToTxnResponse, 4, 3),
    Api(26, EndTxnRequest, EndTxnResponse, 5, 3),
    Api(27, WriteTxnMarkersRequest, WriteTxnMarkersResponse, 2, 1),
    Api(28, TxnOffsetCommitRequest, TxnOffsetCommitResponse, 6, 3),
    Api(29, DescribeAclsRequest, DescribeAclsResponse, 3, 2),
    Api(30, CreateAclsRequest, CreateAclsResponse, 3, 2),
    Api(31, DeleteAclsRequest, DeleteAclsResponse, 3, 2),
    Api(32, DescribeConfigsRequest, DescribeConfigsResponse, 4, 4),
    Api(33, AlterConfigsRequest, AlterConfigsResponse, 2, 2),
    Api(34, AlterReplicaLogDirsRequest, AlterReplicaLogDirsResponse, 2, 2),
    Api(35, DescribeLogDirsRequest, DescribeLogDirsResponse, 5, 2),
    Api(36, SaslAuthenticateRequest, SaslAuthenticateResponse, 2, 2),
    Api(37, CreatePartitionsRequest, CreatePartitionsResponse, 3, 2),
    Api(38, CreateDelegationTokenRequest, CreateDelegationTokenResponse, 3, 2),
    Api(39, RenewDelegationTokenRequest, RenewDelegationTokenResponse, 2, 2),
    Api(40, ExpireDelegationTokenRequest, ExpireDelegationTokenResponse, 2, 2),
    Api(41, DescribeDelegationTokenRequest, DescribeDelegationTokenResponse, 3, 2),
    Api(42, DeleteGroupsRequest, DeleteGroupsResponse, 3, 2),
    Api(43, ElectLeadersRequest, ElectLeadersResponse, 2, 2),
    Api(44, IncrementalAlterConfigsRequest, IncrementalAlterConfigsResponse, 1, 1),
    Api(45, AlterPartitionReassignmentsRequest, AlterPartitionReassignmentsResponse, 1, 0),
    Api(46, ListPartitionReassignmentsRequest, ListPartitionReassignmentsResponse, 0, 0),
    Api(47, OffsetDeleteRequest, OffsetDeleteResponse, 0),
    Api(48, DescribeClientQuotasRequest, DescribeClientQuotasResponse, 1, 1),
    Api(49, AlterClientQuotasRequest, AlterClientQuotasResponse, 1, 1),
    Api(50, DescribeUserScramCredentialsRequest, DescribeUserScramCredentialsResponse, 0, 0),
    Api(51, AlterUserScramCredentialsRequest, AlterUserScramCredentialsResponse, 0, 0),
    Api(55, DescribeQuorumRequest, DescribeQuorumResponse, 2, 0),
    Api(57, UpdateFeaturesRequest, UpdateFeaturesResponse, 2, 0),
    Api(60, DescribeClusterRequest, DescribeClusterResponse, 2, 0),
    Api(61, DescribeProducersRequest, DescribeProducersResponse, 0, 0),
    Api(64, UnregisterBrokerRequest, UnregisterBrokerResponse, 0, 0),
    Api(65, DescribeTransactionsRequest, DescribeTransactionsResponse, 0, 0),
    Api(66, ListTransactionsRequest, ListTransactionsResponse, 1, 0),
    Api(68, ConsumerGroupHeartbeatRequest, ConsumerGroupHeartbeatResponse, 1, 0),
    Api(69, ConsumerGroupDescribeRequest, ConsumerGroupDescribeResponse, 1, 0),
    Api(74, ListConfigResourcesRequest, ListConfigResourcesResponse, 1, 0),
    Api(75, DescribeTopicPartitionsRequest, DescribeTopicPartitionsResponse, 0, 0),
    Api(76, ShareGroupHeartbeatRequest, ShareGroupHeartbeatResponse, 1, 0),
    Api(77, ShareGroupDescribeRequest, ShareGroupDescribeResponse, 1, 0),
    Api(78, ShareFetchRequest, ShareFetchResponse, 2, 0),
    Api(79, ShareAcknowledgeRequest, ShareAcknowledgeResponse, 2, 0),
    Api(90, DescribeShareGroupOffsetsRequest, DescribeShareGroupOffsetsResponse, 1, 0),
    Api(91, AlterShareGroupOffsetsRequest, AlterShareGroupOffsetsResponse, 0, 0),
    Api(92, DeleteShareGroupOffsetsRequest, DeleteShareGroupOffsetsResponse, 0, 0),
)

APIS: Final = {api.key: api for api in _TABLE}
"""Every API by key, in the order of the keys."""
API_NAMED: Final = {api.name: api for api in _TABLE}
"""Every API by name."""
