"""The base of all screens: bars, panes, the prompt, and how the focus moves between panes."""

from collections.abc import Collection, Iterator, Sequence
from functools import partial
from typing import Any, ClassVar

from textual import events
from textual.app import ComposeResult
from textual.containers import Container
from textual.geometry import Offset
from textual.screen import Screen

from console.model.links import Link
from console.model.workspace import SIGN, Stage
from console.render.bars import HELP_ACTION, footer_line, header_line, tabs_line, way_line
from console.render.lines import Span, cells, line
from console.render.verdict import verdict_line
from console.screens.jump import JumpScreen, Target
from console.screens.messages import (
    ActionRequested,
    CopyRequested,
    OpenRequested,
    RepaintRequested,
    Request,
    TimeRequested,
    TroubleMet,
)
from console.screens.sized import Sized
from console.widgets.event_log import EventView
from console.widgets.pane import Pane
from console.widgets.prompt import Prompt
from console.widgets.text import LabelView, TimeBarView
from console.widgets.virtual_view import VirtualView

PANE_KINDS = ("main", "side", "extra", "log")
"""Kinds of panes; the style sheet says which are hidden first."""
HEADING_LINES = 1
LOG_LINES_MIN = 11
"""Lines that the log below the upper panes keeps."""
LOW_LOG_LINES = 4
"""Lines that a log needs on a low terminal to be shown below other panes."""
UPPER_LINES_MIN = 8
"""Lines that the upper panes of a screen get at least."""
SIZE_NEEDED = (60, 15)
"""The smallest terminal, in columns and lines, on which anything useful fits."""


class ConsoleScreen(Sized, Screen[Any], inherit_bindings=False):
    """A screen of panes. ``context`` is its name in the registry of actions."""

    context: ClassVar[str] = ""
    is_linked: ClassVar[bool] = False
    """Whether links of the kind ``context`` open it, and an action of that name, if any."""
    shares_low: ClassVar[bool] = False
    """Whether a pane below the upper ones is shown on a low terminal if the rows leave room."""
    first_pane: ClassVar[int] = 0
    """Which pane has the focus first."""
    AUTO_FOCUS = ""
    """Each screen decides which pane has the focus first."""

    def __init__(self, stage: Stage) -> None:
        super().__init__()
        self.stage = stage
        self.header = LabelView(stage, id="header")
        self.tabs = LabelView(stage, id="tabs")
        self.verdict = LabelView(stage, id="verdict")
        self.time_bar = TimeBarView(stage, id="time-bar")
        self.footer = LabelView(stage, id="footer")
        self.too_small = LabelView(stage, id="too-small")
        self.prompt = Prompt(stage)
        self.panes: list[Pane] = []
        self._entering = False
        self._repaint = RepaintRequested()
        self._repaint.is_handled = True
        self._shown_at = 0
        self._shown_seq = stage.source.seq
        self._upper_lines = UPPER_LINES_MIN
        self._low_lines = 0

    @classmethod
    def of_link(cls, stage: Stage, _name: str) -> "ConsoleScreen | str":
        """Make the screen that a link with that name opens, or say why there is none."""
        return cls(stage)

    @property
    def is_behind(self) -> bool:
        """Whether the screen does not show the state at the time cursor yet."""
        return not self.stage.is_followed or self._shown_at != self.stage.turn

    # ---- what it asks of the application

    def request(self, message: Request) -> None:
        """Post a request to the application, which performs it before the next key."""
        self.app.post_message(message)

    def repaint(self) -> None:
        """Mark the content as out of date."""
        if self._repaint.is_handled:
            self._repaint = RepaintRequested()
            self.request(self._repaint)

    def open(self, kind: str, name: object) -> None:
        """Open the object, event or moment of that name."""
        self.request(OpenRequested(Link(kind, str(name))))

    def follow_link(self, link: Link | None) -> None:
        """Open what a line links to; do nothing if it has no link."""
        if link is not None:
            self.request(OpenRequested(link))

    def open_event_of(self, log: EventView) -> None:
        """Open the event that is selected in a log."""
        if (event := log.selected) is not None:
            self.open("event", event.seq)

    def open_last_touch(self, *names: str) -> None:
        """Open the event that last touched one of the objects, with its causes."""
        source = self.stage.source
        seq = source.touching(names, source.seq + 1, -1)
        if seq is None:
            self.notify("nothing has happened to it yet")
        else:
            self.open("event", seq)

    def copy(self, text: str) -> None:
        """Copy text to the clipboard."""
        self.request(CopyRequested(text))

    # ---- what a screen says

    def compose_body(self) -> ComposeResult:
        yield from ()

    def show_panes(self, changed: Collection[str]) -> None:
        """Update the panes to the time cursor; ``changed`` are the partitions that differ."""

    def is_busy(self) -> bool:
        """Whether a pane has more to show as soon as it gets time."""
        return any(pane.view.is_busy() for pane in self.panes)

    def selection(self) -> Sequence[str]:
        """The names of the objects that are selected, as events touch them."""
        return ()

    def next_touch(self, direction: int) -> int | None:
        """The next (1) or previous (-1) event that touches what is selected.

        Raises:
            StillReadingError: there is no time to find it now; the next call goes on from there.
        """
        stage = self.stage
        return stage.reader.touching(self.selection(), stage.source.seq, direction)

    def trail(self) -> str:
        """The screen's place within its tab, such as the name of a partition."""
        return ""

    # ---- composition

    def compose(self) -> ComposeResult:
        """Bars and the verdict above, panes, bars below."""
        yield self.header
        yield self.tabs
        yield self.verdict
        with Container(id="body"):
            yield from self.compose_body()
        yield self.prompt
        yield self.time_bar
        yield self.footer
        yield self.too_small
        self._mark(self.panes[self.first_pane], update=False)  # nothing is styled yet

    def pane(self, view: VirtualView, title: str, kind: str = "main") -> Pane:
        """Create a pane; tab visits the panes in the order of their creation."""
        pane = Pane(self.stage, view, title, kind)
        self.panes.append(pane)
        return pane

    def begin(self) -> None:
        """Prepare the panes."""

    def on_mount(self) -> None:
        """Prepare the panes and focus one."""
        self.begin()
        self._focus_soon()
        self.call_after_refresh(self.become_ready)

    def on_screen_resume(self) -> None:
        """Show what happened meanwhile at once, and again once the panes have their new sizes."""
        if self.is_ready:
            self.repaint()
        self.call_after_refresh(self.repaint)

    def on_resize(self, event: events.Resize) -> None:
        """Draw bars and titles for the new size; a pane that had no room may have the focus now."""
        self.call_after_refresh(self._focus_current)
        self.call_after_refresh(self.repaint)

    def on_virtual_view_resized(self) -> None:
        """Lay out for this size what was laid out for another."""
        self.call_after_refresh(self.repaint)

    # ---- painting

    def show(self, changed: Collection[str]) -> None:
        self._shown_at = self.stage.turn
        self._shown_seq = self.stage.source.seq
        self.show_bars()
        self.show_panes(changed)
        self.show_headings()

    def show_bars(self) -> None:
        """Update header, tabs, verdict, time bar and footer."""
        width, height = self.app.size
        stage = self.stage
        self.header.show([header_line(stage, width)])
        tabs = tabs_line(stage, self.app.current_mode.partition(SIGN)[0], self.trail(), width)
        self.tabs.show([tabs])
        way = way_line(stage, self._shown_seq, width)
        names_help = all(span.action != HELP_ACTION for span in tabs)
        self.verdict.show([way or verdict_line(stage, width, names_help=names_help)])
        if self.time_bar.display:
            rows = self.time_bar.size.height
            self.time_bar.show(self.time_bar.bar.lines(stage, width, rows))
        context = "prompt" if self.prompt.is_open else self.context
        self.footer.show(
            [
                footer_line(
                    context,
                    width,
                    read_only=stage.read_only,
                    can_forecast=stage.can_forecast,
                    more=stage.glyphs.more,
                )
            ]
        )
        if width < SIZE_NEEDED[0] or height < SIZE_NEEDED[1]:
            needed = f"needs {SIZE_NEEDED[0]}x{SIZE_NEEDED[1]}"
            lines = ("tidegauge", needed, f"this is {width}x{height}")
            self.too_small.show([line(Span(row, "strong")) for row in lines])

    def views_beside(self, main: VirtualView, side: VirtualView) -> tuple[VirtualView, ...]:
        """The upper views that are shown: on a narrow screen one takes the place of the other."""
        return (main,) if self.has_class("-narrow") else (main, side)

    def fit_upper(self, *views: VirtualView) -> None:
        """On a tall terminal, give the upper panes the lines they need and the log the rest.

        They never shrink, so nothing jumps when another row is selected.
        """
        is_free = self.has_class("-tall") and not self.has_class("-zoomed")
        lines = max(view.count() + view.fixed_lines for view in views)
        self._upper_lines = max(lines + HEADING_LINES, self._upper_lines)
        kept = sum(pane.outer_size.height for pane in self.panes if pane.kind == "extra")
        body = self.query_one("#body").size.height
        room = body - kept - LOG_LINES_MIN
        height = max(1, min(self._upper_lines, room)) if is_free else None
        has_rows = views[0].count() > 0  # an empty table says why, and needs its room for that
        if self._fits_below(lines + HEADING_LINES, body, has_rows=has_rows):
            height = self._low_lines
        upper = self.query_one("#upper").styles
        if (None if upper.inline.height is None else upper.inline.height.value) != height:
            upper.height = height

    def _fits_below(self, lines: int, whole: int, *, has_rows: bool) -> bool:
        """On a low terminal, whether the upper panes leave room for one below; show it then."""
        is_away = self.has_class("-zoomed") or self.has_class("-on-side")
        is_free = self.shares_low and has_rows and self.has_class("-low") and not is_away
        self._low_lines = max(lines, self._low_lines) if is_free else 0
        fits = is_free and whole - self._low_lines >= LOW_LOG_LINES
        self.set_class(fits, "-shares")
        return fits

    def show_headings(self) -> None:
        for pane in self.panes:
            pane.show_heading()

    def on_time_bar_view_pointed(self, message: TimeBarView.Pointed) -> None:
        """Go to the time that was clicked on the time bar."""
        self.request(TimeRequested(message.time_us))

    def on_virtual_view_selected(self) -> None:
        """Update what is shown about the line under the cursor."""
        self.repaint()

    async def on_virtual_view_chosen(self) -> None:
        """Open the line that was double-clicked, unless another screen is on top by now."""
        if self.is_active:
            await self.run_action("drill")

    def on_virtual_view_unreadable(self, message: VirtualView.Unreadable) -> None:
        """Report that what was clicked is damaged."""
        self.request(TroubleMet(message.reason))

    def on_label_view_pressed(self, message: LabelView.Pressed) -> None:
        """Run the action whose tab or footer key was clicked."""
        self.request(ActionRequested(message.action))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Ask the application, which knows what the source allows."""
        return self.app.check_action(action, parameters)

    # ---- panes

    @property
    def current_pane(self) -> Pane | None:
        """The pane that has the focus, or had it before the prompt opened."""
        return next((pane for pane in self.panes if pane.has_class("-current")), None)

    def enter_pane(self, pane: Pane) -> None:
        """Focus a pane; on a small screen it replaces the others."""
        self._mark(pane)
        self._focus_soon()

    def _focus_soon(self) -> None:
        self._entering = True
        self.call_after_refresh(self._focus_current)

    def _focus_current(self) -> None:
        """Focus the current pane, once it is visible; by now it may be another one."""
        self._entering = False
        if not self.prompt.is_open and (pane := self.current_pane) is not None:
            self.set_focus(pane.view, scroll_visible=False)

    def _mark(self, pane: Pane, *, update: bool = True) -> None:
        for one in self.panes:
            one.set_class(one is pane, "-current", update=update)
        kinds = {f"-on-{kind}": kind == pane.kind for kind in PANE_KINDS}
        self.update_classes(kinds, update=update, animate=False)

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        """Follow a click into a pane, which also closes the prompt."""
        is_elsewhere = self.focused is not self.prompt.input  # events may come late
        if self.prompt.is_open and is_elsewhere and not self._entering:
            self.prompt.abandon()
        for pane in self.panes:
            clicked = pane.view is event.widget and not self._entering
            if clicked and not pane.has_class("-current"):
                self._mark(pane)
        self.call_after_refresh(self.show_headings)

    def action_pane_next(self) -> None:
        self._pane_beside(1)

    def action_pane_previous(self) -> None:
        self._pane_beside(-1)

    def _pane_beside(self, step: int) -> None:
        current = self.current_pane
        if current is not None:
            place = self.panes.index(current)
            self.enter_pane(self.panes[(place + step) % len(self.panes)])

    def action_pane_jump(self) -> None:
        """Put a letter on every visible pane, tab and line; typing it goes there."""

        def go(target: Target | None) -> None:
            if target is not None:
                target.go()
                self.repaint()

        self.app.push_screen(JumpScreen(self._jump_targets()), go)

    def _jump_targets(self) -> Iterator[Target]:
        """Panes and tabs come first; lines get the remaining letters."""
        for pane in self.panes:
            if pane.view.region.area:
                yield Target(pane.region.offset, partial(self.enter_pane, pane))
        x = self.tabs.region.x
        for span in self.tabs.lines[0] if self.tabs.lines else ():
            if span.action:
                go = partial(self.request, ActionRequested(span.action))
                yield Target(Offset(x, self.tabs.region.y), go)
            x += cells(span.text)
        if (current := self.current_pane) is not None and current.view.has_cursor:
            view = current.view
            below = view.region.offset + Offset(0, view.gutter.top + view.fixed_lines - view.top)
            for index in view.in_sight():
                yield Target(below + Offset(0, index), partial(view.move_to, index))

    def action_pane_zoom(self) -> None:
        """Zoom the current pane to the whole body, or back."""
        self.toggle_class("-zoomed")

    # ---- what keys do in every screen

    def targets(self) -> Iterator[object]:
        """The objects that may run an action, from the focused widget outwards."""
        focused = None if self._entering else self.focused  # keys may be typed ahead of the focus
        if focused is not None:
            yield from focused.ancestors_with_self
        current = self.current_pane
        if current is not None:
            yield current.view
        yield self
        yield from (pane.view for pane in self.panes)

    def _view_for_filter(self) -> VirtualView | None:
        current = self.current_pane
        views = [current.view] if current is not None else []
        views += [pane.view for pane in self.panes]
        return next((view for view in views if view.filter_hint), None)

    def action_filter_open(self) -> None:
        """Open the prompt for a filter of the current pane."""
        view = self._view_for_filter()
        if view is None:
            return

        def choose(text: str) -> str | None:
            complaint = view.set_filter(text)
            self.repaint()  # titles name the filter, and the panes beside what is left
            return complaint

        def submit(text: str) -> str | None:
            complaint = choose(text)
            if text and not complaint:
                view.pattern = text
            return complaint

        live = choose if view.filters_live else None
        self.prompt.ask("/", submit, text=view.filter_text(), live=live, hint=view.filter_hint)

    def clear_filter(self) -> bool:
        """Remove the filter of the current pane; return False if it has none."""
        view = self._view_for_filter()
        if view is None or not view.filter_text():
            return False
        view.set_filter("")
        self.repaint()
        return True

    def action_copy_cell(self) -> None:
        if (pane := self.current_pane) is not None:
            self.copy(pane.view.cell_text())

    def action_copy_row(self) -> None:
        """Copy the selected object as JSON; for text, the command line that returns here."""
        if (pane := self.current_pane) is not None:
            self.copy(pane.view.row_text() or self.stage.command_line() or pane.view.cell_text())
