"""Keys that come faster than what they do can be shown, as when a program sends a line of them.

Textual hands a key to what has the keys now, where it waits in line and, if it is no text, comes
back to be looked up. By then the keys behind it have been handed to the same widget, though it was
to open an input line or another screen. So a key is done when it comes, or waits here.
"""

from collections import deque
from collections.abc import Awaitable, Callable
from typing import Any

from textual import events
from textual.app import App

from console.screens.base import ConsoleScreen
from console.widgets.prompt import PromptInput


class TypeAhead:
    """Takes keys one after the other."""

    def __init__(self, app: App[Any], pass_on: Callable[[events.Key], Awaitable[None]]) -> None:
        """Keys that nothing here is bound to are passed on to Textual."""
        self.app = app
        self.pass_on = pass_on
        self.requests = 0
        self._typed: deque[events.Key] = deque()

    async def take(self, event: events.Key) -> None:
        """Take a key that comes from the terminal."""
        self.app.app_focus = True  # as Textual has it: who types is there, whatever was said before
        self._typed.append(event)
        await self.go_on()

    async def go_on(self) -> None:
        """Do what was typed, in order, as far as the screen that it is meant for is there.

        What a screen has asked for before (:attr:`requests`) comes before the next key.
        """
        while self._typed and not self.requests:
            screen = self.app.screen
            if isinstance(screen, ConsoleScreen) and not screen.is_ready:
                self.app.call_after_refresh(self.go_on)
                return
            event = self._typed.popleft()
            if not await self._taken(event):
                await self.pass_on(event)

    async def _taken(self, event: events.Key) -> bool:
        """Type a key's character, or do what the key is bound to; False: leave it to Textual."""
        if not isinstance(self.app.screen, ConsoleScreen):
            return False
        focused = self.app.focused
        if isinstance(focused, PromptInput) and event.is_printable and event.character:
            focused.replace(event.character, *focused.selection)
            return True
        return await self.app._check_bindings(event.key)
