"""What concerns neither brokers' state nor partitions: features, ids, security, the quorum."""

from collections.abc import Callable
from typing import Final

from emulator.metadata_log.metadata_version import ELIGIBLE_LEADER_REPLICAS, METADATA_VERSION
from emulator.metadata_log.records import FeatureLevelRecord
from emulator.quorum_controller.explanation.match import Attempt, Match, NoRule
from emulator.quorum_controller.explanation.observed import other_of
from emulator.quorum_controller.explanation.rules import Rule
from emulator.quorum_controller.feature_control import UpgradeType, update_features
from emulator.quorum_controller.producer_id_control import allocate_producer_ids
from emulator.quorum_controller.result import ApiException
from emulator.wire.metadata import messages as wire
from emulator.wire.types import Message

_NO_MIGRATION, _MIGRATION, _PRE_MIGRATION, _POST_MIGRATION = 0, 1, 2, 3
_NEXT_STATES: Final = {
    _NO_MIGRATION: (_NO_MIGRATION, _PRE_MIGRATION),
    _PRE_MIGRATION: (_MIGRATION,),
    _MIGRATION: (_POST_MIGRATION, _PRE_MIGRATION),
    _POST_MIGRATION: (),
}
"""The states of a migration from ZooKeeper that may follow each (``ZkMigrationState``)."""


def match_feature(attempt: Attempt) -> Match:
    """Return the change of a feature.

    Raises:
        NoRule: a node does not support the level, or it may not be lowered.
    """
    record, observed = attempt.entry.record, attempt.observed
    assert isinstance(record, FeatureLevelRecord)
    name, level = record.name, record.feature_level
    image = observed.image
    if METADATA_VERSION not in image.features:
        return Match(1, Rule.BOOTSTRAP, f"the cluster was formatted with {name} {level}")
    nodes = {
        **{f"broker {id_}": levels for id_, levels in observed.broker_levels.items()},
        **{f"controller {id_}": levels for id_, levels in observed.controller_levels.items()},
    }
    for node, levels in nodes.items():
        lowest, highest = levels.get(name, (0, 0))
        if not lowest <= level <= highest:
            raise NoRule(f"{node} supports {name} {lowest} to {highest}, not {level}")
    because = f"an administrator changed {name} to {level}"
    if name not in (METADATA_VERSION, ELIGIBLE_LEADER_REPLICAS):
        return Match(1, Rule.FEATURES, because)
    direction = UpgradeType.UPGRADE
    if level < image.features.get(name, 0):
        direction = UpgradeType.SAFE_DOWNGRADE
    release = attempt.hypothesis.release
    try:
        records = update_features(attempt.context, release, {name: level}, direction).records
    except ApiException as refused:
        if level == 0:  # 3.9 knows the ELR's feature, which is always 0 there
            return Match(1, Rule.FEATURES, because)
        raise NoRule(str(refused).rstrip(".")) from None
    if not attempt.begins_with(records):
        raise NoRule(f"{name} {level} needs {len(records) - 1} configurations to be set before")
    return Match(len(records), Rule.FEATURES, because)


def match_producer_ids(attempt: Attempt) -> Match:
    """Return the allocation of a block of producer ids.

    Raises:
        NoRule: the broker is not registered so, or the block is not the next one.
    """
    message, context = attempt.entry.message, attempt.context
    assert isinstance(message, wire.ProducerIdsRecord)
    next_id = context.image.next_producer_id
    try:
        expected = allocate_producer_ids(context, message.broker_id, message.broker_epoch).records
    except ApiException as refused:
        raise NoRule(str(refused).rstrip(".")) from None
    if not attempt.begins_with(expected):
        raise NoRule(
            f"the next block of producer ids ends before {next_id + 1_000}, and this one before"
            f" {message.next_producer_id}"
        )
    because = f"broker {message.broker_id} asked for producer ids from {next_id:,} on"
    return Match(1, Rule.PRODUCER_IDS, because)


def match_controller(attempt: Attempt) -> Match:
    """Return the registration of a controller, or its end.

    Raises:
        NoRule: it is not registered.
    """
    message, observed = attempt.entry.message, attempt.observed
    if isinstance(message, wire.UnregisterControllerRecord):
        controller = message.controller_id
        if controller not in observed.controller_levels:
            raise NoRule(f"controller {controller} is not registered")
        return Match(1, Rule.CONTROLLER_REGISTRATION, f"controller {controller} is gone")
    assert isinstance(message, wire.RegisterControllerRecord)
    controller = message.controller_id
    for feature in message.features:
        level = observed.image.features.get(feature.name, 0)
        is_on = level > 0 or feature.name == METADATA_VERSION
        lowest, highest = feature.min_supported_version, feature.max_supported_version
        if is_on and not lowest <= level <= highest:
            raise NoRule(
                f"controller {controller} supports {feature.name} {lowest} to {highest}, and it is"
                f" {level}"
            )
    return Match(1, Rule.CONTROLLER_REGISTRATION, f"controller {controller} started")


def match_zk_migration_state(attempt: Attempt) -> Match:
    """Return the next state of a migration from ZooKeeper.

    Raises:
        NoRule: it does not follow the present one.
    """
    message, observed = attempt.entry.message, attempt.observed
    assert isinstance(message, wire.ZkMigrationStateRecord)
    now, new = observed.zk_migration_state, message.zk_migration_state
    if new not in _NEXT_STATES.get(now, ()):
        raise NoRule(f"the state of the migration from ZooKeeper is {now}, and {new} cannot follow")
    return Match(1, Rule.ZK_MIGRATION_STATE, f"its state goes from {now} to {new}")


def match_other(attempt: Attempt) -> Match:
    """Return the change of access control, quotas, credentials or tokens.

    Raises:
        NoRule: what is removed does not exist, or what is set is so already.
    """
    message, observed = attempt.entry.message, attempt.observed
    key, value = other_of(message)
    rule = _OTHER_RULES[type(message)]
    before = observed.others.get(key)
    name = " ".join(str(part) for part in key[:2] if isinstance(part, str))
    if value is None and before is None:
        raise NoRule(f"it removes what does not exist: {name}")
    if isinstance(message, wire.AccessControlEntryRecord):
        defaults = {
            _binding(other)
            for other in observed.others.values()
            if isinstance(other, wire.AccessControlEntryRecord)
        }
        if before is not None or _binding(message) in defaults:
            raise NoRule("there is such an access control entry already")
    elif isinstance(message, wire.ClientQuotaRecord) and value is not None and value == before:
        raise NoRule(f"it sets what is so already: {name}")
    return Match(1, rule, "an administrator asked for it")


def _binding(entry: wire.AccessControlEntryRecord) -> tuple[object, ...]:
    return (
        *(entry.resource_type, entry.resource_name, entry.pattern_type, entry.principal),
        *(entry.host, entry.operation, entry.permission_type),
    )


_OTHER_RULES: Final[dict[type[Message], Rule]] = {
    wire.AccessControlEntryRecord: Rule.ACLS,
    wire.RemoveAccessControlEntryRecord: Rule.ACLS,
    wire.UserScramCredentialRecord: Rule.SCRAM,
    wire.RemoveUserScramCredentialRecord: Rule.SCRAM,
    wire.ClientQuotaRecord: Rule.CLIENT_QUOTAS,
    wire.DelegationTokenRecord: Rule.DELEGATION_TOKENS,
    wire.RemoveDelegationTokenRecord: Rule.DELEGATION_TOKENS,
}

ADMINISTRATION: Final[dict[type[Message], Callable[[Attempt], Match]]] = {
    wire.FeatureLevelRecord: match_feature,
    wire.ProducerIdsRecord: match_producer_ids,
    wire.RegisterControllerRecord: match_controller,
    wire.UnregisterControllerRecord: match_controller,
    wire.ZkMigrationStateRecord: match_zk_migration_state,
    **dict.fromkeys(_OTHER_RULES, match_other),
}
