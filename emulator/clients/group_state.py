"""The state of a consumer as a group member, as plain data."""

from typing import Final

from msgspec import Struct, field

from emulator.protocol import Subscription

OUT: Final = "out"
COUNTING: Final = "counting"
SYNCING: Final = "syncing"
MEMBER: Final = "member"
AWAITING: Final = "awaiting"

CONSUMER: Final = "consumer"
"""The protocol with which the coordinator assigns partitions (KIP-848)."""

SHARE: Final = "share"
"""The protocol of share groups, whose members share partitions (KIP-932)."""

JOINING: Final = "joining"
POSITIONS: Final = "positions"
READING: Final = "reading"
COMMITTING: Final = "committing"
LEAVING: Final = "leaving"

GONE: Final = frozenset(("UNKNOWN_MEMBER_ID", "ILLEGAL_GENERATION"))
"""Errors that end the membership in a generation."""


class Membership(Struct, array_like=True):
    """A consumer's group membership. It ``subscribes``, or is assigned manually and never joins.

    ``phase``: not in the current generation (OUT); in it, as the leader fetching the partition
    counts of the topics in ``counting`` (COUNTING); requesting its assignment (SYNCING); stable
    (MEMBER). ``rejoin``: it has to rejoin as soon as its statement permits.

    ``request`` is in flight to broker ``target`` (0: none; ``paused``: the next one waits for a
    backoff); ``left`` are the brokers still to be asked for the coordinator; ``token``
    distinguishes its timer from older ones. ``heartbeat`` is the heartbeat in flight (0: none).
    ``error`` is the error of the last response.

    With the protocol ``consumer``, ``generation`` is the member's epoch and ``ids`` are the ids of
    its topics by name. It is AWAITING until it has partitions, but not for longer than ``waits``
    heartbeats. ``pending`` is an assignment that has to wait until what it has read is committed.

    With the protocol ``share``, ``leaders`` are the partitions of each leader, ``turn`` the leaders
    to fetch from next, ``sessions`` the epochs of its share sessions by leader, ``joined`` their
    partitions, and ``acquired`` what it has to acknowledge. ``is_loading``: the leader that was
    asked last may still read the group's state.
    """

    group: str
    topic: str
    assignor: str
    subscribes: bool
    phase: str = OUT
    rejoin: bool = False
    member_id: str = ""
    generation: int = -1
    leader: str = ""
    partitions: list[str] = field(default_factory=list)
    coordinator: int = -1
    left: list[int] = field(default_factory=list)
    target: int = -1
    request: int = 0
    paused: bool = False
    token: int = 0
    heartbeat: int = 0
    heartbeat_token: int = 0
    heard_us: int = 0
    members: dict[str, Subscription] = field(default_factory=dict)
    counting: list[str] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)
    error: str = "NONE"
    protocol: str = "classic"
    ids: dict[str, str] = field(default_factory=dict)
    interval_us: int = 0
    waits: int = 0
    pending: list[str] | None = None
    leaders: dict[int, list[str]] = field(default_factory=dict)
    turn: list[int] = field(default_factory=list)
    sessions: dict[int, int] = field(default_factory=dict)
    joined: dict[int, list[str]] = field(default_factory=dict)
    acquired: dict[str, list[tuple[int, int]]] = field(default_factory=dict)
    is_loading: bool = False

    @property
    def leads(self) -> bool:
        """Whether it is the group leader, which computes the assignment."""
        return bool(self.member_id) and self.leader == self.member_id

    @property
    def has_to_stop(self) -> bool:
        """Whether a read has to end: offsets are committed before partitions are given up."""
        return self.rejoin or self.phase != MEMBER or self.pending is not None

    def forget(self) -> None:
        """Drop the member id, which is unknown to the coordinator: rejoin as a new member."""
        self.phase, self.rejoin = OUT, False
        self.member_id, self.generation, self.leader = "", -1, ""
        self.partitions = []

    def counted(self, topic: str, partitions: int) -> None:
        """As the leader, rejoin if a topic's partition count has changed since the assignment."""
        if self.leads and partitions != self.counts.get(topic, partitions):
            self.rejoin = True

    def refused(self, error: str) -> None:
        """Handle a rejected request: rejoin, possibly as a new member."""
        self.error = error
        if error in GONE:
            self.forget()
        else:
            self.rejoin = True
