"""Messages of consumer groups of the new protocol (KIP-848), and what those of share groups share.

Members of both are assigned partitions by the coordinator, and are told epochs by its heartbeats.
"""

from msgspec import Struct, field

from emulator.protocol.message import Detail, Message


class GroupHeartbeatRequest(Message, frozen=True):
    """A member joins (epoch 0), stays, or leaves (-1).

    None means that nothing has changed since the last heartbeat; ``topics`` are what it subscribes
    to.
    """

    group: str
    member_id: str
    member_epoch: int
    rack_id: str | None = None
    topics: list[str] | None = None
    client: str = ""
    host: str = ""

    def detail(self) -> Detail:
        return [[f"group.{self.group}", self.member_epoch]]


class GroupHeartbeatResponse(Message, frozen=True):
    """The member's epoch and, if it is told, its assignment: partition numbers by topic id.

    ``names`` are the names of these topics.
    """

    request: int
    group: str
    error: str
    message: str = ""
    member_id: str = ""
    member_epoch: int = 0
    heartbeat_interval_ms: int = 0
    assignment: dict[str, list[int]] | None = None
    names: dict[str, str] = field(default_factory=dict)

    def detail(self) -> Detail:
        """The group, the error and the member's epoch."""
        return [[f"group.{self.group}", self.error, self.member_epoch]]


class ConsumerGroupHeartbeatRequest(GroupHeartbeatRequest, frozen=True):
    """A member of a consumer group joins, stays, leaves, or leaves for a while (-2).

    ``owned`` are partition numbers by topic id; ``regex`` is what it subscribes to besides its
    topics; ``version`` is the request's on the wire.
    """

    instance_id: str | None = None
    rebalance_timeout_ms: int = -1
    regex: str | None = None
    assignor: str | None = None
    owned: dict[str, list[int]] | None = None
    version: int = 1


class ConsumerGroupHeartbeatResponse(GroupHeartbeatResponse, frozen=True):
    """The response to a member of a consumer group."""


class GroupsDescribeRequest(Message, frozen=True):
    """Requests groups with their members from a coordinator."""

    groups: list[str]


class ConsumerGroupDescribeRequest(GroupsDescribeRequest, frozen=True):
    """Requests consumer groups."""


class ConsumerMemberDescription(Struct, frozen=True, array_like=True, gc=False):
    """A member of a consumer group; ``is_classic``: it uses the classic protocol."""

    id: str
    instance_id: str
    rack_id: str
    epoch: int
    client: str
    host: str
    topics: list[str]
    regex: str
    assigned: dict[str, list[int]]
    target: dict[str, list[int]]
    is_classic: bool = False


class ConsumerGroupDescription(Struct, frozen=True, array_like=True, gc=False):
    """A consumer group according to its coordinator; ``names`` are the topics' by id."""

    error: str
    message: str = ""
    state: str = ""
    epoch: int = 0
    assignment_epoch: int = 0
    assignor: str = ""
    members: list[ConsumerMemberDescription] = field(default_factory=list)
    names: dict[str, str] = field(default_factory=dict)


class GroupsDescribeResponse(Message, frozen=True):
    """The requested groups."""

    request: int
    groups: dict[str, ConsumerGroupDescription]


class ConsumerGroupDescribeResponse(GroupsDescribeResponse, frozen=True):
    """The requested consumer groups."""
