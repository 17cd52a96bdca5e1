"""What the actors of a cluster share."""

import pytest

from emulator.inputs import ConfigureBroker, ConfigureTopic
from emulator.world import is_topic_name, split
from tests.emulator.running import do, with_topic


@pytest.mark.parametrize(
    ("tp", "expected"),
    [("orders-0", ("orders", 0)), ("a-b-12", ("a-b", 12)), ("x.y-3", ("x.y", 3))],
)
def test_a_partitions_name_is_split_at_its_last_dash(tp: str, expected: tuple[str, int]) -> None:
    assert split(tp) == expected


@pytest.mark.parametrize(("name", "expected"), [("a.b-c_1", True), ("", False), ("..", False)])
def test_topic_names_are_checked(name: str, *, expected: bool) -> None:
    assert bool(is_topic_name(name)) is expected


def test_a_topic_overrides_its_brokers() -> None:
    cluster, _ = with_topic(1, 2)
    world = cluster.world
    assert world.min_insync_replicas(1, "t") == 1
    do(cluster, ConfigureBroker(broker=1, config={"min.insync.replicas": "3"}))
    assert world.min_insync_replicas(1, "t") == 3
    do(cluster, ConfigureTopic(topic="t", config={"min.insync.replicas": "2"}))
    assert world.min_insync_replicas(1, "t") == 2
    assert world.min_insync_replicas(2, "t") == 2


@pytest.mark.parametrize(("version", "expected"), [("0.10.2", True), ("0.11", False)])
def test_unclean_election_is_on_where_it_was_the_default(version: str, *, expected: bool) -> None:
    cluster, _ = with_topic(1, 2, version=version)
    assert cluster.world.unclean_election(0, "t") is expected


def test_a_cluster_id_has_22_characters_and_comes_from_the_seed() -> None:
    one, _ = with_topic(1, 2)
    other, _ = with_topic(1, 2)
    made = one.world.cluster_id()
    assert len(made) == 22
    assert made == other.world.cluster_id()
