"""The table of features: which release does what, at its boundaries."""

import ast
from pathlib import Path

import pytest

from emulator.releases.features import FEATURES
from emulator.releases.features.base import Feature
from emulator.releases.features.clients import CLIENTS
from emulator.releases.features.controller import CONTROLLER
from emulator.releases.features.kraft import KRAFT
from emulator.releases.features.replication import REPLICATION
from emulator.releases.features.znodes import ZNODES
from emulator.releases.profiles import (
    DEFAULT_VERSION,
    PROFILES,
    VERSIONS,
    Profile,
    neighbours,
)
from emulator.releases.versions import NAMES, RELEASES, numbers_of

ROOT = Path(__file__).parents[3] / "emulator"
TABLES = {
    "wire/versions.py",
    "releases/versions.py",
    "releases/profiles.py",
    "releases/variants.py",
    "releases/config_names.py",
    "inputs/statements.py",
}
"""Where releases are listed, or one is the default."""


def test_the_releases_are_in_order_and_the_newest_is_the_default() -> None:
    assert VERSIONS[0] == "documents"
    numbers = [[int(part) for part in version.split(".")] for version in VERSIONS[1:]]
    assert numbers == sorted(numbers)
    assert VERSIONS[-1] == DEFAULT_VERSION


@pytest.mark.parametrize("feature", FEATURES, ids=lambda feature: feature.name)
def test_a_feature_is_dated_by_releases_that_exist_and_says_what_brought_it(
    feature: Feature,
) -> None:
    dates = [feature.since, *feature.also, *([feature.until] if feature.until else [])]
    assert set(dates) <= set(NAMES)
    assert feature.until is None or numbers_of(feature.until) >= numbers_of(feature.since)
    assert feature.label
    assert bool(feature.ended_by) is (feature.until not in (None, "documents"))


def test_feature_names_are_unique() -> None:
    names = [feature.name for feature in FEATURES]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("feature", FEATURES, ids=lambda feature: feature.name)
def test_a_feature_holds_from_its_first_to_its_last_release(feature: Feature) -> None:
    holds = {release for release in RELEASES if PROFILES[release].has(feature.name)}
    first, last = numbers_of(feature.since), numbers_of(feature.until or RELEASES[-1])
    within = [each for each in RELEASES if first <= numbers_of(each)[: len(first)]]
    expected = {each for each in within if numbers_of(each)[: len(last)] <= last}
    assert expected <= holds
    assert bool(holds - expected) is (bool(feature.also) and "documents" not in feature.also)


@pytest.mark.parametrize(
    ("feature", "without", "first"),
    [
        ("fetch_recorded_before_read", "0.8.2", "0.8.1"),
        ("replica_lag_in_messages", "0.9", "0.8.2"),
        ("offline_election_in_isr_order", "0.8.2", "0.8.1"),
        ("consumer_groups", "0.8.2", "0.9"),
        ("rebalance_timeout", "0.10.0.1", "0.10.1.0"),
        ("offsets_topic_needs_replication_factor", "0.10.2", "0.11"),
        ("member_id_required", "2.1", "2.2"),
        ("fetch_from_followers", "2.2", "2.4"),
        ("preferred_read_replica_in_isr", "3.3.1", "3.3.2"),
        ("out_of_range_truncates_fully", "0.9.0.1", "0.9.0.0"),
        ("running_as_controller", "0.8.1", "0.8.2.0"),
        ("running_as_controller", "0.10.1.0", "documents"),
        ("reassignment_needs_live_replicas", "0.10.1.0", "0.10.0.1"),
        ("empty_isr_on_unclean", "1.1.0", "1.0.2"),
        ("producer_state_keeps_five_batches", "0.11.0.3", "1.0.0"),
        ("out_of_range_is_fatal", "2.0.1", "2.0.0"),
        ("caught_up_replicas_hold_high_watermark", "0.10.0", "0.10.2"),
        ("isr_expiration_at_half_lag_time", "0.10.0", "0.10.2"),
        ("leader_epochs", "0.10.2", "0.11"),
        ("epoch_end_offset_has_epoch", "1.1", "2.0.0"),
        ("epoch_assigned_at_election", "2.0.0", "2.0.1"),
        ("isr_expand_needs_epoch_start", "2.0.0", "2.0.1"),
        ("leader_epoch_fencing", "2.0.1", "2.1"),
        ("in_sync_at_log_end", "2.0.1", "2.1"),
        ("controller_multi", "2.0.1", "2.1"),
        ("broker_epochs", "2.1", "2.2"),
        ("offline_replicas_leave_isr_at_failover", "2.2.2", "2.3.0"),
        ("high_watermark_in_log", "2.2", "2.4"),
        ("delayed_fetch_completes_on_high_watermark", "2.6.0", "2.5.1"),
        ("epoch_cache_truncated_at_log_end", "2.6.0", "2.6.1"),
        ("isr_change_notifications", "2.7.0", "2.6.3"),
        ("alter_isr", "2.6.3", "2.7.0"),
        ("truncate_on_fetch", "2.7", "2.8"),
        ("acks_all_by_default", "2.8.2", "3.0.0"),
        ("idempotence_by_default", "3.0.0", "3.0.1"),
        ("idempotence_by_default", "3.1.0", "3.1.1"),
        ("high_watermark_checked_after_alter_partition", "3.0.2", "3.1.0"),
        ("caught_up_at_log_end", "3.2.3", "3.3.0"),
        ("isr_needs_live_replica", "3.2.3", "3.3.0"),
        ("alter_partition_needs_live_replicas", "3.2.3", "3.3.0"),
        ("sticky_partitioner", "3.3.0", "3.2.3"),
        ("kraft_controller_epoch", "3.3.2", "3.4.0"),
        ("high_watermark_ignores_dead_replicas", "3.5.2", "3.6.0"),
        ("high_watermark_needs_min_isr", "3.6.2", "3.7.0"),
    ],
)
def test_the_boundaries_are_where_kafkas_trees_have_them(
    feature: str, without: str, first: str
) -> None:
    assert PROFILES[first].has(feature)
    assert not PROFILES[without].has(feature)


def test_rules_read_features_and_never_version_numbers() -> None:
    numbers = set(NAMES) - {"seed"}  # a policy of assignment has that name too
    found = [
        f"{path.relative_to(ROOT)}:{node.lineno} {node.value}"
        for path in sorted(ROOT.rglob("*.py"))
        if path.relative_to(ROOT).as_posix() not in TABLES and path.parent.name != "features"
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Constant) and node.value in numbers
    ]
    assert found == []


@pytest.mark.parametrize("feature", FEATURES, ids=lambda feature: feature.name)
def test_a_feature_says_which_release_brought_it(feature: Feature) -> None:
    assert Profile.first_with(feature.name) == feature.since


def test_the_table_has_a_part_for_each_subject() -> None:
    assert sum(map(len, (REPLICATION, CONTROLLER, CLIENTS, ZNODES, KRAFT))) == len(FEATURES)


def test_an_unknown_feature_is_a_mistake_and_not_a_no() -> None:
    with pytest.raises(KeyError):
        PROFILES["3.9"].has("no such feature")


def test_a_recommended_version_is_the_latest_patch_of_its_line() -> None:
    releases = {version: PROFILES[version].release for version in VERSIONS}
    assert releases["0.9"] == "0.9.0.1"
    assert releases["0.11"] == "0.11.0.3"
    assert releases["2.0.0"] == "2.0.0"
    assert releases["3.9"] == "3.9.2"


def test_recommended_versions_all_behave_differently() -> None:
    assert len({tuple(PROFILES[version].features.values()) for version in VERSIONS}) == len(
        VERSIONS
    )


def test_a_fix_of_several_lines_is_in_none_between_them() -> None:
    having = [each for each in RELEASES if PROFILES[each].has("idempotence_by_default")]
    assert having[:5] == ["3.0.1", "3.0.2", "3.1.1", "3.1.2", "3.2.0"]


@pytest.mark.parametrize(
    ("version", "expected"),
    [
        ("2.8", ("2.8",)),
        ("2.8.0", ("2.7", "2.8")),
        ("3.8", ("3.5", "3.9")),
        ("3.0", ("2.8", "3.5")),
        ("3.6.1", ("3.5", "3.9")),
        ("documents", ("documents",)),
        ("4.0.1", ("4.0",)),
        ("4.1.0", ("4.0", "4.1")),
        ("4.1", ("4.1",)),
    ],
)
def test_what_to_expect_of_a_release_its_neighbours_tell(
    version: str, expected: tuple[str, ...]
) -> None:
    assert neighbours(version) == expected


def test_a_feature_is_looked_up_by_name_alone() -> None:
    profile = PROFILES["3.6"]
    assert type(profile.features) is dict
    assert all(profile.has(name) is held for name, held in profile.features.items())
