"""Drive the console without a terminal, and read what it shows."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from textual.pilot import Pilot

from console.app import TidegaugeApp
from console.screens.base import ConsoleScreen
from tests.console.fakes import ListSource, failover

LARGE = (120, 40)
SMALL = (80, 24)
SIZES = (LARGE, SMALL)


class Console:
    """A running console with its pilot."""

    def __init__(self, app: TidegaugeApp, pilot: Pilot[None], source: ListSource) -> None:
        self.app = app
        self.pilot = pilot
        self.source = source

    async def press(self, *keys: str) -> None:
        """Press keys, and wait until what they did is shown."""
        for key in keys:
            await self.pilot.press(key)
            await self.pilot.pause()
        await self.settle()

    async def type(self, text: str) -> None:
        """Type text into the input line."""
        await self.press(*("space" if character == " " else character for character in text))

    async def settle(self) -> None:
        """Let the console draw."""
        await self.pilot.pause()
        self.app.paint()
        await self.pilot.pause()

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


@asynccontextmanager
async def console(
    source: ListSource | None = None,
    *keys: str,
    size: tuple[int, int] = LARGE,
    ascii: bool = False,
    complete: Sequence[str] = (),
) -> AsyncIterator[Console]:
    """A paused console on a source (a recorded failover if none is given), after some keys."""
    source = ListSource(failover()) if source is None else source
    app = TidegaugeApp(
        source,
        ascii=ascii,
        paused=True,
        complete=lambda text: [entry for entry in complete if entry.startswith(text)],
    )
    async with app.run_test(size=size) as pilot:
        driven = Console(app, pilot, source)
        await driven.settle()
        await driven.press(*keys)
        yield driven
