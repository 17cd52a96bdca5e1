"""Several open sources: a scenario or a recording opens over the current one, and closes again.

The sources below are paused meanwhile. Each has its own screens; the application always shows the
one opened last.
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
from sessions.model.health import ALERTING
from sessions.text import age

AS_BEFORE: Final = "What was open before is unchanged."


class Opening(Struct):
    """One open source: its stage, the names of its modes, and the last screen."""

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
        return self.openings[-1].stage

    @property
    def mode_here(self) -> str:
        """The name of the current screen, without the source."""
        return self.app.current_mode.partition(SIGN)[0]

    def mode_of(self, mode: str) -> str:
        """Return the full name of a screen of the current source."""
        return mode + self.openings[-1].suffix

    def _add_modes(self, opening: Opening) -> None:
        for mode, screen in self.screens(opening.stage).items():
            self.app.add_mode(mode + opening.suffix, partial(screen, opening.stage))

    # ---- opening and closing

    async def open_with(self, opener: Callable[[Library], Opened], mode: str) -> bool:
        """Open a source in a thread, and show it or the error; return whether it was opened."""
        library = self.stage.library
        if library is None:
            self.app.notify("nothing can be opened here: the console was started without a library")
            return False
        abandoned = Event()

        def make() -> Opened:
            made = opener(library)
            if abandoned.is_set():  # the console has ended meanwhile, so close it here
                made.close()
            return made

        try:
            opened = await asyncio.to_thread(make)
        except asyncio.CancelledError:
            abandoned.set()
            raise
        except LibraryError as error:
            self.app.post_message(WorkFailed("opening", str(error), AS_BEFORE))
            return False
        self.open(opened, mode)
        return True

    def open(self, opened: Opened, mode: str) -> None:
        """Show a source over the current one, paused."""
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

    def add(self, opened: Opened) -> None:
        """Open a source below the one that is shown."""
        shown = self.openings[-1].stage
        stage = Stage(
            opened.source,
            glyphs=shown.glyphs,
            complete=opened.complete,
            reproduce=shown.reproduce,
            library=shown.library,
        )
        stage.guarded = shown.guarded
        self._opened += 1
        opening = Opening(stage, f"{SIGN}{self._opened}", "overview", opened.close)
        self.openings.insert(-1, opening)
        self._add_modes(opening)

    def leave_overlays(self) -> None:
        """Close menus and pages on top of a screen."""
        while isinstance(self.app.screen, MenuScreen | PageScreen | FaultsScreen | ExploreScreen):
            self.app.pop_screen()

    def begin_briefed(self) -> None:
        """Start on the screen that shows the opened scenario best, and describe it."""
        twins = "compare" in self.screens(self.stage)
        self.last_mode = self.mode_here
        self.app.switch_mode(self.mode_of("compare" if twins else "partitions"))
        self.brief()

    def action_source_brief(self) -> None:
        """The description of the open scenario; the Lab has others."""
        if self.stage.card is None:
            self.app.notify("no scenario is open here: 7 shows the library")
        else:
            self.brief()

    def brief(self) -> None:
        """Show the description of the open scenario."""
        if self.stage.card is not None:
            self.app.push_screen(BriefScreen(self.stage, self.stage.card))

    def action_source_close(self) -> None:
        """Close the source opened last, and show the one below."""
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

    def action_source_switch(self) -> None:
        """Choose another of the sources that are open; all of them go on."""
        if len(self.openings) == 1:
            self.app.notify("only one cluster is open: --attach may be given several times")
            return
        choices = [_choice(opening.stage) for opening in reversed(self.openings)]
        menu = MenuScreen(self.stage, "switch to", choices, 1)

        def chosen(index: int | None) -> None:
            if index:
                self.show(self.openings[-1 - index])

        self.app.push_screen(menu, chosen)

    def show(self, opening: Opening) -> None:
        self.leave_overlays()
        self.openings[-1].mode = self.mode_here
        self.openings.remove(opening)
        self.openings.append(opening)
        self.last_mode = opening.mode
        self.app.switch_mode(self.mode_of(opening.mode))
        self.app.post_message(SourceShown())

    async def _forget(self, opening: Opening) -> None:
        for mode in self.screens(opening.stage):
            await self.app.remove_mode(mode + opening.suffix)
        opening.close()

    def close(self) -> None:
        """Close everything opened here as the console ends."""
        for opening in reversed(self.openings):
            opening.close()
        del self.openings[1:]


def _choice(stage: Stage) -> str:
    """A source by its name, and how it is."""
    counts, source = stage.source.present.counts(), stage.source
    wrong = [
        f"{getattr(counts, state.name)} {state.label}"
        for state in ALERTING
        if getattr(counts, state.name)
    ]
    how = ", ".join(wrong) or "healthy"
    if source.stale_us is not None:
        how = f"LOST {age(source.stale_us)} ago; {how} then"
    return f"{source.name}: {counts.brokers_up}/{counts.brokers} brokers, {how}"


class Controller:
    """What acts for the application on the source that is shown."""

    def __init__(self, sources: OpenSources) -> None:
        self.app = sources.app
        self.sources = sources

    @property
    def stage(self) -> Stage:
        return self.sources.stage
