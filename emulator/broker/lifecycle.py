"""A broker's life in ZooKeeper.

The paths that must exist, its own znode, leaving in order, and telling of ISR changes.
"""

from typing import TYPE_CHECKING

from emulator import events
from emulator.broker.replica import FOLLOWER
from emulator.controller.channels import CONTROLLER_SOCKET_TIMEOUT_US
from emulator.events import ZOOKEEPER
from emulator.protocol import ControlledShutdownRequest, ControlledShutdownResponse
from emulator.zookeeper import errors
from emulator.zookeeper.data import compact
from emulator.zookeeper.operations import Create, Operation, SetData
from emulator.zookeeper.tree import STARTED_MS

if TYPE_CHECKING:
    from emulator.broker.broker import Broker

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

    # ---- what is written

    def _timestamp(self) -> str:
        return str(STARTED_MS + self.kernel.now // 1000)

    def broker_json(self) -> str:
        """The content of /brokers/ids/N in this release (semantics of ZkData.BrokerIdZNode)."""
        port = 9092 + self.broker.id
        host = f"broker-{self.broker.id}"
        basic = {"jmx_port": -1, "timestamp": self._timestamp(), "host": host}
        if not self.profile.has("broker_endpoints"):
            return compact({**basic, "version": 1, "port": port})
        endpoints = {"endpoints": [f"PLAINTEXT://{host}:{port}"]}
        if not self.profile.has("broker_rack"):
            return compact({**basic, **endpoints, "version": 2, "port": port})
        rack = self.world.settings.racks.get(self.broker.id)
        racks = {} if rack is None else {"rack": rack}
        if not self.profile.has("listener_protocol_map"):
            return compact({**basic, **endpoints, **racks, "version": 3, "port": port})
        listed = self.profile.has("finalized_features")
        features: dict[str, object] = {"features": {}} if listed else {}
        return compact(
            {
                **features,
                "listener_security_protocol_map": {"PLAINTEXT": "PLAINTEXT"},
                **endpoints,
                **racks,
                **basic,
                "port": port,
                "version": 5 if features else 4,
            }
        )

    def controller_json(self) -> str:
        """The content of /controller."""
        data: dict[str, object] = {"version": 1, "brokerid": self.broker.id}
        data["timestamp"] = self._timestamp()
        if self.profile.has("kraft_controller_epoch"):
            data = {**data, "version": 2, "kraftControllerEpoch": -1}
        return compact(data)

    # ---- coming

    def start(self) -> None:
        """The process begins: read the logs, then reach for ZooKeeper."""
        state = self.broker.state
        self.kernel.start_host(self.broker.id)
        self.broker.set_state("starting")
        if self.profile.has("removed_broker_config_stays"):
            self.world.read_again(f"/config/brokers/{self.broker.id}")
        for tp, replica in state.replicas.items():
            if self.profile.has("truncate_to_high_watermark_on_restart"):
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
        """Connect to ZooKeeper (as soon as it can be reached), register, stand for controller."""
        if not self.broker.zk.connect():
            self.broker.later("boot", RECONNECT_US)
            return
        self._make_paths()
        self.broker.set_state("running")
        self.broker.start_tasks()
        self.broker.producer_ids.start()
        self.register()

    def register_again(self) -> None:
        """After a session has expired: a new session, the broker's znode anew, a new candidacy."""
        if self.broker.zk.connect():
            self.register()
        else:
            self.broker.later("boot", RECONNECT_US)

    def register(self) -> None:
        """Write the broker's own znode; one of an earlier life has to be gone before."""
        state = self.broker.state
        path = f"/brokers/ids/{self.broker.id}"
        data = self.broker_json()
        zookeeper, world = self.world.zookeeper, self.world
        node = zookeeper.find(path)
        if node is not None and node.ephemeral_owner == state.session:
            return
        if node is not None or not self.broker.zk.usable():
            self.broker.later("register", RECONNECT_US)
            return
        if self.profile.has("broker_registration_multi"):
            operations: list[Operation] = [
                Create(path, None, ephemeral=True),
                SetData(path, data, 0),
            ]
            zookeeper.multi(world, state.session, operations)
        else:
            zookeeper.create(world, state.session, path, data, ephemeral=True)
        state.broker_epoch = zookeeper.get(path).czxid
        self.kernel.emit(events.BrokerRegistered, self.broker.id, state.broker_epoch, state.session)
        self.broker.controller.stand()

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
        elif state.known_controller < 0:
            self._ask_again()
        else:
            request = ControlledShutdownRequest(self.broker.id, state.broker_epoch)
            state.shutdown_request = self.world.network.send(
                self.broker.id, state.known_controller, request
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
        if state.shutdown_request and peer == state.known_controller:
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
        if not (quiet or now - state.isr_told_us >= ISR_CAP_US) or not self.broker.zk.usable():
            self.broker.later("isr-propagation", ISR_CHECK_US)
            return
        partitions = []
        for tp in state.isr_changes:
            topic, _, number = tp.rpartition("-")
            partitions.append({"topic": topic, "partition": int(number)})
        data = compact({"version": 1, "partitions": partitions})
        try:
            self.world.zookeeper.create(
                self.world,
                state.session,
                "/isr_change_notification/isr_change_",
                data,
                sequential=True,
            )
        except errors.ZooKeeperError:
            return
        state.isr_changes = {}
        state.isr_told_us = now
