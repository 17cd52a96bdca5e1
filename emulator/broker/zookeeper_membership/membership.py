"""How a broker belongs to a cluster with ZooKeeper: by a session, perhaps as the controller."""

from collections.abc import Collection, Iterable

from msgspec import Struct, field

from emulator import protocol as messages
from emulator.broker.core import Core
from emulator.broker.membership import Handler, ProducerIdBlock, Task, reset
from emulator.broker.replication.alter_partition_manager import (
    AlterPartitionManager,
    AlterPartitionState,
)
from emulator.broker.zookeeper_membership.acl_authorizer import AclAuthorizer, AclCacheState
from emulator.broker.zookeeper_membership.admin_manager import AdminRequestsState, ZkAdminManager
from emulator.broker.zookeeper_membership.cluster_metadata import ZooKeeperMetadata
from emulator.broker.zookeeper_membership.control_requests import (
    ControlRequests,
    ControlRequestsState,
)
from emulator.broker.zookeeper_membership.dynamic_config import DynamicConfig, DynamicConfigState
from emulator.broker.zookeeper_membership.lifecycle import Lifecycle, LifecycleState
from emulator.broker.zookeeper_membership.metadata_cache import MetadataCache
from emulator.broker.zookeeper_membership.producer_ids import ProducerIds
from emulator.broker.zookeeper_membership.zk_isr_manager import IsrNotificationsState, ZkIsrManager
from emulator.broker_effects import Unlocked
from emulator.common.acls import Acl
from emulator.controller.context import Controllership
from emulator.controller.controller import Controller
from emulator.events import ZOOKEEPER
from emulator.zookeeper.client import ZkClientState

CLOSE_RETRY_US = 10_000
"""How often a process that is shutting down checks whether its idle fetchers have ended."""


class ZooKeeperMembershipState(Struct, array_like=True, tag="zookeeper"):
    """A broker's session, and what it knows, waits for and decides with ZooKeeper.

    All of it is lost when the process ends.
    """

    zk: ZkClientState = field(default_factory=ZkClientState)
    lifecycle: LifecycleState = field(default_factory=LifecycleState)
    producer_ids: ProducerIdBlock = field(default_factory=ProducerIdBlock)
    config: DynamicConfigState = field(default_factory=DynamicConfigState)
    control_requests: ControlRequestsState = field(default_factory=ControlRequestsState)
    alter_partition: AlterPartitionState = field(default_factory=AlterPartitionState)
    isr_notifications: IsrNotificationsState = field(default_factory=IsrNotificationsState)
    admin_requests: AdminRequestsState = field(default_factory=AdminRequestsState)
    controllership: Controllership = field(default_factory=Controllership)
    acls: AclCacheState = field(default_factory=AclCacheState)


class ZooKeeperMembership:
    """Connects a broker to ZooKeeper, and to the controller that the brokers elect there."""

    def __init__(
        self,
        core: Core,
        state: ZooKeeperMembershipState,
        metadata: ZooKeeperMetadata,
        producer_ids: ProducerIds,
    ) -> None:
        self.core = core
        self.context = context = core.context
        self.state = state
        self.zk = zk = metadata.zk
        self.controller = Controller(context, state.controllership, zk)
        self.config = DynamicConfig(context, state.config, zk, self.controller.config_changed)
        self.authorizer = AclAuthorizer(context, state.acls, zk)
        self.admin = ZkAdminManager(
            context,
            state.admin_requests,
            zk,
            metadata.admin,
            lambda: self.controller.state is not None,
        )
        self.cache = MetadataCache(context, zk, self.admin.create_automatically)
        self.control_requests = ControlRequests(
            context,
            state.control_requests,
            replicas=core.replicas,
            sessions=core.sessions,
            fetchers=core.fetchers,
            locks=core.locks,
            config=self.config,
            cache=self.cache,
            admin=self.admin,
        )
        self.alter_partition: AlterPartitionManager | None = None
        self.zk_isr: ZkIsrManager | None = None
        if context.profile.has("isr_write_holds_partition_lock"):
            self.zk_isr = ZkIsrManager(
                context, state.isr_notifications, zk, core.replicas, core.locks
            )
        else:
            self.alter_partition = AlterPartitionManager(
                context, state.alter_partition, core.replicas, core.sessions.replica_epochs
            )
        self.lifecycle = Lifecycle(
            context,
            state.lifecycle,
            zk,
            replicas=core.replicas,
            locks=core.locks,
            config=self.config,
            authorizer=self.authorizer,
            producer_ids=producer_ids,
            controller=self.controller,
        )

    @property
    def acls(self) -> Collection[Acl]:
        """The access control entries that the broker knows."""
        return self.authorizer.acls

    @property
    def handles_administration(self) -> bool:
        """Whether the broker is the controller: others refuse what only it may do."""
        return self.controller.state is not None

    # ---- dispatch

    def parts(self) -> Iterable[object]:
        return (self, *vars(self).values())

    def requests(self) -> dict[type, Handler]:
        """The messages of controllers and ZooKeeper, and clients' requests about the cluster."""

        def on_response(_source: int, _request: int, message: messages.ControlResponse) -> None:
            controller.on_response(message)

        admin, cache, control, controller = (
            self.admin,
            self.cache,
            self.control_requests,
            self.controller,
        )
        handlers: dict[type, Handler] = {
            messages.MetadataRequest: cache.describe_topic,
            messages.ClusterMetadataRequest: cache.describe_cluster,
            messages.ApiVersionsRequest: cache.describe_features,
            messages.LeaderAndIsrRequest: control.leader_and_isr,
            messages.StopReplicaRequest: control.stop_replica,
            messages.UpdateMetadataRequest: control.update_metadata,
            messages.CreateTopicsRequest: admin.create_topics,
            messages.CreatePartitionsRequest: admin.create_partitions,
            messages.DeleteTopicsRequest: admin.delete_topics,
            messages.DescribeConfigsRequest: admin.describe_configs,
            messages.AlterConfigsRequest: admin.alter_configs,
            messages.IncrementalAlterConfigsRequest: admin.alter_broker_configs,
            messages.UpdateFeaturesRequest: admin.update_features,
            messages.CreateAclsRequest: self.authorizer.create_acls,
            messages.DeleteAclsRequest: self.authorizer.delete_acls,
            messages.ControlledShutdownRequest: controller.controlled_shutdown,
            messages.AlterPartitionRequest: controller.alter_partition,
            messages.DescribeClusterRequest: controller.describe_cluster,
            messages.ElectLeadersRequest: controller.elect_leaders,
            messages.AlterPartitionReassignmentsRequest: controller.alter_reassignments,
            messages.ListPartitionReassignmentsRequest: controller.list_reassignments,
            messages.LeaderAndIsrResponse: on_response,
            messages.StopReplicaResponse: on_response,
            messages.UpdateMetadataResponse: on_response,
            messages.ControlledShutdownResponse: lambda _source, _request, message: (
                self.lifecycle.on_shutdown_response(message)
            ),
            messages.ZkPong: self._ponged,
            messages.ZkExpired: self._expired,
            messages.WatchEvent: lambda _source, _request, message: self.lifecycle.watched(message),
        }
        if self.alter_partition is not None:
            handlers[messages.AlterPartitionResponse] = self.alter_partition.on_response
        return handlers

    def tasks(self) -> dict[str, Task]:
        """The timers of the session, the lifecycle and the controller."""
        tasks: dict[str, Task] = {
            "boot": self.lifecycle.boot,
            "register": self.lifecycle.register,
            "zk-ping": self.zk.ping,
            "close-sockets": self.lifecycle.close_sockets,
            "close-fetchers": self._close_fetchers,
            "shutdown-retry": self.lifecycle.ask_to_leave,
            "shutdown-timeout": self.lifecycle.check_timeout,
            "controller-retry": self.controller.retry,
            "control-retry": self.controller.channels.retry,
            "control-timeout": self.controller.check_timeouts,
            "rebalance": self.controller.rebalance,
            "admin-timeout": self.admin.expire,
        }
        if self.alter_partition is not None:
            tasks |= self.alter_partition.tasks()
        if self.zk_isr is not None:
            tasks["isr-write"] = self._retry_isr_writes
            tasks["isr-propagation"] = self.zk_isr.propagate_changes
        return tasks

    def connection_lost(self, message: messages.ConnectionLost) -> None:
        """Handle a lost connection to ZooKeeper, a controller, or a broker that is controlled."""
        peer = message.peer
        if peer == ZOOKEEPER:
            self.zk.connection_lost()
            return
        if self.alter_partition is not None:
            self.alter_partition.connection_lost(peer)
        self.controller.connection_lost(peer, message.request)
        self.lifecycle.connection_lost(peer)

    # ---- the session

    def _ponged(self, _source: int, _request: int, message: messages.ZkPong) -> None:
        if self.zk.ponged(message):
            self.lifecycle.zookeeper_is_back()

    def _expired(self, _source: int, _request: int, message: messages.ZkExpired) -> None:
        """Start a new session: resign as controller, register again, stand for election."""
        if not self.zk.expired(message):
            return
        if self.state.lifecycle.closes_session:
            self.lifecycle.end()
            return
        locks = self.core.locks.state
        if locks.held and self.zk_isr is not None:
            self.zk_isr.session_expired()
            self.context.carry_out(Unlocked())
        self.controller.session_expired()
        self.lifecycle.session_expired()
        if locks.held and self.zk.usable():
            self._retry_isr_writes()

    def _retry_isr_writes(self) -> None:
        assert self.zk_isr is not None
        expired = self.core.locks.expiring
        self.zk_isr.write_again()
        if expired and not self.core.locks.expiring:
            self.core.isr.expire()
        self.context.carry_out(Unlocked())

    # ---- the process

    def start(self) -> None:
        self.lifecycle.start()

    def stop(self) -> None:
        self.lifecycle.stop()

    def _close_fetchers(self) -> None:
        """End the process once the last requests of its idle fetchers have completed."""
        if self.core.fetchers.hangs():
            return
        if self.core.locks.state.fetchers:
            self.context.later("close-fetchers", CLOSE_RETRY_US)
        else:
            self.lifecycle.end()

    def thaw(self) -> None:
        """Continue after a freeze: the session's messages are read in their turn."""

    def replace_disk(self) -> None:
        """Keep everything: nothing of the membership is on disk."""

    def end_process(self) -> None:
        """Discard everything: ZooKeeper will notice when the session expires."""
        reset(self.state, ZooKeeperMembershipState())
