"""Drive the console without a terminal, and read what it shows."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from textual import events
from textual.keys import key_to_character
from textual.pilot import Pilot

from console.app import TidegaugeApp
from console.model.library import Library
from console.screens.base import ConsoleScreen
from sessions.sources.source import Source
from tests.console.fakes import ListSource, failover

LARGE = (120, 40)
SMALL = (80, 24)
SIZES = (LARGE, SMALL)
FRAME = 0.025
"""Seconds after which Textual has drawn what was asked of it."""
SETTLED_MAX = 40
OPENED_MAX = 2_400
"""Frames that opening a scenario may take, in a thread beside many others."""


class Console:
    """A running console with its pilot."""

    def __init__(self, app: TidegaugeApp, pilot: Pilot[None], source: Source) -> None:
        self.app = app
        self.pilot = pilot
        self.shown = source

    @property
    def source(self) -> ListSource:
        """The hand-made source that is shown."""
        assert isinstance(self.shown, ListSource)
        return self.shown

    async def press(self, *keys: str) -> None:
        """Press keys, one after the other, as a terminal would."""
        for key in keys:
            self.app.post_message(events.Key(key, key_to_character(key)))
            await self.pilot.pause(FRAME)
        await self.settle()

    async def type(self, text: str) -> None:
        """Type text into the input line."""
        self.screen.prompt.input.insert_text_at_cursor(text)
        await self.settle()

    async def settle(self) -> None:
        """Let the console draw until it shows the same twice."""
        shown: list[str] = []
        for _ in range(OPENED_MAX):
            if not self.app.typeahead.requests:
                break
            await self.pilot.pause(FRAME)
        for _ in range(SETTLED_MAX):
            await self.pilot.pause(FRAME)
            self.app.paint()
            before, shown = shown, self.lines()
            if shown == before and self.is_idle():
                return

    def is_idle(self) -> bool:
        """Whether no message waits, and the screen takes keys: true late on a busy machine."""
        screen = self.app.screen
        waiting = self.app.message_queue_size + screen.message_queue_size
        return not waiting and getattr(screen, "is_ready", True)

    async def start(self) -> None:
        """Wait until keys are taken."""
        await self.settle()
        while not self.is_idle():
            await self.settle()

    @property
    def screen(self) -> ConsoleScreen:
        """The screen that is shown."""
        screen = self.app.screen
        assert isinstance(screen, ConsoleScreen)
        return screen

    def lines(self) -> list[str]:
        """The screen as text, a line at a time."""
        strips = self.app.screen._compositor.render_strips()
        return ["".join(segment.text for segment in strip).rstrip() for strip in strips]

    def text(self) -> str:
        """The screen as text."""
        return "\n".join(self.lines())


class PatientApp(TidegaugeApp):
    """The application, whose toasts are still there on a busy machine."""

    NOTIFICATION_TIMEOUT = 600


@asynccontextmanager
async def console(
    source: Source | None = None,
    *keys: str,
    size: tuple[int, int] = LARGE,
    ascii: bool = False,
    complete: Sequence[str] = (),
    library: Library | None = None,
) -> AsyncIterator[Console]:
    """A paused console on a source (a recorded failover if none is given), after some keys."""
    source = ListSource(failover()) if source is None else source
    app = PatientApp(
        source,
        ascii=ascii,
        paused=True,
        complete=lambda text: [entry for entry in complete if entry.startswith(text)],
        library=library,
    )
    async with app.run_test(size=size) as pilot:
        driven = Console(app, pilot, source)
        await driven.start()
        await driven.press(*keys)
        try:
            yield driven
        finally:
            app.sources.close()


def toasts(driven: Console) -> list[str]:
    """What was said in passing."""
    return [str(notification.message) for notification in driven.app._notifications]
