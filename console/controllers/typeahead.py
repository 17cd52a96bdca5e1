"""Keys that arrive faster than their effects can be shown, such as those sent by a program.

Textual passes each key to the focused widget's queue, and looks up its binding only when the widget
has not used it. By then the next keys are in the same queue, although the first one was to open the
prompt or another screen. So a key is processed here when it arrives, or waits here.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Any, Final

from textual import events
from textual.app import App

from console.screens.base import ConsoleScreen
from console.screens.messages import ScreenReady
from console.screens.sized import Sized
from console.widgets.prompt import PromptInput

Typed = events.Key | events.Paste
KEYS_AT_ONCE: Final = 32
"""How many keys are processed before other messages have their turn."""


class TypeAhead:
    """Processes keys one after another."""

    def __init__(self, app: App[Any], pass_on: Callable[[Typed], Awaitable[None]]) -> None:
        """Pass keys that are not bound here to Textual with ``pass_on``."""
        self.app = app
        self.pass_on = pass_on
        self.requests = 0
        self._typed: deque[Typed | str] = deque()

    async def take(self, event: Typed) -> None:
        """Take a key, or pasted text, that comes from the terminal."""
        self.app.app_focus = True  # as in Textual: who types is here
        self._typed.append(event)
        await self.go_on()

    def hold(self, action: str) -> None:
        """Run an action once the screen that it is meant for is ready."""
        self._typed.append(action)

    @property
    def is_waiting(self) -> bool:
        """Whether keys wait although nothing that was asked for before is left to do."""
        return bool(self._typed) and not self.requests

    async def go_on(self) -> None:
        """Process the queued keys in order, as far as the screen that they are meant for is ready.

        What a screen has asked for before (:attr:`requests`) comes before the next key. Only the
        application's own task calls this, so that one key is done before the next one begins.
        """
        for _ in range(KEYS_AT_ONCE):
            if not self._typed or self.requests:
                return
            screen = self.app.screen
            if isinstance(screen, Sized) and not screen.is_ready:
                return
            event = self._typed.popleft()
            if isinstance(event, str):
                await self.app.run_action(event)
            elif isinstance(event, events.Paste) or not await self._taken(event):
                await self.pass_on(event)
                await asyncio.sleep(0)  # let the widget take it before the next one
        self.app.post_message(ScreenReady())

    async def _taken(self, event: events.Key) -> bool:
        """Type a key's character or run its action; return False to leave it to Textual."""
        if not isinstance(self.app.screen, ConsoleScreen):
            return False
        focused = self.app.focused
        if isinstance(focused, PromptInput) and event.is_printable and event.character:
            focused.replace(event.character, *focused.selection)
            return True
        return await self.app._check_bindings(event.key)
