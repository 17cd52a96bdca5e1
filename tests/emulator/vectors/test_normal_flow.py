"""Records flow to followers, and the HW after them: every intermediate value."""

import pytest

from emulator.events import HighWatermarkChanged, MessageSent, RecordsAppended
from emulator.inputs.statements import Consume, FetchRound, PauseReplica
from emulator.releases.profiles import VERSIONS
from emulator.simulation.network import CLIENT_LATENCY_US, LATENCY_MIN_US, LATENCY_SPREAD_US
from tests.support.generations import READ_FIRST
from tests.support.lab import TP, Lab

LATENCY_MAX_US = LATENCY_MIN_US + LATENCY_SPREAD_US
RECORDED_FIRST = ["documents", "0.8.1"]
QUICK = ["2.4", "2.5"]
"""A parked fetch is answered as soon as the HW rises."""


def fetched_once(version: str) -> Lab:
    """Leader 0 and follower 1 at 0/0; the follower has fetched once."""
    lab = Lab(version, stepwise=True)
    lab.topic(0, 1)
    lab.fetch(1)
    assert lab.ends(0, 1) == "0/0 0/0"
    assert lab.remote(0) == {1: 0}
    return lab


def begin_fetch(lab: Lab, for_ms: float = 2) -> None:
    """Let the follower's fetch reach the leader, where it may be parked."""
    lab.submit(FetchRound(tp=TP, broker=1))
    lab.runner.run_until(lab.cluster.now_us + round(for_ms * 1000))


@pytest.mark.parametrize("version", VERSIONS)
def test_v1_three_records_then_two_as_the_documents_table_them(version: str) -> None:
    lab = fetched_once(version)
    lab.produce("a", "b", "c")
    assert (lab.ends(0, 1), lab.remote(0)) == ("3/0 0/0", {1: 0})
    lab.fetch(1)
    assert (lab.ends(0, 1), lab.remote(0)) == ("3/0 3/0", {1: 0})
    lab.produce("d", "e")
    assert (lab.ends(0, 1), lab.remote(0)) == ("5/0 3/0", {1: 0})
    lab.fetch(1)
    second = "5/3 5/3" if version in RECORDED_FIRST else "5/3 5/0"
    assert (lab.ends(0, 1), lab.remote(0)) == (second, {1: 3})
    begin_fetch(lab)
    if version in QUICK:
        parked = "5/5 5/5"
    else:
        parked = "5/5 5/3" if version in RECORDED_FIRST else "5/5 5/0"
    assert (lab.ends(0, 1), lab.remote(0)) == (parked, {1: 5})
    lab.wait(500)
    assert lab.ends(0, 1) == "5/5 5/5"


@pytest.mark.parametrize("version", VERSIONS)
def test_v1_three_records_and_no_more(version: str) -> None:
    lab = fetched_once(version)
    lab.produce("a", "b", "c")
    lab.fetch(1)
    begin_fetch(lab)
    assert lab.ends(0, 1) == ("3/3 3/3" if version in QUICK else "3/3 3/0")
    lab.wait(500)
    assert lab.ends(0, 1) == "3/3 3/3"


@pytest.mark.parametrize("version", VERSIONS)
def test_v1_acks_all_is_answered_when_the_next_fetch_says_that_the_records_are_there(
    version: str,
) -> None:
    lab = fetched_once(version)
    lab.produce("a", "b", "c", acks=-1, background=True)
    lab.wait(100)
    lab.fetch(1)
    lab.wait(100)
    assert lab.seen.of(MessageSent, name="ProduceResponse") == []
    begin_fetch(lab)
    first = lab.seen.of(MessageSent, name="ProduceResponse")[0]
    raised = lab.seen.of(HighWatermarkChanged, broker=0, high_watermark=1)[0]
    assert first.time_us == raised.time_us


# ---- nothing new: the long poll


def all_equal(version: str) -> Lab:
    """Leader and follower at 5/5, the follower fetching by itself."""
    lab = Lab(version)
    lab.topic(0, 1)
    lab.produce(*"abcde")
    lab.wait(1200)
    assert lab.ends(0, 1) == "5/5 5/5"
    return lab


@pytest.mark.parametrize("version", VERSIONS)
def test_v2_without_news_a_fetch_is_answered_after_500_ms(version: str) -> None:
    lab = all_equal(version)
    lab.wait(3000)
    sent = {each.seq: each.time_us for each in lab.seen.of(MessageSent, name="FetchRequest")}
    responses = lab.seen.of(MessageSent, name="FetchResponse")[-3:]
    assert len(responses) == 3
    for response in responses:
        waited_us = response.time_us - sent[response.request]
        assert 500_000 + LATENCY_MIN_US <= waited_us <= 500_000 + LATENCY_MAX_US


@pytest.mark.parametrize("version", READ_FIRST)
def test_v2_a_record_wakes_a_parked_fetch_at_once_with_the_old_high_watermark(version: str) -> None:
    lab = fetched_once(version)
    lab.produce(*"abcde")
    lab.fetch(1, times=2)
    assert lab.ends(0, 1) == "5/5 5/5"
    begin_fetch(lab, for_ms=200)
    begun_us = lab.cluster.now_us
    lab.produce("f")
    lab.wait(1)
    written = lab.seen.of(RecordsAppended, broker=1, base_offset=5)[0]
    assert written.time_us - begun_us < CLIENT_LATENCY_US + 2 * LATENCY_MAX_US
    assert lab.ends(0, 1) == "6/5 6/5"


@pytest.mark.parametrize("version", VERSIONS)
def test_v2_after_the_last_record_everybody_knows_the_high_watermark_within_500_ms(
    version: str,
) -> None:
    lab = all_equal(version)
    lab.produce("f")
    lab.wait(1)
    at_leader = lab.seen.of(HighWatermarkChanged, broker=0, high_watermark=6)[0]
    lab.wait(600)
    assert lab.ends(0, 1) == "6/6 6/6"
    at_follower = lab.seen.of(HighWatermarkChanged, broker=1, high_watermark=6)[0]
    late_us = at_follower.time_us - at_leader.time_us
    if version in QUICK:
        assert late_us <= LATENCY_MAX_US
    else:
        assert 500_000 <= late_us <= 500_000 + LATENCY_MAX_US


def test_v2_consumers_see_a_record_as_soon_as_the_leaders_high_watermark_is_past_it() -> None:
    lab = fetched_once("3.9")
    lab.produce("a")
    lab.do(Consume(topic="t"))
    assert lab.consumed() == []
    lab.fetch(1)
    begin_fetch(lab)
    lab.do(Consume(topic="t"))
    assert lab.consumed() == ["a"]


# ---- the documents' pictures


def nine_of_which_six(version: str) -> Lab:
    """A log of nine records with HW 6, led by 0."""
    lab = fetched_once(version)
    lab.produce(*"abcdef")
    lab.fetch(1)
    lab.produce(*"ghi")
    lab.fetch(1)
    assert lab.ends(0) == "9/6"
    return lab


@pytest.mark.parametrize("version", VERSIONS)
def test_v37_with_hw_6_in_a_log_of_9_consumers_read_offsets_0_to_5(version: str) -> None:
    lab = nine_of_which_six(version)
    lab.do(Consume(topic="t"))
    assert lab.consumed() == list("abcdef")


@pytest.mark.parametrize(
    ("offset", "error"),
    [(6, "NONE"), (9, "NONE"), (10, "OFFSET_OUT_OF_RANGE")],
)
def test_v37_past_the_high_watermark_there_is_nothing_and_past_the_end_an_error(
    offset: int, error: str
) -> None:
    lab = nine_of_which_six("3.9")
    assert lab.do(Consume(topic="t", partition=0, offset=offset)).error == error
    assert lab.consumed() == []


def three_replicas(version: str) -> Lab:
    """14 records; follower 1 has 12 of them, follower 2 has 8 and has told the leader of 7."""
    lab = Lab(version, brokers=3, stepwise=True)
    lab.topic(0, 1, 2)
    lab.produce(*[f"r{n}" for n in range(7)])
    lab.fetch(1)
    lab.fetch(2)
    lab.produce("r7")
    lab.fetch(1)
    lab.fetch(2)
    lab.produce(*[f"r{n}" for n in range(8, 12)])
    lab.fetch(1)
    lab.produce("r12", "r13")
    return lab


@pytest.mark.parametrize("version", VERSIONS)
def test_v37_the_picture_of_14_12_8_has_hw_7_because_remote_leos_lag(version: str) -> None:
    lab = three_replicas(version)
    assert [lab.replica(broker).log.end for broker in (0, 1, 2)] == [14, 12, 8]
    assert lab.remote(0) == {1: 8, 2: 7}
    assert lab.replica(0).high_watermark == 7


@pytest.mark.parametrize("version", VERSIONS)
def test_v37_once_the_leader_has_seen_the_fetch_at_8_the_hw_is_8(version: str) -> None:
    lab = three_replicas(version)
    lab.fetch_at(2, 0, 8)
    assert lab.replica(0).high_watermark == 8


@pytest.mark.parametrize("version", VERSIONS)
def test_v37_a_follower_outside_the_isr_does_not_hold_the_hw_back(version: str) -> None:
    lab = three_replicas(version)
    lab.do(PauseReplica(tp=TP, broker=2))
    lab.tell(0, 1, [0, 1], [0])
    lab.fetch_at(1, 0, 12)
    assert lab.replica(0).high_watermark == 12


def test_fifteen_messages_are_offsets_0_to_14_and_leo_15() -> None:
    lab = Lab("3.9", brokers=1)
    lab.topic(0)
    lab.produce("m", count=15)
    assert lab.ends(0) == "15/15"
