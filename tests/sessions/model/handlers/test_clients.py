"""Producers and consumers: counts of records, and what was read."""

from emulator.events import (
    ConsumeFinished,
    Event,
    ProduceAcknowledged,
    ProduceFailed,
    ProduceRetried,
    ProduceSent,
    RecordsConsumed,
)
from sessions.model.handlers import clients
from sessions.model.states import ConsumerState, ProducerState
from tests.sessions.examples import folded


def test_a_producer_counts_records_and_only_counted_retries() -> None:
    view = folded(
        [
            ProduceSent(1, 0, 0, "p1", "t-0", 1, [], ["a", "b"], -1),
            ProduceSent(2, 0, 0, "p1", "t-0", 3, [], ["c", "d", "e"], -1),
            ProduceRetried(3, 0, 0, "p1", "t-0", 1, "LEADER_NOT_AVAILABLE", False),
            ProduceRetried(4, 0, 0, "p1", "t-0", 1, "REQUEST_TIMED_OUT", True),
            ProduceAcknowledged(5, 0, 0, "p1", "t-0", 1, 2, 0),
        ]
    )
    assert view.state.producers["p1"] == ProducerState("p1", 2, 0, 1, 3, [], changed=5)
    view.apply(ProduceFailed(6, 0, 0, "p1", "t-0", 3, 3, "NETWORK_EXCEPTION"))
    producer = view.state.producers["p1"]
    assert (producer.failed, producer.pending) == (3, 0)
    assert producer.errors == ["NETWORK_EXCEPTION"] * 3
    assert view.state.acked == 2


def test_a_consumer_has_all_that_it_was_given_and_its_last_end() -> None:
    view = folded(
        [
            ProduceSent(1, 0, 0, "p1", "t-0", 1, [], ["a", "b", "c"], 1),
            RecordsConsumed(2, 0, 0, "c1", "t-0", 0, [(1, 2)], 2),
            RecordsConsumed(3, 0, 0, "c1", "t-0", 2, [(3, 1)], 3),
            ConsumeFinished(4, 0, 0, "c1", "t-0", 3, "OFFSET_OUT_OF_RANGE"),
        ]
    )
    assert view.state.consumers["c1"] == ConsumerState(
        "c1", [(1, 2), (3, 1)], 3, "OFFSET_OUT_OF_RANGE", changed=4, positions={"t-0": 3}
    )
    assert view.values_of(view.state.consumers["c1"].runs) == ["a", "b", "c"]


def test_every_handler_is_for_a_type_of_event() -> None:
    assert all(issubclass(kind, Event) for kind in clients.HANDLERS)
