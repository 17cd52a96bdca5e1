"""A broker's life in ZooKeeper: the paths that must exist, its own znode, controlled shutdown."""

from collections.abc import Callable

from msgspec import Struct

from emulator import events
from emulator.broker.producer_ids import ProducerIds
from emulator.broker.replica import Replicas
from emulator.broker_context import BrokerContext
from emulator.controller.channels import CONTROLLER_SOCKET_TIMEOUT_US
from emulator.controller.controller import Controller
from emulator.events import ZOOKEEPER
from emulator.protocol import ControlledShutdownRequest, ControlledShutdownResponse
from emulator.replication.partition import Restart
from emulator.zookeeper.data import broker_json, compact
from emulator.zookeeper.operations import Create, Operation, SetData

PATHS = (
    ("", "/consumers"),
    ("", "/brokers"),
    ("", "/brokers/ids"),
    ("", "/brokers/topics"),
    ("generated_broker_ids", "/brokers/seqid"),
    ("", "/config"),
    ("", "/config/changes"),
    ("", "/config/topics"),
    ("client_quotas", "/config/clients"),
    ("dynamic_broker_config", "/config/users"),
    ("dynamic_broker_config", "/config/brokers"),
    ("ip_quotas", "/config/ips"),
    ("", "/admin"),
    ("", "/admin/delete_topics"),
    ("isr_change_notification_znode", "/isr_change_notification"),
    ("idempotence", "/latest_producer_id_block"),
    ("log_dir_event_notifications", "/log_dir_event_notification"),
    ("finalized_features", "/feature"),
)
"""Persistent paths that a broker makes when it starts, each with the feature that needs it."""

BOOT_US = 200_000
"""How long a process takes from its start to reaching for ZooKeeper."""
RECONNECT_US = 1_000_000


class LifecycleState(Struct, array_like=True):
    """A controlled shutdown under way: its request (0: none), when it was sent, which try it is."""

    shutdown_request: int = 0
    shutdown_sent_us: int = 0
    shutdown_tries: int = 0


class Lifecycle:
    """Starts, registers and ends a broker."""

    def __init__(
        self,
        context: BrokerContext,
        state: LifecycleState,
        *,
        replicas: Replicas,
        producer_ids: ProducerIds,
        controller: Controller,
        start_tasks: Callable[[], None],
        end_process: Callable[[str], None],
    ) -> None:
        """Act in ``context``.

        ``start_tasks`` begins the periodic tasks, ``end_process`` ends the process with a status.
        """
        self.context = context
        self.state = state
        self.replicas = replicas
        self.producer_ids = producer_ids
        self.controller = controller
        self.start_tasks = start_tasks
        self.end_process = end_process
        self.world = context.world
        self.kernel = context.kernel
        self.profile = context.profile

    # ---- coming

    def start(self) -> None:
        """The process begins: read the logs, then reach for ZooKeeper."""
        self.kernel.start_host(self.context.id)
        self.context.set_status("starting")
        if self.profile.has("removed_broker_config_stays"):
            self.world.read_again(f"/config/brokers/{self.context.id}")
        for replica in self.replicas.by_name.values():
            self.replicas.do(replica, Restart(replica.checkpointed_hw))
        self.context.later("boot", BOOT_US)

    def boot(self) -> None:
        """Connect to ZooKeeper (as soon as it can be reached), register, stand for controller."""
        if not self.context.zk.connect():
            self.context.later("boot", RECONNECT_US)
            return
        self._make_paths()
        self.context.set_status("running")
        self.start_tasks()
        self.producer_ids.start()
        self.register()

    def register_again(self) -> None:
        """After a session has expired: a new session, the broker's znode anew, a new candidacy."""
        if self.context.zk.connect():
            self.register()
        else:
            self.context.later("boot", RECONNECT_US)

    def register(self) -> None:
        """Write the broker's own znode; one of an earlier life has to be gone before."""
        path = f"/brokers/ids/{self.context.id}"
        data = broker_json(self.world, self.context.id)
        zookeeper, world = self.world.zookeeper, self.world
        node = zookeeper.find(path)
        if node is not None and node.ephemeral_owner == self.context.session:
            return
        if node is not None or not self.context.zk.usable():
            self.context.later("register", RECONNECT_US)
            return
        if self.profile.has("broker_registration_multi"):
            operations: list[Operation] = [
                Create(path, None, ephemeral=True),
                SetData(path, data, 0),
            ]
            zookeeper.multi(world, self.context.session, operations)
        else:
            zookeeper.create(world, self.context.session, path, data, ephemeral=True)
        self.context.process.broker_epoch = zookeeper.get(path).czxid
        self.kernel.emit(
            events.BrokerRegistered,
            self.context.id,
            self.context.process.broker_epoch,
            self.context.session,
        )
        self.controller.stand()

    def _make_paths(self) -> None:
        zookeeper, world = self.world.zookeeper, self.world
        wanted = [path for need, path in PATHS if not need or self.profile.has(need)]
        for path in wanted:
            if zookeeper.find(path) is None:
                zookeeper.create(world, 0, path, None)
        if self.profile.has("cluster_id") and zookeeper.find("/cluster/id") is None:
            zookeeper.create(world, 0, "/cluster", None)
            identity = compact({"version": "1", "id": world.cluster_id()})
            zookeeper.create(world, 0, "/cluster/id", identity)

    # ---- going

    def stop(self) -> None:
        """Controlled shutdown: ask the controller to move what this broker leads, then end."""
        state = self.state
        self.context.set_status("controlled_shutdown")
        state.shutdown_tries = 0
        if self.context.config.controlled_shutdown_enable:
            self.ask_to_leave()
        else:
            self.leave()

    def ask_to_leave(self) -> None:
        """One try of the controlled shutdown."""
        state = self.state
        if self.context.process.status != "controlled_shutdown":
            return
        state.shutdown_tries += 1
        if state.shutdown_tries > self.context.config.controlled_shutdown_max_retries:
            self.leave()
        elif self.context.process.known_controller < 0:
            self._ask_again()
        else:
            request = ControlledShutdownRequest(self.context.id, self.context.process.broker_epoch)
            state.shutdown_request = self.world.network.send(
                self.context.id, self.context.process.known_controller, request
            )
            state.shutdown_sent_us = self.kernel.now
            self.context.later("shutdown-timeout", CONTROLLER_SOCKET_TIMEOUT_US)

    def check_timeout(self) -> None:
        """A time limit came: a request to leave that nobody has answered is made again."""
        state = self.state
        if not state.shutdown_request:
            return
        due_us = state.shutdown_sent_us + CONTROLLER_SOCKET_TIMEOUT_US
        if self.kernel.now < due_us:
            self.context.arm("shutdown-timeout", due_us)
        else:
            state.shutdown_request = 0
            self._ask_again()

    def shutdown_answered(self, message: ControlledShutdownResponse) -> None:
        """The controller answered: leave, or ask again for what is still led."""
        state = self.state
        if message.request != state.shutdown_request:
            return
        state.shutdown_request = 0
        if message.error == "NONE" and not message.remaining:
            self.leave()
        else:
            self._ask_again()

    def connection_lost(self, peer: int) -> None:
        """The connection to the controller broke during a controlled shutdown."""
        state = self.state
        if state.shutdown_request and peer == self.context.process.known_controller:
            state.shutdown_request = 0
            self._ask_again()

    def _ask_again(self) -> None:
        backoff_us = self.context.config.controlled_shutdown_retry_backoff_us
        self.context.later("shutdown-retry", backoff_us)

    def leave(self) -> None:
        """End in order: logs flushed, HWs written, session closed."""
        context, replicas = self.context, self.replicas
        for tp in replicas.by_name:
            replicas.index.unchecked_hw[tp] = None
        replicas.checkpoint_high_watermarks()
        for replica in replicas.by_name.values():
            replica.log.flushed = replica.log.end
        if context.network.reachable(context.id, ZOOKEEPER):
            context.zk.close()
        self.controller.resign("shut down")
        self.end_process("stopped")
