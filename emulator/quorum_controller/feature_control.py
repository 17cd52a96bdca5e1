"""Finalized features: those of a new cluster, upgrades and downgrades.

Source: ``FeatureControlManager``, ``ActivationRecordsGenerator``, ``Feature.defaultValue``;
KIP-584, KIP-778, KIP-966, KIP-1022.
"""

from collections.abc import Mapping
from difflib import get_close_matches
from enum import Enum
from typing import Final

from emulator.metadata_log.metadata_version import (
    ELIGIBLE_LEADER_REPLICAS,
    METADATA_VERSION,
    is_elr_supported,
    is_transaction_supported,
    latest_level,
    level_of,
    name_of,
    supported_features,
)
from emulator.metadata_log.records import (
    BROKER_RESOURCE,
    AnyRecord,
    BeginTransactionRecord,
    ConfigRecord,
    EndTransactionRecord,
    FeatureLevelRecord,
    ZkMigrationStateRecord,
)
from emulator.quorum_controller.configuration_control import elr_safety_records
from emulator.quorum_controller.context import MIN_INSYNC_REPLICAS, Context
from emulator.quorum_controller.result import ApiException, Result


class UpgradeType(Enum):
    """The direction of a feature change (``FeatureUpdate.UpgradeType``)."""

    UPGRADE = "upgrade"
    SAFE_DOWNGRADE = "safe downgrade"
    UNSAFE_DOWNGRADE = "unsafe downgrade"


UpgradeTypes = UpgradeType | Mapping[str, UpgradeType]
"""The type of all changes, or of each by the feature's name."""


_METADATA_CHANGED: Final = frozenset(
    level_of(name)
    for name in (
        "3.2-IV0",
        "3.3-IV0",
        "3.3-IV1",
        "3.3-IV2",
        "3.3-IV3",
        "3.4-IV0",
        "3.5-IV2",
        "3.6-IV1",
        "3.6-IV2",
        "3.7-IV0",
        "3.7-IV2",
        "4.0-IV1",
        "4.3-IV0",
        "4.4-IV1",
        "4.4-IV2",
    )
)
"""The levels of metadata.version with new records, below which it cannot be downgraded."""


def default_features(release: str, chosen: Mapping[str, int] | None = None) -> dict[str, int]:
    """Return the features with which a release formats a cluster; those at level 0 are omitted.

    ``chosen`` are levels that override the defaults (``--feature``).

    Raises:
        ApiException: INVALID_UPDATE_VERSION for an unsupported feature or level.
    """
    supported = supported_features(release)
    levels = {METADATA_VERSION: latest_level(release)}
    levels |= {name: supported[name].default for name in sorted(supported)}
    for name, level in (chosen or {}).items():
        _check_supported(release, name, level)
        levels[name] = level
    _check_dependencies(levels)
    return {name: level for name, level in levels.items() if level}


def bootstrap_records(
    features: Mapping[str, int], min_insync_replicas: int, *, has_migration_state: bool
) -> list[AnyRecord]:
    """Return the first records of an empty log, written by the first active controller.

    With ELR they include the cluster's min.insync.replicas. ``has_migration_state``: up to 3.9 the
    log records that no migration from ZooKeeper is in progress (KIP-866).
    """
    names = [METADATA_VERSION, *sorted(name for name in features if name != METADATA_VERSION)]
    records: list[AnyRecord] = [FeatureLevelRecord(name, features[name]) for name in names]
    if features.get(ELIGIBLE_LEADER_REPLICAS, 0):
        records.append(
            ConfigRecord(BROKER_RESOURCE, "", MIN_INSYNC_REPLICAS, str(min_insync_replicas))
        )
    if has_migration_state:
        records.append(ZkMigrationStateRecord())
    if is_transaction_supported(features[METADATA_VERSION]):
        return [BeginTransactionRecord("Bootstrap records"), *records, EndTransactionRecord()]
    return records


def update_features(
    context: Context,
    release: str,
    updates: Mapping[str, int],
    upgrade_type: UpgradeTypes = UpgradeType.UPGRADE,
    *,
    validate_only: bool = False,
) -> Result[None]:
    """Upgrade or downgrade finalized features atomically, each by its own type or all by one.

    Enabling ELR first sets a single min.insync.replicas for the cluster.

    Raises:
        ApiException: INVALID_UPDATE_VERSION, with the reason.
    """
    levels = dict(context.image.features)
    for name, level in updates.items():
        _check_supported(release, name, level)
        direction = upgrade_type if isinstance(upgrade_type, UpgradeType) else upgrade_type[name]
        _check_direction(name, levels.get(name, 0), level, direction)
        levels[name] = level
    _check_dependencies(levels)
    if validate_only:
        return Result([], None)
    records: list[AnyRecord] = []
    if updates.get(ELIGIBLE_LEADER_REPLICAS, 0):
        records += elr_safety_records(context)
    records += [FeatureLevelRecord(name, level) for name, level in updates.items()]
    return Result(records, None, is_atomic=True)


def _check_supported(release: str, name: str, level: int) -> None:
    highest = {feature.name: feature.highest for feature in supported_features(release).values()}
    highest[METADATA_VERSION] = latest_level(release)
    if name not in highest:
        near = get_close_matches(name, highest, 1)
        hint = f"the nearest is {near[0]!r}" if near else f"it has {', '.join(sorted(highest))}"
        raise _refused(f"{release} has no feature {name!r}; {hint}.")
    lowest = 1 if name == METADATA_VERSION else 0
    if not lowest <= level <= highest[name]:
        levels = f"{lowest} to {highest[name]} in {release}"
        raise _refused(f"{name} goes from {levels}, not to {level}.")


def _check_direction(name: str, now: int, level: int, upgrade_type: UpgradeType) -> None:
    if level < now and upgrade_type is UpgradeType.UPGRADE:
        raise _refused(f"{name} is {now}; to lower it to {level} ask for a downgrade.")
    if level > now and upgrade_type is not UpgradeType.UPGRADE:
        raise _refused(f"{name} is {now}; {level} is no downgrade.")
    if name == METADATA_VERSION and level < now:
        lost = [lower for lower in range(level + 1, now + 1) if lower in _METADATA_CHANGED]
        if lost:
            raise _refused(
                f"metadata.version {name_of(lost[0])} brought records that"
                f" {name_of(level)} cannot read, so it cannot be lowered."
            )


def _check_dependencies(levels: Mapping[str, int]) -> None:
    if levels.get(ELIGIBLE_LEADER_REPLICAS, 0) and not is_elr_supported(levels[METADATA_VERSION]):
        raise _refused(
            f"{ELIGIBLE_LEADER_REPLICAS} 1 needs metadata.version {level_of('4.0-IV1')}"
            f" (4.0-IV1), not {levels[METADATA_VERSION]}."
        )


def _refused(message: str) -> ApiException:
    return ApiException("INVALID_UPDATE_VERSION", message)
