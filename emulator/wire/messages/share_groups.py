"""Share groups (KIP-932): membership, fetching with acquisition, acknowledgements, offsets."""

from typing import Annotated, Final

from emulator.wire.messages.consumer_groups import (
    DescribedAssignment,
    DescribedModernGroup,
    GroupHeartbeatResponse,
    GroupsDescribeRequest,
)
from emulator.wire.types import (
    NO_UUID,
    Api,
    Bool,
    Int8,
    Int16,
    Int32,
    Int64,
    Message,
    Records,
    String,
    Uuid,
    since,
)

# ---- membership


class ShareGroupHeartbeatRequest(Message, frozen=True):
    """A member joins (epoch 0), stays, or leaves (-1); null means that nothing has changed."""

    group_id: String = ""
    member_id: String = ""
    member_epoch: Int32 = 0
    rack_id: String | None = None
    subscribed_topic_names: list[String] | None = None


class ShareGroupHeartbeatResponse(GroupHeartbeatResponse, frozen=True):
    """What a member of a share group is told."""


class ShareGroupDescribeRequest(GroupsDescribeRequest, frozen=True):
    """Requests share groups."""


class DescribedShareMember(Message, frozen=True):
    member_id: String = ""
    rack_id: String | None = None
    member_epoch: Int32 = 0
    client_id: String = ""
    client_host: String = ""
    subscribed_topic_names: list[String] = []
    assignment: DescribedAssignment = DescribedAssignment()


class DescribedShareGroup(DescribedModernGroup, frozen=True):
    """One of the ``groups`` of :class:`ShareGroupDescribeResponse`."""

    members: list[DescribedShareMember] = []
    authorized_operations: Int32 = -2147483648


class ShareGroupDescribeResponse(Message, frozen=True):
    """State, epochs and members of each group."""

    throttle_time_ms: Int32 = 0
    groups: list[DescribedShareGroup] = []


# ---- fetching and acknowledging


class AcknowledgementBatch(Message, frozen=True):
    """Acknowledges offsets, both inclusive: with one type for all of them, or one for each.

    The types are 0 (a gap), 1 (accept), 2 (release), 3 (reject) and, from version 2 on, 4 (renew).
    """

    first_offset: Int64 = 0
    last_offset: Int64 = 0
    acknowledge_types: list[Int8] = []


class ShareFetchPartition(Message, frozen=True):
    partition_index: Int32 = 0
    partition_max_bytes: Annotated[Int32, since(0, 0)] = 0
    acknowledgement_batches: list[AcknowledgementBatch] = []


class ShareFetchTopic(Message, frozen=True):
    topic_id: Uuid = NO_UUID
    partitions: list[ShareFetchPartition] = []


class ShareForgottenTopic(Message, frozen=True):
    topic_id: Uuid = NO_UUID
    partitions: list[Int32] = []


class ShareFetchRequest(Message, frozen=True):
    """Acquires records in a share session, and acknowledges earlier ones.

    ``share_session_epoch`` is 0 to open a session and -1 to close it. ``share_acquire_mode`` is 0
    (whole batches) or 1 (no more than ``max_records``).
    """

    group_id: String | None = None
    member_id: String | None = ""
    share_session_epoch: Int32 = 0
    max_wait_ms: Int32 = 0
    min_bytes: Int32 = 0
    max_bytes: Int32 = 2_147_483_647
    max_records: Annotated[Int32, since(1)] = 0
    batch_size: Annotated[Int32, since(1)] = 0
    share_acquire_mode: Annotated[Int8, since(2)] = 0
    is_renew_ack: Annotated[Bool, since(2)] = False
    topics: list[ShareFetchTopic] = []
    forgotten_topics_data: list[ShareForgottenTopic] = []


class ShareLeader(Message, frozen=True):
    """The leader of a partition and its epoch, where another broker is asked."""

    leader_id: Int32 = 0
    leader_epoch: Int32 = 0


class AcquiredRecords(Message, frozen=True):
    """Offsets that were acquired together, both inclusive, and how often they were delivered."""

    first_offset: Int64 = 0
    last_offset: Int64 = 0
    delivery_count: Int16 = 0


class ShareFetchedPartition(Message, frozen=True):
    partition_index: Int32 = 0
    error_code: Int16 = 0
    error_message: String | None = None
    acknowledge_error_code: Int16 = 0
    acknowledge_error_message: String | None = None
    current_leader: ShareLeader = ShareLeader()
    records: Records | None = b""
    acquired_records: list[AcquiredRecords] = []


class ShareFetchedTopic(Message, frozen=True):
    topic_id: Uuid = NO_UUID
    partitions: list[ShareFetchedPartition] = []


class ShareNodeEndpoint(Message, frozen=True):
    """The address of a leader."""

    node_id: Int32 = 0
    host: String = ""
    port: Int32 = 0
    rack: String | None = None


class ShareFetchResponse(Message, frozen=True):
    """The records of each partition, and which of them were acquired."""

    throttle_time_ms: Int32 = 0
    error_code: Int16 = 0
    error_message: String | None = None
    acquisition_lock_timeout_ms: Annotated[Int32, since(1)] = 0
    responses: list[ShareFetchedTopic] = []
    node_endpoints: list[ShareNodeEndpoint] = []


class ShareAcknowledgePartition(Message, frozen=True):
    partition_index: Int32 = 0
    acknowledgement_batches: list[AcknowledgementBatch] = []


class ShareAcknowledgeTopic(Message, frozen=True):
    topic_id: Uuid = NO_UUID
    partitions: list[ShareAcknowledgePartition] = []


class ShareAcknowledgeRequest(Message, frozen=True):
    """Acknowledges records in a share session without fetching more."""

    group_id: String | None = None
    member_id: String | None = ""
    share_session_epoch: Int32 = 0
    is_renew_ack: Annotated[Bool, since(2)] = False
    topics: list[ShareAcknowledgeTopic] = []


class ShareAcknowledgedPartition(Message, frozen=True):
    partition_index: Int32 = 0
    error_code: Int16 = 0
    error_message: String | None = None
    current_leader: ShareLeader = ShareLeader()


class ShareAcknowledgedTopic(Message, frozen=True):
    topic_id: Uuid = NO_UUID
    partitions: list[ShareAcknowledgedPartition] = []


class ShareAcknowledgeResponse(Message, frozen=True):
    """The outcome in each partition."""

    throttle_time_ms: Int32 = 0
    error_code: Int16 = 0
    error_message: String | None = None
    acquisition_lock_timeout_ms: Annotated[Int32, since(2)] = 0
    responses: list[ShareAcknowledgedTopic] = []
    node_endpoints: list[ShareNodeEndpoint] = []


# ---- offsets


class DescribeShareOffsetsTopic(Message, frozen=True):
    topic_name: String = ""
    partitions: list[Int32] = []


class DescribeShareOffsetsGroup(Message, frozen=True):
    group_id: String = ""
    topics: list[DescribeShareOffsetsTopic] | None = None


class DescribeShareGroupOffsetsRequest(Message, frozen=True):
    """Requests the start offsets of share-partitions."""

    groups: list[DescribeShareOffsetsGroup] = []


class DescribedShareOffset(Message, frozen=True):
    partition_index: Int32 = 0
    start_offset: Int64 = 0
    leader_epoch: Int32 = 0
    lag: Annotated[Int64, since(1)] = -1
    error_code: Int16 = 0
    error_message: String | None = None


class DescribedShareOffsetsTopic(Message, frozen=True):
    topic_name: String = ""
    topic_id: Uuid = NO_UUID
    partitions: list[DescribedShareOffset] = []


class DescribedShareOffsets(Message, frozen=True):
    group_id: String = ""
    topics: list[DescribedShareOffsetsTopic] = []
    error_code: Int16 = 0
    error_message: String | None = None


class DescribeShareGroupOffsetsResponse(Message, frozen=True):
    """The start offsets of each group."""

    throttle_time_ms: Int32 = 0
    groups: list[DescribedShareOffsets] = []


class AlterShareOffsetsPartition(Message, frozen=True):
    partition_index: Int32 = 0
    start_offset: Int64 = 0


class AlterShareOffsetsTopic(Message, frozen=True):
    topic_name: String = ""
    partitions: list[AlterShareOffsetsPartition] = []


class AlterShareGroupOffsetsRequest(Message, frozen=True):
    """Sets the start offsets of a share group without members."""

    group_id: String = ""
    topics: list[AlterShareOffsetsTopic] = []


class AlteredShareOffset(Message, frozen=True):
    partition_index: Int32 = 0
    error_code: Int16 = 0
    error_message: String | None = None


class AlteredShareOffsetsTopic(Message, frozen=True):
    topic_name: String = ""
    topic_id: Uuid = NO_UUID
    partitions: list[AlteredShareOffset] = []


class AlterShareGroupOffsetsResponse(Message, frozen=True):
    """The outcome for each partition."""

    throttle_time_ms: Int32 = 0
    error_code: Int16 = 0
    error_message: String | None = None
    responses: list[AlteredShareOffsetsTopic] = []


class DeleteShareOffsetsTopic(Message, frozen=True):
    topic_name: String = ""


class DeleteShareGroupOffsetsRequest(Message, frozen=True):
    """Deletes the state of topics in a share group without members."""

    group_id: String = ""
    topics: list[DeleteShareOffsetsTopic] = []


class DeletedShareOffsetsTopic(Message, frozen=True):
    topic_name: String = ""
    topic_id: Uuid = NO_UUID
    error_code: Int16 = 0
    error_message: String | None = None


class DeleteShareGroupOffsetsResponse(Message, frozen=True):
    """The outcome for each topic."""

    throttle_time_ms: Int32 = 0
    error_code: Int16 = 0
    error_message: String | None = None
    responses: list[DeletedShareOffsetsTopic] = []


APIS: Final = (
    Api(76, ShareGroupHeartbeatRequest, ShareGroupHeartbeatResponse, 1, 0),
    Api(77, ShareGroupDescribeRequest, ShareGroupDescribeResponse, 1, 0),
    Api(78, ShareFetchRequest, ShareFetchResponse, 2, 0),
    Api(79, ShareAcknowledgeRequest, ShareAcknowledgeResponse, 2, 0),
    Api(90, DescribeShareGroupOffsetsRequest, DescribeShareGroupOffsetsResponse, 1, 0),
    Api(91, AlterShareGroupOffsetsRequest, AlterShareGroupOffsetsResponse, 0, 0),
    Api(92, DeleteShareGroupOffsetsRequest, DeleteShareGroupOffsetsResponse, 0, 0),
)
