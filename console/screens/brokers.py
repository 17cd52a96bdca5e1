"""Screen 3, Brokers: who is to blame?"""

from collections.abc import Collection, Hashable, Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType

from console.actions.bindings import bindings_for
from console.model.workspace import Stage
from console.render.authority import authority_parts
from console.render.broker_columns import broker_object, columns, fields
from console.render.columns import Column, Rows
from console.render.empty import nothing_lines
from console.render.kraft_broker_columns import (
    controllers_up,
    host_lines,
    host_name,
    host_of,
    hosts,
    kraft_columns,
)
from console.screens.table import TableScreen
from console.widgets.heat_grid import HeatView
from console.widgets.pane import Pane
from console.widgets.virtual_table import VirtualTable
from emulator.events import CHANGE
from sessions.model.states import BrokerState

HEAT_LINES_MAX = 13
"""Lines that the grid takes at most, with its titles."""


class BrokerRows(Rows[BrokerState]):
    """The brokers as rows of a table; keys are their ids as text."""

    filter_hint: ClassVar[str] = (
        "words, re:pattern, !not, or leaders>10; fields: id state rack leaders replicas out epoch"
    )
    is_aging: ClassVar[bool] = True

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self._columns = columns(stage)
        self._kraft_columns = kraft_columns(stage)
        self.fields = fields(stage)

    @property
    def columns(self) -> Sequence[Column[BrokerState]]:
        """Those of the mode that the cluster is in."""
        is_kraft = self.stage.view.state.quorum is not None
        return self._kraft_columns if is_kraft else self._columns

    def keys(self) -> Sequence[str]:
        """By id, in KRaft with the controllers."""
        return [str(host) for host in hosts(self.stage.view.state)]

    def generation(self) -> Hashable:
        """Return the moment: the few brokers are sorted again on every event."""
        return id(self.stage.view), self.stage.source.seq

    def row(self, key: str) -> BrokerState:
        """The broker or controller at the time cursor."""
        broker = host_of(self.stage.view.state, int(key))
        assert broker is not None
        return broker

    def version(self, key: str) -> Hashable:
        """Return the moment: its cells depend on partitions and ages as well."""
        return self.stage.source.seq, self.stage.source.time_us

    def text(self, key: str) -> str:
        broker = self.row(key)
        return f"{key}\n{broker.state}\n{broker.rack or ''}".lower()

    def is_fault(self, key: str) -> bool:
        """Whether it does not run, or holds replicas that are out of sync."""
        return self.row(key).state != "running" or self.stage.index.out_of_sync[int(key)] > 0


class BrokersScreen(TableScreen):
    """Table, the selected broker, and its events."""

    context: ClassVar[str] = "brokers"
    shares_low: ClassVar[bool] = True
    shows: ClassVar[str] = "broker"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings_for("brokers")]

    def __init__(self, stage: Stage) -> None:
        super().__init__(VirtualTable(stage, BrokerRows(stage), id="table"))
        self.log_view.least = CHANGE
        self.heat = HeatView(stage, id="heat")

    def compose_extra(self) -> ComposeResult:
        yield self.pane(self.heat, "brokers by partitions", "extra")

    def show_panes(self, changed: Collection[str]) -> None:
        """Update the table first: the selection depends on it."""
        self.table.follow(changed)
        table_pane, inspector_pane, heat_pane, log_pane = self.panes
        if heat_pane.display:
            self._show_heat(heat_pane)
        counts = self.stage.view.counts()
        parts = [
            f"{counts.brokers_up}/{counts.brokers} up",
            controllers_up(self.stage.view.state),
            "faults only" if self.table.faults_only else "",
            f"filter {self.table.filter.text}" if self.table.filter else "",
            *authority_parts(self.stage),
            self.table.columns_shown(),
        ]
        table_pane.entitle("brokers", parts)
        key = self.table.selected
        name = host_name(self.stage.view.state, key) if key else ""
        inspector_pane.entitle(name or "inspector")
        self._show_inspector(key)
        if log_pane.display:
            self.log_view.show_touching([] if key is None else [broker_object(key)])
            self.log_view.follow()
        self.fit_upper(*self.views_beside(self.table, self.inspector))
        title = f"events of {name}" if name else "events"
        log_pane.entitle(title, [self.log_view.status()])

    def _show_inspector(self, key: str | None) -> None:
        if key is not None:
            host = host_of(self.stage.view.state, int(key))
            assert host is not None
            self.inspector.show(host_lines(self.stage, host, self.inspector.columns))
            return
        if not self.stage.view.state.brokers:
            why, hint = "There are no brokers at this time.", ". steps to the next event"
        elif self.table.filter:
            why, hint = "No broker matches.", "esc clears the filter"
        else:
            why, hint = "No faults: all brokers run and are in sync.", "f shows all"
        nothing = nothing_lines(why, hint, self.inspector.columns)
        self.inspector.show(nothing)
        self.table.empty = nothing

    def _show_heat(self, pane: Pane) -> None:
        """Show the grid, and name what is under its cursor in the title."""
        height = max(1, min(HEAT_LINES_MAX, self.heat.count() + self.heat.fixed_lines))
        if self.heat.styles.height is None or self.heat.styles.height.value != height:
            self.heat.styles.height = height
        self.heat.follow()
        place = self.heat.place
        partitions = self.stage.view.state.partitions
        here = "" if place is None else f"{place[1]} on {place[0]}"
        count = f"{len(self.heat.shown()):,} of {len(self.heat.keys):,}"
        pane.entitle(
            "brokers by partitions", [here, count if partitions else "", self.heat.legend()]
        )

    def selection(self) -> Sequence[str]:
        """The selected broker; in the grid, the partition."""
        pane, key = self.current_pane, self.table.selected
        if pane is not None and pane.view is self.heat and self.heat.place is not None:
            return (self.heat.place[1],)
        return () if key is None else (broker_object(key),)

    def action_drill(self) -> None:
        """Open the broker; in the grid the partition, in the log the event."""
        if self.current_pane is None or self.current_pane.view is not self.heat:
            super().action_drill()
        elif self.heat.place is not None:
            self.open("partition", self.heat.place[1])
