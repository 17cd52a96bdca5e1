"""What each release changed, features and defaults alike, and which releases behave alike."""

from itertools import chain

import pytest

from commands.library.release_changes import (
    CLIENTS,
    CONSUMER_LABELS,
    LABELS,
    Behaviour,
    Change,
    behaviours,
    changes,
)
from emulator.releases.config import consumer_defaults, producer_defaults, resolve
from emulator.releases.config_names import SETTINGS
from emulator.releases.features import FEATURES
from emulator.releases.profiles import PROFILES, VERSIONS
from emulator.releases.versions import RELEASES

PLACES = range(len(behaviours()))


def _all() -> list[Change]:
    return [change for place in PLACES for change in changes(place)]


def test_every_release_behaves_as_one_group_does() -> None:
    assert list(chain(*(each.releases for each in behaviours()))) == ["documents", *RELEASES]


def test_every_recommended_version_is_a_group_by_itself() -> None:
    named = [each.version for each in behaviours() if each.version in VERSIONS]
    assert named == list(VERSIONS)


@pytest.mark.parametrize("behaviour", behaviours(), ids=lambda each: each.version)
def test_releases_that_behave_alike_have_all_in_common(behaviour: Behaviour) -> None:
    first, *others = behaviour.releases
    for other in others:
        assert PROFILES[other].features == PROFILES[first].features
        assert resolve(other, {}) == resolve(first, {})
        assert producer_defaults(other) == producer_defaults(first)
        assert consumer_defaults(other) == consumer_defaults(first)


@pytest.mark.parametrize(
    ("version", "releases"),
    [
        ("0.9", "0.9.0.1"),
        ("2.3", "2.3.0 to 2.3.1"),
        ("2.6.0", "2.6.0"),
        ("3.1.0", "3.1.0"),
        ("3.5", "3.5.0 to 3.5.2"),
        ("3.7.0", "3.7.0"),
        ("3.7", "3.7.1 to 3.7.2"),
        ("3.9", "3.9.0 to 3.9.2"),
        ("4.0", "4.0.0 to 4.0.2"),
        ("4.1.0", "4.1.0"),
        ("4.1", "4.1.1 to 4.1.2"),
        ("4.2", "4.2.0 to 4.2.2"),
        ("4.3", "4.3.0 to 4.3.1"),
        ("4.4", "4.4.0"),
    ],
)
def test_a_group_is_named_and_told_by_its_bounds(version: str, releases: str) -> None:
    assert [str(each) for each in behaviours() if each.version == version] == [releases]


@pytest.mark.parametrize("place", PLACES)
def test_a_group_says_first_who_is_in_it(place: int) -> None:
    behaviour = behaviours()[place]
    first, *others = changes(place)
    assert (first.what, first.meaning) == ("alike", str(behaviour))
    assert {change.releases for change in (first, *others)} == {behaviour.releases}


def test_every_feature_is_said_to_begin_and_to_end() -> None:
    found = {(change.name, change.what) for change in _all()}
    for feature in FEATURES:
        held = [PROFILES[each.version].has(feature.name) for each in behaviours()]
        alone = [
            is_held and True not in (held[max(0, at - 1) : at] + held[at + 1 : at + 2])
            for at, is_held in enumerate(held[:-1])
        ]
        assert ((feature.name, "only") in found) is any(alone)
        is_last = any(
            held[at] and not held[at + 1] and not alone[at] for at in range(len(held) - 1)
        )
        assert ((feature.name, "last") in found) is is_last
        assert (feature.name, "since") in found or any(alone)


@pytest.mark.parametrize(
    ("version", "name", "label", "meaning"),
    [
        ("0.11", "unclean.leader.election.enable", "KIP-106", "false, was true"),
        ("0.8.2", "controlled.shutdown.enable", "KafkaConfig", "true, was false"),
        ("0.10.1", "session.timeout.ms", "KIP-62", "10000, was 30000"),
        ("1.0", "delete.topic.enable", "KIP-162", "true, was false"),
        ("2.1.0", "retries", "KIP-91", "2147483647, was 0"),
        ("2.1.0", "delivery.timeout.ms", "KIP-91", "120000, was none"),
        ("2.5", "replica.lag.time.max.ms", "KIP-537", "30000, was 10000"),
        ("2.5", "zookeeper.session.timeout.ms", "KIP-537", "18000, was 6000"),
        ("3.0.0", "acks", "KIP-679", "all, was 1"),
        ("3.0", "enable.idempotence", "KIP-679", "true, was false"),
        ("3.0.0", "session.timeout.ms", "KIP-735", "45000, was 10000"),
    ],
)
def test_a_default_is_said_to_change_with_its_kip(
    version: str, name: str, label: str, meaning: str
) -> None:
    found = [change for change in _all() if (change.version, change.name) == (version, name)]
    assert [(change.what, change.label, change.meaning) for change in found] == [
        ("default", label, meaning)
    ]


def test_a_configuration_name_is_said_to_end() -> None:
    lag = [change for change in _all() if change.name == "replica.lag.max.messages"]
    assert [(change.version, change.what) for change in lag] == [("0.8.2", "last")]


def test_every_default_of_clients_has_kafkas_name() -> None:
    for defaults in (producer_defaults("3.9"), consumer_defaults("3.9")):
        assert set(defaults.__struct_fields__) <= set(CLIENTS)


def test_every_labelled_name_exists() -> None:
    assert set(LABELS) <= {setting.name for setting in SETTINGS} | set(CLIENTS.values())
    assert set(CONSUMER_LABELS) <= {feature.name for feature in FEATURES}


def test_every_change_says_what_brought_it() -> None:
    assert [change for change in _all() if change.what != "alike" and not change.label] == []
