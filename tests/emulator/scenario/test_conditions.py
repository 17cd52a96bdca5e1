"""What conditions see, and when they hold."""

import pytest

from emulator.cluster import Cluster
from emulator.inputs.conditions import Clause, Subject, Value
from emulator.inputs.statements import Consume, CrashBroker, Settle
from emulator.scenario.conditions import first_failure, holds, value_of
from tests.support.running import do, partition, produce, replica, with_topic


@pytest.fixture(scope="module")
def cluster() -> Cluster:
    """Topic t with three records on brokers 1, 2 and 3; broker 0 controls."""
    made, _ = with_topic(1, 2, 3)
    do(made, produce("m", count=3), Settle(), Consume(topic="t", consumer="c1"))
    return made


@pytest.mark.parametrize(
    ("left", "op", "right", "expected"),
    [
        (3, "==", 3, True),
        (3, "!=", 3, False),
        (3, "<", 4, True),
        (3, ">=", 4, False),
        ("a", "in", ["a", "b"], True),
        ([1, 2], "contains", 2, True),
        ([1, 2], "==", [2, 1], False),
        ("3", "==", 3, False),
        ("x", "<", 3, False),
        (True, "==", 1, False),
        (True, "==", True, True),
        (None, "==", 3, False),
        (None, "!=", 3, True),
        (None, "<", 3, False),
    ],
)
def test_an_operator_holds_of_what_it_can_compare(
    left: Value, op: str, right: Value, *, expected: bool
) -> None:
    assert holds(left, op, right) is expected


def test_isr_and_osr_compare_without_order() -> None:
    assert holds([2, 1], "==", [1, 2], unordered=True)
    assert holds([2, 1], "!=", [1, 3], unordered=True)


@pytest.mark.parametrize(
    ("field", "expected"),
    [
        ("leader", 1),
        ("epoch", 0),
        ("isr", [1, 2, 3]),
        ("osr", []),
        ("replicas", [1, 2, 3]),
        ("hw", 3),
        ("leo", 3),
        ("state", "online"),
        ("under_replicated", False),
        ("version", 0),
    ],
)
def test_a_partition_is_what_its_znode_and_its_leader_say(
    cluster: Cluster, field: str, expected: Value
) -> None:
    assert value_of(cluster, partition("t-0", field)) == expected


@pytest.mark.parametrize(
    ("broker", "field", "expected"),
    [
        (1, "role", "leader"),
        (2, "role", "follower"),
        (2, "leo", 3),
        (2, "hw", 3),
        (2, "log_start", 0),
        (2, "epochs", [[0, 0]]),
        (2, "values", ["m-0", "m-1", "m-2"]),
        (2, "remote_leo", 3),
        (1, "remote_leo", None),
        (0, "leo", None),
    ],
)
def test_a_replica_is_what_its_broker_holds(
    cluster: Cluster, broker: int, field: str, expected: Value
) -> None:
    assert value_of(cluster, replica("t-0", broker, field)) == expected


@pytest.mark.parametrize(
    ("subject", "expected"),
    [
        (Subject("controller", "", "broker"), 0),
        (Subject("controller", "", "epoch"), 1),
        (Subject("broker", "2", "state"), "running"),
        (Subject("broker", "9", "state"), None),
        (Subject("zk", "/brokers/ids", "children"), ["0", "1", "2", "3"]),
        (Subject("zk", "/nowhere", "exists"), False),
        (Subject("zk", "/nowhere", "version"), None),
        (Subject("producer", "p1", "acked"), 3),
        (Subject("producer", "p1", "pending"), 0),
        (Subject("producer", "nobody", "acked"), None),
        (Subject("consumer", "c1", "values"), ["m-0", "m-1", "m-2"]),
        (Subject("consumer", "c1", "position"), 3),
        (Subject("audit", "", "acked"), 3),
        (Subject("audit", "", "unacked_visible"), 0),
        (Subject("audit", "", "invariants_violated"), 0),
        (Subject("cluster", "", "offline"), 0),
        (Subject("cluster", "", "under_min_isr"), 0),
        (Subject("partition", "x-0", "state"), "nonexistent"),
        (Subject("partition", "x-0", "leader"), None),
    ],
)
def test_other_subjects(cluster: Cluster, subject: Subject, expected: Value) -> None:
    assert value_of(cluster, subject) == expected


def test_how_long_ago_a_follower_had_everything_is_in_milliseconds(cluster: Cluster) -> None:
    age = value_of(cluster, replica("t-0", 2, "caught_up_ms"))
    assert isinstance(age, int)
    assert 0 <= age <= 501


def test_the_first_clause_that_does_not_hold_is_named(cluster: Cluster) -> None:
    clauses = [
        Clause(partition("t-0", "leo"), "==", 3),
        Clause(partition("t-0", "hw"), "==", right_subject=partition("t-0", "leo")),
        Clause(partition("t-0", "leader"), "==", 2),
        Clause(partition("t-0", "leader"), "==", 3),
    ]
    assert first_failure(cluster, clauses) == (clauses[2], 1)
    assert first_failure(cluster, clauses[:2]) is None


def test_a_crashed_brokers_replica_is_what_its_disk_holds() -> None:
    cluster, _ = with_topic(1, 2)
    do(cluster, produce("a"), Settle(), CrashBroker(broker=2))
    assert value_of(cluster, replica("t-0", 2, "role")) == "offline"
    assert value_of(cluster, replica("t-0", 2, "leo")) == 1
