"""Letting time pass: however it is cut, the same happens."""

import pytest

from emulator.cluster import Cluster
from emulator.events import Event, InputFinished, InputReceived
from emulator.scenario.runner import Ticket
from sessions import pump
from tests.sessions.examples import SPEC, STORY, run, statement, story_events

QUICK = STORY[:22]


def in_slices(cluster: Cluster, ticket: Ticket) -> None:
    while not ticket.done:
        pump.run_for(cluster, cluster.now_us + 7_000, 10.0, lambda: ticket.done)


def test_a_story_driven_in_small_slices_is_the_same_story() -> None:
    events: list[Event] = []
    cluster = Cluster(SPEC, (events.append,))
    for line, given in enumerate(QUICK, start=2):
        in_slices(cluster, cluster.submit(statement(given, line)))
    executed: list[Event] = []
    run(executed.append, story=QUICK)
    assert events == executed


def test_a_story_is_done_again_by_steps_and_times() -> None:
    places = [e for e in story_events() if isinstance(e, InputReceived)]
    events: list[Event] = []
    cluster = Cluster(SPEC, (events.append,))
    for place, given in zip(places[1:], STORY, strict=True):
        pump.run_to(cluster, place.steps, place.time_us)
        cluster.submit(statement(given, place.line))
    pump.run_to(cluster, cluster.steps, story_events()[-1].time_us)
    while len(events) < len(story_events()):
        pump.move(cluster)
    assert tuple(events[: len(story_events())]) == story_events()


def test_time_passes_up_to_the_goal_even_if_nothing_is_due() -> None:
    cluster = Cluster(SPEC)
    goal_us = cluster.now_us + 3_000_000
    assert pump.run_for(cluster, goal_us, 10.0)
    assert cluster.now_us == goal_us


def test_no_wall_time_means_a_slice_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pump, "SLICE_STEPS", 5)
    cluster = Cluster(SPEC)
    steps = cluster.steps
    assert not pump.run_for(cluster, cluster.now_us + 60_000_000, 0.0)
    assert cluster.steps == steps + 5


def test_a_statement_that_asked_for_a_time_ends_at_that_time() -> None:
    events: list[Event] = []
    cluster = Cluster(SPEC, (events.append,))
    begun_us = cluster.now_us
    cluster.submit(statement(STORY[2]))
    pump.run_for(cluster, begun_us + 5_000_000, 10.0)
    finished = [e for e in events if isinstance(e, InputFinished)]
    assert finished[-1].time_us == begun_us + 1_000_000
