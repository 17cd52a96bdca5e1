"""A broker in KRaft mode: an observer of the quorum that applies the metadata log.

Replication works as in :class:`emulator.broker.broker.Broker`; the metadata log, heartbeats and
requests to the active controller replace ZooKeeper and the controller's requests.
"""

from collections.abc import Callable
from typing import Any, get_args

from emulator import protocol as messages
from emulator.broker.broker import Broker, BrokerState, Handler
from emulator.broker.kraft_membership.assignments_manager import TASK as ASSIGNMENTS
from emulator.broker.kraft_membership.assignments_manager import AssignmentsManager
from emulator.broker.kraft_membership.controller_channel import ControllerChannel
from emulator.broker.kraft_membership.forwarding import FORWARDED, ForwardingManager
from emulator.broker.kraft_membership.lifecycle import TASK as HEARTBEAT
from emulator.broker.kraft_membership.lifecycle import BrokerLifecycle
from emulator.broker.kraft_membership.metadata import KRaftMetadata
from emulator.broker.kraft_membership.metadata_publisher import FOLDERS_TASK, MetadataPublisher
from emulator.broker.kraft_membership.producer_ids import KRaftProducerIds
from emulator.broker.kraft_membership.state import KRaftBrokerState
from emulator.broker_context import Surroundings
from emulator.events import CLIENTS
from emulator.raft.client import TASK as QUORUM
from emulator.raft.client import RaftClient
from emulator.simulation.network import LATENCY_MIN_US

QuorumResponse = messages.MetadataFetchResponse | messages.FetchSnapshotResponse
ControllerResponse = (
    messages.BrokerRegistrationResponse
    | messages.BrokerHeartbeatResponse
    | messages.AllocateProducerIdsResponse
    | messages.AssignReplicasToDirsResponse
    | messages.EnvelopeResponse
)


class KRaftBroker(Broker):
    """A broker whose metadata is managed by a quorum of controllers."""

    def __init__(
        self, state: BrokerState, own: KRaftBrokerState, surroundings: Surroundings
    ) -> None:
        """Act on ``state`` and ``own`` in ``surroundings``."""
        self.own = own
        super().__init__(state, surroundings)

    def _join_cluster(self) -> None:
        """Create the parts that connect the broker to the quorum."""
        context, own = self.context, self.own
        self.raft = RaftClient(
            self.id,
            context.voters,
            own.quorum,
            kernel=self.kernel,
            network=context.network,
            timers=context.timers,
            profile=context.profile,
            config=lambda: context.config,
        )
        self.kraft_lifecycle = BrokerLifecycle(
            context,
            own,
            replicas=self.replicas,
            raft=self.raft,
            start_tasks=self.start_tasks,
            end_process=self.end_process,
        )
        self.assignments = AssignmentsManager(context, own)
        self.publisher = MetadataPublisher(
            context,
            own,
            replicas=self.replicas,
            fetchers=self.fetchers,
            published=self.kraft_lifecycle.metadata_published,
            assignments=self.assignments,
        )
        self.forwarding = ForwardingManager(context, own)
        context.topics = self.forwarding
        self.image_cache = KRaftMetadata(context, own, self.forwarding.create_automatically)
        self.id_blocks = KRaftProducerIds(context, own, self.state.producer_ids)
        self.raft.on_commit = self.publisher.apply
        self.raft.on_leader = self._leader_changed
        self.sessions.alive_broker_epoch = self._alive_broker_epoch
        if self.fetchers.sends_broker_epoch:
            self.isr.broker_epochs = self.sessions.replica_epochs
        self.kraft_lifecycle.on_close = self._close

    # ---- callbacks of the parts

    def _leader_changed(self) -> None:
        quorum, process = self.own.quorum, self.context.process
        process.known_controller, process.controller_epoch = quorum.leader, quorum.epoch
        self.isr.controller_known()
        for channel in self._channels():
            channel.controller_known()

    def _channels(self) -> tuple[ControllerChannel, ...]:
        parts = self.kraft_lifecycle, self.forwarding, self.id_blocks, self.assignments
        return tuple(part.channel for part in parts)

    def _alive_broker_epoch(self, broker: int) -> int | None:
        """The epoch of a broker that is not fenced (``KRaftMetadataCache.getAliveBrokerEpoch``)."""
        registration = self.own.image.brokers.get(broker)
        return None if registration is None or registration.fenced else registration.epoch

    def _close(self) -> None:
        """Stop accepting requests and fetching; close the connections to peers."""
        self.state.lifecycle.sockets_closed = True
        for tp in list(self.replicas.by_name):
            self.fetchers.remove(tp)
        kernel = self.kernel
        at_us = kernel.now + LATENCY_MIN_US
        for peer in (*self._peers(), CLIENTS):
            lost = messages.ConnectionLost(self.id)
            kernel.schedule(at_us, peer, lost, kernel.cause, self.id)

    def _peers(self) -> list[int]:
        """The other brokers that are running and reachable."""
        hosts, network = self.kernel.state.hosts, self.context.network
        return [
            b
            for b in sorted(self.own.image.brokers)
            if b != self.id and hosts[b].up and network.reachable(self.id, b)
        ]

    # ---- startup and shutdown

    def start(self) -> None:
        """Start the process."""
        self.kraft_lifecycle.start()

    def stop(self) -> None:
        """Begin a controlled shutdown."""
        self.kraft_lifecycle.stop()

    def replace_disk(self) -> None:
        """Give a process that is down a new disk: without a metadata log and clean shutdown."""
        super().replace_disk()
        self.publisher.lose_folders()
        self.own.replace_disk()

    def end_process(self, status: str) -> None:
        """Discard the process's state: only what is on disk survives."""
        self.own.end_process()
        super().end_process(status)

    def thaw(self) -> None:
        """Continue after a freeze."""
        self.raft.thaw()
        super().thaw()

    # ---- dispatch

    def handle(self, source: int, message: messages.AnyMessage) -> None:
        """Handle one message; ports open with the first unfencing (``BrokerServer.startup``).

        A leader elected while its broker is being unfenced therefore refuses its followers at
        first.
        """
        if self.own.lifecycle.is_open or not isinstance(message, messages.REQUESTS):
            self._handlers[type(message)](source, message)
        else:
            self._refuse(source, message)

    def _table(self) -> dict[type, Handler]:
        def request(method: Callable[[int, int, Any], None]) -> Handler:
            return lambda source, message: method(source, self.kernel.cause, message)

        def of_the_quorum(source: int, message: Any) -> None:  # noqa: ANN401 - any of them
            self.raft.handle(source, message)

        self._join_cluster()
        mine: dict[type, Handler] = {
            messages.MetadataRequest: request(self.image_cache.describe_topic),
            messages.ClusterMetadataRequest: request(self.image_cache.describe_cluster),
            messages.ApiVersionsRequest: request(self.image_cache.describe_features),
            messages.DescribeClusterRequest: self._describe_cluster,
            messages.DescribeConfigsRequest: request(self.image_cache.describe_configs),
            messages.ListPartitionReassignmentsRequest: request(
                self.image_cache.list_reassignments
            ),
        }
        mine |= dict.fromkeys(get_args(QuorumResponse), of_the_quorum)
        mine |= dict.fromkeys(get_args(ControllerResponse), self._on_controller_response)
        mine |= dict.fromkeys(FORWARDED, request(self.forwarding.forward))
        return super()._table() | mine

    def _task_table(self) -> dict[str, Callable[[], None]]:
        life = self.kraft_lifecycle
        channels = self._channels()
        return super()._task_table() | {
            QUORUM: self.raft.tick,
            "boot": life.boot,
            "open": life.open_ports,
            "end": life.end,
            HEARTBEAT: life.communicate,
            ASSIGNMENTS: self.assignments.send,
            **{channel.retry_task: channel.pump for channel in channels},
            **{channel.timeout_task: channel.check_timeout for channel in channels},
            FOLDERS_TASK: self.publisher.remove_folders,
        }

    def _give_producer_id(
        self, client: int, request: int, message: messages.InitProducerIdRequest
    ) -> None:
        self.id_blocks.give_out(client, request, message)

    def _on_controller_response(self, _source: int, message: Any) -> None:  # noqa: ANN401 - any response
        request: int = message.request
        parts = self.kraft_lifecycle, self.id_blocks, self.assignments, self.forwarding
        any(part.take(request, message) for part in parts)

    def _describe_cluster(self, source: int, _message: messages.DescribeClusterRequest) -> None:
        """Return its own id: clients cannot reach the controller, so brokers forward to it."""
        request = self.kernel.cause
        response = messages.DescribeClusterResponse(request, self.id)
        self.context.respond(source, request, response)

    def _connection_lost(self, source: int, message: messages.ConnectionLost) -> None:
        super()._connection_lost(source, message)
        if message.peer in self.context.voters:
            self.raft.connection_lost(message)
            self.kraft_lifecycle.connection_lost(message)
            self.forwarding.connection_lost(message)
            self.id_blocks.connection_lost(message)
            self.assignments.connection_lost(message)
