from console.model.workspace import Stage
from console.render.lines import text_of
from console.screens.page import MenuScreen, help_lines
from console.widgets.text import TextView
from tests.console.driving import SMALL, console
from tests.console.fakes import ListSource, failover


async def test_help_shows_the_keys_of_the_screen_it_was_called_from() -> None:
    async with console(None, "2", "question_mark") as driven:
        assert "help: partitions" in driven.text()
        page = driven.screen.query_one("#text", TextView)
        assert "s-right" in "\n".join(text_of(row) for row in page.lines)
        await driven.press("escape")
        assert driven.screen.context == "partitions"


async def test_help_can_be_scrolled_on_a_small_screen() -> None:
    async with console(None, "2", "question_mark", "G", size=SMALL) as driven:
        assert "every replica is in the ISR" in driven.text()


async def test_help_of_help_stays_where_it_is() -> None:
    async with console(None, "question_mark", "question_mark", "escape") as driven:
        assert driven.screen.context == "overview"


def test_help_explains_every_state_word() -> None:
    text = "\n".join(
        text_of(row) for row in help_lines(Stage(ListSource(failover())), "partitions")
    )
    for word in ("OFFL", "<MIN", "UNCL", "DIVG", "=MIN", "URP", "STAL", "PREF", "MOVE"):
        assert word in text


async def test_a_menu_is_left_with_escape_without_choosing() -> None:
    async with console(None, "2", "s", "down", "escape") as driven:
        assert driven.screen.context == "partitions"
        assert "sort STAT" in driven.lines()[3]


async def test_a_double_click_chooses_from_a_menu() -> None:
    async with console(None, "2", "s") as driven:
        assert isinstance(driven.screen, MenuScreen)
        menu = driven.screen.menu
        x, y = menu.region.offset
        await driven.pilot.click(offset=(x + 4, y + menu.choices.index("LEO")), times=2)
        await driven.settle()
        assert "sort LEO" in driven.lines()[3]
