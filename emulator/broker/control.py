"""What a broker does at the controller's word: LeaderAndIsr, StopReplica, UpdateMetadata.

And what it tells clients of it.
"""

from typing import TYPE_CHECKING

from emulator import events
from emulator.broker.replica import FOLLOWER, LEADER, OFFLINE, Replica
from emulator.protocol import (
    LeaderAndIsrRequest,
    LeaderAndIsrResponse,
    MetadataRequest,
    MetadataResponse,
    PartitionInfo,
    StopReplicaRequest,
    StopReplicaResponse,
    UpdateMetadataRequest,
    UpdateMetadataResponse,
)
from emulator.protocol.controller import DURING_DELETE
from emulator.protocol.names import is_topic_name
from emulator.storage.leader_epoch_cache import LeaderEpochCache

if TYPE_CHECKING:
    from emulator.broker.broker import Broker

NONE = "NONE"
Answer = LeaderAndIsrResponse | StopReplicaResponse | UpdateMetadataResponse


class ControlPlane:
    """Takes the controller's requests."""

    def __init__(self, broker: "Broker") -> None:
        """Act for ``broker``."""
        self.broker = broker
        self.world = broker.world
        self.kernel = broker.world.kernel
        self.profile = broker.world.profile
        self.epochs_on = self.profile.has("leader_epochs")

    def _fenced(self, controller: int, controller_epoch: int, broker_epoch: int) -> str:
        """The error for a whole request.

        An older controller's, or meant for an earlier life of this broker.
        """
        process = self.broker.state.process
        if controller_epoch < process.controller_epoch:
            return "STALE_CONTROLLER_EPOCH"
        if self.profile.has("broker_epochs") and 0 < broker_epoch < process.broker_epoch:
            return "STALE_BROKER_EPOCH"
        process.controller_epoch = controller_epoch
        process.known_controller = controller
        return NONE

    def _reply(
        self,
        kind: type[Answer],
        controller: int,
        request: int,
        error: str,
        errors: dict[str, str] | None = None,
    ) -> None:
        response = kind(request, self.broker.id, error, errors or {})
        self.broker.respond(controller, request, response)

    # ---- LeaderAndIsr (ReplicaManager.becomeLeaderOrFollower)

    def leader_and_isr(self, source: int, request: int, message: LeaderAndIsrRequest) -> None:
        """Lead and follow as told; partitions whose leader epoch is not newer are refused."""
        error = self._fenced(message.controller, message.controller_epoch, message.broker_epoch)
        errors: dict[str, str] = {}
        if error == NONE:
            mine = self.broker.id
            lead: list[tuple[Replica, PartitionInfo]] = []
            follow: list[tuple[Replica, PartitionInfo]] = []
            for tp, info in message.partitions.items():
                replica = self._admit(tp, info, errors)
                if replica is not None:
                    (lead if info.leader == mine else follow).append((replica, info))
            for replica, info in lead:
                self._make_leader(replica, info)
            for replica, info in follow:
                self._make_follower(replica, info, message.live_brokers)
            if self._idle_fetchers():
                self.broker.state.unanswered[request] = (source, errors)
                return
        self._reply(LeaderAndIsrResponse, source, request, error, errors)

    def _idle_fetchers(self) -> bool:
        """Up to 1.0 shutdownIdleFetcherThreads waits for the last request of each idle fetcher."""
        return self.profile.has("waits_for_idle_fetchers") and any(
            fetcher.request and not fetcher.partitions
            for fetcher in self.broker.state.fetchers.values()
        )

    def fetcher_ended(self) -> None:
        """A fetcher's request ended: answer the LeaderAndIsr requests that waited for it."""
        unanswered = self.broker.state.unanswered
        if unanswered and not self._idle_fetchers():
            self.broker.state.unanswered = {}
            for request, (source, errors) in unanswered.items():
                self._reply(LeaderAndIsrResponse, source, request, NONE, errors)

    def _admit(self, tp: str, info: PartitionInfo, errors: dict[str, str]) -> Replica | None:
        replica = self.broker.state.replicas.get(tp)
        if replica is not None and replica.known and info.leader_epoch <= replica.leader_epoch:
            errors[tp] = "STALE_CONTROLLER_EPOCH"
            return None
        if self.broker.id not in info.replicas:
            errors[tp] = "UNKNOWN_TOPIC_OR_PARTITION"
            return None
        if replica is None:
            replica = self._create(tp)
        return replica

    def _create(self, tp: str) -> Replica:
        replica = Replica(tp)
        if self.epochs_on:
            replica.epochs = LeaderEpochCache()
        self.broker.state.replicas[tp] = replica
        self.broker.registration.config.log_created(tp.rpartition("-")[0])
        self.kernel.emit(events.LogCreated, tp, self.broker.id)
        return replica

    def _take(self, replica: Replica, info: PartitionInfo) -> None:
        replica.known = True
        replica.controller_epoch = info.controller_epoch
        replica.zk_version = info.zk_version
        replica.assigned = info.replicas
        replica.pending = None
        if self.broker.state.pending_isr:
            self.broker.state.pending_isr.pop(replica.tp, None)

    def _make_leader(self, replica: Replica, info: PartitionInfo) -> None:
        """Partition.makeLeader: a new epoch begins at the LEO.

        Remote LEOs are unknown unless it led already.
        """
        led_already = replica.role == LEADER
        if replica.role == FOLLOWER:
            self.broker.follower.remove(replica.tp)
        self._take(replica, info)
        replica.role, replica.leader = LEADER, self.broker.id
        replica.leader_epoch = info.leader_epoch
        self.kernel.emit(
            events.ReplicaRoleChanged,
            replica.tp,
            self.broker.id,
            LEADER,
            self.broker.id,
            info.leader_epoch,
        )
        if self.profile.has("epoch_assigned_at_election"):
            replica.epoch_start = replica.log.end
            self.broker.assign_epoch(replica, info.leader_epoch, replica.log.end)
        replica.isr = info.isr
        self.kernel.emit(
            events.IsrChanged, replica.tp, self.broker.id, replica.isr, replica.zk_version
        )
        self.broker.leader.new_remotes(replica, keep=led_already)
        self.broker.fetches.epoch_began(replica)
        if replica.high_watermark > replica.log.end:  # cut while it followed (up to 2.3)
            self.broker.set_high_watermark(replica, replica.log.start, "make-leader")
        self.broker.leader.check_high_watermark(replica, "make-leader")
        self.broker.coordinator.leads(replica.tp)

    def _make_follower(
        self, replica: Replica, info: PartitionInfo, live_brokers: list[int]
    ) -> None:
        """Partition.makeFollower: without a live leader only the log is made.

        Otherwise cut and fetch.
        """
        if (
            info.leader not in live_brokers
            and info.leader not in self.broker.state.process.live_brokers
        ):
            if replica.role == LEADER:
                self._stop_leading(replica)
            self._without_leader(replica, info)
            return
        followed = replica.role == FOLLOWER
        same_leader = followed and replica.leader == info.leader
        unchanged = same_leader and not self._truncates_again(replica, info)
        if replica.role == LEADER:
            self._stop_leading(replica)
        self._take(replica, info)
        replica.role, replica.leader = FOLLOWER, info.leader
        replica.leader_epoch = info.leader_epoch
        replica.epoch_start = None
        if replica.isr or replica.remotes:
            replica.isr, replica.remotes = [], {}
        self.kernel.emit(
            events.ReplicaRoleChanged,
            replica.tp,
            self.broker.id,
            FOLLOWER,
            info.leader,
            info.leader_epoch,
        )
        if unchanged:
            self.broker.follower.keep(replica)
        else:
            if followed:
                self.broker.follower.remove(replica.tp)
            self.broker.follower.add(replica)

    def _truncates_again(self, replica: Replica, info: PartitionInfo) -> bool:
        if self.profile.has("truncate_on_each_epoch"):
            return True
        missed = info.leader_epoch > replica.leader_epoch + 1
        return missed and self.profile.has("epoch_assigned_at_election")

    def _without_leader(self, replica: Replica, info: PartitionInfo) -> None:
        """A leader that is not alive.

        Kafka logs an error and leaves leader and epoch as they were.
        """
        replica.assigned = info.replicas

    def _stop_leading(self, replica: Replica) -> None:
        self.broker.leader.fail_waiting(replica, "NOT_LEADER_OR_FOLLOWER")
        replica.role = FOLLOWER
        replica.remotes = {}
        self.broker.state.lagging.pop(replica.tp, None)
        self.broker.fetches.drop_partition(replica.tp)
        self.broker.coordinator.leads_no_more(replica.tp)

    # ---- StopReplica

    def stop_replica(self, source: int, request: int, message: StopReplicaRequest) -> None:
        """Stop replicas, and with ``delete`` remove their logs."""
        error = self._fenced(message.controller, message.controller_epoch, message.broker_epoch)
        if error == NONE:
            for tp in message.partitions:
                replica = self.broker.state.replicas.get(tp)
                if replica is not None:
                    self._stop(replica, delete=message.delete)
        self._reply(StopReplicaResponse, source, request, error)

    def _stop(self, replica: Replica, *, delete: bool) -> None:
        if replica.role == LEADER:
            self._stop_leading(replica)
        self.broker.follower.remove(replica.tp)
        was = replica.role
        replica.role = OFFLINE
        if was != OFFLINE:
            self.kernel.emit(events.ReplicaRoleChanged, replica.tp, self.broker.id, OFFLINE, -1, -1)
        if delete:
            self.broker.rounds.forget(replica.tp)
            del self.broker.state.replicas[replica.tp]
            self.broker.state.unchecked_hw.pop(replica.tp, None)
            self.kernel.emit(events.LogDeleted, replica.tp, self.broker.id)

    # ---- UpdateMetadata

    def update_metadata(self, source: int, request: int, message: UpdateMetadataRequest) -> None:
        """Take what clients are to be told, and who is alive."""
        error = self._fenced(message.controller, message.controller_epoch, message.broker_epoch)
        if error == NONE:
            state = self.broker.state.process
            state.live_brokers = message.live_brokers
            told = message.partitions
            state.metadata.update(told)
            for tp in [tp for tp, info in told.items() if info.leader == DURING_DELETE]:
                del state.metadata[tp]
            self.kernel.emit(
                events.MetadataUpdated,
                self.broker.id,
                message.controller,
                message.controller_epoch,
                message.live_brokers,
                request,
            )
            self.broker.isr.send_pending()
        self._reply(UpdateMetadataResponse, source, request, error)

    def describe_topic(self, source: int, request: int, message: MetadataRequest) -> None:
        """Tell a client the leaders of a topic's partitions as this broker knows them."""
        state, topic = self.broker.state.process, message.topic
        leaders: dict[int, int] = {}
        number, end = 0, self._partitions_made(topic)
        while (info := state.metadata.get(f"{topic}-{number}")) is not None or number < end:
            if info is not None:
                leaders[number] = info.leader if info.leader in state.live_brokers else -1
            number += 1
        error = NONE if leaders else "UNKNOWN_TOPIC_OR_PARTITION"
        if not is_topic_name(message.topic):
            error = "INVALID_TOPIC_EXCEPTION"
        response = MetadataResponse(request, message.topic, error, leaders)
        self.broker.respond(source, request, response)

    def _partitions_made(self, topic: str) -> int:
        """How far to look for partitions: one that nobody has led yet is missing in between."""
        names = self.broker.world.children(f"/brokers/topics/{topic}/partitions")
        return max((int(name) for name in names if name.isdecimal()), default=-1) + 1
