"""What administrators may ask, and how they are refused: an error name and a sentence."""

import json

import pytest

from emulator.cluster import Cluster
from emulator.events import CLIENTS, SessionCreated
from emulator.inputs.statements import (
    AddPartitions,
    AnyInput,
    CancelReassignment,
    ConfigureBroker,
    ConfigureTopic,
    CreateCluster,
    CreateTopic,
    DeleteTopic,
    ElectPreferred,
    ExpireSession,
    Input,
    Produce,
    Reassign,
    Settle,
    StopBroker,
    Wait,
    ZkCommand,
)
from emulator.replication import assignment
from emulator.scenario.refusals import RefusedError
from tests.support.lab import Lab
from tests.support.memberships import kraft_state
from tests.support.running import do, until, with_topic


@pytest.fixture(scope="module")
def cluster() -> Cluster:
    """A cluster with topic t on brokers 1 and 2; nothing in these tests changes it."""
    return with_topic(1, 2)[0]


@pytest.mark.parametrize(
    ("wanted", "error", "words"),
    [
        (CreateTopic(topic="t"), "TOPIC_ALREADY_EXISTS", "t already exists"),
        (CreateTopic(topic="a/b"), "INVALID_TOPIC_EXCEPTION", "letters"),
        (CreateTopic(topic=".."), "INVALID_TOPIC_EXCEPTION", "not a valid name"),
        (
            CreateTopic(topic="u", replication_factor=9),
            "INVALID_REPLICATION_FACTOR",
            "4",
        ),
        (
            CreateTopic(topic="u", assignment=[[1, 9]]),
            "INVALID_REPLICA_ASSIGNMENT",
            "There is no broker 9; there are 0, 1, 2, 3.",
        ),
        (CreateTopic(topic="u", assignment=[[1, 1]]), "INVALID_REPLICA_ASSIGNMENT", "different"),
        (
            CreateTopic(topic="u", config={"min.insync.replica": "2"}),
            "INVALID_CONFIG",
            "min.insync.replicas",
        ),
        (AddPartitions(topic="t", partitions=1), "INVALID_PARTITIONS", "only grow"),
        (AddPartitions(topic="tt", partitions=2), "UNKNOWN_TOPIC_OR_PARTITION", "nearest is t"),
        (ConfigureTopic(topic="x", config={}), "UNKNOWN_TOPIC_OR_PARTITION", "no topic x"),
        (ConfigureBroker(broker=9, config={}), "BROKER_NOT_AVAILABLE", "there are 0, 1, 2, 3"),
        (
            ConfigureBroker(broker=1, config={"replica.lag.time.max.ms": "soon"}),
            "INVALID_CONFIG",
            "integer",
        ),
        (DeleteTopic(topic="x"), "UNKNOWN_TOPIC_OR_PARTITION", "nearest is t"),
        (ElectPreferred(partitions=["t-7"]), "UNKNOWN_TOPIC_OR_PARTITION", "nearest is t-0"),
        (Reassign(tp="t-0", replicas=[7]), "INVALID_REPLICA_ASSIGNMENT", "no broker 7"),
        (CancelReassignment(tp="t-0"), "NO_REASSIGNMENT_IN_PROGRESS", "not being reassigned"),
        (Produce(topic="t", count=10**9, batch=10**9), "INVALID_CONFIG", "give --batch 100000"),
        (ExpireSession(broker=9), "SessionExpiredError", "no ZooKeeper session"),
    ],
    ids=lambda each: type(each).__name__ if isinstance(each, Input) else None,
)
def test_what_cannot_be_done_is_refused(
    cluster: Cluster, wanted: AnyInput, error: str, words: str
) -> None:
    outcome = do(cluster, wanted)
    assert outcome.refused
    assert outcome.error == error
    assert words in outcome.message


def test_names_that_differ_in_dots_and_underscores_collide() -> None:
    cluster = Cluster(CreateCluster(brokers=1))
    do(cluster, CreateTopic(topic="a.b"))
    outcome = do(cluster, CreateTopic(topic="a_b"))
    assert outcome.error == "INVALID_TOPIC_EXCEPTION"
    assert "collides with a.b" in outcome.message


def test_a_refusal_has_a_name_and_a_sentence() -> None:
    refused = RefusedError("INVALID_CONFIG", "No.")
    assert (refused.name, str(refused)) == ("INVALID_CONFIG", "No.")


@pytest.mark.parametrize("name", ["orders", "a.b-c_1", "x" * 249])
def test_topic_names_that_kafka_allows(name: str) -> None:
    cluster = Cluster(CreateCluster(brokers=1))
    assert do(cluster, CreateTopic(topic=name)).error == "NONE"


@pytest.mark.parametrize("deleted", ["", None])
def test_a_topics_configuration_is_merged_and_noted(deleted: str | None) -> None:
    cluster, _ = with_topic(1, 2)
    do(cluster, ConfigureTopic(topic="t", config={"min.insync.replicas": "2"}))
    written = json.loads(cluster.zookeeper.get("/config/topics/t").data or "")
    assert written["config"] == {"min.insync.replicas": "2"}
    changes = cluster.zookeeper.children("/config/changes")
    assert len(changes) == 1
    do(cluster, ConfigureTopic(topic="t", config={"min.insync.replicas": deleted}))
    written = json.loads(cluster.zookeeper.get("/config/topics/t").data or "")
    assert written["config"] == {}


@pytest.mark.parametrize("broker", [False, True])
def test_without_zookeeper_only_none_deletes_a_value(*, broker: bool) -> None:
    lab = Lab("4.1", brokers=1, mode="kraft")
    lab.topic(0)

    def configure(value: str | None) -> str:
        config = {"min.insync.replicas": value}
        wanted = (
            ConfigureBroker(broker=None, config=config)
            if broker
            else ConfigureTopic(topic="t", config=config)
        )
        outcome = lab.do(wanted)
        lab.wait(1_000)
        return outcome.error

    def configs() -> dict[str, dict[str, str]]:
        assert lab.cluster.kraft is not None
        return kraft_state(lab.cluster, 0).image.configs

    key = "broker:" if broker else "topic:t"
    assert configure("2") == "NONE"
    assert configs()[key] == {"min.insync.replicas": "2"}
    assert configure("") == ("INVALID_REQUEST" if broker else "INVALID_CONFIG")
    assert configs()[key] == {"min.insync.replicas": "2"}
    # With eligible leader replicas the cluster-wide minimum cannot be deleted (KIP-966).
    assert configure(None) == ("INVALID_CONFIG" if broker else "NONE")
    assert configs().get(key, {}) == ({"min.insync.replicas": "2"} if broker else {})


@pytest.mark.parametrize(
    ("version", "expected"), [("0.10.2", 1), ("2.4", 2), ("2.7", 2), ("2.8", 3), ("3.9", 3)]
)
def test_a_topics_znode_has_its_releases_version(version: str, expected: int) -> None:
    cluster, _ = with_topic(1, 2, version=version)
    written = json.loads(cluster.zookeeper.get("/brokers/topics/t").data or "")
    assert written["version"] == expected
    assert ("topic_id" in written) is (expected == 3)


def test_zookeepers_refusals_are_results() -> None:
    cluster, _ = with_topic(1, 2)
    outcome = do(cluster, ZkCommand(command="get", path="/nowhere"))
    assert not outcome.refused
    assert outcome.result == "NoNodeError"
    assert outcome.output == "Node does not exist: /nowhere"


def test_an_outsiders_write_has_its_consequences() -> None:
    cluster, _ = with_topic(1, 2)
    do(cluster, ZkCommand(command="delete", path="/controller"), Settle())
    assert cluster.controller_epoch() == 2
    do(cluster, ZkCommand(command="delete", path="/brokers/topics/t/partitions/0/state"))
    assert cluster.state_of("t-0") is None


@pytest.mark.parametrize("seed", range(4))
def test_added_partitions_of_kafkas_policy_begin_where_the_topic_began(seed: int) -> None:
    """AdminUtils.addPartitions: start and shift are the index of partition 0's first replica."""
    cluster = Cluster(CreateCluster(brokers=4, seed=seed))
    made = CreateTopic(topic="t", partitions=1, replication_factor=2, policy="kafka")
    do(cluster, made, AddPartitions(topic="t", partitions=3), Settle())
    first, second, third = (cluster.assigned(f"t-{number}") or [] for number in range(3))
    assert [second[0], third[0]] == [(first[0] + 1) % 4, (first[0] + 2) % 4]
    assert second == assignment.assign_kafka([0, 1, 2, 3], 1, 2, first[0], first[0], 1)[0]


@pytest.mark.parametrize("version", ["seed", "3.9"])
def test_added_partitions_of_the_documents_policy_go_on_counting(version: str) -> None:
    cluster, _ = with_topic(1, 2, version=version)
    do(cluster, AddPartitions(topic="t", partitions=3), until("t-2", "leader", 2))
    assert cluster.assigned("t-1") == [1, 2]
    assert cluster.assigned("t-2") == [2, 3]


# ---- the outsiders' own session


def test_an_ephemeral_znode_belongs_to_the_outsiders_session() -> None:
    cluster, seen = with_topic(1, 2)
    before = cluster.zookeeper.sessions.live.copy()
    outcome = do(cluster, ZkCommand(command="create", path="/lock", ephemeral=True))
    assert outcome.result == "/lock"
    (session,) = set(cluster.zookeeper.sessions.live) - set(before)
    assert cluster.zookeeper.get("/lock").ephemeral_owner == session
    opened = [each for each in seen if isinstance(each, SessionCreated)][-1]
    assert (opened.session, opened.host, opened.timeout_ms) == (session, CLIENTS, 20_000)
    second = ZkCommand(command="create", path="/lock-", ephemeral=True, sequential=True)
    other = do(cluster, second).result
    assert list(cluster.zookeeper.sessions.live[session].ephemerals) == ["/lock", other]


def test_the_outsiders_session_is_opened_only_when_it_is_needed() -> None:
    cluster, _ = with_topic(1, 2)
    do(cluster, ZkCommand(command="create", path="/plain"))
    assert cluster.zookeeper.session_of(CLIENTS) is None
    assert cluster.zookeeper.get("/plain").ephemeral_owner == 0


def test_the_outsiders_session_lasts_as_long_as_nobody_ends_it() -> None:
    cluster, _ = with_topic(1, 2)
    do(cluster, ZkCommand(command="create", path="/lock", ephemeral=True))
    do(cluster, *(StopBroker(broker=broker) for broker in cluster.brokers))
    do(cluster, Wait(duration_us=3_600_000_000))
    assert cluster.zookeeper.exists("/lock") is not None
    assert len(cluster.zookeeper.sessions.live) == 1


def test_what_the_outsiders_session_has_made_goes_when_it_is_expired() -> None:
    cluster, _ = with_topic(1, 2)
    do(cluster, ZkCommand(command="create", path="/lock", ephemeral=True))
    assert do(cluster, ExpireSession(broker=CLIENTS)).error == "NONE"
    assert cluster.zookeeper.exists("/lock") is None
    assert len(cluster.zookeeper.sessions.live) == len(cluster.brokers)
    refused = do(cluster, ExpireSession(broker=CLIENTS))
    assert refused.message == "The clients' host has no ZooKeeper session."
    do(cluster, ZkCommand(command="create", path="/lock", ephemeral=True))
    assert cluster.zookeeper.exists("/lock") is not None


def test_nobody_can_create_a_znode_below_an_ephemeral_one() -> None:
    cluster, _ = with_topic(1, 2)
    do(cluster, ZkCommand(command="create", path="/lock", ephemeral=True))
    outcome = do(cluster, ZkCommand(command="create", path="/lock/below"))
    assert outcome.error == "NoChildrenForEphemeralsError"


def test_an_outsider_can_hold_the_controllers_office() -> None:
    cluster, _ = with_topic(1, 2)
    do(cluster, ZkCommand(command="delete", path="/controller"))
    data = '{"version":1,"brokerid":9,"timestamp":"1"}'
    do(cluster, Settle())
    do(cluster, ZkCommand(command="delete", path="/controller"))
    taken = ZkCommand(command="create", path="/controller", data=data, ephemeral=True)
    assert do(cluster, taken).error == "NONE"
    do(cluster, Settle())
    assert cluster.zookeeper.get("/controller").data == data
    do(cluster, ExpireSession(broker=CLIENTS), Settle())
    assert cluster.controller_id() in cluster.brokers


def test_an_election_of_all_partitions_does_not_list_them_for_each(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cluster, _ = with_topic(1, 2)
    do(cluster, CreateTopic(topic="many", partitions=50), Settle())
    asked = 0
    topics = cluster.topics

    def counted() -> list[str]:
        nonlocal asked
        asked += 1
        return topics()

    monkeypatch.setattr(cluster, "topics", counted)
    assert do(cluster, ElectPreferred()).error == "NONE"
    assert asked == 1
