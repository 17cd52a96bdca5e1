"""A broker's life in ZooKeeper: the paths that must exist, its own znode, controlled shutdown."""

from collections.abc import Callable

from msgspec import Struct

from emulator import events
from emulator.broker.dynamic_config import DynamicConfig
from emulator.broker.producer_ids import ProducerIds
from emulator.broker.replica import Replicas
from emulator.broker_context import BrokerContext
from emulator.controller.controller import Controller
from emulator.events import CLIENTS, ZOOKEEPER
from emulator.protocol import (
    ConnectionLost,
    ControlledShutdownRequest,
    ControlledShutdownResponse,
    WatchEvent,
)
from emulator.protocol.names import random_uuid
from emulator.replication.partition import Restart
from emulator.simulation.network import LATENCY_MIN_US
from emulator.zookeeper import data as znodes
from emulator.zookeeper import errors
from emulator.zookeeper.operations import Create, Operation, SetData

PATHS = (
    ("", znodes.CONSUMERS),
    ("", znodes.BROKERS),
    ("", znodes.BROKER_IDS),
    ("", znodes.TOPICS),
    ("generated_broker_ids", znodes.BROKER_ID_SEQUENCE),
    ("", znodes.CONFIG),
    ("", znodes.CONFIG_CHANGES),
    ("", znodes.TOPIC_CONFIGS),
    ("client_quotas", znodes.CLIENT_CONFIGS),
    ("dynamic_broker_config", znodes.USER_CONFIGS),
    ("dynamic_broker_config", znodes.BROKER_CONFIGS),
    ("ip_quotas", znodes.IP_CONFIGS),
    ("", znodes.ADMIN),
    ("", znodes.DELETE_TOPICS),
    ("isr_change_notification_znode", znodes.ISR_CHANGES),
    ("producer_id_block_znode", znodes.PRODUCER_IDS),
    ("log_dir_event_notifications", znodes.LOG_DIR_EVENTS),
    ("finalized_features", znodes.FEATURE),
)
"""Persistent paths that a broker makes when it starts, each with the feature that needs it."""

BOOT_US = 200_000
"""How long a process takes from its start to reaching for ZooKeeper."""
RECONNECT_US = 1_000_000
SHUTDOWN_TIMEOUT = "shutdown-timeout"
LOOK_UP_US = 100_000
"""How long a broker takes to find the controller and to connect to it (seen: 30 to 130 ms)."""
CLOSE_SOCKETS_US = 20_000
"""How long a broker that may go takes to close its sockets (seen: 4 to 20 ms)."""
REAPERS_US = 2_000_000
"""How long the threads that enforce quotas hold a shutdown up: two that look around every second.

From 0.9 on (``ClientQuotaManager.ThrottledRequestReaper``, which cannot be interrupted).
"""


class LifecycleState(Struct, array_like=True):
    """A controlled shutdown under way: its request (0: none), and which try it is.

    ``sockets_closed``: the broker takes no more requests, but its fetchers still run.
    """

    shutdown_request: int = 0
    shutdown_tries: int = 0
    sockets_closed: bool = False


class Lifecycle:
    """Starts, registers and ends a broker."""

    def __init__(
        self,
        context: BrokerContext,
        state: LifecycleState,
        *,
        replicas: Replicas,
        config: DynamicConfig,
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
        self.config = config
        self.zk = context.zk
        self.producer_ids = producer_ids
        self.controller = controller
        self.start_tasks = start_tasks
        self.end_process = end_process
        self.goes_slowly = context.profile.has("controlled_shutdown_one_by_one")
        self.on_sockets_closed: Callable[[], None] = _nothing
        self.kernel = context.kernel
        self.profile = context.profile

    # ---- coming

    def start(self) -> None:
        """The process begins: read the logs, then reach for ZooKeeper."""
        self.kernel.start_host(self.context.id)
        self.context.set_status("starting")
        for replica in self.replicas.by_name.values():
            self.replicas.do(replica, Restart(replica.checkpointed_hw))
        self.context.later("boot", BOOT_US)

    def boot(self) -> None:
        """Connect to ZooKeeper (as soon as it can be reached), read the configuration, register."""
        if not self.zk.connect():
            self.context.later("boot", RECONNECT_US)
            return
        try:
            self._make_paths()
            self.config.start()
        except errors.ZooKeeperError:
            self.zk.close()
            self.context.later("boot", RECONNECT_US)
            return
        self.context.set_status("running")
        self.start_tasks()
        self.producer_ids.start()
        self.register()

    def register_again(self) -> None:
        """After a session has expired: a new session, the broker's znode anew, a new election."""
        if self.zk.usable() or self.zk.connect():
            self.config.reconnected()
            self.register()
        else:
            self.context.later("boot", RECONNECT_US)

    def register(self) -> None:
        """Write the broker's own znode; one of an earlier life has to be gone before.

        If it is there by this session already, the answer to an earlier try was lost.
        """
        try:
            is_registered = self._register()
        except errors.ZooKeeperError:
            is_registered = False
        if is_registered:
            self.controller.elect()
        else:
            self.context.later("register", RECONNECT_US)

    def _register(self) -> bool:
        """Whether the broker's znode is its own now."""
        context, zk = self.context, self.zk
        path = znodes.broker_path(context.id)
        node = zk.find(path)
        if node is not None and node.ephemeral_owner != context.session:
            return False
        if node is None:
            settings = context.settings
            data = znodes.broker_json(
                self.profile,
                context.id,
                settings.hosts.get(context.id, f"broker-{context.id}"),
                settings.racks.get(context.id),
                context.timestamp_ms,
            )
            if self.profile.has("broker_registration_multi"):
                # The answer to setData holds the Stat, and so the czxid: the broker's epoch.
                operations: list[Operation] = [
                    Create(path, None, ephemeral=True),
                    SetData(path, data, 0),
                ]
                zk.multi(operations)
            else:
                zk.create(path, data, ephemeral=True)
        czxid = zk.get(path).czxid
        if czxid != context.process.broker_epoch:
            context.process.broker_epoch = czxid
            context.emit(events.BrokerRegistered, context.id, czxid, context.session)
        return True

    def _make_paths(self) -> None:
        wanted = [path for need, path in PATHS if not need or self.profile.has(need)]
        for path in wanted:
            if self.zk.find(path) is None:
                self.zk.create(path, None)
        if self.profile.has("cluster_id") and self.zk.find(znodes.CLUSTER_ID) is None:
            if self.zk.find(znodes.CLUSTER) is None:
                self.zk.create(znodes.CLUSTER, None)
            self.zk.create(
                znodes.CLUSTER_ID, znodes.cluster_id_json(random_uuid(self.kernel.random_below))
            )

    # ---- what ZooKeeper tells

    def watched(self, message: WatchEvent) -> None:
        """A watch of this broker fired."""
        if message.path == znodes.CONFIG_CHANGES:
            try:
                self.config.changed()
            except errors.ConnectionLoss:
                return  # it is looked at again when the connection works
        else:
            self.controller.watched(message)

    def zookeeper_is_back(self) -> None:
        """The connection works again: see what was missed, and do what had to wait."""
        self.config.reconnected()
        self.controller.retry()

    # ---- going

    def stop(self) -> None:
        """Controlled shutdown: ask the controller to move what this broker leads, then end."""
        state = self.state
        self.context.set_status("controlled_shutdown")
        state.shutdown_tries = 0
        if not self.context.config.controlled_shutdown_enable:
            self.end()  # nobody tells it to stop replicas, so it does not show how long that takes
        elif self.goes_slowly:
            self.context.later("shutdown-retry", LOOK_UP_US)
        else:
            self.ask_to_leave()

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
            state.shutdown_request = self.context.network.send(
                self.context.id, self.context.process.known_controller, request
            )
            at_us = self.kernel.now + self.context.config.controller_socket_timeout_us
            self.context.timers.set_deadline(SHUTDOWN_TIMEOUT, "", at_us)

    def check_timeout(self) -> None:
        """A request to leave that nobody has answered in time is made again."""
        if self.context.timers.overdue(SHUTDOWN_TIMEOUT) and self.state.shutdown_request:
            self.state.shutdown_request = 0
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
        """End in order (KafkaServer.shutdown): first the sockets, last the ZooKeeper session.

        Up to 1.0 the controller's requests to stop replicas may come too late for that, so it shows
        how long each step takes: fetchers run on when the sockets are closed, and a replica that
        was not stopped can come back into its ISR.
        """
        if self.goes_slowly:
            self.context.later("close-sockets", CLOSE_SOCKETS_US)
        else:
            self.end()

    def close_sockets(self) -> None:
        """Take no more requests; then let the threads end one by one."""
        context, kernel = self.context, self.kernel
        self.state.sockets_closed = True
        self.on_sockets_closed()
        at_us = kernel.now + LATENCY_MIN_US
        kernel.schedule(at_us, CLIENTS, ConnectionLost(context.id), kernel.cause, context.id)
        context.later("close-fetchers", REAPERS_US if self.profile.has("client_quotas") else 0)

    def end(self) -> None:
        """Logs are flushed, HWs written, the session is closed."""
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


def _nothing() -> None:
    """Nobody takes requests for the broker."""
