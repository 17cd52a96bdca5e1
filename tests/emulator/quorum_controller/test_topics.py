"""Topics are created, deleted, and given more partitions."""

import pytest

from emulator.quorum_controller.result import ApiException
from emulator.quorum_controller.topics import CreatableTopic, CreatePartitionsTopic
from tests.emulator.quorum_controller.quorum import Quorum


@pytest.fixture
def quorum() -> Quorum:
    quorum = Quorum()
    quorum.start(0, 1, 2)
    return quorum


def refusal(quorum: Quorum, topic: CreatableTopic) -> str:
    before = len(quorum.log)
    response = quorum.append(quorum.controller.create_topics([topic]))[topic.name]
    assert len(quorum.log) == before
    return str(response.error.error)


def test_the_first_replica_leads_and_all_are_in_sync(quorum: Quorum) -> None:
    quorum.create("t", (0, 1, 2), (2, 1, 0))
    assert [quorum.partition("t", number).leader for number in (0, 1)] == [0, 2]
    assert quorum.partition("t").isr == (0, 1, 2)


def test_a_fenced_replica_begins_outside_the_isr(quorum: Quorum) -> None:
    quorum.let_pass(5, 1, 2)
    quorum.create("t", (0, 1, 2))
    partition = quorum.partition("t")
    assert (partition.leader, partition.isr, partition.replicas) == (1, (1, 2), (0, 1, 2))


@pytest.mark.parametrize(
    ("assignment", "error"),
    [
        ({0: (0, 0)}, "INVALID_REPLICA_ASSIGNMENT"),
        ({0: (0, 9)}, "INVALID_REPLICA_ASSIGNMENT"),
        ({0: (0, 1), 1: (2,)}, "INVALID_REPLICA_ASSIGNMENT"),
        ({1: (0, 1)}, "INVALID_REPLICA_ASSIGNMENT"),
        ({0: ()}, "INVALID_REPLICA_ASSIGNMENT"),
    ],
)
def test_assignments_that_cannot_be(
    quorum: Quorum, assignment: dict[int, tuple[int, ...]], error: str
) -> None:
    assert refusal(quorum, CreatableTopic("bad", assignments=assignment)) == error


@pytest.mark.parametrize(
    ("topic", "error"),
    [
        (CreatableTopic("t", 1, 4), "INVALID_REPLICATION_FACTOR"),
        (CreatableTopic("t", 1, 0), "INVALID_REPLICATION_FACTOR"),
        (CreatableTopic("t", 0, 1), "INVALID_PARTITIONS"),
        (CreatableTopic("t", 1, assignments={0: (0,)}), "INVALID_REQUEST"),
        (CreatableTopic("a b", 1, 1), "INVALID_TOPIC_EXCEPTION"),
        (CreatableTopic("is_there", 1, 1), "TOPIC_ALREADY_EXISTS"),
        (CreatableTopic("is.there", 1, 1), "INVALID_TOPIC_EXCEPTION"),
        (CreatableTopic("t", 1, 1, configs={"min.insync.replica": "1"}), "INVALID_CONFIG"),
        (CreatableTopic("t", 1, 1, configs={"min.insync.replicas": "0"}), "INVALID_CONFIG"),
    ],
)
def test_topics_that_are_refused(quorum: Quorum, topic: CreatableTopic, error: str) -> None:
    quorum.create("is_there", (0,))
    assert refusal(quorum, topic) == error


def test_nothing_is_placed_while_all_brokers_are_fenced(quorum: Quorum) -> None:
    quorum.let_pass(5)
    assert refusal(quorum, CreatableTopic("t", 1, 1)) == "INVALID_REPLICATION_FACTOR"
    manual = CreatableTopic("t", assignments={0: (0, 1)})
    assert refusal(quorum, manual) == "INVALID_REPLICA_ASSIGNMENT"


def test_a_request_has_ten_thousand_partitions_at_most(quorum: Quorum) -> None:
    with pytest.raises(ApiException) as refused:
        quorum.controller.create_topics([CreatableTopic("t", 10_001, 1)])
    assert refused.value.error == "POLICY_VIOLATION"
    # The topic itself is a record too.
    with pytest.raises(ApiException, match="takes 10001 records"):
        quorum.controller.create_topics([CreatableTopic("t", 10_000, 1)])
    quorum.append(quorum.controller.create_topics([CreatableTopic("t", 9_999, 1)]))


def test_adding_too_many_partitions_fails_and_adds_ten_thousand(quorum: Quorum) -> None:
    # A real 4.1.2 was asked for this, answered so, and had 10,002 partitions.
    quorum.create("t", (0,), (0,))
    wanted = [CreatePartitionsTopic("t", 20_000), CreatePartitionsTopic("u", 2)]
    responses = quorum.append(quorum.controller.create_partitions(wanted))
    assert [responses[name].error for name in "tu"] == [
        "UNKNOWN_SERVER_ERROR",
        "UNKNOWN_TOPIC_OR_PARTITION",
    ]
    topic = quorum.controller.image.topic("t")
    assert topic is not None
    assert len(topic.partitions) == 10_002


def test_a_refused_topic_keeps_no_other_from_being_created(quorum: Quorum) -> None:
    wanted = [CreatableTopic("a", 1, 9), CreatableTopic("b", 2, 3)]
    responses = quorum.append(quorum.controller.create_topics(wanted))
    assert [responses[name].error.error for name in "ab"] == ["INVALID_REPLICATION_FACTOR", "NONE"]
    assert [type(record).__name__ for record in quorum.log[-1]] == [
        "TopicRecord",
        "PartitionRecord",
        "PartitionRecord",
    ]


def test_configurations_stand_between_the_topic_and_its_partitions(quorum: Quorum) -> None:
    quorum.create("t", (0, 1), min_insync_replicas="2")
    assert [each.type for each in quorum.shown()[-1]] == [
        "Topic",
        "Config",
        "ClearElr",
        "Partition",
    ]


def test_a_topic_is_deleted_with_its_configuration(quorum: Quorum) -> None:
    quorum.create("t", (0, 1), min_insync_replicas="2")
    responses = quorum.append(quorum.controller.delete_topics(["t", "u"]))
    assert [responses[name].error for name in "tu"] == ["NONE", "UNKNOWN_TOPIC_OR_PARTITION"]
    assert "topic:t" not in quorum.controller.image.configs
    assert not quorum.controller.image.topics
    quorum.create("t", (1,))
    assert quorum.partition("t").leader_epoch == 0


@pytest.mark.parametrize(
    ("count", "assignments", "error"),
    [
        (4, None, "NONE"),
        (3, [(1, 2)], "NONE"),
        (2, None, "INVALID_PARTITIONS"),
        (1, None, "INVALID_PARTITIONS"),
        (3, [(0, 1, 2)], "INVALID_REPLICA_ASSIGNMENT"),
        (4, [(0, 1)], "INVALID_REPLICA_ASSIGNMENT"),
        (3, [(2, 2)], "INVALID_REPLICA_ASSIGNMENT"),
    ],
)
def test_partitions_are_added(
    quorum: Quorum, count: int, assignments: list[tuple[int, ...]] | None, error: str
) -> None:
    quorum.create("t", (0, 1), (1, 2))
    wanted = CreatePartitionsTopic("t", count, assignments)
    responses = quorum.append(quorum.controller.create_partitions([wanted]))
    assert responses["t"].error == error
    expected = count if error == "NONE" else 2
    assert len(
        quorum.controller.image.topics[quorum.controller.image.topic_ids["t"]].partitions
    ) == (expected)
