"""The application: modes, the frame loop, and the one place where actions are dispatched.

Everything on screen is a function of the source, its time cursor and what the user has chosen. Each
frame moves the cursor a little (or not, if paused), finds out what changed, and repaints that; a
key that moves the cursor repaints at once.
"""

import os
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, ClassVar

from textual.binding import BindingType
from textual.command import CommandPalette
from textual.notifications import SeverityLevel

from console.actions.bindings import bindings_for
from console.actions.lookup import ACTIONS, Action, refusal
from console.controllers.bookmarks import MarkKeys
from console.controllers.lab import LabKeys
from console.controllers.navigation import Openers
from console.controllers.notices import Alarms
from console.controllers.open_sources import Desks
from console.controllers.palette import ActionProvider
from console.controllers.terminal import Manners
from console.controllers.time_travel import TimeKeys
from console.controllers.typeahead import TypeAhead
from console.model.library import Bench
from console.model.pacer import FRAMES_PER_SECOND
from console.model.settings import Configuration, defaults
from console.model.workspace import Complete, Reproduce, Stage
from console.render.lines import data, line
from console.screens.base import ConsoleScreen
from console.screens.brokers import BrokersScreen
from console.screens.compare import CompareScreen
from console.screens.events import EventsScreen
from console.screens.faults import FaultsScreen
from console.screens.lab import LabScreen
from console.screens.overview import OverviewScreen
from console.screens.page import MenuScreen, PageScreen, help_lines
from console.screens.partitions import PartitionsScreen
from console.screens.sessions import SessionsScreen
from console.screens.znodes import ZnodesScreen
from console.styles.glyphs import choose
from console.styles.roles import COMPONENTS
from console.styles.stylesheet import ParsedOnce
from console.widgets.virtual_table import VirtualTable
from sessions.format.errors import SessionError
from sessions.sources.paired import TwinSource
from sessions.text import clean

if TYPE_CHECKING:
    from textual.screen import Screen

    from sessions.sources.source import Source

MODE_SCREENS: dict[str, Callable[[Stage], ConsoleScreen]] = {
    "overview": OverviewScreen,
    "partitions": PartitionsScreen,
    "brokers": BrokersScreen,
    "znodes": ZnodesScreen,
    "events": EventsScreen,
    "sessions": SessionsScreen,
    "lab": LabScreen,
}
"""What the number keys show."""


WIDTHS = [(0, "-cramped"), (60, "-narrow"), (120, "-wide"), (136, "-roomy")]
"""From how many columns on a screen has which class in the style sheet."""
HEIGHTS = [(0, "-flat"), (15, "-low"), (32, "-tall")]
"""From how many lines on a screen has which class in the style sheet."""


class TidegaugeApp(
    TimeKeys,
    MarkKeys,
    LabKeys,
    Openers,
    Desks,
    Alarms,
    Manners,
    TypeAhead,
    inherit_bindings=False,
):
    """The console on one source."""

    CSS_PATH = Path(__file__).parent / "styles" / "console.tcss"
    COMPONENT_CLASSES: ClassVar[set[str]] = COMPONENTS
    """Roles are styled once, here: Textual would work them out for each widget anew."""
    DEFAULT_MODE = "overview"
    ENABLE_COMMAND_PALETTE = False
    HORIZONTAL_BREAKPOINTS = WIDTHS
    VERTICAL_BREAKPOINTS = HEIGHTS
    BINDINGS: ClassVar[list[BindingType]] = [*bindings_for("anywhere")]

    def __init__(
        self,
        source: "Source",
        *,
        ascii: bool = False,
        paused: bool = False,
        complete: Complete | None = None,
        configuration: Configuration | None = None,
        reproduce: Reproduce | None = None,
        bench: Bench | None = None,
    ) -> None:
        # Under NO_COLOR Textual turns colours to grey, unless they are the terminal's own.
        super().__init__(ansi_color=True if "NO_COLOR" in os.environ else None)
        configuration = configuration or defaults()
        glyphs = choose(ascii_only=ascii or configuration.value("ascii"))
        self.stage = Stage(
            source, glyphs=glyphs, paused=paused, complete=complete, reproduce=reproduce
        )
        self.stage.guarded = configuration.value("read_only")
        self.title = "tidegauge"
        self.adopt(configuration)
        self.stylesheet = ParsedOnce(variables=self.get_css_variables())
        self.last_mode = self.DEFAULT_MODE
        self.begin_alarms()
        self.begin_typing()
        self._framed = perf_counter()
        self._painted: tuple[object, ...] = ()
        self.begin_desks(bench, self.DEFAULT_MODE)

    def on_mount(self) -> None:
        """Begin the frame loop."""
        self._framed = perf_counter()
        self.set_interval(1 / FRAMES_PER_SECOND, self.frame)
        if self.stage.card is not None:
            self.call_after_refresh(self.begin_briefed)

    # ---- frames

    def frame(self) -> None:
        """Move the time cursor by the wall time since the last frame, and repaint."""
        if not self.is_running or not self.screen_stack:
            return
        now = perf_counter()
        passed, self._framed = now - self._framed, now
        try:
            self.stage.pacer.frame(passed)
            self.search_on()
            self.look_for_alarms()
            self.show_replies()
            if self._moment() != self._painted or self._is_busy():
                self.paint()
        except SessionError as error:
            self.trouble(str(error))

    def _moment(self) -> tuple[object, ...]:
        """What a screen depends on besides keys; while it stands still, nothing is painted."""
        source, pacer = self.stage.source, self.stage.pacer
        return source.seq, source.time_us, source.last_seq, pacer.mode, pacer.paused

    def _is_busy(self) -> bool:
        screen = self.screen
        return isinstance(screen, ConsoleScreen) and screen.is_busy()

    def paint(self) -> None:
        """Bring the screen to the time cursor."""
        self._painted = self._moment()
        screen = self.screen
        if isinstance(screen, ConsoleScreen) and screen.is_mounted:
            screen.show(self.stage.follow())

    # ---- actions

    def action_dispatch(self, id: str) -> None:
        """What every binding calls."""
        self.dispatch(ACTIONS[id])

    def dispatch(self, action: Action) -> None:
        """Do an action, unless the source may only be read: the one gate.

        Keys that were typed ahead wait for the screen that the ones before have opened.
        """
        screen = self.screen
        if isinstance(screen, ConsoleScreen) and not screen.is_ready:
            self.call_after_refresh(self.dispatch, action)
            return
        sentence = refusal(action, read_only=self.stage.read_only, guarded=self.stage.guarded)
        if sentence is not None:
            self.tell(sentence, severity="warning")
            return
        do = self.handler(action)
        if do is None:
            return
        try:
            if isinstance(screen, ConsoleScreen) and screen.is_behind:
                self.paint()  # what a key does is done to what is there now
            do()
            self.paint()
        except SessionError as error:
            self.trouble(str(error))

    def handler(self, action: Action) -> Callable[[], Any] | None:
        """The method that does an action here: the nearest one to what has the keys."""
        name = f"do_{action.verb.replace('.', '_')}"
        screen = self.screen
        targets = screen.targets() if isinstance(screen, ConsoleScreen) else iter((screen, self))
        found = (getattr(target, name, None) for target in targets)
        return next((method for method in found if callable(method)), None)

    def tell(self, text: str, *, severity: SeverityLevel = "information") -> None:
        """A toast; the text is data, never markup."""
        self.notify(clean(text), severity=severity, markup=False)

    # ---- screens

    def go(self, mode: str) -> None:
        """Show a mode; a menu or page in between is closed."""
        self.subject()
        self.leave_overlays()
        if mode != self.mode_here:
            self.last_mode = self.mode_here
            self.switch_mode(self.mode_of(mode))

    def modes_of(self, stage: Stage) -> dict[str, Callable[[Stage], ConsoleScreen]]:
        """What the number keys show of a source."""
        twins = isinstance(stage.source, TwinSource)
        return {**MODE_SCREENS, "compare": CompareScreen} if twins else MODE_SCREENS

    def leave_overlays(self) -> None:
        """Close menus and pages that lie over a screen."""
        while isinstance(self.screen, MenuScreen | PageScreen | FaultsScreen):
            self.pop_screen()

    def do_go_overview(self) -> None:
        """Screen 1."""
        self.go("overview")

    def do_go_partitions(self) -> None:
        """Screen 2."""
        self.go("partitions")

    def do_go_brokers(self) -> None:
        """Screen 3."""
        self.go("brokers")

    def do_go_znodes(self) -> None:
        """Screen 4."""
        self.go("znodes")

    def do_go_events(self) -> None:
        """Screen 5."""
        self.go("events")

    def do_go_sessions(self) -> None:
        """Screen 6."""
        self.go("sessions")

    def do_go_lab(self) -> None:
        """Screen 7."""
        self.go("lab")

    def do_go_compare(self) -> None:
        """Screen 8, if there is anything to compare."""
        if isinstance(self.stage.source, TwinSource):
            self.go("compare")
        else:
            self.tell("one run only is open: c in the Lab (7) opens a scenario on two releases")

    def do_go_last(self) -> None:
        """Toggle between two modes."""
        self.go(self.last_mode)

    def do_go_back(self) -> None:
        """Undo the last narrowing: a search, zoom, filter, then the screen."""
        if self.stop_search():
            return
        screen = self.screen
        if isinstance(screen, ConsoleScreen):
            if screen.has_class("-zoomed"):
                screen.remove_class("-zoomed")
                return
            if screen.clear_filter():
                return
        if len(self.screen_stack) > 1:
            self.pop_screen()

    def show_screen(self, screen: "Screen[Any]") -> None:
        """Lay a screen over the one that is shown."""
        self.push_screen(screen)

    def when_shown(self, do: Callable[[], None]) -> None:
        """Do something once the screen that was just asked for is there."""
        self.call_after_refresh(do)

    def open_page(self, title: str, text: str) -> None:
        """Show text on a page of its own."""
        self.push_screen(
            PageScreen(self.stage, title, [line(data(row)) for row in text.splitlines()])
        )

    def choose_sort(self, table: VirtualTable[Any]) -> None:
        """A menu of the table's columns."""
        columns = [placed.column for placed in table.placed]
        titles = [column.title for column in columns]
        place = titles.index(table.sorted_by.title) if table.sorted_by.title in titles else 0
        self.push_screen(
            MenuScreen(
                self.stage, "sort by", titles, place, lambda index: table.sort_by(columns[index])
            )
        )

    # ---- the program

    def do_app_help(self) -> None:
        """The keys of this screen."""
        screen = self.screen
        context = screen.context if isinstance(screen, ConsoleScreen) else "anywhere"
        if context != "page":
            self.push_screen(
                PageScreen(self.stage, f"help: {context}", help_lines(self.stage, context))
            )

    def do_app_palette(self) -> None:
        """Find an action by name."""
        self.push_screen(CommandPalette(providers=[ActionProvider], placeholder="Find an action"))

    def do_app_quit(self) -> None:
        """End the program."""
        self.exit()

    def do_app_interrupt(self) -> None:
        """Fingers that press ctrl+c out of habit should not end a session."""
        self.tell("ctrl+q quits; ctrl+c does nothing here")
