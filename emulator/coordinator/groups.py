"""A coordinator's state of its groups, and the state transitions of a group.

A group without members is ``Empty`` (its offsets stay). The first member moves it to
``PreparingRebalance``, where it waits until all members have joined or timed out. It is then
``CompletingRebalance`` until the group leader's assignment has been received and stored, and
``Stable`` until a member joins, leaves or changes. A broker that stops leading the group's
partition considers it ``Dead``, which is final: the next coordinator loads it again.
"""

from typing import Final

from msgspec import Struct, field

from emulator import protocol as messages
from emulator.common.errors import NONE
from emulator.coordinator.consumer_groups.group import ConsumerGroup
from emulator.coordinator.modern_groups.specification import Partitions
from emulator.coordinator.share_groups.group import ShareGroup

EMPTY: Final = "Empty"
PREPARING: Final = "PreparingRebalance"
COMPLETING: Final = "CompletingRebalance"
STABLE: Final = "Stable"
DEAD: Final = "Dead"

NEXT: Final[dict[str, tuple[str, ...]]] = {
    EMPTY: (PREPARING, DEAD),
    PREPARING: (COMPLETING, EMPTY, DEAD),
    COMPLETING: (STABLE, PREPARING, DEAD),
    STABLE: (PREPARING, DEAD),
    DEAD: (),
}
"""The valid next states of each state (``GroupMetadata.validPreviousStates`` 0.9 to 3.9)."""

REFUSED: Final = "UNKNOWN_MEMBER_ID"
REBALANCING: Final = "REBALANCE_IN_PROGRESS"

HEARTBEAT: Final = {EMPTY: REFUSED, PREPARING: REBALANCING, COMPLETING: NONE, STABLE: NONE}
"""The result of a member's heartbeat in each state."""
SYNC: Final = {EMPTY: REFUSED, PREPARING: REBALANCING, COMPLETING: NONE, STABLE: NONE}
"""The result of a member's SyncGroup; while completing it first waits for the leader's."""
COMMIT: Final = {EMPTY: REFUSED, PREPARING: NONE, COMPLETING: REBALANCING, STABLE: NONE}
"""The result of a member's OffsetCommit: while preparing, a member can still commit."""


class Member(Struct, array_like=True):
    """A member: ``deadline_us`` is when its session times out.

    ``join`` and ``sync`` are its waiting requests (0: none). ``is_new`` until its first rebalance
    has completed. An external client has ``protocols`` instead of a subscription, and an
    ``assignment`` instead of partitions. A static member has an ``instance_id`` (KIP-345).
    """

    id: str
    consumer: str
    subscription: messages.Subscription
    session_timeout_us: int
    rebalance_timeout_us: int
    deadline_us: int = 0
    join: int = 0
    sync: int = 0
    is_new: bool = True
    partitions: list[str] = field(default_factory=list)
    protocols: list[messages.Protocol] = field(default_factory=list)
    assignment: bytes = b""
    instance_id: str = ""

    def metadata_of(self, protocol: str) -> bytes:
        """The member's metadata for a protocol."""
        return next(
            (offered.metadata for offered in self.protocols if offered.name == protocol), b""
        )


class Position(Struct, frozen=True, array_like=True, gc=False):
    """A committed offset, with its commit time, the last record's leader epoch, and metadata."""

    offset: int
    at_us: int
    epoch: int = -1
    note: str = ""


class Group(Struct, array_like=True):
    """A group. ``pending`` are member ids given to consumers that have not joined with them yet.

    ``offsets`` are its committed offsets, ``committed_us`` their commit times, ``epochs`` the
    leader epochs committed with them (2.1+); ``empty_since_us`` is when the last member left.
    ``join_deadline_us`` ends the wait for members; ``delay_left_us`` is the remaining time by which
    the initial rebalance may be delayed, ``newcomer`` whether a member joined since the last delay.
    ``protocol_type`` is empty for emulated consumers; ``assignor`` is the protocol that all members
    support. ``notes`` is the metadata committed with offsets. ``unstable`` are offsets of pending
    transactions, by producer id. ``modern`` is the state of a consumer group (KIP-848) or share
    group (KIP-932), which has no classic ``members``; its state and epoch are told like those of
    others. ``is_unwritten``: the log has no record of it yet. Members that are ``unsynced`` at
    ``sync_deadline_us`` (0: never), as they have not asked for their assignment, are removed.
    """

    name: str
    state: str = EMPTY
    generation: int = 0
    leader: str = ""
    assignor: str = ""
    members: dict[str, Member] = field(default_factory=dict)
    pending: dict[str, int] = field(default_factory=dict)
    offsets: dict[str, int] = field(default_factory=dict)
    committed_us: dict[str, int] = field(default_factory=dict)
    empty_since_us: int = 0
    join_deadline_us: int = 0
    delay_left_us: int = -1
    newcomer: bool = False
    epochs: dict[str, int] = field(default_factory=dict)
    protocol_type: str = ""
    notes: dict[str, str] = field(default_factory=dict)
    unstable: dict[int, dict[str, Position]] = field(default_factory=dict)
    modern: ConsumerGroup | ShareGroup | None = None
    is_unwritten: bool = False
    unsynced: dict[str, None] = field(default_factory=dict)
    sync_deadline_us: int = 0

    @property
    def consumer(self) -> ConsumerGroup | None:
        """The state of a consumer group; None: it is another."""
        return self.modern if isinstance(self.modern, ConsumerGroup) else None

    @property
    def share(self) -> ShareGroup | None:
        """The state of a share group; None: it is another."""
        return self.modern if isinstance(self.modern, ShareGroup) else None

    @property
    def has_members(self) -> bool:
        """Whether it has members of any protocol."""
        return bool(self.members or (self.modern is not None and self.modern.members))

    def static_member(self, instance_id: str) -> Member | None:
        return next(
            (member for member in self.members.values() if member.instance_id == instance_id), None
        )


def consumes(group: Group) -> bool:
    """Whether a group's members are consumers, emulated or external."""
    return group.protocol_type in ("", "consumer")


def supports(member: Member, protocol: str) -> bool:
    """Whether a classic member supports a protocol."""
    return any(offered.name == protocol for offered in member.protocols)


def chosen_protocol(group: Group) -> str:
    """The protocol preferred by most members, among those that all support.

    Each votes for the first candidate in its own list (``GroupMetadata.selectProtocol``).
    """
    members = list(group.members.values())
    votes: dict[str, int] = {}
    for member in members:
        for protocol in member.protocols:
            if all(supports(other, protocol.name) for other in members):
                votes[protocol.name] = votes.get(protocol.name, 0) + 1
                break
    return max(votes, key=lambda name: votes[name], default="")


def keep(group: Group, tp: str, position: Position) -> None:
    """Store a committed offset, replacing any earlier one."""
    group.offsets[tp], group.committed_us[tp] = position.offset, position.at_us
    if position.epoch >= 0:
        group.epochs[tp] = position.epoch
    else:
        group.epochs.pop(tp, None)
    if position.note:
        group.notes[tp] = position.note
    else:
        group.notes.pop(tp, None)


def newest(group: Group, positions: dict[str, Position]) -> dict[str, Position]:
    """A transaction's offsets, but those of partitions that got another one since.

    Source: ``CommitRecordMetadataAndOffset.olderThan``.
    """
    times = group.committed_us
    return {
        tp: position for tp, position in positions.items() if position.at_us >= times.get(tp, -1)
    }


def drop(group: Group, tp: str) -> int | None:
    """Remove a committed offset and return it; None if there is none."""
    offset = group.offsets.pop(tp, None)
    group.committed_us.pop(tp, None)
    group.epochs.pop(tp, None)
    group.notes.pop(tp, None)
    return offset


class Replacement(Struct, frozen=True, array_like=True):
    """A static member that came back: its new member id, and who led the group before.

    ``can_skip``: it can be told not to assign although it leads.
    """

    member_id: str
    leader: str
    can_skip: bool


GroupAnswer = (
    messages.ConsumerGroupHeartbeatResponse
    | messages.ShareGroupHeartbeatResponse
    | messages.JoinGroupResponse
    | messages.SyncGroupResponse
    | messages.LeaveGroupResponse
    | messages.OffsetFetchResponse
    | messages.OffsetDeleteResponse
)
"""A response that waits until what a request has changed, or told of, is replicated."""


class Store(Struct, array_like=True):
    """A group's records being written to the log, and the request to answer once replicated.

    ``request`` 0: none. They are ``offsets`` committed at ``at_us`` or, if ``assignment`` is not
    None, the assignment of ``generation``; then ``replacing`` is the static member that waits for
    its new id, if one does. ``producer_id`` identifies the transaction that they belong to, -1 if
    none; ``adds_partition`` and ``knows_abortable`` are its producer's, whose
    transaction ``is_verified``. Records of a consumer or
    share group have ``before``, what the group was without them; if the group has changed its type
    with them, or ended, it ``reverts`` to what it was, and if they are its ``first`` ones, it was
    not there. When they are stored, a share group ``begins`` with
    the state of partitions, by topic id, in ``state_epoch``. The ``answers`` wait for them;
    ``drops`` are partitions whose offsets they remove, and ``errors`` those whose offsets were not
    committed. They end the group for the request ``deletes``; ``deletions`` are the groups that
    requests delete once they are stored.
    """

    group: str
    request: int = 0
    generation: int = -1
    offsets: dict[str, int] = field(default_factory=dict)
    assignment: dict[str, list[str]] | None = None
    at_us: int = 0
    epochs: dict[str, int] = field(default_factory=dict)
    assignments: dict[str, bytes] = field(default_factory=dict)
    notes: dict[str, str] = field(default_factory=dict)
    producer_id: int = -1
    producer_epoch: int = -1
    replacing: Replacement | None = None
    transactional_id: str = ""
    adds_partition: bool = False
    knows_abortable: bool = False
    is_verified: bool = False
    answers: list[GroupAnswer] = field(default_factory=list)
    before: ConsumerGroup | ShareGroup | None = None
    reverts: Group | None = None
    state_epoch: int = 0
    begins: Partitions = field(default_factory=dict)
    drops: list[str] = field(default_factory=list)
    errors: dict[str, str] = field(default_factory=dict)
    deletes: int = 0
    first: bool = False
    deletions: dict[int, list[str]] = field(default_factory=dict)


class ShareWork(Struct, array_like=True):
    """What a share group waits for: the answers of share coordinators about its partitions.

    ``kind`` is what is done with them, and ``request`` the request to answer then (0: none).
    ``waits`` are the partitions by the numbers of the persister's requests. ``names`` are those of
    topics by id. ``errors`` and ``offsets`` are what is to be answered; ``failed``
    is what the group without a name is told.
    """

    group: str
    kind: str
    request: int = 0
    waits: dict[int, str] = field(default_factory=dict)
    answers: dict[str, messages.ShareGroupStateResponse] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)
    errors: dict[str, tuple[str, str]] = field(default_factory=dict)
    offsets: dict[str, dict[str, messages.ShareOffset]] = field(default_factory=dict)
    failed: str = NONE


class Deletion(Struct, array_like=True):
    """A request to delete groups: the errors so far, and the share groups that are under way."""

    errors: dict[str, str]
    waits: list[str]


TASK: Final = "groups"
"""The task whose deadlines are those of groups, writes and loads."""


def group_key(group: str) -> str:
    """The key of a group's deadline."""
    return f"group {group}"


def store_key(number: int) -> str:
    """The key of the deadline of a write."""
    return f"store {number}"


class CoordinatorState(Struct, array_like=True):
    """A broker's entire state as group coordinator; lost when the process ends.

    ``partitions`` maps the led partitions of __consumer_offsets to when they will be loaded (0:
    already loaded); ``partition_count`` is the topic's partition count (0: not read yet).
    ``stores`` are by the numbers of the broker's own requests. ``next_look_us`` is when old offsets
    are checked next. ``works`` are what share groups wait for, by number, and ``asked`` the works
    by the numbers of the persister's requests; ``deletions`` are requests that wait for them.
    ``verifying`` are those whose transaction is verified, by the broker's own numbers.
    """

    groups: dict[str, Group] = field(default_factory=dict)
    partitions: dict[str, int] = field(default_factory=dict)
    partition_count: int = 0
    stores: dict[int, Store] = field(default_factory=dict)
    next_look_us: int = 0
    last_work: int = 0
    works: dict[int, ShareWork] = field(default_factory=dict)
    asked: dict[int, int] = field(default_factory=dict)
    deletions: dict[int, Deletion] = field(default_factory=dict)
    verifying: dict[int, tuple[int, messages.TxnOffsetCommitRequest]] = field(default_factory=dict)
