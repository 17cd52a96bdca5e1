import pytest

from emulator.common.errors import ERROR_NAMES, ERRORS
from emulator.inputs.statements import (
    CrashBroker,
    CreateTopic,
    FreezeBroker,
    StartBroker,
    StopBroker,
    ThawBroker,
)
from emulator.wire.messages import alter_configs
from emulator.wire.messages.cluster import DescribeClusterRequest
from emulator.wire.messages.configs import (
    AlterableConfig,
    AlterConfigsResource,
    DescribeConfigsRequest,
    DescribeConfigsResource,
    IncrementalAlterConfigsRequest,
)
from emulator.wire.messages.partitions import (
    AlterPartitionReassignmentsRequest,
    ElectLeadersRequest,
    ListPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
    TopicPartitions,
)
from emulator.wire.messages.topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreatableTopicConfig,
    CreatePartitionsRequest,
    CreatePartitionsTopic,
    CreateTopicsRequest,
    DeleteTopicsRequest,
    DeleteTopicState,
)
from tests.support.wire_client import WireLab


def code(name: str) -> int:
    return ERRORS[name].code


@pytest.fixture
def lab() -> WireLab:
    return WireLab.made()


@pytest.fixture
def controller(lab: WireLab) -> int:
    found = lab.cluster.controller_id()
    assert found is not None
    return lab.connect(found)


def create(lab: WireLab, connection: int, *topics: CreatableTopic) -> list[int]:
    response = lab.ask(connection, CreateTopicsRequest(list(topics), 5_000), 7)
    return [each.error_code for each in response.topics]


def test_a_topic_is_there_with_its_leaders_when_the_response_comes(
    lab: WireLab, controller: int
) -> None:
    assert create(lab, controller, CreatableTopic("t", 4, 3)) == [0]
    assert {lab.cluster.state.states[f"t-{n}"].leader for n in range(4)} == {0, 1, 2}


@pytest.mark.parametrize(
    ("topic", "error"),
    [
        (CreatableTopic("t", 1, 4), "INVALID_REPLICATION_FACTOR"),
        (CreatableTopic("t", 0, 1), "INVALID_PARTITIONS"),
        (CreatableTopic("no good", 1, 1), "INVALID_TOPIC_EXCEPTION"),
        (CreatableTopic("old", 1, 1), "TOPIC_ALREADY_EXISTS"),
        (
            CreatableTopic("t", -1, -1, [CreatableReplicaAssignment(0, [0, 0])]),
            "INVALID_REPLICA_ASSIGNMENT",
        ),
        (
            CreatableTopic("t", 1, 1, configs=[CreatableTopicConfig("no.such", "1")]),
            "INVALID_CONFIG",
        ),
        (
            CreatableTopic("t", 1, 1, configs=[CreatableTopicConfig("min.insync.replicas", "x")]),
            "INVALID_CONFIG",
        ),
    ],
)
def test_what_cannot_be_made_is_refused(
    lab: WireLab, controller: int, topic: CreatableTopic, error: str
) -> None:
    lab.run(CreateTopic(topic="old"))
    assert create(lab, controller, topic) == [code(error)]
    assert not lab.cluster.has_topic("t")


def test_only_the_controller_makes_topics(lab: WireLab) -> None:
    other = next(b for b in lab.cluster.brokers if b != lab.cluster.controller_id())
    assert create(lab, lab.connect(other), CreatableTopic("t", 1, 1)) == [code("NOT_CONTROLLER")]


def test_a_topic_that_is_deleted_is_gone_when_the_response_comes(
    lab: WireLab, controller: int
) -> None:
    create(lab, controller, CreatableTopic("t", 2, 3))
    wanted = DeleteTopicsRequest(
        [DeleteTopicState("t"), DeleteTopicState("none")], timeout_ms=5_000
    )
    response = lab.ask(controller, wanted, 6)
    assert [each.error_code for each in response.responses] == [
        *(0, code("UNKNOWN_TOPIC_OR_PARTITION")),
    ]
    assert not any(tp.startswith("t-") for tp in lab.cluster.state.states)


def test_a_topic_grows(lab: WireLab, controller: int) -> None:
    create(lab, controller, CreatableTopic("t", 1, 2))
    wanted = CreatePartitionsRequest([CreatePartitionsTopic("t", 3, None)], 5_000)
    assert lab.ask(controller, wanted, 3).results[0].error_code == 0
    assert [len(lab.cluster.state.assignments[f"t-{n}"]) for n in range(3)] == [2, 2, 2]
    assert lab.ask(controller, wanted, 3).results[0].error_code == code("INVALID_PARTITIONS")


def test_configuration_is_changed_and_told(lab: WireLab, controller: int) -> None:
    create(lab, controller, CreatableTopic("t", 1, 1))
    change = AlterConfigsResource(2, "t", [AlterableConfig("min.insync.replicas", 0, "2")])
    response = lab.ask(controller, IncrementalAlterConfigsRequest([change]), 1)
    assert response.responses[0].error_code == 0
    lab.pass_time(100_000)
    assert lab.cluster.brokers[0].context.min_insync_replicas("t") == 2
    keys = ["min.insync.replicas", "unclean.leader.election.enable"]
    wanted = DescribeConfigsRequest([DescribeConfigsResource(2, "t", keys)])
    (result,) = lab.ask(controller, wanted, 4).results
    assert {(c.name, c.value, c.config_source) for c in result.configs} == {
        ("min.insync.replicas", "2", 1),
        ("unclean.leader.election.enable", "false", 5),
    }


def test_old_requests_replace_all_of_a_topics_values(lab: WireLab, controller: int) -> None:
    given = [CreatableTopicConfig("min.insync.replicas", "2")]
    create(lab, controller, CreatableTopic("t", 1, 1, configs=given))
    rows = [alter_configs.AlterableConfig("max.message.bytes", "1000")]
    change = alter_configs.AlterConfigsResource(2, "t", rows)
    response = lab.ask(controller, alter_configs.AlterConfigsRequest([change]), 1)
    assert response.responses[0].error_code == 0
    lab.pass_time(100_000)
    assert lab.cluster.state.topic_configs["t"] == {"max.message.bytes": "1000"}


MIN_ISR = "min.insync.replicas"
FIXED = "num.partitions"


@pytest.mark.parametrize("mode", ["zk", "kraft"])
def test_a_broker_changes_its_own_configuration_and_that_of_all(mode: str) -> None:
    lab = WireLab.made(version="3.9", mode=mode)
    lab.pass_time(5_000_000)
    here = lab.connect(1)

    def change(name: str, *rows: tuple[str, int, str | None], dry: bool = False) -> str:
        resource = AlterConfigsResource(4, name, [AlterableConfig(*row) for row in rows])
        wanted = IncrementalAlterConfigsRequest([resource], dry)
        (row,) = lab.ask(here, wanted, 1).responses
        lab.pass_time(100_000)
        return ERROR_NAMES[row.error_code]

    def replace(name: str, **values: str) -> str:
        rows = [alter_configs.AlterableConfig(k.replace("_", "."), v) for k, v in values.items()]
        resource = alter_configs.AlterConfigsResource(4, name, rows)
        (row,) = lab.ask(here, alter_configs.AlterConfigsRequest([resource]), 1).responses
        lab.pass_time(100_000)
        return ERROR_NAMES[row.error_code]

    def in_force() -> list[int]:
        return [each.context.min_insync_replicas("t") for each in lab.cluster.brokers.values()]

    assert change("", (MIN_ISR, 0, "2"), dry=True) == "NONE"
    assert in_force() == [1, 1, 1]
    assert change("", (MIN_ISR, 0, "2")) == "NONE"
    assert change("1", (MIN_ISR, 0, "3"), ("not.kafkas", 0, "1")) == "NONE"
    assert in_force() == [2, 3, 2]
    refused = [
        *(change("0", (MIN_ISR, 0, "3")), change("1", (FIXED, 0, "3"))),
        *(change("1", (MIN_ISR, 0, "many")), change("", (FIXED, 0, "3"))),
    ]
    assert refused == ["INVALID_REQUEST"] * 4
    assert change("1", (MIN_ISR, 1, None)) == "NONE"
    assert in_force() == [2, 2, 2]
    assert replace("1", message_max_bytes="2000") == "NONE"
    assert replace("1", min_insync_replicas="3") == "NONE"
    assert in_force() == [2, 3, 2]
    assert [each.context.config.message_max_bytes for each in lab.cluster.brokers.values()] == [
        1_048_588
    ] * 3
    lab.run(StopBroker(broker=2))
    lab.run(StartBroker(broker=2))
    lab.pass_time(5_000_000)
    assert in_force() == [2, 3, 2], "a broker reads its configuration when it starts"


def test_brokers_are_configured_over_the_wire_since_1_1() -> None:
    lab = WireLab.made(version="1.0")
    rows = [alter_configs.AlterableConfig(MIN_ISR, "2")]
    wanted = alter_configs.AlterConfigsRequest([alter_configs.AlterConfigsResource(4, "0", rows)])
    (row,) = lab.ask(lab.connect(0), wanted, 0).responses
    assert (ERROR_NAMES[row.error_code], "since 1.1" in row.error_message) == (
        "INVALID_REQUEST",
        True,
    )


def test_a_preferred_replica_leads_again(lab: WireLab, controller: int) -> None:
    lab.run(CreateTopic(topic="t", assignment=[[0, 1]]))
    lab.pass_time(100_000)
    wanted = ElectLeadersRequest(0, [TopicPartitions("t", [0])])
    (topic,) = lab.ask(controller, wanted, 2).replica_election_results
    assert topic.partition_result[0].error_code == code("ELECTION_NOT_NEEDED")


def test_replicas_move(lab: WireLab, controller: int) -> None:
    lab.run(CreateTopic(topic="t", assignment=[[0, 1]]))
    lab.pass_time(100_000)
    lab.run(FreezeBroker(broker=2))
    rows = [ReassignableTopic("t", [ReassignablePartition(0, [1, 2])])]
    response = lab.ask(controller, AlterPartitionReassignmentsRequest(topics=rows), 0)
    assert response.responses[0].partitions[0].error_code == 0
    (moving,) = lab.ask(controller, ListPartitionReassignmentsRequest(), 0).topics
    assert (moving.partitions[0].adding_replicas, moving.partitions[0].removing_replicas) == (
        *([2], [0]),
    )
    lab.run(ThawBroker(broker=2))
    lab.pass_time(2_000_000)
    assert lab.ask(controller, ListPartitionReassignmentsRequest(), 0).topics == []
    assert lab.cluster.state.assignments["t-0"] == [1, 2]


@pytest.mark.parametrize("mode", ["zookeeper", "kraft"])
def test_a_reassignment_may_keep_a_replica_whose_broker_is_down(mode: str) -> None:
    lab = WireLab.made(version="3.9", mode=mode)
    lab.run(CreateTopic(topic="t", assignment=[[0, 1]]))
    lab.pass_time(100_000)
    lab.run(CrashBroker(broker=1))
    lab.pass_time(30_000_000)
    found = lab.cluster.controller_id()
    connection = lab.connect(0 if mode == "kraft" or found is None else found)
    rows = [ReassignableTopic("t", [ReassignablePartition(0, [0, 1, 2])])]
    response = lab.ask(connection, AlterPartitionReassignmentsRequest(topics=rows), 0)
    assert response.responses[0].partitions[0].error_code == 0


def test_a_change_of_the_replication_factor_can_be_forbidden() -> None:
    lab = WireLab.made(version="4.1", mode="kraft")
    lab.run(CreateTopic(topic="t", assignment=[[0, 1]]))
    lab.pass_time(100_000)
    for replicas, error in ([1, 2], "NONE"), ([0, 1, 2], "INVALID_REPLICATION_FACTOR"):
        rows = [ReassignableTopic("t", [ReassignablePartition(0, replicas)])]
        request = AlterPartitionReassignmentsRequest(
            allow_replication_factor_change=False, topics=rows
        )
        response = lab.ask(lab.connect(0), request, 1)
        assert response.allow_replication_factor_change is False
        assert response.responses[0].partitions[0].error_code == code(error)
        lab.pass_time(5_000_000)


@pytest.mark.parametrize(
    ("endpoint", "error"),
    [(1, "NONE"), (2, "MISMATCHED_ENDPOINT_TYPE"), (3, "UNSUPPORTED_ENDPOINT_TYPE")],
)
def test_brokers_are_no_endpoints_of_another_type(
    lab: WireLab, controller: int, endpoint: int, error: str
) -> None:
    response = lab.ask(controller, DescribeClusterRequest(endpoint_type=endpoint), 1)
    assert response.error_code == code(error)
    assert bool(response.brokers) is (error == "NONE")


@pytest.mark.parametrize(
    ("version", "error"),
    [("3.2", 0), ("3.3", "TOPIC_AUTHORIZATION_FAILED"), ("3.9", "INVALID_REQUEST")],
)
def test_nobody_creates_the_topic_of_the_metadata_log(version: str, error: str) -> None:
    lab = WireLab.made(version=version, mode="zookeeper")
    controller = lab.cluster.controller_id()
    assert controller is not None
    topic = CreatableTopic("__cluster_metadata", 1, 1)
    assert create(lab, lab.connect(controller), topic) == [code(error) if error else 0]


MANY_DIGITS = "9" * 5_000


def connected(mode: str, version: str = "3.9") -> tuple[WireLab, int]:
    """Return a cluster and a connection to the broker that administrators ask."""
    lab = WireLab.made(version=version, mode=mode)
    controller = 0 if mode == "kraft" else lab.cluster.controller_id()
    assert controller is not None
    return lab, lab.connect(controller)


@pytest.mark.parametrize("name", [MANY_DIGITS, str(1 << 40), "x", "\u0663"])
def test_a_broker_that_is_no_number_is_not_described(
    lab: WireLab, controller: int, name: str
) -> None:
    request = DescribeConfigsRequest([DescribeConfigsResource(4, name, None)])
    (result,) = lab.ask(controller, request, 1).results
    assert result.error_code == code("INVALID_REQUEST")
    assert (result.error_message or "").startswith("Broker id must be an integer")


def test_a_number_of_too_many_digits_is_none() -> None:
    lab, connection = connected("kraft", "4.1")
    value = AlterableConfig("consumer.session.timeout.ms", 0, MANY_DIGITS)
    request = IncrementalAlterConfigsRequest([AlterConfigsResource(32, "g", [value])])
    (result,) = lab.ask(connection, request, 1).responses
    assert result.error_code == code("INVALID_CONFIG")


@pytest.mark.parametrize("mode", ["zookeeper", "kraft"])
def test_a_topic_that_is_given_both_its_name_and_its_id_is_not_deleted(mode: str) -> None:
    lab, connection = connected(mode)
    made = lab.ask(connection, CreateTopicsRequest([CreatableTopic("t", 1, 1)], 5_000), 7)
    topic_id = made.topics[0].topic_id
    for state, error in (
        (DeleteTopicState("t", topic_id), "INVALID_REQUEST"),
        (DeleteTopicState(""), "UNKNOWN_TOPIC_OR_PARTITION"),
        (DeleteTopicState(None, topic_id), "NONE"),
    ):
        (row,) = lab.ask(connection, DeleteTopicsRequest([state], timeout_ms=5_000), 6).responses
        assert row.error_code == code(error)


def test_an_id_that_is_given_twice_deletes_nothing() -> None:
    lab, connection = connected("kraft", "4.1")
    made = lab.ask(connection, CreateTopicsRequest([CreatableTopic("t", 1, 1)], 5_000), 7)
    state = DeleteTopicState(None, made.topics[0].topic_id)
    request = DeleteTopicsRequest([state, state], timeout_ms=5_000)
    (row,) = lab.ask(connection, request, 6).responses
    assert (row.name, row.error_message) == (None, "Duplicate topic id.")
    assert "t" in lab.cluster.topics()


def test_a_name_below_a_topics_znode_is_no_topic() -> None:
    lab, connection = connected("zookeeper", "2.8")
    assert create(lab, connection, CreatableTopic("t", 1, 1)) == [0]
    below = CreatableTopic("t/partitions", 1, 1)
    assert create(lab, connection, below) == [code("INVALID_TOPIC_EXCEPTION")]
    value = AlterableConfig("retention.ms", 0, "1")
    request = IncrementalAlterConfigsRequest([AlterConfigsResource(2, below.name, [value])])
    (result,) = lab.ask(connection, request, 1).responses
    assert result.error_code == code("UNKNOWN_TOPIC_OR_PARTITION")


@pytest.mark.parametrize(
    ("name", "value", "error"),
    [
        ("leader.replication.throttled.replicas", "0:1,,1:1,", "NONE"),
        ("leader.replication.throttled.replicas", "*", "NONE"),
        ("leader.replication.throttled.replicas", "\u0663:\u0663", "INVALID_CONFIG"),
        ("leader.replication.throttled.replicas", "0:1" + ", ," * 5_000 + "x", "INVALID_CONFIG"),
        ("flush.ms", "1_0", "INVALID_CONFIG"),
        ("flush.ms", "", "INVALID_CONFIG"),
        ("compression.gzip.level", "+5", "NONE"),
        ("compression.gzip.level", "0", "INVALID_CONFIG"),
        ("min.cleanable.dirty.ratio", "0.5", "NONE"),
        ("min.cleanable.dirty.ratio", "nan", "INVALID_CONFIG"),
        ("min.cleanable.dirty.ratio", "1.01", "INVALID_CONFIG"),
    ],
)
@pytest.mark.parametrize("mode", ["zookeeper", "kraft"])
def test_values_of_topics_are_read_as_java_reads_them(
    mode: str, name: str, value: str, error: str
) -> None:
    lab, connection = connected(mode)
    topic = CreatableTopic("t", 1, 1, configs=[CreatableTopicConfig(name, value)])
    assert create(lab, connection, topic) == [code(error)]


@pytest.mark.parametrize("version", ["3.9", "4.1"])
def test_no_topic_has_no_name(version: str) -> None:
    lab, connection = connected("kraft", version)
    value = AlterableConfig("retention.ms", 0, "x")
    request = IncrementalAlterConfigsRequest([AlterConfigsResource(2, "", [value])])
    (result,) = lab.ask(connection, request, 1).responses
    assert result.error_code == code("INVALID_REQUEST")
