from pathlib import Path

from commands.cli.main import run_program
from console.controllers.lab import Lab
from tests.console.driving import console, toasts
from tests.console.fakes import ListSource, failover
from tests.console.libraries import SmallLibrary, failing_over


async def test_what_was_done_by_hand_is_saved_as_a_script_that_runs(tmp_path: Path) -> None:
    with failing_over() as source:
        async with console(source, "colon", library=SmallLibrary(tmp_path)) as driven:
            await driven.type("broker start 1")
            await driven.press("enter", "S")
            assert "'tidegauge run' takes it" in driven.text()
            driven.screen.prompt.input.value = "mine"
            await driven.press("enter")
            assert any("mine.tide" in toast for toast in toasts(driven))
            await driven.press("S")
            driven.screen.prompt.input.value = "mine.tide"
            await driven.press("enter")
            assert "'mine-2.tide' is free" in driven.text()
            assert driven.screen.prompt.is_open
    assert "broker start 1\n" in (tmp_path / "mine.tide").read_text()
    assert run_program(["run", str(tmp_path / "mine.tide")]) == 0


async def test_what_nobody_knows_the_statements_of_cannot_be_saved(tmp_path: Path) -> None:
    source = ListSource(failover(), "LIVE")
    async with console(source, "S", "enter", library=SmallLibrary(tmp_path)) as driven:
        assert "are unknown" in driven.text()


async def test_without_a_library_or_brokers_there_is_nothing_to_save_or_break() -> None:
    async with console(ListSource(failover(), "LIVE", at=0), "S", "x") as driven:
        assert not driven.screen.prompt.is_open
        assert isinstance(driven.app.lab, Lab)
        assert driven.app.lab.subject() == ()
        assert any("scripts cannot be saved here" in toast for toast in toasts(driven))
        assert "there is no broker yet" in toasts(driven)
