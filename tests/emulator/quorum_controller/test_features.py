"""Finalized features, and dynamic configurations where features decide what may be set."""

import pytest

from emulator.metadata_log.metadata_version import latest_level, level_of, name_of
from emulator.metadata_log.records import (
    ConfigRecord,
    FeatureLevelRecord,
    ZkMigrationStateRecord,
)
from emulator.quorum_controller.configuration_control import ConfigResource
from emulator.quorum_controller.feature_control import (
    UpgradeType,
    bootstrap_records,
    default_features,
)
from emulator.quorum_controller.result import ApiException
from tests.emulator.quorum_controller.quorum import Quorum

ELR = "eligible.leader.replicas.version"
CLUSTER = ConfigResource(4, "")


@pytest.mark.parametrize(
    ("release", "features"),
    [
        ("3.3.2", {"metadata.version": 7}),
        ("3.6.2", {"metadata.version": 14}),
        ("3.9.2", {"metadata.version": 21}),
        ("4.0.2", {"metadata.version": 25, "group.version": 1, "transaction.version": 2}),
        (
            "4.1.2",
            {"metadata.version": 27, ELR: 1, "group.version": 1, "transaction.version": 2},
        ),
        (
            "4.2.2",
            {
                **{"metadata.version": 29, ELR: 1, "group.version": 1, "share.version": 1},
                **{"streams.version": 1, "transaction.version": 2},
            },
        ),
        (
            "4.4.0",
            {
                **{"metadata.version": 33, ELR: 1, "group.version": 1, "share.version": 2},
                **{"streams.version": 1, "transaction.version": 2},
            },
        ),
    ],
)
def test_what_a_release_formats_a_cluster_with(release: str, features: dict[str, int]) -> None:
    assert default_features(release) == features


def test_levels_have_names() -> None:
    assert (level_of("3.9-IV0"), name_of(25), latest_level("3.7")) == (21, "4.0-IV3", 19)
    with pytest.raises(ValueError, match="no metadata version"):
        latest_level("2.8.2")


@pytest.mark.parametrize(
    ("release", "chosen", "words"),
    [
        ("3.9.2", {ELR: 1}, "has no feature"),
        ("4.1.2", {"eligible.leader.replicas": 1}, f"the nearest is '{ELR}'"),
        ("4.1.2", {ELR: 2}, "goes from 0 to 1"),
        ("4.1.2", {"metadata.version": 28}, "goes from 1 to 27"),
        ("4.1.2", {ELR: 1, "metadata.version": 22}, "needs metadata.version 23"),
    ],
)
def test_features_that_a_release_does_not_have(
    release: str, chosen: dict[str, int], words: str
) -> None:
    with pytest.raises(ApiException, match=words):
        default_features(release, chosen)


def test_turning_elr_on_writes_one_minimum_for_the_cluster_first() -> None:
    quorum = Quorum("4.0.2", min_insync_replicas=2)
    quorum.start(0)
    own = {ConfigResource(4, "0"): {"min.insync.replicas": "1"}}
    quorum.append(quorum.controller.incremental_alter_configs(own))
    quorum.append(quorum.controller.update_features({ELR: 1}))
    assert quorum.log[-1] == [
        ConfigRecord(4, "", "min.insync.replicas", "2"),
        ConfigRecord(4, "0", "min.insync.replicas", None),
        FeatureLevelRecord(ELR, 1),
    ]
    refused = quorum.append(quorum.controller.incremental_alter_configs(own))
    assert [response.error for response in refused.values()] == ["INVALID_CONFIG"]
    removed = {CLUSTER: {"min.insync.replicas": None}}
    refused = quorum.append(quorum.controller.incremental_alter_configs(removed))
    assert [response.error for response in refused.values()] == ["INVALID_CONFIG"]


def test_turning_elr_off_forgets_eligible_replicas_as_partitions_change() -> None:
    quorum = Quorum("4.1.2")
    quorum.start(0, 1)
    quorum.create("t", (0, 1), min_insync_replicas="2")
    quorum.let_pass(5, 0)
    assert quorum.partition("t").elr == (1,)
    quorum.append(quorum.controller.update_features({ELR: 0}, UpgradeType.SAFE_DOWNGRADE))
    assert not quorum.controller.image.elr_enabled
    quorum.let_pass(5)
    assert (quorum.partition("t").isr, quorum.partition("t").elr) == ((0,), ())


@pytest.mark.parametrize(
    ("updates", "upgrade_type", "words"),
    [
        ({ELR: 0}, UpgradeType.UPGRADE, "ask for a downgrade"),
        ({"metadata.version": 20}, UpgradeType.SAFE_DOWNGRADE, "4.0-IV1 brought records"),
        ({"group.version": 2}, UpgradeType.UPGRADE, "goes from 0 to 1"),
    ],
)
def test_updates_that_are_refused(
    updates: dict[str, int], upgrade_type: UpgradeType, words: str
) -> None:
    with pytest.raises(ApiException, match=words) as refused:
        Quorum("4.1.2").controller.update_features(updates, upgrade_type)
    assert refused.value.error == "INVALID_UPDATE_VERSION"


def test_metadata_version_may_go_back_where_no_record_changed() -> None:
    quorum = Quorum("4.1.2")
    down = UpgradeType.SAFE_DOWNGRADE
    quorum.append(quorum.controller.update_features({"metadata.version": 25}, down))
    assert quorum.controller.image.metadata_version == 25


LAST_CHANGE_OF_3_7 = level_of("3.7-IV2")


@pytest.mark.parametrize(
    ("current", "level", "first_lost"),
    [
        (LAST_CHANGE_OF_3_7 + 1, LAST_CHANGE_OF_3_7, None),
        (LAST_CHANGE_OF_3_7, LAST_CHANGE_OF_3_7 - 1, "3.7-IV2"),
        (LAST_CHANGE_OF_3_7 + 1, LAST_CHANGE_OF_3_7 - 1, "3.7-IV2"),
        (LAST_CHANGE_OF_3_7 + 1, level_of("3.5-IV2"), "3.6-IV1"),
        (level_of("3.5-IV2"), level_of("3.5-IV2"), None),
    ],
)
def test_metadata_version_goes_back_to_the_last_change_of_a_record(
    current: int, level: int, first_lost: str | None
) -> None:
    quorum = Quorum("3.9.2", features={"metadata.version": current})
    down = UpgradeType.SAFE_DOWNGRADE
    if first_lost is None:
        quorum.append(quorum.controller.update_features({"metadata.version": level}, down))
        assert quorum.controller.image.metadata_version == level
    else:
        with pytest.raises(ApiException, match=f"metadata.version {first_lost} brought records"):
            quorum.controller.update_features({"metadata.version": level}, down)


def test_an_update_to_the_current_level_and_one_from_nothing_are_upgrades() -> None:
    quorum = Quorum("4.1.2")
    quorum.append(quorum.controller.update_features({ELR: 1}))
    assert quorum.controller.image.features[ELR] == 1
    with pytest.raises(ApiException, match="2 is no downgrade"):
        Quorum("4.0.2", features={"transaction.version": 1}).controller.update_features(
            {"transaction.version": 2}, UpgradeType.UNSAFE_DOWNGRADE
        )


def test_a_validated_update_writes_nothing_and_any_other_is_written() -> None:
    controller = Quorum("4.0.2").controller
    assert controller.update_features({ELR: 1}, validate_only=True).records == []
    assert controller.update_features({ELR: 1}).records != []


@pytest.mark.parametrize("has_migration_state", [True, False])
def test_up_to_3_9_the_first_records_say_that_there_is_no_migration(
    *, has_migration_state: bool
) -> None:
    features = default_features("3.9.2" if has_migration_state else "4.1.2")
    written = bootstrap_records(features, 1, has_migration_state=has_migration_state)
    assert (ZkMigrationStateRecord() in written) is has_migration_state
    minimum = ConfigRecord(4, "", "min.insync.replicas", "1")
    assert (minimum in written) is (ELR in features)


# ---- configurations


def alter(quorum: Quorum, resource: ConfigResource, **values: str | None) -> str:
    named = {name.replace("_", "."): value for name, value in values.items()}
    response = quorum.append(quorum.controller.incremental_alter_configs({resource: named}))
    return response[resource].error


def test_configurations_that_are_refused() -> None:
    quorum = Quorum()
    quorum.start(0)
    quorum.create("t", (0,))
    t = ConfigResource(2, "t")
    assert (
        alter(quorum, ConfigResource(2, "none"), retention_ms="1") == "UNKNOWN_TOPIC_OR_PARTITION"
    )
    assert alter(quorum, ConfigResource(4, "9"), log_dirs="x") == "BROKER_ID_NOT_REGISTERED"
    assert alter(quorum, t, retention="1") == "INVALID_CONFIG"
    assert alter(quorum, t, min_insync_replicas="") == "INVALID_CONFIG"
    assert alter(quorum, t, unclean_leader_election_enable="maybe") == "INVALID_CONFIG"
    assert alter(quorum, t, retention_ms="9" * 40_000) == "INVALID_CONFIG"
    assert alter(quorum, t, retention_ms="100000") == "NONE"


def test_only_brokers_configurations_are_written_again_unchanged() -> None:
    quorum = Quorum()
    quorum.start(0)
    quorum.create("t", (0,))
    for resource in (ConfigResource(2, "t"), CLUSTER):
        assert alter(quorum, resource, min_insync_replicas="2") == "NONE"
        length = len(quorum.log)
        assert alter(quorum, resource, min_insync_replicas="2") == "NONE"
        assert len(quorum.log) - length == (resource == CLUSTER)


def test_a_topic_goes_by_its_own_value_then_by_the_clusters_then_by_the_controllers_file() -> None:
    quorum = Quorum("4.1.2", min_insync_replicas=3)
    quorum.start(0, 1, 2)
    quorum.create("t", (0, 1, 2))
    rules = quorum.controller.context.election_rules

    def minimum() -> int:
        topic = quorum.controller.image.topic("t")
        assert topic is not None
        return rules(topic).min_isr

    assert minimum() == 3
    alter(quorum, CLUSTER, min_insync_replicas="2")
    assert minimum() == 2
    alter(quorum, ConfigResource(2, "t"), min_insync_replicas="1")
    assert minimum() == 1
    alter(quorum, ConfigResource(2, "t"), min_insync_replicas="9")
    assert minimum() == 3  # no more than the replication factor
