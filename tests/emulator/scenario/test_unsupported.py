"""What a release cannot do is refused with the release that can; nothing else of it happens."""

import pytest

from emulator.cluster import Cluster
from emulator.inputs.statements import (
    AnyInput,
    BeginTransaction,
    CancelReassignment,
    Consume,
    CreateCluster,
    ElectUnclean,
    HoldMessages,
    Produce,
)
from emulator.releases.config import ConfigError
from emulator.releases.features import FEATURES
from emulator.releases.profiles import PROFILES, VERSIONS
from emulator.scenario.faults import BROUGHT_BY
from emulator.scenario.refusals import RefusedError, needs
from tests.support.lab import TP, Lab


def hold(api: str) -> HoldMessages:
    return HoldMessages(source=0, destination=1, api=api)


CASES: list[tuple[AnyInput, str, str]] = [
    (ElectUnclean(tp=TP), "elect_leaders", "Unclean elections on demand exist since 2.4"),
    (CancelReassignment(tp=TP), "cancel_reassignment", "Reassignments can be cancelled since 2.4"),
    (
        Produce(topic="t", value="a", idempotent=True),
        "idempotence",
        "Idempotent producers exist since 0.11",
    ),
    (Consume(topic="t", rack="a"), "fetch_from_followers", "Consumers name racks since 2.4"),
    (Consume(topic="t", group="g"), "consumer_groups", "Consumer groups exist since 0.9"),
    (
        Consume(topic="t", group="g", assignor="cooperative-sticky"),
        "cooperative_rebalance",
        "",
    ),
    (hold("AlterIsr"), "alter_isr", "AlterIsr exists since 2.7"),
    (hold("AlterPartitionResponse"), "alter_isr", "AlterPartition exists since 2.7"),
    (
        hold("OffsetsForLeaderEpoch"),
        "truncation_by_leader_epoch",
        "OffsetsForLeaderEpoch exists since 0.11",
    ),
    (BeginTransaction(), "idempotence", "Transactions exist since 0.11"),
    (Consume(topic="t", isolation="read_committed"), "idempotence", "Transactions exist since"),
    (hold("InitProducerIdRequest"), "idempotence", "InitProducerId exists since 0.11"),
    (hold("JoinGroup"), "consumer_groups", "JoinGroup exists since 0.9"),
    (hold("OffsetCommitResponse"), "consumer_groups", "OffsetCommit exists since 0.9"),
]
"""Statements, the feature that each needs, and how its refusal begins."""
WITHOUT = [
    pytest.param(wanted, words, version, id=f"{number}-{version}")
    for number, (wanted, feature, words) in enumerate(CASES)
    for version in VERSIONS
    if not PROFILES[version].has(feature)
]


@pytest.mark.parametrize(("wanted", "words", "version"), WITHOUT)
def test_a_statement_that_a_release_cannot_do_names_the_release_that_can(
    wanted: AnyInput, words: str, version: str
) -> None:
    lab = Lab(version, brokers=2)
    lab.topic(0, 1)
    before = len(lab.seen.events)
    outcome = lab.do(wanted)
    assert (outcome.error, outcome.refused) == ("UNSUPPORTED_VERSION", True)
    assert outcome.message.startswith(words)
    assert f"not in {version}" in outcome.message
    kinds = {type(each).__name__ for each in lab.seen.events[before:]}
    assert kinds <= {"InputReceived", "InputFinished", "ExpectationChecked"}


@pytest.mark.parametrize(
    ("wanted", "version"),
    [
        pytest.param(
            wanted, next(v for v in VERSIONS[1:] if PROFILES[v].has(feature)), id=str(number)
        )
        for number, (wanted, feature, _) in enumerate(CASES)
    ],
)
def test_the_release_that_brought_it_does_it(wanted: AnyInput, version: str) -> None:
    lab = Lab(version, brokers=2, config={"offsets.topic.replication.factor": "1"})
    lab.topic(0, 1)
    assert lab.do(wanted).error != "UNSUPPORTED_VERSION"


@pytest.mark.parametrize("version", [v for v in VERSIONS if not PROFILES[v].has("broker_rack")])
def test_a_cluster_with_racks_names_the_release_that_has_them(version: str) -> None:
    with pytest.raises(ConfigError, match=f"have racks since 0.10.0, not in {version}"):
        Cluster(CreateCluster(version=version, brokers=2, racks=["a", "b"]))


def test_every_request_that_came_later_names_a_feature() -> None:
    assert set(BROUGHT_BY.values()) <= {feature.name for feature in FEATURES}


def test_a_refusal_may_say_what_to_do_instead() -> None:
    with pytest.raises(RefusedError, match=r"This exists since 2\.7, not in 1\.1; do that"):
        needs(PROFILES["1.1"], "alter_isr", "This exists", "; do that")
    needs(PROFILES["2.7"], "alter_isr", "This exists")
