"""Taking office: onControllerFailover step by step, in the order of the release.

Source: KafkaController.onControllerFailover, 0.8.2 to 3.9; each step is an event.
"""

from emulator import events
from emulator.controller.channels import Batch
from emulator.controller.part import Part
from emulator.controller.state import OFFLINE, ONLINE

REBALANCE_FIRST_US = 5_000_000
"""When a new controller first looks whether leaders should be moved to their preferred replicas."""


class Failover(Part):
    """What a new controller does before anything else."""

    def run(self) -> None:
        """onControllerFailover, in the order of the release; each step is an event."""
        metadata_first = self.profile.has("metadata_first_on_failover")
        steps = [
            ("registerListeners", self._watch_all),
            ("initializeControllerContext", self._initialize),
            *([("sendUpdateMetadataRequest", self._send_all_metadata)] if metadata_first else []),
            ("replicaStateMachine.startup", self._start_replicas),
            ("partitionStateMachine.startup", self._start_partitions),
            *([] if metadata_first else [("sendUpdateMetadataRequest", self._send_all_metadata)]),
            ("maybeTriggerPartitionReassignment", self.controller.reassignment.take_over),
            ("maybeTriggerPreferredReplicaElection", self.controller.topics.preferred_election),
            ("topicDeletionManager.start", self.controller.deletion.look),
            ("startAutoLeaderRebalance", self._start_rebalance),
        ]
        for number, (name, work) in enumerate(steps, start=1):
            self.kernel.emit(
                events.ControllerStep,
                self.broker.id,
                "onControllerFailover",
                number,
                name,
                "",
            )
            work()

    def _watch_all(self) -> None:
        me, zookeeper = self.broker.id, self.world.zookeeper
        for path in ("/brokers/ids", "/brokers/topics", "/admin/delete_topics", "/config/changes"):
            zookeeper.watch_children(me, path)
        if zookeeper.find("/isr_change_notification") is not None:
            zookeeper.watch_children(me, "/isr_change_notification")
        for path in ("/admin/preferred_replica_election", "/admin/reassign_partitions"):
            zookeeper.watch_exists(me, path)

    def _initialize(self) -> None:
        """InitializeControllerContext.

        Live brokers, topics, assignments, and every partition's state.
        """
        state = self.state
        state.live = self.controller.registered()
        self.controller.topics.load_all()
        for tp in state.assignments:
            info = self.controller.partitions.read(tp)
            if info is not None:
                state.infos[tp] = info

    def _send_all_metadata(self) -> None:
        state = self.state
        batch = Batch()
        batch.metadata = dict(state.infos)
        self.controller.channels.send(batch, metadata_to=sorted(state.live))

    def _start_replicas(self) -> None:
        """RSM.startup: tell live replicas what they are; from 2.3 dead ones leave their ISRs."""
        state = self.state
        batch = Batch()
        for tp, info in state.infos.items():
            live = [b for b in state.assignments.get(tp, []) if b in state.live]
            batch.lead(live, tp, info)
        self.controller.channels.send(batch)
        if self.profile.has("dead_leave_isr_at_failover"):
            batch = Batch()
            for tp in list(state.infos):
                for broker in state.assignments.get(tp, []):
                    if broker not in state.live and broker in state.infos[tp].isr:
                        self.controller.partitions.replica_offline(tp, broker, batch)
            self.controller.channels.send(batch)

    def _start_partitions(self) -> None:
        """PSM.startup: know who is online, and elect for the others."""
        state = self.state
        new: list[str] = []
        for tp in state.assignments:
            info = state.infos.get(tp)
            if info is None:
                new.append(tp)
            else:
                state.partitions[tp] = ONLINE if info.leader in state.live else OFFLINE
        self.controller.partitions.create(new)
        batch = Batch()
        waiting = [tp for tp, each in state.partitions.items() if each == OFFLINE]
        self.controller.partitions.elect_offline(waiting, batch)
        self.controller.channels.send(batch)

    def _start_rebalance(self) -> None:
        if self.broker.config.auto_leader_rebalance_enable and not self.world.stepwise:
            self.broker.later("rebalance", REBALANCE_FIRST_US)
