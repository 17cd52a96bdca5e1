"""The levels of ``metadata.version`` and what each supports, and the other features of releases.

Source: ``org.apache.kafka.server.common.MetadataVersion``, ``Feature`` and
``EligibleLeaderReplicasVersion``, 3.9 to 4.4.
"""

from typing import Final

from msgspec import Struct

METADATA_VERSION: Final = "metadata.version"
ELIGIBLE_LEADER_REPLICAS: Final = "eligible.leader.replicas.version"
GROUP_VERSION: Final = "group.version"
TRANSACTION_VERSION: Final = "transaction.version"
SHARE_VERSION: Final = "share.version"
STREAMS_VERSION: Final = "streams.version"
KRAFT_VERSION: Final = "kraft.version"

LEVELS: Final = (
    "3.0-IV1",
    "3.1-IV0",
    "3.2-IV0",
    "3.3-IV0",
    "3.3-IV1",
    "3.3-IV2",
    "3.3-IV3",
    "3.4-IV0",
    "3.5-IV0",
    "3.5-IV1",
    "3.5-IV2",
    "3.6-IV0",
    "3.6-IV1",
    "3.6-IV2",
    "3.7-IV0",
    "3.7-IV1",
    "3.7-IV2",
    "3.7-IV3",
    "3.7-IV4",
    "3.8-IV0",
    "3.9-IV0",
    "4.0-IV0",
    "4.0-IV1",
    "4.0-IV2",
    "4.0-IV3",
    "4.1-IV0",
    "4.1-IV1",
    "4.2-IV0",
    "4.2-IV1",
    "4.3-IV0",
    "4.4-IV0",
    "4.4-IV1",
    "4.4-IV2",
)
"""The names of the metadata versions; the first has level 1, each further one a level more."""


def level_of(name: str) -> int:
    """Return the level of a metadata version, such as ``3.9-IV0``."""
    return LEVELS.index(name) + 1


def name_of(level: int) -> str:
    """Return the name of a level of ``metadata.version``."""
    return LEVELS[level - 1]


def latest_level(release: str) -> int:
    """Return the level with which a release (``4.0``, ``4.0.2``) formats a cluster.

    Raises:
        ValueError: the release is older than all metadata versions.
    """
    line = ".".join(release.split(".")[:2])
    levels = [level for level, name in enumerate(LEVELS, 1) if name.split("-")[0] == line]
    if not levels:
        raise ValueError(f"Release {release} has no metadata version: KRaft began with 3.0.")
    return levels[-1]


class SupportedFeature(Struct, frozen=True):
    """A feature besides ``metadata.version``: its highest level in a release, and its default.

    ``default`` is the level with which a new cluster is formatted.
    """

    name: str
    highest: int
    default: int


_TABLE: Final = (
    # since metadata version, feature, highest level
    ("4.0-IV0", SupportedFeature(ELIGIBLE_LEADER_REPLICAS, 1, 0)),
    ("4.1-IV0", SupportedFeature(ELIGIBLE_LEADER_REPLICAS, 1, 1)),
    ("4.0-IV0", SupportedFeature(GROUP_VERSION, 1, 1)),
    ("4.1-IV0", SupportedFeature(SHARE_VERSION, 1, 0)),
    ("4.2-IV0", SupportedFeature(SHARE_VERSION, 1, 1)),
    ("4.4-IV0", SupportedFeature(SHARE_VERSION, 2, 2)),
    ("4.2-IV1", SupportedFeature(STREAMS_VERSION, 1, 1)),
    ("4.0-IV2", SupportedFeature(TRANSACTION_VERSION, 2, 2)),
)


def supported_features(release: str) -> dict[str, SupportedFeature]:
    """Return the features besides ``metadata.version`` that a release supports."""
    latest = latest_level(release)
    return {feature.name: feature for since, feature in _TABLE if latest >= level_of(since)}


def supported_ranges(release: str) -> dict[str, tuple[int, int]]:
    """Return the lowest and highest level of each feature that brokers of a release support.

    Source: ``BrokerFeatures.defaultSupportedFeatures``; kraft.version since 3.9 (KIP-853).
    """
    latest = latest_level(release)
    lowest = level_of("3.3-IV3") if latest >= level_of("4.0-IV0") else 1
    ranges = {name: (0, feature.highest) for name, feature in supported_features(release).items()}
    if latest >= level_of("3.9-IV0"):
        ranges[KRAFT_VERSION] = (0, 1)
    return ranges | {METADATA_VERSION: (lowest, latest)}


def is_in_controlled_shutdown_supported(level: int) -> bool:
    """Whether registrations include controlled shutdowns (3.3-IV3, KIP-841)."""
    return level >= _IN_CONTROLLED_SHUTDOWN


def is_migration_supported(level: int) -> bool:
    """Whether registrations may come from brokers in ZooKeeper mode (3.4-IV0, KIP-866)."""
    return level >= _MIGRATION


def needs_leader_epoch_bump_on_isr_shrink(level: int) -> bool:
    """Whether shrinking an ISR bumps the leader epoch: before 3.6-IV0 (KAFKA-15021)."""
    return level < _NO_BUMP_ON_SHRINK


def is_transaction_supported(level: int) -> bool:
    """Whether metadata transactions are supported (3.6-IV1, KIP-868)."""
    return level >= _TRANSACTIONS


def is_controller_registration_supported(level: int) -> bool:
    """Whether controllers register (3.7-IV0, KIP-919)."""
    return level >= _CONTROLLER_REGISTRATION


def is_directory_assignment_supported(level: int) -> bool:
    """Whether partitions have log directory assignments (3.7-IV2, KIP-858)."""
    return level >= _DIRECTORIES


def is_elr_supported(level: int) -> bool:
    """Whether partitions may have eligible leader replicas (4.0-IV1, KIP-966)."""
    return level >= _ELR


def is_cordoned_log_dirs_supported(level: int) -> bool:
    """Whether brokers name their cordoned log directories (4.3-IV0, KIP-1066)."""
    return level >= _CORDONED_DIRECTORIES


_IN_CONTROLLED_SHUTDOWN: Final = level_of("3.3-IV3")
_MIGRATION: Final = level_of("3.4-IV0")
_NO_BUMP_ON_SHRINK: Final = level_of("3.6-IV0")
_TRANSACTIONS: Final = level_of("3.6-IV1")
_CONTROLLER_REGISTRATION: Final = level_of("3.7-IV0")
_DIRECTORIES: Final = level_of("3.7-IV2")
_ELR: Final = level_of("4.0-IV1")
_CORDONED_DIRECTORIES: Final = level_of("4.3-IV0")
