"""What each release changed, features and defaults alike."""

import pytest

from commands.changes import CLIENTS, LABELS, Change, changes
from emulator.releases.config import consumer_defaults, producer_defaults
from emulator.releases.config_names import SETTINGS
from emulator.releases.features import FEATURES
from emulator.releases.profiles import VERSIONS


def _all() -> list[Change]:
    return [change for version in VERSIONS for change in changes(version)]


@pytest.mark.parametrize("version", VERSIONS)
def test_every_release_changed_something(version: str) -> None:
    assert list(changes(version))


def test_every_feature_is_said_to_begin_and_to_end() -> None:
    found = {(change.name, change.what, change.version) for change in _all()}
    for feature in FEATURES:
        if feature.since == feature.until:
            assert (feature.name, "only", feature.since) in found
            continue
        assert (feature.name, "since", feature.since) in found
        assert feature.until is None or (feature.name, "last", feature.until) in found


@pytest.mark.parametrize(
    ("version", "name", "label", "meaning"),
    [
        ("0.11", "unclean.leader.election.enable", "KIP-106", "false, was true"),
        ("2.1", "retries", "KIP-91", "2147483647, was 0"),
        ("2.1", "delivery.timeout.ms", "KIP-91", "120000, was none"),
        ("2.5", "replica.lag.time.max.ms", "KIP-537", "30000, was 10000"),
        ("2.5", "zookeeper.session.timeout.ms", "KIP-537", "18000, was 6000"),
        ("3.5", "acks", "KIP-679", "all, was 1"),
        ("3.5", "enable.idempotence", "KIP-679", "true, was false"),
        ("3.5", "session.timeout.ms", "KIP-735", "45000, was 10000"),
    ],
)
def test_a_default_is_said_to_change_with_its_kip(
    version: str, name: str, label: str, meaning: str
) -> None:
    assert Change(version, "default", name, label, meaning) in list(changes(version))


def test_a_configuration_name_is_said_to_end() -> None:
    lag = [change for change in _all() if change.name == "replica.lag.max.messages"]
    assert [(change.version, change.what) for change in lag] == [("0.8.2", "last")]


def test_every_default_of_clients_has_kafkas_name() -> None:
    for defaults in (producer_defaults("3.9"), consumer_defaults("3.9")):
        assert set(defaults.__struct_fields__) <= set(CLIENTS)


def test_every_labelled_name_exists() -> None:
    assert set(LABELS) <= {setting.name for setting in SETTINGS} | set(CLIENTS.values())
