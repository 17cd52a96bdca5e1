"""Controller failover: onControllerFailover step by step, in the order of the release.

Source: KafkaController.onControllerFailover, 0.8.2 to 3.9; each step is an event.
"""

from collections.abc import Callable
from typing import NamedTuple

from msgspec import Struct

from emulator.controller.channels import Batch, Channels
from emulator.controller.context import (
    OFFLINE,
    ONLINE,
    ControllerContext,
    UnreadableError,
)
from emulator.controller.leader_rebalance import LeaderRebalance
from emulator.controller.listeners import Listeners
from emulator.controller.partition_state_machine import PartitionStateMachine
from emulator.controller.reassignment import Reassignment
from emulator.controller.replica_state_machine import REPLICA_OFFLINE, ReplicaStateMachine
from emulator.controller.topic_deletion import TopicDeletion
from emulator.zookeeper import data as znodes

REBALANCE_FIRST_US = 5_000_000
"""The delay of a new controller's first check for a preferred leader rebalance."""
REBALANCING = (
    "starting the partition rebalance scheduler (thread partition-rebalance-thread: first after"
    " 5 s, then every leader.imbalance.check.interval.seconds)"
)


class Step(NamedTuple):
    """A step's name in Kafka's code, its action, and the line that Kafka logs about it."""

    name: str
    work: Callable[[], None]
    logged: str = ""


CHILD_WATCHES = (
    znodes.BROKER_IDS,
    znodes.TOPICS,
    znodes.DELETE_TOPICS,
    znodes.ISR_CHANGES,
)


class Failover(Struct, eq=False):
    """The initialization of a new controller."""

    context: ControllerContext
    channels: Channels
    partitions: PartitionStateMachine
    replicas: ReplicaStateMachine
    deletion: TopicDeletion
    reassignment: Reassignment
    rebalance: LeaderRebalance
    listeners: Listeners
    resumes: bool = False
    """Whether an earlier failover has already seen that the offline partitions are so."""

    def next_epoch(self) -> tuple[int, int] | None:
        """Up to 2.0 the first steps: read the epoch and increment it conditionally.

        Return the new epoch and its version. Up to 0.10.2 a broker that is no longer running logs
        so and does nothing: None.

        Raises:
            UnreadableError: /controller_epoch holds no number.
        """
        number = 1
        if self.context.profile.has("failover_checks_running"):
            running = self.context.controllership.is_running
            begins = f"Broker {self.context.broker.id} starting become controller state transition"
            ends = "Controller has been shut down, aborting startup/failover"
            self._step(number, "isRunning", begins if running else ends)
            number += 1
            if not running:
                return None
        node = self.context.zk.find(znodes.CONTROLLER_EPOCH)
        self._step(number, "readControllerEpochFromZookeeper")
        self._step(number + 1, "incrementControllerEpoch")
        if node is None:
            self.context.zk.create(znodes.CONTROLLER_EPOCH, "1")
            return 1, 0
        epoch = znodes.following(self.epoch_in(node.data))
        return epoch, self.context.zk.set_data(znodes.CONTROLLER_EPOCH, str(epoch), node.version)

    def epoch_in(self, data: str | None) -> int:
        """The number in /controller_epoch.

        Raises:
            UnreadableError: it holds none. Kafka then ends in an exception, so that no broker
            becomes controller.
        """
        epoch = znodes.controller_epoch_in(data)
        if epoch is None:
            raise UnreadableError(f"{znodes.CONTROLLER_EPOCH} holds no number.")
        return epoch

    def run(self) -> None:
        """Run onControllerFailover in the order of the release; each step emits an event."""
        done = 0
        if not self.context.profile.has("controller_multi"):
            done = 3 if self.context.profile.has("failover_checks_running") else 2
        by_handlers = self.context.profile.has("controller_event_queue")
        steps = self._by_handlers() if by_handlers else self._by_listeners()
        for number, step in enumerate(steps, start=done + 1):
            self._step(number, step.name, step.logged)
            step.work()

    def _step(self, number: int, name: str, detail: str = "") -> None:
        self.context.step("onControllerFailover", number, name, detail)

    def _by_listeners(self) -> list[Step]:
        """The steps up to 0.10.2."""
        has = self.context.profile.has
        ready = (
            f"Broker {self.context.broker.id} is ready to serve as the new controller"
            f" with epoch {self.context.state.epoch}"
        )
        # Brokers only follow a leader that they know to be alive, so from 0.10.2 they receive the
        # live brokers before the state machines send LeaderAndIsr (KAFKA-4443).
        metadata_first = has("failover_sends_metadata_first")
        metadata: list[Step] = [
            Step(
                "sendUpdateMetadataRequest",
                self._send_all_metadata,
                "to all brokers that are live or shutting down",
            )
        ]
        isr: list[Step] = [
            Step("registerIsrChangeNotificationListener", self._watch(znodes.ISR_CHANGES))
        ]
        running: list[Step] = [Step("brokerState.newState(RunningAsController)", _nothing)]
        machines = self._watch(znodes.TOPICS, znodes.DELETE_TOPICS)
        return [
            Step("registerReassignedPartitionsListener", self._watch(znodes.REASSIGN_PARTITIONS)),
            *(isr if has("isr_change_notifications") else []),
            Step(
                "registerPreferredReplicaElectionListener", self._watch(znodes.PREFERRED_ELECTION)
            ),
            Step("partitionStateMachine.registerListeners", machines),
            Step("replicaStateMachine.registerListeners", self._watch(znodes.BROKER_IDS)),
            Step("initializeControllerContext", self._initialize_with_deletions),
            *(metadata if metadata_first else []),
            Step("replicaStateMachine.startup", self._start_replicas),
            Step("partitionStateMachine.startup", self._start_partitions),
            Step(
                "partitionStateMachine.registerPartitionChangeListener", self._watch_topics, ready
            ),
            *(running if has("running_as_controller") else []),
            Step("maybeTriggerPartitionReassignment", self.reassignment.take_over),
            Step("maybeTriggerPreferredReplicaElection", self.rebalance.take_over),
            *([] if metadata_first else metadata),
            *self._rebalancing("autoRebalanceScheduler.startup", REBALANCING),
            Step("deleteTopicManager.start", self.deletion.look),
        ]

    def _by_handlers(self) -> list[Step]:
        """The steps from 0.11 on: one thread, and znode handlers instead of listeners."""
        leftovers: list[Step] = [
            Step("deleteLogDirEventNotifications", self._delete(znodes.LOG_DIR_EVENTS)),
            Step("deleteIsrChangeNotifications", self._delete(znodes.ISR_CHANGES)),
        ]
        requests = self._watch(znodes.PREFERRED_ELECTION, znodes.REASSIGN_PARTITIONS)
        return [
            Step("registerZNodeChildChangeHandlers", self._watch(*CHILD_WATCHES)),
            Step("registerZNodeChangeHandlers", requests),
            *(leftovers if self.context.profile.has("failover_deletes_notifications") else []),
            Step("initializeControllerContext", self._initialize),
            Step("topicDeletionManager.init", self.deletion.queue),
            Step("sendUpdateMetadataRequest", self._send_all_metadata),
            Step("replicaStateMachine.startup", self._start_replicas),
            Step("partitionStateMachine.startup", self._start_partitions),
            Step("initializePartitionReassignments", self.reassignment.take_over),
            Step("topicDeletionManager.tryTopicDeletion", self.deletion.look),
            Step("onPreferredReplicaElection", self.rebalance.take_over),
            Step("kafkaScheduler.startup", _nothing),
            *self._rebalancing("scheduleAutoLeaderRebalanceTask"),
        ]

    def _rebalancing(self, name: str, logged: str = "") -> list[Step]:
        enabled = self.context.broker.config.auto_leader_rebalance_enable
        stepwise = self.context.stepwise
        return [Step(name, self._start_rebalance, logged)] if enabled and not stepwise else []

    def _start_rebalance(self) -> None:
        self.context.broker.later("rebalance", REBALANCE_FIRST_US)

    # ---- watches and old notifications

    def _watch(self, *paths: str) -> Callable[[], None]:
        """Watch the children of paths that are lists, and the existence of the others."""
        zk = self.context.zk

        def work() -> None:
            for path in paths:
                if path not in CHILD_WATCHES:
                    zk.watch(path)
                elif path != znodes.ISR_CHANGES or zk.find(path) is not None:
                    zk.watch_children(path)

        return work

    def _watch_topics(self) -> None:
        for topic in self.context.state.topics:
            self.context.zk.watch(znodes.topic_path(topic))

    def _delete(self, path: str) -> Callable[[], None]:
        """Delete the notifications for earlier controllers: all data is read again anyway."""

        def work() -> None:
            names = self.context.zk.children(path)
            if names:
                self.context.check_epoch()
            for name in names:
                self.listeners.delete_notification(f"{path}/{name}")

        return work

    # ---- the steps

    def _initialize(self) -> None:
        """Read live brokers, topics, assignments and the state of every partition.

        Source: ``initializeControllerContext``.
        """
        state = self.context.state
        state.live, unreadable = self.context.registered()
        for name in unreadable:
            detail = f"{znodes.BROKER_IDS}/{name} is no broker."
            self.context.step("error", 1, "UnreadableError", detail)
        self.listeners.load_all()
        for tp in state.assignments:
            info = self.context.read(tp)
            if info is not None:
                state.infos[tp] = info
        self.reassignment.load_requests()

    def _initialize_with_deletions(self) -> None:
        self._initialize()
        self.deletion.queue()

    def _send_all_metadata(self) -> None:
        state = self.context.state
        batch = Batch()
        batch.metadata = dict(state.infos)
        self.channels.send(batch, metadata_to=sorted(state.live))

    def _start_replicas(self) -> None:
        """RSM.startup: send live replicas their state; from 2.3 dead ones leave their ISRs."""
        state = self.context.state
        batch = Batch()
        for tp, info in state.infos.items():
            self.replicas.start(tp)
            live = [b for b in state.assignments.get(tp, []) if b in state.live]
            batch.lead(live, tp, info)
        self.channels.send(batch)
        if self.context.profile.has("offline_replicas_leave_isr_at_failover"):
            batch = Batch()
            hosts = {broker for replicas in state.assignments.values() for broker in replicas}
            for broker in self.context.in_turn(hosts - state.live.keys()):
                for tp, info in list(state.infos.items()):
                    if self.resumes and info.leader < 0:
                        self.replicas.move(tp, broker, REPLICA_OFFLINE)
                    elif broker in info.isr:
                        self.replicas.go_offline(tp, broker, batch)
            self.channels.send(batch)

    def _start_partitions(self) -> None:
        """PSM.startup: determine which partitions are online, and elect leaders for the others."""
        state = self.context.state
        new: list[str] = []
        for tp in state.assignments:
            info = state.infos.get(tp)
            if info is None and not self.context.is_deleting(tp):
                new.append(tp)
            elif info is not None:
                state.partitions[tp] = ONLINE if info.leader in state.live else OFFLINE
        self.partitions.create(new)
        batch = Batch()
        waiting = self.context.leaderless()
        offline = [tp for tp in waiting if state.partitions[tp] == OFFLINE]
        self.partitions.elect_offline(offline, batch)
        self.channels.send(batch)


def _nothing() -> None:
    """Do nothing: the step has no effect here."""
