"""How a leader's broker serves fetches: sessions, parking, and what it tells followers."""

from typing import Any

import pytest

from emulator.broker.replication.fetch_session import FetchSession
from emulator.events import MessageSent, RemoteLogEndOffsetChanged, RequestRefused
from emulator.inputs.statements import (
    CreateTopic,
    FreezeBroker,
    PauseReplica,
    Produce,
    ResumeReplica,
)
from emulator.protocol import FetchPartition, FetchRequest
from emulator.releases.profiles import VERSIONS
from tests.support.generations import ON_FETCH, since
from tests.support.lab import TP, Lab

WAIT_US = 500_000


def led_by_0(version: str = "3.9") -> Lab:
    lab = Lab(version, brokers=3, stepwise=True)
    lab.topic(0, 1)
    return lab


def fetch(lab: Lab, offset: int, follower: int = 1, wait_us: int = 0, **asked: Any) -> int:
    """A fetch of one partition by hand, outside of sessions; returns its number."""
    request = FetchRequest(follower, wait_us, {TP: FetchPartition(offset, **asked)}, one_shot=True)
    number = lab.cluster.network.send(follower, 0, request)
    lab.wait(1)
    return number


def response_to(lab: Lab, request: int) -> list[object] | None:
    """HW, base offset, record count and perhaps an error; None: it has not been answered."""
    found = lab.seen.of(MessageSent, name="FetchResponse", request=request)
    return list(found[0].detail[0][1:]) if found else None


# ---- one fetch


def test_a_fetch_gets_the_records_from_its_offset_on() -> None:
    lab = led_by_0()
    lab.produce("a", "b", "c")
    assert response_to(lab, fetch(lab, 0)) == [0, 0, 3]
    assert response_to(lab, fetch(lab, 2)) == [0, 2, 1]


def test_a_fetch_without_patience_is_answered_empty() -> None:
    lab = led_by_0()
    assert response_to(lab, fetch(lab, 0, wait_us=0)) == [0, -1, 0]


@pytest.mark.parametrize(("offset", "error"), [(4, True), (3, False)])
def test_past_the_log_end_a_fetch_is_out_of_range(offset: int, error: bool) -> None:
    lab = led_by_0()
    lab.produce("a", "b", "c")
    told = response_to(lab, fetch(lab, offset)) or []
    assert ("OFFSET_OUT_OF_RANGE" in told) is error


def test_below_the_log_start_a_fetch_is_out_of_range() -> None:
    lab = led_by_0()
    lab.replica(0).log.restart_at(5)
    assert "OFFSET_OUT_OF_RANGE" in (response_to(lab, fetch(lab, 4)) or [])


def test_a_broker_that_is_not_assigned_is_refused() -> None:
    lab = led_by_0()
    assert "NOT_LEADER_OR_FOLLOWER" in (response_to(lab, fetch(lab, 0, follower=2)) or [])
    assert 2 not in lab.remote(0)


@pytest.mark.parametrize("version", since("2.1"))
@pytest.mark.parametrize(
    ("epoch", "error"), [(0, "FENCED_LEADER_EPOCH"), (2, "UNKNOWN_LEADER_EPOCH")]
)
def test_a_fetch_of_another_epoch_is_refused_and_not_recorded(
    version: str, epoch: int, error: str
) -> None:
    lab = led_by_0(version)
    lab.tell(leader=0, epoch=1, isr=[0, 1], brokers=[0])
    assert error in (response_to(lab, fetch(lab, 0, current_leader_epoch=epoch)) or [])
    assert lab.remote(0) == {1: -1}


@pytest.mark.parametrize("version", ON_FETCH)
def test_a_diverging_epoch_is_answered_with_where_it_ends_and_not_recorded(version: str) -> None:
    lab = led_by_0(version)
    lab.produce("a", "b")
    lab.tell(leader=0, epoch=2, isr=[0, 1], brokers=[0])
    lab.produce("c")
    told = response_to(lab, fetch(lab, 3, last_fetched_epoch=0))
    assert told is not None
    assert told[2] == 0
    assert lab.remote(0) == {1: -1}


# ---- what a fetch tells of its follower


@pytest.mark.parametrize("version", VERSIONS)
def test_the_remote_leo_is_recorded_before_or_after_the_read_by_release(version: str) -> None:
    lab = led_by_0(version)
    lab.produce("a", "b")
    fetch(lab, 0)
    first = response_to(lab, fetch(lab, 1)) or []
    assert lab.ends(0) == "2/1"
    assert first[0] == (1 if version in ("documents", "0.8.1") else 0)


def test_a_remote_leo_is_stated_when_it_moves() -> None:
    lab = led_by_0()
    lab.produce("a")
    for offset in (0, 0, 1):
        fetch(lab, offset)
    moves = lab.seen.of(RemoteLogEndOffsetChanged, broker=0, follower=1)
    assert [each.log_end_offset for each in moves] == [-1, 0, 1]


# ---- parking


def test_an_empty_fetch_is_parked_until_its_time_is_up() -> None:
    lab = led_by_0()
    request = fetch(lab, 0, wait_us=WAIT_US)
    lab.wait(498)
    assert response_to(lab, request) is None
    lab.wait(2)
    assert response_to(lab, request) == [0, -1, 0]


def test_a_parked_fetch_is_answered_by_the_next_append() -> None:
    lab = led_by_0()
    request = fetch(lab, 0, wait_us=WAIT_US)
    lab.produce("a")
    assert response_to(lab, request) == [0, 0, 1]


@pytest.mark.parametrize("version", VERSIONS)
def test_a_parked_fetch_is_answered_when_the_hw_rises_in_2_4_and_2_5_only(version: str) -> None:
    lab = Lab(version, brokers=3, stepwise=True)
    lab.topic(0, 1, 2)
    lab.produce("a")
    request = fetch(lab, 1, wait_us=WAIT_US)
    fetch(lab, 1, follower=2)
    assert lab.ends(0) == "1/1"
    quick = version in ("2.4", "2.5")
    assert (response_to(lab, request) is not None) is quick


def test_a_parked_fetch_is_answered_at_once_when_leadership_goes() -> None:
    lab = led_by_0()
    request = fetch(lab, 0, wait_us=WAIT_US)
    lab.tell(leader=1, epoch=1, isr=[0, 1], brokers=[0])
    told = response_to(lab, request) or []
    assert {"FENCED_LEADER_EPOCH", "NOT_LEADER_OR_FOLLOWER"} & set(map(str, told))


# ---- sessions


def session(lab: Lab, follower: int = 1) -> FetchSession:
    return lab.cluster.brokers[0].state.core.fetch_sessions.by_follower[follower]


def following(version: str = "3.9") -> Lab:
    """Two topics on 0 and 1, the follower fetching by itself."""
    lab = Lab(version)
    for topic in ("t", "u"):
        lab.do(CreateTopic(topic=topic, assignment=[[0, 1]]))
    lab.wait(1200)
    return lab


def test_a_session_holds_every_partition_that_is_followed() -> None:
    assert sorted(session(following()).partitions) == ["t-0", "u-0"]


def test_a_fetch_names_only_what_has_changed() -> None:
    lab = following()
    lab.do(Produce(topic="u", acks=1, retries=0))
    lab.wait(1)
    sent = lab.seen.of(MessageSent, name="FetchRequest")[-1]
    assert [row[0] for row in sent.detail] == ["u-0"]


def test_a_response_names_only_what_there_is_to_tell() -> None:
    lab = following()
    lab.do(Produce(topic="u", acks=1, retries=0))
    lab.wait(1)
    told = lab.seen.of(MessageSent, name="FetchResponse")[-1]
    assert [row[0] for row in told.detail] == ["u-0"]


def test_the_partitions_answered_last_are_at_the_end_of_a_session() -> None:
    lab = following()
    first, second = session(lab).partitions
    lab.do(Produce(topic=first.removesuffix("-0"), acks=1, retries=0))
    lab.wait(1)
    assert list(session(lab).partitions) == [second, first]
    lab.wait(1200)
    assert list(session(lab).partitions) == [second, first]


def test_a_session_that_the_leader_does_not_know_is_begun_anew() -> None:
    lab = following()
    leader = lab.cluster.brokers[0]
    leader.core.sessions.connection_lost(1)
    leader.state.core.fetch_sessions.by_follower.clear()
    lab.wait(35_000)
    assert sorted(session(lab).partitions) == ["t-0", "u-0"]


def test_a_follower_outside_the_isr_is_looked_at_on_every_fetch() -> None:
    lab = Lab("2.0.1", config={"replica.lag.time.max.ms": "2000"})
    lab.topic(0, 1)
    lab.wait(1200)
    lab.do(FreezeBroker(broker=1))
    lab.wait(4000)
    assert lab.replica(0).isr == [0]
    assert session(lab).outside == {TP: None}


# ---- limits in bytes


def behind(
    limits: dict[str, str], *, topics: tuple[str, ...] = ("t",), version: str = "3.9"
) -> Lab:
    """A follower that has to catch up with ten batches of each topic."""
    lab = Lab(version, config=limits)
    for topic in topics:
        lab.do(CreateTopic(topic=topic, assignment=[[0, 1]]))
    lab.wait(1200)
    for topic in topics:
        lab.do(PauseReplica(tp=f"{topic}-0", broker=1))
        for _ in range(10):
            lab.do(Produce(topic=topic, value="x" * 100, acks=1, retries=0))
    for topic in topics:
        lab.do(ResumeReplica(tp=f"{topic}-0", broker=1))
    lab.wait(3000)
    return lab


def records_given(lab: Lab) -> list[dict[str, int]]:
    """How many records of each partition each response to broker 1 carried."""
    sent = lab.seen.of(MessageSent, name="FetchResponse", source=0, destination=1)
    rows = [{str(row[0]): int(row[3]) for row in each.detail if row[3]} for each in sent]
    return [row for row in rows if row]


def size_of_a_batch(version: str = "3.9") -> int:
    return behind({}, version=version).replica(0).log.batches[0].size_bytes


def test_without_limits_a_follower_is_given_all_that_it_lacks() -> None:
    assert records_given(behind({}))[-1] == {"t-0": 10}


@pytest.mark.parametrize("version", ["0.9", "0.10.2", "3.9"])
def test_a_follower_is_given_a_partition_in_pieces(version: str) -> None:
    limits = {"replica.fetch.max.bytes": str(3 * size_of_a_batch(version) + 1)}
    lab = behind(limits, version=version)
    assert [row["t-0"] for row in records_given(lab)][-4:] == [3, 3, 3, 1]
    assert lab.replica(1).log.end == 10


def test_a_response_is_limited_as_a_whole_and_what_has_no_room_comes_with_the_next() -> None:
    limits = {"replica.fetch.response.max.bytes": str(4 * size_of_a_batch() + 1)}
    lab = behind(limits, topics=("t", "u"))
    assert max(sum(row.values()) for row in records_given(lab)) == 4
    assert [lab.replica(1, tp).log.end for tp in ("t-0", "u-0")] == [10, 10]


@pytest.mark.parametrize(("version", "end"), [("0.10.0", 0), ("0.10.2", 10)])
def test_a_batch_over_the_limit_stops_a_follower_up_to_0_10_0(version: str, end: int) -> None:
    """KIP-74: since 0.10.1 the first batch is given however large it is."""
    lab = behind({"replica.fetch.max.bytes": "10"}, version=version)
    assert lab.replica(1).log.end == end


@pytest.mark.parametrize("version", since("2.1"))
def test_a_fetch_of_another_epoch_is_a_refusal_that_is_stated(version: str) -> None:
    lab = led_by_0(version)
    lab.tell(leader=0, epoch=1, isr=[0, 1], brokers=[0])
    request = fetch(lab, 0, current_leader_epoch=0)
    refusal = lab.seen.of(RequestRefused, request=request)[0]
    found = (refusal.error, refusal.source, refusal.tp, refusal.given, refusal.known)
    assert found == ("FENCED_LEADER_EPOCH", 1, TP, 0, 1)
