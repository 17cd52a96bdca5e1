"""A follower whose offset its leader does not have: it asks, cuts, begins anew, or ends."""

import pytest

from emulator.broker.replication.fetcher import Fetcher, SingleRound
from emulator.broker.replication.replica import LEADER, Replica
from emulator.events import BrokerStateChanged, LogStartOffsetChanged, MessageSent
from emulator.inputs.statements import CrashBroker, PauseReplica, ResumeReplica, StartBroker
from emulator.protocol import ListOffsetsRequest, ListOffsetsResponse
from emulator.releases.profiles import VERSIONS
from emulator.replication.fetching import FAILED, FETCHING, OUT_OF_RANGE, TRUNCATING
from emulator.replication.partition import AdjustToLeader
from emulator.storage.log import RecordBatches
from tests.support.generations import since
from tests.support.lab import SECOND_US, TP, Lab

IN_ORDER = "fatal_fetch_error_exits_in_order"


def asleep(version: str, unclean: str = "true") -> tuple[Lab, Replica]:
    """1 has a to e and is paused; the leader 0 is about to change behind its back."""
    lab = Lab(version, brokers=3)
    lab.topic(0, 1, config={"unclean.leader.election.enable": unclean})
    lab.produce(*"abcde")
    lab.wait(1200)
    lab.do(PauseReplica(tp=TP, broker=1))
    return lab, lab.replica(0)


def wake(lab: Lab) -> None:
    lab.do(ResumeReplica(tp=TP, broker=1))
    lab.wait(3000)


def forget_epochs(replica: Replica) -> None:
    """Only without a common epoch does a follower of later releases get out of range."""
    if replica.epochs is not None:
        replica.epochs.clear()


@pytest.mark.parametrize("version", VERSIONS)
def test_v22_a_log_that_begins_later_makes_the_follower_begin_anew(version: str) -> None:
    lab, leader = asleep(version)
    lab.produce(*"fghijklmnopqrst")
    leader.log.start = leader.log_start = 8
    leader.log.batches = RecordBatches(leader.log.batches[8:])
    wake(lab)
    assert lab.replica(1).log.start == 8
    assert lab.replica(1).log.end == 20
    assert [each.log_start for each in lab.seen.of(LogStartOffsetChanged, broker=1)] == [8]
    assert lab.replica(1).log.batches == leader.log.batches


@pytest.mark.parametrize("version", VERSIONS)
def test_v22_a_log_that_has_grown_past_the_follower_since_is_fetched_on_from_0_9(
    version: str,
) -> None:
    """Up to 0.8 the follower throws its log away and begins where the leader's log does."""
    lab, leader = asleep(version)
    lab.produce(*"fgh")
    leader.log.start = leader.log_start = 3
    fetchers = lab.cluster.brokers[1].core.fetchers
    assert fetchers.adjust(lab.replica(1), ListOffsetsResponse(0, TP, "NONE", 3, 8))
    wiped = version in since("0.8.1", "0.8.2")
    ends = (lab.replica(1).log.start, lab.replica(1).log.end)
    assert ends == ((3, 3) if wiped else (0, 5))


@pytest.mark.parametrize("version", since("0.9"))
def test_v22_a_log_that_begins_later_but_not_too_late_is_fetched_on(version: str) -> None:
    """From 0.11 on the follower deletes what its leader has deleted (KIP-107)."""
    lab, leader = asleep(version)
    lab.produce(*"fgh")
    leader.log.start = leader.log_start = 3
    wake(lab)
    start = 3 if version in since("0.11") else 0
    assert (lab.replica(1).log.start, lab.replica(1).log.end) == (start, 8)


@pytest.mark.parametrize("version", VERSIONS)
def test_a_shorter_log_makes_the_follower_truncate_where_unclean_election_is_allowed(
    version: str,
) -> None:
    lab, leader = asleep(version, unclean="true")
    leader.log.truncate(2)
    leader.log_end = 2
    leader.high_watermark = 2
    forget_epochs(leader)
    forget_epochs(lab.replica(1))
    wake(lab)
    assert lab.replica(1).log.end == 2
    assert lab.cluster.broker_state(1) == "running"


@pytest.mark.parametrize("version", since("0.8.2", "0.10.2"))
def test_a_shorter_log_ends_the_process_where_it_is_not_allowed(version: str) -> None:
    lab, leader = asleep(version, unclean="false")
    leader.log.truncate(2)
    leader.log_end = 2
    leader.high_watermark = 2
    wake(lab)
    ends = "controlled_shutdown" if lab.cluster.profile.has(IN_ORDER) else "crashed"
    assert lab.cluster.broker_state(1) == ends
    assert lab.seen.of(BrokerStateChanged, broker=1, state=ends) != []
    assert lab.replica(1).log.end == 5


@pytest.mark.parametrize("version", VERSIONS)
def test_the_question_carries_the_epoch_from_2_1(version: str) -> None:
    lab, _ = asleep(version)
    fetchers = lab.cluster.brokers[1].core.fetchers
    fenced = version in since("2.1")
    assert fetchers.ends_question(TP) == ListOffsetsRequest(1, TP, 0 if fenced else -1)


def test_while_it_asks_it_fetches_nothing() -> None:
    lab, leader = asleep("0.10.2")
    leader.log.truncate(2)
    leader.log_end = 2
    leader.high_watermark = 2
    before = len(lab.seen.of(MessageSent, name="ListOffsetsRequest"))
    wake(lab)
    assert len(lab.seen.of(MessageSent, name="ListOffsetsRequest")) == before + 1


def asking(lab: Lab, phase: str = OUT_OF_RANGE) -> Fetcher:
    """1's fetcher from 0, as if it had asked request 77 where the leader's log ends."""
    lab.do(ResumeReplica(tp=TP, broker=1))
    fetcher = lab.cluster.brokers[1].state.core.fetchers.by_source[0]
    fetcher.request, fetcher.partitions[TP].phase = 77, phase
    return fetcher


def test_who_is_fenced_while_it_asks_gives_up_until_the_controllers_next_word() -> None:
    """AbstractFetcherThread.handleOutOfRangeError: onPartitionFenced marks the partition failed."""
    lab, _ = asleep("3.9")
    fetcher = asking(lab)
    response = ListOffsetsResponse(77, TP, "FENCED_LEADER_EPOCH", 0, 2)
    lab.cluster.brokers[1].core.fetchers.on_ends_response(0, response)
    assert fetcher.partitions[TP].phase == FAILED
    assert TP not in fetcher.in_session
    assert TP not in fetcher.changed


@pytest.mark.parametrize("error", ["NOT_LEADER_OR_FOLLOWER", "UNKNOWN_LEADER_EPOCH"])
def test_who_is_refused_a_response_asks_again_after_a_while(error: str) -> None:
    lab, _ = asleep("3.9")
    fetcher = asking(lab)
    response = ListOffsetsResponse(77, TP, error, 0, 2)
    lab.cluster.brokers[1].core.fetchers.on_ends_response(0, response)
    assert fetcher.partitions[TP].resume_us == lab.cluster.now_us + SECOND_US
    assert lab.replica(1).log.end == 5


@pytest.mark.parametrize(
    ("number", "phase"), [(76, OUT_OF_RANGE), (78, OUT_OF_RANGE), (77, FETCHING), (77, TRUNCATING)]
)
def test_a_response_that_nobody_waits_for_truncates_nothing(number: int, phase: str) -> None:
    lab, _ = asleep("3.9")
    asking(lab, phase)
    response = ListOffsetsResponse(number, TP, "NONE", 0, 2)
    lab.cluster.brokers[1].core.fetchers.on_ends_response(0, response)
    assert lab.replica(1).log.end == 5


@pytest.mark.parametrize(("log_start", "end"), [(0, 5), (5, 8)])
def test_a_log_that_ends_or_begins_just_where_the_followers_ends_leaves_it(
    log_start: int, end: int
) -> None:
    lab, _ = asleep("0.10.2", unclean="false")
    asking(lab)
    response = ListOffsetsResponse(77, TP, "NONE", log_start, end)
    lab.cluster.brokers[1].core.fetchers.on_ends_response(0, response)
    assert (lab.replica(1).log.start, lab.replica(1).log.end) == (0, 5)
    assert lab.cluster.broker_state(1) == "running"


def test_who_leads_by_now_truncates_nothing() -> None:
    lab, _ = asleep("3.9")
    asking(lab)
    lab.replica(1).role = LEADER
    response = ListOffsetsResponse(77, TP, "NONE", 0, 2)
    lab.cluster.brokers[1].core.fetchers.on_ends_response(0, response)
    assert lab.replica(1).log.end == 5


@pytest.mark.parametrize("error", ["NOT_LEADER_OR_FOLLOWER", "FENCED_LEADER_EPOCH"])
def test_a_single_round_that_is_refused_a_response_truncates_nothing(error: str) -> None:
    lab, _ = asleep("3.9")
    broker = lab.cluster.brokers[1]
    broker.state.core.fetchers.single_rounds[77] = SingleRound(TP, 0)
    broker.core.rounds.on_ends_response(ListOffsetsResponse(77, TP, error, 0, 2))
    assert lab.replica(1).log.end == 5
    assert broker.state.core.fetchers.single_rounds == {}


@pytest.mark.parametrize("version", since("0.8.1", "0.10.2"))
def test_a_single_round_asks_too(version: str) -> None:
    lab = Lab(version, brokers=3, stepwise=True)
    lab.topic(0, 1, config={"unclean.leader.election.enable": "true"})
    lab.produce(*"abcde")
    lab.fetch(1)
    lab.lose_tail(0, 2)
    lab.fetch(1)
    assert lab.replica(1).log.end == 2


@pytest.mark.parametrize("version", ["0.9", "0.10.2"])
def test_after_an_unclean_election_a_longer_log_is_truncated_to_the_leaders_end(
    version: str,
) -> None:
    lab = Lab(version, brokers=3, config={"auto.leader.rebalance.enable": "false"})
    lab.topic(1, 2)
    lab.produce("a")
    lab.wait(6000)
    for broker in (2, 1):
        lab.do(CrashBroker(broker=broker))
        lab.wait(8000)
        if broker == 2:
            lab.produce("b", "c", "d")
            lab.wait(6000)
    for broker in (2, 1):
        lab.do(StartBroker(broker=broker))
        lab.wait(3000)
    cuts = lab.truncated(1)
    assert "out of range" in cuts[-1].reason
    assert lab.replica(1).log.end == lab.replica(2).log.end


def test_a_log_that_begins_anew_knows_no_producers() -> None:
    """``ProducerStateManager.truncateFullyAndStartAt``: all of their batches are gone."""
    lab = Lab("3.9", brokers=3)
    lab.topic(1, 2)
    lab.produce("a", "b", acks=-1, idempotent=True, retries=None)
    follower = lab.replica(2)
    assert (follower.log_end, len(follower.producers.producers)) == (2, 1)
    replicas = lab.cluster.brokers[2].core.replicas
    replicas.do(follower, AdjustToLeader(log_start=9, log_end=9, unclean_allowed=False))
    assert (follower.log_start, follower.log_end) == (9, 9)
    assert follower.producers.producers == {}
    assert len(lab.replica(1).producers.producers) == 1
