import pytest

from console.model.exploration import CANCELLED, Explored, Question, Watch
from console.screens.explore import ExploreScreen
from emulator.explorer.search import Progress
from tests.console.driving import SIZES, Console, console, toasts
from tests.console.fakes import ListSource, failover
from tests.console.libraries import SmallLibrary

LOST = "AcknowledgedKept is violated in 0.10.2: 11 steps with 1 fault"


def live() -> ListSource:
    return ListSource(failover(), "LIVE")


async def choose(driven: Console, setting: str, choice: str) -> None:
    """Choose what a setting is, as keys do."""
    screen = driven.screen
    assert isinstance(screen, ExploreScreen)
    screen.settings.key = setting
    await driven.press("enter")
    menu = driven.screen
    menu.menu.index = menu.menu.choices.index(choice)  # type: ignore[attr-defined]
    await driven.press("enter")


async def explored(driven: Console) -> None:
    """Wait until the search has ended."""
    for _ in range(800):
        await driven.pilot.pause(0.05)
        if not (isinstance(driven.screen, ExploreScreen) and driven.screen.job):
            await driven.settle()
            return


@pytest.mark.parametrize("size", SIZES)
async def test_a_release_is_explored_and_its_counterexample_opens(size: tuple[int, int]) -> None:
    async with console(live(), "7", "E", size=size, library=SmallLibrary()) as driven:
        assert driven.screen.context == "explore"
        assert "── question ── R explores, M all releases" in driven.text()
        await choose(driven, "release", "0.10.2")
        await choose(driven, "what must hold", "AcknowledgedKept")
        await driven.press("R")
        await explored(driven)
        await driven.press("tab")
        assert "0.10.2     AcknowledgedKept        11 steps with 1 fault" in driven.text()
        await driven.press("tab")
        assert LOST in driven.text()
        await driven.press("shift+tab", "enter")
        assert driven.app.sources.mode_here == "partitions"
        assert driven.app.stage.source.name == "AcknowledgedKept 0.10.2"
        assert driven.app.stage.source.seq < driven.app.stage.source.last_seq
        driven.app.stage.source.to_tail()
        assert driven.app.stage.view.state.version == "0.10.2"


async def test_all_releases_are_explored_in_turn_and_make_a_table() -> None:
    library = SmallLibrary()
    library.versions = lambda: ("0.10.2", "3.9", "4.0")  # type: ignore[method-assign]
    async with console(live(), "7", "E", library=library) as driven:
        for setting, choice in (("records", "1"), ("elections", "1"), ("eligible replicas", "on")):
            await choose(driven, setting, choice)
        await driven.press("M")
        await explored(driven)
        assert isinstance(driven.screen, ExploreScreen)
        assert [each.version for each in driven.screen.explored] == ["0.10.2", "3.9", "4.0"]
        assert "ElrHasCommitted" in driven.screen.explored[2].cells
        await driven.press("tab", "tab")
        rows = [row.split() for row in driven.lines()]
        assert any(row[:2] == ["3.9", "none"] or row[1:3] == ["3.9", "none"] for row in rows)


async def test_what_is_impossible_is_said_in_a_sentence() -> None:
    async with console(live(), "7", "E", library=SmallLibrary()) as driven:
        await choose(driven, "min.insync.replicas", "3")
        await driven.press("R")
        await explored(driven)
        assert "min.insync.replicas 3 is more than the replicas (2)" in driven.text()


async def test_a_search_can_be_cancelled_and_there_is_one_at_a_time() -> None:
    class Endless(SmallLibrary):
        def explore(self, question: Question, version: str, watch: Watch) -> Explored:
            look, depth = watch.begin(version, question.limit_seconds), 0
            while not (reason := look(Progress(5_000, 10, depth := depth + 1, 9, 0))):
                pass
            return Explored(version, f"{reason}: depth {depth}", {}, [])

    async with console(live(), "7", "E", "R", library=Endless()) as driven:
        await driven.pilot.pause(0.3)
        await driven.press("R")
        assert any("one at a time: 3.9: 5,000 states" in toast for toast in toasts(driven))
        assert "c cancels" in driven.text()
        await driven.press("c")
        await explored(driven)
        assert CANCELLED in driven.text()
        await driven.press("tab", "enter")
        assert any("there is no counterexample" in toast for toast in toasts(driven))


async def test_without_a_library_nothing_can_be_explored() -> None:
    async with console(live(), "7", "E") as driven:
        assert driven.screen.context == "lab"
        assert any("nothing can be explored here" in toast for toast in toasts(driven))
