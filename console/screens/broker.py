"""One broker: its replicas, its session, links and configuration, and its events."""

from collections.abc import Collection, Sequence
from typing import ClassVar

from textual.binding import BindingType

from console.actions.bindings import bindings_for
from console.model.workspace import Stage
from console.render.broker_columns import broker_object
from console.render.broker_files import file_lines
from console.render.empty import nothing_lines
from console.render.kraft_broker_columns import host_lines, host_name, host_of
from console.render.replica_columns import ReplicaRows
from console.screens.base import ConsoleScreen
from console.screens.table import TableScreen
from console.widgets.virtual_table import VirtualTable
from emulator.events import CHANGE
from sessions.text import number, plural

NOT_THERE = ("It does not exist at this time.", "> goes to its next event")


class BrokerScreen(TableScreen):
    """The drill-down into one broker."""

    context: ClassVar[str] = "broker"
    is_linked: ClassVar[bool] = True
    shows: ClassVar[str] = "partition"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings_for("broker")]

    @classmethod
    def of_link(cls, stage: Stage, name: str) -> ConsoleScreen | str:
        return cls(stage, int(name)) if int(name) >= 0 else ""  # negative: another host

    def __init__(self, stage: Stage, broker: int) -> None:
        super().__init__(VirtualTable(stage, ReplicaRows(stage, broker), id="table"))
        self.broker = broker
        self.object = broker_object(str(broker))
        self.log_view.least = CHANGE
        self.log_view.objects = (self.object,)

    def begin(self) -> None:
        self.log_view.look_again()

    def trail(self) -> str:
        return host_name(self.stage.view.state, self.broker)

    def show_panes(self, changed: Collection[str]) -> None:
        """Update all panes to the time cursor."""
        table, inspector, log = self.panes
        self.table.follow(changed)
        stage, index = self.stage, self.stage.index
        parts = [
            plural(self.table.count(), "replica"),
            f"leads {number(index.leaders[self.broker])}",
            "faults only" if self.table.faults_only else "",
            f"filter {self.table.filter.text}" if self.table.filter else "",
        ]
        name = self.trail()
        table.entitle(f"replicas on {name}", parts)
        self.table.empty = nothing_lines(*self._why_empty(), self.table.columns)
        inspector.entitle(name)
        host = host_of(stage.view.state, self.broker)
        width = self.inspector.columns
        missing = nothing_lines(
            "It does not exist at this time.", "> goes to its next event", width
        )
        state = stage.view.state
        known = missing if host is None else host_lines(stage, host, width)
        self.inspector.show([*known, *file_lines(state, self.broker)])
        if log.display:
            self.log_view.follow()
        log.entitle(f"events of {name}", [self.log_view.status()])

    def _why_empty(self) -> tuple[str, str]:
        quorum = self.stage.view.state.quorum
        if quorum is not None and self.broker in quorum.controllers:
            return (
                "A controller holds no partitions.",
                "4 shows how much of the metadata log it has read",
            )
        if self.table.filter:
            return f"No replica matches {self.table.filter.text!r}.", "esc clears the filter"
        if self.table.faults_only:
            return "No faults: all its partitions are healthy.", "f shows all"
        return "It holds no replica at this time.", "> goes to its next event"

    def selection(self) -> Sequence[str]:
        return (self.object,)
