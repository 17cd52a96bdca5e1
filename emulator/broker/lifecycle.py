"""A broker's life in ZooKeeper.

The paths that must exist, its own znode, its configuration, leaving in order, and telling of ISR
changes.
"""

from typing import TYPE_CHECKING

from emulator import events
from emulator.broker.dynamic_config import DynamicConfig
from emulator.broker.replica import FOLLOWER
from emulator.controller.channels import CONTROLLER_SOCKET_TIMEOUT_US
from emulator.events import ZOOKEEPER
from emulator.protocol import (
    ControlledShutdownRequest,
    ControlledShutdownResponse,
    WatchEvent,
)
from emulator.zookeeper import data as znodes
from emulator.zookeeper import errors
from emulator.zookeeper.operations import Create, Operation, SetData

if TYPE_CHECKING:
    from emulator.broker.broker import Broker

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
    ("isr_change_folder", znodes.ISR_CHANGES),
    ("idempotence", znodes.PRODUCER_IDS),
    ("log_dir_events", znodes.LOG_DIR_EVENTS),
    ("finalized_features", znodes.FEATURE),
)
"""Persistent paths that a broker makes when it starts, each with the feature that needs it."""

BOOT_US = 200_000
"""How long a process takes from its start to reaching for ZooKeeper."""
RECONNECT_US = 1_000_000
ISR_CHECK_US = 2_500_000
ISR_QUIET_US = 5_000_000
ISR_CAP_US = 60_000_000


class Registration:
    """Starts, registers and ends a broker."""

    def __init__(self, broker: "Broker") -> None:
        """Act for ``broker``."""
        self.broker = broker
        self.world = broker.world
        self.kernel = broker.world.kernel
        self.profile = broker.world.profile
        self.zk = broker.zk
        self.config = DynamicConfig(broker.context, self._config_taken)

    # ---- coming

    def start(self) -> None:
        """The process begins: read the logs, then reach for ZooKeeper."""
        state = self.broker.state
        self.kernel.start_host(self.broker.id)
        self.broker.set_state("starting")
        for tp, replica in state.replicas.items():
            if self.profile.has("cut_to_high_watermark_on_restart"):
                replica.high_watermark = min(replica.checkpointed_hw, replica.log.end)
                self.broker.follower.truncate(
                    replica, replica.high_watermark, "restart: to high watermark"
                )
            replica.high_watermark = min(replica.checkpointed_hw, replica.log.end)
            replica.producers.rebuild(replica.log)
            self.broker.truncate_epochs(replica, replica.log.end)
            epochs = None if replica.epochs is None else list(replica.epochs.entries)
            self.kernel.emit(
                events.LogLoaded,
                tp,
                self.broker.id,
                replica.log.start,
                replica.log.end,
                replica.high_watermark,
                epochs,
            )
            replica.role = FOLLOWER
            self.kernel.emit(
                events.ReplicaRoleChanged, tp, self.broker.id, FOLLOWER, replica.leader, -1
            )
        self.broker.later("boot", BOOT_US)

    def boot(self) -> None:
        """Connect to ZooKeeper (as soon as it can be reached), read the configuration, register."""
        if not self.zk.connect():
            self.broker.later("boot", RECONNECT_US)
            return
        try:
            self._make_paths()
            self.config.start()
        except errors.ZooKeeperError:
            self.zk.close()
            self.broker.later("boot", RECONNECT_US)
            return
        self.broker.set_state("running")
        self.broker.start_tasks()
        self.broker.producer_ids.start()
        self.register()

    def register_again(self) -> None:
        """After a session has expired: a new session, the broker's znode anew, a new election."""
        if self.zk.connect():
            self.config.reconnected()
            self.register()
        else:
            self.broker.later("boot", RECONNECT_US)

    def register(self) -> None:
        """Write the broker's own znode; one of an earlier life has to be gone before.

        If it is there by this session already, the answer to an earlier try was lost.
        """
        try:
            is_registered = self._register()
        except errors.ZooKeeperError:
            is_registered = False
        if not is_registered:
            self.broker.later("register", RECONNECT_US)
        elif self.broker.state.broker_epoch:
            self.broker.controller.elect()

    def _register(self) -> bool:
        """Whether the broker's znode is its own now."""
        state, zk = self.broker.state, self.zk
        path = znodes.broker_path(self.broker.id)
        node = zk.find(path)
        if node is not None and node.ephemeral_owner != state.session:
            return False
        if node is None:
            rack = self.world.settings.racks.get(self.broker.id)
            data = znodes.broker_json(self.profile, self.broker.id, rack, self.world.timestamp_ms)
            if self.profile.has("registration_multi"):
                operations: list[Operation] = [
                    Create(path, None, ephemeral=True),
                    SetData(path, data, 0),
                ]
                zk.multi(operations)
            else:
                zk.create(path, data, ephemeral=True)
        czxid = zk.get(path).czxid
        if czxid != state.broker_epoch:
            state.process.broker_epoch = czxid
            self.kernel.emit(events.BrokerRegistered, self.broker.id, czxid, state.session)
        return True

    def _make_paths(self) -> None:
        wanted = [path for need, path in PATHS if not need or self.profile.has(need)]
        for path in wanted:
            if self.zk.find(path) is None:
                self.zk.create(path, None)
        if self.profile.has("cluster_id") and self.zk.find(znodes.CLUSTER_ID) is None:
            if self.zk.find(znodes.CLUSTER) is None:
                self.zk.create(znodes.CLUSTER, None)
            self.zk.create(znodes.CLUSTER_ID, znodes.cluster_id_json(self.world.cluster_id()))

    # ---- what ZooKeeper tells

    def watched(self, message: WatchEvent) -> None:
        """A watch of this broker fired."""
        if message.path == znodes.CONFIG_CHANGES:
            try:
                self.config.changed()
            except errors.ConnectionLoss:
                return  # it is looked at again when the connection works
        else:
            self.broker.controller.watched(message)

    def zookeeper_is_back(self) -> None:
        """The connection works again: see what was missed, and do what had to wait."""
        self.config.reconnected()
        self.broker.controller.retry()

    def _config_taken(self, kind: str, name: str) -> None:
        """This broker goes by a changed configuration: its controller, if it is it, may act."""
        self.broker.controller.config_changed(kind, name)

    # ---- going

    def stop(self) -> None:
        """Controlled shutdown: ask the controller to move what this broker leads, then end."""
        state = self.broker.state
        self.broker.set_state("controlled_shutdown")
        state.shutdown_tries = 0
        if self.broker.config.controlled_shutdown_enable:
            self.ask_to_leave()
        else:
            self.leave()

    def ask_to_leave(self) -> None:
        """One try of the controlled shutdown."""
        state = self.broker.state
        if state.state != "controlled_shutdown":
            return
        state.shutdown_tries += 1
        if state.shutdown_tries > self.broker.config.controlled_shutdown_max_retries:
            self.leave()
        elif state.process.known_controller < 0:
            self._ask_again()
        else:
            request = ControlledShutdownRequest(self.broker.id, state.broker_epoch)
            state.shutdown_request = self.world.network.send(
                self.broker.id, state.process.known_controller, request
            )
            state.shutdown_sent_us = self.kernel.now
            self.broker.later("shutdown-timeout", CONTROLLER_SOCKET_TIMEOUT_US)

    def check_timeout(self) -> None:
        """A time limit came: a request to leave that nobody has answered is made again."""
        state = self.broker.state
        if not state.shutdown_request:
            return
        due_us = state.shutdown_sent_us + CONTROLLER_SOCKET_TIMEOUT_US
        if self.kernel.now < due_us:
            self.broker.arm("shutdown-timeout", due_us)
        else:
            state.shutdown_request = 0
            self._ask_again()

    def shutdown_answered(self, message: ControlledShutdownResponse) -> None:
        """The controller answered: leave, or ask again for what is still led."""
        state = self.broker.state
        if message.request != state.shutdown_request:
            return
        state.shutdown_request = 0
        if message.error == "NONE" and not message.remaining:
            self.leave()
        else:
            self._ask_again()

    def connection_lost(self, peer: int) -> None:
        """The connection to the controller broke during a controlled shutdown."""
        state = self.broker.state
        if state.shutdown_request and peer == state.process.known_controller:
            state.shutdown_request = 0
            self._ask_again()

    def _ask_again(self) -> None:
        backoff_us = self.broker.config.controlled_shutdown_retry_backoff_us
        self.broker.later("shutdown-retry", backoff_us)

    def leave(self) -> None:
        """End in order: logs flushed, HWs written, session closed."""
        broker = self.broker
        for tp in broker.state.replicas:
            broker.state.unchecked_hw[tp] = None
        broker.checkpoint_high_watermarks()
        for replica in broker.state.replicas.values():
            replica.log.flushed = replica.log.end
        if self.world.network.reachable(broker.id, ZOOKEEPER):
            broker.zk.close()
        broker.controller.resign("shut down")
        broker.end_process("stopped")

    # ---- ISR change notifications (0.9 to 2.6: leaders write the ISR themselves)

    def note_isr_change(self, tp: str) -> None:
        """Remember to tell the controller of an ISR that this leader has written."""
        state = self.broker.state
        state.isr_changes[tp] = None
        state.isr_changed_us = self.kernel.now
        if not self.world.stepwise:
            self.broker.later("isr-propagation", ISR_CHECK_US)

    def propagate_isr_changes(self) -> None:
        """Every 2.5 s: tell, once it has been quiet for 5 s or the last time is 60 s ago."""
        state = self.broker.state
        if not state.isr_changes:
            return
        now = self.kernel.now
        quiet = now - state.isr_changed_us >= ISR_QUIET_US
        if not (quiet or now - state.isr_told_us >= ISR_CAP_US):
            self.broker.later("isr-propagation", ISR_CHECK_US)
            return
        try:
            self.broker.context.metadata.announce(state.isr_changes)
        except errors.ZooKeeperError:
            self.broker.later("isr-propagation", ISR_CHECK_US)
            return
        state.isr_changes = {}
        state.isr_told_us = now
