import pytest

from console.screens.base import SIZE_NEEDED, ConsoleScreen
from console.screens.partitions import PartitionsScreen
from tests.console.driving import SIZES, SMALL, console
from tests.console.kraft import kraft
from tests.support.kraft_states import FENCED


async def test_the_pane_with_the_keys_is_marked_in_its_title() -> None:
    async with console(None, "2", "tab") as driven:
        screen = driven.app.screen
        assert isinstance(screen, PartitionsScreen)
        roles = [
            next(s.role for s in pane.heading.lines[0] if s.role.startswith("title"))
            for pane in screen.panes
        ]
        assert roles == ["title", "title-sorted", "title"]


async def test_a_click_gives_the_keys_to_a_pane() -> None:
    async with console(None, "2") as driven:
        await driven.pilot.click("#inspector")
        await driven.settle()
        pane = driven.screen.current_pane
        assert pane is not None
        assert pane.view.id == "inspector"


async def test_the_keys_come_back_to_the_pane_that_opened_the_input_line() -> None:
    async with console(None, "2", "tab", "t", "escape") as driven:
        assert driven.app.focused is not None
        assert driven.app.focused.id == "inspector"


def test_80_by_24_is_enough() -> None:
    assert SIZE_NEEDED <= SMALL
    assert ConsoleScreen.context == ""


@pytest.mark.parametrize("size", SIZES)
async def test_the_key_of_help_is_named_once(size: tuple[int, int]) -> None:
    """Beside the tabs where there is room, otherwise beside a verdict with nothing to show."""
    async with console(kraft(*FENCED[:-2]), "2", size=size) as driven:
        lines = driven.lines()
        assert "healthy" in lines[2]
        assert sum("? help" in row for row in lines) == 1
