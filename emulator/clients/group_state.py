"""What a consumer remembers as a member of a group: plain data."""

from typing import Final

from msgspec import Struct, field

from emulator.protocol import Subscription

OUT: Final = "out"
COUNTING: Final = "counting"
SYNCING: Final = "syncing"
MEMBER: Final = "member"

JOINING: Final = "joining"
POSITIONS: Final = "positions"
READING: Final = "reading"
COMMITTING: Final = "committing"
LEAVING: Final = "leaving"

GONE: Final = frozenset(("UNKNOWN_MEMBER_ID", "ILLEGAL_GENERATION"))
"""Errors that say: you are no member of this generation."""


class Membership(Struct, array_like=True):
    """A consumer and its group. It ``subscribes``, or names its partition itself and never joins.

    ``phase``: not (or no longer) in the present generation (OUT); in it, asking how many partitions
    the topics in ``counting`` have, as the leader must (COUNTING); asking for its own (SYNCING);
    reading them (MEMBER). ``rejoin``: it is to join again when its statement lets it.

    ``request`` is under way to broker ``target`` (0: none; ``paused``: the next one waits);
    ``left`` are the brokers still to be asked who the coordinator is;
    ``token`` tells its timer from older ones. ``heartbeat`` is a heartbeat without an answer (0:
    none). ``error`` is what the last answer said.
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

    @property
    def leads(self) -> bool:
        """Whether it is the member that assigns."""
        return bool(self.member_id) and self.leader == self.member_id

    def forget(self) -> None:
        """The coordinator does not know it (any longer): it has to join as somebody new."""
        self.phase, self.rejoin = OUT, False
        self.member_id, self.generation, self.leader = "", -1, ""
        self.partitions = []

    def counted(self, topic: str, partitions: int) -> None:
        """As the leader: a topic that has grown since the assignment has to be shared anew."""
        if self.leads and partitions != self.counts.get(topic, partitions):
            self.rejoin = True

    def refused(self, error: str) -> None:
        """A member's request was refused: it has to join again, perhaps as somebody new."""
        self.error = error
        if error in GONE:
            self.forget()
        else:
            self.rejoin = True
