"""The states of replicas, their transitions, and how a replica leaves the ISR.

The table lists for each state its valid previous states. An invalid transition is rejected, emits
an event and changes nothing; Kafka logs it and continues.

Only replicas that are not simply online are stored (:attr:`ControllerState.replicas`): an assigned
replica without an entry is OnlineReplica, any other one NonExistentReplica. A replica is NewReplica
only while its partition is being created.

Source: ``ReplicaStateMachine`` 0.10.2 to 3.5.
"""

from collections.abc import Callable
from typing import Final

from emulator.common.names import split
from emulator.controller.channels import Batch
from emulator.controller.context import ControllerContext

REPLICA_NON_EXISTENT: Final = "NonExistentReplica"
REPLICA_NEW: Final = "NewReplica"
REPLICA_ONLINE: Final = "OnlineReplica"
REPLICA_OFFLINE: Final = "OfflineReplica"
DELETION_STARTED: Final = "ReplicaDeletionStarted"
DELETION_SUCCESSFUL: Final = "ReplicaDeletionSuccessful"
DELETION_INELIGIBLE: Final = "ReplicaDeletionIneligible"

ALIVE: Final = (REPLICA_NEW, REPLICA_ONLINE, REPLICA_OFFLINE, DELETION_INELIGIBLE)

REPLICA: Final = {
    REPLICA_NEW: (REPLICA_NON_EXISTENT,),
    REPLICA_ONLINE: ALIVE,
    REPLICA_OFFLINE: ALIVE,
    DELETION_STARTED: (REPLICA_OFFLINE,),
    DELETION_SUCCESSFUL: (DELETION_STARTED,),
    DELETION_INELIGIBLE: (REPLICA_OFFLINE, DELETION_STARTED),
    REPLICA_NON_EXISTENT: (DELETION_SUCCESSFUL,),
}
"""The valid previous states of each target; up to 2.2 ineligible may not follow offline."""


class ReplicaStateMachine:
    """The replica state machine of an active controller."""

    def __init__(
        self,
        context: ControllerContext,
        lost_leader: Callable[[str], None],
        unclean_election: Callable[[str], bool | None],
    ) -> None:
        """Act in ``context``.

        ``lost_leader`` is called with a partition whose leader went offline; ``unclean_election``
        returns a topic's setting in ZooKeeper (None if it cannot be read).
        """
        self.context = context
        self.lost_leader = lost_leader
        self.unclean_election = unclean_election
        has = context.profile.has
        self.offline_is_eligible = not has("offline_replicas_ineligible_for_deletion")
        self.offline_needs_leader = has("offline_replica_needs_leader")

    def state_of(self, tp: str, broker: int) -> str:
        state = self.context.state.replicas.get(f"{tp}@{broker}")
        if state is not None:
            return state
        assigned = broker in self.context.state.assignments.get(tp, ())
        return REPLICA_ONLINE if assigned else REPLICA_NON_EXISTENT

    def move(self, tp: str, broker: int, target: str) -> bool:
        """Move a replica to the state ``target``; False if the transition is invalid."""
        current, key = self.state_of(tp, broker), f"{tp}@{broker}"
        if not self._may_follow(target, current):
            detail = f"{key} is {current} and cannot become {target}"
            self.context.step("replicaStateMachine", 1, "illegalTransition", detail)
            return False
        assigned = broker in self.context.state.assignments.get(tp, ())
        if target == REPLICA_NON_EXISTENT or (target == REPLICA_ONLINE and assigned):
            self.context.state.replicas.pop(key, None)
        else:
            self.context.state.replicas[key] = target
        return True

    def _may_follow(self, target: str, current: str) -> bool:
        if (current, target) == (REPLICA_OFFLINE, DELETION_INELIGIBLE) and self.offline_is_eligible:
            return False
        return current in REPLICA[target]

    def start(self, tp: str) -> None:
        """Initialize a replica on a dead broker as a new controller: it cannot be deleted now."""
        for broker in self.context.state.assignments.get(tp, ()):
            if broker not in self.context.state.live:
                self.context.state.replicas[f"{tp}@{broker}"] = DELETION_INELIGIBLE

    def keep(self, tp: str, brokers: list[int]) -> None:
        """Keep the states of replicas that are no longer assigned until they are dropped."""
        for broker in brokers:
            self.context.state.replicas[f"{tp}@{broker}"] = self.state_of(tp, broker)

    def drop(self, tp: str, broker: int) -> None:
        """Delete an offline replica after a reassignment, whatever the request's outcome."""
        for target in (DELETION_STARTED, DELETION_SUCCESSFUL, REPLICA_NON_EXISTENT):
            self.move(tp, broker, target)

    def forget(self, tp: str) -> None:
        """Forget the replicas of a deleted partition."""
        for broker in self.context.state.assignments.get(tp, ()):
            self.context.state.replicas.pop(f"{tp}@{broker}", None)

    def go_offline(self, tp: str, broker: int, batch: Batch) -> None:
        """Take a replica offline: it leaves the ISR, unless it is the last member.

        If it was the leader, the partition has no leader afterwards. Up to 1.1 a replica of a
        partition that has never had a leader keeps its state.
        """
        is_unled = tp not in self.context.state.infos
        if (is_unled and self.offline_needs_leader) or not self.move(tp, broker, REPLICA_OFFLINE):
            return
        info = self.context.refresh(tp)
        if info is None:
            return
        live = [b for b in self.context.live_replicas(tp) if b != broker]
        if broker not in info.isr:
            batch.lead(live, tp, info)
            return
        isr = [b for b in info.isr if b != broker]
        leader = -1 if info.leader == broker else info.leader
        info = self.context.write(tp, leader, isr if isr or self._may_empty(tp) else info.isr)
        if leader < 0:
            self.lost_leader(tp)
        batch.lead(live, tp, info)

    def _may_empty(self, tp: str) -> bool:
        """Whether even the last member leaves the ISR."""
        topic, _ = split(tp)
        has_empty_isr = self.context.profile.has("empty_isr_on_unclean")
        return has_empty_isr and bool(self.unclean_election(topic))
