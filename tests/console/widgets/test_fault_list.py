import pytest

from console.model.faults import Fault, faults_of
from console.model.workspace import Stage
from console.render.lines import text_of
from console.widgets.fault_list import MANY_PARTITIONS, UNKNOWN, FaultView
from tests.console.driving import console
from tests.console.fakes import ListSource, failover
from tests.console.libraries import failing_over

HARMLESS = Fault("delay", "network delay 2 3 500ms")


def test_the_fault_under_the_cursor_is_looked_into_and_others_wait_until_somebody_is_there() -> (
    None
):
    with failing_over() as source:
        stage = Stage(source)
        stage.follow()
        view = FaultView(stage, id="faults")
        view.show_faults(faults_of(stage.view, ["broker.1"]))
        fault = view.fault
        assert fault is not None
        assert text_of(view.effect(fault)) == ""
        assert view.is_busy()
        view.look_ahead()
        assert UNKNOWN in view.warning(fault) or "fully in sync" in view.warning(fault)
        while view.is_busy():
            view.look_ahead()
        assert text_of(view.effect(fault)) == "2 are fully in sync again"
        others = [each for each in view.faults.values() if each is not fault]
        assert [text_of(view.effect(each)) for each in others] == [""] * len(others)
        assert len(stage.index.keys) < MANY_PARTITIONS


def test_a_recording_has_no_effects() -> None:
    view = FaultView(Stage(ListSource(failover())), id="faults")
    view.show_faults([HARMLESS])
    assert not view.is_busy()
    assert text_of(view.effect(HARMLESS)) == "a recording cannot be changed"


def test_in_a_vast_cluster_only_what_is_chosen_is_looked_into(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("console.widgets.fault_list.MANY_PARTITIONS", 1)
    monkeypatch.setattr("console.widgets.fault_list.VAST_PARTITIONS", 1)
    with failing_over() as source:
        stage = Stage(source)
        stage.follow()
        view = FaultView(stage, id="faults")
        view.show_faults(faults_of(stage.view, ["broker.2"]))
        fault = view.fault
        assert fault is not None
        assert not view.is_busy()
        assert text_of(view.effect(fault)) == "predicted when chosen"
        view.asked = fault
        while view.is_busy():
            view.look_ahead()
        assert "2 partitions have no leader for up to 5.7 s, 2 change leader" in view.warning(fault)


async def test_in_a_large_cluster_the_selected_one_is_looked_into_in_the_background(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("console.widgets.fault_list.MANY_PARTITIONS", 1)
    with failing_over() as source:
        async with console(source, "3", "down", "x") as driven:
            view = driven.screen.query_one(FaultView)
            for _ in range(400):
                if view.forecasts.is_settled("broker crash 0"):
                    break
                await driven.pilot.pause(0.05)
            await driven.settle()
            assert view.forecasts.in_background
            selected, *others = [row for row in driven.lines() if "broker 0  " in row][1:]
            assert selected.split()[-2:] == ["2", "."]
            assert all("predicted when selected" in row for row in others)
            assert not source.is_held


def test_marked_faults_stay_where_they_are_and_are_forecast_together() -> None:
    with failing_over() as source:
        stage = Stage(source)
        stage.follow()
        view = FaultView(stage, id="faults")
        for broker in (2, 3):
            view.show_faults(faults_of(stage.view, [f"broker.{broker}"]))
            view.key = f"broker crash {broker}"
            view.mark()
        assert next(iter(view.faults)) == "broker crash 3"
        both = list(view.faults.values())[-1]
        assert both.title == "crash broker 2, then crash broker 3"
        assert (both.statement, both.confirm) == (
            "broker crash 2; broker crash 3",
            "broker 2 and broker 3",
        )
        view.key = both.statement
        while view.is_busy():
            view.look_ahead()
        assert "2 partitions have no leader to the end" in text_of(view.effect(both))
        view.mark()
        assert stage.marked == {}
        assert both.statement not in view.faults
