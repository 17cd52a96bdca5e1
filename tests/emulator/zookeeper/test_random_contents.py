"""Whatever stands in a znode, the cluster goes on: no content of one is a fault of this program.

Anybody can write anything to ZooKeeper. Kafka's tools then end in an error, and its brokers log one
and go on with the next event; the same holds here for every znode that brokers, the controller or
administrators read.
"""

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from emulator.cluster import Cluster
from emulator.events import ControllerStep
from emulator.inputs.statements import (
    AddPartitions,
    AnyInput,
    CancelReassignment,
    ConfigureBroker,
    ConfigureTopic,
    CrashBroker,
    CreateCluster,
    CreateTopic,
    DeleteTopic,
    ElectPreferred,
    ElectUnclean,
    Produce,
    Reassign,
    StartBroker,
    Statement,
    Wait,
    ZkCommand,
)
from emulator.scenario.runner import Runner
from sessions.model.cluster_view import ClusterView
from tests.support.lab import Lab

TOPIC = "/brokers/topics/t"
STATE = f"{TOPIC}/partitions/0/state"
PATHS = (
    "/controller",
    "/controller_epoch",
    "/brokers/ids/1",
    "/brokers/ids/7",
    "/brokers/ids/foo",
    "/brokers/ids/-1",
    "/brokers/ids/00",
    "/brokers/topics",
    TOPIC,
    "/brokers/topics/u",
    STATE,
    f"{TOPIC}/partitions/99999999999",
    "/admin/delete_topics/t",
    "/admin/delete_topics/nope",
    "/admin/preferred_replica_election",
    "/admin/reassign_partitions",
    "/config/topics/t",
    "/config/brokers/1",
    "/config/changes/config_change_0000000042",
    "/config/changes/config_change_x",
    "/isr_change_notification/isr_change_0000000007",
    "/latest_producer_id_block",
    "/cluster/id",
)
"""All that somebody reads, and names beside it that nobody writes."""
VERSIONS = ("documents", "0.9", "0.10.2", "1.1", "2.1", "2.4", "3.9")
NUMBERS = st.one_of(
    st.integers(-2, 4),
    st.sampled_from([-(1 << 31), (1 << 31) - 1, 1 << 31, 1 << 63, 1 << 90]),
)
LISTS = st.lists(NUMBERS, max_size=4)
NAMES = st.sampled_from(["0", "1", "2", "02", "-1", "x", "99999999999", "٣", ""])
ANY_JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), NUMBERS, st.floats(allow_nan=False), st.text(max_size=5)),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=5,
)


def shaped(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[str]:
    """JSON with some of these fields, of which one may be of another shape."""
    some = {name: each | ANY_JSON for name, each in fields.items()}
    return st.one_of(st.fixed_dictionaries({}, optional=some), st.fixed_dictionaries(fields)).map(
        json.dumps
    )


TPS = st.fixed_dictionaries({"topic": st.sampled_from(["t", "u", ""]), "partition": NUMBERS})
MOVES = st.fixed_dictionaries({"topic": st.just("t"), "partition": NUMBERS, "replicas": LISTS})
REPLICAS = st.dictionaries(NAMES, LISTS, max_size=3)
CONTENTS = st.one_of(
    st.none(),
    st.sampled_from(["", "{", "[]", "null", "-1", "99", "9" * 5000, "2147483647", "[" * 3000, "ß"]),
    ANY_JSON.map(json.dumps),
    shaped(controller_epoch=NUMBERS, leader=NUMBERS, leader_epoch=NUMBERS, isr=LISTS),
    shaped(partitions=REPLICAS, adding_replicas=REPLICAS, removing_replicas=REPLICAS),
    shaped(partitions=st.lists(TPS | MOVES, max_size=3)),
    shaped(brokerid=NUMBERS),
    shaped(version=NUMBERS, host=st.text(max_size=3), port=NUMBERS, endpoints=st.just([])),
    shaped(config=st.dictionaries(st.sampled_from(["min.insync.replicas", "x"]), st.text())),
    shaped(entity_path=st.sampled_from(["topics/t", "brokers/1", "brokers/<default>", "/"])),
    shaped(version=NUMBERS, broker=NUMBERS, block_start=NAMES, block_end=NAMES),
)

STATEMENTS: tuple[AnyInput, ...] = (
    CreateTopic(topic="v", partitions=2, replication_factor=2),
    AddPartitions(topic="t", partitions=4),
    ConfigureTopic(topic="t", config={"min.insync.replicas": "1"}),
    ConfigureBroker(broker=1, config={"min.insync.replicas": "1"}),
    ElectPreferred(partitions=[]),
    ElectPreferred(partitions=["t-0"]),
    ElectUnclean(tp="t-0"),
    Reassign(tp="t-0", replicas=[2, 0]),
    CancelReassignment(tp="t-0"),
    DeleteTopic(topic="t"),
    Produce(topic="t", value="a", acks=1, retries=0),
    CrashBroker(broker=1),
    StartBroker(broker=1),
    ZkCommand(command="delete", path="/controller"),
)
"""What administrators can ask, and a failover."""


def do(cluster: Cluster, wanted: AnyInput) -> str:
    """Carry a statement out and return its error."""
    return Runner(cluster).execute(Statement(wanted, type(wanted).__name__)).error


def write(cluster: Cluster, path: str, data: str | None) -> None:
    """Write a znode as zkCli would, whether it is there or not."""
    command: Any = "create" if cluster.zookeeper.find(path) is None else "set"
    do(cluster, ZkCommand(command=command, path=path, data=data))


def started(version: str, seed: int = 1) -> Cluster:
    """Three brokers with topic t on two of them, and a view that folds every event."""
    view = ClusterView()
    made = CreateCluster(brokers=3, version=version, seed=seed)
    cluster = Cluster(made, [view.apply])
    do(cluster, CreateTopic(topic="t", assignment=[[1, 2]]))
    do(cluster, Wait(duration_us=50_000))
    return cluster


@given(
    st.sampled_from(VERSIONS),
    st.lists(
        st.one_of(st.tuples(st.sampled_from(PATHS), CONTENTS), st.sampled_from(STATEMENTS)),
        min_size=1,
        max_size=6,
    ),
)
@example("3.9", [("/controller_epoch", "9" * 5_000)])
@example("3.9", [("/controller_epoch", "²")])
@settings(deadline=None, max_examples=150, suppress_health_check=[HealthCheck.too_slow])
def test_no_content_of_a_znode_is_a_fault_of_this_program(
    version: str, steps: list[tuple[str, str | None] | AnyInput]
) -> None:
    cluster = started(version)
    for step in steps:
        if isinstance(step, tuple):
            write(cluster, *step)
        else:
            do(cluster, step)
        do(cluster, Wait(duration_us=20_000))
    do(cluster, ZkCommand(command="delete", path="/controller"))
    do(cluster, Wait(duration_us=6_000_000))


# ---- what Kafka makes of it


def test_a_registration_that_is_none_makes_tools_fail_and_the_controller_blind() -> None:
    """getSortedBrokerList throws; the event BrokerChange ends there until the znode is gone."""
    cluster, seen = observed()
    write(cluster, "/brokers/ids/foo", "x")
    assert do(cluster, CreateTopic(topic="v")) == "UNKNOWN_SERVER_ERROR"
    do(cluster, CrashBroker(broker=1))
    do(cluster, Wait(duration_us=25_000_000))
    errors = [e.detail for e in seen if isinstance(e, ControllerStep) and e.procedure == "error"]
    assert "/brokers/ids/foo is no broker." in errors
    info = cluster.state_of("t-0")
    assert info is not None
    assert info.leader == 1
    do(cluster, ZkCommand(command="delete", path="/brokers/ids/foo"))
    do(cluster, Wait(duration_us=100_000))
    info = cluster.state_of("t-0")
    assert info is not None
    assert info.leader == 2


@pytest.mark.parametrize("data", ["no json", "{}", '{"partitions":{"0":"x"}}'])
def test_a_topic_that_cannot_be_read_neither_grows_nor_moves(data: str) -> None:
    cluster, _ = observed()
    write(cluster, TOPIC, data)
    assert do(cluster, AddPartitions(topic="t", partitions=4)) == "UNKNOWN_SERVER_ERROR"
    assert do(cluster, Reassign(tp="t-0", replicas=[2, 0])) == "NONE"
    do(cluster, Wait(duration_us=1_000_000))
    assert cluster.zookeeper.get(TOPIC).data == data
    assert cluster.controller_id() == 0


def test_a_topic_with_a_gap_in_its_partitions_is_deleted_like_any_other() -> None:
    cluster, _ = observed()
    write(cluster, "/brokers/topics/gap", '{"version":1,"partitions":{"0":[1],"2":[2]}}')
    do(cluster, Wait(duration_us=100_000))
    assert cluster.state_of("gap-2") is not None
    do(cluster, DeleteTopic(topic="gap"))
    do(cluster, Wait(duration_us=1_000_000))
    assert cluster.zookeeper.find("/brokers/topics/gap") is None
    assert [tp for tp in cluster.partitions() if tp.startswith("gap")] == []


@pytest.mark.parametrize("wanted", [ElectUnclean(tp="t-0"), CancelReassignment(tp="t-0")])
def test_an_epoch_that_an_outsider_raised_ends_in_an_error_and_not_in_an_exception(
    wanted: AnyInput,
) -> None:
    cluster, _ = observed()
    write(cluster, "/controller_epoch", "99")
    assert do(cluster, wanted) in ("ELECTION_NOT_NEEDED", "NO_REASSIGNMENT_IN_PROGRESS")
    do(cluster, CrashBroker(broker=1))
    do(cluster, Wait(duration_us=25_000_000))
    assert cluster.controller_id() == 0


def observed() -> tuple[Cluster, list[Any]]:
    """A cluster of 3.9 with topic t on 1 and 2, and its events."""
    lab = Lab("3.9", brokers=3)
    lab.topic(1, 2)
    return lab.cluster, lab.seen.events
