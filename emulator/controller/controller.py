"""The controller's office: standing for election, taking over, and what its watches bring.

Every broker watches /controller. When the node vanishes all race to create it; one wins. Work that
needs ZooKeeper while it cannot be reached waits until it can.
"""

from collections.abc import Callable

import msgspec

from emulator import events
from emulator.broker_context import BrokerContext
from emulator.controller.channels import Batch, Channels
from emulator.controller.context import Controllership, ControllerState
from emulator.controller.failover import EPOCH, Failover, epoch_number
from emulator.controller.listeners import Topics
from emulator.controller.partition_state_machine import ControllerMovedError, Partitions
from emulator.controller.reassignment import Reassignment
from emulator.controller.replica_state_machine import StateMachines
from emulator.controller.topic_deletion import TopicDeletion
from emulator.protocol import (
    AlterPartitionRequest,
    AlterPartitionResponse,
    ControlledShutdownRequest,
    ControlledShutdownResponse,
    ControlResponse,
    PartitionInfo,
    StopReplicaRequest,
    WatchEvent,
)
from emulator.zookeeper import errors
from emulator.zookeeper.data import controller_json
from emulator.zookeeper.operations import Create, SetData

CONTROLLER = "/controller"
RETRY_US = 100_000


class BrokerIdJson(msgspec.Struct):
    """What /controller holds that matters."""

    brokerid: int


class Controller:
    """A broker as candidate for, or holder of, the controller's office."""

    def __init__(
        self,
        context: BrokerContext,
        controllership: Controllership,
        controller_known: Callable[[], None],
    ) -> None:
        """Act in ``context``; ``controller_known`` is called when /controller was read."""
        self.context = context
        self.controllership = controllership
        self.controller_known = controller_known
        self.world = context.world
        self.kernel = context.kernel
        self.profile = context.profile
        self.channels = Channels(context, controllership)
        self.machines = StateMachines(self)
        self.partitions = Partitions(self)
        self.topics = Topics(self)
        self.deletion = TopicDeletion(self)
        self.reassignment = Reassignment(self)
        self.failover = Failover(self)

    @property
    def in_office(self) -> ControllerState:
        """The cache of this broker, which must be the controller."""
        state = self.controllership.state
        assert state is not None
        return state

    @property
    def state(self) -> ControllerState | None:
        """The cache if this broker is (or believes to be) controller."""
        return self.controllership.state

    # ---- election

    def stand(self) -> None:
        """Become controller if nobody is; watch /controller in any case."""
        if not self.context.zk.usable():
            self.context.later("controller-retry", RETRY_US)
            return
        zookeeper = self.world.zookeeper
        zookeeper.watch_exists(self.context.id, CONTROLLER)
        node = zookeeper.find(CONTROLLER)
        if node is None:
            self._run()
        else:
            self._note(node.data)

    def _note(self, data: str | None) -> None:
        try:
            holder = msgspec.json.decode(data or "", type=BrokerIdJson).brokerid
        except msgspec.MsgspecError:
            holder = -1
        self.context.process.known_controller = holder
        self.controller_known()

    def _run(self) -> None:
        """Create /controller; the release decides how the epoch comes with it."""
        zookeeper, world = self.world.zookeeper, self.world
        session = self.context.session
        data = controller_json(self.world, self.context.id)
        if not self.profile.has("controller_multi"):
            zookeeper.create(world, session, CONTROLLER, data, ephemeral=True)
            found = self.failover.next_epoch()
            if found is not None:
                self._take_office(found)
            return
        if zookeeper.find(EPOCH) is None:
            zookeeper.create(world, self.context.session, EPOCH, "0")
        node = zookeeper.get(EPOCH)
        epoch = epoch_number(node.data) + 1
        zookeeper.multi(
            world,
            self.context.session,
            [
                Create(CONTROLLER, data, ephemeral=True),
                SetData(EPOCH, str(epoch), node.version),
            ],
        )
        self._take_office((epoch, zookeeper.get(EPOCH).version))

    def _take_office(self, epoch: tuple[int, int]) -> None:
        self.controllership.state = ControllerState(*epoch)
        self.context.process.known_controller = self.context.id
        self.kernel.emit(events.ControllerElected, self.context.id, *epoch)
        self._guarded(self.failover.run)

    def _guarded(self, work: Callable[[], None]) -> None:
        """Do controller work; ControllerMoved ends the office, other refusals only the work."""
        try:
            work()
        except ControllerMovedError:
            self.resign("controller moved")
            self.stand()
        except errors.ZooKeeperError as error:
            step = (self.context.id, "error", 1, error.name, str(error))
            self.kernel.emit(events.ControllerStep, *step)

    def registered(self) -> dict[int, int]:
        """The brokers that are registered, with their registration epochs."""
        zookeeper, hosts = self.world.zookeeper, self.kernel.state.hosts
        named = [int(name) for name in self.world.children("/brokers/ids") if name.isdecimal()]
        ids = sorted(b for b in named if b in hosts)
        return {b: zookeeper.get(f"/brokers/ids/{b}").czxid for b in ids}

    # ---- rebalancing

    def rebalance(self) -> None:
        """CheckAndTriggerAutoLeaderRebalance.

        Per broker, when too many partitions are led by another.
        """
        state = self.state
        if state is None:
            return
        config = self.context.config
        self._guarded(self._rebalance)
        if not self.world.stepwise:
            self.context.later("rebalance", config.leader_imbalance_check_interval_us)

    def _rebalance(self) -> None:
        state = self.state
        if state is None or not self.context.zk.usable():
            return
        percentage = self.context.config.leader_imbalance_per_broker_percentage
        preferring: dict[int, int] = {}
        elsewhere: dict[int, list[str]] = {}
        for tp, assigned in state.assignments.items():
            broker = assigned[0]
            preferring[broker] = preferring.get(broker, 0) + 1
            info = state.infos.get(tp)
            if info is not None and info.leader != broker:
                elsewhere.setdefault(broker, []).append(tp)
        for broker, count in preferring.items():
            tps = elsewhere.get(broker, [])
            if len(tps) * 100 > percentage * count and broker in state.live:
                self.partitions.elect_preferred([tp for tp in tps if self._able(tp, broker)])

    def _able(self, tp: str, broker: int) -> bool:
        """Whether a preferred replica may lead again: in sync now, and nothing else under way."""
        state = self.state
        info = self.partitions.refresh(tp)
        if state is None or info is None or state.reassigning or self.deletion.is_deleting(tp):
            return False
        return broker in info.isr

    def resign(self, reason: str) -> None:
        """Give the office up: forget everything that belongs to it."""
        state = self.state
        if state is not None:
            self.controllership.state = None
            self.kernel.emit(events.ControllerResigned, self.context.id, state.epoch, reason)

    # ---- what watches bring

    def watched(self, message: WatchEvent) -> None:
        """A watch fired: read again and act on the difference."""
        path = message.path
        if path == CONTROLLER:
            self._controller_changed()
        elif self.state is not None:
            self._guarded(lambda: self._changed(path, message.kind))

    def _controller_changed(self) -> None:
        node = self.world.zookeeper.find(CONTROLLER)
        owner = 0 if node is None else node.ephemeral_owner
        if self.state is not None and owner != self.context.session:
            self.resign("/controller is not this broker's")
        self.stand()

    def _is_in_office(self) -> bool:
        """Whether this broker is controller still, as far as it can find out; if not, it knows."""
        if self.context.zk.usable():
            self._controller_changed()
        return self.state is not None

    def _changed(self, path: str, kind: str) -> None:
        if not self.context.zk.usable():
            self.context.later("controller-retry", RETRY_US)
        elif path == "/brokers/ids":
            self._brokers_changed()
        else:
            self.topics.changed(path, kind)

    def retry(self) -> None:
        """What had to wait for ZooKeeper: look at everything again.

        First at the office itself, as the news that it is no longer held may have been lost.
        """
        if self.state is None:
            self.stand()
            return
        if not self._is_in_office():
            return
        if self.context.zk.usable():
            self._guarded(self._brokers_changed)
            if self.state is not None:
                self._guarded(self.topics.look_again)
        else:
            self.context.later("controller-retry", RETRY_US)

    def _brokers_changed(self) -> None:
        """BrokerChange.

        Brokers that went, came, or came back under the controller's eyes (bounced).
        """
        state = self.state
        if state is None:
            return
        self.world.zookeeper.watch_children(self.context.id, "/brokers/ids")
        now = self.registered()
        gone = [b for b in state.live if b not in now]
        new = [b for b in now if b not in state.live]
        bounced: list[int] = []
        if self.profile.has("broker_epochs"):
            bounced = [b for b, epoch in now.items() if state.live.get(b, epoch) != epoch]
        for broker in [*gone, *bounced]:
            del state.live[broker]
            state.shutting_down.pop(broker, None)
            self.channels.remove(broker)
        if gone or bounced:
            self._procedure("onBrokerFailure", gone + bounced)
            self.partitions.offline_brokers(gone + bounced)
            self.deletion.broker_gone(gone + bounced)
        if new or bounced:
            for broker in [*new, *bounced]:
                state.live[broker] = now[broker]
            self._procedure("onBrokerStartup", new + bounced)
            self.partitions.broker_started(sorted(new + bounced))
            self.reassignment.resume([*new, *bounced])
            self.deletion.resume()

    def _procedure(self, name: str, brokers: list[int]) -> None:
        detail = ", ".join(map(str, brokers))
        hosted = len(self.partitions.hosted(brokers))
        text = f"broker {detail}: {hosted} partitions"
        self.kernel.emit(events.ControllerStep, self.context.id, name, 1, name, text)

    # ---- requests to the controller

    def controlled_shutdown(
        self, source: int, request: int, message: ControlledShutdownRequest
    ) -> None:
        """Move everything away from a broker that wants to go."""
        state = self.state
        error, remaining = "NOT_CONTROLLER", list[str]()
        if state is None or not self.context.zk.usable():
            pass
        elif message.broker not in state.live:
            error = "BROKER_NOT_AVAILABLE"
        else:
            state.shutting_down[message.broker] = None
            try:
                error, remaining = "NONE", self.partitions.leave(message.broker)
            except ControllerMovedError:
                self.resign("controller moved")
        response = ControlledShutdownResponse(request, error, remaining)
        self.context.respond(source, request, response)

    def alter_partition(self, source: int, request: int, message: AlterPartitionRequest) -> None:
        """KIP-497: write the ISRs that leaders ask for (KafkaController.processAlterIsr)."""
        state = self.state
        rows: dict[str, tuple[str, PartitionInfo | None]] = {}
        error = "NONE"
        if state is None or not self.context.zk.usable():
            error = "NOT_CONTROLLER"
        elif (
            message.broker_epoch < state.live.get(message.broker, 0)
            or message.broker not in state.live
        ):
            error = "STALE_BROKER_EPOCH"
        else:
            try:
                rows = self._alter(message)
            except ControllerMovedError:
                error, rows = "NOT_CONTROLLER", {}
                self.resign("controller moved")
        self.context.respond(source, request, AlterPartitionResponse(request, error, rows))

    def _alter(self, message: AlterPartitionRequest) -> dict[str, tuple[str, PartitionInfo | None]]:
        state = self.state
        assert state is not None
        rows: dict[str, tuple[str, PartitionInfo | None]] = {}
        batch = Batch()
        for tp, item in message.partitions.items():
            info = state.infos.get(tp)
            if info is None:
                rows[tp] = ("UNKNOWN_TOPIC_OR_PARTITION", None)
            elif item.leader_epoch < info.leader_epoch:
                rows[tp] = ("FENCED_LEADER_EPOCH", None)
            elif item.isr == info.isr:
                rows[tp] = ("NONE", info)
            elif item.zk_version != info.zk_version:
                rows[tp] = ("INVALID_UPDATE_VERSION", None)
            elif self.profile.has("alter_partition_needs_live_replicas") and not all(
                b in state.live and b not in state.shutting_down for b in item.isr
            ):
                rows[tp] = ("INELIGIBLE_REPLICA", None)
            else:
                try:
                    new = self.partitions.write(tp, info.leader, item.isr, bump=False)
                except errors.NoNodeError:
                    rows[tp] = ("UNKNOWN_TOPIC_OR_PARTITION", None)
                    continue
                rows[tp] = ("NONE", new)
                batch.metadata[tp] = new
        self.channels.send(batch)
        for tp in batch.metadata:
            self.reassignment.check(tp)
        return rows

    def answered(self, message: ControlResponse) -> None:
        """A broker answered one of the controller's requests."""
        done = self.channels.answered(message)
        if isinstance(done, StopReplicaRequest) and message.error == "NONE":
            self._guarded(lambda: self.deletion.stopped(message.broker, done))

    def connection_lost(self, peer: int, request: int) -> None:
        """A connection of the controller to a broker broke."""
        del request
        self.channels.connection_lost(peer)
