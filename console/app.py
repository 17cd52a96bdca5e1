"""The application: modes, the frame loop, and how actions find what runs them.

Everything on screen is a function of the source, its time cursor and what the user has chosen. Each
frame moves the cursor a little (or not, if paused), finds out what changed, and repaints that; a
key that moves the cursor repaints at once.
"""

import io
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from time import perf_counter
from typing import ClassVar

from rich.console import Console
from textual import events, on, work
from textual.app import App
from textual.binding import BindingType
from textual.command import CommandPalette
from textual.dom import DOMNode
from textual.message import Message
from textual.notifications import SeverityLevel

from console.actions.bindings import bindings_for
from console.actions.lookup import ACTIONS, ANYWHERE, named, refusal
from console.controllers.bookmarks import Bookmarks
from console.controllers.lab import Lab
from console.controllers.navigation import Navigation
from console.controllers.notices import Notices
from console.controllers.open_sources import OpenSources
from console.controllers.palette import ActionProvider, ObjectProvider
from console.controllers.terminal import Terminal
from console.controllers.time_travel import TimeTravel
from console.controllers.typeahead import TypeAhead
from console.model.library import Library, Service
from console.model.pacer import FRAMES_PER_SECOND
from console.model.settings import Configuration, defaults
from console.model.workspace import Complete, Reproduce, Stage
from console.screens.base import ConsoleScreen
from console.screens.brokers import BrokersScreen
from console.screens.compare import CompareScreen
from console.screens.events import EventsScreen
from console.screens.lab import LabScreen
from console.screens.messages import (
    ActionRequested,
    CopyRequested,
    FaultChosen,
    OpenRequested,
    Request,
    ScreenRequested,
    SourceRequested,
    SourceShown,
    TimeRequested,
    TroubleMet,
    WorkFailed,
)
from console.screens.metadata import MetadataScreen
from console.screens.overview import OverviewScreen
from console.screens.page import PageScreen, help_lines
from console.screens.partitions import PartitionsScreen
from console.screens.sessions import SessionsScreen
from console.screens.znodes import ZnodesScreen
from console.styles.glyphs import choose
from console.styles.roles import COMPONENTS
from console.styles.stylesheet import ParsedOnce
from console.widgets.virtual_view import VirtualView
from sessions.format.errors import SessionError
from sessions.sources.paired import TwinSource
from sessions.sources.source import Source
from sessions.text import clean

MODE_SCREENS: dict[str, Callable[[Stage], ConsoleScreen]] = {
    "overview": OverviewScreen,
    "partitions": PartitionsScreen,
    "brokers": BrokersScreen,
    "znodes": ZnodesScreen,
    "metadata": MetadataScreen,
    "events": EventsScreen,
    "sessions": SessionsScreen,
    "lab": LabScreen,
}
"""The number keys' screens."""


def screens_of(stage: Stage) -> Mapping[str, Callable[[Stage], ConsoleScreen]]:
    """The number keys' screens for a source."""
    twins = isinstance(stage.source, TwinSource)
    return {**MODE_SCREENS, "compare": CompareScreen} if twins else MODE_SCREENS


NAMES = frozenset(action.name for action in ACTIONS.values())
"""The registry's actions as Textual names them."""
TOLD_SECONDS = 10.0
"""How long the clients' addresses are shown."""
WIDTHS = [(0, "-cramped"), (60, "-narrow"), (120, "-wide"), (136, "-roomy")]
"""Minimum columns of a screen for each class in the style sheet."""
HEIGHTS = [(0, "-flat"), (15, "-low"), (32, "-tall")]
"""Minimum lines of a screen for each class in the style sheet."""


class TidegaugeApp(App[None], inherit_bindings=False):
    """The console on one source."""

    CSS_PATH = Path(__file__).parent / "styles" / "console.tcss"
    COMPONENT_CLASSES: ClassVar[set[str]] = COMPONENTS
    """Style the roles once, here: Textual would compute them again for each widget."""
    DEFAULT_MODE = "overview"
    ENABLE_COMMAND_PALETTE = False
    HORIZONTAL_BREAKPOINTS = WIDTHS
    VERTICAL_BREAKPOINTS = HEIGHTS
    BINDINGS: ClassVar[list[BindingType]] = [*bindings_for("anywhere")]

    def __init__(
        self,
        source: Source,
        *,
        ascii: bool = False,
        paused: bool = False,
        complete: Complete | None = None,
        configuration: Configuration | None = None,
        reproduce: Reproduce | None = None,
        library: Library | None = None,
        service: Service | None = None,
    ) -> None:
        # Under NO_COLOR Textual turns colours to grey, unless they are the terminal's own.
        super().__init__(ansi_color=True if "NO_COLOR" in os.environ else None)
        configuration = configuration or defaults()
        glyphs = choose(ascii_only=ascii or configuration.value("ascii"))
        stage = Stage(
            source,
            glyphs=glyphs,
            paused=paused,
            complete=complete,
            reproduce=reproduce,
            library=library,
        )
        stage.guarded = configuration.value("read_only")
        self.title = "tidegauge"
        self.sources = OpenSources(self, stage, screens_of, self.DEFAULT_MODE)
        self.terminal = Terminal(self, self.sources)
        self.terminal.adopt(configuration)
        self.stylesheet = ParsedOnce(variables=self.get_css_variables())
        self.notices = Notices(self, self.sources)
        self.bookmarks = Bookmarks(self, self.sources)
        self.time_travel = TimeTravel(self, self.sources, self.notices, self.bookmarks)
        self.lab = Lab(self, self.sources, self.time_travel)
        self.navigation = Navigation(self, self.sources, self.lab)
        self.typeahead = TypeAhead(self, super().on_event)
        self.controllers: tuple[object, ...] = (
            self.navigation,
            self.time_travel,
            self.bookmarks,
            self.lab,
            self.sources,
            self.terminal,
        )
        self.service = service
        self._framed = perf_counter()
        self._painted: tuple[object, ...] = ()

    @property
    def stage(self) -> Stage:
        """The current source's stage."""
        return self.sources.stage

    async def on_mount(self) -> None:
        """Start the frame loop."""
        self.terminal.begin()
        if self.service is not None:
            await self.service.start()
            servers = getattr(self.stage.source, "bootstrap_servers", "")
            self.notify(f"bootstrap.servers={servers}", timeout=TOLD_SECONDS)
            self.run_worker(self.service.wait_for_fault(), group="service")
        self._framed = perf_counter()
        self.set_interval(1 / FRAMES_PER_SECOND, self.frame)
        if self.stage.card is not None:
            self.call_after_refresh(self.sources.begin_briefed)

    async def on_unmount(self) -> None:
        """Clean up before the console closes."""
        if self.service is not None:
            await self.service.stop()

    # ---- messages

    async def on_event(self, event: events.Event) -> None:
        """Process keys in the order in which they were typed; leave everything else to Textual."""
        if isinstance(event, events.Key) and not event.is_forwarded:
            await self.typeahead.take(event)
        else:
            await super().on_event(event)

    def post_message(self, message: Message) -> bool:
        """Count requests, so that the next key waits until they are done."""
        posted = super().post_message(message)
        if posted and isinstance(message, Request):
            self.typeahead.requests += 1
        return posted

    @on(Request)
    async def handle_request(self, request: Request) -> None:
        """Perform a screen's request, show it, and continue with the queued keys."""
        if isinstance(request, SourceRequested):
            self._open_source(request)
            return
        try:
            await self._do_requested(request)
            self.paint()
        except SessionError as error:
            self.notices.trouble(str(error))
        finally:
            self.typeahead.requests -= 1
        await self.typeahead.go_on()

    @work(group="open")
    async def _open_source(self, request: SourceRequested) -> None:
        """Open a source; keys are queued meanwhile, and the screen stays responsive."""
        try:
            if await self.sources.open_with(request.opener, request.mode) and request.link:
                self.navigation.open_link(request.link)
            self.paint()
        finally:
            self.typeahead.requests -= 1
        await self.typeahead.go_on()

    async def _do_requested(self, request: Request) -> None:
        match request:
            case OpenRequested():
                self.navigation.open_link(request.link)
            case ActionRequested():
                await self._act(request.id, request.text)
            case CopyRequested():
                self.terminal.copy(request.text)
            case FaultChosen():
                self.lab.inflict(request.palette, request.done)
            case WorkFailed():
                self.notices.failed(request.what, request.cause, request.unchanged)
            case ScreenRequested():
                self.push_screen(request.screen)
            case SourceShown():
                self.notices.begin()
            case TimeRequested():
                self.stage.pacer.seek_time(request.time_us)
            case TroubleMet():
                self.notices.trouble(request.reason)

    async def _act(self, id: str, text: str) -> None:
        """Run an action; a text goes into the prompt that it opens."""
        await self.run_action(ACTIONS[id].name)
        screen = self.screen
        if text and isinstance(screen, ConsoleScreen) and screen.prompt.is_open:
            screen.prompt.reopen(text)

    def on_delivery_complete(self, event: events.DeliveryComplete) -> None:
        """Report that a file was written."""
        self.notify(f"wrote {event.name}")

    def on_delivery_failed(self, event: events.DeliveryFailed) -> None:
        """Report that a file could not be written."""
        self.terminal.not_written(event.exception)

    def notify(
        self,
        message: str,
        *,
        title: str = "",
        severity: SeverityLevel = "information",
        timeout: float | None = None,
        markup: bool = False,
    ) -> None:
        """Show a toast; its text is data, never markup."""
        super().notify(
            clean(message), title=title, severity=severity, timeout=timeout, markup=False
        )

    # ---- frames

    def frame(self) -> None:
        """Move the time cursor by the wall time since the last frame, and repaint."""
        if not self.is_running or not self.screen_stack:
            return
        now = perf_counter()
        passed, self._framed = now - self._framed, now
        try:
            self.stage.pacer.frame(passed)
            self.bookmarks.search_on()
            self.notices.look()
            self.notices.show_waiting()
            self.time_travel.show_replies()
            if self._moment() != self._painted or self._is_busy():
                self.paint()
        except SessionError as error:
            self.notices.trouble(str(error))

    def _moment(self) -> tuple[object, ...]:
        """Return what a screen depends on besides keys; nothing is painted until it changes."""
        source, pacer = self.stage.source, self.stage.pacer
        return source.seq, source.time_us, source.last_seq, pacer.mode, pacer.paused

    def _is_busy(self) -> bool:
        screen = self.screen
        return isinstance(screen, ConsoleScreen) and screen.is_busy()

    def paint(self) -> None:
        """Update the screen to the time cursor."""
        self._painted = self._moment()
        screen = self.screen
        if isinstance(screen, ConsoleScreen) and screen.is_mounted:
            try:
                screen.show(self.stage.follow())
            except SessionError as error:
                self.notices.trouble(str(error))

    # ---- actions

    def export_screenshot(self, *, title: str | None = None, simplify: bool = False) -> str:
        """Export the screen as SVG, in true colour whatever colours the terminal has.

        Roles are mixed for the colours of the console, so every view is painted again.
        """
        terminal = self.console
        views = [view for screen in self.screen_stack for view in screen.query(VirtualView)]
        self.console = Console(file=io.StringIO(), force_terminal=True, color_system="truecolor")
        try:
            for view in views:
                view.forget()
            return super().export_screenshot(title=title, simplify=simplify)
        finally:
            self.console = terminal
            for view in views:
                view.forget()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Disable what a read-only source does not allow; this is the only place that checks."""
        return None if self._refusal(action) else super().check_action(action, parameters)

    def _refusal(self, name: str) -> str | None:
        action = named(name, getattr(self.screen, "context", ANYWHERE))
        stage = self.stage
        if action is None:
            return None
        return refusal(action, read_only=stage.read_only, guarded=stage.guarded)

    async def run_action(
        self,
        action: str | tuple[str, str, tuple[object, ...]],
        default_namespace: DOMNode | None = None,
        namespaces: Mapping[str, DOMNode] | None = None,
    ) -> bool:
        """Run an action on whatever has it nearest to the focused widget.

        Textual would look only where the key is bound. Here a screen binds the key once, and the
        pane that has the focus, or a controller, runs the action. Keys that were typed ahead wait
        for the screen that earlier ones open.
        """
        name = action if isinstance(action, str) else action[1]
        method = self.action_method(name)
        if method is None:
            return await super().run_action(action, default_namespace, namespaces)
        screen = self.screen
        if isinstance(screen, ConsoleScreen) and not screen.is_ready:
            self.call_after_refresh(self.run_action, name)
        elif not self.check_action(name, ()):
            self.notify(self._refusal(name) or "", severity="warning")
        else:
            self._run(method)
        return True

    def _run(self, method: Callable[[], object]) -> None:
        screen = self.screen
        try:
            if isinstance(screen, ConsoleScreen) and screen.is_behind:
                self.paint()  # an action applies to the present state
            method()
            self.paint()
        except SessionError as error:
            self.notices.trouble(str(error))

    def action_method(self, name: str) -> Callable[[], object] | None:
        """Return the method that runs an action of the registry; None if nothing here does."""
        if name not in NAMES:
            return None
        screen = self.screen
        nearest = screen.targets() if isinstance(screen, ConsoleScreen) else (screen,)
        targets = (*nearest, *self.controllers, self)
        found = (getattr(target, f"action_{name}", None) for target in targets)
        return next((method for method in found if method is not None), None)

    # ---- screens

    def action_go_back(self) -> None:
        """Undo the last narrowing: a search, zoom, filter, then the screen."""
        if self.bookmarks.stop_search():
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

    # ---- the program

    def action_app_help(self) -> None:
        """Show the keys of this screen."""
        screen = self.screen
        context = screen.context if isinstance(screen, ConsoleScreen) else "anywhere"
        if context != "page":
            self.push_screen(
                PageScreen(self.stage, f"help: {context}", help_lines(self.stage, context))
            )

    def action_app_palette(self) -> None:
        """Find an action by name."""
        providers = [ActionProvider, ObjectProvider]
        placeholder = "an action, topic, partition, broker, znode, setting, scenario, #event"
        self.push_screen(CommandPalette(providers=providers, placeholder=placeholder))

    def action_app_quit(self) -> None:
        """Quit, and name what was recorded."""
        recorded = [opening.stage.recording for opening in self.sources.openings]
        named = [f"recorded in {path}" for path in recorded if path is not None]
        self.exit(message="\n".join(named) or None)

    def action_app_interrupt(self) -> None:
        """Explain how to quit: ctrl+c out of habit should not end a session."""
        self.notify("ctrl+q quits; ctrl+c does nothing here")
