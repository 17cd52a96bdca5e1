"""Keys that come faster than what they do can be shown, as when a program sends a line of them.

Textual hands a key to what has the keys now, where it waits in line and, if it is no text, comes
back to be looked up. By then the keys behind it have been handed to the same widget, though it was
to open an input line or another screen. So a key is done when it comes, or waits here.
"""

from collections import deque

from textual import events
from textual.app import App

from console.screens.base import ConsoleScreen
from console.widgets.prompt import PromptInput


class TypeAhead(App[None], inherit_bindings=False):
    """The part of the application that takes keys one after the other."""

    def begin_typing(self) -> None:
        """No key waits."""
        self._typed: deque[events.Key] = deque()

    async def on_event(self, event: events.Event) -> None:
        """Take a key that comes from the terminal; leave everything else to Textual."""
        if isinstance(event, events.Key) and not event.is_forwarded:
            self.app_focus = True  # as Textual has it: who types is there, whatever was said before
            self._typed.append(event)
            await self._take_typed()
        else:
            await super().on_event(event)

    async def _take_typed(self) -> None:
        """Do what was typed, in order, as far as the screen that it is meant for is there."""
        while self._typed:
            if isinstance(self.screen, ConsoleScreen) and not self.screen.is_ready:
                self.call_after_refresh(self._take_typed)
                return
            event = self._typed.popleft()
            if not await self._taken(event):
                await super().on_event(event)

    async def _taken(self, event: events.Key) -> bool:
        """Type a key's character, or do what the key is bound to; False: it is Textual's affair."""
        if not isinstance(self.screen, ConsoleScreen):
            return False
        focused = self.focused
        if isinstance(focused, PromptInput) and event.is_printable and event.character:
            focused.replace(event.character, *focused.selection)
            return True
        return await self._check_bindings(event.key)
