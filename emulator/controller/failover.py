"""Taking office: onControllerFailover step by step, in the order of the release.

Source: KafkaController.onControllerFailover, 0.8.2 to 3.9; each step is an event.
"""

from collections.abc import Callable

from emulator import events
from emulator.controller.channels import Batch
from emulator.controller.context import OFFLINE, ONLINE, Part
from emulator.controller.listeners import ISR_CHANGES, PREFERRED
from emulator.controller.reassignment import REASSIGN

EPOCH = "/controller_epoch"
LOG_DIR_EVENTS = "/log_dir_event_notification"
ENDED = ("controlled_shutdown", "stopped", "crashed")
"""States of a broker process that has ended, or is about to."""
REBALANCE_FIRST_US = 5_000_000
"""When a new controller first looks whether leaders should be moved to their preferred replicas."""


Step = tuple[str, Callable[[], None]]
"""A step's name in Kafka's code, and what is done."""

CHILD_WATCHES = (
    "/brokers/ids",
    "/brokers/topics",
    "/admin/delete_topics",
    "/config/changes",
    ISR_CHANGES,
)


class Failover(Part):
    """What a new controller does before anything else."""

    def next_epoch(self) -> tuple[int, int] | None:
        """Up to 2.0 the first steps: read the epoch and increment it under the version read.

        Returns the new epoch and its version. Up to 0.10.2 a broker that is no longer running says
        so and does nothing: None.
        """
        number = 1
        if self.profile.has("failover_checks_running"):
            running = self.context.process.status not in ENDED
            self._step(number, "isRunning", "" if running else "no: nothing is done")
            number += 1
            if not running:
                return None
        zookeeper, node = self.world.zookeeper, self.world.zookeeper.find(EPOCH)
        self._step(number, "readControllerEpochFromZookeeper")
        self._step(number + 1, "incrementControllerEpoch")
        if node is None:
            zookeeper.create(self.world, self.context.session, EPOCH, "1")
            return 1, 0
        epoch = epoch_number(node.data) + 1
        return epoch, zookeeper.set_data(self.world, EPOCH, str(epoch), node.version)

    def run(self) -> None:
        """onControllerFailover, in the order of the release; each step is an event."""
        done = 0
        if not self.profile.has("controller_multi"):
            done = 3 if self.profile.has("failover_checks_running") else 2
        by_handlers = self.profile.has("controller_event_queue")
        steps = self._by_handlers() if by_handlers else self._by_listeners()
        for number, (name, work) in enumerate(steps, start=done + 1):
            self._step(number, name)
            work()

    def _step(self, number: int, name: str, detail: str = "") -> None:
        step = (self.context.id, "onControllerFailover", number, name, detail)
        self.kernel.emit(events.ControllerStep, *step)

    def _by_listeners(self) -> list[Step]:
        """Up to 0.10.2."""
        has, controller = self.profile.has, self.controller
        metadata_first = has("failover_sends_metadata_first")
        metadata: list[Step] = [("sendUpdateMetadataRequest", self._send_all_metadata)]
        isr: list[Step] = [("registerIsrChangeNotificationListener", self._watch(ISR_CHANGES))]
        office: list[Step] = [("brokerState.newState(RunningAsController)", _nothing)]
        machines = self._watch("/brokers/topics", "/admin/delete_topics", "/config/changes")
        return [
            ("registerReassignedPartitionsListener", self._watch(REASSIGN)),
            *(isr if has("isr_change_notifications") else []),
            ("registerPreferredReplicaElectionListener", self._watch(PREFERRED)),
            ("partitionStateMachine.registerListeners", machines),
            ("replicaStateMachine.registerListeners", self._watch("/brokers/ids")),
            ("initializeControllerContext", self._initialize_with_deletions),
            *(metadata if metadata_first else []),
            ("replicaStateMachine.startup", self._start_replicas),
            ("partitionStateMachine.startup", self._start_partitions),
            ("partitionStateMachine.registerPartitionChangeListener", self._watch_topics),
            *(office if has("running_as_controller") else []),
            ("maybeTriggerPartitionReassignment", controller.reassignment.take_over),
            ("maybeTriggerPreferredReplicaElection", controller.topics.take_over_election),
            *([] if metadata_first else metadata),
            *self._rebalancing("autoRebalanceScheduler.startup"),
            ("deleteTopicManager.start", controller.deletion.look),
        ]

    def _by_handlers(self) -> list[Step]:
        """From 0.11: one thread, and handlers of znodes instead of listeners."""
        controller = self.controller
        leftovers: list[Step] = [
            ("deleteLogDirEventNotifications", self._delete(LOG_DIR_EVENTS)),
            ("deleteIsrChangeNotifications", self._delete(ISR_CHANGES)),
        ]
        return [
            ("registerZNodeChildChangeHandlers", self._watch(*CHILD_WATCHES)),
            ("registerZNodeChangeHandlers", self._watch(PREFERRED, REASSIGN)),
            *(leftovers if self.profile.has("failover_deletes_notifications") else []),
            ("initializeControllerContext", self._initialize),
            ("topicDeletionManager.init", controller.deletion.queue),
            ("sendUpdateMetadataRequest", self._send_all_metadata),
            ("replicaStateMachine.startup", self._start_replicas),
            ("partitionStateMachine.startup", self._start_partitions),
            ("initializePartitionReassignments", controller.reassignment.take_over),
            ("topicDeletionManager.tryTopicDeletion", controller.deletion.look),
            ("onPreferredReplicaElection", controller.topics.take_over_election),
            ("kafkaScheduler.startup", _nothing),
            *self._rebalancing("scheduleAutoLeaderRebalanceTask"),
        ]

    def _rebalancing(self, name: str) -> list[Step]:
        enabled = self.context.config.auto_leader_rebalance_enable and not self.world.stepwise
        return [(name, self._start_rebalance)] if enabled else []

    def _start_rebalance(self) -> None:
        self.context.later("rebalance", REBALANCE_FIRST_US)

    # ---- watches and leftovers

    def _watch(self, *paths: str) -> Callable[[], None]:
        """Watch the children of what lists things, and whether the rest exist."""
        me, zookeeper = self.context.id, self.world.zookeeper

        def work() -> None:
            for path in paths:
                if path not in CHILD_WATCHES:
                    zookeeper.watch_exists(me, path)
                elif path != ISR_CHANGES or zookeeper.find(path) is not None:
                    zookeeper.watch_children(me, path)

        return work

    def _watch_topics(self) -> None:
        for topic in self.state.topics:
            self.world.zookeeper.watch_data(self.context.id, f"/brokers/topics/{topic}")

    def _delete(self, path: str) -> Callable[[], None]:
        """What earlier controllers were told is old: all that follows is read anew."""

        def work() -> None:
            names = self.world.children(path)
            if names:
                self.controller.partitions.check_office()
            for name in names:
                self.world.zookeeper.delete(self.world, f"{path}/{name}")

        return work

    # ---- the steps

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

    def _initialize_with_deletions(self) -> None:
        self._initialize()
        self.controller.deletion.queue()

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
            self.controller.machines.start(tp)
            live = [b for b in state.assignments.get(tp, []) if b in state.live]
            batch.lead(live, tp, info)
        self.controller.channels.send(batch)
        if self.profile.has("offline_replicas_leave_isr_at_failover"):
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
            if info is None and not self.controller.deletion.is_deleting(tp):
                new.append(tp)
            elif info is not None:
                state.partitions[tp] = ONLINE if info.leader in state.live else OFFLINE
        self.controller.partitions.create(new)
        batch = Batch()
        waiting = self.controller.partitions.waiting()
        offline = [tp for tp in waiting if state.partitions[tp] == OFFLINE]
        self.controller.partitions.elect_offline(offline, batch)
        self.controller.channels.send(batch)


def epoch_number(data: str | None) -> int:
    """An epoch as /controller_epoch holds it; what an outsider made of it counts as 0."""
    return int(data) if data is not None and data.isdecimal() else 0


def _nothing() -> None:
    """A step that changes nothing here."""
