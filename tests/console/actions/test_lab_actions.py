from console.actions.lab_actions import GO, LAB
from console.actions.lookup import ACTIONS, refusal
from console.model.workspace import Stage
from tests.console.driving import console, toasts
from tests.console.fakes import ListSource, failover


def test_they_are_part_of_the_registry() -> None:
    assert {action.id for action in (*GO, *LAB)} <= set(ACTIONS)


def test_what_breaks_things_needs_a_cluster_and_what_writes_files_does_not() -> None:
    assert {action.id for action in LAB if action.writes} == {
        "act.fault",
        "faults.inflict",
        "lab.inflict",
    }
    files = {action.id for action in LAB if action.files}
    assert files == {"act.save", "sessions.session.export", "sessions.session.analyse"}
    save = ACTIONS["act.save"]
    assert refusal(save, read_only=True) is None
    assert "writes no files here" in (refusal(save, read_only=True, guarded=True) or "")


async def test_a_console_that_only_looks_writes_no_files() -> None:
    async with console(ListSource(failover(), "LIVE")) as driven:
        driven.app.stage.guarded = True
        await driven.press("S", "x")
        assert not driven.screen.prompt.is_open
        assert driven.screen.context == "overview"
        assert sum(toast.startswith("READ-ONLY: ") for toast in toasts(driven)) == 2
        assert isinstance(driven.app.stage, Stage)
