"""The wall clock decides when to stop for now, and nothing else."""

import pytest

from emulator.cluster import Cluster
from emulator.events import Event, InputFinished
from emulator.scenario.runner import Advance, Runner
from sessions.sources import pacing
from sessions.sources.pacing import advance_for, run_for
from tests.sessions.examples import SPEC, STORY, statement


def test_time_passes_up_to_the_goal_even_if_nothing_is_due() -> None:
    runner = Runner(Cluster(SPEC))
    goal_us = runner.now_us + 3_000_000
    assert run_for(runner, goal_us, 10.0)
    assert runner.now_us == goal_us


def test_no_wall_time_means_a_slice_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pacing, "SLICE_STEPS", 5)
    runner = Runner(Cluster(SPEC))
    steps = runner.steps
    assert advance_for(runner, runner.now_us + 60_000_000, 0.0) is Advance.BUDGET
    assert runner.steps == steps + 5
    assert not run_for(runner, runner.now_us + 60_000_000, 0.0)


def test_a_statement_that_asked_for_a_time_ends_at_that_time() -> None:
    events: list[Event] = []
    runner = Runner(Cluster(SPEC, (events.append,)))
    begun_us = runner.now_us
    runner.submit(statement(STORY[2]))
    assert advance_for(runner, begun_us + 5_000_000, 10.0) is Advance.ENDED
    assert runner.now_us == begun_us + 1_000_000
    assert run_for(runner, begun_us + 5_000_000, 10.0)
    finished = [e for e in events if isinstance(e, InputFinished)]
    assert finished[-1].time_us == begun_us + 1_000_000
