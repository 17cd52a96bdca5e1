"""Messages of consumer groups of the new protocol (KIP-848)."""

from msgspec import Struct, field

from emulator.protocol.message import Detail, Message


class ConsumerGroupHeartbeatRequest(Message, frozen=True):
    """A member joins (epoch 0), stays, leaves (-1), or leaves for a while (-2).

    None means that nothing has changed since the last heartbeat. ``owned`` are partition numbers by
    topic id; ``regex`` and ``topics`` are what it subscribes to; ``version`` is the request's on
    the wire.
    """

    group: str
    member_id: str
    member_epoch: int
    instance_id: str | None = None
    rack_id: str | None = None
    rebalance_timeout_ms: int = -1
    topics: list[str] | None = None
    regex: str | None = None
    assignor: str | None = None
    owned: dict[str, list[int]] | None = None
    client: str = ""
    host: str = ""
    version: int = 1

    def detail(self) -> Detail:
        """The group and the member's epoch."""
        return [[f"group.{self.group}", self.member_epoch]]


class ConsumerGroupHeartbeatResponse(Message, frozen=True):
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


class ConsumerGroupDescribeRequest(Message, frozen=True):
    """Requests consumer groups with their members from a coordinator."""

    groups: list[str]


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


class ConsumerGroupDescribeResponse(Message, frozen=True):
    """The requested groups."""

    request: int
    groups: dict[str, ConsumerGroupDescription]
