"""States of partitions and replicas: a row says what held from one event until another."""

from collections.abc import Iterable
from itertools import pairwise

from hypothesis import given

from emulator.events import (
    ClusterCreated,
    ConfigChanged,
    Event,
    LogCreated,
    LogDeleted,
    LogLoaded,
    LogStartOffsetChanged,
    PartitionsAdded,
    PartitionStateChanged,
    PartitionStateRemoved,
    ReplicaRoleChanged,
    ReplicasAssigned,
    TopicCreated,
    TopicDeleted,
)
from sessions.dataset.rows.state_fold import StateFold
from sessions.dataset.schema import Table
from sessions.dataset.tables import PARTITION_STATES, REPLICA_STATES
from sessions.dataset.writer import Row as Values
from tests.sessions.dataset.reading import made
from tests.sessions.dataset.reference import Moment, Row
from tests.sessions.dataset.streams import BROKERS, Story, committed_story, stories

TP = "orders-0"


def folded(events: Iterable[Event]) -> tuple[list[Row], list[Row]]:
    """The rows of ``partition_states`` and ``replica_states``."""
    found: dict[str, list[Values]] = {"partition_states": [], "replica_states": []}
    fold = StateFold(found["partition_states"].append, found["replica_states"].append)
    handlers = fold.handlers()
    for event in events:
        if handler := handlers.get(type(event)):
            handler(event)
    fold.finish()

    def rows(table: Table) -> list[Row]:
        return made(table, found[table.name])

    return rows(PARTITION_STATES), rows(REPLICA_STATES)


def at(rows: list[Row], seq: int, **key: object) -> Row | None:
    """The one row of an object that holds after event ``seq``."""
    found = [
        row
        for row in rows
        if row["from_seq"] <= seq
        and (row["to_seq"] is None or seq < row["to_seq"])
        and all(row[name] == value for name, value in key.items())
    ]
    assert len(found) <= 1
    return found[0] if found else None


@given(stories(steps_max=15))
def test_at_any_event_the_rows_say_what_is_so(story: Story) -> None:
    partitions, replicas = folded(story.events)
    moment = Moment()
    for event in story.events:
        moment.apply(event)
        for tp in story.partitions:
            row = at(partitions, event.seq, tp=tp)
            if row is not None:
                assert row.items() >= moment.partition(tp).items() or event.seq < 3
            for broker in BROKERS:
                row = at(replicas, event.seq, tp=tp, broker=broker)
                assert row is None or row.items() >= moment.replica(tp, broker).items()


@given(stories())
def test_rows_of_an_object_follow_each_other_and_each_says_something_new(story: Story) -> None:
    partitions, replicas = folded(story.events)
    ends = ("from_seq", "from_us", "to_seq", "to_us")
    by_object: dict[object, list[Row]] = {}
    for row in partitions + replicas:
        by_object.setdefault((row["tp"], row.get("broker")), []).append(row)
    for rows in by_object.values():
        for row, after in pairwise(rows):
            assert (row["to_seq"], row["to_us"]) == (after["from_seq"], after["from_us"])
            assert row["from_seq"] < row["to_seq"]
            assert {k: row[k] for k in row if k not in ends} != {
                k: after[k] for k in after if k not in ends
            }
        assert (rows[-1]["to_seq"], rows[-1]["to_us"]) == (None, None)


def test_the_leaders_high_watermark_and_log_end_are_the_partitions() -> None:
    partitions, _ = folded(committed_story().events)
    steps = [(row["leo"], row["hw"]) for row in partitions if row["state"] == "online"]
    assert steps == [(None, None), (0, 0), (3, 0), (3, 3)]  # at first it does not lead yet


def test_a_follower_is_what_its_leader_remembers_of_it() -> None:
    _, replicas = folded(committed_story().events)
    remembered = [row["remote_leo"] for row in replicas if row["broker"] == 1]
    assert remembered == [None, None, None, None, 3, 3]


def test_what_the_old_leader_remembered_is_not_what_the_new_one_does() -> None:
    story = committed_story()
    story.elect(TP, 1)
    _, replicas = folded(story.events)
    last = {row["broker"]: row["remote_leo"] for row in replicas if row["to_seq"] is None}
    assert last == {0: None, 1: None, 2: None}


def test_a_partition_without_a_leader_has_no_high_watermark() -> None:
    story = committed_story()
    story.tell(PartitionStateChanged, TP, -1, 1, [0], 1, 9)
    story.tell(PartitionStateRemoved, TP)
    *_, offline, gone = folded(story.events)[0]
    assert (offline["state"], offline["leader"], offline["hw"]) == ("offline", -1, None)
    assert (gone["state"], gone["leader"], gone["isr"]) == ("nonexistent", None, [])


def test_a_restarted_replica_is_as_it_was_read_from_disk() -> None:
    story = committed_story()
    story.tell(ReplicaRoleChanged, TP, 2, "offline", 0, 0)
    story.tell(LogLoaded, TP, 2, 1, 2, 1, [(0, 0)])
    row = at(folded(story.events)[1], len(story.events), broker=2)
    assert row is not None
    assert (row["role"], row["log_start"], row["leo"], row["hw"]) == ("offline", 1, 2, 1)


def test_deleting_a_topic_ends_its_rows_and_its_logs_go_one_by_one() -> None:
    story = committed_story()
    story.tell(TopicDeleted, "orders")
    story.tell(LogDeleted, TP, 0)
    partitions, replicas = folded(story.events)
    assert partitions[-1]["to_seq"] == len(story.events) - 1
    assert {row["broker"] for row in replicas if row["to_seq"] is None} == {1, 2}


def test_unclean_election_is_the_topics_or_the_releases() -> None:
    old = ClusterCreated(1, 0, 0, "0.10.2", 1, list(BROKERS), [], {}, False)
    key, assignment = "unclean.leader.election.enable", [list(BROKERS)]
    partitions, _ = folded(
        [
            old,
            TopicCreated(2, 0, 1, "orders", assignment, {}),
            ConfigChanged(3, 0, 1, "topic", "orders", key, "false"),
            PartitionsAdded(4, 0, 1, "orders", 1, assignment),
            ConfigChanged(5, 0, 1, "topic", "orders", key, ""),
        ]
    )
    of_first = [row["unclean_election"] for row in partitions if row["partition"] == 0]
    of_second = [row["unclean_election"] for row in partitions if row["partition"] == 1]
    assert (of_first, of_second) == ([True, False, True], [False, True])


def test_min_isr_is_the_topics() -> None:
    story = Story(min_isr=2)
    story.tell(ConfigChanged, "topic", "orders", "min.insync.replicas", "3")
    story.tell(ConfigChanged, "topic", "orders", "min.insync.replicas", "")
    story.tell(ConfigChanged, "topic", "payments", "min.insync.replicas", "7")
    story.tell(ConfigChanged, "broker", "0", "min.insync.replicas", "7")
    story.tell(PartitionsAdded, "orders", 1, [[1, 2]])
    partitions, _ = folded(story.events)
    assert [row["min_isr"] for row in partitions] == [2, 2, 2, 3, 1, 1]


def test_assigned_replicas_and_log_starts_are_kept() -> None:
    story = committed_story()
    story.tell(ReplicasAssigned, TP, [2, 1], [], [0])
    story.tell(LogStartOffsetChanged, TP, 1, 2)
    story.tell(LogCreated, TP, 1)
    partitions, replicas = folded(story.events)
    assert partitions[-1]["replicas"] == [2, 1]
    assert [row["log_start"] for row in replicas if row["broker"] == 1][-1] == 2
