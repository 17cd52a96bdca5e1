"""The protocol's invariants, checked on every event.

A violation is an event of its own. Some releases are known to violate some invariants (which is why
later releases exist); such a violation is marked as known. The names follow
hachikuji/kafka-specification where it defines one.
"""

from collections.abc import Callable, Collection, Mapping
from sys import intern

from msgspec import Struct, field

from emulator import events
from emulator.releases.profiles import Profile
from emulator.replication.partition import Partition
from emulator.simulation.kernel import Kernel

NOBODY = -1
METADATA_LOG = "__cluster_metadata-0"
QUORUM_EPOCHS = 16
"""The number of latest quorum epochs whose leaders are remembered."""
POWER_LOSS = "power loss"
"""The reason for truncating a log whose tail was not flushed."""

INVARIANTS = {
    "HighWatermarkInLog": "no replica's HW is above its LEO",
    "HighWatermarkMonotonic": "a leader's HW never goes back within its epoch",
    "LeaderInIsr": "a partition's leader is in its ISR",
    "IsrInAssigned": "an ISR holds assigned replicas only",
    "EpochMonotonic": "a partition's leader epoch never goes back",
    "OneLeaderPerEpoch": "no two brokers lead a partition in one epoch",
    "TrueLeader": "a leader elected from the ISR has every record that was ever below a HW",
    "CommittedInIsr": "an ISR member never truncates, nor joins without, what was ever below a HW",
    "CommittedInElr": "nor does an eligible leader replica lack it, but by power or disk (KIP-966)",
    "OneLeaderPerQuorumEpoch": "no two controllers lead the quorum in one epoch",
    "CommittedMetadata": "what is committed of the metadata log is in the log of each later leader",
    "LastReplica": "nor does one lead that has lost its tail with its power or its disk",
}
"""The name of each invariant and its meaning."""


class Watched(Struct, array_like=True, gc=False):
    """The state of a partition that the checks need.

    ``torn`` are replicas that lost records through a power loss or disk failure, until they rejoin
    the ISR.
    """

    leader_epoch: int = -1
    led_epoch: int = -1
    led_by: int = -1
    committed: int = 0
    isr: list[int] = field(default_factory=list)
    torn: dict[int, None] = field(default_factory=dict)


class InvariantState(Struct, array_like=True, gc=False):
    """The state of the invariant checks, as plain data. ``violated`` counts by name.

    ``pending`` violations are to be emitted; ``cut`` maps replicas, with the event, whose HW is to
    be checked after truncation. ``quorum_leaders`` holds the latest leaders of the quorum by epoch.
    """

    partitions: dict[str, Watched] = field(default_factory=dict)
    assigned: dict[str, list[int]] = field(default_factory=dict)
    violated: dict[str, int] = field(default_factory=dict)
    unexpected: int = 0
    pending: list[tuple[str, str, str, int]] = field(default_factory=list)
    cut: list[tuple[str, int, int]] = field(default_factory=list)
    quorum_leaders: dict[int, int] = field(default_factory=dict)


EligibleOf = Callable[[str], Collection[int]]
"""Returns a partition's eligible leader replicas (KRaft)."""


def nobody_eligible(_tp: str) -> Collection[int]:
    """With ZooKeeper there are no eligible leader replicas."""
    return ()


class Invariants:
    """Checks the invariants as events are emitted."""

    def __init__(
        self,
        state: InvariantState,
        kernel: Kernel,
        profile: Profile,
        disks: Mapping[int, Mapping[str, Partition]],
        eligible_of: EligibleOf = nobody_eligible,
    ) -> None:
        """Observe ``kernel``; look up LEOs and HWs on the brokers' ``disks``.

        ``eligible_of`` returns the eligible leader replicas of a partition, in KRaft mode.
        """
        self.state = state
        self.kernel = kernel
        self.disks = disks
        self.eligible_of = eligible_of
        self.known = known_violations(profile)
        kernel.subscribe(self._high_watermark, [events.HighWatermarkChanged])
        kernel.subscribe(self._state_changed, [events.PartitionStateChanged])
        kernel.subscribe(self._role, [events.ReplicaRoleChanged])
        kernel.subscribe(self._elected, [events.LeaderElected])
        kernel.subscribe(self._truncated, [events.LogTruncated])
        kernel.subscribe(self._torn, [events.LogDeleted])
        kernel.subscribe(self._created, [events.TopicCreated, events.PartitionsAdded])
        kernel.subscribe(self._assigned, [events.ReplicasAssigned])
        kernel.subscribe(self._removed, [events.PartitionStateRemoved])
        kernel.subscribe(self._led_quorum, [events.QuorumRoleChanged])

    def _watched(self, tp: str) -> Watched:
        partition = self.state.partitions.get(tp)
        if partition is None:
            partition = self.state.partitions[tp] = Watched()
        return partition

    def end_of(self, tp: str, broker: int) -> int:
        """The LEO of a broker's replica, 0 if it has none."""
        replica = self.disks.get(broker, {}).get(tp)
        return 0 if replica is None else replica.log_end

    def _broken(self, name: str, tp: str, detail: str, seq: int) -> None:
        self.state.pending.append((name, tp, detail, seq))

    def flush(self) -> None:
        cut, self.state.cut = self.state.cut, []
        for tp, broker, seq in cut:
            replica = self.disks.get(broker, {}).get(tp)
            if replica is not None:
                self._check_in_log(tp, broker, replica.high_watermark, seq)
        pending, self.state.pending = self.state.pending, []
        for name, tp, detail, seq in pending:
            known = name in self.known
            self.state.violated[name] = self.state.violated.get(name, 0) + 1
            self.state.unexpected += not known
            self.kernel.cause = seq
            self.kernel.emit(events.InvariantViolated, name, tp, detail, known)
        self.kernel.cause = 0

    # ---- checks

    def _high_watermark(self, event: events.HighWatermarkChanged) -> None:
        self._check_in_log(event.tp, event.broker, event.high_watermark, event.seq)
        watched = self._watched(event.tp)
        if watched.led_by == event.broker and event.occasion in ("append", "fetch", "isr"):
            if event.high_watermark < event.previous:
                self._broken(
                    "HighWatermarkMonotonic",
                    event.tp,
                    f"{event.previous} -> {event.high_watermark} on leader {event.broker}",
                    event.seq,
                )
            watched.committed = max(watched.committed, event.high_watermark)

    def _check_in_log(self, tp: str, broker: int, high_watermark: int, seq: int) -> None:
        replica = self.disks.get(broker, {}).get(tp)
        end = 0 if replica is None else replica.log_end
        if high_watermark > end:
            detail = f"HW {high_watermark} > LEO {end} on broker {broker}"
            self._broken("HighWatermarkInLog", tp, detail, seq)

    def _state_changed(self, event: events.PartitionStateChanged) -> None:
        watched = self._watched(event.tp)
        if event.leader >= 0 and event.leader not in event.isr:
            detail = f"leader {event.leader}, ISR {event.isr}"
            self._broken("LeaderInIsr", event.tp, detail, event.seq)
        assigned = self.state.assigned.get(event.tp, event.isr)
        if event.isr != assigned and any(b not in assigned for b in event.isr):
            detail = f"ISR {event.isr}, assigned {assigned}"
            self._broken("IsrInAssigned", event.tp, detail, event.seq)
        if event.leader_epoch < watched.leader_epoch:
            detail = f"{watched.leader_epoch} -> {event.leader_epoch}"
            self._broken("EpochMonotonic", event.tp, detail, event.seq)
        watched.leader_epoch = event.leader_epoch
        if watched.committed or watched.torn:
            for broker in event.isr:
                if broker not in watched.isr:
                    self._joined(watched, event, broker)
            self._check_eligible(watched, event)
        watched.isr = event.isr

    def _check_eligible(self, watched: Watched, event: events.PartitionStateChanged) -> None:
        for broker in self.eligible_of(event.tp):
            end = self.end_of(event.tp, broker)
            if end < watched.committed and broker not in watched.torn:
                detail = f"broker {broker} is eligible with LEO {end}"
                detail += f", committed up to {watched.committed}"
                self._broken("CommittedInElr", event.tp, detail, event.seq)

    def _joined(self, watched: Watched, event: events.PartitionStateChanged, broker: int) -> None:
        watched.torn.pop(broker, None)
        end = self.end_of(event.tp, broker)
        if end < watched.committed and broker != event.leader:
            detail = f"broker {broker} joins with LEO {end}, committed up to {watched.committed}"
            self._broken("CommittedInIsr", event.tp, detail, event.seq)

    def _torn(self, event: events.LogTruncated | events.LogDeleted) -> None:
        self._watched(event.tp).torn[event.broker] = None

    def _truncated(self, event: events.LogTruncated) -> None:
        if event.reason == POWER_LOSS:
            self._torn(event)
            return
        self.state.cut.append((event.tp, event.broker, event.seq))
        watched = self._watched(event.tp)
        if event.log_end_offset >= watched.committed:
            return
        detail = f"broker {event.broker} truncates to {event.log_end_offset}"
        detail += f", committed up to {watched.committed}"
        if event.broker in watched.isr:
            self._broken("CommittedInIsr", event.tp, detail, event.seq)
        elif event.broker in self.eligible_of(event.tp) and event.broker not in watched.torn:
            self._broken("CommittedInElr", event.tp, detail, event.seq)

    def _role(self, event: events.ReplicaRoleChanged) -> None:
        if event.role != "leader":
            return
        watched = self._watched(event.tp)
        if watched.led_epoch == event.leader_epoch and watched.led_by not in (event.broker, NOBODY):
            detail = f"brokers {watched.led_by} and {event.broker} in epoch {event.leader_epoch}"
            self._broken("OneLeaderPerEpoch", event.tp, detail, event.seq)
        if event.leader_epoch >= watched.led_epoch:
            watched.led_epoch, watched.led_by = event.leader_epoch, event.broker
            if event.broker in watched.torn:
                self._check_committed(watched, event.tp, event.broker, event.seq)

    def _elected(self, event: events.LeaderElected) -> None:
        watched = self._watched(event.tp)
        if event.strategy == "Unclean":
            watched.committed = min(watched.committed, self.end_of(event.tp, event.leader))
            # what an older leader goes on to commit is discarded with the rest
            watched.led_epoch, watched.led_by = event.leader_epoch, NOBODY
            return
        if watched.committed:
            self._check_committed(watched, event.tp, event.leader, event.seq)

    def _check_committed(self, watched: Watched, tp: str, leader: int, seq: int) -> None:
        end = self.end_of(tp, leader)
        if end < watched.committed:
            detail = f"leader {leader} has LEO {end}, committed up to {watched.committed}"
            name = "LastReplica" if leader in watched.torn else "TrueLeader"
            self._broken(name, tp, detail, seq)
            watched.committed = end

    # ---- the quorum

    def _led_quorum(self, event: events.QuorumRoleChanged) -> None:
        if event.role != "leader":
            return
        leaders = self.state.quorum_leaders
        before = leaders.setdefault(event.epoch, event.controller)
        if before != event.controller:
            detail = f"controllers {before} and {event.controller} in epoch {event.epoch}"
            self._broken("OneLeaderPerQuorumEpoch", METADATA_LOG, detail, event.seq)
        while len(leaders) > QUORUM_EPOCHS:
            del leaders[next(iter(leaders))]

    def metadata_lost(self, detail: str) -> None:
        """Record that a leader of the quorum lacks a committed record."""
        self._broken("CommittedMetadata", METADATA_LOG, detail, self.kernel.state.sequence)

    # ---- which partitions exist

    def _created(self, event: events.TopicCreated | events.PartitionsAdded) -> None:
        first = event.first if isinstance(event, events.PartitionsAdded) else 0
        for number, replicas in enumerate(event.assignment, start=first):
            self.state.assigned[intern(f"{event.topic}-{number}")] = replicas

    def _assigned(self, event: events.ReplicasAssigned) -> None:
        self.state.assigned[event.tp] = event.replicas

    def _removed(self, event: events.PartitionStateRemoved) -> None:
        self.state.partitions.pop(event.tp, None)


def known_violations(profile: Profile) -> dict[str, str]:
    """The invariants that a release is known to violate, and why."""
    outcomes: dict[str, str] = {}
    if not profile.has("high_watermark_in_log"):
        outcomes["HighWatermarkInLog"] = (
            "the HW is kept apart from the log and is not truncated with it"
        )
    if not profile.has("leader_epoch_fencing"):
        outcomes["TrueLeader"] = "truncation by HW or without fencing (KIP-101, KIP-279, KIP-320)"
        outcomes["CommittedInIsr"] = outcomes["TrueLeader"]
    if profile.has("cancel_reassignment"):
        outcomes["IsrInAssigned"] = "a move that is taken back drops what it added, in sync or not"
    outcomes["LastReplica"] = "a lone ISR member that loses its tail is elected again (KIP-966)"
    return outcomes
