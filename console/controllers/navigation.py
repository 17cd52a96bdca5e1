"""Navigation between screens, with a method for each kind of page that ``enter`` opens."""

from collections.abc import Callable
from functools import partial
from importlib import import_module
from pkgutil import iter_modules
from typing import Final

from console import screens
from console.controllers.lab import Lab
from console.controllers.open_sources import Controller, OpenSources
from console.model.links import Link
from console.model.verdict_rows import STALLED, rows_of
from console.screens.base import ConsoleScreen
from console.screens.partitions import PartitionsScreen
from console.widgets.event_log import EventView
from sessions.model.verdict import HEALTHY, verdict
from sessions.sources.twin import TwinSource


def _linked(base: type[ConsoleScreen]) -> dict[str, type[ConsoleScreen]]:
    kinds: dict[str, type[ConsoleScreen]] = {}
    for kind in base.__subclasses__():
        kinds |= _linked(kind)
        if kind.is_linked:
            kinds[kind.context] = kind
    return kinds


for _module in iter_modules(screens.__path__, f"{screens.__name__}."):
    import_module(_module.name)
LINKED: Final = _linked(ConsoleScreen)
"""The screens of ``console/screens/`` that links open, by the kind of these links."""


class Navigation(Controller):
    """Goes from screen to screen, and drills into an object by its name."""

    def __init__(self, sources: OpenSources, lab: Lab) -> None:
        super().__init__(sources)
        self.lab = lab

    # ---- screens

    def go(self, mode: str) -> None:
        """Show a screen; a menu or page in between is closed."""
        self.lab.subject()
        self.sources.leave_overlays()
        if mode != self.sources.mode_here:
            self.sources.last_mode = self.sources.mode_here
            self.app.switch_mode(self.sources.mode_of(mode))

    def action_go_overview(self) -> None:
        """Screen 1."""
        self.go("overview")

    def action_go_partitions(self) -> None:
        """Screen 2."""
        self.go("partitions")

    def action_go_brokers(self) -> None:
        """Screen 3."""
        self.go("brokers")

    def action_go_znodes(self) -> None:
        """Screen 4: ZooKeeper's tree, or in KRaft that of the metadata log."""
        self.go("metadata" if self.stage.is_kraft else "znodes")

    def action_go_events(self) -> None:
        """Screen 5."""
        self.go("events")

    def action_go_sessions(self) -> None:
        """Screen 6."""
        self.go("sessions")

    def action_go_lab(self) -> None:
        """Screen 7."""
        self.go("lab")

    def action_go_compare(self) -> None:
        """Screen 8, if there is anything to compare."""
        if isinstance(self.stage.source, TwinSource):
            self.go("compare")
        else:
            self.app.notify(
                "only one run is open: c in the Lab (7) opens a scenario on two releases"
            )

    def action_go_verdict(self) -> None:
        """What the headline is about."""
        held = verdict(self.stage.view.counts())
        if held.kind != HEALTHY:
            self.open_link(rows_of(held))
        elif self.stage.index.stalled:
            self.open_link(STALLED)
        else:
            self.app.notify("nothing is wrong")

    def action_go_last(self) -> None:
        self.go(self.sources.last_mode)

    # ---- objects

    def open_link(self, link: Link | None) -> None:
        """Open what a line links to; do nothing if it has no link."""
        if link is None:
            return
        if link.kind == "moment":
            self.stage.pacer.seek_seq(int(link.name))
        elif link.kind == "mode":
            self.go(link.name)
        elif link.kind == "partitions":
            self.open_partitions(link.name)
        elif link.kind in LINKED:
            self.open(link.kind, link.name)

    def open(self, kind: str, name: str = "") -> None:
        """Open the screen of an object, or tell why there is none."""
        opened = LINKED[kind].of_link(self.stage, name)
        if isinstance(opened, ConsoleScreen):
            self.app.push_screen(opened)
        elif opened:
            self.app.notify(opened)

    def opener(self, kind: str) -> Callable[[], None] | None:
        """The action that opens a screen of one list; None if there is no such screen."""
        return partial(self.open, kind) if kind in LINKED else None

    def action_diagram(self) -> None:
        """Draw the selected event, or the one at the time cursor."""
        screen = self.app.screen
        pane = screen.current_pane if isinstance(screen, ConsoleScreen) else None
        view = None if pane is None else pane.view
        event = view.selected if isinstance(view, EventView) else None
        self.open("diagram", str(self.stage.source.seq if event is None else event.seq))

    def open_partitions(self, text: str) -> None:
        """Screen 2, with a filter."""
        self.go("partitions")
        self.app.call_after_refresh(partial(self._narrow, text))

    def _narrow(self, text: str) -> None:
        if isinstance(self.app.screen, PartitionsScreen):
            self.app.screen.narrow(text)
