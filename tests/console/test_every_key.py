"""Every key of every screen, live, paused and in replay: driven by the registry itself.

A key must do its action's method and nothing else; nothing raises, and the screen stays one that
the registry knows.
"""

from typing import Any

import pytest
from textual import events as keys
from textual.keys import key_to_character

from console.actions.action import ANYWHERE, PROMPT, Action
from console.actions.lookup import ACTIONS, available, in_context
from console.actions.registry import SCREENS
from tests.console.contexts import BESIDE, open_context, ready
from tests.console.driving import LARGE, SMALL, Console, console
from tests.console.fakes import ListSource, failover

TEXTUAL_NAMES = {
    "!": "exclamation_mark",
    ",": "comma",
    ".": "full_stop",
    "<": "less_than_sign",
    ">": "greater_than_sign",
    "[": "left_square_bracket",
    "]": "right_square_bracket",
    "{": "left_curly_bracket",
    "}": "right_curly_bracket",
    "(": "left_parenthesis",
    ")": "right_parenthesis",
    "/": "slash",
    ":": "colon",
    "?": "question_mark",
    "-": "minus",
    "+": "plus",
}
"""What a terminal's key is called where it is no letter."""
ENDS = {"app_quit", "app_suspend"}
"""Actions after which there is no console to look at."""


TURNS_MAX = 50
"""Turns of the event loop within which a key arrives."""


def called(key: str) -> str:
    """A key by Textual's name."""
    return TEXTUAL_NAMES.get(key, key)


async def send(driven: Console, key: str, done: list[str]) -> None:
    """Press a key as a terminal would, and wait until an action was done."""
    done.clear()
    driven.app.post_message(keys.Key(called(key), key_to_character(called(key))))
    for _ in range(TURNS_MAX):
        await driven.pilot.pause()
        if done:
            return


def note_actions(driven: Console, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Note the actions that are run; those after which nothing is left to see are not."""
    done: list[str] = []
    run_action = driven.app.run_action

    async def note(action: str, *namespaces: Any) -> bool:
        done.append(action)
        return action in ENDS or await run_action(action, *namespaces)

    monkeypatch.setattr(driven.app, "run_action", note)
    return done


def source_of(kind: str) -> ListSource:
    """A source in the middle of its events; live ones take statements."""
    return ListSource(failover(), "REPLAY" if kind == "REPLAY" else "LIVE", at=120)


def bound(driven: Console) -> dict[str, str]:
    """What Textual would do on each key, from what has the keys outwards."""
    active = driven.app.screen.active_bindings
    return {key: one.binding.action for key, one in active.items()}


async def press(driven: Console, action: Action, kind: str, done: list[str]) -> None:
    """Press an action's key: it is done, and leads to a screen that the registry knows."""
    app = driven.app
    context = driven.screen.context
    app.stage.pacer.paused = kind != "LIVE"
    assert app.action_method(action.name) is not None, f"{action.id} on {context}"
    await send(driven, action.keys[0], done)
    assert done == [action.name], f"{action.id} on {context}: {done}"
    if action.id in ("app.palette", "pane.jump"):
        await app.pop_screen()
    await ready(driven)
    assert driven.screen.context in SCREENS
    driven.screen.prompt.close()


@pytest.mark.parametrize(
    ("kind", "size", "everywhere"),
    [("PAUSED", SMALL, False), ("LIVE", LARGE, True), ("REPLAY", LARGE, True)],
)
async def test_every_key_of_every_screen_does_its_action(
    kind: str, size: tuple[int, int], monkeypatch: pytest.MonkeyPatch, *, everywhere: bool
) -> None:
    async with console(source_of(kind), size=size) as driven:
        done = note_actions(driven, monkeypatch)
        alone = [context for context in SCREENS if context not in BESIDE]
        for context in ("partitions",) if everywhere else alone:
            await open_context(driven, context)
            leads = bound(driven)
            for action in available(context):
                for key in action.keys:
                    assert leads[called(key)] == action.name
            for action in in_context(ANYWHERE if everywhere else context):
                if driven.screen.context != context:
                    await open_context(driven, context)
                await press(driven, action, kind, done)


async def test_every_key_of_the_input_line_does_its_action(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with console(ListSource(failover(), "LIVE"), "2") as driven:
        done = note_actions(driven, monkeypatch)
        for action in in_context(PROMPT):
            for key in action.keys:
                driven.app.time_travel.action_act_command()
                await driven.pilot.pause()
                await send(driven, key, done)
                assert done == [action.name]
                driven.screen.prompt.close()


def test_every_action_has_a_key_and_no_key_is_a_typing_error() -> None:
    for action in ACTIONS.values():
        assert action.keys, action.id
        assert all(key.isprintable() and " " not in key for key in action.keys)
