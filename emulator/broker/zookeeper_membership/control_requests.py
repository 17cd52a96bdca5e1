"""The requests by which a controller with ZooKeeper tells a broker what to lead, follow and know.

Source: ``ReplicaManager.becomeLeaderOrFollower``, ``stopReplicas`` and
``maybeUpdateMetadataCache`` 0.8 to 3.9.
"""

from msgspec import Struct, field

from emulator.broker.replication.fetch_session import FetchSessions
from emulator.broker.replication.fetcher import FetcherManager
from emulator.broker.replication.partition_locks import MAP, STATE_CHANGE, PartitionLocks
from emulator.broker.replication.replica import Replica, Replicas
from emulator.broker.zookeeper_membership.admin_manager import ZkAdminManager
from emulator.broker.zookeeper_membership.dynamic_config import DynamicConfig
from emulator.broker.zookeeper_membership.metadata_cache import MetadataCache
from emulator.broker_context import BrokerContext
from emulator.broker_effects import FetcherIdle, PartitionsDeleted, Unlocked
from emulator.common.errors import NONE
from emulator.protocol import (
    LeaderAndIsrRequest,
    LeaderAndIsrResponse,
    PartitionInfo,
    StopReplicaRequest,
    StopReplicaResponse,
    UpdateMetadataRequest,
)
from emulator.replication.partition import BecomeFollower, BecomeLeader, Stop


class ControlRequestsState(Struct, array_like=True):
    """LeaderAndIsr requests waiting for idle fetchers: source and errors by request."""

    unanswered: dict[int, tuple[int, dict[str, str]]] = field(default_factory=dict)


class ControlRequests(Struct, eq=False):
    """Handles a controller's requests."""

    context: BrokerContext
    state: ControlRequestsState
    replicas: Replicas
    sessions: FetchSessions
    fetchers: FetcherManager
    locks: PartitionLocks
    config: DynamicConfig
    cache: MetadataCache
    admin: ZkAdminManager

    # ---- UpdateMetadata

    def update_metadata(self, source: int, request: int, message: UpdateMetadataRequest) -> None:
        """Update the metadata, and serve the requests that waited for it."""
        deleted = self.cache.update(source, request, message)
        self.replicas.index.unannounced.clear()
        if deleted:
            self.sessions.read_again(deleted)
            self.context.carry_out(PartitionsDeleted(deleted))
        if self.admin.state.delayed:
            self.admin.metadata_changed()

    # ---- LeaderAndIsr

    def leader_and_isr(self, source: int, request: int, message: LeaderAndIsrRequest) -> None:
        """Become leader or follower; reject partitions whose leader epoch is not newer."""
        error = self.context.fence_controller(
            message.controller, message.controller_epoch, message.broker_epoch
        )
        errors: dict[str, str] = {}
        if error == NONE:
            broker, do, find = self.context.id, self.replicas.do, self.replicas.get
            lead: list[tuple[Replica, PartitionInfo]] = []
            follow: list[tuple[Replica, PartitionInfo]] = []
            configured: dict[str, None] = {}
            for tp, info in message.partitions.items():
                replica = find(tp)
                if replica is not None and _is_stale(info, replica):
                    # Not FENCED_LEADER_EPOCH: to Kafka, who names an old leader epoch is a
                    # controller that has been replaced (ReplicaManager.becomeLeaderOrFollower).
                    errors[tp] = "STALE_CONTROLLER_EPOCH"
                    self.context.refuse(
                        source, request, tp, errors[tp], info.leader_epoch, replica.leader_epoch
                    )
                elif broker not in info.replicas:
                    errors[tp] = "UNKNOWN_TOPIC_OR_PARTITION"
                else:
                    if replica is None:
                        replica = self._create(tp, info, configured)
                    (lead if info.leader == broker else follow).append((replica, info))
            # Leaders come first in every release (makeLeaders, makeFollowers).
            for replica, info in lead:
                do(
                    replica,
                    BecomeLeader(
                        info.leader_epoch,
                        info.controller_epoch,
                        info.isr,
                        info.replicas,
                        info.zk_version,
                    ),
                )
            live = frozenset((*message.live_brokers, *self.context.process.live_brokers))
            for replica, info in follow:
                do(
                    replica,
                    BecomeFollower(
                        info.leader,
                        info.leader_epoch,
                        info.controller_epoch,
                        info.replicas,
                        info.zk_version,
                        info.leader in live,
                    ),
                )
            if self.fetchers.has_idle_request():
                self.state.unanswered[request] = (source, errors)
                self.locks.hold_fetchers(STATE_CHANGE)
                return
        self._respond_to_leader_and_isr(source, request, error, errors)

    def _create(self, tp: str, info: PartitionInfo, configured: dict[str, None]) -> Replica:
        """Create a log; the request's logs of one topic share one read of its configuration."""
        topic = tp.rpartition("-")[0]
        if topic not in configured:
            configured[topic] = None
            self.config.log_created(topic)
        if info.is_new:
            self.replicas.index.unannounced[tp] = None
        return self.replicas.create(tp)

    def _respond_to_leader_and_isr(
        self, source: int, request: int, error: str, errors: dict[str, str]
    ) -> None:
        response = LeaderAndIsrResponse(request, self.context.id, error, errors)
        self.context.respond(source, request, response)

    def fetcher_ended(self, _effect: FetcherIdle) -> None:
        """Answer the LeaderAndIsr requests that waited for a fetcher's request to complete."""
        if not self.locks.state.fetchers or self.fetchers.has_idle_request():
            return
        unanswered, self.state.unanswered = self.state.unanswered, {}
        for request, (source, errors) in unanswered.items():
            self._respond_to_leader_and_isr(source, request, NONE, errors)
        self.locks.hold_fetchers("")
        self.context.carry_out(Unlocked())

    # ---- StopReplica

    def stop_replica(self, source: int, request: int, message: StopReplicaRequest) -> None:
        """Stop replicas, and delete their logs if ``delete`` is set."""
        error = self.context.fence_controller(
            message.controller, message.controller_epoch, message.broker_epoch
        )
        if error == NONE:
            for tp in message.partitions:
                replica = self.replicas.get(tp)
                if replica is not None:
                    self.replicas.do(replica, Stop())
                    if message.delete:
                        self.fetchers.forget(tp)
                        self.replicas.delete(replica)
        response = StopReplicaResponse(request, self.context.id, error, {})
        self.context.respond(source, request, response)
        if self.fetchers.has_idle_request():
            self.locks.hold_fetchers(MAP)


def _is_stale(info: PartitionInfo, replica: Replica) -> bool:
    """Whether a replica has seen a leader epoch that is as new."""
    return replica.is_known and info.leader_epoch <= replica.leader_epoch
