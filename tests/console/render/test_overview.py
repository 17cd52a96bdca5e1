import pytest

from console.model.workspace import Stage
from console.render.authority import controller_words
from console.render.lines import text_of, width_of
from console.render.overview import (
    control_lines,
    health_lines,
    healthy_sentence,
    healthy_words,
    is_calm,
)
from console.styles.glyphs import ASCII
from emulator.audit.invariants import INVARIANTS
from emulator.events import BrokerStateChanged, ControllerElected
from sessions.model.health import Counts
from sessions.model.states import UNKNOWN, ProducerState
from tests.console.fakes import ListSource, failover


def stage_at(seq: int | None = None) -> Stage:
    stage = Stage(ListSource(failover(), at=seq), glyphs=ASCII)
    stage.follow()
    return stage


def texts(stage: Stage) -> str:
    rows = [*health_lines(stage, 70), *control_lines(stage, 60)]
    return "\n".join(text_of(row).rstrip() for row in rows)


def test_counts_stand_with_their_last_minute() -> None:
    text = texts(stage_at())
    assert "   brokers up                2/3" in text
    assert " x offline                     1" in text
    assert text.splitlines()[2].endswith("______#")


def test_the_audit_and_the_controller_are_told() -> None:
    text = texts(stage_at())
    assert "controller         broker 2  epoch 2" in text
    assert "acknowledged       75" in text
    assert f"invariants         {len(INVARIANTS)} of {len(INVARIANTS)} hold" in text


def test_a_controllers_epoch_that_clients_are_not_told_is_not_shown() -> None:
    history = failover()
    last = history[-1]
    elected = ControllerElected(last.seq + 1, last.time_us, 0, 2, UNKNOWN, UNKNOWN)
    assert controller_words(Stage(ListSource([*history, elected]))) == ("broker 2", "", "")


def test_a_broken_invariant_is_named() -> None:
    stage = stage_at()
    stage.view.state.invariants = [(99, "HW <= LEO", "orders-1", "7 > 5", False)]
    text = texts(stage)
    assert f"{len(INVARIANTS) - 1} of {len(INVARIANTS)} hold  1 broken" in text
    assert "#99 HW <= LEO orders-1: 7 > 5" in text


def test_failing_clients_and_failed_expectations_are_told() -> None:
    stage = stage_at()
    state = stage.view.state
    state.producers["p1"] = ProducerState("p1", failed=3, pending=1)
    state.expectations.failed = [(4, "hw == 2", "1")]
    text = texts(stage)
    assert "3 failed, 1 p" in text
    assert "0 held  1 failed" in text


def test_health_says_since_when() -> None:
    stage = Stage(ListSource(failover(min_isr=1), at=120))
    stage.follow()
    sentence = healthy_sentence(stage)
    assert sentence == "No faults. 6 of 6 partitions healthy since they exist."
    assert healthy_sentence(stage_at(3)) == "There are no partitions yet."


@pytest.mark.parametrize(
    ("width", "words"),
    [
        (80, "No faults. 6 of 6 partitions healthy since they exist."),
        (44, "6 of 6 partitions healthy since they exist"),
        (34, "6 of 6 healthy since they exist"),
        (20, "healthy since they exist"),
    ],
)
def test_health_leaves_out_what_matters_least_where_room_is_short(width: int, words: str) -> None:
    stage = Stage(ListSource(failover(min_isr=1), at=120))
    stage.follow()
    assert healthy_words(stage, width) == words


def test_a_note_that_does_not_fit_stands_below() -> None:
    stage = stage_at()
    stage.view.state.brokers[stage.view.state.controller.broker or 0].state = "frozen"
    beside = next(
        row for row in control_lines(stage, 200) if text_of(row).startswith(" controller")
    )
    below = [text_of(row) for row in control_lines(stage, 44)]
    at = next(place for place, row in enumerate(below) if row.startswith(" controller"))
    count = next(place for place, row in enumerate(below) if row.startswith(" cluster")) - at
    said = " ".join(" ".join(below[at : at + count]).split())
    assert "nobody controls" in said
    assert said == " ".join(text_of(beside).split())


def test_partitions_whose_leader_has_just_died_are_not_called_healthy() -> None:
    history = failover(min_isr=1)
    crash = next(
        e.seq for e in history if isinstance(e, BrokerStateChanged) and e.state == "crashed"
    )
    stage = Stage(ListSource(history, at=crash))
    stage.follow()
    assert healthy_sentence(stage).startswith(
        "1 broker down. The active controller, broker 1, is dead. 0 of 6"
    )


def test_calm_means_that_nothing_is_counted() -> None:
    assert is_calm(Counts(partitions=9))
    assert not is_calm(Counts(at_min_isr=1))


def test_lines_fit_their_pane() -> None:
    stage = stage_at()
    for width in (40, 70):
        rows = [*health_lines(stage, width), *control_lines(stage, width)]
        assert all(width_of(row) <= width for row in rows)
