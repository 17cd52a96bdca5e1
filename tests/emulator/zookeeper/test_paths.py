"""Which znode is whose, by its path; and the one field that an unclean election adds."""

import pytest

from emulator.inputs.statements import CrashBroker, StartBroker
from emulator.zookeeper.data import partition_of, state_in, state_json, state_path, topic_of
from tests.support.lab import Lab


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/brokers/topics/t/partitions/0/state", "t-0"),
        ("/brokers/topics/my-topic/partitions/12/state", "my-topic-12"),
        ("/brokers/topics/t/partitions/012/state", None),
        ("/brokers/topics/t/partitions/x/state", None),
        ("/brokers/topics/t/partitions/state", None),
        ("/brokers/topics/t/x/partitions/0/state", None),
        ("/brokers/topics/t/partitions/0/1/state", None),
        ("/consumers/t/partitions/0/state", None),
    ],
)
def test_a_partition_is_known_by_the_path_of_its_state(path: str, expected: str | None) -> None:
    assert partition_of(path) == expected
    assert expected is None or state_path(expected) == path


def test_a_topic_is_known_by_the_path_of_its_assignment() -> None:
    assert topic_of("/brokers/topics/t") == "t"
    assert topic_of("/brokers/topics") is None
    assert topic_of("/brokers/topics/t/partitions") is None


def test_a_recovering_leader_has_a_field_of_its_own_in_the_place_of_scalas_hash_map() -> None:
    assert state_json(1, 2, [1], 3, 1) == (
        '{"controller_epoch":3,"leader":1,"version":1,"leader_recovery_state":1,'
        '"leader_epoch":2,"isr":[1]}'
    )


@pytest.mark.parametrize(("version", "marked"), [("3.1", False), ("3.9", True)])
def test_an_unclean_election_leaves_its_mark_until_the_isr_changes(
    version: str, *, marked: bool
) -> None:
    """KIP-704: the leader says with its next AlterPartition that it has recovered."""
    config = {"unclean.leader.election.enable": "true"}
    lab = Lab(version, brokers=3, config=config)
    lab.topic(1, 2)
    path = state_path("t-0")
    lab.do(CrashBroker(broker=2))
    lab.wait(40_000)
    lab.do(CrashBroker(broker=1))
    lab.do(StartBroker(broker=2))
    lab.wait(40_000)
    found = state_in(lab.cluster.zookeeper.get(path).data)
    assert found is not None
    assert (found.leader, found.leader_recovery_state) == (2, int(marked))
    lab.do(StartBroker(broker=1))
    lab.wait(40_000)
    found = state_in(lab.cluster.zookeeper.get(path).data)
    assert found is not None
    assert (sorted(found.isr), found.leader_recovery_state) == ([1, 2], 0)
