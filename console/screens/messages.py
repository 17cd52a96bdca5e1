"""Requests that screens post to the application, so that no screen depends on it.

They are handled in the order in which they were posted, before the next key.
"""

from collections.abc import Callable

from textual.message import Message
from textual.screen import Screen

from console.model.library import Library, Opened
from console.model.links import Link
from console.widgets.fault_list import FaultView


class ScreenReady(Message, bubble=False):
    """Tell the application that a screen takes keys from now on."""


class Request(Message, bubble=False):
    """A request to the application."""

    is_handled = False
    """Whether the application has begun to handle it."""


class RepaintRequested(Request):
    """Repaint the screen; a screen posts no second one until the first is handled."""


class OpenRequested(Request):
    """Open what a line links to."""

    def __init__(self, link: Link) -> None:
        self.link = link
        super().__init__()


class ActionRequested(Request):
    """Run an action of the registry, with the same checks as for its key.

    ``text`` is put into the prompt that the action opens.
    """

    def __init__(self, id: str, text: str = "") -> None:
        self.id = id
        self.text = text
        super().__init__()


class CopyRequested(Request):
    """Copy text to the clipboard."""

    def __init__(self, text: str) -> None:
        self.text = text
        super().__init__()


class FaultChosen(Request):
    """Inflict the fault under the cursor; ``done`` is called afterwards."""

    def __init__(self, palette: FaultView, done: Callable[[], None]) -> None:
        self.palette = palette
        self.done = done
        super().__init__()


class SourceRequested(Request):
    """Open a scenario or a recording over the current source, at a screen.

    ``link`` is then opened over that screen.
    """

    def __init__(
        self, opener: Callable[[Library], Opened], mode: str, link: Link | None = None
    ) -> None:
        self.opener = opener
        self.mode = mode
        self.link = link
        super().__init__()


class WorkFailed(Request):
    """Report that an operation failed; ``unchanged`` says what it left unchanged."""

    def __init__(self, what: str, cause: str, unchanged: str) -> None:
        self.what = what
        self.cause = cause
        self.unchanged = unchanged
        super().__init__()


class ScreenRequested(Request):
    """Show a screen over this one."""

    def __init__(self, screen: Screen[None]) -> None:
        self.screen = screen
        super().__init__()


class SourceShown(Request):
    """Another source is shown: its earlier events are not news."""


class TimeRequested(Request):
    """Move the time cursor to a virtual time, in microseconds."""

    def __init__(self, time_us: int) -> None:
        self.time_us = time_us
        super().__init__()


class TroubleMet(Request):
    """Report that part of the source cannot be read; ``reason`` is a sentence."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__()
