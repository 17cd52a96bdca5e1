"""Replicas: logs as runs of records, cut and loaded exactly."""

from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from emulator.events import (
    BrokerStateChanged,
    ClusterCreated,
    Event,
    HighWatermarkChanged,
    HighWatermarksCheckpointed,
    LogCreated,
    LogDeleted,
    LogLoaded,
    LogStartOffsetChanged,
    LogTruncated,
    PartitionsAdded,
    PartitionStateChanged,
    PartitionStateRemoved,
    RecordsAppended,
    RemoteLogEndOffsetChanged,
    ReplicaRoleChanged,
    TopicCreated,
    TopicDeleted,
)
from sessions.model.cluster_view import ClusterView
from sessions.model.handlers import replicas
from sessions.model.states import LongLog, ReplicaState, Run
from tests.sessions.examples import folded

TP = "t-0"


def replica_after(*events: Event) -> ReplicaState:
    view = folded([ClusterCreated(1, 0, 0, "3.9", 1, [1, 2], [], {}, False), *events])
    return view.partitions[TP].replica_states[1]


def appended(base: int, count: int, epoch: int, first: int) -> RecordsAppended:
    return RecordsAppended(2, 0, 0, TP, 1, base, count, epoch, first)


def test_records_that_follow_each_other_in_every_way_make_one_run() -> None:
    replica = replica_after(appended(0, 2, 0, 1), appended(2, 3, 0, 3))
    assert replica.log == [Run(0, 5, 0, 1)]
    assert replica.log_end_offset == 5


def test_another_epoch_or_a_gap_in_the_record_ids_begins_another_run() -> None:
    replica = replica_after(appended(0, 2, 0, 1), appended(2, 1, 1, 3), appended(3, 1, 1, 9))
    assert replica.log == [Run(0, 2, 0, 1), Run(2, 1, 1, 3), Run(3, 1, 1, 9)]


def test_a_follower_shares_the_runs_that_its_leader_has_too() -> None:
    view = folded(
        [
            ClusterCreated(1, 0, 0, "3.9", 1, [1, 2], [], {}, False),
            PartitionStateChanged(2, 0, 0, TP, 1, 0, [1, 2], 1, 0),
            appended(0, 2, 0, 1),
            appended(2, 1, 1, 9),
            *(
                structs.replace(append, broker=2)
                for append in (appended(0, 2, 0, 1), appended(2, 1, 1, 8))
            ),
        ]
    )
    leader, follower = (view.partitions[TP].replica_states[broker].log for broker in (1, 2))
    assert follower == [Run(0, 2, 0, 1), Run(2, 1, 1, 8)]
    assert follower[0] is leader[0]


def test_a_long_log_is_kept_encoded_and_works_as_before() -> None:
    count = 3 * replicas.LONG_RUNS
    appends = [appended(base, 1, 0, 1 + 7 * base) for base in range(count)]
    replica = replica_after(*appends)
    runs = [Run(base, 1, 0, 1 + 7 * base) for base in range(count)]
    assert isinstance(replica.log, LongLog)
    assert replica.log.objects < replicas.LONG_RUNS
    assert replica.log == runs
    replica = replica_after(
        *appends,
        LogStartOffsetChanged(3, 0, 0, TP, 1, 700),
        LogTruncated(4, 0, 0, TP, 1, 1_000, count, "hw"),
        appended(1_000, 1, 0, 7 * 999 + 2),
    )
    assert replica.log == [*runs[700:999], Run(999, 2, 0, 7 * 999 + 1)]


def test_a_truncation_may_cut_through_a_run() -> None:
    replica = replica_after(
        appended(0, 5, 0, 1), appended(5, 2, 1, 9), LogTruncated(3, 0, 0, TP, 1, 3, 7, "hw")
    )
    assert (replica.log, replica.log_end_offset) == ([Run(0, 3, 0, 1)], 3)


def test_a_later_log_start_drops_and_truncates_runs() -> None:
    replica = replica_after(
        appended(0, 5, 0, 1), appended(5, 4, 1, 9), LogStartOffsetChanged(3, 0, 0, TP, 1, 6)
    )
    assert (replica.log, replica.log_start, replica.log_end_offset) == ([Run(6, 3, 1, 10)], 6, 9)


def test_what_is_below_the_log_start_stays_on_disk_until_its_segment_is_deleted() -> None:
    moved = LogStartOffsetChanged(3, 0, 0, TP, 1, 4, 0)
    replica = replica_after(appended(0, 5, 0, 1), moved)
    assert (replica.log, replica.log_start) == ([Run(0, 5, 0, 1)], 4)
    replica = replica_after(
        appended(0, 5, 0, 1), moved, structs.replace(moved, seq=4, first_segment=3)
    )
    assert (replica.log, replica.log_start) == ([Run(3, 2, 0, 4)], 4)


def test_a_log_that_begins_past_its_end_is_empty() -> None:
    replica = replica_after(appended(0, 5, 0, 1), LogStartOffsetChanged(3, 0, 0, TP, 1, 8))
    assert (replica.log, replica.log_start, replica.log_end_offset) == ([], 8, 8)


def test_a_loaded_log_has_what_the_disk_had() -> None:
    replica = replica_after(
        appended(0, 5, 0, 1), LogLoaded(3, 0, 0, TP, 1, 1, 4, 2, [(0, 0), (3, 3)])
    )
    assert (replica.log, replica.log_start) == ([Run(0, 4, 0, 1)], 1)
    assert (replica.log_end_offset, replica.high_watermark, replica.role) == (4, 2, "offline")
    assert replica.epochs == [(0, 0), (3, 3)]


def test_a_crashed_brokers_replica_has_the_checkpointed_hw_as_far_as_its_log_goes() -> None:
    replica = replica_after(
        ReplicaRoleChanged(2, 0, 0, TP, 1, "leader", 1, 0),
        appended(0, 5, 0, 1),
        HighWatermarkChanged(3, 0, 0, TP, 1, 4, 0, "fetch"),
        RemoteLogEndOffsetChanged(4, 0, 0, TP, 1, 2, 4),
        HighWatermarksCheckpointed(5, 0, 0, 1, {TP: 3}),
        HighWatermarkChanged(6, 0, 0, TP, 1, 5, 4, "fetch"),
        BrokerStateChanged(7, 0, 0, 1, "crashed"),
    )
    assert (replica.role, replica.high_watermark, replica.remote_leo) == ("offline", 3, {})
    assert replica.log_end_offset == 5


def test_a_new_follower_forgets_what_it_remembered_as_leader() -> None:
    replica = replica_after(
        ReplicaRoleChanged(2, 0, 0, TP, 1, "leader", 1, 0),
        RemoteLogEndOffsetChanged(3, 0, 0, TP, 1, 2, 4),
        ReplicaRoleChanged(4, 0, 0, TP, 1, "follower", 2, 1),
    )
    assert replica.remote_leo == {}
    assert (replica.role, replica.leader_epoch) == ("follower", 1)


def test_releases_without_leader_epochs_have_no_cache() -> None:
    for version, epochs in (("0.10.2", None), ("0.11", [])):
        view = folded(
            [
                ClusterCreated(1, 0, 0, version, 1, [1], [], {}, False),
                LogCreated(2, 0, 0, TP, 1),
            ]
        )
        assert view.partitions[TP].replica_states[1].epochs == epochs


def test_a_deleted_topics_partition_stays_until_the_last_disk_has_lost_it() -> None:
    view = folded(
        [
            TopicCreated(1, 0, 0, "t", [[1, 2]], {}),
            LogCreated(2, 0, 0, TP, 1),
            LogCreated(3, 0, 0, TP, 2),
            PartitionStateRemoved(4, 0, 0, TP),
            LogDeleted(5, 0, 0, TP, 1),
            TopicDeleted(6, 0, 0, "t"),
        ]
    )
    assert view.partitions[TP].replicas == []
    assert set(view.partitions[TP].replica_states) == {2}
    view.apply(LogDeleted(7, 0, 0, TP, 2))
    assert view.partitions == {}


def test_a_deleted_topic_is_gone_whole_though_its_partitions_are_numbered_with_gaps() -> None:
    """An outsider may have written the topic's znode."""
    view = folded(
        [
            TopicCreated(1, 0, 0, "t", [[1]], {}),
            PartitionsAdded(2, 0, 0, "t", 2, [[1]]),
            TopicDeleted(3, 0, 0, "t"),
        ]
    )
    assert view.partitions == {}


Step = tuple[bool, int]


@given(st.lists(st.tuples(st.booleans(), st.integers(1, 6)), max_size=30))
def test_runs_say_the_same_as_a_list_of_records(steps: list[Step]) -> None:
    log: list[tuple[int, int]] = []
    view, next_record = ClusterView(), 1
    for number, (cuts, size) in enumerate(steps):
        end, epoch = len(log), number // 3
        if cuts:
            keep = max(0, end - size)
            view.apply(LogTruncated(1, 0, 0, TP, 1, keep, end, "test"))
            del log[keep:]
        else:
            view.apply(RecordsAppended(1, 0, 0, TP, 1, end, size, epoch, next_record))
            log += [(next_record + i, epoch) for i in range(size)]
            next_record += size
    runs = view.log(TP, 1)
    assert [(r.first_record + i, r.leader_epoch) for r in runs for i in range(r.count)] == log
    assert [r.base_offset for r in runs] == [
        sum(q.count for q in runs[:i]) for i in range(len(runs))
    ]


def test_every_handler_is_for_a_type_of_event() -> None:
    assert all(issubclass(kind, Event) for kind in replicas.HANDLERS)
