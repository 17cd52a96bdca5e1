"""More than one thing to look at: a scenario or a recording opens over what is shown, and closes.

What was shown before stays as it is and stands still meanwhile. Each has its own screens; the
application always shows the last one opened.
"""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Final

from msgspec import Struct
from textual.app import App

from console.model.library import Bench, BenchError, Opened
from console.model.workspace import Stage
from console.render.scenario_card import briefing_lines
from console.screens.page import PageScreen

if TYPE_CHECKING:
    from textual.notifications import SeverityLevel

    from console.screens.base import ConsoleScreen

SIGN: Final = "+"
"""Stands between a mode's name and the number of what it shows."""
BRIEFING_WIDTH: Final = 76
AS_BEFORE: Final = "What was open before is open still, and as it was."


class Desk(Struct):
    """One thing that is shown: its stage, what its modes are called, where it was left."""

    stage: Stage
    suffix: str
    mode: str
    close: Callable[[], None]


class Desks(App[None], inherit_bindings=False):
    """Mixed into the application: opens sources over each other."""

    stage: Stage
    bench: Bench | None
    desks: list[Desk]
    last_mode: str

    if TYPE_CHECKING:

        def leave_overlays(self) -> None: ...

        def begin_alarms(self) -> None: ...

        def go(self, mode: str) -> None: ...

        def modes_of(self, stage: Stage) -> dict[str, Callable[[Stage], ConsoleScreen]]: ...

        def tell(self, text: str, *, severity: SeverityLevel = "information") -> None: ...

        def failed(self, what: str, cause: str, unchanged: str) -> None: ...

    def begin_desks(self, bench: Bench | None, mode: str) -> None:
        """The first thing that is shown, and who can open others."""
        self.bench = bench
        self._opened = 0
        self.desks = [Desk(self.stage, "", mode, lambda: None)]
        self._add_modes(self.desks[0])

    @property
    def mode_here(self) -> str:
        """The screen that is shown, whichever thing it is of."""
        return self.current_mode.partition(SIGN)[0]

    def mode_of(self, mode: str) -> str:
        """The full name of a screen of what is shown now."""
        return mode + self.desks[-1].suffix

    def _add_modes(self, desk: Desk) -> None:
        for mode, screen in self.modes_of(desk.stage).items():
            self.add_mode(mode + desk.suffix, partial(screen, desk.stage))

    # ---- opening and closing

    def open_with(self, opener: Callable[[Bench], Opened], mode: str) -> bool:
        """Have something opened; why that cannot be is told."""
        if self.bench is None:
            self.tell("nothing can be opened here: the console was started without a library")
            return False
        try:
            opened = opener(self.bench)
        except BenchError as error:
            self.failed("opening", str(error), AS_BEFORE)
            return False
        self.open_desk(opened, mode)
        return True

    def open_desk(self, opened: Opened, mode: str) -> None:
        """Show something over what is shown, held still."""
        self.leave_overlays()
        before = self.desks[-1]
        before.mode = self.mode_here
        stage = Stage(
            opened.source,
            glyphs=self.stage.glyphs,
            paused=True,
            complete=opened.complete,
            reproduce=self.stage.reproduce,
        )
        stage.guarded = self.stage.guarded
        stage.statements = self.stage.statements
        stage.pacer.speed = self.stage.pacer.speed
        stage.card = opened.card
        self._opened += 1
        desk = Desk(stage, f"{SIGN}{self._opened}", mode, opened.close)
        self.desks.append(desk)
        self.stage = stage
        self.last_mode = mode
        self._add_modes(desk)
        self.switch_mode(self.mode_of(mode))
        self.begin_alarms()
        if opened.card is not None:
            self.brief()

    def begin_briefed(self) -> None:
        """Begin where the scenario that was opened is best seen, and say what it is about."""
        twins = "compare" in self.modes_of(self.stage)
        self.go("compare" if twins else "partitions")
        self.brief()

    def do_source_brief(self) -> None:
        """What the scenario that is open is about; the Lab has others."""
        if self.stage.card is None:
            self.tell("no scenario is open here: 7 shows the library")
        else:
            self.brief()

    def brief(self) -> None:
        """Show what the scenario that is open is about."""
        card = self.stage.card
        if card is not None:
            version = self.stage.view.state.version or card.version
            lines = briefing_lines(card, version, BRIEFING_WIDTH)
            self.push_screen(PageScreen(self.stage, card.name, lines))

    def do_source_close(self) -> None:
        """Close what was opened last, and show what was there before."""
        if len(self.desks) == 1:
            self.tell("this was there first: there is nothing to go back to (ctrl+q quits)")
            return
        gone = self.desks.pop()
        before = self.desks[-1]
        self.stage = before.stage
        self.last_mode = before.mode
        self.switch_mode(self.mode_of(before.mode))
        self.begin_alarms()
        self.call_later(self._forget, gone)
        self.tell(f"closed {gone.stage.source.name}; here is {before.stage.source.name}")

    async def _forget(self, desk: Desk) -> None:
        for mode in self.modes_of(desk.stage):
            await self.remove_mode(mode + desk.suffix)
        desk.close()

    def close_desks(self) -> None:
        """The console ends: close everything that it has opened itself."""
        for desk in reversed(self.desks):
            desk.close()
        del self.desks[1:]
