"""Reducing a run: what is left fails in the same way, and nothing of it can be spared."""

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from emulator.inputs.statements import (
    AnyInput,
    CrashBroker,
    CreateTopic,
    Mark,
    Produce,
    Statement,
    Wait,
)
from sessions.campaign.chaos import Chaos
from sessions.campaign.shrink import findings, reduced, shrink
from tests.sessions.campaign.plans import known_plan, plan, story, variant


def marks(count: int) -> list[Statement]:
    return [Statement(Mark(name=str(n)), f"mark {n}", n) for n in range(count)]


@given(st.integers(0, 30), st.sets(st.integers(0, 29)))
def test_what_matters_is_all_that_is_left(count: int, needed: set[int]) -> None:
    steps = marks(count)
    matter = [step for step in steps if step.line in needed]
    left = reduced(steps, lambda tried: all(step in tried for step in matter))
    assert left == matter


def test_a_run_that_loses_is_reduced_to_what_loses() -> None:
    noise: list[AnyInput] = [
        Mark(name="a"),
        Wait(duration_us=1_000),
        Mark(name="b"),
        Mark(name="c"),
    ]
    made = plan(variant({"acks": "1"}, [*story(1)[:2], *noise, *story(1)[2:], Mark(name="end")]))
    found = shrink(made, made.run(1), 60)
    assert found is not None
    assert found.finding == "lost"
    assert found.left < found.statements - len(noise)
    assert "mark" not in found.script
    assert "CrashBroker" in found.script  # these statements are called after their inputs
    assert found == shrink(made, made.run(1), 60)


def test_a_run_in_which_nothing_goes_wrong_is_not_reduced() -> None:
    made = known_plan(0)
    assert findings(made.variants[1], 0, 60) == set()
    assert shrink(made, made.run(1), 60) is None


def test_a_run_that_fails_for_want_of_what_was_left_out_does_not_count() -> None:
    """Without the topic the produce is refused, which is a failure, but another one."""
    made = plan(
        variant(
            {},
            [
                CreateTopic(topic="t", assignment=[[1, 2, 0]]),
                Wait(duration_us=10_000),
                Produce(topic="t", value="m", acks=1, count=3, in_flight=3),
                CrashBroker(broker=1),
                Wait(duration_us=40_000_000),
            ],
        )
    )
    found = shrink(made, made.run(0), 60)
    if found is not None:
        assert "CreateTopic" in found.script


def test_faults_are_reduced_like_any_statement() -> None:
    made = msgspec.structs.replace(
        plan(variant({"acks": "1"}, [*story(1)])), chaos=Chaos({"cut": 2, "delay": 2})
    )
    run = made.run(0)
    whole = made.of_run(run).steps
    assert len(whole) > len(story(1))
    found = shrink(made, run, 60)
    assert found is not None
    assert found.left < len(whole)
    assert made.number_of(run.session) == run.number
