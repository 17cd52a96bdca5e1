"""Consumer group membership in the classic protocol."""

from typing import Annotated, Final

from emulator.wire.types import (
    Api,
    Bool,
    Bytes,
    Int16,
    Int32,
    Message,
    String,
    nullable_since,
    since,
    until,
)


class JoinGroupRequestProtocol(Message, frozen=True):
    name: String = ""
    metadata: Bytes = b""


class JoinGroupRequest(Message, frozen=True):
    """A member joins its group, and gets its member id.

    Rebalance timeout since version 1 (KIP-62), MEMBER_ID_REQUIRED since 4 (KIP-394), static members
    since 5 (KIP-345), the reason since 8 (KIP-800).
    """

    group_id: String = ""
    session_timeout_ms: Int32 = 0
    rebalance_timeout_ms: Annotated[Int32, since(1)] = -1
    member_id: String = ""
    group_instance_id: Annotated[String | None, since(5)] = None
    protocol_type: String = ""
    protocols: list[JoinGroupRequestProtocol] = []
    reason: Annotated[String | None, since(8)] = None


class JoinGroupResponseMember(Message, frozen=True):
    member_id: String = ""
    group_instance_id: Annotated[String | None, since(5)] = None
    metadata: Bytes = b""


class JoinGroupResponse(Message, frozen=True):
    """The generation; for the leader also all members and their metadata."""

    throttle_time_ms: Annotated[Int32, since(2)] = 0
    error_code: Int16 = 0
    generation_id: Int32 = -1
    protocol_type: Annotated[String | None, since(7)] = None
    protocol_name: Annotated[String | None, nullable_since(7)] = ""
    leader: String = ""
    skip_assignment: Annotated[Bool, since(9)] = False
    member_id: String = ""
    members: list[JoinGroupResponseMember] = []


class SyncGroupRequestAssignment(Message, frozen=True):
    member_id: String = ""
    assignment: Bytes = b""


class SyncGroupRequest(Message, frozen=True):
    """Requests the member's assignment; the leader supplies all assignments."""

    group_id: String = ""
    generation_id: Int32 = 0
    member_id: String = ""
    group_instance_id: Annotated[String | None, since(3)] = None
    protocol_type: Annotated[String | None, since(5)] = None
    protocol_name: Annotated[String | None, since(5)] = None
    assignments: list[SyncGroupRequestAssignment] = []


class SyncGroupResponse(Message, frozen=True):
    """The assignment of the member, as opaque bytes of the group's protocol."""

    throttle_time_ms: Annotated[Int32, since(1)] = 0
    error_code: Int16 = 0
    protocol_type: Annotated[String | None, since(5)] = None
    protocol_name: Annotated[String | None, since(5)] = None
    assignment: Bytes = b""


class HeartbeatRequest(Message, frozen=True):
    """A member's heartbeat."""

    group_id: String = ""
    generation_id: Int32 = 0
    member_id: String = ""
    group_instance_id: Annotated[String | None, since(3)] = None


class HeartbeatResponse(Message, frozen=True):
    """Whether the generation is current, or the group is rebalancing."""

    throttle_time_ms: Annotated[Int32, since(1)] = 0
    error_code: Int16 = 0


class MemberIdentity(Message, frozen=True):
    member_id: String = ""
    group_instance_id: String | None = None
    reason: Annotated[String | None, since(5)] = None


class LeaveGroupRequest(Message, frozen=True):
    """A member leaves, or since version 3 several are removed (KIP-345)."""

    group_id: String = ""
    member_id: Annotated[String, until(2)] = ""
    members: Annotated[list[MemberIdentity], since(3)] = []


class MemberResponse(Message, frozen=True):
    member_id: String = ""
    group_instance_id: String | None = ""
    error_code: Int16 = 0


class LeaveGroupResponse(Message, frozen=True):
    """The result, since version 3 for each member."""

    throttle_time_ms: Annotated[Int32, since(1)] = 0
    error_code: Int16 = 0
    members: Annotated[list[MemberResponse], since(3)] = []


APIS: Final = (
    Api(11, JoinGroupRequest, JoinGroupResponse, 9, 6),
    Api(12, HeartbeatRequest, HeartbeatResponse, 4, 4),
    Api(13, LeaveGroupRequest, LeaveGroupResponse, 5, 4),
    Api(14, SyncGroupRequest, SyncGroupResponse, 5, 4),
)
