"""Groups of consumers: how far each is behind, its members, and the records in flight."""

from collections.abc import Collection, Sequence
from typing import ClassVar

from textual.binding import BindingType

from console.actions.bindings import bindings_for
from console.model.group_why import GroupWhy
from console.model.workspace import Stage
from console.render.empty import nothing_lines
from console.render.group_columns import SEPARATOR, GroupRows
from console.render.group_lines import group_lines
from console.screens.table import TableScreen
from console.widgets.event_log import EventView
from console.widgets.virtual_table import VirtualTable
from emulator.events import Event, MessageSent
from sessions.text import number, plural


class GroupLog(EventView):
    """A group's events but for its members' heartbeats, which would be most of them."""

    def _is_shown(self, event: Event) -> bool:
        is_heartbeat = isinstance(event, MessageSent) and "Heartbeat" in event.name
        return not is_heartbeat and super()._is_shown(event)


class GroupsScreen(TableScreen):
    """Table, the selected group, and its events."""

    context: ClassVar[str] = "groups"
    shares_low: ClassVar[bool] = True
    is_linked: ClassVar[bool] = True
    shows: ClassVar[str] = "partition"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings_for("groups")]

    def __init__(self, stage: Stage) -> None:
        self.rows = GroupRows(stage)
        super().__init__(VirtualTable(stage, self.rows, id="table"), GroupLog(stage, id="log"))
        self.why = GroupWhy(stage.reader)

    def trail(self) -> str:
        return "groups"

    def show_panes(self, changed: Collection[str]) -> None:
        """Update the table first: the selection depends on it."""
        self.table.follow(changed)
        table, side, log = self.panes
        groups = self.stage.view.state.groups
        behind = sum(row.lag or 0 for row in self.rows.rows())
        table.entitle(
            "groups",
            [
                plural(len(groups), "group"),
                f"{number(behind)} behind" if behind else "all read",
                "behind only" if self.table.faults_only else "",
                f"filter {self.table.filter.text}" if self.table.filter else "",
                self.table.columns_shown(),
            ]
            if groups
            else [],
        )
        group = self._group()
        if group is None:
            self.table.empty = nothing_lines(*self._why_empty(), self.table.columns)
        side.entitle(f"group {group}" if group else "group")
        self._show_group(group)
        self.fit_upper(*self.views_beside(self.table, self.inspector))
        if log.display:
            self.log_view.show_touching([] if group is None else [f"group.{group}"])
            self.log_view.follow()
        log.entitle("events" if group is None else f"events of {group}", [self.log_view.status()])

    def _show_group(self, name: str | None) -> None:
        key, width = self.table.selected, self.inspector.columns
        if name is None or key is None:
            self.inspector.show(())
            return
        tp, group = key.partition(SEPARATOR)[0], self.stage.view.state.groups[name]
        self.inspector.show(group_lines(self.stage, self.why, group, tp, width))

    def _group(self) -> str | None:
        key = self.table.selected
        return None if key is None else key.partition(SEPARATOR)[2]

    def _why_empty(self) -> tuple[str, str]:
        if not self.rows.keys():
            source = self.stage.source
            hint = "L goes to the end" if source.seq < source.last_seq else "esc goes back"
            return "There is no consumer group at this time.", hint
        if self.table.filter:
            return f"No group matches {self.table.filter.text!r}.", "esc clears the filter"
        return "No group is behind.", "f shows all"

    def selection(self) -> Sequence[str]:
        """The selected partition, if the group has an offset there."""
        key = self.table.selected
        tp = "" if key is None else key.partition(SEPARATOR)[0]
        return (tp,) if tp else ()

    def opened_by_row(self) -> object:
        return next(iter(self.selection()), None)

    def action_why(self) -> None:
        """Open the last event of the group, with what led to it."""
        group = self._group()
        if group is not None:
            self.open_last_touch(f"group.{group}")
