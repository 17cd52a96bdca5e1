"""The controllers' settings: their configuration, and their release's rules."""

from msgspec import Struct

from emulator.metadata_log.image import MetadataImage
from emulator.metadata_log.metadata_version import needs_leader_epoch_bump_on_isr_shrink
from emulator.quorum_controller.partition_change_builder import ElectionRules
from emulator.quorum_controller.reassignment import Completion
from emulator.releases.config import topic_config_names
from emulator.releases.features.kraft import KRAFT
from emulator.releases.group_configs import GroupConfigRules
from emulator.releases.versions import Numbers


class ControllerSettings(Struct, frozen=True):
    """A controller's static configuration, by Kafka's names; durations in microseconds.

    ``node_id`` is the controller's id: a dynamic configuration with that name would apply to it.
    ``group_configs`` is None where groups have no configurations: before 4.0.
    ``topic_config_names`` are the valid names in a topic's configuration.
    """

    node_id: int = 100
    broker_session_timeout_us: int = 9_000_000
    num_partitions: int = 1
    default_replication_factor: int = 1
    min_insync_replicas: int = 1
    unclean_leader_election_enable: bool = False
    zookeeper_metadata_migration_enable: bool = False
    group_configs: GroupConfigRules | None = None
    topic_config_names: frozenset[str] = topic_config_names()


class ReleaseRules(Struct, frozen=True):
    """A release's controller behaviour, by names in :mod:`emulator.releases.features.kraft`."""

    contact_times_by_broker_epoch: bool
    leader_checks_periodic: bool
    contact_times_of_fenced_brokers: bool
    registration_handles_shutdown: bool
    kraft_unclean_election_by_config: bool
    dead_last_known_leader_elected: bool
    last_leader_noted_with_empty_isr: bool
    amended_registration_keeps_fencing: bool
    amended_registration_keeps_epoch: bool
    epoch_bump_without_isr_change: bool
    reassignment_completes_with_all_replicas: bool
    reassignment_completes_unless_shrinking: bool
    directory_assignment_clears_elr: bool
    replication_factor_change_refusable: bool
    zk_migration_state_in_log: bool
    metrics_subscriptions_are_configurations: bool
    acl_principals_checked: bool

    @staticmethod
    def of(release: Numbers) -> "ReleaseRules":
        """Return the rules of a release (``Profile.numbers``)."""
        holds = {rule.name: rule.holds_in(release) for rule in KRAFT}
        return ReleaseRules(**{name: holds[name] for name in ReleaseRules.__struct_fields__})

    @property
    def completion(self) -> Completion:
        """Which replicas must be in sync before a reassignment is complete."""
        if self.reassignment_completes_with_all_replicas:
            return Completion.ALL
        is_new = self.reassignment_completes_unless_shrinking
        return Completion.NOT_SHRINKING if is_new else Completion.ADDED

    def elections(self, image: MetadataImage, min_isr: int) -> ElectionRules:
        """Return the rules of elections and ISR changes for a partition with that minimum ISR."""
        return ElectionRules(
            min_isr,
            image.elr_enabled,
            needs_leader_epoch_bump_on_isr_shrink(image.metadata_version),
            self.dead_last_known_leader_elected,
            self.last_leader_noted_with_empty_isr,
            self.epoch_bump_without_isr_change,
            self.completion,
        )
