from console.screens.brief import BriefScreen
from tests.console.driving import LARGE, console, toasts
from tests.console.fakes import ListSource, failover
from tests.console.libraries import SmallLibrary


async def test_questions_reveal_their_answers_as_one_steps_on() -> None:
    source = ListSource(failover(), "LIVE")
    async with console(source, "7", "enter", size=LARGE, library=SmallLibrary()) as driven:
        assert isinstance(driven.screen, BriefScreen)
        assert driven.text().count("not answered yet: J steps to the next statement") == 2
        while driven.text().count("not answered yet") == 2:
            await driven.press("J")
        assert "t-0@1.leo == 1 and t-0@0.hw == 1 within 20ms" in driven.text()
        assert driven.text().count("not answered yet") == 1
        await driven.press("K", "K")
        assert driven.text().count("not answered yet") == 2


async def test_on_other_screens_answers_are_told_and_what_to_watch_stands_out() -> None:
    source = ListSource(failover(), "LIVE")
    async with console(
        source, "7", "enter", "escape", "5", size=LARGE, library=SmallLibrary()
    ) as driven:
        said = ""
        while "t-0@1.hw == 0" not in toasts(driven):
            await driven.press("J")
            said += driven.lines()[1]
        assert "◉ APPEND" in said or "◉ HW" in said
        assert any("◉" in row for row in driven.lines()[4:])


async def test_a_step_without_a_statement_says_so() -> None:
    async with console(None, "J") as driven:
        assert "no later statement near here" in toasts(driven)
