from textual import events

from console.widgets.prompt import Prompt
from tests.console.driving import console
from tests.console.fakes import ListSource, failover

STATEMENTS = ("broker crash", "broker start", "broker stop", "topic create")


def live() -> ListSource:
    return ListSource(failover(), "LIVE")


async def test_tab_completes_as_far_as_all_agree_and_lists_the_rest() -> None:
    async with console(live(), "colon", complete=STATEMENTS) as driven:
        await driven.type("br")
        await driven.press("tab")
        assert driven.screen.prompt.input.value == "broker "
        assert "crash  start  stop" in driven.text()
        await driven.type("c")
        await driven.press("tab")
        assert driven.screen.prompt.input.value == "broker crash"


async def test_nothing_to_complete_is_said() -> None:
    async with console(live(), "colon", "x", "tab") as driven:
        assert "nothing to complete here" in driven.text()


async def test_up_and_down_walk_through_what_was_given() -> None:
    async with console(live()) as driven:
        for text in ("one", "two", "two"):
            await driven.press("colon")
            await driven.type(text)
            await driven.press("enter")
        await driven.press("colon", "up")
        assert driven.screen.prompt.input.value == "two"
        await driven.press("up", "up")
        assert driven.screen.prompt.input.value == "one"
        await driven.press("down", "down")
        assert driven.screen.prompt.input.value == ""


async def test_keys_are_text_while_something_is_typed() -> None:
    async with console(live(), "2", "colon") as driven:
        await driven.type("1 q ? /")
        assert driven.screen.prompt.input.value == "1 q ? /"
        assert driven.app.current_mode == "partitions"


async def test_the_footer_shows_the_input_lines_keys() -> None:
    async with console(live(), "colon") as driven:
        assert driven.lines()[-1].split() == (
            ["enter", "accept", "esc", "cancel", "up", "history", "tab", "complete"]
        )


async def test_an_empty_line_is_closed_without_a_statement() -> None:
    async with console(live(), "colon", "enter") as driven:
        assert driven.source.submitted == []
        assert isinstance(driven.screen.prompt, Prompt)
        assert not driven.screen.prompt.is_open


async def test_the_hint_stays_while_a_filter_is_typed() -> None:
    async with console(None, "2", "slash") as driven:
        assert "isr<min" in driven.text()
        await driven.type("orders")
        assert "words, re:pattern" in driven.text()
        await driven.type(" leadr=1")
        assert "did you mean 'leader'?" in driven.text()


async def test_several_pasted_statements_are_given_one_after_the_other() -> None:
    source = ListSource(failover(), "LIVE")
    async with console(source, "colon") as driven:
        driven.screen.prompt.input.post_message(
            events.Paste("broker crash 2\nbroker start 2\n\nshow brokers\n")
        )
        await driven.settle()
        assert source.submitted == ["broker crash 2", "broker start 2"]
        assert driven.screen.prompt.input.value == "show brokers"


async def test_several_pasted_lines_are_one_filter() -> None:
    async with console(None, "2", "slash") as driven:
        driven.screen.prompt.input.post_message(events.Paste("isr<min\nor osr=1"))
        await driven.settle()
        assert driven.screen.prompt.input.value == "isr<min or osr=1"
