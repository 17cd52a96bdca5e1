"""The states of partitions, their transitions, and the elections that bring them online.

The table lists for each state its valid previous states. An invalid transition is rejected, emits
an event and changes nothing; Kafka logs it and continues.

Source: ``PartitionStateMachine`` 0.8.2 to 3.9; ``PartitionLeaderSelector`` up to 1.0.
"""

from collections.abc import Callable, Sequence
from typing import Final

from msgspec import Struct

from emulator import events
from emulator.controller.channels import Batch, Channels
from emulator.controller.context import (
    NEW,
    NON_EXISTENT,
    OFFLINE,
    ONLINE,
    ControllerContext,
)
from emulator.protocol import PartitionInfo
from emulator.releases.config import ConfigError, resolve_topic
from emulator.replication import election as elections
from emulator.replication.election import Choice
from emulator.zookeeper import data as znodes
from emulator.zookeeper import errors

PARTITION: Final = {
    NEW: (NON_EXISTENT,),
    ONLINE: (NEW, ONLINE, OFFLINE),
    OFFLINE: (NEW, ONLINE, OFFLINE),
    NON_EXISTENT: (OFFLINE,),
}
"""The valid previous states of each target state."""


class PartitionStateMachine(Struct, eq=False):
    """The partition state machine of an active controller."""

    context: ControllerContext
    channels: Channels

    # ---- states

    def state_of(self, tp: str) -> str:
        return self.context.state.partitions.get(tp, NON_EXISTENT)

    def move(self, tp: str, target: str) -> bool:
        """Move a partition to the state ``target``; False if the transition is invalid."""
        states = self.context.state.partitions
        current = states.get(tp, NON_EXISTENT)
        if current not in PARTITION[target]:
            detail = f"{tp} is {current} and cannot become {target}"
            self.context.step("partitionStateMachine", 1, "illegalTransition", detail)
            return False
        if target == NON_EXISTENT:
            states.pop(tp, None)
        else:
            states[tp] = target
        return True

    def lost_leader(self, tp: str) -> None:
        """Handle the loss of a partition's leader."""
        if tp in self.context.state.partitions:  # else a new controller has yet to initialize it
            self.move(tp, OFFLINE)

    def forget(self, tp: str) -> None:
        """Forget a partition of a deleted topic."""
        if tp in self.context.state.partitions:
            self.move(tp, OFFLINE)
            self.move(tp, NON_EXISTENT)

    # ---- new partitions

    def create(self, tps: list[str]) -> None:
        """Initialize new partitions: those with a live replica get a leader and their znodes."""
        batch = Batch()
        for tp in tps:
            if self.move(tp, NEW):
                self._initialize(tp, batch)
        self.channels.send(batch)

    def _initialize(self, tp: str, batch: Batch) -> None:
        state = self.context.state
        assigned = state.assignments[tp]
        choice = elections.initial(assigned, state.live)
        if choice is None or len(choice.isr) < len(assigned):
            self._emit_election(tp, "New", choice, [], list(state.live))
        if choice is None:
            self.context.failed(tp, "New", "no assigned replica is alive")
            return
        try:
            info = self.context.create(tp, choice.leader, choice.isr)
        except errors.NodeExistsError:
            self.context.failed(tp, "New", "another controller has made its state")
            self._adopt(tp, batch)
            return
        except errors.NoNodeError:
            self.context.failed(tp, "New", "its topic is gone")
            return
        self.move(tp, ONLINE)
        self._elected(tp, info, "New")
        batch.lead(choice.isr, tp, info)

    def _adopt(self, tp: str, batch: Batch) -> None:
        """Adopt a partition created by another controller, and inform its brokers."""
        state, info = self.context.state, self.context.refresh(tp)
        if info is not None:
            self.move(tp, ONLINE if info.leader in state.live else OFFLINE)
            batch.lead(self.context.live_replicas(tp), tp, info)

    # ---- elections

    def elect_offline(self, tps: list[str], batch: Batch) -> None:
        """triggerOnlinePartitionStateChange: elect leaders for partitions without one."""
        allowed = self._unclean_by_topic()
        for tp in tps:
            if self.context.state.partitions.get(tp) == NEW:
                self._initialize(tp, batch)
            else:
                self._elect_offline(tp, batch, allowed)

    def elect_unclean(self, tp: str, batch: Batch) -> bool:
        """Elect, if need be from outside the ISR, on request (2.4+, KIP-460)."""
        if self.context.state.partitions.get(tp) == NEW:
            self._initialize(tp, batch)
            return self.context.state.partitions.get(tp) == ONLINE
        return self._elect_offline(tp, batch, lambda _topic: True)

    def _elect_offline(self, tp: str, batch: Batch, allowed: Callable[[str], bool | None]) -> bool:
        """Run one election for a partition without a leader.

        ``allowed`` returns whether an unclean election is allowed. It is only called if no member
        of the ISR is alive, because it reads a znode.
        """
        info = self.context.refresh(tp)
        if info is None:
            return False
        assigned, live = self.context.state.assignments[tp], self.context.live_brokers()
        isr_order = self.context.profile.has("offline_election_in_isr_order")
        choice = elections.offline(assigned, info.isr, live, unclean=False, isr_order=isr_order)
        reason = f"no live replica in the ISR {info.isr}"
        if choice is None:
            unclean = allowed(tp.rpartition("-")[0])
            if unclean is None:
                reason = "the topic's configuration cannot be read"
            elif unclean:
                choice = elections.offline(
                    assigned, info.isr, live, unclean=True, isr_order=isr_order
                )
        strategy = "Unclean" if choice and choice.leader not in info.isr else "Offline"
        order = info.isr if isr_order and strategy == "Offline" else assigned
        self._emit_election(tp, strategy, choice, info.isr, live, order)
        if choice is None:
            self.context.failed(tp, "Offline", reason)
            return False
        self._lead(tp, choice, strategy, batch)
        return True

    def _unclean_by_topic(self) -> Callable[[str], bool | None]:
        """A lookup of unclean election by topic, as currently in ZooKeeper (``getLogConfigs``)."""
        unclean_allowed: dict[str, bool | None] = {}

        def ask(topic: str) -> bool | None:
            if topic not in unclean_allowed:
                unclean_allowed[topic] = self.unclean_election(topic)
            return unclean_allowed[topic]

        return ask

    def unclean_election(self, topic: str) -> bool | None:
        """Whether unclean leader election is enabled for a topic, according to its znode.

        None if the topic's configuration cannot be read. A topic without an override uses the value
        of the controller's own broker.
        """
        data = self.context.zk.data(znodes.topic_config_path(topic))
        values = znodes.config_in(data) if data else {}
        if values is None:
            return None
        try:
            config = resolve_topic(self.context.broker.config, values)
        except ConfigError:
            return None
        return config.unclean_leader_election_enable

    def elect(
        self,
        tp: str,
        strategy: str,
        choice: Choice | None,
        candidates: Sequence[int],
        batch: Batch,
    ) -> bool:
        """Apply an election's result for a partition, based on the state just read.

        False if no replica can lead; the caller emits the reason.
        """
        isr = self.context.state.infos[tp].isr
        self._emit_election(tp, strategy, choice, isr, self.context.live_brokers(), candidates)
        if choice is None:
            return False
        self._lead(tp, choice, strategy, batch)
        return True

    def _lead(self, tp: str, choice: Choice, strategy: str, batch: Batch) -> None:
        """Store an elected leader, emit the event, and inform the replicas."""
        if not self.move(tp, ONLINE):
            return
        recovery = self.context.state.infos[tp].leader_recovery_state
        if strategy == "Unclean" and self.context.profile.has("leader_recovery"):
            recovery = znodes.RECOVERING
        info = self.context.update(tp, choice.leader, choice.isr, recovery=recovery)
        self._elected(tp, info, strategy)
        batch.lead(self.context.live_replicas(tp), tp, info)

    # ---- election events

    def _elected(self, tp: str, info: PartitionInfo, strategy: str) -> None:
        self.context.emit(
            events.LeaderElected,
            tp,
            self.context.id,
            info.leader,
            info.leader_epoch,
            info.isr,
            strategy,
        )

    def _emit_election(
        self,
        tp: str,
        strategy: str,
        choice: Choice | None,
        isr: list[int],
        live: list[int],
        candidates: Sequence[int] | None = None,
    ) -> None:
        """Emit an election's result."""
        context = self.context
        leader = -1 if choice is None else choice.leader
        order = self.context.state.assignments[tp] if candidates is None else candidates
        if not context.kernel.observed(events.ElectionHeld):
            order = ()  # there are no observers: the event is only counted
        verdicts: list[tuple[int, str]] = []
        for broker in order:
            is_over = any(verdict == "elected" for _, verdict in verdicts)
            verdicts.append(
                (broker, "not asked" if is_over else self._verdict(broker, leader, isr))
            )
        context.emit(
            events.ElectionHeld, tp, context.id, strategy, leader, list(isr), sorted(live), verdicts
        )

    def _verdict(self, broker: int, leader: int, isr: list[int]) -> str:
        """Why a candidate was elected or not."""
        if broker == leader:
            return "elected"
        if broker not in self.context.state.live:
            return "not alive"
        if broker in self.context.state.shutting_down:
            return "shutting down"
        return "not in sync" if broker not in isr else "not asked"
