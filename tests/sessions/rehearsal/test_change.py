from collections.abc import Sequence

import pytest
from msgspec.structs import replace

from emulator.cluster_image.assumptions import complete
from emulator.cluster_image.image import (
    Broker,
    ClusterImage,
    Mode,
    Partition,
    ReplicaLog,
    Topic,
)
from emulator.inputs.statements import CreateCluster
from sessions.rehearsal.cases import CaseError
from sessions.rehearsal.change import Change, Plan, generated_plan, preview, with_broker
from sessions.rehearsal.runs import Rehearsal

BROKERS = tuple(Broker(number, rack, up=True) for number, rack in enumerate("abca", start=1))
LOGS = tuple(ReplicaLog(broker, size=5_000, end=100) for broker in (1, 2, 3))


def fleet(mode: Mode, release: str) -> ClusterImage:
    partitions = (
        Partition(0, (1, 2, 3), 1, (1, 2, 3), log_end=100, logs=LOGS),
        Partition(1, (2, 3, 1), 2, (2, 3, 1), log_end=100, logs=LOGS),
    )
    topics = (
        Topic("orders", configs={}, partitions=partitions),
        Topic("small", configs={}, partitions=(Partition(0, (4,), 4, (4,)),)),
    )
    return complete(ClusterImage(release, mode, brokers=BROKERS, topics=topics)).image


def previewed(image: ClusterImage, plan: Plan, settings: Sequence[tuple[str, str]] = ()) -> Change:
    spec = CreateCluster(version=image.release or "", mode=image.mode or "", image=image)
    return preview(Rehearsal(spec, image), plan, settings)


@pytest.mark.parametrize(
    ("mode", "release"), [("zk", "1.1"), ("zk", "3.9"), ("kraft", "4.1")], ids=str
)
def test_replicas_move_to_where_the_plan_says(mode: Mode, release: str) -> None:
    plan: Plan = {"orders-0": (4, 2, 3), "orders-1": (2, 3, 4)}
    change = previewed(fleet(mode, release), plan)
    assert change.unfinished == []
    assert change.moved_bytes == {4: 10_000}
    assert change.leaders_moved == ["orders-0"]
    assert change.unwritable == {}
    of_orders = [step for step in change.steps if step.tp == "orders-0"]
    assert all(step.writable for step in of_orders)
    first, last = of_orders[0], of_orders[-1]
    assert (first.leader, set(first.isr), set(first.replicas)) == (1, {1, 2, 3}, {1, 2, 3, 4})
    assert (last.leader, set(last.isr), last.replicas) == (4, {2, 3, 4}, (4, 2, 3))
    assert [step.seconds for step in of_orders] == sorted(step.seconds for step in of_orders)
    [orders, small] = change.after.topics
    assert [partition.replicas for partition in orders.partitions] == [(4, 2, 3), (2, 3, 4)]
    assert [sorted(partition.isr or ()) for partition in orders.partitions] == [[2, 3, 4]] * 2
    assert small.partitions[0].replicas == (4,)
    again = previewed(change.after, {})
    assert again.after.topics[0].partitions[0].leader == orders.partitions[0].leader


@pytest.mark.parametrize(
    ("mode", "release"), [("zk", "1.1"), ("zk", "3.9"), ("kraft", "4.1")], ids=str
)
def test_configurations_are_set_while_the_cluster_runs(mode: Mode, release: str) -> None:
    settings = [("topic:orders:min.insync.replicas", "4"), ("broker:1:log.dirs", "/elsewhere")]
    change = previewed(fleet(mode, release), {}, settings)
    assert change.still_unwritable == ["orders-0", "orders-1"]
    assert change.unwritable.keys() == {"orders-0", "orders-1"}
    assert change.needs_restart == ["broker:1:log.dirs"]
    assert change.after.topics[0].configs == {"min.insync.replicas": "4"}
    everywhere = previewed(fleet(mode, release), {}, [("min.insync.replicas", "2")])
    assert everywhere.still_unwritable == ["small-0"]
    with pytest.raises(CaseError, match="There is no topic 'order'"):
        previewed(fleet(mode, release), {}, [("topic:order:min.insync.replicas", "2")])


def test_a_broker_that_does_not_run_takes_its_configuration_up_when_it_starts() -> None:
    down = (*BROKERS[:3], Broker(4, "a", up=False))
    image = complete(replace(fleet("kraft", "4.1"), brokers=down)).image
    change = previewed(image, {}, [("broker:4:min.insync.replicas", "2")])
    assert change.needs_restart == ["broker:4:min.insync.replicas"]


def test_an_unclean_election_is_a_step_of_the_setting_that_allows_it() -> None:
    down = (*BROKERS[:3], Broker(4, "a", up=False))
    topic = Topic("t", configs={}, partitions=(Partition(0, (4, 1), -1, (4,)),))
    image = complete(ClusterImage("3.9", "zk", brokers=down, topics=(topic,))).image
    change = previewed(image, {}, [("topic:t:unclean.leader.election.enable", "true")])
    [step] = change.steps
    assert (step.tp, step.leader, step.isr, step.writable) == ("t-0", 1, (1,), True)


def test_a_generated_plan_leaves_nothing_on_brokers_that_leave() -> None:
    image = fleet("kraft", "4.1")
    plan = generated_plan(image, [1], seed=1)
    assert plan.keys() == {"orders-0", "orders-1"}
    assert all(sorted(replicas) == [2, 3, 4] for replicas in plan.values())
    with pytest.raises(CaseError, match="There is no broker 9; the brokers are 1, 2, 3, 4"):
        generated_plan(image, [9], seed=1)
    with pytest.raises(CaseError, match="Topic orders"):
        generated_plan(image, [1, 2], seed=1)


def test_an_added_broker_is_up_and_has_no_replicas() -> None:
    image = with_broker(fleet("zk", "3.9"), 7, "b")
    added = image.broker(7)
    assert added is not None
    assert (added.rack, added.up) == ("b", True)
    change = previewed(complete(image).image, {"small-0": (7,)})
    assert change.after.topics[1].partitions[0].leader == 7
    with pytest.raises(CaseError, match="There is a broker 1 already"):
        with_broker(image, 1, "b")


@pytest.mark.parametrize(
    ("plan", "message"),
    [
        ({"none-0": (1,)}, "moves none-0, which does not exist"),
        ({"small-0": (9,)}, "moves small-0 to broker 9, which does not exist"),
    ],
)
def test_a_plan_names_what_exists(plan: Plan, message: str) -> None:
    with pytest.raises(CaseError, match=message):
        previewed(fleet("zk", "3.9"), plan)
