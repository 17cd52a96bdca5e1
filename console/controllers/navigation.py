"""Navigation between screens, with a method for each kind of page that ``enter`` opens."""

from collections.abc import Callable
from functools import partial
from typing import Any

from textual.app import App

from console.controllers.lab import Lab
from console.controllers.open_sources import OpenSources
from console.model.links import Link
from console.model.verdict_rows import rows_of
from console.model.workspace import Stage
from console.screens.base import ConsoleScreen
from console.screens.broker import BrokerScreen
from console.screens.clients import ClientsScreen
from console.screens.events import EventScreen
from console.screens.groups import GroupsScreen
from console.screens.lost import LostScreen
from console.screens.partition import PartitionScreen
from console.screens.partitions import PartitionsScreen
from console.screens.record import RecordScreen
from console.screens.space_time import SpaceTimeScreen
from console.screens.znode import ZnodeScreen
from console.widgets.event_log import EventView
from sessions.model.verdict import HEALTHY, verdict
from sessions.sources.paired import TwinSource


class Navigation:
    """Goes from screen to screen, and drills into an object by its name."""

    def __init__(self, app: App[Any], sources: OpenSources, lab: Lab) -> None:
        self.app = app
        self.sources = sources
        self.lab = lab
        self._openers: dict[str, Callable[[str], None]] = {
            "partition": self.open_partition,
            "broker": lambda broker: self.open_broker(int(broker)),
            "znode": self.open_znode,
            "event": lambda seq: self.open_event(int(seq)),
            "diagram": lambda seq: self.open_diagram(int(seq)),
            "moment": lambda seq: self.stage.pacer.seek_seq(int(seq)),
            "record": lambda record_id: self.open_record(int(record_id)),
            "lost": lambda _: self.action_lost(),
            "clients": lambda _: self.action_clients(),
            "groups": lambda _: self.action_groups(),
            "mode": self.go,
            "partitions": self.open_partitions,
        }

    @property
    def stage(self) -> Stage:
        """The current source's stage."""
        return self.sources.stage

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
        self.go("znodes" if self.stage.metadata is None else "metadata")

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
        if held.kind == HEALTHY:
            self.app.notify("nothing is wrong")
        else:
            self.open_link(rows_of(held))

    def action_go_last(self) -> None:
        """Toggle between two screens."""
        self.go(self.sources.last_mode)

    # ---- objects

    def open_link(self, link: Link | None) -> None:
        """Open what a line links to; do nothing if it has no link."""
        if link is not None and (opener := self._openers.get(link.kind)) is not None:
            opener(link.name)

    def open_partition(self, tp: str) -> None:
        """Drill into a partition."""
        self.app.push_screen(PartitionScreen(self.stage, tp))

    def open_broker(self, broker: int) -> None:
        """Drill into a broker; negative numbers are other hosts."""
        if broker >= 0:
            self.app.push_screen(BrokerScreen(self.stage, broker))

    def open_znode(self, path: str) -> None:
        """Drill into a znode."""
        self.app.push_screen(ZnodeScreen(self.stage, path))

    def open_record(self, record_id: int) -> None:
        """Drill into a record."""
        batch = self.stage.view.batch(record_id)
        if batch is None:
            self.app.notify(f"record {record_id:,} has not been produced yet")
        else:
            self.app.push_screen(RecordScreen(self.stage, batch.tp, record_id))

    def action_lost(self) -> None:
        """List the records that were ever lost."""
        self.app.push_screen(LostScreen(self.stage))

    def action_clients(self) -> None:
        """List the clients that are connected."""
        self.app.push_screen(ClientsScreen(self.stage))

    def action_groups(self) -> None:
        """List the consumer groups."""
        self.app.push_screen(GroupsScreen(self.stage))

    def open_event(self, seq: int) -> None:
        """Drill into an event."""
        if self.stage.reader.get(seq) is not None:
            self.app.push_screen(EventScreen(self.stage, seq))

    def open_diagram(self, seq: int) -> None:
        """Draw what led to an event and what it led to."""
        if self.stage.reader.get(seq) is None:
            self.app.notify("nothing has happened yet")
        else:
            self.app.push_screen(SpaceTimeScreen(self.stage, seq))

    def action_diagram(self) -> None:
        """Draw the selected event, or the one at the time cursor."""
        screen = self.app.screen
        pane = screen.current_pane if isinstance(screen, ConsoleScreen) else None
        view = None if pane is None else pane.view
        event = view.selected if isinstance(view, EventView) else None
        self.open_diagram(self.stage.source.seq if event is None else event.seq)

    def open_partitions(self, text: str) -> None:
        """Screen 2, with a filter."""
        self.go("partitions")
        self.app.call_after_refresh(partial(self._narrow, text))

    def _narrow(self, text: str) -> None:
        if isinstance(self.app.screen, PartitionsScreen):
            self.app.screen.narrow(text)
