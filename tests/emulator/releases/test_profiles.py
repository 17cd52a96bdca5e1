"""The table of features: which release does what, at its boundaries."""

import ast
from pathlib import Path

import pytest

from emulator.releases.features import FEATURES
from emulator.releases.features.base import Feature
from emulator.releases.features.clients import CLIENTS
from emulator.releases.features.controller import CONTROLLER
from emulator.releases.features.replication import REPLICATION
from emulator.releases.features.znodes import ZNODES
from emulator.releases.profiles import DEFAULT_VERSION, PROFILES, VERSIONS, Profile

ROOT = Path(__file__).parents[3] / "emulator"
TABLES = {"releases/profiles.py", "releases/config_names.py", "inputs/statements.py"}
"""Where releases are listed, or one is the default."""


def test_the_releases_are_in_order_and_the_newest_is_the_default() -> None:
    assert VERSIONS[0] == "seed"
    numbers = [[int(part) for part in version.split(".")] for version in VERSIONS[1:]]
    assert numbers == sorted(numbers)
    assert VERSIONS[-1] == DEFAULT_VERSION


def test_every_feature_names_releases_that_exist() -> None:
    for feature in FEATURES:
        assert feature.since in VERSIONS
        assert feature.until is None or VERSIONS.index(feature.until) >= VERSIONS.index(
            feature.since
        )


def test_feature_names_are_unique() -> None:
    names = [feature.name for feature in FEATURES]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("feature", FEATURES, ids=lambda feature: feature.name)
def test_a_feature_holds_from_its_first_to_its_last_release(feature: Feature) -> None:
    first = VERSIONS.index(feature.since)
    last = len(VERSIONS) - 1 if feature.until is None else VERSIONS.index(feature.until)
    holds = [PROFILES[version].has(feature.name) for version in VERSIONS]
    assert holds == [first <= index <= last for index in range(len(VERSIONS))]


@pytest.mark.parametrize(
    ("feature", "without", "first"),
    [
        ("fetch_recorded_before_read", "0.8.2", "0.8.1"),
        ("replica_lag_in_messages", "0.9", "0.8.2"),
        ("offline_election_in_isr_order", "0.8.2", "0.8.1"),
        ("consumer_groups", "0.8.2", "0.9"),
        ("rebalance_timeout", "0.10.0", "0.10.2"),
        ("offsets_topic_needs_replication_factor", "0.10.2", "0.11"),
        ("member_id_required", "2.1", "2.2"),
        ("fetch_from_followers", "2.2", "2.4"),
        ("preferred_read_replica_in_isr", "2.8", "3.5"),
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
        ("offline_replicas_leave_isr_at_failover", "2.2", "2.4"),
        ("high_watermark_in_log", "2.2", "2.4"),
        ("delayed_fetch_completes_on_high_watermark", "2.7", "2.5"),
        ("alter_isr", "2.5", "2.7"),
        ("truncate_on_fetch", "2.7", "2.8"),
        ("isr_answer_rechecks_hw", "2.8", "3.5"),
        ("acks_all_by_default", "2.8", "3.5"),
        ("high_watermark_needs_min_isr", "3.5", "3.9"),
    ],
)
def test_the_boundaries_are_where_kafkas_trees_have_them(
    feature: str, without: str, first: str
) -> None:
    assert PROFILES[first].has(feature)
    assert not PROFILES[without].has(feature)


def test_rules_read_features_and_never_version_numbers() -> None:
    numbers = set(VERSIONS) - {"seed"}  # a policy of assignment has that name too
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
    assert len(REPLICATION) + len(CONTROLLER) + len(CLIENTS) + len(ZNODES) == len(FEATURES)


def test_an_unknown_feature_is_a_mistake_and_not_a_no() -> None:
    with pytest.raises(KeyError):
        PROFILES["3.9"].has("no such feature")
