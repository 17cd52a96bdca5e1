"""Configuration names, values and defaults."""

import re
from pathlib import Path

import pytest

from emulator.releases.config import (
    ConfigError,
    check_rebalance_protocols,
    check_topic_config,
    check_without_effect,
    consumer_defaults,
    is_kraft,
    preview_of,
    producer_defaults,
    profile_of,
    resolve,
    validate,
    without_effect,
)
from emulator.releases.config_names import (
    INT_MAX,
    PRODUCERS,
    SETTINGS,
    WITHOUT_EFFECT,
    BrokerConfig,
)
from emulator.releases.profiles import PROFILES, VERSIONS


def test_every_attribute_has_its_setting() -> None:
    assert [setting.attribute for setting in SETTINGS] == list(BrokerConfig.__struct_fields__)


def test_no_name_stands_in_two_tables() -> None:
    names = [*(setting.name for setting in SETTINGS), *WITHOUT_EFFECT, *PRODUCERS]
    assert len(set(names)) == len(names)


def test_every_default_is_within_its_own_range() -> None:
    for setting in SETTINGS:
        for _, value in setting.defaults:
            assert setting.minimum <= value <= setting.maximum


@pytest.mark.parametrize("version", VERSIONS)
def test_every_version_has_defaults(version: str) -> None:
    config = resolve(version, {})
    assert config.min_insync_replicas == 1
    assert config.replica_fetch_wait_max_us == 500_000


@pytest.mark.parametrize(
    ("attribute", "before", "old", "since", "new"),
    [
        ("replica_lag_time_max_us", "2.4", 10_000_000, "2.5", 30_000_000),
        ("zookeeper_session_timeout_us", "2.4", 6_000_000, "2.5", 18_000_000),
        ("unclean_leader_election_enable", "0.10.2", True, "0.11", False),
        ("delete_topic_enable", "0.11", False, "1.1", True),
        ("delete_topic_enable", "0.11.0.3", False, "1.0.0", True),
        ("auto_leader_rebalance_enable", "0.8.1", False, "0.8.2", True),
        ("controlled_shutdown_enable", "0.8.1.1", False, "0.8.2.0", True),
        ("message_max_bytes", "2.4", 1_000_012, "2.5", 1_048_588),
        ("offsets_retention_us", "1.1", 86_400_000_000, "2.0", 604_800_000_000),
        ("group_initial_rebalance_delay_us", "0.10.2", 0, "0.11", 3_000_000),
    ],
)
def test_a_default_changed_with_a_release(
    attribute: str, before: str, old: int, since: str, new: int
) -> None:
    assert getattr(resolve(before, {}), attribute) == old
    assert getattr(resolve(since, {}), attribute) == new


def test_overrides_go_before_defaults_in_microseconds() -> None:
    config = resolve(
        "3.9",
        {
            "replica.lag.time.max.ms": "15000",
            "leader.imbalance.check.interval.seconds": "2",
            "auto.leader.rebalance.enable": "FALSE",
            "min.insync.replicas": "",
        },
    )
    assert config.replica_lag_time_max_us == 15_000_000
    assert config.leader_imbalance_check_interval_us == 2_000_000
    assert config.auto_leader_rebalance_enable is False
    assert config.min_insync_replicas == 1


def test_a_value_is_parsed_in_its_own_unit() -> None:
    assert validate("replica.lag.time.max.ms", "250", "3.9") == 250
    assert validate("delete.topic.enable", "true", "3.9") is True


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("min.insync.replica", "2", "nearest is 'min.insync.replicas'"),
        ("min.insync.replicas", "0", "1 or more, not 0"),
        ("min.insync.replicas", "two", "an integer, not 'two'"),
        ("controlled.shutdown.max.retries", str(INT_MAX + 1), f"{INT_MAX} or less"),
        ("delete.topic.enable", "yes", "true or false, not 'yes'"),
        ("num.io.thread", "3", "nearest is 'num.io.threads'"),
        ("num.io.threads", "many", "must be a number, not 'many'"),
        ("log.retention.hours", "long", "an integer, not 'long'"),
        ("log.cleaner.enable", "yes", "true or false, not 'yes'"),
        ("acks", "all", "give it to produce"),
        ("group.coordinator.new.enable", "true", "protocols=classic,consumer turns the preview"),
        ("replica.lag.max.messages", "10", "0.8.2 was the last version"),
    ],
)
def test_what_is_wrong_is_said_with_what_would_be_right(name: str, value: str, words: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(words)):
        resolve("3.9", {name: value})


@pytest.mark.parametrize(
    ("version", "in_kraft_mode", "words"),
    [
        ("3.7", False, "give --mode kraft"),
        ("3.7", True, ""),
        ("3.9", False, "give --mode kraft"),
        ("3.9", True, ""),
        ("4.0", True, ""),
    ],
)
def test_the_preview_of_the_consumer_protocol_needs_kraft(
    version: str, in_kraft_mode: bool, words: str
) -> None:
    config = {"group.coordinator.rebalance.protocols": "classic,consumer"}
    assert resolve(version, config).group_rebalance_protocols == 1
    if not words:
        check_rebalance_protocols(config, version, in_kraft_mode=in_kraft_mode)
        return
    with pytest.raises(ConfigError, match=words):
        check_rebalance_protocols(config, version, in_kraft_mode=in_kraft_mode)
    check_rebalance_protocols({}, version, in_kraft_mode=in_kraft_mode)


EARLY_ACCESS = {"unstable.api.versions.enable": "true"}
SHARE = {"group.coordinator.rebalance.protocols": "classic,consumer,share"}


@pytest.mark.parametrize(
    ("config", "is_on"),
    [
        ({}, False),
        (EARLY_ACCESS, False),
        (SHARE, False),
        (EARLY_ACCESS | SHARE, True),
        (EARLY_ACCESS | {"group.share.enable": "true"}, True),
    ],
)
def test_early_access_to_share_groups_needs_unstable_requests(
    config: dict[str, str], is_on: bool
) -> None:
    resolve("4.0", config)
    profile = preview_of(config, PROFILES["4.0"])
    assert (profile is not None and profile.has("share_groups")) == is_on
    assert preview_of(config, PROFILES["4.1"]) is None


@pytest.mark.parametrize("version", ["3.9", "4.1"])
@pytest.mark.parametrize("name", ["group.share.enable", "unstable.api.versions.enable"])
def test_what_turns_early_access_on_is_refused_in_other_releases(version: str, name: str) -> None:
    with pytest.raises(ConfigError, match=r"cannot be set: .*4\.0"):
        resolve(version, {name: "true"})


def test_a_removed_name_still_holds_in_its_own_releases() -> None:
    config = resolve("0.8.2", {"replica.lag.max.messages": "10"})
    assert config.replica_lag_max_messages == 10


def test_a_fetch_may_not_wait_longer_than_the_follower_does() -> None:
    with pytest.raises(ConfigError, match=r"replica\.socket\.timeout\.ms \(30000\)"):
        resolve("3.9", {"replica.fetch.wait.max.ms": "30001"})
    with pytest.raises(ConfigError, match=r"replica\.lag\.time\.max\.ms \(400\)"):
        resolve("3.9", {"replica.lag.time.max.ms": "400"})


@pytest.mark.parametrize(
    ("version", "nearest"),
    [
        ("3.10", "3.9.2"),
        ("0.10.3", "0.10.2.2"),
        ("2.4.2", "2.4.1"),
        ("0.7", "0.8.1"),
        ("sead", "seed"),
    ],
)
def test_an_unknown_version_is_refused_with_the_nearest(version: str, nearest: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(repr(nearest))):
        profile_of(version)


@pytest.mark.parametrize(
    ("version", "mode", "expected"),
    [
        ("3.9", "", False),
        ("3.9", "zk", False),
        ("3.9", "kraft", True),
        ("3.3", "kraft", True),
        ("4.0", "", True),
        ("4.1.2", "kraft", True),
    ],
)
def test_a_release_has_a_mode_and_some_have_two(version: str, mode: str, expected: bool) -> None:
    assert is_kraft(version, mode) is expected


@pytest.mark.parametrize(
    ("version", "mode", "words"),
    [("4.0", "zk", "3.9 was the last"), ("3.2", "kraft", "since 3.3, not in 3.2")],
)
def test_a_mode_that_a_release_does_not_have_is_refused(
    version: str, mode: str, words: str
) -> None:
    with pytest.raises(ConfigError, match=words):
        is_kraft(version, mode)


def test_topics_take_their_own_names_in_kafkas_spelling() -> None:
    checked = check_topic_config(
        {"min.insync.replicas": " 2", "unclean.leader.election.enable": "True"}
    )
    assert checked == {"min.insync.replicas": "2", "unclean.leader.election.enable": "true"}


def test_topics_take_what_has_no_effect_here_if_a_broker_would() -> None:
    config = {"cleanup.policy": "compact", "compression.type": "lz4", "retention.ms": "1000"}
    assert check_topic_config(config, "2.8.2") == config
    assert check_topic_config({"cleanup.policy": ""}) == {"cleanup.policy": ""}
    with pytest.raises(ConfigError, match="must be one of uncompressed, zstd"):
        check_topic_config({"compression.type": "lz5"})


def test_an_empty_topic_value_stays_empty() -> None:
    assert check_topic_config({"min.insync.replicas": ""}) == {"min.insync.replicas": ""}


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("delete.topic.enable", "belongs to brokers"),
        ("min.isr", "nearest is 'min.insync.replicas'"),
    ],
)
def test_a_topic_refuses_what_it_does_not_have(name: str, words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        check_topic_config({name: "true"})


def test_producers_became_strict_in_two_steps() -> None:
    first, retrying, strict = (producer_defaults(version) for version in ("2.0.1", "2.1", "3.2"))
    assert (first.acks, first.retries, first.delivery_timeout_us) == (1, 0, None)
    assert (retrying.acks, retrying.retries) == (1, INT_MAX)
    assert (strict.acks, strict.enable_idempotence) == (-1, True)


@pytest.mark.parametrize("version", ["3.0.0", "3.1.0"])
def test_idempotence_was_at_first_left_off_by_mistake(version: str) -> None:
    defaults = producer_defaults(version)
    assert (defaults.acks, defaults.enable_idempotence) == (-1, False)


SCRIPTS = sorted((Path(__file__).parents[2] / "golden").glob("**/*.tide"))


@pytest.mark.parametrize("script", SCRIPTS, ids=[script.stem for script in SCRIPTS])
def test_the_recorded_scripts_use_names_that_exist(script: Path) -> None:
    cluster, _, _ = script.read_text("utf-8").partition("\ntopic create")
    pairs = re.findall(r"--config (\S+)=(\S+)", cluster)
    resolve("3.9", dict(pairs))


@pytest.mark.parametrize(
    ("version", "session_us", "rebalance_us"),
    [
        ("0.9", 30_000_000, 30_000_000),
        ("0.10.0", 30_000_000, 30_000_000),
        ("0.10.2", 10_000_000, 300_000_000),
        ("0.10.1.0", 10_000_000, 300_000_000),
        ("2.8", 10_000_000, 300_000_000),
        ("3.0", 45_000_000, 300_000_000),
    ],
)
def test_a_group_member_waits_as_its_release_does(
    version: str, session_us: int, rebalance_us: int
) -> None:
    defaults = consumer_defaults(version)
    assert defaults.session_timeout_us == session_us
    assert defaults.rebalance_timeout_us == rebalance_us


@pytest.mark.parametrize(
    ("text", "rack_aware"),
    [
        ("RackAwareReplicaSelector", True),
        ("org.apache.kafka.common.replica.RackAwareReplicaSelector", True),
        ("org.apache.kafka.common.replica.LeaderSelector", False),
    ],
)
def test_a_replica_selector_is_named_with_or_without_its_package(
    text: str, *, rack_aware: bool
) -> None:
    assert resolve("3.9", {"replica.selector.class": text}).rack_aware_reads is rack_aware


def test_an_unknown_replica_selector_names_the_nearest() -> None:
    with pytest.raises(ConfigError, match="the nearest is 'RackAwareReplicaSelector'"):
        resolve("3.9", {"replica.selector.class": "RackReplicaSelector"})


def test_a_name_that_came_later_says_since_when_it_exists() -> None:
    with pytest.raises(ConfigError, match=r"does not exist in 2\.2: 2\.4 was the first"):
        resolve("2.2", {"replica.selector.class": "LeaderSelector"})


@pytest.mark.parametrize(
    ("name", "right", "wrong"),
    [
        ("local.retention.ms", ("-2", "60000"), ("soon", "-3", "1.5", "")),
        ("cleanup.policy", ("compact", "compact, delete"), ("keep",)),
        ("min.cleanable.dirty.ratio", ("0.5", "1"), ("half",)),
        ("preallocate", ("true",), ("yes",)),
        ("message.format.version", ("0.10.2-IV0", "whatever"), ()),
        ("min.insync.replicas", ("not checked here",), ()),
    ],
)
def test_values_without_effect_are_checked_as_brokers_do(
    name: str, right: tuple[str, ...], wrong: tuple[str, ...]
) -> None:
    for value in right:
        check_without_effect(name, value)
    for value in wrong:
        with pytest.raises(ConfigError, match=name):
            check_without_effect(name, value)


def test_a_broker_takes_all_that_its_release_has_and_says_what_changes_nothing() -> None:
    names = {"num.io.threads": "16", "log.dirs": "/data", "num.replica.fetchers": "3"}
    assert resolve("3.9", names) == resolve("3.9", {})
    assert without_effect([*names, "min.insync.replicas", "log.retention.hours"], "3.9") == {
        "num.io.threads": "",
        "log.dirs": "",
        "num.replica.fetchers": "a broker has one fetcher for each leader",
    }
    assert without_effect(["num.io.threads"], "0.8.2") == {"num.io.threads": ""}


@pytest.mark.parametrize(
    ("values", "hours"),
    [
        ({"log.retention.hours": "5"}, 5),
        ({"log.retention.hours": "5", "log.retention.minutes": "120"}, 2),
        ({"log.retention.hours": "5", "log.retention.ms": "3600000"}, 1),
    ],
)
def test_the_finest_unit_holds(values: dict[str, str], hours: int) -> None:
    assert resolve("3.9", values).log_retention_us == hours * 3_600_000_000
    assert resolve("3.9", {"log.retention.hours": "-1"}).log_retention_us < 0


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("range, uniform", "range,uniform"),
        ("org.apache.kafka.coordinator.group.assignor.RangeAssignor", "range"),
    ],
)
def test_assignors_are_named_or_given_by_class(text: str, same: str) -> None:
    name = "group.consumer.assignors"
    assert resolve("4.1", {name: text}) == resolve("4.1", {name: same})
    assert resolve("4.1", {name: text}) != resolve("4.1", {})


def test_assignors_that_cannot_run_here_are_refused() -> None:
    told = "group.consumer.assignors lists uniform and range, the default first, not 'x.Mine'."
    with pytest.raises(ConfigError, match=re.escape(told)):
        resolve("4.1", {"group.consumer.assignors": "x.Mine"})
