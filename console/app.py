"""The application: modes, the frame loop, and how actions find what runs them.

Everything on screen is a function of the source, its time cursor and what the user has chosen. Each
frame moves the cursor a little (or not, if paused), finds out what changed, and repaints that; a
key that moves the cursor repaints at once.
"""

import io
import os
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from time import perf_counter
from typing import Any, ClassVar

from rich.console import Console, RenderableType
from textual import events, on, work
from textual._compositor import ChopsUpdate
from textual._context import active_message_pump
from textual.app import App
from textual.await_complete import AwaitComplete
from textual.binding import BindingType
from textual.dom import DOMNode
from textual.message import Message
from textual.notifications import SeverityLevel
from textual.screen import Screen

from console.actions.bindings import bindings_for
from console.actions.lookup import ACTIONS, ANYWHERE, named, refusal
from console.controllers.bookmarks import Bookmarks
from console.controllers.failures import Failures
from console.controllers.first_steps import FirstSteps
from console.controllers.lab import Lab
from console.controllers.navigation import Navigation
from console.controllers.notices import Notices
from console.controllers.open_sources import OpenSources
from console.controllers.palette import ActionProvider, ObjectProvider
from console.controllers.terminal import Terminal
from console.controllers.time_travel import TimeTravel
from console.controllers.typeahead import TypeAhead
from console.model.library import Library, Service
from console.model.reader import READ_AT_ONCE
from console.model.settings import Configuration, defaults
from console.model.workspace import Complete, Reproduce, Stage
from console.process.changed_cells import ShownCells
from console.process.driver import watched
from console.process.quitting import Quitting
from console.process.watchdog import Watchdog
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
    ScreenReady,
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
from console.screens.palette import Palette
from console.screens.partitions import PartitionsScreen
from console.screens.sessions import SessionsScreen
from console.screens.sized import Sized, closed_with
from console.screens.znodes import ZnodesScreen
from console.styles.glyphs import choose
from console.styles.roles import COMPONENTS
from console.styles.stylesheet import ParsedOnce
from console.widgets.virtual_view import VirtualView
from sessions.format.errors import SessionError
from sessions.sources.source import Source
from sessions.sources.twin import TwinSource
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
STOPPED = "The cluster is paused. Everything up to here is recorded and can be examined."
READ_AFTER_KEYS_S = 0.08
"""How long after a key a long recording is read for what the screen lacks: keys come first."""
READ_ON_S = 0.015
"""How soon to read on."""
GO_ON_S = 0.005
"""How soon to go on with a move that takes long."""
ANSWER_EVERY_S = 1.0
"""How often the watchdog is told that keys are processed."""
TOLD_SECONDS = 10.0
"""How long the clients' addresses are shown."""
WIDTHS = [(0, "-cramped"), (60, "-narrow"), (120, "-wide"), (136, "-roomy"), (180, "-vast")]
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
        self.terminal = Terminal(self.sources)
        self.terminal.adopt(configuration)
        self.stylesheet = ParsedOnce(variables=self.get_css_variables())
        self.notices = Notices(self.sources)
        self.bookmarks = Bookmarks(self.sources)
        self.time_travel = TimeTravel(self.sources, self.notices, self.bookmarks)
        self.lab = Lab(self.sources, self.time_travel)
        self.navigation = Navigation(self.sources, self.lab)
        self.first_steps = FirstSteps(self.sources, self.navigation, self.time_travel)
        self.typeahead = TypeAhead(self, super().on_event)
        self.failures = Failures(self.sources)
        self.controllers: tuple[object, ...] = (
            self.navigation,
            self.time_travel,
            self.bookmarks,
            self.lab,
            self.first_steps,
            self.sources,
            self.terminal,
        )
        self.service = service
        self.watchdog: Watchdog | None = None
        self.interrupts = self._quitting()
        self._asked = 0.0
        self._framed = perf_counter()
        self._painted: tuple[object, ...] = ()
        self._will_go_on = False
        self._keyed = 0.0
        self.cells = ShownCells()
        self._cells_size = self.size

    @property
    def stage(self) -> Stage:
        return self.sources.stage

    async def on_mount(self) -> None:
        self.terminal.begin()
        if self.service is not None:
            await self.service.start()
            servers = self.stage.source.bootstrap_servers
            self.notify(f"bootstrap.servers={servers}", timeout=TOLD_SECONDS)
            self.run_worker(self.service.wait_for_fault(), group="service")
        self._framed = perf_counter()
        self.set_interval(1 / self.terminal.configuration.value("fps"), self.frame)
        if self.stage.card is not None:
            self.call_after_refresh(self.sources.begin_briefed)

    async def on_unmount(self) -> None:
        if self.service is not None:
            await self.service.stop()

    # ---- the process

    def _quitting(self) -> Quitting:
        return Quitting(ACTIONS["app.quit"].keys, ACTIONS["app.interrupt"].keys)

    def guard_with(self, watchdog: Watchdog) -> None:
        """Let a watchdog end the console when it is stuck, and close screens that fail."""
        self.watchdog = watchdog
        self.terminal.signalled = watchdog.ask
        self.failures.are_survived = True
        self.driver_class = watched(self.driver_class, watchdog, self._quitting())

    def working(self) -> AbstractContextManager[None]:
        """Mark what a user has asked for, which may take longer than anything else."""
        return nullcontext() if self.watchdog is None else self.watchdog.working()

    def _report_in(self, now: float) -> None:
        """Have a message to process at least every second, which the watchdog is told."""
        if self.watchdog is not None and now - self._asked > ANSWER_EVERY_S:
            self._asked = now
            self.post_message(ScreenReady())

    async def _dispatch_message(self, message: Message) -> None:
        """Process a message; an exception closes the screen that it is about."""
        if self.watchdog is not None:
            self.watchdog.answered()  # however many messages wait: this is no hang
        try:
            await super()._dispatch_message(message)
        except Exception as error:
            if not self.failures.survives(error, self._screen_at_work()):
                raise

    def _handle_exception(self, error: Exception) -> None:
        """Close the screen in which an exception was raised; without one, end."""
        if not self.failures.survives(error, self._screen_at_work()):
            super()._handle_exception(error)

    def _screen_at_work(self) -> Screen[Any] | None:
        """The screen whose message is being processed, or else the one that is shown."""
        if not self._is_mounted or not self._screen_stacks.get(self.current_mode):
            return None
        pump = active_message_pump.get(None)
        nodes = pump.ancestors_with_self if isinstance(pump, DOMNode) else ()
        return next((node for node in nodes if isinstance(node, Screen)), self.screen)

    def _load_screen_css(self, screen: Screen[Any]) -> None:
        """Take a new screen as styled, for its widgets are when they are mounted.

        Textual would style and lay out all that is shown, twice, for each screen that is added.
        """
        super()._load_screen_css(screen)
        screen._css_update_count = self._css_update_count

    # ---- messages

    async def on_event(self, event: events.Event) -> None:
        """Process keys in the order in which they were typed; leave everything else to Textual."""
        if isinstance(event, events.Key | events.Paste) and not event.is_forwarded:
            self._keyed = perf_counter()
            await self.typeahead.take(event)
        else:
            await super().on_event(event)

    @on(ScreenReady)
    async def take_waiting_keys(self) -> None:
        """Process the keys that were typed before the screen was ready."""
        await self.typeahead.go_on()

    def post_message(self, message: Message) -> bool:
        """Count requests, so that the next key waits until they are done."""
        posted = super().post_message(message)
        if posted and isinstance(message, Request):
            self.typeahead.requests += 1
        return posted

    @on(Request)
    async def handle_request(self, request: Request) -> None:
        """Perform a screen's request, show it, and continue with the queued keys."""
        request.is_handled = True
        if isinstance(request, SourceRequested):
            self._open_source(request)
            return
        had_begun = self.is_on_the_way()
        try:
            with self.working():
                await self._do_requested(request)
            self._answer(had_begun=had_begun)
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
            self.post_message(ScreenReady())

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
        self.stage.frame_s = now if self._animates() else None
        self._report_in(now)
        if self.typeahead.is_waiting:
            self.post_message(ScreenReady())
        try:
            self._advance(passed)
            self.bookmarks.search_on()
            self.notices.look()
            self.notices.show_waiting()
            self.time_travel.show_replies()
            if self.is_on_the_way():
                self._show_the_way()
            elif self._moment() != self._painted or self._is_busy():
                self.paint(self._readable)
        except SessionError as error:
            self.notices.trouble(str(error))

    def _animates(self) -> bool:
        """Whether things may move: unless it was turned off, or the terminal does not keep up."""
        return self.terminal.animates and not getattr(self._driver, "is_behind", False)

    def _advance(self, passed: float) -> None:
        try:
            for opening in self.sources.openings:
                opening.stage.source.keep_up()
            self.stage.pacer.frame(passed)
        except SessionError:
            raise
        except Exception as error:
            if not self.failures.are_survived:
                raise
            self.stage.pacer.paused = True
            self.notices.failed("time", self.failures.described(error), STOPPED)

    def _moment(self) -> tuple[object, ...]:
        """Return what a screen depends on besides keys; nothing is painted until it changes."""
        source, pacer = self.stage.source, self.stage.pacer
        stale = source.stale_us is not None
        return source.seq, source.time_us, source.last_seq, pacer.mode, pacer.paused, stale

    def _is_busy(self) -> bool:
        screen = self.screen
        return isinstance(screen, ConsoleScreen) and screen.is_busy()

    def paint(self, reads: int = 0) -> None:
        """Update the screen to the time cursor; of a long recording, read so many events for it."""
        self._painted = self._moment()
        screen = self.screen
        if isinstance(screen, ConsoleScreen) and screen.is_mounted:
            try:
                with self.stage.reader.painting(reads):
                    screen.show(self.stage.follow())
            except SessionError as error:
                self.notices.trouble(str(error))
            if self.stage.reader.is_behind:
                self._go_on_in(READ_ON_S if self._has_time else READ_AFTER_KEYS_S)

    def is_on_the_way(self) -> bool:
        """Whether the time cursor is on a way that takes long, or its goal is looked for."""
        return self.stage.source.heading_for is not None or self.stage.touching is not None

    def _answer(self, *, had_begun: bool) -> None:
        """Show what came of a key; of a long way that it began, only that it has begun."""
        if self.is_on_the_way() and not had_begun:
            self._show_the_way()
        else:
            self.paint()

    def _show_the_way(self) -> None:
        """Show how far the time cursor has come; panes stay as they are until it is there."""
        screen = self.screen
        if isinstance(screen, ConsoleScreen) and screen.is_mounted:
            screen.show_bars()
        self._go_on_in(GO_ON_S)

    def _go_on_in(self, seconds: float) -> None:
        """Go on with what takes long, between keys and before the next frame."""
        if not self._will_go_on:
            self._will_go_on = True
            self.set_timer(seconds, self._go_on)

    def _go_on(self) -> None:
        """Go on with a long way, or read more of what the screen lacks."""
        self._will_go_on = False
        if not self.is_running or not self.screen_stack:
            return
        was_on_the_way = self.is_on_the_way()
        try:
            if was_on_the_way:
                self.stage.source.keep_up()
                self.time_travel.search_on()
            if self.is_on_the_way():
                self._go_on_in(GO_ON_S)
            elif was_on_the_way or self.stage.reader.is_behind:
                self.paint(self._readable)
        except SessionError as error:
            self.notices.trouble(str(error))

    @property
    def _readable(self) -> int:
        """How many events may be read now, between keys."""
        return READ_AT_ONCE if self._has_time else 0

    @property
    def _has_time(self) -> bool:
        """Whether no key has come for a while."""
        return perf_counter() - self._keyed > READ_AFTER_KEYS_S

    # ---- actions

    def _display(self, screen: Screen[Any], renderable: RenderableType | None) -> None:
        """Send only the cells that change, of what the terminal shows."""
        if isinstance(renderable, ChopsUpdate) and self.size == self._cells_size:
            super()._display(screen, self.cells.changes(renderable))
        else:
            if renderable is not None:
                self.cells.forget()
                self._cells_size = self.size
            super()._display(screen, renderable)

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
        return refusal(
            action,
            read_only=stage.read_only,
            guarded=stage.guarded,
            can_forecast=stage.can_forecast,
        )

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
        if isinstance(screen, Sized) and not screen.is_ready:
            self.typeahead.hold(name)
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
            had_begun = self.is_on_the_way()
            with self.working():
                method()
            self._answer(had_begun=had_begun)
        except SessionError as error:
            self.notices.trouble(str(error))

    def action_method(self, name: str) -> Callable[[], object] | None:
        """Return the method that runs an action of the registry; None if nothing here does."""
        if name not in NAMES:
            return None
        screen = self.screen
        nearest = screen.targets() if isinstance(screen, ConsoleScreen) else (screen,)
        targets = (*nearest, *self.controllers, self)
        methods = (getattr(target, f"action_{name}", None) for target in targets)
        method = next((method for method in methods if method is not None), None)
        return method or self.navigation.opener(name)

    # ---- screens

    @property
    def _background_screens(self) -> list[Screen[Any]]:
        """The screens that can be seen behind the one on top.

        Textual counts the screen below an opaque one as well, and lays it out with each resize.
        """
        return [] if self.screen.styles.background.a == 1 else super()._background_screens

    def pop_screen(self) -> AwaitComplete:
        """Close the screen on top; the one below takes over what waits for a refresh of it."""
        closed = self.screen
        awaitable = super().pop_screen()
        for call, sender in closed_with(closed):
            self.screen._invoke_later(call, sender)
        return awaitable

    def action_go_back(self) -> None:
        """Undo the last narrowing: a search, zoom, filter, then the screen."""
        if self.bookmarks.stop_search() or self.time_travel.stop_search():
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
        screen = self.screen
        context = screen.context if isinstance(screen, ConsoleScreen) else "anywhere"
        if context != "page":
            self.push_screen(
                PageScreen(self.stage, f"help: {context}", help_lines(self.stage, context))
            )

    def action_app_palette(self) -> None:
        providers = [ActionProvider, ObjectProvider]
        placeholder = "an action, topic, partition, broker, znode, setting, scenario, #event"
        self.push_screen(Palette(providers=providers, placeholder=placeholder))

    def action_app_quit(self) -> None:
        """Quit, and name what was recorded."""
        self.exit(message="\n".join(self.recorded()) or None)

    def recorded(self) -> list[str]:
        """Where the recordings are, a line for each."""
        paths = [opening.stage.recording for opening in self.sources.openings]
        return [f"recorded in {path}" for path in paths if path is not None]

    def save(self) -> list[str]:
        """Write what was recorded, as the console is ended from outside; say where it is.

        The console's own temporary recordings stay as well: they are all that is left of a cluster.
        """
        recorders = [opening.stage.source.recorder for opening in self.sources.openings]
        lines = []
        for recorder in recorders:
            if recorder is not None and not recorder.closed:
                recorder.flush()
                lines.append(f"recorded in {recorder.path}")
        return lines

    def action_app_interrupt(self) -> None:
        """Explain how to quit: one ctrl+c out of habit should not end a session."""
        if self.interrupts.ends(ACTIONS["app.interrupt"].keys[0]):
            self.action_app_quit()
        else:
            self.notify("ctrl+c once more quits, as ctrl+q does")
