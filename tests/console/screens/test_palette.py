from textual import events
from textual.command import CommandList
from textual.keys import key_to_character
from textual.widgets import LoadingIndicator

from console.screens.palette import Palette
from tests.console.driving import console


async def test_who_types_faster_than_the_list_is_filled_may_turn_its_pages() -> None:
    async with console() as driven:
        for key in ("ctrl+p", "o", "r", "d", "pagedown", "pagedown", "pageup", "end", "home"):
            driven.app.post_message(events.Key(key, key_to_character(key)))
        await driven.settle()
        assert isinstance(driven.app.screen, Palette)
        await driven.press("escape")
        assert driven.screen.context == "overview"


async def test_keys_that_follow_the_palettes_own_belong_to_it() -> None:
    async with console() as driven:
        for key in ("ctrl+p", "7", "5"):
            driven.app.post_message(events.Key(key, key_to_character(key)))
        await driven.settle()
        assert isinstance(driven.app.screen, Palette)
        assert driven.app.current_mode == "overview"


async def test_a_click_where_the_terminal_no_longer_is_does_nothing() -> None:
    async with console(None, "ctrl+p") as driven:
        palette = driven.app.screen
        palette.post_message(events.Click(palette, 130, 5, 0, 0, 1, False, False, False, 130, 5))
        await driven.settle()
        assert driven.app.screen is palette


async def test_a_click_on_an_option_that_is_gone_does_nothing() -> None:
    """The list may be filled again between the click and the moment it is processed."""
    async with console(None, "ctrl+p", "o", sends=True) as driven:
        palette = driven.app.screen
        assert isinstance(palette, Palette)
        commands = palette.query_one(CommandList)
        x, y = commands.region.x + 4, commands.region.y + 1
        style = palette.get_style_at(x, y)
        assert "option" in style.meta
        commands.clear_options()
        click = events.Click(commands, 4, 1, 0, 0, 1, False, False, False, x, y, style)
        commands.post_message(click)
        await driven.settle()
        assert driven.app.screen is palette


async def test_a_palette_that_is_closed_while_it_searches_is_no_longer_busy() -> None:
    async with console(None, "ctrl+p", "o") as driven:
        palette = driven.app.screen
        assert isinstance(palette, Palette)
        await palette.query_one(LoadingIndicator).remove()
        palette._show_busy = not palette._show_busy
        await driven.settle()
        assert driven.app.screen is palette
