from typing import Any

import pytest
from msgspec.structs import replace

from emulator.cluster_image.assumptions import complete
from emulator.cluster_image.image import (
    Broker,
    ClusterImage,
    Controller,
    Partition,
    Quorum,
    Topic,
    ZooKeeperController,
)
from emulator.inputs.statements import CreateCluster
from sessions.rehearsal import cases
from sessions.rehearsal.baseline import BaselineError, risks_in, worse
from sessions.rehearsal.html import page
from sessions.rehearsal.processes import in_processes
from sessions.rehearsal.report import Report, as_plain, report_of
from sessions.rehearsal.restart_order import restart_order
from sessions.rehearsal.risks import Risks
from sessions.rehearsal.rolling import roll
from sessions.rehearsal.runs import Rehearsal, run_cases

BROKERS = (Broker(1, "a", up=True), Broker(2, "b", up=True), Broker(3, "b", up=True))


def topic(name: str, replicas: tuple[int, ...], isr: tuple[int, ...], min_isr: int) -> Topic:
    partition = Partition(0, replicas, isr[0] if isr else -1, isr)
    return Topic(name, configs={"min.insync.replicas": str(min_isr)}, partitions=(partition,))


IMAGE = complete(
    ClusterImage(
        "3.9",
        "zk",
        controller=ZooKeeperController(2, 4),
        brokers=BROKERS,
        topics=(
            topic("alone", (1,), (1,), 1),
            topic("broken", (3, 2), (3,), 2),
            topic("free", (1, 2, 3), (1, 2, 3), 1),
            topic("strict", (1, 2, 3), (1, 2, 3), 3),
            topic("together", (2, 3), (2, 3), 1),
        ),
    )
).image


def started() -> Rehearsal:
    return Rehearsal(CreateCluster(version="3.9", mode="zk", image=IMAGE), IMAGE)


@pytest.fixture(scope="module")
def rehearsal() -> Rehearsal:
    return started()


def reported(rehearsal: Rehearsal, *chosen: cases.Case, **options: Any) -> Report:
    spec = CreateCluster(version="3.9", mode="zk", image=IMAGE)
    runs = run_cases(chosen, IMAGE, in_processes(rehearsal, spec, 1))
    return report_of(rehearsal, runs, [], "prod.cluster.json", **options)


def test_each_partition_is_at_the_risk_that_it_has(rehearsal: Rehearsal) -> None:
    report = reported(rehearsal, cases.named(IMAGE, [1]))
    [case] = report.cases
    assert case.risks == Risks(
        rf1_offline=["alone-0"],
        unavailable=[],
        full_acks_produce_unavailable=["strict-0"],
        acks1_data_loss=["free-0", "strict-0"],
    )
    assert case.verdict == "unsafe"
    assert not report.safe
    assert case.script == "tidegauge console prod.cluster.json --run 'broker crash 1'"
    assert sum(case.leaders.values()) == 4
    assert case.seconds > 0


def test_what_is_already_broken_is_not_blamed_on_a_case(rehearsal: Rehearsal) -> None:
    lost = complete(replace(IMAGE, topics=(topic("dead", (3,), (3,), 1),))).image
    down = replace(
        lost,
        brokers=(*BROKERS[:2], Broker(3, "b", up=False)),
        topics=(replace(lost.topics[0], partitions=(Partition(0, (3,), -1, (3,)),)),),
    )
    made = complete(down).image
    spec = CreateCluster(version="3.9", mode="zk", image=made)
    alone = Rehearsal(spec, made)
    runs = run_cases([cases.named(made, [1])], made, in_processes(alone, spec, 1))
    report = report_of(alone, runs, [], "x")
    assert report.broken.offline == ["dead-0"]
    assert report.safe


def test_both_brokers_of_a_rack_take_a_partition_with_them(rehearsal: Rehearsal) -> None:
    report = reported(rehearsal, cases.rack(IMAGE, "b"))
    [case] = report.cases
    assert case.case.lose == (2, 3)
    assert "together-0" in case.risks.unavailable
    assert {(unsafe.topic, unsafe.why) for unsafe in report.unsafe_topics} == {
        ("alone", "replication factor 1"),
        ("broken", "min.insync.replicas = replication factor"),
        ("broken", "all replicas of partition 0 in rack b"),
        ("strict", "min.insync.replicas = replication factor"),
        ("together", "all replicas of partition 0 in rack b"),
    }


def test_a_rolling_restart_says_what_was_unwritable_and_for_how_long() -> None:
    rehearsal = started()
    rolled = roll(rehearsal)
    assert [restart.node for restart in rolled.restarts] == [1, 3, 2]
    assert all(restart.caught_up for restart in rolled.restarts)
    assert {"alone-0", "strict-0"} <= rolled.unwritable.keys()
    assert "free-0" not in rolled.unwritable
    assert rolled.least_isr["free-0"] == 2
    report = reported(started(), roll=rolled)
    assert not report.safe
    assert as_plain(report)["roll"]["restarts"][0]["node"] == 1


def test_controllers_restart_first_and_the_active_one_last_of_them() -> None:
    quorum = Quorum(101, 3, 9, (Controller(100), Controller(101), Controller(102)))
    kraft = complete(ClusterImage("4.1", "kraft", quorum=quorum, brokers=BROKERS)).image
    assert restart_order(kraft) == [100, 102, 101, 1, 2, 3]
    combined = Quorum(2, 3, 9, (Controller(1), Controller(2), Controller(3)))
    kraft = complete(ClusterImage("4.1", "kraft", quorum=combined, brokers=BROKERS)).image
    assert restart_order(kraft) == [1, 3, 2]


def test_cases_are_those_of_what_is_up() -> None:
    image = replace(IMAGE, brokers=(*BROKERS[:2], Broker(3, "b", up=False)))
    assert [case.name for case in cases.each_broker(image)] == ["broker 1", "broker 2"]
    assert [case.name for case in cases.each_pair(image)] == ["brokers 1 and 2"]
    assert [(case.name, case.brokers) for case in cases.each_rack(image)] == [
        ("rack a", (1,)),
        ("rack b", (2,)),
    ]
    both = cases.together(IMAGE, [("broker", "1"), ("rack", "b")])
    assert (both.name, both.lose) == ("broker 1, rack b", (1, 2, 3))
    with pytest.raises(cases.CaseError, match="There is no rack 'c': the racks are a, b"):
        cases.rack(IMAGE, "c")
    with pytest.raises(cases.CaseError, match="There is no node 9; the nodes are 1, 2, 3"):
        cases.named(IMAGE, [9])


def test_many_brokers_are_lost_in_some_orders_only() -> None:
    case = cases.Case("rack", tuple(range(9)), tuple(range(9)))
    orders = case.orders()
    assert len(orders) == len(set(orders)) == cases.ORDERS
    assert all(sorted(order) == list(range(9)) for order in orders)


def test_the_json_has_what_the_contract_names(rehearsal: Rehearsal) -> None:
    plain = as_plain(reported(rehearsal, cases.named(IMAGE, [1])), partitions=True)
    assert {"schema", "release", "mode", "assumed", "cases", "restart_order"} <= plain.keys()
    assert {"unsafe_topics", "safe", "broken"} <= plain.keys()
    [case] = plain["cases"]
    assert {"lose", "name", "verdict", "seconds", "risks", "leaders", "script"} <= case.keys()
    free = next(each for each in case["partitions"] if each["topic"] == "free")
    assert free.pop("partition_epoch") == 1
    assert free == {
        "topic": "free",
        "partition": 0,
        "state": "online",
        "leader": 2,
        "isr": [2, 3],
        "elr": [],
        "leader_epoch": 1,
    }


def test_a_baseline_leaves_what_became_worse(rehearsal: Rehearsal) -> None:
    report = reported(rehearsal, cases.named(IMAGE, [1]))
    earlier = b'{"schema": 1, "cases": [{"name": "node 1", "risks": {"rf1_offline": ["alone-0"]}}]}'
    [found] = worse(report, risks_in(earlier))
    assert found["risks"] == {
        "rf1_offline": [],
        "unavailable": [],
        "full_acks_produce_unavailable": ["strict-0"],
    }
    for wrong in (b"[]", b"{", b'{"schema": 2, "cases": []}', b"\xff", b"[" * 100_000):
        with pytest.raises(BaselineError):
            risks_in(wrong)


def test_the_page_needs_no_network_and_escapes_names(rehearsal: Rehearsal) -> None:
    report = reported(rehearsal, cases.named(IMAGE, [1]))
    text = page(report, "<b>.json", "UNSAFE", "made today")
    assert '<th class="n">Seconds</th>' in text
    assert "&lt;b&gt;.json" in text
    assert "<b>.json" not in text
    assert "http://" not in text
    assert "https://" not in text
    assert "<script" not in text
    assert "strict-0" in text
