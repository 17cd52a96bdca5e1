"""The states of partitions and replicas in the controller's mind, and what may follow what.

Two tables say it all: for each state those it may be entered from. A transition that is not there
is refused, stated as an event, and changes nothing, as Kafka logs it and goes on. What is not in
the tables: what a transition entails (requests, elections), which is the work of who asks for it.

Only replicas that are not simply online are kept (:attr:`ControllerState.replicas`): an assigned
one of which nothing is kept is OnlineReplica, any other one NonExistentReplica. A replica of a
partition that is just being made is NewReplica for no longer than that takes.

Source: ``ReplicaStateMachine`` and ``PartitionStateMachine``, 0.10.2 to 3.5.
"""

from typing import Final

from emulator import events
from emulator.controller.context import NEW, NON_EXISTENT, OFFLINE, ONLINE, Part

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
"""By target, what a replica may be before it.

Up to 2.7 Kafka's own table refuses ineligible after offline; what real brokers were seen to do with
topics whose replicas are dead is the same in every release.
"""

PARTITION: Final = {
    NEW: (NON_EXISTENT,),
    ONLINE: (NEW, ONLINE, OFFLINE),
    OFFLINE: (NEW, ONLINE, OFFLINE),
    NON_EXISTENT: (OFFLINE,),
}
"""By target, what a partition may be before it."""


class StateMachines(Part):
    """The replica and the partition state machine of an active controller."""

    def replica(self, tp: str, broker: int) -> str:
        """The state of a replica."""
        kept = self.state.replicas.get(f"{tp}@{broker}")
        if kept is not None:
            return kept
        assigned = broker in self.state.assignments.get(tp, ())
        return REPLICA_ONLINE if assigned else REPLICA_NON_EXISTENT

    def partition(self, tp: str) -> str:
        """The state of a partition."""
        return self.state.partitions.get(tp, NON_EXISTENT)

    def move_replica(self, tp: str, broker: int, target: str) -> bool:
        """Let a replica be ``target``; False if that may not follow what it is."""
        current, key = self.replica(tp, broker), f"{tp}@{broker}"
        if current not in REPLICA[target]:
            self._refused("replicaStateMachine", key, current, target)
            return False
        assigned = broker in self.state.assignments.get(tp, ())
        if target == REPLICA_NON_EXISTENT or (target == REPLICA_ONLINE and assigned):
            self.state.replicas.pop(key, None)
        else:
            self.state.replicas[key] = target
        return True

    def move_partition(self, tp: str, target: str) -> bool:
        """Let a partition be ``target``; False if that may not follow what it is."""
        states = self.state.partitions
        current = states.get(tp, NON_EXISTENT)
        if current not in PARTITION[target]:
            self._refused("partitionStateMachine", tp, current, target)
            return False
        if target == NON_EXISTENT:
            states.pop(tp, None)
        else:
            states[tp] = target
        return True

    def start(self, tp: str) -> None:
        """A new controller finds a replica on a dead broker: it could not be deleted now."""
        for broker in self.state.assignments.get(tp, ()):
            if broker not in self.state.live:
                self.state.replicas[f"{tp}@{broker}"] = DELETION_INELIGIBLE

    def keep(self, tp: str, brokers: list[int]) -> None:
        """Replicas that are no longer assigned are what they are until they are dropped."""
        for broker in brokers:
            self.state.replicas[f"{tp}@{broker}"] = self.replica(tp, broker)

    def drop(self, tp: str, broker: int) -> None:
        """An offline replica that was moved away is deleted, whatever becomes of the request."""
        for target in (DELETION_STARTED, DELETION_SUCCESSFUL, REPLICA_NON_EXISTENT):
            self.move_replica(tp, broker, target)

    def forget(self, tp: str) -> None:
        """A partition is gone with its topic."""
        self.move_partition(tp, OFFLINE)
        self.move_partition(tp, NON_EXISTENT)
        for broker in self.state.assignments.get(tp, ()):
            self.state.replicas.pop(f"{tp}@{broker}", None)

    def _refused(self, machine: str, what: str, current: str, target: str) -> None:
        detail = f"{what} is {current} and cannot become {target}"
        step = (self.context.id, machine, 1, "illegalTransition", detail)
        self.kernel.emit(events.ControllerStep, *step)
