"""The controller: its election, its failover, and what its watches and requests bring.

Every broker watches /controller. When the node vanishes all race to create it; one wins. Work that
needs ZooKeeper while it cannot be reached waits until it can.
"""

from collections.abc import Callable, Iterable

from emulator import events
from emulator.broker_context import BrokerContext
from emulator.controller.broker_changes import BrokerChanges
from emulator.controller.channels import Batch, Channels
from emulator.controller.context import (
    ControllerContext,
    Controllership,
    ControllerState,
)
from emulator.controller.failover import Failover
from emulator.controller.leader_rebalance import LeaderRebalance
from emulator.controller.listeners import Listeners
from emulator.controller.partition_state_machine import PartitionStateMachine
from emulator.controller.reassignment import Reassignment
from emulator.controller.replica_state_machine import ReplicaStateMachine
from emulator.controller.topic_deletion import TopicDeletion
from emulator.protocol import (
    AlterIsrItem,
    AlterPartitionReassignmentsRequest,
    AlterPartitionReassignmentsResponse,
    AlterPartitionRequest,
    AlterPartitionResponse,
    ControlledShutdownRequest,
    ControlledShutdownResponse,
    ControlResponse,
    DescribeClusterRequest,
    DescribeClusterResponse,
    ElectLeadersRequest,
    ElectLeadersResponse,
    PartitionInfo,
    StopReplicaRequest,
    WatchEvent,
)
from emulator.zookeeper import data as znodes
from emulator.zookeeper import errors
from emulator.zookeeper.operations import Create, SetData

RACE_US = 400
"""A broker that is told so soon after another one's election has not seen it before it tries."""


class Controller:
    """A broker as the controller, or as one that may become it."""

    def __init__(
        self,
        broker: BrokerContext,
        controllership: Controllership,
        controller_known: Callable[[], None],
    ) -> None:
        """Act for ``broker``; ``controller_known`` is called when /controller was read."""
        self.broker = broker
        self.controllership = controllership
        self.controller_known = controller_known
        self.profile = broker.profile
        self.zk = broker.zk
        context = self.context = ControllerContext(broker, controllership)
        channels = self.channels = Channels(context)
        partitions = self.partitions = PartitionStateMachine(context, channels)
        replicas = self.replicas = ReplicaStateMachine(
            context, partitions.lost_leader, partitions.unclean_election
        )
        machines = (context, channels, partitions, replicas)
        deletion = self.deletion = TopicDeletion(*machines)
        reassignment = self.reassignment = Reassignment(*machines, deletion)
        rebalance = self.leader_rebalance = LeaderRebalance(context, channels, partitions)
        brokers = self.brokers = BrokerChanges(*machines, deletion, reassignment)
        self.listeners = Listeners(
            context, channels, partitions, deletion, reassignment, rebalance, brokers
        )
        self.failover = Failover(*machines, deletion, reassignment, rebalance, self.listeners)

    @property
    def state(self) -> ControllerState | None:
        """The cache if this broker is (or believes to be) controller."""
        return self.controllership.state

    # ---- election

    def elect(self) -> None:
        """Become controller if nobody is; watch /controller in any case.

        Whoever has not become it learns who is. Where /controller_epoch cannot be read nobody
        becomes it, as Kafka ends in an exception (up to 2.0 after creating /controller, which it
        then deletes, over and over; here it does not begin).
        """
        self._guarded(self._elect)

    def _elect(self) -> None:
        self.zk.watch(znodes.CONTROLLER)
        node = self.zk.find(znodes.CONTROLLER)
        if node is None:
            self._run()
        elif self.state is None and self._is_named():
            self._take_over_own()
        else:
            self._note(node.data)

    def _lose_race(self) -> None:
        """Told that the znode is gone, create it, unless another broker has long been faster.

        Reading and creating are two round trips in reality, in which all who are told at about the
        same time read that there is no controller. All but one fail to create the znode then.
        """
        node = self.zk.find(znodes.CONTROLLER)
        if node is None or self.broker.kernel.now - node.ctime_us >= RACE_US:
            return
        try:
            data = znodes.controller_json(self.profile, self.broker.id, self.broker.timestamp_ms)
            self.zk.create(znodes.CONTROLLER, data, ephemeral=True)
        except errors.NodeExistsError:
            return

    def _note(self, data: str | None) -> None:
        holder = znodes.controller_in(data)
        self.broker.process.known_controller = -1 if holder is None else holder
        self.controller_known()

    def _run(self) -> None:
        """Create /controller; the release decides how the epoch comes with it."""
        broker, zk = self.broker, self.zk
        data = znodes.controller_json(self.profile, broker.id, broker.timestamp_ms)
        node = zk.find(znodes.CONTROLLER_EPOCH)
        epoch = 0 if node is None else self.failover.epoch_in(node.data)
        if not self.profile.has("controller_multi"):
            zk.create(znodes.CONTROLLER, data, ephemeral=True)
            found = self.failover.next_epoch()
            if found is not None:
                self._become_controller(*found)
            return
        if node is None:
            zk.create(znodes.CONTROLLER_EPOCH, "0")
            node = zk.get(znodes.CONTROLLER_EPOCH)
        epoch = znodes.following(epoch)
        zk.multi(
            [
                Create(znodes.CONTROLLER, data, ephemeral=True),
                SetData(znodes.CONTROLLER_EPOCH, str(epoch), node.version),
            ]
        )
        self._become_controller(epoch, zk.get(znodes.CONTROLLER_EPOCH).version)

    def _take_over_own(self) -> None:
        """/controller is this broker's own: it was created, but the answer was lost.

        (``checkControllerAndEpoch``, and ``CheckedEphemeral`` for the owner.)
        """
        if not self.profile.has("controller_multi"):
            found = self.failover.next_epoch()
            if found is not None:
                self._become_controller(*found)
            return
        node = self.zk.get(znodes.CONTROLLER_EPOCH)
        self._become_controller(self.failover.epoch_in(node.data), node.version)

    def _become_controller(self, epoch: int, epoch_zk_version: int) -> None:
        self.controllership.state = ControllerState(epoch, epoch_zk_version)
        self.broker.process.known_controller = self.broker.id
        self.broker.emit(events.ControllerElected, self.broker.id, epoch, epoch_zk_version)
        self._guarded(self.failover.run)

    def resign(self, reason: str) -> None:
        """Be controller no longer: forget everything that belongs to it."""
        state = self.state
        if state is not None:
            self.controllership.state = None
            self.broker.emit(events.ControllerResigned, self.broker.id, state.epoch, reason)

    def _guarded(self, work: Callable[[], None]) -> None:
        """Do the work on one event of the active controller."""
        self.context.guarded(work, self._moved)

    def _moved(self) -> None:
        """Another broker has turned out to be controller: look who is (``maybeResign``).

        As long as /controller names this broker it goes on: then an outsider has changed the epoch.
        """
        if not self._is_named():
            self.resign("controller moved")
            self.elect()

    def _is_named(self) -> bool:
        """Whether /controller names this broker, and is of its session."""
        node = self.zk.find(znodes.CONTROLLER)
        return (
            node is not None
            and node.ephemeral_owner == self.broker.session
            and znodes.controller_in(node.data) == self.broker.id
        )

    # ---- rebalancing

    def rebalance(self) -> None:
        """The task that moves leaders home (checkAndTriggerAutoLeaderRebalance)."""
        if self.state is None:
            return
        period_us = self.broker.config.leader_imbalance_check_interval_us
        self._guarded(self.leader_rebalance.rebalance)
        if not self.broker.stepwise:
            self.broker.later("rebalance", period_us)

    # ---- what watches bring

    def watched(self, message: WatchEvent) -> None:
        """A watch fired: read again and act on the difference."""
        path = message.path
        if path == znodes.CONTROLLER:
            if message.kind == "NodeDeleted" and self.state is None:
                self._guarded(self._lose_race)
            self._guarded(self._controller_changed)
        elif self.state is not None:
            self._guarded(lambda: self.listeners.changed(path, message.kind))

    def config_changed(self, kind: str, name: str) -> None:
        """This broker has taken a changed configuration."""
        if self.state is not None:
            self._guarded(lambda: self.listeners.config_changed(kind, name))

    def _controller_changed(self) -> None:
        if self.state is not None and not self._is_named():
            self.resign("/controller is not this broker's")
        self.elect()

    def retry(self) -> None:
        """What had to wait for ZooKeeper: look at everything again.

        First at who is controller, as the news that this broker no longer is may have been lost.
        """
        self._guarded(self._retry)

    def _retry(self) -> None:
        if self.state is not None:
            self._controller_changed()
        if self.state is None:
            self.elect()
            return
        self._guarded(self.brokers.look)
        if self.state is not None:
            self._guarded(self.listeners.look_again)

    # ---- requests to the controller

    def controlled_shutdown(
        self, source: int, request: int, message: ControlledShutdownRequest
    ) -> None:
        """Move everything away from a broker that wants to go."""
        state = self.state
        error, remaining = "NOT_CONTROLLER", list[str]()
        if state is None or not self.zk.usable():
            pass
        elif message.broker not in state.live:
            error = "BROKER_NOT_AVAILABLE"
        else:

            def work() -> None:
                nonlocal error, remaining
                remaining = self.brokers.shut_down(message.broker)
                error = "NONE"

            self._guarded(work)
        response = ControlledShutdownResponse(request, error, remaining)
        self.broker.respond(source, request, response)

    def alter_partition(self, source: int, request: int, message: AlterPartitionRequest) -> None:
        """KIP-497: write the ISRs that leaders ask for (KafkaController.processAlterPartition)."""
        state = self.state
        rows: dict[str, tuple[str, PartitionInfo | None]] = {}
        error = "NOT_CONTROLLER"
        if state is None or not self.zk.usable():
            pass
        elif message.broker_epoch < state.live.get(message.broker, 0) or (
            message.broker not in state.live
        ):
            error = "STALE_BROKER_EPOCH"
            known = state.live.get(message.broker, -1)
            self.broker.refuse(source, request, "", error, message.broker_epoch, known)
        else:

            def work() -> None:
                nonlocal error
                self._alter(source, request, message, rows)
                error = "NONE"

            self._guarded(work)
        found = rows if error == "NONE" else {}
        self.broker.respond(source, request, AlterPartitionResponse(request, error, found))

    def _alter(
        self,
        source: int,
        request: int,
        message: AlterPartitionRequest,
        rows: dict[str, tuple[str, PartitionInfo | None]],
    ) -> None:
        state = self.context.state
        batch = Batch()
        for tp, item in message.partitions.items():
            before = state.infos.get(tp)
            error, given, known = self._alter_one(tp, item)
            info = state.infos.get(tp)
            rows[tp] = (error, info if error == "NONE" else None)
            if error != "NONE":
                self.broker.refuse(source, request, tp, error, given, known)
            elif info is not None and info is not before:
                batch.metadata[tp] = info
        self.channels.send(batch)
        for tp in batch.metadata:
            self.reassignment.check(tp)

    def _alter_one(self, tp: str, item: AlterIsrItem) -> tuple[str, int, int]:
        """Write the ISR that a leader asks for, unless what it knows is old.

        Returns the error, and of a refusal the value in the request and the controller's own.
        """
        state = self.context.state
        info = state.infos.get(tp)
        if info is None:
            return "UNKNOWN_TOPIC_OR_PARTITION", -1, -1
        if item.leader_epoch < info.leader_epoch:
            return "FENCED_LEADER_EPOCH", item.leader_epoch, info.leader_epoch
        if item.isr == info.isr:
            return "NONE", 0, 0
        if item.zk_version != info.zk_version:
            return "INVALID_UPDATE_VERSION", item.zk_version, info.zk_version
        if self.profile.has("alter_partition_needs_live_replicas"):
            live = self.context.live_brokers()
            dead = [broker for broker in item.isr if broker not in live]
            if dead:
                return "INELIGIBLE_REPLICA", dead[0], -1
        try:
            self.context.write(tp, info.leader, item.isr, bump=False)
        except errors.BadVersionError:
            return "INVALID_UPDATE_VERSION", item.zk_version, state.infos[tp].zk_version
        except errors.NoNodeError:
            return "UNKNOWN_TOPIC_OR_PARTITION", -1, -1
        return "NONE", 0, 0

    # ---- requests of administrators

    def describe_cluster(self, source: int, request: int, _message: DescribeClusterRequest) -> None:
        """Tell a client who is controller, as far as this broker knows; any broker does."""
        known = self.broker.process.known_controller
        self.broker.respond(source, request, DescribeClusterResponse(request, known))

    def elect_leaders(self, source: int, request: int, message: ElectLeadersRequest) -> None:
        """KIP-460: elect leaders, from outside the ISR if need be."""
        error, errors = self._each(message.partitions, self.leader_rebalance.elect_unclean)
        self.broker.respond(source, request, ElectLeadersResponse(request, error, errors))

    def alter_reassignments(
        self, source: int, request: int, message: AlterPartitionReassignmentsRequest
    ) -> None:
        """KIP-455: begin reassignments, or take them back."""
        wanted = message.partitions
        error, errors = self._each(wanted, lambda tp: self.reassignment.alter(tp, wanted[tp]))
        response = AlterPartitionReassignmentsResponse(request, error, errors)
        self.broker.respond(source, request, response)

    def _each(self, tps: Iterable[str], work: Callable[[str], str]) -> tuple[str, dict[str, str]]:
        """Do an administrator's work on partitions: an error for all, or one for each.

        A partition at which the work ends in an error that Kafka does not expect gets
        UNKNOWN_SERVER_ERROR. Who is controller no longer, or cannot know, is NOT_CONTROLLER.
        """
        if self.state is None or not self.zk.usable():
            return "NOT_CONTROLLER", {}
        errors: dict[str, str] = {}
        for tp in tps:
            errors[tp] = "UNKNOWN_SERVER_ERROR"

            def one(tp: str = tp) -> None:
                errors[tp] = work(tp)

            self._guarded(one)
            if self.controllership.state is None:
                return "NOT_CONTROLLER", {}
        return "NONE", errors

    # ---- responses

    def answered(self, message: ControlResponse) -> None:
        """A broker answered one of the controller's requests."""
        done = self.channels.answered(message)
        if isinstance(done, StopReplicaRequest) and message.error == "NONE":
            self._guarded(lambda: self.deletion.stopped(message.broker, done))

    def connection_lost(self, peer: int, request: int) -> None:
        """A connection of the controller to a broker broke."""
        del request
        self.channels.connection_lost(peer)
