"""Tables that restate single events, and requests with their responses."""

import pytest

from emulator.events import (
    ConsumeFinished,
    ControllerElected,
    ControllerResigned,
    ControllerStep,
    ElectionFailed,
    Event,
    IsrChanged,
    IsrChangeStarted,
    LeaderElected,
    LinkChanged,
    LogTruncated,
    MessageLost,
    MessageSent,
    MetadataRecordCommitted,
    RecordsConsumed,
    ReplicaFetchPaused,
    ZnodeChanged,
    ZnodeCreated,
    ZnodeDeleted,
)
from sessions.dataset.rows.single_events import FACTS, RESPONSE_MAX_US, ConsumedFold, RequestFold
from sessions.dataset.tables import BY_NAME, CONSUMED, REQUESTS
from sessions.dataset.writer import Row
from tests.sessions.dataset.reading import made, made_of_runs

TP = "orders-0"


def record(kind: str, data: str) -> MetadataRecordCommitted:
    return MetadataRecordCommitted(1, 2, 0, 40, 3, 39, kind, 2, data)


EXAMPLES: list[tuple[Event, dict[str, object]]] = [
    (
        LeaderElected(1, 2, 0, TP, 1, 2, 3, [2, 0], "Offline"),
        {"elected": True, "leader": 2, "leader_epoch": 3, "isr": [2, 0], "reason": None},
    ),
    (
        ElectionFailed(1, 2, 0, TP, 1, "Offline", "nobody is alive"),
        {"elected": False, "leader": None, "isr": None, "reason": "nobody is alive"},
    ),
    (
        IsrChangeStarted(1, 2, 0, TP, 1, [1], "shrink", 2),
        {"step": "asked", "isr": [1], "change": "shrink", "replica": 2, "zk_version": None},
    ),
    (
        IsrChanged(1, 2, 0, TP, 1, [1], 4),
        {"step": "acting", "isr": [1], "change": None, "replica": None, "zk_version": 4},
    ),
    (
        LogTruncated(1, 2, 0, TP, 1, 5, 8, "epoch"),
        {"leo": 5, "previous_leo": 8, "reason": "epoch"},
    ),
    (
        ZnodeCreated(1, 2, 0, "/a", None, 7, 9),
        {"change": "created", "data": None, "version": 0, "zk_session": 7, "zxid": 9},
    ),
    (
        ZnodeChanged(1, 2, 0, "/a", "x", 3, 9),
        {"change": "changed", "data": "x", "version": 3, "zk_session": None},
    ),
    (ZnodeDeleted(1, 2, 0, "/a", 9), {"change": "deleted", "version": None, "zxid": 9}),
    (
        ControllerElected(1, 2, 0, 1, 5, 4),
        {"change": "elected", "epoch": 5, "epoch_zk_version": 4, "detail": None},
    ),
    (
        ControllerResigned(1, 2, 0, 1, 5, "expired"),
        {"change": "resigned", "epoch": 5, "detail": "expired"},
    ),
    (
        ControllerStep(1, 2, 0, 1, "onControllerFailover", 4, "startUp", "d"),
        {"change": "step", "epoch": None, "step": 4, "name": "startUp", "detail": "d"},
    ),
    (
        MetadataRecordCommitted(1, 2, 0, 40, 3, 39, "PartitionChange", 2, '{"leader":1}'),
        {
            **{"offset": 40, "epoch": 3, "batch": 39, "type": "PartitionChange", "version": 2},
            **{"leader": 1, "isr": None, "data": None},
        },
    ),
    (
        record("RegisterBroker", '{"brokerId":1,"brokerEpoch":"1.1","fenced":true}'),
        {"broker": 1, "broker_epoch": "1.1", "fenced": True, "data": None},
    ),
    (
        record("BrokerRegistrationChange", '{"brokerId":1,"fenced":-1,"inControlledShutdown":0}'),
        {"broker": 1, "fenced": False, "in_controlled_shutdown": None, "data": None},
    ),
    (
        record("Partition", '{"topicId":"t#2","partitionId":3,"isr":[1,2],"lastKnownElr":[3]}'),
        {"topic": "t#2", "partition": 3, "isr": [1, 2], "last_known_elr": [3], "data": None},
    ),
    (record("FeatureLevel", '{"name":"a","featureLevel":2}'), {"name": "a", "feature_level": 2}),
    (
        record("Partition", '{"isr":["x"],"leader":2147483648,"later":1}'),
        {
            **{"isr": None, "leader": None},
            "data": '{"isr":["x"],"leader":2147483648,"later":1}',
        },
    ),
    (record("Partition", "not JSON"), {"leader": None, "data": "not JSON"}),
    (
        LinkChanged(1, 2, 0, 1, 2, True, 0, 0.0, []),
        {"kind": "link", "broker": 1, "destination": 2, "state": "cut", "tp": None},
    ),
    (
        LinkChanged(1, 2, 0, 1, 2, False, 5, 2.5, ["*"]),
        {"state": "impaired", "delay_us": 5, "drop_percent": 2.5, "holding": ["*"]},
    ),
    (LinkChanged(1, 2, 0, 1, 2, False, 0, 0.0, []), {"state": "whole"}),
    (
        ReplicaFetchPaused(1, 2, 0, TP, 1, True),
        {"kind": "replica", "state": "paused", "topic": "orders", "partition": 0},
    ),
]


@pytest.mark.parametrize(
    ("event", "values"),
    EXAMPLES,
    ids=[f"{number}-{type(event).__name__}" for number, (event, _) in enumerate(EXAMPLES)],
)
def test_an_event_becomes_a_row(event: Event, values: dict[str, object]) -> None:
    table, make = FACTS[type(event)]
    (row,) = made(BY_NAME[table], [make(event)])
    assert row.items() >= {"seq": 1, "time_us": 2, "cause": 0, **values}.items()


def requests(*events: Event) -> list[dict[str, object]]:
    found: list[Row] = []
    fold = RequestFold(found.append)
    for event in events:
        fold.handlers()[type(event)](event)
    fold.finish()
    rows: list[dict[str, object]] = made(REQUESTS, found)
    return rows


def test_a_request_knows_its_response() -> None:
    (row,) = requests(
        MessageSent(1, 10, 0, "FetchRequest", 1, 0, 0, [[TP, 5], ["orders-1", 6]]),
        MessageSent(2, 35, 1, "FetchResponse", 0, 1, 1, []),
    )
    assert row == {
        "seq": 1,
        "time_us": 10,
        "cause": 0,
        "name": "FetchRequest",
        "source": 1,
        "destination": 0,
        "partitions": 2,
        "answered_seq": 2,
        "answered_us": 35,
        "lost": None,
    }


def test_a_request_that_was_lost_says_why() -> None:
    (row,) = requests(
        MessageSent(1, 10, 0, "FetchRequest", 1, 0, 0, []), MessageLost(2, 20, 1, 1, "cut")
    )
    assert (row["lost"], row["answered_seq"]) == ("cut", None)


def test_a_request_without_a_response_is_there_and_a_notification_is_not() -> None:
    rows = requests(
        MessageSent(1, 10, 0, "ProduceRequest", -2, 0, 0, []),
        MessageSent(2, 10, 0, "WatchEvent", -1, 0, 0, []),
    )
    assert [(row["name"], row["answered_seq"]) for row in rows] == [("ProduceRequest", None)]


def test_requests_that_nobody_answers_are_not_waited_for_for_ever(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("sessions.dataset.rows.single_events.LOOK_EVERY", 3)
    found: list[Row] = []
    fold = RequestFold(found.append)
    for seq in range(1, 4):
        fold._sent(MessageSent(seq, seq * RESPONSE_MAX_US, 0, "ProduceRequest", -2, 0, 0, []))
    assert [row[0] for row in found] == [1]


def test_runs_of_consumed_records_have_consecutive_offsets() -> None:
    found: list[Row] = []
    fold = ConsumedFold(found.append)
    fold.handlers()[RecordsConsumed](RecordsConsumed(1, 2, 0, "c1", TP, 10, [(7, 2), (20, 1)], 13))
    rows = made_of_runs(CONSUMED, found)
    assert [(row["offset"], row["record"]) for row in rows] == [(10, 7), (11, 8), (12, 20)]


def test_a_consumer_s_statements_are_counted() -> None:
    found: list[Row] = []
    handlers = ConsumedFold(found.append).handlers()
    for event in (
        RecordsConsumed(1, 2, 0, "c1", TP, 0, [(7, 1)], 1),
        ConsumeFinished(2, 2, 0, "c1", TP, 1, "NONE"),
        RecordsConsumed(3, 2, 0, "c2", TP, 0, [(7, 1)], 1),
        RecordsConsumed(4, 2, 0, "c1", TP, 0, [(7, 1)], 1),
    ):
        handlers[type(event)](event)
    rows = made_of_runs(CONSUMED, found)
    assert [(row["consumer"], row["consume"]) for row in rows] == [("c1", 1), ("c2", 1), ("c1", 2)]
