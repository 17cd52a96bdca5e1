"""A broker's lifecycle with ZooKeeper: required paths, registration, controlled shutdown."""

from msgspec import Struct

from emulator import events
from emulator.broker.replication.partition_locks import PartitionLocks
from emulator.broker.replication.replica import Replicas
from emulator.broker.zookeeper_membership.acl_authorizer import AclAuthorizer
from emulator.broker.zookeeper_membership.dynamic_config import DynamicConfig
from emulator.broker.zookeeper_membership.producer_ids import ProducerIds
from emulator.broker_context import CLOSED, OPEN, UNOPENED, BrokerContext
from emulator.broker_effects import PortsChanged, ProcessEnded, ProcessStarted, RegistrationLost
from emulator.common.names import random_uuid
from emulator.controller.controller import Controller
from emulator.events import CLIENTS, ZOOKEEPER
from emulator.protocol import (
    ConnectionLost,
    ControlledShutdownRequest,
    ControlledShutdownResponse,
    WatchEvent,
)
from emulator.replication.partition import End, Restart
from emulator.simulation.network import LATENCY_MIN_US
from emulator.zookeeper import data as znodes
from emulator.zookeeper import errors
from emulator.zookeeper.client import ZkClient
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
"""Persistent paths that a broker creates at startup, each with the feature that requires it."""

BOOT_US = 200_000
"""How long a process takes from its start to connecting to ZooKeeper."""
RECONNECT_US = 1_000_000
SHUTDOWN_TIMEOUT = "shutdown-timeout"
LOOK_UP_US = 100_000
"""How long a broker takes to find the controller and connect to it (observed: 30 to 130 ms)."""
CLOSE_SOCKETS_US = 20_000
"""How long a broker takes to close its sockets once it may shut down (observed: 4 to 20 ms)."""
HELD_UP_US = 100_000
"""How often a broker shutting down checks whether its threads still wait for ZooKeeper."""
CLOSE_SESSION_US = 1_000
"""How long a client of ZooKeeper takes to end its event thread before it closes its session.

Up to 0.10.2 a broker may become controller in this time, after its controller has been shut down.
"""
REAPERS_US = 2_000_000
"""How long the threads that enforce quotas delay a shutdown: two, each polling every second.

They exist from 0.9 on (``ClientQuotaManager.ThrottledRequestReaper``, which cannot be interrupted);
from 1.1 on they end after the ZooKeeper session.
"""
ENDING_US = 750_000
"""The time between closing the sockets and closing the session from 1.1 on (as observed)."""


class LifecycleState(Struct, array_like=True):
    """A controlled shutdown in progress: its request (0: none), the controller asked, the attempt.

    ``asks_zookeeper``: it waits to read the controller's id from ZooKeeper.
    ``closes_session``: all that is left to do is to close its ZooKeeper session.
    """

    shutdown_request: int = 0
    shutdown_tries: int = 0
    shutdown_controller: int = -1
    asks_zookeeper: bool = False
    closes_session: bool = False


class Lifecycle:
    """Starts, registers and ends a broker."""

    def __init__(  # noqa: PLR0913 - the parts that a process starts and ends
        self,
        context: BrokerContext,
        state: LifecycleState,
        zk: ZkClient,
        *,
        replicas: Replicas,
        locks: PartitionLocks,
        config: DynamicConfig,
        authorizer: AclAuthorizer,
        producer_ids: ProducerIds,
        controller: Controller,
    ) -> None:
        """Act in ``context``, through ``zk``."""
        self.context = context
        self.state = state
        self.replicas = replicas
        self.locks = locks
        self.config = config
        self.authorizer = authorizer
        self.zk = zk
        self.producer_ids = producer_ids
        self.controller = controller
        has = context.profile.has
        self.goes_slowly = has("controlled_shutdown_one_by_one")
        self.asks_zookeeper = has("controlled_shutdown_asks_zookeeper")
        self.needs_controller = has("controlled_shutdown_ends_without_controller")
        self.waits_after_last_try = has("controlled_shutdown_waits_after_last_try")
        self.elects_first = has("election_before_registration")
        self.expired_session_fails = has("session_expiry_fails_requests")
        self.kernel = context.kernel
        self.profile = context.profile

    # ---- startup

    def start(self) -> None:
        """Start the process: read the logs, then connect to ZooKeeper."""
        self.kernel.start_host(self.context.id)
        self.context.set_status("starting")
        for replica in self.replicas.by_name.values():
            self.replicas.do(replica, Restart(replica.stored_high_watermark))
        self.context.later("boot", BOOT_US)

    def boot(self) -> None:
        """Connect to ZooKeeper (once it is reachable), read the configuration, register."""
        if not self.zk.connect():
            self.context.later("boot", RECONNECT_US)
            return
        try:
            self._make_paths()
            self.config.start()
            self.authorizer.start()
        except errors.ZooKeeperError:
            self.zk.close()
            self.context.later("boot", RECONNECT_US)
            return
        self.context.set_status("running")
        self.context.carry_out(ProcessStarted())
        self.producer_ids.start()
        self.register()

    def register_again(self, _effect: RegistrationLost) -> None:
        """Open a new session after an expiry, register again, and stand for election."""
        if self.zk.usable() or self.zk.connect():
            self.config.reconnected()
            self.authorizer.catch_up()
            self.register()
        else:
            self.context.later("boot", RECONNECT_US)

    def register(self) -> None:
        """Create the broker's znode; one from an earlier session has to be gone first.

        If it already exists in this session, the response to an earlier attempt was lost. The
        controller election follows the registration, up to 1.0 it precedes it.
        """
        if self.elects_first:
            self.controller.elect()
        try:
            is_registered = self._register()
        except errors.ZooKeeperError:
            is_registered = False
        if is_registered and not self.elects_first:
            self.controller.elect()
        elif not is_registered:
            self.context.later("register", RECONNECT_US)

    def _register(self) -> bool:
        """Register; return whether the broker's znode is its own now."""
        context, zk = self.context, self.zk
        path = znodes.broker_path(context.id)
        node = zk.find(path)
        if node is not None and node.ephemeral_owner != zk.state.session:
            return False
        if node is None:
            settings = context.settings
            data = znodes.broker_json(
                self.profile,
                context.id,
                settings.hosts.get(context.id, f"broker-{context.id}"),
                settings.racks.get(context.id),
                context.timestamp_ms,
                settings.endpoints.get(context.id, ()),
            )
            if self.profile.has("broker_registration_multi"):
                # The response to setData holds the Stat, and so the czxid: the broker's epoch.
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
            if context.process.ports == UNOPENED:
                context.process.ports = OPEN
                context.carry_out(PortsChanged())
            context.emit(events.BrokerRegistered, context.id, czxid, zk.state.session)
        return True

    def _make_paths(self) -> None:
        paths = [path for need, path in PATHS if not need or self.profile.has(need)]
        for path in paths:
            if self.zk.find(path) is None:
                self.zk.create(path, None)
        if self.profile.has("cluster_id") and self.zk.find(znodes.CLUSTER_ID) is None:
            if self.zk.find(znodes.CLUSTER) is None:
                self.zk.create(znodes.CLUSTER, None)
            self.zk.create(
                znodes.CLUSTER_ID, znodes.cluster_id_json(random_uuid(self.kernel.random_below))
            )

    # ---- ZooKeeper events

    def watched(self, message: WatchEvent) -> None:
        """Handle a watch event of this broker."""
        if message.path == znodes.CONFIG_CHANGES:
            try:
                self.config.changed()
            except errors.ConnectionLoss:
                return  # it is checked again when the connection is back
        elif message.path in self.authorizer.changes:
            self.authorizer.catch_up()
        else:
            self.controller.watched(message)

    def zookeeper_is_back(self) -> None:
        """Catch up after the connection is back, and run what had to wait."""
        if self.state.closes_session:
            self.end()
            return
        self.config.reconnected()
        self.authorizer.catch_up()
        self.controller.retry()

    def session_expired(self) -> None:
        """Abandon everything that was to be read in the expired session.

        From 1.1 on this makes the controlled shutdown fail with an exception, and the broker shuts
        down uncleanly, but only after registering in the next session; up to 1.0 it asks again
        there.
        """
        if self.state.asks_zookeeper and self.expired_session_fails:
            self.state.asks_zookeeper = False
            self.close_sockets()

    # ---- shutdown

    def stop(self) -> None:
        """Start a controlled shutdown: ask the controller to move leaderships away, then end."""
        state = self.state
        self.context.set_status("controlled_shutdown")
        state.shutdown_tries = 0
        if not self.context.config.controlled_shutdown_enable:
            self.end()  # no StopReplica follows, so the duration of the steps does not matter
        else:
            self.context.later("shutdown-retry", LOOK_UP_US)

    def ask_to_leave(self) -> None:
        """Make one attempt at the controlled shutdown."""
        state, context = self.state, self.context
        if context.process.status != "controlled_shutdown" or context.process.ports == CLOSED:
            return
        if state.shutdown_tries >= context.config.controlled_shutdown_max_retries:
            self.leave()
            return
        try:
            controller = self._controller()
        except errors.ConnectionLoss:
            state.asks_zookeeper = True
            context.later("shutdown-retry", HELD_UP_US)
            return
        state.asks_zookeeper = False
        state.shutdown_tries += 1
        state.shutdown_controller = controller
        if controller < 0 and self.needs_controller:
            self.leave()
        elif controller < 0:
            self._ask_again()
        else:
            request = ControlledShutdownRequest(context.id, context.process.broker_epoch)
            state.shutdown_request = context.network.send(context.id, controller, request)
            at_us = self.kernel.now + context.config.controller_socket_timeout_us
            context.timers.set_deadline(SHUTDOWN_TIMEOUT, "", at_us)

    def _controller(self) -> int:
        """The controller's id; -1 if there is none.

        Raises:
            ConnectionLoss: up to 2.8 it is read from ZooKeeper, which does not respond.
        """
        if not self.asks_zookeeper:
            return self.context.process.known_controller
        holder = znodes.controller_in(self.zk.data(znodes.CONTROLLER))
        return -1 if holder is None else holder

    def check_timeout(self) -> None:
        """Retry the controlled shutdown request if it has timed out."""
        if self.context.timers.overdue(SHUTDOWN_TIMEOUT) and self.state.shutdown_request:
            self.state.shutdown_request = 0
            self._ask_again()

    def on_shutdown_response(self, message: ControlledShutdownResponse) -> None:
        """Handle the response: shut down, or ask again if partitions are still led here."""
        state = self.state
        if message.request != state.shutdown_request:
            return
        state.shutdown_request = 0
        if message.error == "NONE" and not message.remaining:
            self.leave()
        else:
            self._ask_again()

    def connection_lost(self, peer: int) -> None:
        """Handle a lost connection to the controller during a controlled shutdown."""
        state = self.state
        if state.shutdown_request and peer == state.shutdown_controller:
            state.shutdown_request = 0
            self._ask_again()

    def _ask_again(self) -> None:
        config = self.context.config
        is_last = self.state.shutdown_tries >= config.controlled_shutdown_max_retries
        if is_last and not self.waits_after_last_try:
            self.leave()
        else:
            self.context.later("shutdown-retry", config.controlled_shutdown_retry_backoff_us)

    def leave(self) -> None:
        """End in order (KafkaServer.shutdown): sockets first, the ZooKeeper session last.

        Up to 1.0 the controller's StopReplica requests may arrive too late, so the duration of each
        step matters: fetchers keep running after the sockets are closed, and a replica that was not
        stopped can rejoin its ISR.
        """
        self.context.later("close-sockets", CLOSE_SOCKETS_US)

    def close_sockets(self) -> None:
        """Stop accepting requests; then let the threads end one by one."""
        self._refuse_requests()
        ending_us = ENDING_US
        if self.goes_slowly:
            ending_us = REAPERS_US if self.profile.has("client_quotas") else 0
        self.context.later("close-fetchers", ending_us)

    def _refuse_requests(self) -> None:
        context, kernel = self.context, self.kernel
        context.process.ports = CLOSED
        context.carry_out(PortsChanged())
        at_us = kernel.now + LATENCY_MIN_US
        kernel.schedule(at_us, CLIENTS, ConnectionLost(context.id), kernel.cause, context.id)

    def end(self) -> None:
        """Flush the logs, checkpoint the HWs, and close the session.

        Threads that wait for ZooKeeper delay this, and so does a session that cannot be closed.
        """
        context, replicas = self.context, self.replicas
        if self.locks.state.held or self.controller.thread.without_zookeeper:
            context.later("close-fetchers", HELD_UP_US)
            return
        # The order of KafkaServer.shutdown: ReplicaManager, LogManager, KafkaController, and the
        # session last. So the next controller finds the HWs of a clean shutdown on disk.
        replicas.store_all()
        self.controller.shut_down()
        closing_us = 0 if self.state.closes_session else self._closing_us()
        if closing_us:
            self._await_session(closing_us)
            return
        if context.network.reachable(context.id, ZOOKEEPER):
            self.zk.close()
        context.carry_out(ProcessEnded("stopped"))

    def _closing_us(self) -> int:
        """How long the session outlives the controller, which has been shut down."""
        if self.context.profile.has("failover_checks_running"):
            return self.zk.closing_us() or CLOSE_SESSION_US
        return self.zk.closing_us()

    def _await_session(self, closing_us: int) -> None:
        """Keep only the ZooKeeper client until its session can be closed."""
        state, replicas = self.state, self.replicas
        if self.context.process.ports != CLOSED:
            self._refuse_requests()
        state.closes_session = True
        for replica in replicas.by_name.values():
            replicas.do(replica, End())
        self.context.later("close-fetchers", closing_us)
