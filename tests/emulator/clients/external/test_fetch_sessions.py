"""Fetch sessions of consumers (KIP-227), as a broker grants, keeps and evicts them."""

import pytest

from emulator.common.errors import ERROR_NAMES
from emulator.inputs.statements import CrashBroker, CreateTopic, InjectError, Produce, StartBroker
from emulator.wire.messages.cluster import MetadataRequest, MetadataRequestTopic
from emulator.wire.messages.fetch import (
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
    ForgottenTopic,
)
from tests.support.wire_client import WireLab, values_in

US_PER_SECOND = 1_000_000
SLOTS = "max.incremental.fetch.session.cache.slots"
NO_SESSION = (0, -1)


def lab_of(version: str = "3.9", *, slots: int = 1_000, partitions: int = 3) -> WireLab:
    lab = WireLab.made(version=version, brokers=1, config={SLOTS: str(slots)})
    lab.run(CreateTopic(topic="t", assignment=[[0]] * partitions))
    lab.pass_time(100_000)
    return lab


def fetch(
    session: tuple[int, int],
    offsets: dict[int, int] | None = None,
    *,
    forgotten: tuple[int, ...] = (),
    topic: str = "t",
    wait_ms: int = 0,
) -> FetchRequest:
    rows = [
        FetchPartition(number, fetch_offset=offset, partition_max_bytes=1 << 20)
        for number, offset in (offsets or {}).items()
    ]
    return FetchRequest(
        max_wait_ms=wait_ms,
        min_bytes=1,
        session_id=session[0],
        session_epoch=session[1],
        topics=[FetchTopic(topic, partitions=rows)] if rows else [],
        forgotten_topics_data=[ForgottenTopic(topic, partitions=list(forgotten))]
        if forgotten
        else [],
    )


def told(response: FetchResponse) -> dict[int, list[str]]:
    """The values of each partition in a response."""
    return {
        row.partition_index: [value for _, value in values_in(row.records or b"")]
        for topic in response.responses
        for row in topic.partitions
    }


def error_of(response: FetchResponse) -> str:
    return ERROR_NAMES[response.error_code]


def write(lab: WireLab, value: str, partition: int = 0) -> None:
    lab.run(Produce(topic="t", partition=partition, value=value))
    lab.pass_time(10_000)


def test_a_session_tells_only_what_changed() -> None:
    lab = lab_of()
    here = lab.connect()
    first = lab.ask(here, fetch((0, 0), {0: 0, 1: 0, 2: 0}), 11)
    assert first.session_id > 0
    assert told(first) == {0: [], 1: [], 2: []}
    session = first.session_id
    assert told(lab.ask(here, fetch((session, 1)), 11)) == {}
    write(lab, "a", partition=1)
    second = lab.ask(here, fetch((session, 2)), 11)
    assert (second.session_id, second.error_code, told(second)) == (session, 0, {1: ["a"]})
    third = lab.ask(here, fetch((session, 3), {1: 1}), 11)
    assert told(third) == {}
    write(lab, "b", partition=1)
    write(lab, "c", partition=0)
    assert told(lab.ask(here, fetch((session, 4)), 11)) == {0: ["c"], 1: ["b"]}


def test_partitions_that_gave_records_come_last_in_the_next_fetch() -> None:
    lab = lab_of()
    here = lab.connect()
    session = lab.ask(here, fetch((0, 0), {0: 0, 1: 0, 2: 0}), 11).session_id
    write(lab, "a", partition=0)
    assert list(told(lab.ask(here, fetch((session, 1)), 11))) == [0]
    for number in range(3):
        write(lab, "b", partition=number)
    assert list(told(lab.ask(here, fetch((session, 2)), 11))) == [1, 2, 0]


def test_a_waiting_fetch_of_a_session_ends_when_records_come() -> None:
    lab = lab_of()
    here = lab.connect()
    session = lab.ask(here, fetch((0, 0), {0: 0, 1: 0}), 11).session_id
    lab.send(here, fetch((session, 1), wait_ms=500), 11)
    lab.pass_time(100_000)
    assert not lab.responses[here]
    write(lab, "a", partition=1)
    assert told(lab.received(here)) == {1: ["a"]}


def test_forgotten_partitions_leave_the_session_and_new_ones_join() -> None:
    lab = lab_of()
    here = lab.connect()
    session = lab.ask(here, fetch((0, 0), {0: 0, 1: 0}), 11).session_id
    changed = lab.ask(here, fetch((session, 1), {2: 0}, forgotten=(0,)), 11)
    assert told(changed) == {2: []}
    for number in range(3):
        write(lab, "a", partition=number)
    assert told(lab.ask(here, fetch((session, 2)), 11)) == {1: ["a"], 2: ["a"]}


def test_a_session_without_partitions_ends() -> None:
    lab = lab_of()
    here = lab.connect()
    session = lab.ask(here, fetch((0, 0), {0: 0}), 11).session_id
    emptied = lab.ask(here, fetch((session, 1), forgotten=(0,)), 11)
    assert (emptied.session_id, emptied.error_code) == (0, 0)
    assert error_of(lab.ask(here, fetch((session, 2)), 11)) == "FETCH_SESSION_ID_NOT_FOUND"


@pytest.mark.parametrize("epoch", [2, 7, 1 << 20])
def test_another_epoch_is_refused_and_the_session_stays(epoch: int) -> None:
    lab = lab_of()
    here = lab.connect()
    session = lab.ask(here, fetch((0, 0), {0: 0}), 11).session_id
    refused = lab.ask(here, fetch((session, epoch), wait_ms=500), 11)
    assert error_of(refused) == "INVALID_FETCH_SESSION_EPOCH"
    assert (refused.session_id, refused.responses) == (0, [])
    assert lab.ask(here, fetch((session, 1)), 11).error_code == 0


def test_a_full_fetch_closes_the_session_it_names() -> None:
    lab = lab_of()
    here = lab.connect()
    session = lab.ask(here, fetch((0, 0), {0: 0}), 11).session_id
    again = lab.ask(here, fetch((session, 0), {0: 0}), 11).session_id
    assert again not in (0, session)
    assert error_of(lab.ask(here, fetch((session, 1)), 11)) == "FETCH_SESSION_ID_NOT_FOUND"
    assert lab.ask(here, fetch((again, -1), {0: 0}), 11).session_id == 0
    assert error_of(lab.ask(here, fetch((again, 1)), 11)) == "FETCH_SESSION_ID_NOT_FOUND"


def test_a_fetch_without_session_gets_none_nor_does_one_before_1_1() -> None:
    lab = lab_of()
    assert lab.ask(lab.connect(), fetch(NO_SESSION, {0: 0}), 11).session_id == 0
    assert lab.cluster.state.brokers[0].core.fetch_cache.sessions == {}
    old = WireLab.made(version="1.0", brokers=1)
    old.run(CreateTopic(topic="t", assignment=[[0]]))
    old.pass_time(100_000)
    assert told(old.ask(old.connect(), fetch((0, 0), {0: 0}), 6)) == {0: []}


def test_the_broker_forgets_its_sessions_when_it_dies() -> None:
    lab = lab_of()
    here = lab.connect()
    session = lab.ask(here, fetch((0, 0), {0: 0}), 11).session_id
    lab.run(CrashBroker(broker=0))
    lab.run(StartBroker(broker=0))
    lab.pass_time(10 * US_PER_SECOND)
    here = lab.connect()
    assert error_of(lab.ask(here, fetch((session, 1)), 11)) == "FETCH_SESSION_ID_NOT_FOUND"
    assert lab.ask(here, fetch((0, 0), {0: 0}), 11).session_id not in (0, session)


def test_an_error_is_told_each_time_and_so_is_its_end() -> None:
    lab = lab_of()
    here = lab.connect()
    session = lab.ask(here, fetch((0, 0), {0: 0, 1: 99}), 11).session_id
    for epoch in (1, 2):
        (topic,) = lab.ask(here, fetch((session, epoch)), 11).responses
        (row,) = topic.partitions
        assert (row.partition_index, ERROR_NAMES[row.error_code]) == (1, "OFFSET_OUT_OF_RANGE")
    assert told(lab.ask(here, fetch((session, 3), {1: 0}), 11)) == {1: []}
    assert told(lab.ask(here, fetch((session, 4)), 11)) == {}


# ---- slots


def test_a_consumer_gets_no_session_when_all_slots_are_taken() -> None:
    lab = lab_of("2.8", slots=2)
    here = lab.connect()
    granted = [lab.ask(here, fetch((0, 0), {0: 0}), 11).session_id > 0 for _ in range(3)]
    assert granted == [True, True, False]


def test_followers_take_slots_too() -> None:
    lab = WireLab.made(version="2.8", config={SLOTS: "3"})
    lab.run(CreateTopic(topic="t", assignment=[[0, 1, 2]]))
    lab.pass_time(100_000)
    here = lab.connect()
    granted = [lab.ask(here, fetch((0, 0), {0: 0}), 11).session_id > 0 for _ in range(2)]
    assert granted == [True, False]


def test_a_session_that_is_idle_for_two_minutes_makes_room() -> None:
    lab = lab_of("2.8", slots=1)
    here = lab.connect()
    session = lab.ask(here, fetch((0, 0), {0: 0}), 11).session_id
    lab.pass_time(119 * US_PER_SECOND)
    assert lab.ask(here, fetch((0, 0), {0: 0}), 11).session_id == 0
    lab.pass_time(2 * US_PER_SECOND)
    assert lab.ask(here, fetch((0, 0), {0: 0}), 11).session_id > 0
    assert error_of(lab.ask(here, fetch((session, 1)), 11)) == "FETCH_SESSION_ID_NOT_FOUND"


def test_an_old_session_makes_room_for_one_with_more_partitions_only() -> None:
    lab = lab_of("2.8", slots=1)
    here = lab.connect()
    session = lab.ask(here, fetch((0, 0), {0: 0, 1: 0}), 11).session_id
    for epoch in range(1, 4):  # in use all the time
        lab.pass_time(50 * US_PER_SECOND)
        lab.ask(here, fetch((session, epoch)), 11)
    assert lab.ask(here, fetch((0, 0), {0: 0, 1: 0}), 11).session_id == 0
    assert lab.ask(here, fetch((0, 0), {0: 0, 1: 0, 2: 0}), 11).session_id > 0


def test_since_3_8_the_slots_are_those_of_eight_parts() -> None:
    lab = lab_of("3.8", slots=16)
    here = lab.connect()
    ids = [lab.ask(here, fetch((0, 0), {0: 0}), 11).session_id for _ in range(17)]
    assert ids[16] == 0
    span = ((1 << 31) - 1) // 8
    assert [each // span for each in ids[:16]] == [*range(8), *range(8)]
    few = lab_of("3.8", slots=7)
    assert few.ask(few.connect(), fetch((0, 0), {0: 0}), 11).session_id == 0


# ---- topic ids


def by_id(session: tuple[int, int], topic_id: bytes, *, forgotten: bytes = b"") -> FetchRequest:
    rows = [FetchPartition(0, partition_max_bytes=1 << 20)]
    return FetchRequest(
        session_id=session[0],
        session_epoch=session[1],
        topics=[FetchTopic(topic_id=topic_id, partitions=rows)],
        forgotten_topics_data=[ForgottenTopic(topic_id=forgotten, partitions=[0])]
        if forgotten
        else [],
    )


def test_a_session_names_topics_by_id_or_by_name_all_the_time() -> None:
    lab = lab_of("3.9")
    here = lab.connect()
    wanted = MetadataRequest([MetadataRequestTopic(name="t")], allow_auto_topic_creation=False)
    topic_id = lab.ask(here, wanted, 12).topics[0].topic_id
    first = lab.ask(here, by_id((0, 0), topic_id), 13)
    assert [topic.topic_id for topic in first.responses] == [topic_id]
    refused = lab.ask(here, fetch((first.session_id, 1)), 12)
    assert error_of(refused) == "FETCH_SESSION_TOPIC_ID_ERROR"
    write(lab, "a")
    (topic,) = lab.ask(
        here, FetchRequest(session_id=first.session_id, session_epoch=1), 13
    ).responses
    assert topic.topic_id == topic_id
    assert values_in(topic.partitions[0].records or b"") == [(0, "a")]


def test_an_unknown_id_stays_in_the_session_until_it_is_forgotten() -> None:
    lab = lab_of("3.9")
    here = lab.connect()
    wanted = MetadataRequest([MetadataRequestTopic(name="t")], allow_auto_topic_creation=False)
    topic_id = lab.ask(here, wanted, 12).topics[0].topic_id
    unknown = bytes(range(16))
    first = lab.ask(here, by_id((0, 0), unknown), 13)
    assert ERROR_NAMES[first.responses[0].partitions[0].error_code] == "UNKNOWN_TOPIC_ID"
    assert first.responses[0].topic_id == unknown
    second = lab.ask(here, by_id((first.session_id, 1), topic_id, forgotten=unknown), 13)
    assert [topic.topic_id for topic in second.responses] == [topic_id]


def test_an_injected_error_of_a_fetch_that_names_nothing_is_the_sessions() -> None:
    lab = lab_of()
    here = lab.connect()
    session = lab.ask(here, fetch((0, 0), {0: 0}), 11).session_id
    lab.run(InjectError(api="Fetch", error="NOT_LEADER_OR_FOLLOWER"))
    assert error_of(lab.ask(here, fetch((session, 1)), 11)) == "NOT_LEADER_OR_FOLLOWER"
