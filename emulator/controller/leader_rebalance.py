"""Elections without a failure: preferred leader elections, and those on request.

Source: ``KafkaController.checkAndTriggerAutoLeaderRebalance``, ``PreferredReplicaLeaderElection``,
``processReplicaLeaderElection`` (2.4+, KIP-460).
"""

from collections.abc import Iterable

from msgspec import Struct

from emulator.controller.channels import Batch, Channels
from emulator.controller.context import ONLINE, ControllerContext
from emulator.controller.partition_state_machine import PartitionStateMachine
from emulator.replication import election as elections
from emulator.zookeeper import data as znodes
from emulator.zookeeper import errors


class LeaderRebalance(Struct, eq=False):
    """The preferred leader elections of an active controller, and elections on request."""

    context: ControllerContext
    channels: Channels
    partitions: PartitionStateMachine

    # ---- preferred leaders

    def elect_preferred(self, tps: Iterable[str]) -> None:
        """Elect the first assigned replica where it is live, in sync and not yet the leader."""
        batch = Batch()
        assignments, live = self.context.state.assignments, frozenset(self.context.live_brokers())
        repeats = self.context.profile.has("preferred_election_of_current_leader")
        for tp in tps:
            info = self.context.refresh(tp)
            if info is None:
                continue
            choice = elections.preferred(assignments[tp], info.isr, live)
            if choice is not None and choice.leader == info.leader and not repeats:
                continue
            if not self.partitions.elect(tp, "Preferred", choice, assignments[tp][:1], batch):
                self.context.failed(
                    tp, "Preferred", "the preferred replica is not alive and in sync"
                )
        self.channels.send(batch)

    def rebalance(self) -> None:
        """Run preferred elections for each broker whose leader imbalance is too high.

        Topics being deleted do not count.
        """
        state = self.context.state
        percentage = self.context.broker.config.leader_imbalance_per_broker_percentage
        preferring: dict[int, int] = {}
        elsewhere: dict[int, list[str]] = {}
        for tp, assigned in state.assignments.items():
            if self.context.is_deleting(tp):
                continue
            broker = assigned[0]
            preferring[broker] = preferring.get(broker, 0) + 1
            info = state.infos.get(tp)
            if info is not None and info.leader != broker:
                elsewhere.setdefault(broker, []).append(tp)
        for broker, count in preferring.items():
            tps = elsewhere.get(broker, [])
            if len(tps) * 100 > percentage * count and broker in state.live:
                self.elect_preferred([tp for tp in tps if self._may_move(tp, broker)])

    def _may_move(self, tp: str, broker: int) -> bool:
        """Whether a preferred replica may be elected: it is in sync and nothing else is pending."""
        info = self.context.refresh(tp)
        return info is not None and not self.context.state.reassigning and broker in info.isr

    # ---- requests by /admin/preferred_replica_election

    def take_over(self) -> None:
        """Resume the requested preferred election as a new controller."""
        self.look(taken_over=True)

    def look(self, *, taken_over: bool = False) -> None:
        """Run the elections requested in /admin/preferred_replica_election, and delete it.

        Topics being deleted are skipped. Malformed content requests nothing. Up to 0.10.2 reading
        it ends in an exception, and the znode stays. From 2.2 on a partition that has never had a
        leader does the same: none of the others is elected for.
        """
        data = self.context.zk.data(znodes.PREFERRED_ELECTION)
        requested = znodes.partitions_in(data)
        is_there = self.context.zk.find(znodes.PREFERRED_ELECTION) is not None
        is_read = requested is not None or not self.context.profile.has(
            "unreadable_preferred_election_stays"
        )
        fails = not taken_over and self._has_never_been_led(requested or [])
        if is_there and is_read and not fails:
            self.elect_preferred(tp for tp in requested or [] if not self.context.is_deleting(tp))
            if taken_over or not self._stays(requested or []):
                self._delete()
        self.context.zk.watch(znodes.PREFERRED_ELECTION)

    def _has_never_been_led(self, requested: list[str]) -> bool:
        """Whether the present leader of a partition is looked up that has no state (2.2+)."""
        state = self.context.state
        return not self.context.profile.has("unknown_preferred_election_stays") and any(
            tp in state.assignments and tp not in state.infos and not self.context.is_deleting(tp)
            for tp in requested
        )

    def _delete(self) -> None:
        try:
            self.context.zk.delete(znodes.PREFERRED_ELECTION)
        except (errors.NoNodeError, errors.NotEmptyError):
            return

    def _stays(self, requested: list[str]) -> bool:
        """Whether cleaning up after an election ends in an exception, at an unknown partition."""
        infos = self.context.state.infos
        return self.context.profile.has("unknown_preferred_election_stays") and any(
            tp not in infos for tp in requested
        )

    # ---- ElectLeaders requests

    def elect_preferred_one(self, tp: str) -> str:
        """Elect a partition's preferred replica if it is in sync; return Kafka's error."""
        state = self.context.state
        if tp not in state.assignments:
            return "UNKNOWN_TOPIC_OR_PARTITION"
        if self.context.is_deleting(tp):
            return "INVALID_TOPIC_EXCEPTION"
        preferred, info = state.assignments[tp][0], state.infos.get(tp)
        if info is None or preferred not in info.isr or preferred not in state.live:
            return "PREFERRED_LEADER_NOT_AVAILABLE"
        if info.leader == preferred:
            return "ELECTION_NOT_NEEDED"
        self.elect_preferred([tp])
        return "NONE"

    def elect_unclean(self, tp: str) -> str:
        """Elect any live replica for a partition without a leader; return Kafka's error."""
        state = self.context.state
        if tp not in state.assignments:
            return "UNKNOWN_TOPIC_OR_PARTITION"
        if self.context.is_deleting(tp):
            return "INVALID_TOPIC_EXCEPTION"
        info = state.infos.get(tp)
        if state.partitions.get(tp) == ONLINE and (info is None or info.leader in state.live):
            return "ELECTION_NOT_NEEDED"
        batch = Batch()
        is_led = self.partitions.elect_unclean(tp, batch)
        self.channels.send(batch)
        return "NONE" if is_led else "ELIGIBLE_LEADERS_NOT_AVAILABLE"
