import pytest

from commands.language.completion import CANDIDATES_MAX, complete, complete_line
from sessions.model.cluster_view import ClusterView
from sessions.model.states import (
    BrokerState,
    PartitionState,
    ProducerState,
    ViewState,
    ZnodeState,
)
from tests.support.kraft_states import FENCED
from tests.support.script_events import events_of


@pytest.fixture
def view() -> ClusterView:
    partitions = [PartitionState("orders", 0, [0, 1]), PartitionState("audit-log", 3, [1])]
    return ClusterView(
        ViewState(
            brokers={broker: BrokerState(broker) for broker in (0, 1)},
            partitions={partition.name: partition for partition in partitions},
            znodes={path: ZnodeState(path) for path in ("/", "/brokers", "/brokers/ids")},
            producers={"p1": ProducerState("p1")},
        )
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("pro", ["produce"]),
        ("z", ["zk"]),
        ("topic ", ["create", "alter", "config", "list", "describe", "delete"]),
        ("topic cr", ["create"]),
        ("produce ", ["audit-log", "orders"]),
        ("produce orders --ac", ["--acks"]),
        ("produce orders --acks ", ["0", "1", "all"]),
        ("produce --acks all ", ["audit-log", "orders"]),
        ("produce --async or", ["orders"]),
        ("produce orders --producer ", ["p1"]),
        ("produce orders --count ", []),
        ("produce orders --partition 0 --part", ["--partitioner"]),
        ("topic create t --config a=1 --co", ["--config"]),
        ("topic create t --assignment-policy ", ["seed", "kafka"]),
        ("topic config orders min", ["min.insync.replicas="]),
        ("topic config orders a=1 min", ["min.insync.replicas="]),
        ("topic create t --config min", ["min.insync.replicas="]),
        ("config broker 0 replica.lag.time", ["replica.lag.time.max.ms="]),
        ("fetch o", ["orders-0@0", "orders-0@1"]),
        ("tick ", ["isr", "checkpoint", "rebalance"]),
        ("tick isr ", ["0", "1"]),
        ("broker crash ", ["0", "1"]),
        ("broker crash 1 --", ["--lose-unflushed"]),
        ("network cut 0 ", ["0", "1", "zk", "clients"]),
        ("network cut c", ["clients"]),
        ("zk get -s /b", ["/brokers", "/brokers/ids"]),
        ("election preferred orders-0 a", ["audit-log-3"]),
        ("reassign c", ["cancel"]),
        ("reassign o", ["orders-0"]),
        ("show ep", ["epochs"]),
        ("wait ", ["until"]),
        ("wait until ord", ["orders-0."]),
        (
            "wait until orders-0.l",
            ["orders-0.leader", "orders-0.leo", "orders-0.lso", "orders-0.last_known_elr"],
        ),
        ("wait until orders-0@", ["orders-0@0.", "orders-0@1."]),
        ("wait until orders-0@1.ro", ["orders-0@1.role"]),
        ("wait until orders-0.leader ", ["==", "!=", "<", "<=", ">", ">=", "in", "contains"]),
        ("wait until orders-0.leader == ", ["0", "1", "-1"]),
        ("wait until orders-0.leader == 1 ", ["and", "within"]),
        ("expect orders-0.leader == 1 ", ["and"]),
        ("expect er", ["error"]),
        ("expect error NOT_ENOUGH_REPLICAS_", ["NOT_ENOUGH_REPLICAS_AFTER_APPEND"]),
        ("expect error NONE ", []),
        ("expect zk./brokers/ids.ex", ["zk./brokers/ids.exists"]),
        ("expect broker.0.state == fr", ["frozen"]),
        ("expect orders-0.hw == orders-0.leo", []),
        ("expect of", ["offline"]),
        ("cluster --version 2.0", ["2.0.0", "2.0.1"]),
        ("cluster --version 3.6", ["3.6.0", "3.6.1", "3.6.2"]),
        ("network hold 0 1 --only FetchRes", ["FetchResponse"]),
        ("nonsense ", []),
        ("topic nonsense ", []),
        ("mark 'open", []),
    ],
)
def test_what_may_stand_at_the_cursor_is_offered(
    view: ClusterView, text: str, expected: list[str]
) -> None:
    assert complete(text, len(text), view) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("controller crash 10", ["100", "101", "102"]),
        ("controller thaw ", ["100", "101", "102", "active", "standby", "any", "last"]),
        ("network cut 1", ["100", "101", "102"]),
        ("network cut 1 z", []),
        ("wait until quorum.l", ["leader", "log_start"]),
        ("wait until quorum.1", ["100.", "101.", "102."]),
        ("wait until quorum.leader == 10", ["100", "101", "102"]),
        ("wait until broker.1.fenced == ", ["true", "false"]),
        ("wait until zk", []),
        ("show metadata /brokers/", ["/brokers/0", "/brokers/1", "/brokers/2"]),
    ],
)
def test_a_kraft_cluster_offers_its_controllers(text: str, expected: list[str]) -> None:
    view = ClusterView()
    view.apply_all(events_of(*FENCED))
    found = complete(text, len(text), view)
    assert [each.removeprefix("quorum.") for each in found] == expected


def test_an_empty_line_may_begin_with_any_statement(view: ClusterView) -> None:
    assert {"produce", "broker", "wait", "show"} <= set(complete("", 0, view))


def test_only_what_stands_before_the_cursor_counts(view: ClusterView) -> None:
    assert complete("broker cr 1", len("broker cr"), view) == ["crash"]


def test_options_are_offered_when_all_places_are_filled(view: ClusterView) -> None:
    assert complete("broker start 1 ", 15, view) == ["--clean", "--no-wait"]


def test_of_many_partitions_only_some_are_offered() -> None:
    partitions = {f"t-{n}": PartitionState("t", n, [0]) for n in range(1000)}
    view = ClusterView(ViewState(partitions=partitions))
    assert len(complete("election unclean ", 17, view)) == CANDIDATES_MAX


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("bro", ["broker"]),
        ("broker cr", ["broker crash"]),
        ("broker crash ", ["broker crash 0", "broker crash 1"]),
        ("  fetch  orders-0@1", []),
    ],
)
def test_a_line_may_be_completed_as_a_whole(view: ClusterView, text: str, lines: list[str]) -> None:
    assert complete_line(text, view) == lines
