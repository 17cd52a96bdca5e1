import pytest

from console.model.faults import Fault, faults_of
from console.model.workspace import Stage
from console.render.lines import text_of
from console.widgets.fault_list import MANY_PARTITIONS, UNKNOWN, FaultView
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
        assert UNKNOWN in view.warning(fault) or "no partition is affected" in view.warning(fault)
        while view.is_busy():
            view.look_ahead()
        assert text_of(view.effect(fault)) == "no partition is affected"
        others = [each for each in view.faults.values() if each is not fault]
        assert [text_of(view.effect(each)) for each in others] == [""] * len(others)
        assert len(stage.index.keys) < MANY_PARTITIONS


def test_a_recording_has_no_effects() -> None:
    view = FaultView(Stage(ListSource(failover())), id="faults")
    view.show_faults([HARMLESS])
    assert not view.is_busy()
    assert text_of(view.effect(HARMLESS)) == "a recording cannot be changed"


def test_in_a_large_cluster_only_what_is_chosen_is_looked_into(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("console.widgets.fault_list.MANY_PARTITIONS", 1)
    with failing_over() as source:
        stage = Stage(source)
        stage.follow()
        view = FaultView(stage, id="faults")
        view.show_faults(faults_of(stage.view, ["broker.2"]))
        fault = view.fault
        assert fault is not None
        assert not view.is_busy()
        assert text_of(view.effect(fault)) == "foreseen when it is chosen"
        view.asked = fault
        while view.is_busy():
            view.look_ahead()
        assert "2 change leader, 2 unserved for" in view.warning(fault)
