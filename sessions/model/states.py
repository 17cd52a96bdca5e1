"""The parts of the read model: the state of each object at one moment, from events alone.

All are plain data, so that a keyframe is one encoding of :class:`ViewState`. ``changed`` in each is
the ``seq`` of the last event that touched the object: readers that cache what they drew compare it.
Times are virtual microseconds, offsets Kafka's.
"""

from collections.abc import MutableSequence
from operator import attrgetter
from typing import Final

from msgspec import Struct, field

from emulator.simulation.packed_list import PackedList, text_bytes

US_PER_SECOND: Final = 1_000_000
NO_SEED: Final = -1
"""The seed of a cluster that runs outside: nothing in it is drawn here."""
UNKNOWN: Final = -1
"""An offset, epoch or version of a cluster that runs outside, which its clients are not told."""


class Run(Struct, frozen=True, array_like=True, gc=False):
    """``count`` consecutive records of one epoch in a log.

    Offsets ``base_offset ..``, record ids ``first_record ..``.
    """

    base_offset: int
    count: int
    leader_epoch: int
    first_record: int


class LongLog(PackedList[Run], kind=Run):
    """A replica's log once it has very many runs."""


class ReplicaState(Struct, array_like=True, gc=False):
    """One replica as its own broker sees it; if the broker is down, as its disk has it.

    ``remote_leo`` is each follower's LEO as tracked by a replica that considers itself leader (-1:
    unknown). ``leader`` (-1: none) is the broker that it follows, or itself; ``isr`` and
    ``zk_version`` are what it uses as leader, or last used. ``stable_offset`` is the last stable
    offset, -1 if that is the HW. ``checkpointed_hw`` and ``recovery_point`` are the partition's
    entries in its broker's checkpoint files (-1: none).
    """

    broker: int
    role: str = "offline"
    log_end_offset: int = 0
    high_watermark: int = 0
    log_start: int = 0
    epochs: list[tuple[int, int]] | None = None
    log: MutableSequence[Run] = field(default_factory=list)
    checkpointed_hw: int = -1
    leader_epoch: int = -1
    paused: bool = False
    remote_leo: dict[int, int] = field(default_factory=dict)
    changed: int = 0
    leader: int = -1
    isr: list[int] | None = None
    zk_version: int | None = None
    stable_offset: int = -1
    recovery_point: int = -1

    @property
    def last_stable_offset(self) -> int:
        """The offset below which every transaction has ended."""
        return self.high_watermark if self.stable_offset < 0 else self.stable_offset


class Belief(Struct, frozen=True, array_like=True, gc=False):
    """A view of a partition's state held by a party other than ZooKeeper.

    ``isr`` is None if the ISR in that version of the znode is not known.
    """

    leader: int
    leader_epoch: int
    isr: list[int] | None
    zk_version: int


class PartitionState(Struct, array_like=True, gc=False):
    """One partition.

    The ``state`` znode's content, the leader's view of its followers, and all replicas. ``state``
    is ``online``, ``offline`` (leader -1) or ``nonexistent`` (no state znode: leader, leader_epoch,
    controller_epoch and zk_version are None). ``leader_isr`` is the ISR that the leader itself
    uses. ``unclean``: the current leader was elected outside the ISR. ``replicas`` holds the
    assigned brokers, the preferred leader first; ``replica_states`` every broker that has the
    partition on disk. ``hw_moved_us``: since when the leader's HW has not advanced although there
    are records above it. ``led``: a broker has acted as leader since the topic was created.
    ``elr`` and ``last_known_elr`` are those that a running cluster tells its clients; where a
    metadata log is known, it has them (None).
    """

    topic: str
    partition: int
    replicas: list[int]
    state: str = "nonexistent"
    leader: int | None = None
    leader_epoch: int | None = None
    controller_epoch: int | None = None
    zk_version: int | None = None
    isr: list[int] = field(default_factory=list)
    leader_isr: list[int] = field(default_factory=list)
    adding: list[int] = field(default_factory=list)
    removing: list[int] = field(default_factory=list)
    replica_states: dict[int, ReplicaState] = field(default_factory=dict)
    min_isr: int = 1
    unclean: bool = False
    lost: list[tuple[int, int]] = field(default_factory=list)
    duplicated: list[tuple[int, int]] = field(default_factory=list)
    diverged: list[tuple[int, int]] = field(default_factory=list)
    consumed_lost: list[tuple[int, int]] = field(default_factory=list)
    hw_moved_us: int = 0
    created_us: int = 0
    changed: int = 0
    led: bool = False
    elr: list[int] | None = None
    last_known_elr: list[int] | None = None
    lost_offsets: list[tuple[int, int]] = field(default_factory=list)

    @property
    def lost_count(self) -> int:
        """How many acknowledged records, and committed offsets of unknown ones, are lost."""
        offsets = sum(end - begin for begin, end in self.lost_offsets) if self.lost_offsets else 0
        return len(self.lost) + offsets

    @property
    def name(self) -> str:
        """The topic-partition in the usual notation, ``orders-0``."""
        return f"{self.topic}-{self.partition}"

    @property
    def osr(self) -> list[int]:
        """The assigned replicas that are not in the ISR, in assignment order."""
        return [b for b in self.replicas if b not in self.isr]

    @property
    def leader_replica(self) -> ReplicaState | None:
        """The state of the replica that the znode names as leader, if its broker holds one."""
        return None if self.leader is None else self.replica_states.get(self.leader)

    @property
    def has_uncommitted(self) -> bool:
        """Whether the leader has records above its high watermark."""
        leader = self.leader_replica
        return leader is not None and leader.log_end_offset > leader.high_watermark

    @property
    def remote_leo(self) -> dict[int, int]:
        """Each follower's LEO as tracked by the current leader (-1: unknown)."""
        leader = self.leader_replica
        return {} if leader is None else leader.remote_leo


class BrokerState(Struct, array_like=True):
    """One broker process: ``state`` as in :class:`emulator.events.BrokerStateChanged`.

    ``session`` 0 is none; ``broker_epoch`` 0 unregistered. ``live_brokers`` are those in its
    metadata responses, None before the first metadata from the controller. ``silent_us`` is since
    when its process has not served requests (0: it serves, or that is not known).
    """

    id: int
    rack: str | None = None
    state: str = "stopped"
    session: int = 0
    zk_connection: str = "disconnected"
    registered: bool = False
    broker_epoch: int = 0
    fetch_sent_us: dict[int, int] = field(default_factory=dict)
    changed: int = 0
    live_brokers: list[int] | None = None
    silent_us: int = 0


class ZnodeState(Struct, array_like=True, gc=False):
    """One znode with its full Stat (kazoo's field names); times in microseconds of virtual time.

    ``children`` holds the names in order of creation (a dict, so that one of 100,000 goes as fast
    as it came).
    """

    path: str
    data: str | None = None
    czxid: int = 0
    mzxid: int = 0
    pzxid: int = 0
    ctime_us: int = 0
    mtime_us: int = 0
    version: int = 0
    cversion: int = 0
    aversion: int = 0
    ephemeral_owner: int = 0
    children: dict[str, None] = field(default_factory=dict)
    changed: int = 0


class ProducerState(Struct, array_like=True):
    """One producer's counts of records, and a final error name for each failed record."""

    name: str
    acked: int = 0
    failed: int = 0
    retries: int = 0
    pending: int = 0
    errors: list[str] = field(default_factory=list)
    changed: int = 0


class ConsumerState(Struct, array_like=True):
    """One consumer.

    The records returned to it as runs of (first record id, count), its position, and how its last
    read ended. ``position`` is that of the partition read last, ``positions`` has all of them.
    """

    name: str
    runs: list[tuple[int, int]] = field(default_factory=list)
    position: int = 0
    error: str = "NONE"
    changed: int = 0
    positions: dict[str, int] = field(default_factory=dict)


class ConnectionState(Struct, array_like=True):
    """A connection of an external client to one broker.

    ``client`` is the client id of its last request, ``api`` and ``api_version`` its type and
    version, ``asked_us`` its time. ``waiting``: the broker has not responded yet. ``errors`` counts
    error responses by name; ``last_error`` is the last one. ``group`` is the one that it is a
    member of. ``fetched``: it has sent fetch requests. ``second`` is the second of virtual time of
    the last request, ``in_second`` the number of requests in it, and ``in_second_before`` the
    number in the one before.
    """

    number: int
    broker: int
    address: str
    opened_us: int
    client: str = ""
    software: str = ""
    software_version: str = ""
    group: str = ""
    requests: int = 0
    api: str = ""
    api_version: int = 0
    asked_us: int = 0
    waiting: bool = False
    errors: dict[str, int] = field(default_factory=dict)
    last_error: str = ""
    last_error_us: int = 0
    fetched: bool = False
    second: int = 0
    in_second: int = 0
    in_second_before: int = 0
    changed: int = 0

    def requests_per_second(self, now_us: int) -> int:
        """The number of requests in the last whole second."""
        ago = now_us // US_PER_SECOND - self.second
        return (self.in_second_before, self.in_second)[ago] if ago in (0, 1) else 0


class FaultState(Struct, array_like=True):
    """A fault for clients' requests: its effect comes ``times`` times, ``injected`` so far."""

    name: str
    api: str
    effect: str
    times: int
    injected: int = 0
    changed: int = 0


class MemberAssignment(Struct, frozen=True, array_like=True, gc=False):
    """The assignment of a member of a group of the new protocol in its epoch.

    It has to revoke the partitions in ``revoking``, and waits for those of the members ``awaited``.
    """

    consumer: str
    epoch: int
    partitions: list[str]
    revoking: list[str]
    awaited: list[str]


class ShareRun(Struct, frozen=True, array_like=True, gc=False):
    """Records of a share-partition, both offsets inclusive, with one state since event ``seq``.

    ``state`` is ``acquired`` (by ``consumer``, the member with this id, until ``locked_until_us``),
    ``available``, ``acknowledged`` or ``archived``.
    """

    first: int
    last: int
    state: str
    deliveries: int
    consumer: str = ""
    member: str = ""
    locked_until_us: int = 0
    seq: int = 0

    @property
    def count(self) -> int:
        return self.last - self.first + 1


class SharePartitionState(Struct, frozen=True, array_like=True, gc=False):
    """A partition as its leader ``broker`` shares it out in a group (-1: nobody does now).

    All before ``start`` is done (the share-partition start offset, SPSO). ``runs`` are the records
    from there on that have been delivered, in the order of offsets. ``archived`` counts those that
    were given up so far.
    """

    broker: int
    start: int
    runs: list[ShareRun]
    archived: int = 0

    def count(self, state: str) -> int:
        """The number of records in a state."""
        return sum(run.count for run in self.runs if run.state == state)

    @property
    def done(self) -> int:
        """The number of records from ``start`` on that are delivered to nobody any more."""
        return self.count("acknowledged") + self.count("archived")


SHARE_ASSIGNOR: Final = "simple"
"""The assignor of share groups."""


class GroupState(Struct, array_like=True):
    """A group of consumers, as seen by its coordinator ``broker``.

    ``state`` is as in :class:`emulator.events.GroupStateChanged`. ``members`` are clients by their
    member ids, ``offsets`` the committed offsets by partition, ``assignments`` what members of the
    new protocol own, by their ids. ``targets`` are the partitions that they are to have, as
    ``assignor`` computed them for ``assignment_epoch``. ``shares`` are the partitions that a share
    group shares out.
    """

    name: str
    broker: int = -1
    state: str = "Empty"
    generation: int = 0
    members: dict[str, str] = field(default_factory=dict)
    offsets: dict[str, int] = field(default_factory=dict)
    changed: int = 0
    assignments: dict[str, MemberAssignment] = field(default_factory=dict)
    assignor: str = ""
    assignment_epoch: int = 0
    targets: dict[str, list[str]] = field(default_factory=dict)
    shares: dict[str, SharePartitionState] = field(default_factory=dict)

    @property
    def protocol(self) -> str:
        """The group's protocol: ``classic``, ``consumer`` (KIP-848) or ``share`` (KIP-932)."""
        if self.shares or self.assignor == SHARE_ASSIGNOR:
            return "share"
        return "consumer" if self.assignor else "classic"

    def kept_from(self, member: str) -> dict[str, list[str]]:
        """The partitions of a member's target that others still own, by their member ids."""
        assignment = self.assignments.get(member)
        owned_by: dict[str, list[str]] = {}
        for name in () if assignment is None else assignment.awaited:
            owner, target = self.assignments.get(name), self.targets.get(member)
            if owner is not None:
                owned = {*owner.partitions, *owner.revoking}
                owned_by[name] = sorted(owned if target is None else owned & {*target})
        return owned_by


class Batch(Struct, frozen=True, array_like=True, gc=False):
    """The batch of one produce request.

    Records ``first_record ..`` of ``producer``, sent at ``sent_us``.
    """

    first_record: int
    producer: str
    tp: str
    keys: list[str | None]
    values: list[str]
    acks: int
    sent_us: int


class Batches(
    PackedList[Batch],
    kind=Batch,
    by=attrgetter("first_record"),
    weight=text_bytes,
):
    """All batches that have been sent, in the order of their record ids."""


class LinkState(Struct, array_like=True):
    """A link with a fault: cut, slow, lossy or holding messages."""

    source: int
    destination: int
    cut: bool
    delay_us: int
    drop_percent: float
    holding: list[str]
    waiting: int = 0


class Expectations(Struct, array_like=True):
    """How many assertions held, and those that did not as (line, text, actual as JSON)."""

    passed: int = 0
    failed: list[tuple[int, str, str]] = field(default_factory=list)


class Bookmark(Struct, frozen=True, array_like=True, gc=False):
    """A named place in the recording."""

    name: str
    note: str
    seq: int
    time_us: int


class ControllerState(Struct, array_like=True):
    """Which broker is the controller; None if there is no /controller.

    ``epoch`` and ``epoch_zk_version`` are what /controller_epoch holds and its version; None if
    there is no such znode.
    """

    broker: int | None = None
    epoch: int | None = None
    epoch_zk_version: int | None = None
    changed: int = 0


class CommittedRecord(Struct, frozen=True, array_like=True, gc=False):
    """A record of the metadata log, as :class:`emulator.events.MetadataRecordCommitted` states it.

    ``data`` is JSON.
    """

    offset: int
    epoch: int
    batch: int
    kind: str
    version: int
    data: str


class QuorumState(Struct, array_like=True):
    """KRaft: the controllers and the metadata log.

    ``controllers`` are their processes' states. ``leader`` is the last elected leader, in ``epoch``
    (None: none yet, or it has resigned or failed). ``fetched`` is each quorum member's log end
    offset as known by the leader, ``applied`` the offset that each host has applied.
    ``folders`` are the renamed folders on brokers' disks. ``booted`` is the end of the log when the
    cluster was up; -1: it is not yet. ``roles`` are the running controllers' own, as
    :class:`emulator.events.QuorumRoleChanged` names them. ``snapshots`` are the
    end offset and epoch of each host's snapshots of the log, the oldest first, ``log_starts`` the
    start of its log if it was truncated. ``silent_us`` is since when each controller's process that
    does not run has not. ``led`` is the last epoch that each controller led, by the log.
    """

    controllers: dict[int, str] = field(default_factory=dict)
    leader: int | None = None
    epoch: int | None = None
    log: MutableSequence[CommittedRecord] = field(default_factory=list)
    fetched: dict[int, int] = field(default_factory=dict)
    applied: dict[int, int] = field(default_factory=dict)
    folders: dict[int, list[str]] = field(default_factory=dict)
    booted: int = -1
    roles: dict[int, str] = field(default_factory=dict)
    snapshots: dict[int, list[tuple[int, int]]] = field(default_factory=dict)
    log_starts: dict[int, int] = field(default_factory=dict)
    silent_us: dict[int, int] = field(default_factory=dict)
    led: dict[int, int] = field(default_factory=dict)


class ViewState(Struct, array_like=True):
    """The complete state of the read model at one moment.

    Keys are topic-partitions, broker ids, paths of znodes and names of clients. ``held`` are the
    messages held on a link, by the ``seq`` of their MessageSent, with source and destination;
    ``sent`` is the last MessageSent as (seq, source, destination). ``beliefs`` holds, by partition,
    the parties whose view differs from the znode (None: they have none): the metadata of a
    broker, and the controller's cache as broker -1. ``updates`` is the content of
    UpdateMetadataRequests in flight. ``quorum`` is None if the cluster uses ZooKeeper. ``batches``
    may lack older ones in a recording: use
    :meth:`sessions.model.cluster_view.ClusterView.batch`. ``connections`` are the open connections
    of external clients, by number, ``faults`` those for their requests, by name.
    """

    version: str = ""
    seed: int = 0
    stepwise: bool = False
    config: dict[str, str] = field(default_factory=dict)
    seq: int = 0
    time_us: int = 0
    controller: ControllerState = field(default_factory=ControllerState)
    brokers: dict[int, BrokerState] = field(default_factory=dict)
    partitions: dict[str, PartitionState] = field(default_factory=dict)
    topic_configs: dict[str, dict[str, str]] = field(default_factory=dict)
    broker_configs: dict[int, dict[str, str]] = field(default_factory=dict)
    znodes: dict[str, ZnodeState] = field(default_factory=dict)
    sessions: dict[int, int] = field(default_factory=dict)
    producers: dict[str, ProducerState] = field(default_factory=dict)
    consumers: dict[str, ConsumerState] = field(default_factory=dict)
    batches: MutableSequence[Batch] = field(default_factory=list)
    links: list[LinkState] = field(default_factory=list)
    bookmarks: list[Bookmark] = field(default_factory=list)
    expectations: Expectations = field(default_factory=Expectations)
    acked: int = 0
    invariants: list[tuple[int, str, str, str, bool]] = field(default_factory=list)
    held: dict[int, tuple[int, int]] = field(default_factory=dict)
    sent: tuple[int, int, int] = (0, 0, 0)
    beliefs: dict[str, dict[int, Belief | None]] = field(default_factory=dict)
    updates: dict[int, list[list[str | int]]] = field(default_factory=dict)
    quorum: QuorumState | None = None
    connections: dict[int, ConnectionState] = field(default_factory=dict)
    groups: dict[str, GroupState] = field(default_factory=dict)
    faults: dict[str, FaultState] = field(default_factory=dict)

    @property
    def is_observed(self) -> bool:
        """Whether this is a cluster that runs outside, of which only clients' answers are known."""
        return self.seed == NO_SEED
