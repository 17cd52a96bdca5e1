"""What members of a consumer group and its coordinator tell each other."""

from collections.abc import Iterable, Mapping

from msgspec import Struct, field

from emulator.protocol.message import Detail, Message


def _about(group: str, *words: str | int) -> Detail:
    """The group as an object that a message touches, with more words of it."""
    return [[f"group.{group}", *words]]


def _partitions(names: Iterable[str]) -> Detail:
    return [[tp] for tp in names]


def _offsets(offsets: Mapping[str, int]) -> Detail:
    return [[tp, offset] for tp, offset in offsets.items()]


class Subscription(Struct, frozen=True, array_like=True, gc=False):
    """What a member wants to read, and what it still owns (KIP-429)."""

    topics: list[str]
    owned: list[str] = field(default_factory=list)


class FindCoordinatorRequest(Message, frozen=True):
    """Asks any broker which one coordinates a group, or the transactions of an id."""

    group: str
    is_transaction: bool = False

    def detail(self) -> Detail:
        """The group or the transactional id."""
        return [[f"transaction.{self.group}"]] if self.is_transaction else _about(self.group)


class FindCoordinatorResponse(Message, frozen=True):
    """The leader of the group's partition of __consumer_offsets, -1 with an error."""

    request: int
    group: str
    error: str
    coordinator: int = -1

    def detail(self) -> Detail:
        """The group, the error and the coordinator."""
        return _about(self.group, self.error, self.coordinator)


class Protocol(Struct, frozen=True, array_like=True, gc=False):
    """A way to share work that a member supports, with what it says of itself in its own terms.

    To the coordinator ``metadata`` is opaque, and so is what the leader assigns by it.
    """

    name: str
    metadata: bytes


class JoinGroupRequest(Message, frozen=True):
    """A member joins, with the id that it has been given (or none yet).

    A consumer of this program has an ``assignor`` and a ``subscription``; a client outside has
    ``protocols`` of a ``protocol_type`` in their place. ``takes_id``: it can be given an id before
    it joins (JoinGroup 4+, KIP-394).
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

    def detail(self) -> Detail:
        """The group and the consumer."""
        return [*_about(self.group), [f"consumer.{self.consumer}"]]


class JoinGroupResponse(Message, frozen=True):
    """Answered when all have joined; ``members`` is only told to the leader, who assigns.

    Of clients outside, ``metadata`` has what members say of themselves, by the ``protocol`` that
    all of them support.
    """

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

    def detail(self) -> Detail:
        """The group, the error and the generation."""
        return _about(self.group, self.error, self.generation)


class SyncGroupRequest(Message, frozen=True):
    """Asks for a member's partitions; the leader's brings what all members get.

    A leader outside has it in its own terms: ``assignments``.
    """

    group: str
    generation: int
    member_id: str
    assignment: dict[str, list[str]] = field(default_factory=dict)
    assignments: dict[str, bytes] = field(default_factory=dict)

    def detail(self) -> Detail:
        """The group and its generation, and all partitions that are assigned."""
        given = [tp for mine in self.assignment.values() for tp in mine]
        return [*_about(self.group, self.generation), *_partitions(given)]


class SyncGroupResponse(Message, frozen=True):
    """The member's partitions; a client outside gets what its leader said in ``assignment``."""

    request: int
    group: str
    error: str
    partitions: list[str] = field(default_factory=list)
    assignment: bytes = b""
    protocol_type: str = ""
    protocol: str = ""

    def detail(self) -> Detail:
        """The group and the error, and the partitions."""
        return [*_about(self.group, self.error), *_partitions(self.partitions)]


class HeartbeatRequest(Message, frozen=True):
    """A member's sign of life."""

    group: str
    generation: int
    member_id: str

    def detail(self) -> Detail:
        """The group and its generation."""
        return _about(self.group, self.generation)


class HeartbeatResponse(Message, frozen=True):
    """The answer: an error tells the member to join again."""

    request: int
    group: str
    error: str

    def detail(self) -> Detail:
        """The group and the error."""
        return _about(self.group, self.error)


class LeaveGroupRequest(Message, frozen=True):
    """A member goes."""

    group: str
    member_id: str

    def detail(self) -> Detail:
        """The group."""
        return _about(self.group)


class LeaveGroupResponse(Message, frozen=True):
    """The member is gone."""

    request: int
    group: str
    error: str

    def detail(self) -> Detail:
        """The group and the error."""
        return _about(self.group, self.error)


class OffsetCommitRequest(Message, frozen=True):
    """Positions to keep; a consumer that is no member has no id and generation -1.

    ``epochs`` are those of the last record before each position, as far as they are known (2.1+);
    ``notes`` is what the committer adds to positions, as far as it is not empty.
    """

    group: str
    generation: int
    member_id: str
    offsets: dict[str, int]
    epochs: dict[str, int] = field(default_factory=dict)
    notes: dict[str, str] = field(default_factory=dict)

    def detail(self) -> Detail:
        """The group, and each partition's offset."""
        return [*_about(self.group, self.generation), *_offsets(self.offsets)]


class OffsetCommitResponse(Message, frozen=True):
    """Answered when the positions are replicated."""

    request: int
    group: str
    error: str

    def detail(self) -> Detail:
        """The group and the error."""
        return _about(self.group, self.error)


class OffsetFetchRequest(Message, frozen=True):
    """Asks for the committed positions of partitions (None: of all that have one).

    With ``require_stable`` a position is not told while a transaction may still change it
    (OffsetFetch 7, KIP-447).
    """

    group: str
    partitions: list[str] | None
    require_stable: bool = False

    def detail(self) -> Detail:
        """The group and the partitions."""
        return [*_about(self.group), *_partitions(self.partitions or ())]


class OffsetFetchResponse(Message, frozen=True):
    """The committed positions; -1 where there is none.

    ``epochs`` and ``notes`` are those that were committed with them. ``unstable`` are partitions
    whose position a transaction may still change.
    """

    request: int
    group: str
    error: str
    offsets: dict[str, int] = field(default_factory=dict)
    epochs: dict[str, int] = field(default_factory=dict)
    notes: dict[str, str] = field(default_factory=dict)
    unstable: list[str] = field(default_factory=list)

    def detail(self) -> Detail:
        """The group and the error, and each partition's offset."""
        return [*_about(self.group, self.error), *_offsets(self.offsets)]


class DescribeGroupsRequest(Message, frozen=True):
    """Asks a coordinator for groups with their members; without any, for the names of all."""

    groups: list[str] | None


class MemberDescription(Struct, frozen=True, array_like=True, gc=False):
    """A member; ``metadata`` and ``assignment`` are in its own terms, as far as it has them."""

    client: str
    metadata: bytes
    assignment: bytes


class GroupDescription(Struct, frozen=True, array_like=True, gc=False):
    """A group as its coordinator describes it."""

    error: str
    state: str = ""
    protocol_type: str = ""
    protocol: str = ""
    members: dict[str, MemberDescription] = field(default_factory=dict)


class DescribeGroupsResponse(Message, frozen=True):
    """The groups that were asked for."""

    request: int
    error: str
    groups: dict[str, GroupDescription]


class DeleteGroupsRequest(Message, frozen=True):
    """Asks a coordinator to forget groups that nobody is in (KIP-229)."""

    groups: list[str]


class DeleteGroupsResponse(Message, frozen=True):
    """How that ended for each group."""

    request: int
    errors: dict[str, str]


class OffsetDeleteRequest(Message, frozen=True):
    """Asks a coordinator to forget positions of a group (KIP-496)."""

    group: str
    partitions: list[str]


class OffsetDeleteResponse(Message, frozen=True):
    """How that ended: an error for the whole, or one for each partition."""

    request: int
    error: str
    errors: dict[str, str]


GroupRequest = (
    FindCoordinatorRequest
    | JoinGroupRequest
    | SyncGroupRequest
    | HeartbeatRequest
    | LeaveGroupRequest
    | OffsetCommitRequest
    | OffsetFetchRequest
    | DescribeGroupsRequest
    | DeleteGroupsRequest
    | OffsetDeleteRequest
)
"""What a coordinator is asked."""

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
)
"""What it answers."""
