import pytest

from console.screens.lab import LabScreen
from sessions.sources.twin import TwinSource
from tests.console.driving import LARGE, SIZES, SMALL, console, toasts
from tests.console.fakes import ListSource, failover
from tests.console.libraries import SmallLibrary, failing_over
from tests.console.screens.test_faults import forecast_done


def live() -> ListSource:
    return ListSource(failover(), "LIVE")


@pytest.mark.parametrize("size", SIZES)
async def test_the_library_is_listed_and_enter_opens_one_at_its_start(
    size: tuple[int, int],
) -> None:
    async with console(live(), "7", size=size, library=SmallLibrary()) as driven:
        assert driven.screen.context == "lab"
        assert "── scenarios ── 3 of 3" in driven.text()
        assert "A4  A fetch waits for records" in driven.text()
        assert "E8  A broker dies, not the controller" in driven.text()
        assert ("PREDICT, BEFORE YOU STEP ON" in driven.text()) == (size == LARGE)
        await driven.press("enter")
        assert driven.screen.context == "page"
        assert "1. A record arrives while the fetch is waiting" in driven.text()
        assert " PAUSED ‖ " in driven.lines()[0]
        assert driven.app.stage.view.state.partitions == {}
        await driven.press("escape")
        assert driven.app.sources.mode_here == "partitions"
        await driven.press("i")
        assert "A fetch waits for records" in driven.text()


async def test_on_a_small_screen_the_panes_take_turns() -> None:
    async with console(live(), "7", "tab", size=SMALL, library=SmallLibrary()) as driven:
        assert "PREDICT, BEFORE YOU STEP ON" in driven.text()
        assert "scenarios" not in driven.text()
        await driven.press("tab")
        assert "── faults of broker 2" in driven.text()
        await driven.press("tab")
        assert "none yet; : enters one" in driven.text()


async def test_it_opens_on_the_release_that_was_chosen() -> None:
    async with console(live(), "7", "v", library=SmallLibrary()) as driven:
        await driven.press("down", "down", "down", "enter")
        assert "on 0.8.2" in driven.text()
        await driven.press("G", "enter")
        assert driven.app.stage.view.state.version == "0.8.2"
        await driven.press("escape", "7")
        assert isinstance(driven.screen, LabScreen)
        assert driven.screen.scenarios.selected == "V7-stale-hw-restart"
        assert "KIP-101 (0.11)" in driven.text()


async def test_words_narrow_the_library_and_those_that_nothing_has_say_so() -> None:
    async with console(live(), "7", "slash", library=SmallLibrary()) as driven:
        await driven.type("failover")
        assert "1 of 3" in driven.text()
        await driven.press("ctrl+u")
        driven.screen.prompt.input.value = "nonsense"
        await driven.settle()
        assert "No scenario matches 'nonsense'." in driven.text()
        assert "esc clears the filter" in driven.text()


async def test_without_a_library_it_says_why() -> None:
    async with console(live(), "7", "enter", "c", "v") as driven:
        assert "The console was started without a library" in driven.text()
        assert driven.screen.context == "lab"


async def test_what_cannot_be_opened_says_why() -> None:
    async with console(live(), "7", library=SmallLibrary()) as driven:
        assert isinstance(driven.screen, LabScreen)
        driven.screen._open(SmallLibrary().cards()[0], "3.9.99")
        await driven.settle()
        assert driven.app.sources.mode_here == "lab"
        assert driven.screen.context == "notice"
        assert "3.9.99" in driven.text()


async def test_two_releases_are_asked_for_those_on_which_it_differs_first() -> None:
    async with console(live(), "7", "G", "c", library=SmallLibrary()) as driven:
        assert driven.screen.prompt.input.value == "0.10.2 0.11"
        assert "two of documents 0.8.1" in driven.text()
        for wrong in ("0.11", "0.11 0.12", "one two three"):
            driven.screen.prompt.input.value = wrong
            await driven.press("enter")
            assert "two releases are needed, such as 0.10.2 0.11" in driven.text()
        driven.screen.prompt.input.value = "0.10.2 0.11"
        await driven.press("enter")
        await driven.settle()
        assert isinstance(driven.app.stage.source, TwinSource)
        await driven.press("escape")
        assert driven.app.sources.mode_here == "compare"


async def test_faults_are_those_of_what_was_selected_last_or_is_chosen() -> None:
    async with console(live(), "2", "7", library=SmallLibrary()) as driven:
        assert "── faults of orders-5" in driven.text()
        await driven.press("o")
        await driven.press("g", "down", "down", "enter")
        assert "── faults of broker 3" in driven.text()


async def test_a_fault_from_the_lab_is_forecast_named_and_done() -> None:
    with failing_over() as source:
        async with console(source, "7", "tab", "tab", "z", library=SmallLibrary()) as driven:
            await forecast_done(driven)
            row = next(row for row in driven.lines() if "crash broker 0  " in row)
            assert row.split()[-2] == "2"  # the next controller
            await driven.press("I")
            assert "type 'broker 0' to do it" in driven.text()
            await driven.type("0")
            await driven.press("enter")
            assert source.view.state.brokers[0].state == "crashed"
            assert "done: broker crash 0" in toasts(driven)
            assert "start broker 0" in driven.text()


async def test_enter_on_a_fault_of_the_lab_lists_what_it_would_change() -> None:
    with failing_over() as source:
        keys = ("3", "down", "down", "7", "tab", "tab", "down", "enter")
        async with console(source, *keys, library=SmallLibrary()) as driven:
            assert driven.screen.context == "faults"
            row = next(row for row in driven.lines() if row.startswith("▌"))
            assert "power off broker 2" in row
            await forecast_done(driven)
            await driven.press("enter")
            assert "PARTITION" in driven.text()
            pane = driven.screen.current_pane
            assert pane is not None
            assert pane.view.row_text().startswith('{"tp":')


async def test_a_recording_refuses_faults_at_the_gate() -> None:
    async with console(None, "7", "tab", "tab", "I", library=SmallLibrary()) as driven:
        assert any(toast.startswith("READ-ONLY: ") for toast in toasts(driven))
        assert not driven.screen.prompt.is_open
        assert "a recording cannot be changed" in driven.text()


async def test_what_was_given_by_hand_is_listed_last_first_and_can_be_given_again() -> None:
    async with console(live(), "7", library=SmallLibrary()) as driven:
        for text in ("broker crash 2", "broker start 2"):
            await driven.press("colon")
            await driven.type(text)
            await driven.press("enter")
        await driven.press("tab", "tab", "tab")
        assert "2 statements" in driven.text()
        assert "▌ broker start 2" in driven.text()
        await driven.press("down", "enter")
        assert driven.screen.prompt.input.value == "broker crash 2"


@pytest.mark.parametrize("size", [(80, 40), (120, 24)])
async def test_every_pane_of_the_lab_fills_its_lines(size: tuple[int, int]) -> None:
    async with console(live(), "7", size=size, library=SmallLibrary()) as driven:
        for _ in range(4):
            strips = driven.app.screen._compositor.render_strips()
            assert [strip.cell_length for strip in strips] == [size[0]] * size[1]
            await driven.press("tab")
