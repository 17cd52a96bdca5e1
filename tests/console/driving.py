"""Drive the console without a terminal, and read what it shows."""

from asyncio import sleep
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, nullcontext
from typing import Any

import pytest
from rich.console import RenderableType
from textual import events
from textual._compositor import Compositor
from textual._context import visible_screen_stack
from textual.keys import key_to_character
from textual.pilot import Pilot
from textual.screen import Screen

from console.app import TidegaugeApp
from console.model.library import Library
from console.model.settings import Configuration
from console.render.bars import KRAFT_TABS, TABS
from console.screens.base import ConsoleScreen
from sessions.sources.source import Source
from tests.console.clock import virtual_time
from tests.console.fakes import ListSource, failover

LARGE = (120, 40)
SMALL = (80, 24)
SIZES = (LARGE, SMALL)
FRAME = 0.05
"""Seconds of virtual time after which Textual has drawn what was asked of it."""
SETTLED_MAX = 40
DRAWN_AGAIN = 3
"""From which turn on something is drawn again and again, which may be the same."""
OPENED_MAX = 2_400
"""Frames that opening a scenario may take, in a thread beside many others."""


class PatientApp(TidegaugeApp):
    """The application, whose toasts are still there on a busy machine."""

    NOTIFICATION_TIMEOUT = 600
    drawn = 0
    """How often something was drawn."""
    moves = False
    """Whether high watermarks glide: what most tests read is where they come to rest."""

    def __init__(self, source: Source, mode: str = "overview", **given: Any) -> None:
        """Begin on the screen ``mode``, one of those that number keys show."""
        self.DEFAULT_MODE = mode  # type: ignore[misc]
        super().__init__(source, **given)

    def _animates(self) -> bool:
        return self.moves and super()._animates()

    def _display(self, screen: Screen[Any], renderable: RenderableType | None) -> None:
        self.drawn += 1
        super()._display(screen, renderable)


class Console:
    """A running console with its pilot."""

    def __init__(self, app: PatientApp, pilot: Pilot[None], source: Source) -> None:
        self.app = app
        self.pilot = pilot
        self.shown = source
        self._read: tuple[object, ...] = ()
        self._lines: list[str] = []

    @property
    def source(self) -> ListSource:
        """The hand-made source that is shown."""
        assert isinstance(self.shown, ListSource)
        return self.shown

    async def press(self, *keys: str) -> None:
        """Press keys, one after the other, as a terminal would."""
        for key in keys:
            self.app.post_message(events.Key(key, key_to_character(key)))
            await sleep(FRAME)
        await self.settle()

    async def type(self, text: str) -> None:
        """Type text into the input line."""
        self.screen.prompt.input.insert_text_at_cursor(text)
        await self.settle()

    async def settle(self) -> None:
        """Let the console draw until nothing changes any more."""
        for _ in range(OPENED_MAX):
            if not self.app.typeahead.requests:
                break
            await sleep(FRAME)
        self.app.paint()
        for turn in range(SETTLED_MAX):
            drawn, shown = self.app.drawn, self._lines
            await sleep(FRAME)
            # To read the screen costs more than to look again whether it is drawn.
            is_same = self.app.drawn == drawn or (turn >= DRAWN_AGAIN and self.lines() == shown)
            if is_same and self.is_idle():
                break
        self.lines()  # whatever is shown can be drawn

    def is_idle(self) -> bool:
        """Whether no message waits, and the screen takes keys: true late on a busy machine."""
        screen = self.app.screen
        waiting = self.app.message_queue_size + screen.message_queue_size
        return not waiting and getattr(screen, "is_ready", True)

    async def start(self) -> None:
        """Wait until keys are taken."""
        while not self.is_idle():
            await self.pilot.pause(FRAME)

    @property
    def screen(self) -> ConsoleScreen:
        """The screen that is shown."""
        screen = self.app.screen
        assert isinstance(screen, ConsoleScreen)
        return screen

    def lines(self) -> list[str]:
        """The screen as text, a line at a time: what it was last drawn as."""
        drawn = self.app.screen, self.app.drawn
        if drawn != self._read:
            visible_screen_stack.set(self.app._background_screens)
            strips = self.app.screen._compositor.render_strips()
            self._lines = ["".join(part.text for part in strip).rstrip() for strip in strips]
            self._read = drawn
        return self._lines

    def text(self) -> str:
        """The screen as text."""
        return "\n".join(self.lines())


@contextmanager
def nothing_sent() -> Iterator[None]:
    """Make up no bytes for a terminal that is not there: tests read what widgets draw."""
    render_update = Compositor.render_update

    def update(compositor: Compositor, full: bool = False, **named: Any) -> RenderableType | None:
        if full:
            return render_update(compositor, full, **named)
        compositor._dirty_regions.clear()
        return None

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Compositor, "render_update", update)
        yield


@asynccontextmanager
async def console(
    source: Source | None = None,
    *keys: str,
    size: tuple[int, int] = LARGE,
    ascii: bool = False,
    complete: Sequence[str] = (),
    library: Library | None = None,
    sends: bool = False,
    moves: bool = False,
    configuration: Configuration | None = None,
) -> AsyncIterator[Console]:
    """A paused console on a source (a recorded failover if none is given), after some keys.

    If the first of them is a screen's number, it begins there. If it ``sends``, it paints by itself
    all that it would send to a terminal. If something ``moves``, high watermarks glide.
    """
    source = ListSource(failover()) if source is None else source
    tabs = TABS if source.view.state.quorum is None else KRAFT_TABS
    mode = next((mode for key, mode, _ in tabs if (key,) == keys[:1]), None)
    app = PatientApp(
        source,
        mode or "overview",
        ascii=ascii,
        paused=True,
        complete=lambda text: [entry for entry in complete if entry.startswith(text)],
        library=library,
        configuration=configuration,
    )
    app.moves = moves
    with virtual_time(), nullcontext() if sends else nothing_sent():
        async with app.run_test(size=size) as pilot:
            driven = Console(app, pilot, source)
            await driven.start()
            await driven.press(*(keys[1:] if mode else keys))
            try:
                yield driven
            finally:
                app.sources.close()


def toasts(driven: Console) -> list[str]:
    """What was said in passing."""
    return [str(notification.message) for notification in driven.app._notifications]
