"""What the actors of a cluster share."""

import pytest

from emulator.cluster import Cluster
from emulator.common.names import is_topic_name, random_uuid, split
from emulator.events import ZOOKEEPER
from emulator.inputs.statements import (
    ConfigureBroker,
    ConfigureTopic,
    CrashBroker,
    CutLink,
    HealLinks,
    StartBroker,
    Wait,
    ZkCommand,
)
from tests.support.running import do, with_topic

MIN_ISR = "min.insync.replicas"
UNCLEAN = "unclean.leader.election.enable"
OWN = "/config/brokers/1"


SOON = Wait(duration_us=10_000)
"""Long enough for notifications to arrive."""


def min_isr(cluster: Cluster, broker: int) -> int:
    """min.insync.replicas of the topic t, as a broker goes by it."""
    return cluster.brokers[broker].context.min_insync_replicas("t")


def told(entity: str) -> ZkCommand:
    """The notification that a configuration was changed."""
    data = f'{{"version":2,"entity_path":"{entity}"}}'
    path = "/config/changes/config_change_"
    return ZkCommand(command="create", path=path, data=data, sequential=True)


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
    assert min_isr(cluster, 1) == 1
    do(cluster, ConfigureBroker(broker=1, config={"min.insync.replicas": "3"}), SOON)
    assert min_isr(cluster, 1) == 3
    do(cluster, ConfigureTopic(topic="t", config={"min.insync.replicas": "2"}), SOON)
    assert (min_isr(cluster, 1), min_isr(cluster, 2)) == (2, 2)


def test_a_change_counts_for_a_broker_when_its_notification_has_reached_it() -> None:
    cluster, _ = with_topic(1, 2)
    do(cluster, ConfigureTopic(topic="t", config={MIN_ISR: "2"}))
    assert (min_isr(cluster, 1), min_isr(cluster, 2)) == (1, 1)
    do(cluster, SOON)
    assert (min_isr(cluster, 1), min_isr(cluster, 2)) == (2, 2)


def test_a_broker_that_is_cut_off_from_zookeeper_goes_by_what_it_has_read() -> None:
    cluster, _ = with_topic(1, 2)
    do(cluster, CutLink(source=1, destination=ZOOKEEPER))
    do(cluster, ConfigureTopic(topic="t", config={MIN_ISR: "2"}), Wait(duration_us=2_000_000))
    assert (min_isr(cluster, 1), min_isr(cluster, 2)) == (1, 2)
    do(cluster, HealLinks(), Wait(duration_us=2_000_000))
    assert min_isr(cluster, 1) == 2


def test_a_broker_that_starts_reads_what_it_has_missed() -> None:
    cluster, _ = with_topic(1, 2)
    do(cluster, CrashBroker(broker=1))
    do(cluster, ConfigureTopic(topic="t", config={MIN_ISR: "2"}), SOON)
    do(cluster, StartBroker(broker=1))
    assert min_isr(cluster, 1) == 2


def test_values_that_make_no_sense_leave_a_topic_as_it_was() -> None:
    cluster, _ = with_topic(1, 2)
    do(cluster, ConfigureTopic(topic="t", config={MIN_ISR: "2"}), SOON)
    data = f'{{"version":1,"config":{{"{MIN_ISR}":"many"}}}}'
    do(cluster, ZkCommand(command="set", path="/config/topics/t", data=data))
    do(cluster, told("topics/t"), SOON)
    assert min_isr(cluster, 1) == 2


@pytest.mark.parametrize(("version", "expected"), [("0.10.2", True), ("0.11", False)])
def test_unclean_election_is_on_where_it_was_the_default(version: str, *, expected: bool) -> None:
    cluster, _ = with_topic(1, 2, version=version)
    assert cluster.brokers[0].context.unclean_election("t") is expected


def test_a_cluster_id_has_22_characters_and_comes_from_the_seed() -> None:
    one, _ = with_topic(1, 2)
    other, _ = with_topic(1, 2)
    made = random_uuid(one.kernel.random_below)
    assert len(made) == 22
    assert made == random_uuid(other.kernel.random_below)


@pytest.mark.parametrize("version", ["1.1", "3.9"])
def test_a_brokers_own_values_stand_in_its_znode(version: str) -> None:
    cluster, _ = with_topic(1, 2, version=version)
    do(cluster, ConfigureBroker(broker=1, config={MIN_ISR: "3", UNCLEAN: "true"}))
    do(cluster, ConfigureBroker(broker=1, config={UNCLEAN: ""}))
    assert cluster.zookeeper.get(OWN).data == f'{{"version":1,"config":{{"{MIN_ISR}":"3"}}}}'
    changes = [
        cluster.zookeeper.get(f"/config/changes/{name}").data
        for name in cluster.zookeeper.names("/config/changes")
    ]
    assert changes == ['{"version":2,"entity_path":"brokers/1"}'] * 2


def test_before_1_1_a_brokers_values_are_in_no_znode() -> None:
    cluster, _ = with_topic(1, 2, version="0.11")
    do(cluster, ConfigureBroker(broker=1, config={MIN_ISR: "3"}))
    assert min_isr(cluster, 1) == 3
    assert cluster.zookeeper.find("/config/brokers") is None
    assert cluster.zookeeper.names("/config/changes") == []
    do(cluster, ZkCommand(command="create", path="/config/brokers", data=""))
    do(cluster, ZkCommand(command="create", path=OWN, data=f'{{"config":{{"{MIN_ISR}":"2"}}}}'))
    do(cluster, told("brokers/1"), SOON)
    assert min_isr(cluster, 1) == 3


def test_what_an_outsider_writes_of_a_broker_is_taken_if_it_makes_sense() -> None:
    cluster, _ = with_topic(1, 2)
    data = f'{{"version":1,"config":{{"{MIN_ISR}":"2"}}}}'
    for path, written in (
        (OWN, data),
        ("/config/brokers/<default>", data.replace("2", "9")),
        ("/config/brokers/nobody", data),
        ("/config/brokers/00", data),
        (f"{OWN}-0", data),
    ):
        do(cluster, ZkCommand(command="create", path=path, data=written))
        do(cluster, told(path.removeprefix("/config/")), SOON)
    for nonsense in ("no json", data.replace('"2"', '"two"'), '{"config":7}'):
        do(cluster, ZkCommand(command="set", path=OWN, data=nonsense))
        do(cluster, told("brokers/1"), SOON)
        assert min_isr(cluster, 1) == 2
    assert min_isr(cluster, 0) == 9
    do(cluster, ZkCommand(command="delete", path=OWN))
    assert min_isr(cluster, 1) == 2
    do(cluster, told("brokers/1"), SOON)
    assert min_isr(cluster, 1) == 9


@pytest.mark.parametrize(("version", "stays"), [("1.1", True), ("2.2", True), ("2.5", False)])
def test_a_removed_value_stays_until_a_restart_in_old_releases(
    version: str, *, stays: bool
) -> None:
    cluster, _ = with_topic(1, 2, version=version)
    do(cluster, ConfigureBroker(broker=1, config={MIN_ISR: "2"}))
    do(cluster, SOON, ConfigureBroker(broker=1, config={MIN_ISR: ""}), SOON)
    assert min_isr(cluster, 1) == (2 if stays else 1)
    do(cluster, ConfigureBroker(broker=1, config={UNCLEAN: "true"}))
    assert MIN_ISR not in (cluster.zookeeper.get(OWN).data or "")
    do(cluster, CrashBroker(broker=1))
    do(cluster, StartBroker(broker=1))
    assert min_isr(cluster, 1) == 1
    assert cluster.brokers[1].context.unclean_election("t")
