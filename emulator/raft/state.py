"""The state of a quorum member: a voter (a controller) or an observer (a broker)."""

from typing import Final

from msgspec import Struct, field

from emulator.raft.log import MetadataLog

NOBODY: Final = -1
UNATTACHED: Final = "unattached"
FOLLOWER: Final = "follower"
PROSPECTIVE: Final = "prospective"
CANDIDATE: Final = "candidate"
LEADER: Final = "leader"
RESIGNED: Final = "resigned"


class Progress(Struct, array_like=True):
    """A leader's view of another member's progress: its log end offset (-1: not fetched yet).

    ``caught_up_us`` is when the member last had the leader's whole log, ``leader_end`` the leader's
    log end offset at its last fetch.
    """

    end_offset: int = -1
    fetched_us: int = 0
    caught_up_us: int = 0
    leader_end: int = 0


class Parked(Struct, array_like=True):
    """A fetch that the leader holds until there is news, or until ``due_us``."""

    request: int
    offset: int
    high_watermark: int
    due_us: int


class InFlight(Struct, array_like=True):
    """A request in flight to another member; it times out at ``due_us``."""

    request: int
    due_us: int


class Resting(Struct, array_like=True):
    """A member that was unreachable ``failures`` times: no requests are sent to it until then."""

    failures: int
    until_us: int


class SinceSnapshot(Struct, array_like=True):
    """The records since the last snapshot: up to ``offset`` (0: not counted yet).

    ``since_us`` is when counting began, ``clean_us`` when the next cleanup is due.
    """

    offset: int = 0
    size_bytes: int = 0
    since_us: int = 0
    clean_us: int = 0


class SnapshotFetch(Struct, array_like=True):
    """A snapshot being fetched: its end offset and epoch, and the number of bytes received."""

    end_offset: int
    epoch: int
    position: int = 0


class QuorumState(Struct, array_like=True):
    """The whole state of a member.

    The log and the quorum-state file (``epoch``, ``voted_for`` and ``leader``, -1: none) are on
    disk. The rest is lost when the process ends. ``due_us`` is the end of the role's timeout: the
    election timeout, the fetch timeout, or (``backs_off``) the backoff before the next election; a
    leader resigns then unless a majority fetches. ``votes`` are the responses to a candidate.
    ``epoch_start`` is the start offset of a leader's epoch, ``progress`` its view of other members,
    and ``greeted`` the voters that have acknowledged it; at ``greets_us`` it sends BeginQuorumEpoch
    again. ``fetching`` is the snapshot that a member fetches in place of records. ``is_late``: a
    follower's fetch timeout has expired, which it notices at ``due_us``.
    """

    log: MetadataLog = field(default_factory=MetadataLog)
    epoch: int = 0
    voted_for: int = NOBODY
    leader: int = NOBODY
    role: str = UNATTACHED
    high_watermark: int = 0
    due_us: int = 0
    backs_off: bool = False
    elections: int = 0
    votes: dict[int, bool] = field(default_factory=dict)
    epoch_start: int = -1
    progress: dict[int, Progress] = field(default_factory=dict)
    greeted: dict[int, None] = field(default_factory=dict)
    greets_us: int = 0
    fetched_in_epoch: bool = False
    parked: dict[int, Parked] = field(default_factory=dict)
    asked: dict[int, InFlight] = field(default_factory=dict)
    resting: dict[int, Resting] = field(default_factory=dict)
    running: bool = False
    fetching: SnapshotFetch | None = None
    since_snapshot: SinceSnapshot = field(default_factory=SinceSnapshot)
    is_late: bool = False

    def end_process(self) -> None:
        """Drop the state that is not on disk."""
        fresh = QuorumState(self.log, self.epoch, self.voted_for, self.leader)
        for name in self.__struct_fields__:
            setattr(self, name, getattr(fresh, name))
