"""Screens that are laid out for the terminal's present size, and only while they can be seen.

Textual tells every screen of a stack about every size that the terminal has had, and a screen that
is laid out tells itself again. When sizes follow each other quickly, two of them chase each other
through a screen's queue for ever, and as the queue is never empty, nothing else gets a turn.
"""

from typing import TYPE_CHECKING, Any

from textual import events, messages
from textual.await_complete import AwaitComplete
from textual.geometry import Size
from textual.screen import Screen
from textual.widget import Widget

from console.screens.messages import ScreenReady

if TYPE_CHECKING:
    Base = Screen[Any]
else:
    Base = object


class Sized(Base):
    """A screen that always has the size of the terminal; mixed into a class of Textual's.

    It is no node itself: Textual takes styles and component classes from the first base that is.
    """

    is_ready = False
    """Whether it takes keys: it is laid out, and what has the focus first has it."""

    def become_ready(self) -> None:
        """Accept keys, and those that were typed before."""
        self.is_ready = True
        self.app.post_message(ScreenReady())

    def _screen_resized(self, size: Size) -> None:
        """Lay out for the terminal's present size, once: ``size`` may be an earlier one."""
        if self._is_seen() and self._compositor.size != self.app.size:
            super()._screen_resized(self.app.size)

    def _is_seen(self) -> bool:
        return self.is_active or self in self.app._background_screens

    def _on_resize(self, event: events.Resize) -> None:  # type: ignore[override]
        """Skip sizes that the terminal no longer has; a hidden screen is laid out when shown."""
        if event.size != self.app.size or not self._is_seen():
            event.prevent_default()
            event.stop()

    async def mount_composed_widgets(self, widgets: list[Widget]) -> None:
        """Choose the classes of the present size before anything is styled."""
        self._classify(self.app.size)
        await super().mount_composed_widgets(widgets)

    def _on_screen_resume(self, event: events.ScreenResume) -> None:
        """Choose the classes of the present size before Textual lays the screen out.

        Textual would style all of the screen again, whatever has changed meanwhile.
        """
        event.refresh_styles = False
        self._classify(self.app.size)

    def _classify(self, size: Size) -> None:
        """Set the breakpoints' classes as Textual does after a resize."""
        across, down = self.app.HORIZONTAL_BREAKPOINTS or [], self.app.VERTICAL_BREAKPOINTS or []
        chosen = {
            *self._get_breakpoint_classes(size.width, across),
            *self._get_breakpoint_classes(size.height, down),
        }
        classes = {name: name in chosen for _, name in (*across, *down)}
        self.update_classes(classes, animate=False)

    def _on_invoke_later(self, message: messages.InvokeLater) -> None:
        """Call back after a refresh of this screen.

        Textual waits for the screen on top instead, and forgets the call if that one closes.
        """
        message.prevent_default()
        self._invoke_later(message.callback, message._sender or self)

    def dismiss(self, result: object = None) -> AwaitComplete:
        """Close the screen, once: a second key or click may come before it is gone."""
        if not self.is_active:
            return AwaitComplete()
        return super().dismiss(result)


def closed_with(screen: Screen[Any]) -> list[Any]:
    """Take the application's calls that wait for a refresh of a screen that closes."""
    left = [(call, sender) for call, sender in screen._callbacks if sender is screen.app]
    screen._callbacks.clear()
    return left
