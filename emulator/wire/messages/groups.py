"""Administration of consumer groups."""

from typing import Annotated, Final

from emulator.wire.types import Api, Bool, Bytes, Int16, Int32, Message, String, since


class DescribeGroupsRequest(Message, frozen=True):
    """Requests the state and the members of groups."""

    groups: list[String] = []
    include_authorized_operations: Annotated[Bool, since(3)] = False


class DescribedGroupMember(Message, frozen=True):
    member_id: String = ""
    group_instance_id: Annotated[String | None, since(4)] = None
    client_id: String = ""
    client_host: String = ""
    member_metadata: Bytes = b""
    member_assignment: Bytes = b""


class DescribedGroup(Message, frozen=True):
    error_code: Int16 = 0
    error_message: Annotated[String | None, since(6)] = None
    group_id: String = ""
    group_state: String = ""
    protocol_type: String = ""
    protocol_data: String = ""
    members: list[DescribedGroupMember] = []
    authorized_operations: Annotated[Int32, since(3)] = -2147483648


class DescribeGroupsResponse(Message, frozen=True):
    """State, protocol and members of each group."""

    throttle_time_ms: Annotated[Int32, since(1)] = 0
    groups: list[DescribedGroup] = []


class ListGroupsRequest(Message, frozen=True):
    """Requests the groups coordinated by the broker; by state since version 4 (KIP-518)."""

    states_filter: Annotated[list[String], since(4)] = []
    types_filter: Annotated[list[String], since(5)] = []


class ListedGroup(Message, frozen=True):
    group_id: String = ""
    protocol_type: String = ""
    group_state: Annotated[String, since(4)] = ""
    group_type: Annotated[String, since(5)] = ""


class ListGroupsResponse(Message, frozen=True):
    """The groups coordinated by the broker."""

    throttle_time_ms: Annotated[Int32, since(1)] = 0
    error_code: Int16 = 0
    groups: list[ListedGroup] = []


class DeleteGroupsRequest(Message, frozen=True):
    """Deletes empty groups with their committed offsets (KIP-229)."""

    groups_names: list[String] = []


class DeletableGroupResult(Message, frozen=True):
    group_id: String = ""
    error_code: Int16 = 0
    error_message: Annotated[String | None, since(3)] = None


class DeleteGroupsResponse(Message, frozen=True):
    """The result for each group."""

    throttle_time_ms: Int32 = 0
    results: list[DeletableGroupResult] = []


class OffsetDeleteRequestPartition(Message, frozen=True):
    partition_index: Int32 = 0


class OffsetDeleteRequestTopic(Message, frozen=True):
    name: String = ""
    partitions: list[OffsetDeleteRequestPartition] = []


class OffsetDeleteRequest(Message, frozen=True):
    """Deletes committed offsets of a group (KIP-496)."""

    group_id: String = ""
    topics: list[OffsetDeleteRequestTopic] = []


class OffsetDeleteResponsePartition(Message, frozen=True):
    partition_index: Int32 = 0
    error_code: Int16 = 0


class OffsetDeleteResponseTopic(Message, frozen=True):
    name: String = ""
    partitions: list[OffsetDeleteResponsePartition] = []


class OffsetDeleteResponse(Message, frozen=True):
    """The result for each partition."""

    error_code: Int16 = 0
    throttle_time_ms: Int32 = 0
    topics: list[OffsetDeleteResponseTopic] = []


APIS: Final = (
    Api(15, DescribeGroupsRequest, DescribeGroupsResponse, 6, 5),
    Api(16, ListGroupsRequest, ListGroupsResponse, 5, 3),
    Api(42, DeleteGroupsRequest, DeleteGroupsResponse, 3, 2),
    Api(47, OffsetDeleteRequest, OffsetDeleteResponse, 0),
)
