"""The active controller: it turns requests and time into records and responses.

It writes nothing itself. The caller appends ``Result.batches`` to the quorum's log, immediately
passes what was appended to :meth:`QuorumController.appended`, before the next request, and sends
the response once the records are committed. Source: ``QuorumController``, 3.9 to 4.1.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from emulator.common.acls import Acl
from emulator.metadata_log.changes import MetadataDelta, TopicIdPartition
from emulator.metadata_log.image import MetadataImage
from emulator.metadata_log.records import NoOpRecord, Replicas
from emulator.metadata_log.registrations import PartitionRegistration
from emulator.quorum_controller import (
    acl_control,
    alter_partition,
    cluster_control,
    configuration_control,
    directories,
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

RESCHEDULE_US: Final = 10_000
"""The delay before a periodic task with remaining work runs again (``PeriodicTask``)."""

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
        """Resume from ``state``; ``random_below`` draws topic ids and replica placements."""
        self.state = state
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
        """Become active with the whole log in ``image``, which is modified from then on.

        If it is empty, :meth:`bootstrap` must be appended first.
        """
        state = ControllerState.activate(image, settings, ReleaseRules.of(release), now_us)
        return QuorumController(state, settings, release, random_below)

    @property
    def image(self) -> MetadataImage:
        """The metadata, including records that are not committed yet."""
        return self.context.image

    def appended(
        self,
        result: Result[Any],
        first_offset: int,
        epoch: int,
        now_us: int,
        delta: MetadataDelta | None = None,
    ) -> None:
        """Apply a request's records after they were appended to the log at ``first_offset``.

        It must also be called if there are no records; ``first_offset`` is then the log end offset.
        """
        offset = first_offset - 1
        for offset, record in enumerate(result.records, first_offset):
            self.state.replay(record, offset, epoch, now_us, delta)
        reply = result.response
        if isinstance(reply, cluster_control.BrokerHeartbeatReply) and reply.in_controlled_shutdown:
            self.state.heartbeats.begin_controlled_shutdown(reply.broker, offset)

    # ---- the cluster

    def bootstrap(self, features: Mapping[str, int]) -> Result[None]:
        """Create the first records of the log (:func:`feature_control.default_features`)."""
        records = feature_control.bootstrap_records(
            features,
            self.context.settings.min_insync_replicas,
            has_migration_state=self.context.rules.zk_migration_state_in_log,
        )
        return Result(records, None)

    def register_controller(self, controller: int, incarnation_id: str) -> Result[None]:
        return cluster_control.register_controller(self.context, controller, incarnation_id)

    def register_broker(
        self, request: cluster_control.BrokerRegistrationRequest, next_offset: int, now_us: int
    ) -> Result[cluster_control.BrokerRegistrationReply]:
        """Register a broker; ``next_offset`` is the log end offset."""
        return cluster_control.register_broker(self.context, request, next_offset, now_us)

    def unregister_broker(self, broker: int) -> Result[None]:
        return cluster_control.unregister_broker(self.context, broker)

    def process_broker_heartbeat(
        self, broker: int, broker_epoch: int, heartbeat: Heartbeat, now_us: int
    ) -> Result[cluster_control.BrokerHeartbeatReply]:
        return cluster_control.process_broker_heartbeat(
            self.context, broker, broker_epoch, heartbeat, now_us
        )

    def allocate_producer_ids(
        self, broker: int, broker_epoch: int
    ) -> Result[producer_id_control.ProducerIdsBlock]:
        return producer_id_control.allocate_producer_ids(self.context, broker, broker_epoch)

    def assign_replicas_to_dirs(
        self,
        broker: int,
        broker_epoch: int,
        directory: int,
        partitions: Iterable[TopicIdPartition],
    ) -> Result[dict[TopicIdPartition, str]]:
        """Note in which of its directories a broker has replicas."""
        return directories.assign_replicas_to_dirs(
            self.context, broker, broker_epoch, directory, partitions
        )

    # ---- topics

    def create_topics(
        self, new_topics: Sequence[topics.CreatableTopic], *, validate_only: bool = False
    ) -> Result[dict[str, topics.CreatedTopic]]:
        return topics.create_topics(
            self.context, new_topics, self._random_below, validate_only=validate_only
        )

    def delete_topics(self, names: Iterable[str]) -> Result[dict[str, ApiError]]:
        return topics.delete_topics(self.context, names)

    def create_partitions(
        self, additions: Iterable[topics.CreatePartitionsTopic]
    ) -> Result[dict[str, ApiError]]:
        return topics.create_partitions(self.context, additions, self._random_below)

    def incremental_alter_configs(
        self,
        changes: Mapping[configuration_control.ConfigResource, Mapping[str, str | None]],
    ) -> Result[dict[configuration_control.ConfigResource, ApiError]]:
        """Set dynamic configurations, or remove them with None."""
        return configuration_control.incremental_alter_configs(self.context, changes)

    def legacy_alter_configs(
        self,
        configs: Mapping[configuration_control.ConfigResource, Mapping[str, str | None]],
    ) -> Result[dict[configuration_control.ConfigResource, ApiError]]:
        return configuration_control.legacy_alter_configs(self.context, configs)

    def create_acls(self, acls: Sequence[Acl]) -> Result[list[ApiError]]:
        return acl_control.create_acls(self.context, acls, self._random_below)

    def delete_acls(self, filters: Sequence[Acl]) -> Result[list[tuple[ApiError, list[Acl]]]]:
        """Delete the access control entries that match filters."""
        return acl_control.delete_acls(self.context, filters)

    def update_features(
        self,
        updates: Mapping[str, int],
        upgrade_type: feature_control.UpgradeTypes = feature_control.UpgradeType.UPGRADE,
        *,
        validate_only: bool = False,
    ) -> Result[None]:
        """Upgrade or downgrade finalized features, each by its own type or all by one."""
        return feature_control.update_features(
            self.context, self._release, updates, upgrade_type, validate_only=validate_only
        )

    # ---- partitions

    def alter_partition(
        self, broker: int, broker_epoch: int, items: Iterable[alter_partition.AlterPartitionItem]
    ) -> Result[dict[TopicIdPartition, alter_partition.AlterPartitionResult]]:
        """Change the ISRs of partitions led by a broker."""
        return alter_partition.alter_partition(self.context, broker, broker_epoch, items)

    def elect_leaders(
        self, election: Election, partitions: Iterable[TopicPartition] | None
    ) -> Result[dict[TopicPartition, ApiError]]:
        """Elect preferred leaders, or leaders uncleanly; None means all partitions."""
        return elections.elect_leaders(self.context, election, partitions)

    def alter_partition_reassignments(
        self,
        targets: Mapping[TopicPartition, Replicas | None],
        *,
        allow_replication_factor_change: bool = True,
    ) -> Result[dict[TopicPartition, ApiError]]:
        """Reassign partitions, or with None cancel their reassignment."""
        return reassignments.alter_partition_reassignments(
            self.context, targets, allow_replication_factor_change=allow_replication_factor_change
        )

    def list_partition_reassignments(
        self, partitions: Iterable[TopicPartition] | None = None
    ) -> dict[TopicPartition, PartitionRegistration]:
        """Return the ongoing reassignments, of all partitions if none are named."""
        return reassignments.list_partition_reassignments(self.context, partitions)

    # ---- periodic tasks

    def maybe_fence_one_stale_broker(self, now_us: int) -> Result[bool]:
        """Fence a broker whose session timed out; the response is whether to check again."""
        return cluster_control.maybe_fence_one_stale_broker(self.context, now_us)

    def next_fence_check_us(self, now_us: int) -> int | None:
        """The time of the next stale broker check; None while there is no unfenced broker."""
        return self.state.heartbeats.next_check_us(now_us)

    def maybe_elect_unclean_leaders(self) -> Result[bool]:
        """Elect leaders uncleanly where the configuration allows it, every five minutes."""
        return elections.maybe_elect_unclean_leaders(self.context)

    def maybe_balance_partition_leaders(self) -> Result[bool]:
        """Move leadership to preferred replicas if auto.leader.rebalance.enable is set.

        Runs every leader.imbalance.check.interval.seconds.
        """
        return elections.maybe_balance_partition_leaders(self.context)

    @property
    def wants_unclean_election_check(self) -> bool:
        """Whether to schedule :meth:`maybe_elect_unclean_leaders` an interval from now.

        Must be queried when the controller becomes active and after each write, unless the check is
        already scheduled. Always true from 4.0 on; before, only if a partition has no leader.
        """
        return self.context.rules.leader_checks_periodic or bool(self.state.partitions.leaderless)

    @property
    def wants_balance_check(self) -> bool:
        """Whether to schedule :meth:`maybe_balance_partition_leaders` an interval from now.

        As :attr:`wants_unclean_election_check`; before 4.0 only if a partition's leader is not its
        preferred replica.
        """
        return self.context.rules.leader_checks_periodic or bool(self.state.partitions.imbalanced)

    def write_no_op_record(self) -> Result[None]:
        """Create a no-op record, which advances the log end offset."""
        return Result([NoOpRecord()], None)
