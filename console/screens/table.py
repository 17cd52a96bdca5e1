"""Screens of a table, with what is selected in it beside it and its events below."""

from collections.abc import Sequence
from typing import Any, ClassVar

from textual.app import ComposeResult
from textual.containers import Horizontal

from console.screens.base import ConsoleScreen
from console.screens.page import choose_sort
from console.widgets.event_log import EventView
from console.widgets.text import TextView
from console.widgets.virtual_table import VirtualTable


class TableScreen(ConsoleScreen):
    """Table, inspector and log."""

    shows: ClassVar[str] = ""
    """The kind of screen that ``enter`` on a row opens."""

    def __init__(self, table: VirtualTable[Any], log: EventView | None = None) -> None:
        """Show ``table``; the ``log`` has the events of what is selected."""
        super().__init__(table.stage)
        self.table = table
        self.inspector = TextView(table.stage, id="inspector")
        self.log_view = EventView(table.stage, id="log") if log is None else log

    def compose_body(self) -> ComposeResult:
        with Horizontal(id="upper"):
            yield self.pane(self.table, self.context)
            yield self.pane(self.inspector, "inspector", "side")
        yield from self.compose_extra()
        yield self.pane(self.log_view, "events", "log")

    def compose_extra(self) -> ComposeResult:
        """What is between the table and the log."""
        yield from ()

    def selection(self) -> Sequence[str]:
        key = self.table.selected
        return () if key is None else (key,)

    def opened_by_row(self) -> object:
        """The name of what ``enter`` on the selected row opens; None: nothing."""
        return self.table.selected

    def action_drill(self) -> None:
        """Open what the selected row is about; in the log, the event."""
        pane = self.current_pane
        if pane is not None and pane.view is self.log_view:
            self.open_event_of(self.log_view)
        elif (name := self.opened_by_row()) is not None:
            self.open(self.shows, name)

    def action_why(self) -> None:
        """Open the last event that touched what is selected, with its causes."""
        for name in self.selection():
            self.open_last_touch(name)

    def action_sort_menu(self) -> None:
        choose_sort(self, self.table)
