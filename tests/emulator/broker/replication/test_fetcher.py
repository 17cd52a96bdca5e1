"""A follower: what it asks, what it cuts, what it writes, and how it goes on after trouble."""

from typing import Literal

import pytest

from emulator.broker.replication.fetcher import (
    EXITED,
    FIRST_THREAD_US,
    NEXT_THREAD_US,
    THREAD_US,
    Fetcher,
    is_news,
)
from emulator.cluster import Cluster
from emulator.events import HighWatermarkChanged, LogTruncated, MessageSent, RecordsAppended
from emulator.inputs.statements import (
    CrashBroker,
    CreateCluster,
    CreateTopic,
    CutLink,
    FreezeBroker,
    HealLinks,
    HoldMessages,
    PauseReplica,
    ReleaseMessages,
    ResumeReplica,
    StartBroker,
    ThawBroker,
    Wait,
)
from emulator.protocol import FetchedPartition, RecordBatch
from emulator.releases.profiles import VERSIONS
from emulator.replication.fetching import FAILED, FETCHING, TRUNCATING, FetchState
from emulator.replication.partition import LoseTail, Partition
from tests.support.generations import BY_HIGH_WATERMARK, ON_FETCH, WITH_EPOCHS, since
from tests.support.lab import TP, Lab
from tests.support.running import do

ASKING_FIRST = since("0.11", "2.7")
"""A follower asks where its epoch ends before it fetches."""


def followed_by_1(version: str = "3.9", *values: str) -> Lab:
    """t-0 led by 0; 1 follows when it is told, and has these records, all committed."""
    lab = Lab(version, brokers=3, stepwise=True)
    lab.topic(0, 1)
    lab.fetch(1)
    lab.produce(*values)
    lab.fetch(1, times=2)
    return lab


def append(lab: Lab, row: FetchedPartition, broker: int = 1) -> bool:
    """Give a follower what a fetch brought; True if it wrote anything."""
    replica = lab.replica(broker)
    before = replica.log_end
    lab.cluster.brokers[broker].core.fetchers.take_records(replica, row)
    return replica.log_end != before


def truncate(lab: Lab, offset: int) -> None:
    """Truncate 1's log, as if its tail had been lost."""
    lab.cluster.brokers[1].core.replicas.do(lab.replica(1), LoseTail(offset, "for the test"))


def fetch_state(lab: Lab, leader: int = 0) -> FetchState:
    return lab.cluster.brokers[1].state.core.fetchers.by_source[leader].partitions[TP]


# ---- what it writes


def row(high_watermark: int, *batches: RecordBatch) -> FetchedPartition:
    return FetchedPartition("NONE", high_watermark, 0, list(batches))


def test_a_response_is_written_and_the_hw_follows_up_to_the_own_leo() -> None:
    lab = followed_by_1()
    assert append(lab, row(9, RecordBatch(0, 2, 0, 1)))
    assert lab.ends(1) == "2/2"
    assert lab.epochs(1) == [(0, 0)]


def test_an_empty_response_moves_the_hw_only() -> None:
    lab = followed_by_1("3.9", "a", "b")
    lab.replica(1).high_watermark = 0
    assert not append(lab, row(1))
    assert lab.ends(1) == "2/1"


@pytest.mark.parametrize("version", VERSIONS)
def test_the_hw_of_a_follower_goes_back_with_the_leaders(version: str) -> None:
    lab = followed_by_1(version, "a", "b")
    assert lab.ends(1) == "2/2"
    append(lab, row(1))
    assert lab.ends(1) == "2/1"


def test_of_a_batch_that_was_truncated_only_the_missing_part_is_written() -> None:
    lab = followed_by_1()
    whole = RecordBatch(0, 3, 0, 5)
    append(lab, row(0, whole))
    truncate(lab, 1)
    append(lab, row(0, whole))
    assert lab.replica(1).log.end == 3
    written = [(each.base_offset, each.count) for each in lab.seen.of(RecordsAppended, broker=1)]
    assert written == [(0, 3), (1, 2)]


def test_what_it_has_already_is_not_written_again() -> None:
    lab = followed_by_1("3.9", "a", "b")
    assert not append(lab, row(2, RecordBatch(0, 2, 0, 1)))
    assert lab.ends(1) == "2/2"


# ---- what it cuts


@pytest.mark.parametrize("version", since("2.4"))
def test_a_truncation_takes_the_hw_and_the_epochs_with_it(version: str) -> None:
    lab = followed_by_1(version, "a", "b", "c")
    truncate(lab, 1)
    assert lab.ends(1) == "1/1"
    assert lab.seen.of(HighWatermarkChanged, broker=1)[-1].occasion == "truncate"
    truncate(lab, 0)
    assert lab.epochs(1) == []


@pytest.mark.parametrize("version", since("0.8.1", "2.2"))
def test_up_to_2_3_a_truncation_leaves_the_hw_where_it_is(version: str) -> None:
    lab = followed_by_1(version, "a", "b", "c")
    truncate(lab, 1)
    assert lab.ends(1) == "1/3"


@pytest.mark.parametrize("version", WITH_EPOCHS)
def test_a_truncation_at_the_log_end_drops_epochs_without_records_from_2_7(version: str) -> None:
    lab = followed_by_1(version, "a")
    cache = lab.replica(1).epochs
    assert cache is not None
    cache.assign(3, 1, repair=True)
    truncate(lab, 1)
    drops = version in since("2.7")
    assert lab.epochs(1) == ([(0, 0)] if drops else [(0, 0), (3, 1)])
    assert lab.seen.of(LogTruncated, broker=1) == []


@pytest.mark.parametrize("version", BY_HIGH_WATERMARK)
def test_without_epochs_a_new_leader_makes_it_truncate_to_its_hw(version: str) -> None:
    lab = followed_by_1(version, "a", "b")
    lab.replica(1).high_watermark = 1
    lab.tell(leader=2, epoch=1, isr=[1, 2], brokers=[1])
    assert lab.replica(1).log.end == 1


@pytest.mark.parametrize("version", BY_HIGH_WATERMARK)
def test_without_epochs_the_same_leader_in_a_new_epoch_changes_nothing(version: str) -> None:
    lab = followed_by_1(version, "a", "b")
    lab.replica(1).high_watermark = 1
    lab.tell(leader=0, epoch=1, isr=[0, 1], brokers=[1])
    assert lab.replica(1).log.end == 2


@pytest.mark.parametrize("version", WITH_EPOCHS)
def test_when_a_new_epoch_of_the_same_leader_makes_it_ask_again(version: str) -> None:
    """From 2.1 always; 2.0.1 only if it missed an epoch; before never (KAFKA-7164)."""
    lab = followed_by_1(version, "a")
    lab.tell(leader=0, epoch=1, isr=[0, 1], brokers=[1])
    asks_always = version in since("2.1", "2.7")
    assert (fetch_state(lab).phase == TRUNCATING) is asks_always
    assert fetch_state(lab).epoch == 1
    lab.tell(leader=0, epoch=3, isr=[0, 1], brokers=[1])
    asks_after_a_gap = version in since("2.0.1", "2.7")
    assert (fetch_state(lab).phase == TRUNCATING) is asks_after_a_gap
    assert fetch_state(lab).epoch == 3


# ---- what it asks


@pytest.mark.parametrize("version", WITH_EPOCHS)
def test_where_it_begins_with_a_new_leader(version: str) -> None:
    lab = followed_by_1(version, "a")
    lab.tell(leader=2, epoch=1, isr=[1, 2], brokers=[1])
    begins = fetch_state(lab, leader=2).phase
    assert begins == (FETCHING if version in ON_FETCH else TRUNCATING)


@pytest.mark.parametrize("version", WITH_EPOCHS)
def test_an_empty_cache_makes_it_truncate_to_its_hw(version: str) -> None:
    lab = followed_by_1(version, "a", "b")
    replica = lab.replica(1)
    assert replica.epochs is not None
    replica.epochs.clear()
    replica.high_watermark = 1
    lab.tell(leader=2, epoch=1, isr=[1, 2], brokers=[1])
    assert replica.log.end == 1
    assert fetch_state(lab, leader=2).phase == FETCHING


@pytest.mark.parametrize("version", VERSIONS)
def test_what_a_fetch_says_of_epochs(version: str) -> None:
    lab = followed_by_1(version, "a")
    asked = lab.cluster.brokers[1].core.fetchers.fetch_partition(lab.replica(1), 1_000)
    assert (asked.offset, asked.max_bytes) == (1, 1_000)
    assert asked.current_leader_epoch == (0 if version in since("2.1") else -1)
    assert asked.last_fetched_epoch == (0 if version in ON_FETCH else -1)


# ---- trouble


def by_itself(version: str = "3.9") -> Lab:
    """1 follows 0 by itself."""
    lab = Lab(version, brokers=3)
    lab.topic(0, 1)
    lab.produce("a")
    lab.wait(1200)
    return lab


def test_a_broken_connection_is_made_again_after_the_backoff() -> None:
    lab = by_itself()
    lab.do(CutLink(source=1, destination=0))
    lab.wait(31_000)
    lab.do(HealLinks())
    lab.wait(1500)
    lab.produce("b")
    lab.wait(100)
    assert lab.values(1) == "a b"


def test_a_response_that_does_not_come_is_given_up_after_30_s() -> None:
    lab = by_itself("2.0.1")
    before = len(lab.seen.of(MessageSent, name="FetchRequest"))
    lab.do(FreezeBroker(broker=0))
    lab.wait(29_000)
    assert len(lab.seen.of(MessageSent, name="FetchRequest")) - before <= 1
    lab.do(ThawBroker(broker=0))
    lab.wait(5_000)
    assert len(lab.seen.of(MessageSent, name="FetchRequest")) - before > 2


@pytest.mark.parametrize("version", ["2.1", "2.2", "2.4"])
def test_up_to_2_4_a_follower_with_an_old_epoch_fetches_on_in_its_session(version: str) -> None:
    """KAFKA-9338: only the fetch that begins a session carries the epoch to the check."""
    lab = by_itself(version)
    lab.tell(leader=0, epoch=3, isr=[0, 1], brokers=[0])
    lab.produce("b")
    lab.wait(3000)
    assert fetch_state(lab).phase == FETCHING
    assert lab.values(1) == "a b"


@pytest.mark.parametrize("version", ["2.1", "2.4", "2.5", "3.9"])
def test_a_session_that_begins_with_an_old_epoch_is_fenced(version: str) -> None:
    lab = by_itself(version)
    lab.do(CutLink(source=1, destination=0))
    lab.tell(leader=0, epoch=3, isr=[0, 1], brokers=[0])
    lab.wait(31_000)
    lab.do(HealLinks())
    lab.wait(3000)
    assert fetch_state(lab).phase == FAILED


@pytest.mark.parametrize("version", since("2.5"))
def test_a_fenced_follower_waits_for_the_next_order(version: str) -> None:
    lab = by_itself(version)
    lab.tell(leader=0, epoch=3, isr=[0, 1], brokers=[0])
    lab.wait(3000)
    assert fetch_state(lab).phase == FAILED
    lab.tell(leader=0, epoch=3, isr=[0, 1], brokers=[1])
    lab.produce("b")
    lab.wait(3000)
    assert lab.values(1) == "a b"


@pytest.mark.parametrize("version", since("2.1"))
def test_a_follower_that_knows_more_than_its_leader_tries_again_and_again(version: str) -> None:
    lab = by_itself(version)
    lab.tell(leader=0, epoch=3, isr=[0, 1], brokers=[1])
    lab.wait(3500)
    assert fetch_state(lab).phase in (FETCHING, TRUNCATING)
    lab.tell(leader=0, epoch=3, isr=[0, 1], brokers=[0])
    lab.produce("b")
    lab.wait(3000)
    assert lab.values(1) == "a b"


def test_a_follower_of_a_dead_leader_goes_on_when_it_returns() -> None:
    lab = Lab("3.9", brokers=3)
    lab.topic(1, 2, config={"unclean.leader.election.enable": "false"})
    lab.do(CrashBroker(broker=2))
    lab.wait(21_000)
    lab.do(CrashBroker(broker=1))
    lab.wait(21_000)
    lab.do(StartBroker(broker=2))
    lab.wait(100)
    assert lab.replica(2).leader == -1
    lab.do(StartBroker(broker=1))
    lab.wait(3000)
    assert lab.replica(2).leader == 1


def test_a_paused_follower_writes_nothing_and_then_catches_up() -> None:
    lab = by_itself()
    lab.do(PauseReplica(tp=TP, broker=1))
    lab.produce("b")
    lab.wait(1000)
    assert lab.values(1) == "a"
    lab.do(ResumeReplica(tp=TP, broker=1))
    lab.wait(1000)
    assert lab.values(1) == "a b"


@pytest.mark.parametrize("version", ASKING_FIRST)
def test_after_a_pause_it_asks_for_its_epoch_again(version: str) -> None:
    """A leader may have come in between, whose log parts from its own."""
    lab = Lab(version, brokers=3, config={"auto.leader.rebalance.enable": "false"})
    lab.topic(0, 1, 2)
    lab.produce("a")
    lab.wait(1200)
    lab.do(PauseReplica(tp=TP, broker=2))
    lab.produce("b")
    lab.wait(100)
    lab.do(PauseReplica(tp=TP, broker=1))
    append(lab, row(1, RecordBatch(1, 1, 0, 2)), broker=2)
    append(lab, row(1, RecordBatch(2, 1, 0, 99)), broker=2)
    lab.tell(leader=1, epoch=1, isr=[1, 2], brokers=[1, 2])
    lab.produce("c", producer="p2")
    lab.do(ResumeReplica(tp=TP, broker=2))
    lab.wait(3000)
    assert lab.log(2) == lab.log(1)


@pytest.mark.parametrize("version", since("2.1", "2.7"))
def test_a_response_that_is_late_says_nothing_of_the_epoch_that_it_was_not_asked_in(
    version: str,
) -> None:
    """FENCED_LEADER_EPOCH would make the fetcher give the partition up for good."""
    lab = Lab(version, brokers=3)
    lab.topic(0, 1)
    lab.produce("a", acks=-1, retries=9)
    lab.do(HoldMessages(source=1, destination=0, api="OffsetsForLeaderEpochRequest"))
    lab.tell(leader=0, epoch=1, isr=[0], brokers=[1])
    lab.wait(600)
    lab.tell(leader=0, epoch=2, isr=[0], brokers=[0])
    lab.do(HoldMessages(source=0, destination=1, api="OffsetsForLeaderEpochResponse"))
    lab.do(ReleaseMessages(source=1, destination=0))
    lab.wait(5)
    lab.tell(leader=0, epoch=2, isr=[0], brokers=[1])
    lab.do(ReleaseMessages(source=0, destination=1))
    lab.produce("b", acks=1)
    lab.wait(3_000)
    assert fetch_state(lab).phase == FETCHING
    assert lab.values(1) == "a b"


def several_partitions(version: str, count: int) -> Lab:
    """t-0, t-1, ... led by 0 and followed by 1, all in one fetch session."""
    lab = Lab(version, brokers=2)
    lab.do(CreateTopic(topic="t", assignment=[[0, 1]] * count))
    lab.wait(1000)
    return lab


def test_a_partition_that_is_paused_does_not_keep_a_response_from_the_next_one() -> None:
    lab = several_partitions("3.9", 2)
    lab.do(HoldMessages(source=1, destination=0, api="FetchRequest"))
    lab.wait(600)
    for partition in (0, 1):
        lab.produce("a", partition=partition)
    lab.do(HoldMessages(source=0, destination=1, api="FetchResponse"))
    lab.do(ReleaseMessages(source=1, destination=0))
    lab.wait(5)
    lab.do(PauseReplica(tp="t-0", broker=1))
    lab.do(ReleaseMessages(source=0, destination=1))
    lab.wait(1)
    assert (lab.replica(1, "t-0").log_end, lab.replica(1, "t-1").log_end) == (0, 1)


@pytest.mark.parametrize("version", ASKING_FIRST)
def test_an_epoch_response_for_a_paused_partition_settles_the_next_one(version: str) -> None:
    """The first request is sent for t-0, before the other two have been added to the fetcher."""
    lab = several_partitions(version, 3)
    for partition in range(3):
        lab.produce("a", partition=partition)
    lab.wait(1000)
    lab.do(HoldMessages(source=0, destination=1, api="OffsetsForLeaderEpochResponse"))
    lab.do(CrashBroker(broker=1))
    lab.do(StartBroker(broker=1))
    lab.wait(50)
    lab.do(ReleaseMessages(source=0, destination=1, count=1))
    lab.wait(5)
    lab.do(PauseReplica(tp="t-1", broker=1))
    lab.do(ReleaseMessages(source=0, destination=1))
    lab.wait(1)
    followed = lab.cluster.brokers[1].state.core.fetchers.by_source[0].partitions
    assert {tp: state.phase for tp, state in followed.items()} == {"t-0": FETCHING, "t-2": FETCHING}


# ---- fetchers without partitions


@pytest.mark.parametrize(
    ("version", "request_number", "follows", "waits"),
    [
        ("1.0", 0, False, False),
        ("1.0", 1, False, True),
        ("1.0", 1, True, False),
        ("1.0", EXITED, False, False),
        ("1.0", EXITED, True, False),
        ("0.10.2", EXITED, False, True),
        ("0.10.2", EXITED, True, True),
        ("1.1", 1, False, False),
    ],
)
def test_which_request_the_end_of_idle_fetchers_waits_for(
    version: str, request_number: int, follows: bool, waits: bool
) -> None:
    """Up to 1.0 for that of a thread without partitions.

    Before 0.11 also for the one that a thread had sent before it began to end the process
    (KAFKA-4039).
    ``AbstractFetcherManager.shutdownIdleFetcherThreads``, ``ShutdownableThread.shutdown``.
    """
    fetchers = several_partitions(version, 1).cluster.brokers[1].core.fetchers
    fetcher = fetchers.state.by_source[0]
    fetcher.request = request_number
    if not follows:
        fetcher.partitions = {}
    assert fetchers.has_idle_request() is waits


def test_idle_fetchers_are_ended_and_others_are_not() -> None:
    fetchers = several_partitions("3.9", 1).cluster.brokers[1].core.fetchers
    fetchers.state.by_source[2] = Fetcher(2)
    fetchers.shut_down_idle()
    assert list(fetchers.state.by_source) == [0]


def test_partitions_that_are_gathered_are_fetched_by_one_request() -> None:
    lab = several_partitions("3.9", 2)
    fetchers = lab.cluster.brokers[1].core.fetchers
    for tp in ("t-0", "t-1"):
        fetchers.remove(tp)
    fetchers.state.by_source[0].request = 0
    before = len(lab.seen.of(MessageSent, name="FetchRequest", source=1))
    fetchers.gather()
    for tp in ("t-0", "t-1"):
        fetchers.begin(lab.replica(1, tp))
    assert len(lab.seen.of(MessageSent, name="FetchRequest", source=1)) == before
    fetchers.go_on()
    sent = lab.seen.of(MessageSent, name="FetchRequest", source=1)[before:]
    assert [[row[0] for row in each.detail] for each in sent] == [["t-0", "t-1"]]


# ---- what a request says of the follower


@pytest.mark.parametrize("version", ASKING_FIRST)
def test_the_question_for_an_epochs_end_names_the_latest_epoch_of_the_log(version: str) -> None:
    lab = followed_by_1(version, "a")
    fetchers, replica = lab.cluster.brokers[1].core.fetchers, lab.replica(1)
    fences = version in since("2.1")
    assert fetchers.epoch_question(replica) == (replica.leader_epoch if fences else -1, 0)
    assert replica.epochs is not None
    replica.epochs.entries.clear()
    assert fetchers.epoch_question(replica)[1] == -1


@pytest.mark.parametrize(
    ("version", "mode", "is_sent"),
    [("3.9", "zk", False), ("3.4", "kraft", False), ("3.9", "kraft", True), ("4.1", "kraft", True)],
)
def test_fetches_carry_the_broker_epoch_without_zookeeper_from_3_5(
    version: str, mode: Literal["zk", "kraft"], is_sent: bool
) -> None:
    cluster = Cluster(CreateCluster(brokers=3, version=version, mode=mode))
    do(cluster, Wait(duration_us=2_000_000))
    broker = cluster.brokers[1]
    expected = broker.context.process.broker_epoch if is_sent else -1
    assert (broker.core.fetchers.replica_epoch(), expected > 0) == (expected, is_sent)


def test_without_zookeeper_a_fetchers_thread_takes_a_while_to_start() -> None:
    """The first of a process longest; two of them do not start at the same moment."""
    cluster = Cluster(CreateCluster(brokers=3, version="4.1"))
    do(cluster, Wait(duration_us=2_000_000))
    fetchers = cluster.brokers[2].core.fetchers
    now_us = cluster.kernel.now
    pauses = [fetchers._new_fetcher(source).resume_us - now_us for source in (0, 1)]
    assert pauses == [FIRST_THREAD_US, FIRST_THREAD_US + NEXT_THREAD_US]
    do(cluster, Wait(duration_us=100_000))
    del fetchers.state.by_source[0]
    assert fetchers._new_fetcher(0).resume_us - cluster.kernel.now == THREAD_US


# ---- what is news in a response


@pytest.mark.parametrize(
    ("row", "high_watermark"),
    [
        (FetchedPartition("NONE", 3, 0, []), 2),
        (FetchedPartition("NONE", 6, 0, []), 6),
        (FetchedPartition("NONE", 2, 1, []), 2),
        (FetchedPartition("NONE", 2, 0, [RecordBatch(5, 3, 2, 9)]), 2),
        (FetchedPartition("NONE", 2, 0, [], (1, 4)), 2),
        (FetchedPartition("FENCED_LEADER_EPOCH", 2, 0, []), 2),
    ],
)
def test_a_higher_watermark_or_log_start_records_a_truncation_and_an_error_are_news(
    row: FetchedPartition, high_watermark: int
) -> None:
    assert is_news(row, Partition(TP, 1, log_end=5, high_watermark=high_watermark))


def test_what_a_follower_knows_is_no_news() -> None:
    row = FetchedPartition("NONE", 2, 0, [])
    assert not is_news(row, Partition(TP, 1, log_end=5, high_watermark=2))
