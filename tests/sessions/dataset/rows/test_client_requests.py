"""Requests of clients outside, with what they were told."""

from emulator.events import (
    ClientConnected,
    ClientDisconnected,
    ClientIdentified,
    ClientRequestReceived,
    ClientResponseSent,
    Event,
)
from sessions.dataset.rows.client_requests import ClientRequestFold
from sessions.dataset.tables import CLIENT_REQUESTS
from sessions.dataset.writer import Row
from tests.sessions.dataset.reading import made


def rows(*events: Event) -> list[dict[str, object]]:
    found: list[Row] = []
    fold = ClientRequestFold(found.append)
    handlers = fold.handlers()
    for event in events:
        handlers[type(event)](event)
    fold.finish()
    return made(CLIENT_REQUESTS, found)


def test_a_request_has_what_it_was_told() -> None:
    (row,) = rows(
        ClientConnected(1, 5, 0, 7, 2, "127.0.0.1:50001"),
        ClientIdentified(2, 6, 0, 7, "librdkafka", "2.1"),
        ClientRequestReceived(3, 6, 1, 7, 2, "me", "JoinGroup", 5, "g"),
        ClientResponseSent(4, 9, 3, 7, 2, 3, "JoinGroup", ["MEMBER_ID_REQUIRED"]),
        ClientDisconnected(5, 9, 0, 7, 2, "closed by the client"),
    )
    assert {name: row[name] for name in ("seq", "time_us", "cause")} == {
        "seq": 3,
        "time_us": 6,
        "cause": 1,
    }
    assert (row["client"], row["library"], row["broker"]) == ("me", "librdkafka 2.1", 2)
    assert (row["api"], row["api_version"], row["group"]) == ("JoinGroup", 5, "g")
    assert (row["answered_seq"], row["answered_us"]) == (4, 9)
    assert row["errors"] == ["MEMBER_ID_REQUIRED"]
    assert row["address"] == "127.0.0.1:50001"


def test_what_nobody_answers_ends_with_the_next_request_the_connection_or_the_session() -> None:
    found = rows(
        ClientConnected(1, 5, 0, 7, 2, ""),
        ClientConnected(2, 5, 0, 8, 1, ""),
        ClientRequestReceived(3, 6, 1, 7, 2, "me", "Produce", 3, ""),
        ClientRequestReceived(4, 7, 1, 7, 2, "me", "Produce", 3, ""),
        ClientRequestReceived(5, 7, 1, 8, 1, "you", "Fetch", 4, ""),
        ClientDisconnected(6, 9, 0, 7, 2, "closed by the broker"),
    )
    assert [row["seq"] for row in found] == [3, 4, 5]
    assert {row["answered_us"] for row in found} == {None}
    assert all(row["errors"] is None for row in found)
    assert {row["group"] for row in found} == {None}
