import pytest

from console.screens.jump import JumpScreen
from tests.console.driving import LARGE, SIZES, Console, console


def letters(driven: Console) -> dict[str, tuple[int, int]]:
    """Where which letter stands."""
    screen = driven.app.screen
    assert isinstance(screen, JumpScreen)
    return {letter: (target.place.x, target.place.y) for letter, target in screen.targets.items()}


@pytest.mark.parametrize("size", SIZES)
async def test_every_pane_tab_and_line_in_sight_has_a_letter_of_its_own(
    size: tuple[int, int],
) -> None:
    async with console(None, "2", size=size) as driven:
        screen = driven.screen
        panes = sum(bool(pane.view.region.area) for pane in screen.panes)
        rows = len(screen.panes[0].view.in_sight())
        before = driven.lines()
        await driven.press("ctrl+o")
        found = letters(driven)
        beside_tabs = len("?p") if "? help" in before[1] else 0
        assert len(found) == panes + len("1234567") + beside_tabs + rows
        assert len(set(found.values())) == len(found)
        for letter, (x, y) in found.items():
            assert driven.lines()[y][x] == letter
        marked = {place for place in found.values()}
        for y, row in enumerate(driven.lines()):
            kept = [character for x, character in enumerate(row) if (x, y) not in marked]
            was = [character for x, character in enumerate(before[y]) if (x, y) not in marked]
            assert "".join(kept).rstrip() == "".join(was).rstrip()


async def test_a_letter_goes_to_its_pane_its_tab_or_its_line() -> None:
    async with console(None, "2", size=LARGE) as driven:
        screen = driven.screen
        panes = [pane for pane in screen.panes if pane.view.region.area]
        await driven.press("ctrl+o", "asdfghjkl"[len(panes) - 1])
        assert driven.screen.current_pane is panes[-1]
        await driven.press("ctrl+o", "a", "ctrl+o")
        last = list(letters(driven))[-1]
        await driven.press(last)
        view = panes[0].view
        assert view.cursor_index() == view.in_sight()[-1]
        await driven.press("ctrl+o", "asdfghjkl"[len(panes) + 2])
        assert driven.screen.context == "brokers"


async def test_any_other_key_a_click_or_another_size_changes_nothing() -> None:
    async with console(None, "2", size=LARGE) as driven:
        screen, current = driven.screen, driven.screen.current_pane
        for leave in ("escape", "1", "ctrl+o"):
            await driven.press("ctrl+o", leave)
            assert driven.screen is screen
            assert screen.current_pane is current
        await driven.press("ctrl+o")
        await driven.pilot.click(offset=(50, 20))
        await driven.settle()
        assert driven.screen is screen
        await driven.press("ctrl+o")
        await driven.pilot.resize_terminal(100, 30)
        await driven.settle()
        assert driven.screen is screen
