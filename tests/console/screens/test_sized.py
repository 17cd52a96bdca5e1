"""Screens have the terminal's present size, whatever arrives late, and only while they are seen."""

import pytest
from textual import events
from textual.geometry import Size

from tests.console.driving import console


async def test_sizes_that_the_terminal_no_longer_has_are_ignored() -> None:
    async with console(None, "2", "s") as driven:
        below, above = driven.app.screen_stack[-2:]
        stale = Size(77, 21)
        for screen in (above, below) * 2:
            screen.post_message(events.Resize(stale, stale))
            screen.post_message(events.Resize(driven.app.size, driven.app.size))
        await driven.settle()
        assert above.outer_size == below.outer_size == driven.app.size


async def test_a_hidden_screen_is_laid_out_when_it_is_shown() -> None:
    async with console(None, "2", "enter") as driven:
        table, page = driven.app.screen_stack[-2:]
        await driven.pilot.resize_terminal(150, 50)
        await driven.settle()
        assert page.outer_size == (150, 50)
        assert table.outer_size == (120, 40)
        assert not table.has_class("-roomy")
        await driven.press("escape")
        assert table.outer_size == (150, 50)
        assert table.has_class("-roomy")


async def test_a_screen_below_a_menu_follows_the_size() -> None:
    async with console(None, "2", "s") as driven:
        below, menu = driven.app.screen_stack[-2:]
        await driven.pilot.resize_terminal(90, 30)
        await driven.settle()
        assert below.outer_size == menu.outer_size == (90, 30)


async def test_a_screen_gets_ready_although_another_one_came_and_went_meanwhile() -> None:
    async with console(None, "2") as driven:
        app = driven.app
        app.navigation.open("partition", "orders-0")
        covered = app.screen
        app.navigation.open("broker", "1")
        app.pop_screen()
        await driven.settle()
        assert app.screen is covered
        assert driven.screen.is_ready
        await driven.press("escape")
        assert driven.screen.context == "partitions"


async def test_a_menu_is_dismissed_once() -> None:
    async with console(None, "2", "s") as driven:
        menu = driven.screen
        menu.dismiss(0)
        menu.dismiss(0)
        await driven.settle()
        assert driven.screen.context == "partitions"


@pytest.mark.parametrize("key", ["1", "2", "3", "4"])
async def test_a_very_wide_screen_has_room_for_whole_sentences_at_its_side(key: str) -> None:
    async with console(None, key, size=(200, 60)) as driven:
        assert driven.screen.query_one(".pane.-side").size.width == 80
