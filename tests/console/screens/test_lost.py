from commands.runs.console_library import ConsoleLibrary
from tests.console.driving import console


async def test_lost_records_are_listed_with_where_they_went_and_open() -> None:
    opened = ConsoleLibrary().open_scenario("V7-stale-hw-restart", "0.10.2")
    opened.source.to_tail()
    try:
        async with console(opened.source, "X") as driven:
            assert driven.screen.context == "lost"
            assert "truncated on " in driven.text()
            await driven.press("enter")
            assert driven.screen.context == "record"
            await driven.press("escape", "5", "slash")
            await driven.type("trunc")
            await driven.press("enter", "g", "enter", "tab")
            assert "records  " in driven.text()
            assert "(record " in driven.text()
    finally:
        opened.close()


async def test_without_losses_it_says_so_and_the_overview_leads_there() -> None:
    async with console(None, "tab", "tab") as driven:
        await driven.press(*("down",) * 4, "enter")
        assert driven.screen.context == "lost"
        assert "No acknowledged record has been lost up to here." in driven.text()
