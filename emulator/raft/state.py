"""What a member of the quorum remembers: a voter (a controller) or an observer (a broker)."""

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
    """What a leader knows of another member: how far its log goes (-1: it has not fetched yet).

    ``caught_up_us`` is when it last had all that the leader had, ``leader_end`` what that was when
    it fetched last.
    """

    end_offset: int = -1
    fetched_us: int = 0
    caught_up_us: int = 0
    leader_end: int = 0


class Parked(Struct, array_like=True):
    """A fetch that waits at the leader for something to tell, until ``due_us``."""

    request: int
    offset: int
    high_watermark: int
    due_us: int


class Asked(Struct, array_like=True):
    """A request to another member that has not been answered; it is given up at ``due_us``."""

    request: int
    due_us: int


class Resting(Struct, array_like=True):
    """A member that could not be reached ``failures`` times: it is left alone until then."""

    failures: int
    until_us: int


class SinceSnapshot(Struct, array_like=True):
    """What has been read since the last snapshot: up to ``offset`` (0: it is not counted yet).

    ``since_us`` is when counting began, ``clean_us`` when to look again for what need not be kept.
    """

    offset: int = 0
    size_bytes: int = 0
    since_us: int = 0
    clean_us: int = 0


class SnapshotFetch(Struct, array_like=True):
    """A snapshot that is being fetched: its end and epoch, and how many bytes of it have come."""

    end_offset: int
    epoch: int
    position: int = 0


class QuorumState(Struct, array_like=True):
    """All that a member remembers.

    On disk are the log and the quorum-state file: ``epoch``, ``voted_for`` and ``leader`` (-1:
    nobody). The rest ends with the process. ``due_us`` is when the role's time is up: that of an
    election, of fetching, or (``backs_off``) of the pause before the next candidacy; a leader
    resigns then unless a majority fetches. ``votes`` are the answers to a candidate.
    ``epoch_start`` is where a leader's epoch begins in the log, ``progress`` what it knows of
    others, ``greeted`` which voters know it; ``greets_us`` is when it next makes itself known.
    ``fetching`` is the snapshot that a member fetches in place of records.
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
    asked: dict[int, Asked] = field(default_factory=dict)
    resting: dict[int, Resting] = field(default_factory=dict)
    running: bool = False
    fetching: SnapshotFetch | None = None
    since_snapshot: SinceSnapshot = field(default_factory=SinceSnapshot)

    def end_process(self) -> None:
        """Forget what is not on disk."""
        fresh = QuorumState(self.log, self.epoch, self.voted_for, self.leader)
        for name in self.__struct_fields__:
            setattr(self, name, getattr(fresh, name))
