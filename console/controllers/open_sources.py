"""More than one thing to look at: a scenario or a recording opens over what is shown, and closes.

What was shown before stays as it is and stands still meanwhile. Each has its own screens; the
application always shows the last one opened.
"""

import asyncio
from collections.abc import Callable, Mapping
from functools import partial
from threading import Event
from typing import Any, Final

from msgspec import Struct
from textual.app import App

from console.model.library import Library, LibraryError, Opened
from console.model.workspace import SIGN, Stage
from console.screens.base import ConsoleScreen
from console.screens.brief import BriefScreen
from console.screens.explore import ExploreScreen
from console.screens.faults import FaultsScreen
from console.screens.messages import SourceShown, WorkFailed
from console.screens.page import MenuScreen, PageScreen

AS_BEFORE: Final = "What was open before is unchanged."


class Opening(Struct):
    """One thing that is shown: its stage, what its modes are called, where it was left."""

    stage: Stage
    suffix: str
    mode: str
    close: Callable[[], None]


class OpenSources:
    """Opens sources over each other; the one opened last is shown."""

    def __init__(
        self,
        app: App[Any],
        stage: Stage,
        screens: Callable[[Stage], Mapping[str, Callable[[Stage], ConsoleScreen]]],
        mode: str,
    ) -> None:
        """Begin with ``stage`` at the screen ``mode``; ``screens`` are those that a source has."""
        self.app = app
        self.screens = screens
        self.last_mode = mode
        self._opened = 0
        self.openings = [Opening(stage, "", mode, lambda: None)]
        self._add_modes(self.openings[0])

    @property
    def stage(self) -> Stage:
        """What is shown."""
        return self.openings[-1].stage

    @property
    def mode_here(self) -> str:
        """The screen that is shown, whichever thing it is of."""
        return self.app.current_mode.partition(SIGN)[0]

    def mode_of(self, mode: str) -> str:
        """The full name of a screen of what is shown now."""
        return mode + self.openings[-1].suffix

    def _add_modes(self, opening: Opening) -> None:
        for mode, screen in self.screens(opening.stage).items():
            self.app.add_mode(mode + opening.suffix, partial(screen, opening.stage))

    # ---- opening and closing

    async def open_with(self, opener: Callable[[Library], Opened], mode: str) -> None:
        """Have something opened, in a thread, and show it; why that cannot be is told."""
        library = self.stage.library
        if library is None:
            self.app.notify("nothing can be opened here: the console was started without a library")
            return
        abandoned = Event()

        def make() -> Opened:
            made = opener(library)
            if abandoned.is_set():  # the console has ended meanwhile: nobody else closes it
                made.close()
            return made

        try:
            opened = await asyncio.to_thread(make)
        except asyncio.CancelledError:
            abandoned.set()
            raise
        except LibraryError as error:
            self.app.post_message(WorkFailed("opening", str(error), AS_BEFORE))
            return
        self.open(opened, mode)

    def open(self, opened: Opened, mode: str) -> None:
        """Show something over what is shown, held still."""
        self.leave_overlays()
        before = self.openings[-1]
        before.mode = self.mode_here
        stage = Stage(
            opened.source,
            glyphs=self.stage.glyphs,
            paused=True,
            complete=opened.complete,
            reproduce=self.stage.reproduce,
            library=self.stage.library,
        )
        stage.guarded = self.stage.guarded
        stage.statements = self.stage.statements
        stage.pacer.speed = self.stage.pacer.speed
        stage.card = opened.card
        self._opened += 1
        opening = Opening(stage, f"{SIGN}{self._opened}", mode, opened.close)
        self.openings.append(opening)
        self.last_mode = mode
        self._add_modes(opening)
        self.app.switch_mode(self.mode_of(mode))
        self.app.post_message(SourceShown())
        if opened.card is not None:
            self.brief()

    def leave_overlays(self) -> None:
        """Close menus and pages that lie over a screen."""
        while isinstance(self.app.screen, MenuScreen | PageScreen | FaultsScreen | ExploreScreen):
            self.app.pop_screen()

    def begin_briefed(self) -> None:
        """Begin where the scenario that was opened is best seen, and say what it is about."""
        twins = "compare" in self.screens(self.stage)
        self.last_mode = self.mode_here
        self.app.switch_mode(self.mode_of("compare" if twins else "partitions"))
        self.brief()

    def do_source_brief(self) -> None:
        """What the scenario that is open is about; the Lab has others."""
        if self.stage.card is None:
            self.app.notify("no scenario is open here: 7 shows the library")
        else:
            self.brief()

    def brief(self) -> None:
        """Show what the scenario that is open is about."""
        if self.stage.card is not None:
            self.app.push_screen(BriefScreen(self.stage, self.stage.card))

    def do_source_close(self) -> None:
        """Close what was opened last, and show what was there before."""
        if len(self.openings) == 1:
            self.app.notify("nothing was opened before this (ctrl+q quits)")
            return
        gone = self.openings.pop()
        before = self.openings[-1]
        self.last_mode = before.mode
        self.app.switch_mode(self.mode_of(before.mode))
        self.app.post_message(SourceShown())
        self.app.call_later(self._forget, gone)
        self.app.notify(f"closed {gone.stage.source.name}; here is {before.stage.source.name}")

    async def _forget(self, opening: Opening) -> None:
        for mode in self.screens(opening.stage):
            await self.app.remove_mode(mode + opening.suffix)
        opening.close()

    def close(self) -> None:
        """The console ends: close everything that it has opened itself."""
        for opening in reversed(self.openings):
            opening.close()
        del self.openings[1:]
