"""What a coordinator remembers of its groups, and the table of a group's states.

A group is ``Empty`` while nobody is in it (its offsets stay). The first member takes it to
``PreparingRebalance``, where it waits until all members have joined or their time is over. Then it
is ``CompletingRebalance`` until the leader among them has said who reads what, and that is stored;
then ``Stable``, until somebody comes, goes or changes. A broker that stops leading the group's
partition takes it for ``Dead``: there is no way back, the next coordinator loads it anew.
"""

from typing import Final

from msgspec import Struct, field

from emulator.protocol import Protocol, Subscription
from emulator.protocol.errors import NONE

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
"""The states that may follow each (``GroupMetadata.validPreviousStates`` 0.9 to 3.9)."""

REFUSED: Final = "UNKNOWN_MEMBER_ID"
REBALANCING: Final = "REBALANCE_IN_PROGRESS"

HEARTBEAT: Final = {EMPTY: REFUSED, PREPARING: REBALANCING, COMPLETING: NONE, STABLE: NONE}
"""How a member's heartbeat ends in each state."""
SYNC: Final = {EMPTY: REFUSED, PREPARING: REBALANCING, COMPLETING: NONE, STABLE: NONE}
"""How a member's SyncGroup ends; while completing it first waits for the leader's."""
COMMIT: Final = {EMPTY: REFUSED, PREPARING: NONE, COMPLETING: REBALANCING, STABLE: NONE}
"""How a member's OffsetCommit ends: while preparing a member can still save its progress."""


class Member(Struct, array_like=True):
    """A member: ``deadline_us`` is when its session runs out.

    ``join`` and ``sync`` are the requests of it that wait (0: none). ``is_new`` until it has been
    through a rebalance. A client outside has ``protocols`` in place of a subscription, and an
    ``assignment`` in place of partitions.
    """

    id: str
    consumer: str
    subscription: Subscription
    session_timeout_us: int
    rebalance_timeout_us: int
    deadline_us: int = 0
    join: int = 0
    sync: int = 0
    is_new: bool = True
    partitions: list[str] = field(default_factory=list)
    protocols: list[Protocol] = field(default_factory=list)
    assignment: bytes = b""

    def metadata_of(self, protocol: str) -> bytes:
        """What the member says of itself by a protocol."""
        return next((each.metadata for each in self.protocols if each.name == protocol), b"")


class Position(Struct, frozen=True, array_like=True, gc=False):
    """A position as it was committed: when, after a record of which epoch, and with what note."""

    offset: int
    at_us: int
    epoch: int = -1
    note: str = ""


class Group(Struct, array_like=True):
    """A group. ``pending`` are ids given to consumers that have not joined with them yet.

    ``offsets`` are its committed positions, ``committed_us`` when each was committed, ``epochs``
    what was committed as the epoch of the last record before it (2.1+);
    ``empty_since_us`` is when the last member went. ``join_deadline_us`` ends the wait for members;
    ``delay_left_us`` is how much longer a group that was empty may be held open, ``newcomer``
    whether somebody came since it last was. ``protocol_type`` is empty for consumers of this
    program; ``assignor`` is the protocol that all members support. ``notes`` is what was committed
    along with positions. ``unstable`` are positions of transactions that have not ended, by their
    producers' ids.
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


def keep(group: Group, tp: str, position: Position) -> None:
    """A position is committed, in place of any earlier one."""
    group.offsets[tp], group.committed_us[tp] = position.offset, position.at_us
    if position.epoch >= 0:
        group.epochs[tp] = position.epoch
    else:
        group.epochs.pop(tp, None)
    if position.note:
        group.notes[tp] = position.note
    else:
        group.notes.pop(tp, None)


class Store(Struct, array_like=True):
    """Records of a group on their way into the log, and who is told when they are replicated.

    ``request`` 0: nobody. They are ``offsets`` committed at ``at_us`` or, where ``assignment`` is
    not None, what each member of ``generation`` reads. ``producer_id`` is that of the transaction
    that they belong to, -1 if they belong to none.
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


class CoordinatorState(Struct, array_like=True):
    """All that a broker remembers as coordinator; it ends with the process.

    ``partitions`` of __consumer_offsets that it leads map to when they will be loaded (0: they
    are); ``partition_count`` is how many there are in all (0: not asked yet). ``stores`` are by the
    numbers of the broker's own requests. ``next_look_us`` is when to look for old positions next.
    """

    groups: dict[str, Group] = field(default_factory=dict)
    partitions: dict[str, int] = field(default_factory=dict)
    partition_count: int = 0
    stores: dict[int, Store] = field(default_factory=dict)
    next_look_us: int = 0
