"""A controller process: a quorum voter that runs the quorum controller while it is the leader.

The active controller appends its decisions to the log and responds once they are committed. A
standby applies committed records to an image, so that it can take over immediately. Source:
``kafka.server.ControllerServer``, ``QuorumController`` (its event queue), 3.3 to 4.1.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from emulator import events
from emulator import protocol as messages
from emulator.common.names import random_uuid
from emulator.kraft.admin_requests import respond_to_admin
from emulator.kraft.facts import MetadataFacts
from emulator.kraft.state import ControllerProcess, Deferred
from emulator.metadata_log.changes import TopicIdPartition
from emulator.metadata_log.image import MetadataImage
from emulator.metadata_log.records import NoOpRecord
from emulator.protocol import AnyMessage
from emulator.quorum_controller.alter_partition import AlterPartitionItem
from emulator.quorum_controller.cluster_control import BrokerRegistrationRequest
from emulator.quorum_controller.heartbeats import Heartbeat
from emulator.quorum_controller.quorum_controller import RESCHEDULE_US, QuorumController
from emulator.quorum_controller.result import ApiException, Result
from emulator.quorum_controller.settings import ControllerSettings
from emulator.raft.client import TASK as QUORUM
from emulator.raft.client import RaftClient
from emulator.raft.snapshots import copy_of
from emulator.raft.state import LEADER, NOBODY
from emulator.releases.config import Configuration, resolve, topic_config_names
from emulator.releases.config_names import BrokerConfig
from emulator.releases.group_configs import GroupConfigRules, group_configs
from emulator.simulation.kernel import Kernel
from emulator.simulation.network import Network
from emulator.simulation.timers import Timers

NOT_CONTROLLER: Final = "NOT_CONTROLLER"
BOOT_US: Final = 200_000
"""The time from a process's start until it joins the quorum."""
REGISTER_US: Final = 100_000
"""The retry interval of a controller's registration."""
LEAVE_US: Final = 20_000
"""The time a stopped controller takes to notify the others of its resignation."""

RESPONSES: Final[Mapping[type, type[Any]]] = {
    messages.BrokerRegistrationRequest: messages.BrokerRegistrationResponse,
    messages.BrokerHeartbeatRequest: messages.BrokerHeartbeatResponse,
    messages.ControllerRegistrationRequest: messages.ControllerRegistrationResponse,
    messages.AllocateProducerIdsRequest: messages.AllocateProducerIdsResponse,
    messages.AssignReplicasToDirsRequest: messages.AssignReplicasToDirsResponse,
    messages.AlterPartitionRequest: messages.AlterPartitionResponse,
    messages.EnvelopeRequest: messages.EnvelopeResponse,
}
"""The requests a controller handles, with their responses."""
ROWS: Final[Mapping[type, int]] = {
    messages.AlterPartitionResponse: 1,
    messages.EnvelopeResponse: 2,
}
"""The number of per-topic or per-partition tables in each response, if any."""

Response = tuple[Result[Any], AnyMessage]
"""The result of a request: records, and the response to send once they are committed."""


class ControllerServer:
    """A controller of the quorum."""

    def __init__(
        self,
        state: ControllerProcess,
        *,
        voters: Sequence[int],
        features: Mapping[str, int],
        kernel: Kernel,
        network: Network,
        configuration: Configuration,
        facts: MetadataFacts,
    ) -> None:
        """Create a voter of ``voters``; the first active controller finalizes ``features``."""
        self.state = state
        self.id = state.id
        self.features = features
        self.kernel = kernel
        self.network = network
        self.configuration = configuration
        self.profile = configuration.profile
        self.facts = facts
        self.timers = Timers(kernel, state.id, state.timers)
        self._config: BrokerConfig | None = None
        self._config_version = -1
        self._controller: QuorumController | None = None
        self.raft = RaftClient(
            state.id,
            voters,
            state.quorum,
            kernel=kernel,
            network=network,
            timers=self.timers,
            configuration=configuration,
            config=lambda: self.config,
            on_leader=self._role_changed,
            on_commit=self._committed,
            on_progress=self._member_fetched,
            metadata_version=self._metadata_version,
        )
        self._tasks: dict[str, Callable[[], None]] = {
            QUORUM: self.raft.tick,
            "boot": self._boot,
            "append": self._append,
            "no-op": self._write_no_op,
            "fence": self._fence,
            "rebalance": self._rebalance,
            "unclean-election": self._elect_uncleanly,
            "register": self._register,
            "leave": lambda: self.end_process("stopped"),
        }
        self._requests: dict[type, Callable[[Any], Response]] = {
            messages.BrokerRegistrationRequest: self._register_broker,
            messages.BrokerHeartbeatRequest: self._heartbeat,
            messages.ControllerRegistrationRequest: self._register_controller,
            messages.AllocateProducerIdsRequest: self._allocate_producer_ids,
            messages.AssignReplicasToDirsRequest: self._assign_replicas_to_dirs,
            messages.AlterPartitionRequest: self._alter_partition,
            messages.EnvelopeRequest: self._forwarded,
        }

    @property
    def config(self) -> BrokerConfig:
        if self._config is None or self._config_version != self.configuration.version:
            settings = self.configuration.settings
            self._config = resolve(settings.version, settings.defaults)
            self._config_version = self.configuration.version
        return self._config

    @property
    def controller(self) -> QuorumController | None:
        """The quorum controller, while this controller is active."""
        active = self.state.active
        if active is None:
            self._controller = None
        elif self._controller is None or self._controller.state is not active:
            self._controller = QuorumController(
                active, self._settings(), self.profile.numbers, self.kernel.random_below
            )
        return self._controller

    def _settings(self) -> ControllerSettings:
        config, settings = self.config, self.configuration.settings
        return ControllerSettings(
            self.id,
            config.broker_session_timeout_us,
            min_insync_replicas=config.min_insync_replicas,
            unclean_leader_election_enable=config.unclean_leader_election_enable,
            group_configs=GroupConfigRules(self.profile, settings.defaults)
            if group_configs(self.profile.numbers)
            else None,
            topic_config_names=topic_config_names(self.profile.numbers),
        )

    # ---- the process

    def start(self) -> None:
        self.kernel.start_host(self.id)
        self.set_status("running")
        self.timers.later("boot", BOOT_US)

    def _boot(self) -> None:
        self.state.incarnation = random_uuid(self.kernel.random_below)
        self.raft.start()
        self.timers.later("register", REGISTER_US)

    def resume(self, leader: int, epoch: int) -> None:
        """Continue as a running process of a quorum with that leader."""
        self.kernel.start_host(self.id)
        self.set_status("running")
        self.state.incarnation = random_uuid(self.kernel.random_below)
        self.raft.resume(leader, epoch)
        self.timers.later("register", REGISTER_US)

    def stop(self) -> None:
        """Shut down cleanly: a leader resigns first, so that a successor is elected at once."""
        if self.state.quorum.role == LEADER:
            self.raft.member.resign()
        self.timers.later("leave", LEAVE_US)

    def end_process(self, status: str) -> None:
        """End the process; only the log and the vote persist."""
        state = self.state
        state.quorum.end_process()
        fresh = ControllerProcess(state.id)
        for name in state.__struct_fields__:
            if name not in ("id", "status", "timers", "quorum"):
                setattr(state, name, getattr(fresh, name))
        state.timers.armed, state.timers.deadlines = {}, {}
        self.set_status(status)
        self.kernel.end_host(self.id)
        self.network.host_ended(self.id)

    def thaw(self) -> None:
        """Continue after a freeze with the messages that were received meanwhile."""
        self.raft.thaw()
        self.kernel.thaw_host(self.id)

    def set_status(self, status: str) -> None:
        self.state.status = status
        self.kernel.emit(events.ControllerStateChanged, self.id, status)

    # ---- messages

    def handle(self, source: int, message: AnyMessage) -> None:
        match message:
            case messages.Timer():
                if self.timers.is_due(message):
                    self._tasks[message.task]()
            case messages.ConnectionLost():
                self.raft.connection_lost(message)
            case messages.ControllerRegistrationResponse():
                pass
            case _ if type(message) in RESPONSES:
                self._take_request(source, message)
            case _:
                self.raft.handle(source, message)

    def _take_request(self, source: int, message: AnyMessage) -> None:
        """Handle a request as the active controller; respond once its records are committed."""
        request = self.kernel.cause
        controller = self.controller
        if controller is None:
            self._respond(source, request, _not_controller(RESPONSES[type(message)], request))
            return
        result, response = self._requests[type(message)](message)
        self._write(result, source, request, response)

    def _respond(self, destination: int, request: int, response: AnyMessage) -> None:
        self.network.send(self.id, destination, response, request)

    # ---- writing

    @property
    def next_offset(self) -> int:
        """The offset of the next record, after those not yet written."""
        return self.state.quorum.log.end_offset + len(self.state.unwritten)

    def _write(
        self,
        result: Result[Any],
        destination: int = NOBODY,
        request: int = 0,
        response: AnyMessage | None = None,
    ) -> None:
        """Append records, and respond once they and all earlier ones are committed.

        A response without records waits too: it may rest on what others wrote, the controller's
        own fencings among them (``QuorumController.ControllerWriteEvent``).
        """
        state, controller = self.state, self.controller
        assert controller is not None
        end = self.next_offset
        controller.appended(result, end, state.quorum.epoch, self.kernel.now)
        if result.records:
            for record in result.records:
                if not isinstance(record, NoOpRecord):
                    state.last_record = end
                end += 1
            state.unwritten += result.records
            self.timers.later("append", self.config.quorum_append_linger_us)
        if response is not None:
            if not (result.records or state.deferred):
                end = min(end, state.last_record + 1)
            state.deferred.append(Deferred(end, destination, request, response))
            self._complete_deferred()
        self._arm_fencing()
        self._arm_leader_checks()

    def _append(self) -> None:
        """Append the records accumulated during the linger time as one batch."""
        unwritten, self.state.unwritten = self.state.unwritten, []
        if unwritten and self.state.quorum.role == LEADER:
            self.raft.member.append([tuple(unwritten)])
            self.raft.tick()
            self._arm_no_op()

    def _complete_deferred(self) -> None:
        deferred, committed = self.state.deferred, self.state.quorum.high_watermark
        while deferred and deferred[0].offset <= committed:
            due = deferred.pop(0)
            self._respond(due.destination, due.request, due.response)

    # ---- the quorum

    def _committed(self) -> None:
        state = self.state
        if state.quorum.role == LEADER:
            self.facts.advance(self.id, state.quorum)
        if state.active is not None:
            self._complete_deferred()
            return
        self._apply()
        if state.quorum.role == LEADER and state.quorum.high_watermark > state.quorum.epoch_start:
            self._activate()

    def _metadata_version(self) -> int:
        controller = self.controller
        return 0 if controller is None else controller.image.metadata_version

    def _apply(self) -> None:
        image, quorum = self.state.image, self.state.quorum
        is_news = False
        snapshot = quorum.log.snapshot_for(image.offset + 1)
        if snapshot is not None:
            is_news, self.state.last_record = True, snapshot.end_offset - 1
            image = self.state.image = copy_of(snapshot.image)
        for batch in quorum.log.from_offset(image.offset + 1, quorum.high_watermark):
            if image.read_batch(batch.records, batch.base_offset, batch.epoch):
                is_news, self.state.last_record = True, batch.end_offset - 1
        if is_news:
            self.kernel.emit(events.MetadataApplied, self.id, image.offset + 1)

    def _activate(self) -> None:
        """Become the active controller, once all records up to this epoch are applied."""
        state, now_us = self.state, self.kernel.now
        image, state.image = state.image, MetadataImage()
        is_new = not image.features
        numbers = self.profile.numbers
        draw = self.kernel.random_below
        controller = QuorumController.activate(image, self._settings(), numbers, draw, now_us)
        state.active, self._controller = controller.state, controller
        self.kernel.emit(events.ControllerElected, self.id, state.quorum.epoch, 0)
        if is_new:
            self._write(controller.bootstrap(self.features))
        self._arm_no_op()
        self._arm_fencing()
        self._arm_leader_checks()
        self.timers.later("register", 0)

    def _role_changed(self) -> None:
        """Handle a change of the quorum role; a former leader is no longer active."""
        state = self.state
        if state.quorum.role == LEADER:
            state.told = {}
        if state.active is None or state.quorum.role == LEADER:
            return
        state.active, state.unwritten, self._controller = None, [], None
        deferred, state.deferred = state.deferred, []
        for due in deferred:
            response = _not_controller(type(due.response), due.request)
            self._respond(due.destination, due.request, response)
        state.image = MetadataImage()
        self._apply()
        self.kernel.emit(events.ControllerResigned, self.id, state.quorum.epoch, "lost leadership")

    def _member_fetched(self, replica: int) -> None:
        """Emit a member's progress when its fetch offset reaches a notable record."""
        state = self.state
        end = state.quorum.progress[replica].end_offset
        reported = state.told.get(replica)
        if reported is None or reported <= state.last_record < end:
            state.told[replica] = end
            self.kernel.emit(events.QuorumProgressChanged, self.id, replica, end)

    # ---- registering this controller (ControllerRegistrationManager)

    def _register(self) -> None:
        """Register this controller's incarnation as soon as possible."""
        state = self.state
        controller = self.controller
        image = state.image if controller is None else controller.image
        if image.controllers.get(self.id) == state.incarnation:
            return
        if controller is not None:
            self._write(controller.register_controller(self.id, state.incarnation))
            return
        leader = state.quorum.leader
        if leader not in (NOBODY, self.id) and image.features:
            request = messages.ControllerRegistrationRequest(self.id, state.incarnation)
            self.network.send(self.id, leader, request)
        self.timers.later("register", REGISTER_US)

    # ---- periodic tasks

    def _arm_no_op(self) -> None:
        interval_us = self.config.metadata_max_idle_interval_us
        if interval_us:
            self.timers.set_deadline("no-op", "", self.kernel.now + interval_us)

    def _write_no_op(self) -> None:
        """Append a NoOpRecord after an idle interval."""
        controller = self.controller
        if self.timers.overdue("no-op") and controller is not None:
            self.kernel.cause = 0
            self._write(controller.write_no_op_record())
            self._arm_no_op()

    def _arm_fencing(self) -> None:
        controller = self.controller
        if controller is not None:
            now_us = self.kernel.now
            due_us = controller.next_fence_check_us(now_us)
            if due_us is not None:  # a session expires after its last moment, not at it
                self.timers.arm("fence", max(due_us, now_us + 1))

    def _fence(self) -> None:
        """Fence a broker whose session timed out."""
        controller = self.controller
        if controller is None:
            return
        self.kernel.cause = 0
        result = controller.maybe_fence_one_stale_broker(self.kernel.now)
        if result.records:
            self.kernel.fired(self.id, "broker-session")
        self._write(result)
        if result.response:
            self.timers.later("fence", RESCHEDULE_US)

    def _arm_leader_checks(self) -> None:
        """Schedule the leader checks an interval from now, unless they are due earlier.

        Up to 3.9 the interval starts when there is work to do; from 4.0 on the task runs
        periodically (``PeriodicTaskControlManager``, KAFKA-17793).
        """
        controller, config = self.controller, self.config
        if controller is None:
            return
        if controller.wants_unclean_election_check:
            self.timers.later("unclean-election", config.unclean_election_interval_us)
        if config.auto_leader_rebalance_enable and controller.wants_balance_check:
            self.timers.later("rebalance", config.leader_imbalance_check_interval_us)

    def _rebalance(self) -> None:
        self._look_at_leaders("rebalance", QuorumController.maybe_balance_partition_leaders)

    def _elect_uncleanly(self) -> None:
        self._look_at_leaders("unclean-election", QuorumController.maybe_elect_unclean_leaders)

    def _look_at_leaders(self, task: str, look: Callable[[QuorumController], Result[bool]]) -> None:
        controller = self.controller
        if controller is None:
            return
        self.kernel.cause = 0
        result = look(controller)
        if result.records:
            self.kernel.fired(self.id, task)
        self._write(result)
        if result.response:
            self.timers.later(task, RESCHEDULE_US)

    # ---- requests of brokers and controllers

    def _active(self) -> QuorumController:
        controller = self.controller
        assert controller is not None
        return controller

    def _register_broker(self, message: messages.BrokerRegistrationRequest) -> Response:
        request, now_us = self.kernel.cause, self.kernel.now
        registration = BrokerRegistrationRequest(
            *(message.broker, message.incarnation, message.rack),
            *(message.previous_broker_epoch, message.directory),
        )
        try:
            result = self._active().register_broker(registration, self.next_offset, now_us)
        except ApiException as refused:
            return _nothing(), messages.BrokerRegistrationResponse(request, refused.error)
        epoch = result.response.broker_epoch
        return result, messages.BrokerRegistrationResponse(request, "NONE", epoch)

    def _heartbeat(self, message: messages.BrokerHeartbeatRequest) -> Response:
        request = self.kernel.cause
        heartbeat = Heartbeat(
            message.metadata_offset,
            message.want_fence,
            message.want_shut_down,
            message.cordoned_log_dirs,
        )
        try:
            result = self._active().process_broker_heartbeat(
                message.broker, message.broker_epoch, heartbeat, self.kernel.now
            )
        except ApiException as refused:
            return _nothing(), messages.BrokerHeartbeatResponse(request, refused.error)
        reply = result.response
        return result, messages.BrokerHeartbeatResponse(
            request, "NONE", reply.is_caught_up, reply.is_fenced, reply.should_shut_down
        )

    def _register_controller(self, message: messages.ControllerRegistrationRequest) -> Response:
        request = self.kernel.cause
        result = self._active().register_controller(message.controller, message.incarnation)
        if self._active().image.controllers.get(message.controller) == message.incarnation:
            result = _nothing()
        return result, messages.ControllerRegistrationResponse(request, "NONE")

    def _allocate_producer_ids(self, message: messages.AllocateProducerIdsRequest) -> Response:
        request = self.kernel.cause
        try:
            result = self._active().allocate_producer_ids(message.broker, message.broker_epoch)
        except ApiException as refused:
            return _nothing(), messages.AllocateProducerIdsResponse(request, refused.error)
        block = result.response
        return result, messages.AllocateProducerIdsResponse(
            request, "NONE", block.first, block.size
        )

    def _assign_replicas_to_dirs(self, message: messages.AssignReplicasToDirsRequest) -> Response:
        request = self.kernel.cause
        keys = [TopicIdPartition(topic_id, number) for topic_id, number in message.partitions]
        try:
            result = self._active().assign_replicas_to_dirs(
                message.broker, message.broker_epoch, message.directory, keys
            )
        except ApiException as refused:
            return _nothing(), messages.AssignReplicasToDirsResponse(request, refused.error)
        rows = [(key.topic_id, key.partition) for key in keys if result.response[key] != "NONE"]
        return result, messages.AssignReplicasToDirsResponse(request, "NONE", rows)

    def _describe_quorum(self) -> messages.QuorumDescription:
        """The progress of all members as known to this leader (``LeaderState``)."""
        quorum, now_us = self.state.quorum, self.kernel.now
        members = [
            messages.QuorumMember(
                node, progress.end_offset, progress.fetched_us or -1, progress.caught_up_us or -1
            )
            for node, progress in sorted(quorum.progress.items())
        ]
        leader = messages.QuorumMember(self.id, quorum.log.end_offset, now_us, now_us)
        voters = [leader, *(member for member in members if member.id in self.raft.member.voters)]
        observers = [member for member in members if member.id not in self.raft.member.voters]
        return messages.QuorumDescription(
            self.id, quorum.epoch, quorum.high_watermark, voters, observers
        )

    def _forwarded(self, message: messages.EnvelopeRequest) -> Response:
        if isinstance(message.enveloped, messages.DescribeQuorumRequest):
            self._active()
            request, quorum = self.kernel.cause, self._describe_quorum()
            return _nothing(), messages.EnvelopeResponse(request, "NONE", {}, {}, quorum)
        return respond_to_admin(self._active(), self.kernel.cause, message.enveloped)

    def _alter_partition(self, message: messages.AlterPartitionRequest) -> Response:
        request = self.kernel.cause
        controller = self._active()
        items: list[AlterPartitionItem] = []
        names: dict[tuple[str, int], str] = {}
        for tp, item in message.partitions.items():
            topic, _, number = tp.rpartition("-")
            topic_id = item.topic_id or controller.image.topic_ids.get(topic, "")
            names[topic_id, int(number)] = tp
            epochs = item.isr_epochs or [-1] * len(item.isr)
            isr = tuple(zip(item.isr, epochs, strict=True))
            items.append(
                AlterPartitionItem(topic_id, int(number), item.leader_epoch, item.zk_version, isr)
            )
        try:
            result = controller.alter_partition(message.broker, message.broker_epoch, items)
        except ApiException as refused:
            return _nothing(), messages.AlterPartitionResponse(request, refused.error, {})
        rows: dict[str, tuple[str, messages.PartitionInfo | None]] = {}
        for key, response in result.response.items():
            partition = response.partition
            info = None
            if partition is not None:
                info = messages.PartitionInfo(
                    partition.leader,
                    partition.leader_epoch,
                    list(partition.isr),
                    partition.partition_epoch,
                    list(partition.replicas),
                    self.state.quorum.epoch,
                    leader_recovery_state=partition.leader_recovery_state,
                )
            rows[names[key]] = (response.error, info)
        return result, messages.AlterPartitionResponse(request, "NONE", rows)


def _nothing() -> Result[None]:
    """No records."""
    return Result([], None)


def _not_controller(kind: type[Any], request: int) -> AnyMessage:
    """A response with the error NOT_CONTROLLER."""
    rows = ROWS.get(kind, 0)
    response: AnyMessage = kind(request, NOT_CONTROLLER, *([{}] * rows))
    return response
