"""One broker's replica of one partition: what its disk holds and what its process believes."""

from msgspec import Struct, field

from emulator.replication.remote_replica import Remote
from emulator.storage.leader_epoch_cache import LeaderEpochCache
from emulator.storage.log import Log
from emulator.storage.producer_state import ProducerStates

LEADER = "leader"
FOLLOWER = "follower"
OFFLINE = "offline"


class PendingIsr(Struct, array_like=True, gc=False):
    """An ISR change that the controller has not answered yet (2.7+); ``request`` 0.

    Not sent yet.
    """

    isr: list[int]
    change: str
    request: int = 0


class DelayedProduce(Struct, array_like=True, gc=False):
    """An acks=all request that waits for the HW to reach ``required_offset``."""

    request: int
    client: int
    required_offset: int
    base_offset: int
    deadline_us: int


class Replica(Struct, array_like=True, gc=False):
    """A replica. ``log``, ``epochs``, ``checkpointed_hw`` are on disk.

    Everything else ends with the process. ``isr`` is the committed ISR that a leader acts on (empty
    on followers). ``epoch_start`` is the leader's LEO when its epoch began. ``epochs`` is None in
    releases without leader epochs.
    """

    tp: str
    log: Log = field(default_factory=Log)
    epochs: LeaderEpochCache | None = None
    producers: ProducerStates = field(default_factory=ProducerStates)
    checkpointed_hw: int = 0
    high_watermark: int = 0
    role: str = OFFLINE
    leader: int = -1
    leader_epoch: int = -1
    controller_epoch: int = 0
    zk_version: int = -1
    assigned: list[int] = field(default_factory=list)
    isr: list[int] = field(default_factory=list)
    epoch_start: int | None = None
    remotes: dict[int, Remote] = field(default_factory=dict)
    pending: PendingIsr | None = None
    waiting: list[DelayedProduce] = field(default_factory=list)
    paused: bool = False
    known: bool = False

    @property
    def maximal_isr(self) -> list[int]:
        """The ISR together with a member whose admission is pending.

        A pending removal does not count (KIP-497).
        """
        if self.pending is not None and self.pending.change == "expand":
            return self.pending.isr
        return self.isr

    def forget(self) -> None:
        """The process ended: only the disk's part stays."""
        self.role, self.leader, self.leader_epoch = OFFLINE, -1, -1
        self.zk_version, self.controller_epoch = -1, 0
        self.assigned, self.isr, self.remotes = [], [], {}
        self.epoch_start, self.pending, self.known = None, None, False
        self.waiting = []
