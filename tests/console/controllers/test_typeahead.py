"""Keys that come all at once: each finds what the ones before it have opened."""

from typing import Any

import pytest
from textual import events
from textual.keys import key_to_character
from textual.widgets import Input
from textual.worker import Worker

from console.controllers.typeahead import TypeAhead
from tests.console.driving import Console, console
from tests.console.fakes import ListSource, failover


async def burst(driven: Console, *keys: str) -> None:
    """Press keys before the first of them has done anything."""
    assert isinstance(driven.app.typeahead, TypeAhead)
    for key in keys:
        driven.app.post_message(events.Key(key, key_to_character(key)))
    await driven.settle()


async def test_a_filter_is_typed_on_the_screen_that_was_asked_for_just_before() -> None:
    async with console(ListSource(failover())) as driven:
        await burst(driven, "2", "slash", *"orders-1")
        assert driven.app.sources.mode_here == "partitions"
        assert driven.screen.prompt.input.value == "orders-1"
        assert "orders-0" not in driven.text()


async def test_a_statement_is_typed_and_given() -> None:
    source = ListSource(failover(), "LIVE")
    async with console(source) as driven:
        await burst(driven, "colon", *"settle", "enter", "3")
        assert source.submitted == ["settle"]
        assert driven.app.sources.mode_here == "brokers"


async def test_what_is_opened_gets_the_keys_behind() -> None:
    async with console(ListSource(failover())) as driven:
        await burst(driven, "2", "enter", "question_mark")
        assert "help: partition" in driven.text()
        await burst(driven, "escape", "escape", "s", "down", "enter", "slash", *"x", "escape")
        assert driven.app.sources.mode_here == "partitions"
        assert not driven.screen.prompt.is_open


@pytest.mark.parametrize("ending", ["enter", "escape"])
async def test_a_line_that_is_closed_gives_the_keys_back(ending: str) -> None:
    async with console(ListSource(failover()), "2") as driven:
        await burst(driven, "slash", *"orders", ending, "3")
        assert driven.app.sources.mode_here == "brokers"


async def test_what_is_marked_is_replaced() -> None:
    async with console(ListSource(failover()), "2", "slash") as driven:
        await burst(driven, *"abc", "shift+home", "x")
        assert driven.screen.prompt.input.value == "x"


async def test_who_types_is_there_even_if_the_terminal_never_says_so() -> None:
    async with console(ListSource(failover()), "2") as driven:
        driven.app.post_message(events.AppBlur())
        await driven.settle()
        before = driven.app.app_focus
        await burst(driven, "slash", *"x")
        assert (before, driven.app.app_focus) == (False, True)
        assert driven.screen.prompt.input.value == "x"


async def test_thousands_of_keys_that_waited_for_the_palette_do_not_stop_everything() -> None:
    async with console(ListSource(failover())) as driven:
        searches: list[int] = []
        add_worker = driven.app.workers.add_worker

        def counting(worker: Worker[Any], start: bool = True, exclusive: bool = True) -> None:
            add_worker(worker, start, exclusive)
            searches.append(len(driven.app.workers))

        driven.app.workers.add_worker = counting  # type: ignore[method-assign]
        await burst(driven, "ctrl+p", *"q" * 300)
        assert driven.app.screen.query_one(Input).value == "q" * 300
        assert max(searches) < 50, "what was typed before is no longer searched for"
