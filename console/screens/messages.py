"""What screens ask the application for. They are posted to it, so no screen knows it.

Each is handled in the order in which it was posted, and before the next key that was typed.
"""

from collections.abc import Callable

from textual.message import Message

from console.model.library import Library, Opened
from console.model.links import Link
from console.widgets.fault_list import FaultView


class Request(Message, bubble=False):
    """Something that the application does for a screen."""


class RepaintRequested(Request):
    """The screen is out of date."""


class OpenRequested(Request):
    """Open what a line leads to."""

    def __init__(self, link: Link) -> None:
        self.link = link
        super().__init__()


class ActionRequested(Request):
    """Do an action of the registry, through the same gate as its key.

    ``text`` is what the line that the action opens begins with.
    """

    def __init__(self, id: str, text: str = "") -> None:
        self.id = id
        self.text = text
        super().__init__()


class CopyRequested(Request):
    """Give a text to the clipboard."""

    def __init__(self, text: str) -> None:
        self.text = text
        super().__init__()


class FaultChosen(Request):
    """Do the fault under the cursor; ``done`` is called once it is done."""

    def __init__(self, palette: FaultView, done: Callable[[], None]) -> None:
        self.palette = palette
        self.done = done
        super().__init__()


class SourceRequested(Request):
    """Open a scenario or a recording over what is shown, at a screen."""

    def __init__(self, opener: Callable[[Library], Opened], mode: str) -> None:
        self.opener = opener
        self.mode = mode
        super().__init__()


class WorkFailed(Request):
    """Something that was asked for could not be done; ``unchanged`` says what was left as it is."""

    def __init__(self, what: str, cause: str, unchanged: str) -> None:
        self.what = what
        self.cause = cause
        self.unchanged = unchanged
        super().__init__()


class PageRequested(Request):
    """Show text on a page of its own."""

    def __init__(self, title: str, text: str) -> None:
        self.title = title
        self.text = text
        super().__init__()


class SourceShown(Request):
    """Another source is shown: what has happened in it up to now is no news."""


class TimeRequested(Request):
    """Bring the time cursor to a virtual time, in microseconds."""

    def __init__(self, time_us: int) -> None:
        self.time_us = time_us
        super().__init__()


class TroubleMet(Request):
    """What the source holds cannot be read; ``reason`` is a sentence."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__()
