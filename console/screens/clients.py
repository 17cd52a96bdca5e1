"""Connected external clients: their identity, requests and responses."""

from collections.abc import Collection
from typing import ClassVar

from textual.binding import BindingType

from console.actions.bindings import bindings_for
from console.model.workspace import Stage
from console.render.client_columns import ClientRows, client_lines
from console.render.empty import nothing_lines
from console.screens.table import TableScreen
from console.widgets.virtual_table import VirtualTable
from sessions.text import number, plural

NOBODY = (
    "No client is connected at this time.",
    "'tidegauge console --serve' lets them connect",
)


class ClientsScreen(TableScreen):
    """Table, the selected connection, and its events."""

    context: ClassVar[str] = "clients"
    is_linked: ClassVar[bool] = True
    shows: ClassVar[str] = "broker"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings_for("clients")]

    def __init__(self, stage: Stage) -> None:
        self.rows = ClientRows(stage)
        super().__init__(VirtualTable(stage, self.rows, id="table"))

    def trail(self) -> str:
        return "clients"

    def show_panes(self, changed: Collection[str]) -> None:
        """Update the table first: the selection depends on it."""
        self.table.follow(changed)
        table, inspector, log = self.panes
        now_us = self.stage.source.time_us
        rates = sum(client.requests_per_second(now_us) for client in self.rows.rows())
        parts = [
            plural(len(self.rows.keys()), "connection"),
            f"{number(rates)} requests/s",
            "errors only" if self.table.faults_only else "",
            f"filter {self.table.filter.text}" if self.table.filter else "",
            self.table.columns_shown(),
        ]
        table.entitle("clients", parts)
        key = self.table.selected
        name = "" if key is None else self.rows.row(key).client or key
        inspector.entitle(name or "inspector")
        width = self.inspector.columns
        if key is None:
            nothing = self._why_empty()
            self.inspector.show(nothing_lines(*nothing, width))
            self.table.empty = nothing_lines(*nothing, self.table.columns)
        else:
            self.inspector.show(client_lines(self.stage, self.rows.row(key), width))
        if log.display:
            self.log_view.show_touching([] if key is None else [key])
            self.log_view.follow()
        log.entitle(f"events of {key}" if key else "events", [self.log_view.status()])

    def _why_empty(self) -> tuple[str, str]:
        if not self.rows.keys():
            servers = getattr(self.stage.source, "bootstrap_servers", "")
            return (NOBODY[0], f"bootstrap.servers={servers}") if servers else NOBODY
        if self.table.filter:
            return f"No client matches {self.table.filter.text!r}.", "esc clears the filter"
        return "No client has received an error.", "f shows all"

    def opened_by_row(self) -> object:
        """The broker that the client is connected to."""
        key = self.table.selected
        return None if key is None else self.rows.row(key).broker
