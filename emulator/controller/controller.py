"""The controller: its election, its failover, and its handling of watches and requests.

Every broker watches /controller. When the znode disappears all race to create it; one wins.

One thread does the controller's work, event by event. It may block: on the last response of a
failed broker (0.10.2.1 to 2.1.0), or on ZooKeeper. All further events then wait for it, including
those that would tell the broker that it is no longer controller.
Source: ``ControllerEventManager``; up to 0.10.2 the ``ZkEventThread`` and ``controllerLock``.
"""

from collections.abc import Callable, Iterable
from typing import Any

from emulator import events
from emulator.broker_context import BrokerContext
from emulator.broker_effects import ControllerKnown, RegistrationLost
from emulator.controller.broker_changes import BrokerChanges
from emulator.controller.channels import Batch, Channels
from emulator.controller.context import (
    ConfigTaken,
    ControllerContext,
    ControllerEvent,
    Controllership,
    ControllerState,
    Elect,
    LookAgain,
    QueuedEvent,
    RebalanceLeaders,
    RegisterAgain,
    ReplicasStopped,
    SessionExpired,
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
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsResponse,
    PartitionInfo,
    StopReplicaRequest,
    WatchEvent,
)
from emulator.zookeeper import data as znodes
from emulator.zookeeper import errors
from emulator.zookeeper.client import EXPIRED, ZkClient
from emulator.zookeeper.operations import Create, SetData

RACE_US = 400
"""A broker notified this soon after another one's election still tries to become controller."""


class Controller:
    """A broker in its role as the controller or a candidate for it."""

    def __init__(
        self,
        broker: BrokerContext,
        controllership: Controllership,
        zk: ZkClient,
    ) -> None:
        """Act for ``broker``, whose client of ZooKeeper is ``zk``."""
        self.broker = broker
        self.controllership = controllership
        self.profile = broker.profile
        self.zk = zk
        context = self.context = ControllerContext(broker, controllership, zk)
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
        self.thread = controllership.thread
        self.expiry_clears_events = self.profile.has("session_expiry_fails_requests")
        self._handlers = self._table()

    @property
    def state(self) -> ControllerState | None:
        """The cache if this broker is (or believes to be) controller."""
        return self.controllership.state

    # ---- the thread

    def _table(self) -> dict[type, Callable[[int, int, Any], object]]:
        """The thread's event handlers; they take source, cause (or request number), and event."""
        return {
            WatchEvent: lambda _source, _cause, event: self._watched(event),
            ControlledShutdownRequest: self._controlled_shutdown,
            AlterPartitionRequest: self._alter_partition,
            ElectLeadersRequest: self._elect_leaders,
            AlterPartitionReassignmentsRequest: self._alter_reassignments,
            Elect: lambda *_: self._guarded(self._elect),
            LookAgain: lambda *_: self._guarded(self._look_again),
            SessionExpired: lambda *_: self._expire(),
            RegisterAgain: lambda *_: self.broker.carry_out(RegistrationLost()),
            ConfigTaken: lambda _source, _cause, event: self._config_taken(event),
            RebalanceLeaders: lambda *_: self._rebalance(),
            ReplicasStopped: lambda _source, _cause, event: self._replicas_stopped(event),
        }

    def _take(self, event: ControllerEvent, source: int = -1) -> None:
        """Process an event on the thread: now, or once it is no longer blocked."""
        queued = (source, self.broker.kernel.cause, event)
        if self.thread.waits:
            self.thread.events.append(queued)
        else:
            self._process(queued)

    def _process(self, queued: QueuedEvent) -> None:
        source, cause, event = queued
        self._handlers[type(event)](source, cause, event)

    def _go_on(self) -> None:
        """Unblock the thread: complete the interrupted work, then process the queued events."""
        thread, kernel = self.thread, self.broker.kernel
        change, thread.change = thread.change, None
        if change is not None and not self._guarded(lambda: self.brokers.go_on(change)):
            # Up to 1.0 it continues in the next session; later it fails if a new one is needed.
            is_over = self.zk.state.connection == EXPIRED and self.expiry_clears_events
            if not is_over:
                thread.change, thread.without_zookeeper = change, True
        cause = kernel.cause
        while thread.events and not thread.waits:
            queued = thread.events.pop(0)
            kernel.cause = queued[1]
            self._process(queued)
        kernel.cause = cause

    def _send_threads_ended(self, *, waited: bool) -> None:
        """Continue once the last of the awaited send threads has ended."""
        if waited and not self.thread.waits:
            self._go_on()

    def _wait_for_zookeeper(self, source: int, request: int, event: ControllerEvent) -> None:
        """Block the thread: the event being processed needs ZooKeeper, which does not respond."""
        self.thread.events.insert(0, (source, request, event))
        self.thread.without_zookeeper = True

    def session_expired(self) -> None:
        """Handle the expiry of the broker's ZooKeeper session.

        From 1.1 on the event being processed fails, queued events are dropped, and no new session
        is created before the thread handles the expiry. In earlier releases the session is renewed
        at once, and blocked work continues in it.
        """
        if self.expiry_clears_events:
            self._clear_events()
            self._take(SessionExpired())
        elif not self.thread.waits:
            self._take(SessionExpired())
        else:
            self.zk.connect()
            self._take(SessionExpired())
            if self.profile.has("controller_event_queue"):
                self.broker.carry_out(RegistrationLost())  # not on the controller's thread

    def _clear_events(self) -> None:
        """ControllerEventManager.clearAndPut: drop the events queued for the thread."""
        thread = self.thread
        events, thread.events = thread.events, []
        for number, (source, request, event) in enumerate(events):
            under_way = thread.without_zookeeper and thread.change is None and number == 0
            self._give_up(source, request, event, "UNKNOWN_SERVER_ERROR" if under_way else "")
        if thread.without_zookeeper:
            thread.without_zookeeper, thread.change = False, None

    def _give_up(self, source: int, request: int, event: ControllerEvent, error: str) -> None:
        """Fail a request that will not be processed; AlterPartition only if it was in progress."""
        respond = self.broker.respond
        if isinstance(event, AlterPartitionRequest) and error:
            failed: dict[str, tuple[str, PartitionInfo | None]] = {
                tp: (error, None) for tp in event.partitions
            }
            respond(source, request, AlterPartitionResponse(request, "NONE", failed))
        elif isinstance(event, ControlledShutdownRequest):
            response = ControlledShutdownResponse(request, error or "NOT_CONTROLLER", [])
            respond(source, request, response)
        elif isinstance(event, ElectLeadersRequest):
            respond(source, request, ElectLeadersResponse(request, "NOT_CONTROLLER", {}))
        elif isinstance(event, AlterPartitionReassignmentsRequest):
            moved = AlterPartitionReassignmentsResponse(request, "NOT_CONTROLLER", {})
            respond(source, request, moved)

    def _expire(self) -> None:
        self.resign("session expired")
        if self.thread.waits and self.zk.state.connection == EXPIRED:
            self.zk.connect()
        self._take(RegisterAgain())

    # ---- election

    def elect(self) -> None:
        """Become controller if there is none; watch /controller in any case.

        A broker that does not become controller learns which one is. If /controller_epoch is
        malformed no broker becomes controller, because Kafka ends in an exception (up to 2.0 after
        creating /controller, which it then deletes, over and over; here it does not start).
        """
        self._take(Elect())

    def resume(self) -> None:
        """Become controller as if in office for long: the leaders were just checked."""
        self.failover.resumes = True
        self.elect()
        self.failover.resumes = False
        timers, config = self.broker.timers, self.broker.config
        if timers.cancel("rebalance"):
            timers.later("rebalance", config.leader_imbalance_check_interval_us)

    def _elect(self) -> None:
        self.zk.watch(znodes.CONTROLLER)
        node = self.zk.find(znodes.CONTROLLER)
        if node is None:
            self._run()
        elif self.state is None and self.controllership.is_running and self._is_named():
            self._take_over_own()
        else:
            self._note(node.data)

    def _lose_race(self) -> None:
        """Try to create the deleted /controller, unless another broker won long ago.

        In reality reading and creating are two round trips: all brokers notified at about the same
        time read that there is no controller, and all but one then fail to create the znode.
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
        self.broker.carry_out(ControllerKnown())

    def _run(self) -> None:
        """Create /controller; how the epoch is incremented depends on the release."""
        broker, zk = self.broker, self.zk
        data = znodes.controller_json(self.profile, broker.id, broker.timestamp_ms)
        node = zk.find(znodes.CONTROLLER_EPOCH)
        epoch = 0 if node is None else self.failover.epoch_in(node.data)
        if not self.profile.has("controller_multi"):
            zk.create(znodes.CONTROLLER, data, ephemeral=True)
            new_epoch = self.failover.next_epoch()
            if new_epoch is not None:
                self._become_controller(*new_epoch)
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
        """Take over as controller: /controller was created, but the response was lost.

        (``checkControllerAndEpoch``, and ``CheckedEphemeral`` for the owner.)
        """
        if not self.profile.has("controller_multi"):
            new_epoch = self.failover.next_epoch()
            if new_epoch is not None:
                self._become_controller(*new_epoch)
            return
        node = self.zk.get(znodes.CONTROLLER_EPOCH)
        self._become_controller(self.failover.epoch_in(node.data), node.version)

    def _become_controller(self, epoch: int, epoch_zk_version: int) -> None:
        self.context.take_office(ControllerState(epoch, epoch_zk_version))
        self.broker.process.known_controller = self.broker.id
        self.broker.emit(events.ControllerElected, self.broker.id, epoch, epoch_zk_version)
        self._guarded(self.failover.run)

    def resign(self, reason: str) -> None:
        """Resign as controller, and discard all of its state.

        From 0.10.2.1 to 2.1.0 the thread waits for the responses to requests in flight.
        """
        state = self.state
        if state is not None:
            self.context.leave_office()
            self.channels.remove_all(state.channels)
            self.broker.emit(events.ControllerResigned, self.broker.id, state.epoch, reason)

    def shut_down(self) -> None:
        """Resign for good, as the last thing before the broker's session is closed."""
        self.controllership.is_running = False
        self.resign("shut down")

    def _guarded(self, work: Callable[[], None]) -> bool:
        """Process one event of the active controller; False if ZooKeeper does not respond."""
        return self.context.guarded(work, self._moved)

    def _moved(self) -> None:
        """Re-read /controller: another broker seems to be controller (``maybeResign``).

        If it still names this broker, this broker stays controller: an external client has changed
        the epoch.
        """
        if not self._is_named():
            self.resign("controller moved")
            self.elect()

    def _is_named(self) -> bool:
        """Whether /controller names this broker and belongs to its session."""
        node = self.zk.find(znodes.CONTROLLER)
        return (
            node is not None
            and node.ephemeral_owner == self.zk.state.session
            and znodes.controller_in(node.data) == self.broker.id
        )

    # ---- rebalancing

    def rebalance(self) -> None:
        """Queue the due rebalancing of preferred leaders."""
        self._take(RebalanceLeaders())

    def _rebalance(self) -> None:
        """CheckAndTriggerAutoLeaderRebalance."""
        if self.state is None:
            return
        period_us = self.broker.config.leader_imbalance_check_interval_us
        self._guarded(self.leader_rebalance.rebalance)
        if not self.broker.stepwise:
            self.broker.later("rebalance", period_us)

    # ---- watches

    def watched(self, message: WatchEvent) -> None:
        """Handle a watch event."""
        self._take(message)

    def _watched(self, message: WatchEvent) -> None:
        """Re-read the znode and act on the difference."""
        path = message.path
        if path == znodes.CONTROLLER:
            if message.kind == "NodeDeleted" and self.state is None:
                self._guarded(self._lose_race)
            self._guarded(self._controller_changed)
        elif self.state is not None and not self._guarded(
            lambda: self.listeners.changed(path, message.kind)
        ):
            self._wait_for_zookeeper(-1, self.broker.kernel.cause, message)

    def config_changed(self, kind: str, name: str) -> None:
        """Handle a changed configuration that this broker has applied."""
        if self.state is not None:
            self._take(ConfigTaken(kind, name))

    def _config_taken(self, event: ConfigTaken) -> None:
        if self.state is not None:
            self._guarded(lambda: self.listeners.config_changed(event.kind, event.name))

    def _controller_changed(self) -> None:
        if self.state is not None and not self._is_named():
            self.resign("/controller is not this broker's")
        self.elect()

    def retry(self) -> None:
        """Run the work blocked on ZooKeeper, then check everything again."""
        if self.thread.without_zookeeper:
            self.thread.without_zookeeper = False
            if not self.thread.waits:
                self._go_on()
            if self.thread.without_zookeeper:
                return  # ZooKeeper still does not respond: there will be another retry
        self._take(LookAgain())

    def _look_again(self) -> None:
        """Check /controller first, because the notification of a new controller may be lost."""
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
        self, source: int, _request: int, message: ControlledShutdownRequest
    ) -> None:
        """Handle the request of a broker that wants to shut down."""
        self._take(message, source)

    def _controlled_shutdown(
        self, source: int, request: int, message: ControlledShutdownRequest
    ) -> None:
        """Move all leaderships away from the broker."""
        state = self.state
        error, remaining = "NOT_CONTROLLER", list[str]()
        if state is None:
            pass
        elif message.broker not in state.live:
            error = "BROKER_NOT_AVAILABLE"
        else:

            def work() -> None:
                nonlocal error, remaining
                remaining = self.brokers.shut_down(message.broker)
                error = "NONE"

            if not self._guarded(work):
                self._wait_for_zookeeper(source, request, message)
                return
        response = ControlledShutdownResponse(request, error, remaining)
        self.broker.respond(source, request, response)

    def alter_partition(self, source: int, _request: int, message: AlterPartitionRequest) -> None:
        """Handle a leader's request to change ISRs (KIP-497)."""
        self._take(message, source)

    def _alter_partition(self, source: int, request: int, message: AlterPartitionRequest) -> None:
        """Write the ISRs requested by leaders (KafkaController.processAlterPartition)."""
        state = self.state
        rows: dict[str, tuple[str, PartitionInfo | None]] = {}
        error = "NOT_CONTROLLER"
        if state is None:
            pass
        elif message.broker_epoch < state.live.get(message.broker, 0) or (
            message.broker not in state.live
        ):
            error = "STALE_BROKER_EPOCH"
            epoch = state.live.get(message.broker, -1)
            self.broker.refuse(source, request, "", error, message.broker_epoch, epoch)
        else:

            def work() -> None:
                nonlocal error
                self._alter(source, request, message, rows)
                error = "NONE"

            if not self._guarded(work):
                self._wait_for_zookeeper(source, request, message)
                return
        outcomes = rows if error == "NONE" else {}
        self.broker.respond(source, request, AlterPartitionResponse(request, error, outcomes))

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
            error, requested_value, current_value = self._alter_one(tp, item)
            info = state.infos.get(tp)
            rows[tp] = (error, info if error == "NONE" else None)
            if error != "NONE":
                self.broker.refuse(source, request, tp, error, requested_value, current_value)
            elif info is not None and info is not before:
                batch.metadata[tp] = info
        self.channels.send(batch)
        for tp in batch.metadata:
            self.reassignment.check(tp)

    def _alter_one(self, tp: str, item: AlterIsrItem) -> tuple[str, int, int]:
        """Write the ISR that a leader requests, unless its view is stale.

        Return the error, and for a rejection the value in the request and the controller's own.
        """
        state = self.context.state
        info = state.infos.get(tp)
        if info is None:
            return "UNKNOWN_TOPIC_OR_PARTITION", -1, -1
        if item.leader_epoch < info.leader_epoch:
            return "FENCED_LEADER_EPOCH", item.leader_epoch, info.leader_epoch
        if item.isr == info.isr and item.zk_version <= info.zk_version:
            return "NONE", 0, 0
        if item.zk_version != info.zk_version:
            ahead = item.zk_version > info.zk_version
            return self._other_version(ahead=ahead), item.zk_version, info.zk_version
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

    def _other_version(self, *, ahead: bool) -> str:
        """The error for a leader with a different version of the partition's state.

        Up to 3.2 ZooKeeper's response decides, so that the controller notices if it was replaced;
        later a leader with a newer version gets NOT_CONTROLLER at once.
        """
        if ahead and self.profile.has("leader_ahead_of_controller_noticed"):
            return "NOT_CONTROLLER"
        if ahead:
            self.context.check_epoch()
        return "INVALID_UPDATE_VERSION"

    # ---- administrative requests

    def describe_cluster(self, source: int, request: int, _message: DescribeClusterRequest) -> None:
        """Return the controller as far as this broker knows it; any broker does."""
        controller = self.broker.process.known_controller
        self.broker.respond(source, request, DescribeClusterResponse(request, controller))

    def elect_leaders(self, source: int, _request: int, message: ElectLeadersRequest) -> None:
        """KIP-460: elect leaders, from outside the ISR if requested."""
        self._take(message, source)

    def _elect_leaders(self, source: int, request: int, message: ElectLeadersRequest) -> None:
        if self._lacks_zookeeper(source, request, message):
            return
        elect = self.leader_rebalance.elect_unclean
        if not message.unclean:
            elect = self.leader_rebalance.elect_preferred_one
        partitions = message.partitions or list(self.state.assignments if self.state else ())
        error, errors = self._each(partitions, elect)
        self.broker.respond(source, request, ElectLeadersResponse(request, error, errors))

    def alter_reassignments(
        self, source: int, _request: int, message: AlterPartitionReassignmentsRequest
    ) -> None:
        """KIP-455: start or cancel reassignments."""
        self._take(message, source)

    def _alter_reassignments(
        self, source: int, request: int, message: AlterPartitionReassignmentsRequest
    ) -> None:
        if self._lacks_zookeeper(source, request, message):
            return
        targets = message.partitions
        error, errors = self._each(targets, lambda tp: self.reassignment.alter(tp, targets[tp]))
        response = AlterPartitionReassignmentsResponse(request, error, errors)
        self.broker.respond(source, request, response)

    def list_reassignments(
        self, source: int, request: int, _message: ListPartitionReassignmentsRequest
    ) -> None:
        """KIP-455: list the reassignments in progress."""
        state = self.state
        error = "NOT_CONTROLLER" if state is None else "NONE"
        reassigning = {} if state is None else state.reassigning
        moves = {tp: (list(move.original), list(move.target)) for tp, move in reassigning.items()}
        moves = {tp: move for tp, move in moves.items() if move[1]}
        response = ListPartitionReassignmentsResponse(request, error, moves)
        self.broker.respond(source, request, response)

    def _lacks_zookeeper(self, source: int, request: int, event: ControllerEvent) -> bool:
        """Whether the controller has to wait for ZooKeeper before it can start processing an event.

        The first step is to read the data concerned (``retryRequestUntilConnected``).
        """
        if self.state is None:
            return False
        try:
            self.zk.find(znodes.CONTROLLER_EPOCH)
        except errors.ConnectionLoss:
            self._wait_for_zookeeper(source, request, event)
            self.context.retry_later()
            return True
        return False

    def _each(self, tps: Iterable[str], work: Callable[[str], str]) -> tuple[str, dict[str, str]]:
        """Apply an operation to partitions: return an error for all, or one for each.

        An error that Kafka does not expect becomes UNKNOWN_SERVER_ERROR for its partition. If the
        broker is no longer controller the error is NOT_CONTROLLER.
        """
        if self.state is None:
            return "NOT_CONTROLLER", {}
        errors: dict[str, str] = {}
        for tp in tps:
            errors[tp] = "UNKNOWN_SERVER_ERROR"

            def apply(tp: str = tp) -> None:
                errors[tp] = work(tp)

            self._guarded(apply)
            if self.controllership.state is None:
                return "NOT_CONTROLLER", {}
        return "NONE", errors

    # ---- responses

    def on_response(self, message: ControlResponse) -> None:
        """Handle a broker's response to one of the controller's requests."""
        waited = self.thread.waits
        done = self.channels.on_response(message)
        if isinstance(done, StopReplicaRequest) and message.error == "NONE":
            self._take(ReplicasStopped(message.broker, done))
        self._send_threads_ended(waited=waited)

    def _replicas_stopped(self, event: ReplicasStopped) -> None:
        if self.state is not None:
            self._guarded(lambda: self.deletion.stopped(event.broker, event.request))

    def connection_lost(self, peer: int, request: int) -> None:
        """Handle a broken connection from the controller to a broker."""
        del request
        waited = self.thread.waits
        self.channels.connection_lost(peer)
        self._send_threads_ended(waited=waited)

    def check_timeouts(self) -> None:
        """Check for requests that have timed out."""
        waited = self.thread.waits
        self.channels.check_timeouts()
        self._send_threads_ended(waited=waited)
