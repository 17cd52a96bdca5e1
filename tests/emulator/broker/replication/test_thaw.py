"""A fetcher thread that is continued after a freeze, with ZooKeeper."""

import pytest

from emulator.events import BookmarkSet, MessageSent
from tests.support.script_events import events_of

FETCH_BACKOFF_US = 1_000_000
TOPIC = "topic create t --replica-assignment 0:1:2"
PATIENT = "--config zookeeper.session.timeout.ms=90000 --config replica.lag.time.max.ms=300000"


@pytest.mark.parametrize(
    ("version", "frozen", "backs_off"),
    [
        ("2.4", "40s", True),
        ("0.10.2", "40s", True),
        ("2.4", "20s", False),
        ("0.8.2", "40s", False),
    ],
)
def test_a_fetch_that_timed_out_is_sent_again_after_a_backoff(
    version: str, frozen: str, backs_off: bool
) -> None:
    """replica.socket.timeout.ms is 30 s; blocking reads of 0.8 find what has arrived instead."""
    statements = ("broker freeze 2", f"wait {frozen}", "mark thawed", "broker thaw 2", "wait 3s")
    happened = events_of(f"cluster --version {version} {PATIENT}", TOPIC, "wait 2s", *statements)
    (thawed,) = (event for event in happened if isinstance(event, BookmarkSet))
    fetch = next(
        event
        for event in happened[happened.index(thawed) :]
        if isinstance(event, MessageSent) and event.name == "FetchRequest" and event.source == 2
    )
    assert (fetch.time_us >= thawed.time_us + FETCH_BACKOFF_US) is backs_off
