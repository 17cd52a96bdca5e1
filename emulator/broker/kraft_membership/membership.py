"""How a broker belongs to a cluster in KRaft mode: as an observer of the controllers' quorum.

The metadata log, heartbeats, and requests to the active controller are its only connections to it.
"""

from collections.abc import Collection, Iterable, Sequence
from typing import Any, get_args

from emulator import protocol as messages
from emulator.broker.core import Core
from emulator.broker.kraft_membership.assignments_manager import TASK as ASSIGNMENTS
from emulator.broker.kraft_membership.assignments_manager import AssignmentsManager
from emulator.broker.kraft_membership.controller_channel import ControllerChannel
from emulator.broker.kraft_membership.forwarding import FORWARDED, ForwardingManager
from emulator.broker.kraft_membership.lifecycle import TASK as HEARTBEAT
from emulator.broker.kraft_membership.lifecycle import BrokerLifecycle
from emulator.broker.kraft_membership.metadata import KRaftMetadata
from emulator.broker.kraft_membership.metadata_publisher import FOLDERS_TASK, MetadataPublisher
from emulator.broker.kraft_membership.producer_ids import KRaftProducerIds
from emulator.broker.kraft_membership.state import KRaftMembershipState
from emulator.broker.membership import Handler, Task
from emulator.broker.replication.alter_partition_manager import AlterPartitionManager
from emulator.broker_effects import ControllerKnown
from emulator.common.acls import Acl
from emulator.raft.client import TASK as QUORUM
from emulator.raft.client import RaftClient

QuorumResponse = messages.MetadataFetchResponse | messages.FetchSnapshotResponse
ControllerResponse = (
    messages.BrokerRegistrationResponse
    | messages.BrokerHeartbeatResponse
    | messages.AllocateProducerIdsResponse
    | messages.AssignReplicasToDirsResponse
    | messages.EnvelopeResponse
)


class KRaftMembership:
    """Connects a broker to the quorum of controllers."""

    def __init__(
        self,
        core: Core,
        state: KRaftMembershipState,
        *,
        voters: Sequence[int],
        cluster_id: str,
        forwarding: ForwardingManager,
        producer_ids: KRaftProducerIds,
    ) -> None:
        self.context = context = core.context
        self.state = state
        self.voters = voters
        self.forwarding = forwarding
        self.producer_ids = producer_ids
        self.assignments = AssignmentsManager(context, state)
        self.publisher = MetadataPublisher(
            context,
            state,
            replicas=core.replicas,
            fetchers=core.fetchers,
            assignments=self.assignments,
        )
        self.raft = RaftClient(
            context.id,
            voters,
            state.quorum,
            kernel=context.kernel,
            network=context.network,
            timers=context.timers,
            configuration=context.configuration,
            config=lambda: context.config,
            on_leader=self._leader_changed,
            on_commit=self.publisher.apply,
        )
        self.lifecycle = BrokerLifecycle(
            context, state, replicas=core.replicas, fetchers=core.fetchers, raft=self.raft
        )
        self.image_cache = KRaftMetadata(
            context, state, cluster_id, forwarding.create_automatically
        )
        self.alter_partition = AlterPartitionManager(
            context, state.alter_partition, core.replicas, core.sessions.replica_epochs
        )

    @property
    def acls(self) -> Collection[Acl]:
        """The access control entries that the broker knows."""
        return self.state.image.acls.values()

    @property
    def handles_administration(self) -> bool:
        """Whether the broker passes requests on to the controller: always."""
        return True

    # ---- the controller

    def _leader_changed(self) -> None:
        quorum, process = self.state.quorum, self.context.process
        process.known_controller, process.controller_epoch = quorum.leader, quorum.epoch
        self.context.carry_out(ControllerKnown())

    def controller_known(self, _effect: ControllerKnown) -> None:
        """Let the requests that wait for a controller go to it."""
        for channel in self._channels():
            channel.controller_known()

    def _channels(self) -> tuple[ControllerChannel, ...]:
        parts = self.lifecycle, self.forwarding, self.producer_ids, self.assignments
        return tuple(part.channel for part in parts)

    # ---- dispatch

    def parts(self) -> Iterable[object]:
        return (self, *vars(self).values())

    def requests(self) -> dict[type, Handler]:
        """The messages of controllers, and clients' requests about the cluster."""

        def of_the_quorum(source: int, _request: int, message: Any) -> None:  # noqa: ANN401
            self.raft.handle(source, message)

        cache = self.image_cache
        return {
            messages.MetadataRequest: cache.describe_topic,
            messages.ClusterMetadataRequest: cache.describe_cluster,
            messages.ApiVersionsRequest: cache.describe_features,
            messages.DescribeClusterRequest: cache.describe_controller,
            messages.DescribeConfigsRequest: cache.describe_configs,
            messages.ListConfigResourcesRequest: cache.list_config_resources,
            messages.ListPartitionReassignmentsRequest: cache.list_reassignments,
            messages.AlterPartitionResponse: self.alter_partition.on_response,
            **dict.fromkeys(FORWARDED, self.forwarding.forward),
            **dict.fromkeys(get_args(QuorumResponse), of_the_quorum),
            **dict.fromkeys(get_args(ControllerResponse), self._on_controller_response),
        }

    def tasks(self) -> dict[str, Task]:
        """The timers of the quorum, the lifecycle and the channels to the controller."""
        life = self.lifecycle
        tasks: dict[str, Task] = {
            QUORUM: self.raft.tick,
            "boot": life.boot,
            "open": life.open_ports,
            "end": life.end,
            HEARTBEAT: life.communicate,
            ASSIGNMENTS: self.assignments.send,
            FOLDERS_TASK: self.publisher.remove_folders,
        }
        for channel in self._channels():
            tasks[channel.retry_task] = channel.pump
            tasks[channel.timeout_task] = channel.check_timeout
        return tasks | self.alter_partition.tasks()

    def _on_controller_response(self, _source: int, _request: int, message: Any) -> None:  # noqa: ANN401
        any(channel.take(message.request, message) for channel in self._channels())

    def connection_lost(self, message: messages.ConnectionLost) -> None:
        """Handle a lost connection to a controller."""
        if message.peer in self.voters:
            self.alter_partition.connection_lost(message.peer)
            self.raft.connection_lost(message)
            for channel in self._channels():
                channel.connection_lost(message)

    # ---- the process

    def start(self) -> None:
        self.lifecycle.start()

    def stop(self) -> None:
        self.lifecycle.stop()

    def thaw(self) -> None:
        self.raft.thaw()

    def replace_disk(self) -> None:
        """Discard the metadata log, renamed folders, and the record of a clean shutdown."""
        self.publisher.lose_folders()
        self.state.replace_disk()

    def end_process(self) -> None:
        """Discard what is not on disk."""
        self.state.end_process()
