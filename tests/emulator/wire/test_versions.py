"""What each release advertises, against tables that others took from real brokers."""

import json
from pathlib import Path

import pytest
from kafka.protocol.broker_version_data import BROKER_API_VERSIONS

from docs.make_wire_page import UNSERVED
from emulator.releases.versions import NAMES
from emulator.wire.apis import APIS
from emulator.wire.versions import versions_of

FROM_BROKERS = {
    ".".join(map(str, release)): versions
    for release, versions in BROKER_API_VERSIONS.items()
    if (0, 8, 1) <= release <= (4, 2)
}
ADVERTISED = json.loads(Path(__file__).with_name("advertised.json").read_text("utf-8"))
"""What brokers of releases and modes answered ApiVersions 0 with, when asked for this test."""
LIST_TRANSACTIONS = 66
ONLY_KRAFT = {55, 64, 74, 75}
"""DescribeQuorum, DescribeTopicPartitions and others that brokers without ZooKeeper alone have."""
EARLY_SHARE_GROUPS = {76, 77, 78, 79}
"""Requests about share groups, which 4.0 takes as early access, with other versions than 4.1."""


@pytest.mark.parametrize("release", FROM_BROKERS)
def test_versions_are_those_that_kafka_python_found_in_brokers(release: str) -> None:
    expected = {
        key: range(first, last + 1)
        for key, (first, last) in FROM_BROKERS[release].items()
        if key in APIS
    }
    if LIST_TRANSACTIONS in expected:  # patterns of RE2 are not read
        expected[LIST_TRANSACTIONS] = range(min(expected[LIST_TRANSACTIONS].stop, 2))
    release = "4.0.0" if release == "4.0" else release  # 4.0.1 takes more versions of JoinGroup
    assert versions_of(release) == expected


@pytest.mark.parametrize("asked", ADVERTISED)
def test_versions_are_those_of_real_brokers(asked: str) -> None:
    release, mode = asked.split()
    expected = {
        int(key): range(first, min(last, 1 if int(key) == LIST_TRANSACTIONS else last) + 1)
        for key, (first, last) in ADVERTISED[asked].items()
        if int(key) in APIS
    }
    assert versions_of(release, without_zookeeper=mode == "kraft") == expected
    missing = {int(key) for key in ADVERTISED[asked]} - expected.keys()
    unserved = [row for row in UNSERVED if row.is_in(release) and bool(row.until) is (mode == "zk")]
    assert missing == {key for row in unserved for key in row.names}


@pytest.mark.parametrize("release", NAMES)
def test_whatever_is_advertised_can_be_read(release: str) -> None:
    for key, versions in versions_of(release).items():
        assert versions
        assert versions[0] in APIS[key].versions
        assert versions[-1] in APIS[key].versions


def test_a_patch_release_has_the_versions_of_its_line() -> None:
    assert versions_of("2.8.2") == versions_of("2.8.0") == versions_of("2.8")
    assert versions_of("0.10.2") != versions_of("0.10.1.1")


def test_the_documents_are_as_old_as_the_first_release() -> None:
    assert versions_of("documents") == versions_of("seed") == versions_of("0.8.1")


def test_brokers_without_zookeeper_tell_more() -> None:
    more = versions_of("3.9", without_zookeeper=True).keys() - versions_of("3.9").keys()
    assert more == ONLY_KRAFT
    assert versions_of("4.1").keys() >= ONLY_KRAFT
