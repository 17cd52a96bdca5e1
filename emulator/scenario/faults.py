"""Faults of processes and links: crash, stop, freeze, partition, delay, loss, hold."""

from collections.abc import Callable
from typing import Any

from emulator import events
from emulator.audit.invariants import POWER_LOSS
from emulator.broker.broker import Broker
from emulator.broker.replication.replica import FOLLOWER, LEADER, Replica
from emulator.broker_context import DOWN
from emulator.cluster import Cluster
from emulator.events import ZOOKEEPER
from emulator.inputs import statements as inputs
from emulator.kraft.controller_server import ControllerServer
from emulator.replication.partition import LoseTail
from emulator.scenario.refusals import (
    NO_ZOOKEEPER,
    RefusedError,
    needs,
    needs_broker,
    needs_member,
    needs_partition,
)

BROUGHT_BY = {
    **{"AlterPartition": "alter_isr", "AlterIsr": "alter_isr"},
    **{"OffsetsForLeaderEpoch": "truncation_by_leader_epoch", "InitProducerId": "idempotence"},
    **{"FindCoordinator": "consumer_groups", "JoinGroup": "consumer_groups"},
    **{"SyncGroup": "consumer_groups", "Heartbeat": "consumer_groups"},
    **{"LeaveGroup": "consumer_groups", "OffsetCommit": "consumer_groups"},
    **{"OffsetFetch": "consumer_groups"},
}
"""Requests that older releases lack, with the feature that introduced each."""


class Processes:
    """Operations on brokers' processes and on links between hosts."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.kernel = cluster.kernel
        self.network = cluster.network

    def statements(self) -> dict[type, Callable[[Any], Any]]:
        """Return the methods that execute an input, by its type: that of their ``statement``."""
        return {
            method.__annotations__["statement"]: getattr(self, name)
            for name, method in vars(Processes).items()
            if "statement" in getattr(method, "__annotations__", ())
        }

    # ---- lookup

    def broker(self, number: int) -> Broker:
        """Return the broker with that id, or raise an error that lists the existing ones."""
        needs_broker(self.cluster, number)
        return self.cluster.brokers[number]

    def up(self, number: int) -> Broker:
        """Return a broker whose process is running (possibly frozen)."""
        broker = self.broker(number)
        if broker.state.state in DOWN:
            raise RefusedError(
                "BROKER_NOT_AVAILABLE", f"Broker {number} is {broker.state.state}: start it first."
            )
        return broker

    def check_fetch(self, tp: str, number: int) -> None:
        """Reject a fetch round of a partition that the broker does not follow."""
        broker = self.up(number)
        replica = self._replica(broker, tp)
        if replica.role == LEADER:
            raise RefusedError(
                "NOT_LEADER_OR_FOLLOWER",
                f"Broker {number} is the leader of {tp}: name one of its followers.",
            )
        if replica.role != FOLLOWER or replica.leader < 0:
            raise RefusedError(
                "NOT_LEADER_OR_FOLLOWER", f"Broker {number} is not following a leader of {tp}."
            )
        if replica.paused:
            raise RefusedError(
                "NOT_LEADER_OR_FOLLOWER", f"{tp}@{number} is paused: resume it first."
            )

    def _replica(self, broker: Broker, tp: str) -> Replica:
        replica = broker.state.replicas.get(tp)
        if replica is None:
            needs_partition(self.cluster, tp)
            raise RefusedError(
                "UNKNOWN_TOPIC_OR_PARTITION",
                f"Broker {broker.id} has no replica of {tp}; its replicas are on"
                f" {self.cluster.assigned(tp)}.",
            )
        return replica

    # ---- processes

    def crash(self, statement: inputs.CrashBroker) -> None:
        """Kill the process; a power loss also loses its unflushed data."""
        broker = self.up(statement.broker)
        broker.end_process("crashed")
        if statement.lose_unflushed:
            for replica in broker.state.replicas.values():
                broker.core.replicas.do(replica, LoseTail(replica.log.flushed, POWER_LOSS))

    def stop(self, statement: inputs.StopBroker) -> None:
        """Start a controlled shutdown."""
        broker = self.up(statement.broker)
        if self.kernel.state.hosts[broker.id].frozen:
            raise RefusedError(
                "BROKER_NOT_AVAILABLE", f"Broker {broker.id} is frozen: thaw it first, or crash it."
            )
        broker.stop()

    def start(self, statement: inputs.StartBroker) -> None:
        """Start a process that is down."""
        broker = self.broker(statement.broker)
        if broker.state.state not in DOWN:
            state = self.cluster.broker_state(broker.id)
            raise RefusedError("NONE", f"Broker {broker.id} is already {state}.")
        if statement.clean:
            broker.replace_disk()
        broker.start()

    def freeze(self, statement: inputs.FreezeBroker) -> None:
        """Freeze the process until it is thawed."""
        broker = self.up(statement.broker)
        if self.kernel.state.hosts[broker.id].frozen:
            raise RefusedError("NONE", f"Broker {broker.id} is already frozen.")
        self.kernel.freeze_host(broker.id)
        self.kernel.emit(events.BrokerStateChanged, broker.id, "frozen")

    def thaw(self, statement: inputs.ThawBroker) -> None:
        """Thaw a frozen process."""
        broker = self.up(statement.broker)
        if not self.kernel.state.hosts[broker.id].frozen:
            raise RefusedError("NONE", f"Broker {broker.id} is not frozen.")
        self.kernel.emit(events.BrokerStateChanged, broker.id, broker.state.state)
        broker.thaw()

    # ---- controllers

    def controllers(self, which: str) -> list[ControllerServer]:
        """The controllers that ``which`` refers to, which are also remembered for ``last``."""
        cluster = self.cluster
        kraft = cluster.kraft
        if kraft is None:
            raise RefusedError(
                "UNSUPPORTED_VERSION",
                "In ZooKeeper mode a broker is the controller; there are no others.",
            )
        controllers = cluster.controllers
        if which == "all":
            return [
                controller for controller in controllers.values() if controller.state.status in DOWN
            ]
        if which.isdigit():
            number = int(which)
            if number not in controllers:
                ids = ", ".join(map(str, controllers))
                message = f"There is no controller {number}; there are {ids}."
                raise RefusedError("BROKER_NOT_AVAILABLE", message)
            return [controllers[number]]
        if which != "last":
            kraft.meant = self._meant(which)
        if kraft.meant < 0:
            message = f"There is no controller to which '{which}' refers now."
            raise RefusedError("BROKER_NOT_AVAILABLE", message)
        return [controllers[kraft.meant]]

    def _meant(self, which: str) -> int:
        cluster = self.cluster
        active = cluster.active_controller()
        running = [number for number in cluster.controllers if cluster.host_works(number)]
        if which == "active":
            return -1 if active is None else active
        if which == "standby":
            running = [number for number in running if number != active]
        return min(running, default=-1)

    def change_controller(self, statement: inputs.ChangeController) -> list[int]:
        """Crash, stop, start, freeze or thaw controllers; return their ids."""
        chosen = self.controllers(statement.which)
        for controller in chosen:
            self._check_controller(controller, statement.action)
            match statement.action:
                case "start":
                    controller.start()
                case "crash":
                    controller.end_process("crashed")
                case "stop":
                    controller.stop()
                case "freeze":
                    self.kernel.freeze_host(controller.id)
                    self.kernel.emit(events.ControllerStateChanged, controller.id, "frozen")
                case "thaw":
                    self.kernel.emit(events.ControllerStateChanged, controller.id, "running")
                    controller.thaw()
        return [controller.id for controller in chosen]

    def _check_controller(self, controller: ControllerServer, action: str) -> None:
        """Reject an operation that is invalid in the current state of a controller's process."""
        status, name = controller.state.status, f"Controller {controller.id}"
        frozen = self.kernel.state.hosts[controller.id].frozen
        if action == "start":
            if status not in DOWN:
                raise RefusedError("NONE", f"{name} is already running.")
        elif status in DOWN:
            raise RefusedError("BROKER_NOT_AVAILABLE", f"{name} is {status}: start it first.")
        elif action == "stop" and frozen:
            message = f"{name} is frozen: thaw it first, or crash it."
            raise RefusedError("BROKER_NOT_AVAILABLE", message)
        elif action == "freeze" and frozen:
            raise RefusedError("NONE", f"{name} is already frozen.")
        elif action == "thaw" and not frozen:
            raise RefusedError("NONE", f"{name} is not frozen.")

    def pause_replica(self, statement: inputs.PauseReplica) -> None:
        """Pause a follower's fetching of a partition."""
        broker = self.up(statement.broker)
        replica = self._replica(broker, statement.tp)
        if not replica.paused:
            replica.paused = True
            broker.core.fetchers.remove(statement.tp)
            self.kernel.emit(events.ReplicaFetchPaused, statement.tp, broker.id, True)

    def resume_replica(self, statement: inputs.ResumeReplica) -> None:
        """Resume a follower's fetching."""
        broker = self.up(statement.broker)
        replica = self._replica(broker, statement.tp)
        if replica.paused:
            replica.paused = False
            self.kernel.emit(events.ReplicaFetchPaused, statement.tp, broker.id, False)
            if replica.role == FOLLOWER and replica.leader >= 0:
                broker.core.fetchers.begin(replica)

    def tick(self, statement: inputs.Tick) -> None:
        """Run a periodic task now."""
        chosen = (
            self.cluster.brokers.values()
            if statement.broker is None
            else [self.up(statement.broker)]
        )
        for broker in chosen:
            if broker.state.state in DOWN or self.kernel.state.hosts[broker.id].frozen:
                continue
            if statement.task == "isr":
                broker.core.isr.expire()
            elif statement.task == "checkpoint":
                broker.core.replicas.checkpoint_high_watermarks()
                broker.core.replicas.checkpoint_recovery_points()
            elif self.cluster.kraft is None:  # else leaders are rebalanced by no broker
                broker.context.arm("rebalance", self.kernel.now)

    # ---- links

    def _directions(self, source: int, destination: int, one_way: bool) -> list[tuple[int, int]]:
        for number in (source, destination):
            if number >= 0:
                needs_member(self.cluster, number)
            if number == ZOOKEEPER and self.cluster.kraft is not None:
                raise RefusedError("UNSUPPORTED_VERSION", NO_ZOOKEEPER)
        if source == destination:
            raise RefusedError("BROKER_NOT_AVAILABLE", "A link needs two different hosts.")
        pair = (source, destination)
        return [pair] if one_way else [pair, (destination, source)]

    def cut(self, statement: inputs.CutLink) -> None:
        """Partition a link."""
        for pair in self._directions(statement.source, statement.destination, statement.one_way):
            self.network.change(*pair, cut=True)

    def delay(self, statement: inputs.DelayLink) -> None:
        """Delay the messages of a link."""
        for pair in self._directions(statement.source, statement.destination, statement.one_way):
            self.network.change(*pair, delay_us=statement.delay_us)

    def drop(self, statement: inputs.DropOnLink) -> None:
        """Drop messages of a link."""
        for pair in self._directions(statement.source, statement.destination, statement.one_way):
            self.network.change(*pair, drop_percent=statement.percent)

    def isolate(self, statement: inputs.IsolateBroker) -> None:
        """Partition a broker from all other brokers and from ZooKeeper."""
        number = statement.broker
        needs_member(self.cluster, number)
        above = self.cluster.controllers or (ZOOKEEPER,)
        for other in (*self.cluster.brokers, *above):
            if other != number:
                self.network.change(number, other, cut=True)
                self.network.change(other, number, cut=True)

    def heal(self, statement: inputs.HealLinks) -> None:
        """Remove the faults of one link, or of all links."""
        if statement.source is None or statement.destination is None:
            for pair in list(self.network.state.links):
                self.network.heal(*pair)
        else:
            for pair in self._directions(
                statement.source, statement.destination, statement.one_way
            ):
                self.network.heal(*pair)

    def hold(self, statement: inputs.HoldMessages) -> None:
        """Hold messages back."""
        self._directions(statement.source, statement.destination, one_way=True)
        request = (statement.api or "").removesuffix("Request").removesuffix("Response")
        if request in BROUGHT_BY:
            needs(self.cluster.profile, BROUGHT_BY[request], f"{request} exists")
        self.network.hold(statement.source, statement.destination, statement.api)

    def release(self, statement: inputs.ReleaseMessages) -> None:
        """Release held messages."""
        self._directions(statement.source, statement.destination, one_way=True)
        self.network.release(
            statement.source, statement.destination, statement.count, statement.lose, statement.api
        )
