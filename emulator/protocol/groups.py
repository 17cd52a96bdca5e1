"""Messages between group members and their coordinator."""

from collections.abc import Iterable, Mapping
from typing import ClassVar

from msgspec import Struct, field

from emulator.common.errors import NONE
from emulator.protocol.consumer_groups import (
    ConsumerGroupDescribeResponse,
    ConsumerGroupHeartbeatResponse,
)
from emulator.protocol.message import CoordinatorMessage, Detail, Message
from emulator.protocol.share_groups import (
    ShareAcknowledgeResponse,
    ShareFetchResponse,
    ShareGroupHeartbeatResponse,
)


def _partitions(names: Iterable[str]) -> Detail:
    return [[tp] for tp in names]


def _offsets(offsets: Mapping[str, int]) -> Detail:
    return [[tp, offset] for tp, offset in offsets.items()]


class Subscription(Struct, frozen=True, array_like=True, gc=False):
    """The topics to which a member subscribes, and its owned partitions (KIP-429)."""

    topics: list[str]
    owned: list[str] = field(default_factory=list)


class FindCoordinatorRequest(CoordinatorMessage, frozen=True):
    """Requests the coordinator of a group or of a transactional id from any broker."""

    group: str
    is_transaction: bool = False

    @property
    def subject(self) -> str:
        return f"{'transaction' if self.is_transaction else 'group'}.{self.group}"


class FindCoordinatorResponse(CoordinatorMessage, frozen=True):
    """The leader of the group's partition of __consumer_offsets, -1 with an error."""

    tells: ClassVar[tuple[str, ...]] = ("error", "coordinator")
    request: int
    group: str
    error: str
    coordinator: int = -1


class Protocol(Struct, frozen=True, array_like=True, gc=False):
    """An assignor that a member supports, with the member's metadata for it.

    ``metadata`` is opaque to the coordinator, and so are the leader's assignments.
    """

    name: str
    metadata: bytes


class JoinGroupRequest(CoordinatorMessage, frozen=True):
    """A member joins, with its member id if it has one.

    A scripted consumer has an ``assignor`` and a ``subscription``; an external client has
    ``protocols`` of a ``protocol_type`` instead. ``takes_id``: it supports getting an id before it
    joins (JoinGroup 4+, KIP-394). ``instance_id`` (group.instance.id) is that of a static member
    (KIP-345), ``can_skip``: told so, it does not assign although it leads (JoinGroup 9, KIP-814).
    """

    group: str
    member_id: str
    consumer: str
    assignor: str
    subscription: Subscription
    session_timeout_us: int
    rebalance_timeout_us: int
    protocol_type: str = ""
    protocols: list[Protocol] = field(default_factory=list)
    takes_id: bool = True
    instance_id: str = ""
    can_skip: bool = False

    def other_rows(self) -> Detail:
        return [[f"consumer.{self.consumer}"]]


class JoinGroupResponse(CoordinatorMessage, frozen=True):
    """Sent when all members have joined; ``members`` is only sent to the leader, which assigns.

    For external clients, ``metadata`` has the members' metadata for the ``protocol`` that all of
    them support, and ``instances`` the instance ids of static members. ``skip_assignment``: the
    assignment stays as it is.
    """

    tells: ClassVar[tuple[str, ...]] = ("error", "generation")
    request: int
    group: str
    error: str
    member_id: str = ""
    generation: int = -1
    leader: str = ""
    members: dict[str, Subscription] = field(default_factory=dict)
    protocol_type: str = ""
    protocol: str = ""
    metadata: dict[str, bytes] = field(default_factory=dict)
    instances: dict[str, str] = field(default_factory=dict)
    skip_assignment: bool = False


class SyncGroupRequest(CoordinatorMessage, frozen=True):
    """Requests a member's partitions; the leader's request has the assignment of all members.

    An external leader's assignment is opaque: ``assignments``. ``protocol_type`` and ``protocol``
    are None if they are not sent (before SyncGroup 5).
    """

    tells: ClassVar[tuple[str, ...]] = ("generation",)
    group: str
    generation: int
    member_id: str
    assignment: dict[str, list[str]] = field(default_factory=dict)
    assignments: dict[str, bytes] = field(default_factory=dict)
    instance_id: str = ""
    protocol_type: str | None = None
    protocol: str | None = None

    def other_rows(self) -> Detail:
        partitions = [tp for assigned in self.assignment.values() for tp in assigned]
        return _partitions(partitions)


class SyncGroupResponse(CoordinatorMessage, frozen=True):
    """The member's partitions; ``assignment`` is the opaque form for an external client."""

    tells: ClassVar[tuple[str, ...]] = ("error",)
    request: int
    group: str
    error: str
    partitions: list[str] = field(default_factory=list)
    assignment: bytes = b""
    protocol_type: str = ""
    protocol: str = ""

    def other_rows(self) -> Detail:
        return _partitions(self.partitions)


class HeartbeatRequest(CoordinatorMessage, frozen=True):
    """A member's heartbeat."""

    tells: ClassVar[tuple[str, ...]] = ("generation",)
    group: str
    generation: int
    member_id: str
    instance_id: str = ""


class HeartbeatResponse(CoordinatorMessage, frozen=True):
    """The response to a heartbeat: an error tells the member to rejoin."""

    tells: ClassVar[tuple[str, ...]] = ("error",)
    request: int
    group: str
    error: str


class LeaveGroupRequest(CoordinatorMessage, frozen=True):
    """A member leaves the group, or an administrator removes a static one (no member id).

    ``others`` leave with it: their member and instance ids (KIP-345).
    """

    group: str
    member_id: str
    instance_id: str = ""
    others: list[tuple[str, str]] = field(default_factory=list)

    @property
    def members(self) -> list[tuple[str, str]]:
        """The member and instance ids of all that leave."""
        return [(self.member_id, self.instance_id), *self.others]


class LeaveGroupResponse(CoordinatorMessage, frozen=True):
    """The response to a :class:`LeaveGroupRequest`: the first error, and those of the members.

    There are no ``errors`` if the whole request was refused.
    """

    tells: ClassVar[tuple[str, ...]] = ("error",)
    request: int
    group: str
    error: str
    errors: list[str] = field(default_factory=list)

    @classmethod
    def of_members(cls, request: int, group: str, errors: list[str]) -> "LeaveGroupResponse":
        """The response with the errors of the members, in the request's order."""
        first = next((error for error in errors if error != NONE), NONE)
        return cls(request, group, first, errors)


class OffsetCommitRequest(CoordinatorMessage, frozen=True):
    """Commits offsets; a consumer that is not a member has an empty id and generation -1.

    ``epochs`` are the leader epochs of the last records before the offsets, if known (2.1+);
    ``notes`` are the non-empty metadata strings of the offsets. ``version`` is the request's on the
    wire; a member of a consumer group sends its epoch as ``generation`` from version 9 on.
    """

    tells: ClassVar[tuple[str, ...]] = ("generation",)
    group: str
    generation: int
    member_id: str
    offsets: dict[str, int]
    epochs: dict[str, int] = field(default_factory=dict)
    notes: dict[str, str] = field(default_factory=dict)
    instance_id: str = ""
    version: int = 0

    def other_rows(self) -> Detail:
        return _offsets(self.offsets)


class OffsetCommitResponse(CoordinatorMessage, frozen=True):
    """Sent when the offsets are replicated; ``errors`` are those of single partitions."""

    tells: ClassVar[tuple[str, ...]] = ("error",)
    request: int
    group: str
    error: str
    errors: dict[str, str] = field(default_factory=dict)


class OffsetFetchRequest(CoordinatorMessage, frozen=True):
    """Requests the committed offsets of partitions (None: all that have one).

    With ``require_stable`` an offset that a pending transaction may still change is not returned
    (OffsetFetch 7, KIP-447). A member of a consumer group sends its ``member_id`` and its epoch
    (OffsetFetch 9); others do not.
    """

    group: str
    partitions: list[str] | None
    require_stable: bool = False
    member_id: str | None = None
    member_epoch: int = -1

    def other_rows(self) -> Detail:
        return _partitions(self.partitions or ())


class OffsetFetchResponse(CoordinatorMessage, frozen=True):
    """The committed offsets; -1 if there is none.

    ``epochs`` and ``notes`` were committed with them. ``unstable`` lists the partitions whose
    offset a pending transaction may still change, ``errors`` are those of single partitions.
    """

    tells: ClassVar[tuple[str, ...]] = ("error",)
    request: int
    group: str
    error: str
    offsets: dict[str, int] = field(default_factory=dict)
    epochs: dict[str, int] = field(default_factory=dict)
    notes: dict[str, str] = field(default_factory=dict)
    unstable: list[str] = field(default_factory=list)
    errors: dict[str, str] = field(default_factory=dict)

    def other_rows(self) -> Detail:
        return _offsets(self.offsets)


class DescribeGroupsRequest(Message, frozen=True):
    """Requests groups with their members from a coordinator; if empty, the names of all groups."""

    groups: list[str] | None


class MemberDescription(Struct, frozen=True, array_like=True, gc=False):
    """A member; ``metadata`` and ``assignment`` are opaque, if it has them."""

    client: str
    metadata: bytes
    assignment: bytes
    instance_id: str = ""


class GroupDescription(Struct, frozen=True, array_like=True, gc=False):
    """A group according to its coordinator; ``type`` is its protocol: classic or consumer.

    ``message`` says why it is told as ``Dead``, though there is no error before DescribeGroups 6.
    """

    error: str
    state: str = ""
    protocol_type: str = ""
    protocol: str = ""
    members: dict[str, MemberDescription] = field(default_factory=dict)
    type: str = "classic"
    message: str = ""


class DescribeGroupsResponse(Message, frozen=True):
    """The requested groups."""

    request: int
    error: str
    groups: dict[str, GroupDescription]


class DeleteGroupsRequest(Message, frozen=True):
    """Requests the deletion of empty groups (KIP-229)."""

    groups: list[str]


class DeleteGroupsResponse(Message, frozen=True):
    """The result for each group."""

    request: int
    errors: dict[str, str]


class OffsetDeleteRequest(Message, frozen=True):
    """Requests the deletion of a group's offsets (KIP-496)."""

    group: str
    partitions: list[str]


class OffsetDeleteResponse(Message, frozen=True):
    """The result: a top-level error, or one for each partition."""

    request: int
    error: str
    errors: dict[str, str]


GroupResponse = (
    FindCoordinatorResponse
    | JoinGroupResponse
    | SyncGroupResponse
    | HeartbeatResponse
    | LeaveGroupResponse
    | OffsetCommitResponse
    | OffsetFetchResponse
    | DescribeGroupsResponse
    | DeleteGroupsResponse
    | OffsetDeleteResponse
    | ConsumerGroupHeartbeatResponse
    | ConsumerGroupDescribeResponse
    | ShareGroupHeartbeatResponse
    | ShareFetchResponse
    | ShareAcknowledgeResponse
)
"""The responses of coordinators."""
