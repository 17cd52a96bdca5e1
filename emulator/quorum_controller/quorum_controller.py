"""The active controller as one thing: requests and the time go in, records and responses come out.

It writes nothing itself. Whoever runs it appends ``Result.batches`` to the log of the quorum, gives
what was appended back with :meth:`QuorumController.appended`, at once and before the next request,
and sends the response when the records are committed. Source: ``QuorumController``, 3.9 to 4.1.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from emulator.metadata_log.image import MetadataDelta, MetadataImage, TopicIdPartition
from emulator.metadata_log.records import NoOpRecord, Replicas
from emulator.metadata_log.registrations import PartitionRegistration
from emulator.quorum_controller import (
    alter_partition,
    cluster_control,
    configuration_control,
    elections,
    feature_control,
    producer_id_control,
    reassignments,
    topics,
)
from emulator.quorum_controller.context import Context
from emulator.quorum_controller.heartbeats import Heartbeat
from emulator.quorum_controller.partition_change_builder import Election
from emulator.quorum_controller.replica_placer import RandomBelow
from emulator.quorum_controller.result import ApiError, Result
from emulator.quorum_controller.settings import ControllerSettings, ReleaseRules
from emulator.quorum_controller.state import ControllerState

UNCLEAN_ELECTION_INTERVAL_US: Final = 300_000_000
"""How often the controller elects uncleanly where it may (unclean.leader.election.interval.ms)."""
NO_OP_INTERVAL_US: Final = 500_000
"""How often a no-op record is written (metadata.max.idle.interval.ms)."""
RESCHEDULE_US: Final = 10_000
"""How soon a periodic task runs again that has left something to do (``PeriodicTask``)."""

TopicPartition = tuple[str, int]


class QuorumController:
    """The controller that leads the quorum. All of its state is ``state``, plain data."""

    def __init__(
        self,
        state: ControllerState,
        settings: ControllerSettings,
        release: tuple[int, ...],
        random_below: RandomBelow,
    ) -> None:
        """Go on from ``state``; ``random_below`` draws topic ids and where replicas go."""
        self.context = Context(state, settings, ReleaseRules.of(release))
        self._release = ".".join(str(number) for number in release)
        self._random_below = random_below

    @staticmethod
    def activate(
        image: MetadataImage,
        settings: ControllerSettings,
        release: tuple[int, ...],
        random_below: RandomBelow,
        now_us: int,
    ) -> "QuorumController":
        """Become active with the whole log in ``image``, which is changed from then on.

        If it is empty, the first thing to append is :meth:`bootstrap`.
        """
        state = ControllerState.activate(image, settings, ReleaseRules.of(release), now_us)
        return QuorumController(state, settings, release, random_below)

    @property
    def state(self) -> ControllerState:
        """Everything that it knows."""
        return self.context.state

    @property
    def image(self) -> MetadataImage:
        """The metadata, with what is written but not committed yet."""
        return self.context.image

    def appended(
        self,
        result: Result[Any],
        first_offset: int,
        epoch: int,
        now_us: int,
        delta: MetadataDelta | None = None,
    ) -> None:
        """Take what a request wrote, now that it stands in the log from ``first_offset`` on.

        To be called also if there are no records; ``first_offset`` is the log's end then.
        """
        offset = first_offset - 1
        for offset, record in enumerate(result.records, first_offset):
            self.state.replay(record, offset, epoch, now_us, delta)
        reply = result.response
        if isinstance(reply, cluster_control.BrokerHeartbeatReply) and reply.in_controlled_shutdown:
            self.state.heartbeats.begin_controlled_shutdown(reply.broker, offset)

    # ---- the cluster

    def bootstrap(self, features: Mapping[str, int]) -> Result[None]:
        """Write what a new metadata log begins with (:func:`feature_control.default_features`)."""
        records = feature_control.bootstrap_records(
            features,
            self.context.settings.min_insync_replicas,
            has_migration_state=self.context.rules.zk_migration_state_in_log,
        )
        return Result(records, None)

    def register_controller(self, controller: int, incarnation_id: str) -> Result[None]:
        """Write down that a controller has started."""
        return cluster_control.register_controller(self.context, controller, incarnation_id)

    def register_broker(
        self, request: cluster_control.BrokerRegistrationRequest, next_offset: int, now_us: int
    ) -> Result[cluster_control.BrokerRegistrationReply]:
        """Register a broker; ``next_offset`` is the end of the log."""
        return cluster_control.register_broker(self.context, request, next_offset, now_us)

    def unregister_broker(self, broker: int) -> Result[None]:
        """Forget a broker for good."""
        return cluster_control.unregister_broker(self.context, broker)

    def process_broker_heartbeat(
        self, broker: int, broker_epoch: int, heartbeat: Heartbeat, now_us: int
    ) -> Result[cluster_control.BrokerHeartbeatReply]:
        """Take a broker's heartbeat."""
        return cluster_control.process_broker_heartbeat(
            self.context, broker, broker_epoch, heartbeat, now_us
        )

    def allocate_producer_ids(
        self, broker: int, broker_epoch: int
    ) -> Result[producer_id_control.ProducerIdsBlock]:
        """Give a broker a block of producer ids."""
        return producer_id_control.allocate_producer_ids(self.context, broker, broker_epoch)

    # ---- topics

    def create_topics(
        self, wanted: Sequence[topics.CreatableTopic], *, validate_only: bool = False
    ) -> Result[dict[str, topics.CreatedTopic]]:
        """Create topics."""
        return topics.create_topics(
            self.context, wanted, self._random_below, validate_only=validate_only
        )

    def delete_topics(self, names: Iterable[str]) -> Result[dict[str, ApiError]]:
        """Delete topics."""
        return topics.delete_topics(self.context, names)

    def create_partitions(
        self, wanted: Iterable[topics.CreatePartitionsTopic]
    ) -> Result[dict[str, ApiError]]:
        """Give topics more partitions."""
        return topics.create_partitions(self.context, wanted, self._random_below)

    def incremental_alter_configs(
        self,
        changes: Mapping[configuration_control.ConfigResource, Mapping[str, str | None]],
    ) -> Result[dict[configuration_control.ConfigResource, ApiError]]:
        """Set dynamic configurations, or with None take them away."""
        return configuration_control.incremental_alter_configs(self.context, changes)

    def update_features(
        self,
        updates: Mapping[str, int],
        upgrade_type: feature_control.UpgradeType = feature_control.UpgradeType.UPGRADE,
        *,
        validate_only: bool = False,
    ) -> Result[None]:
        """Raise or lower finalized features."""
        return feature_control.update_features(
            self.context, self._release, updates, upgrade_type, validate_only=validate_only
        )

    # ---- partitions

    def alter_partition(
        self, broker: int, broker_epoch: int, items: Iterable[alter_partition.AlterPartitionItem]
    ) -> Result[dict[TopicIdPartition, alter_partition.AlterPartitionAnswer]]:
        """Change the ISRs of partitions that a broker leads."""
        return alter_partition.alter_partition(self.context, broker, broker_epoch, items)

    def elect_leaders(
        self, election: Election, partitions: Iterable[TopicPartition] | None
    ) -> Result[dict[TopicPartition, ApiError]]:
        """Elect leaders by preference or uncleanly; None: in all partitions."""
        return elections.elect_leaders(self.context, election, partitions)

    def alter_partition_reassignments(
        self,
        targets: Mapping[TopicPartition, Replicas | None],
        *,
        allow_replication_factor_change: bool = True,
    ) -> Result[dict[TopicPartition, ApiError]]:
        """Move partitions to other replicas, or with None cancel what is under way."""
        return reassignments.alter_partition_reassignments(
            self.context, targets, allow_replication_factor_change=allow_replication_factor_change
        )

    def list_partition_reassignments(
        self, partitions: Iterable[TopicPartition] | None = None
    ) -> dict[TopicPartition, PartitionRegistration]:
        """Return the partitions whose reassignment is under way."""
        return reassignments.list_partition_reassignments(self.context, partitions)

    # ---- by the clock

    def maybe_fence_one_stale_broker(self, now_us: int) -> Result[bool]:
        """Fence a broker that has fallen silent; the response is whether to look again at once."""
        return cluster_control.maybe_fence_one_stale_broker(self.context, now_us)

    def next_fence_check_us(self, now_us: int) -> int | None:
        """When to look for stale brokers next; None: not before there is an unfenced one."""
        return self.state.heartbeats.next_check_us(now_us)

    def maybe_elect_unclean_leaders(self) -> Result[bool]:
        """Elect uncleanly where the configuration allows it, every five minutes."""
        return elections.maybe_elect_unclean_leaders(self.context)

    def maybe_balance_partition_leaders(self) -> Result[bool]:
        """Give leaders back to preferred replicas, if auto.leader.rebalance.enable is on.

        Every leader.imbalance.check.interval.seconds.
        """
        return elections.maybe_balance_partition_leaders(self.context)

    @property
    def wants_unclean_election_check(self) -> bool:
        """Whether :meth:`maybe_elect_unclean_leaders` is to run an interval from now.

        To be asked when the controller becomes active and after it wrote something, unless the
        check is pending already. From 4.0 on it always is; before, if a partition has no leader.
        """
        return self.context.rules.leader_checks_periodic or bool(self.state.partitions.leaderless)

    @property
    def wants_balance_check(self) -> bool:
        """Whether :meth:`maybe_balance_partition_leaders` is to run an interval from now.

        As :attr:`wants_unclean_election_check`; before 4.0, if another than its preferred replica
        leads a partition.
        """
        return self.context.rules.leader_checks_periodic or bool(self.state.partitions.imbalanced)

    def write_no_op_record(self) -> Result[None]:
        """Write a record that says nothing, so that the log's end moves."""
        return Result([NoOpRecord()], None)
