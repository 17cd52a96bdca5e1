"""Screen 2, Partitions: which partitions, how bad, and why."""

from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from typing import Any, ClassVar, Final

from msgspec.structs import replace
from textual.binding import BindingType

from console.actions.bindings import bindings_for
from console.model.filters import Field
from console.model.partition_fields import FIELDS, partition_fields
from console.model.severity import HEALTHY
from console.model.workspace import Stage
from console.render.columns import Column, Rows
from console.render.empty import nothing_lines
from console.render.inspector import partition_lines
from console.render.overview import healthy_sentence
from console.render.partition_columns import columns, kraft_columns
from console.render.state_words import STATE_WORDS
from console.screens.table import TableScreen
from console.widgets.virtual_table import BEHIND, VirtualTable
from emulator.events import CHANGE
from sessions.model.states import PartitionState
from sessions.text import number, plural

STATE_COLUMN = "state"
WORDS_LOWER = [word.word.lower() for word in STATE_WORDS]

MISSED_MAX: Final = 4_096
"""Partitions that changed while the table was not shown; to sort all is quicker than to move more.
"""
NAME_WIDTH_MAX: Final = 24
"""For how long a name other columns give way; a longer one is shortened in its middle."""


class PartitionRows(Rows[PartitionState]):
    """The partitions as rows of a table."""

    filter_hint: ClassVar[str] = (
        f"words, re:pattern, or isr<min and not (lag>10 or leader=1,2); fields: "
        f"{' '.join(FIELDS)} elr state writes"
    )

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self._columns = columns(stage.glyphs, stage.index.severity, stage.view_writes)
        self._kraft_columns = kraft_columns(self._columns, stage.elr)
        self.fields: Mapping[str, Field[PartitionState]] = {
            **partition_fields(stage.view_statuses, stage.view_writes),
            "elr": Field(stage.elr, "list"),
        }
        self._placed: list[Column[PartitionState]] = []
        self._placed_at: Hashable = None
        self._lowered: list[str] = []
        self._lowered_at = -1

    @property
    def columns(self) -> Sequence[Column[PartitionState]]:
        """Those of the mode that the cluster is in; names have the room that they need.

        Others give way for it: in the middle of a name is often what distinguishes it.
        """
        is_kraft = self.stage.is_kraft
        place = (is_kraft, self.generation())
        if place != self._placed_at:
            self._placed_at = place
            longest = min(NAME_WIDTH_MAX, max(map(len, self.keys()), default=0))
            self._placed = [
                replace(column, width=max(column.width, longest)) if column.id == "name" else column
                for column in (self._kraft_columns if is_kraft else self._columns)
            ]
        return self._placed

    def keys(self) -> Sequence[str]:
        return self.stage.index.keys

    def generation(self) -> Hashable:
        """Return a version that changes when partitions are created or deleted."""
        return self.stage.index.generation

    def row(self, key: str) -> PartitionState:
        return self.stage.view.state.partitions[key]

    def rows(self) -> Sequence[PartitionState]:
        return list(map(self.stage.view.state.partitions.__getitem__, self.stage.index.keys))

    def version(self, key: str) -> Hashable:
        """Return its last event, and its severity, which may change with time alone."""
        return self.row(key).changed, self.stage.index.severity[key]

    def text(self, key: str) -> str:
        """Name and state word, on lines of their own."""
        return f"{key.lower()}\n{WORDS_LOWER[self.stage.index.severity[key]]}"

    def texts(self) -> Sequence[str]:
        index = self.stage.index
        if self._lowered_at != index.generation:
            self._lowered_at = index.generation
            self._lowered = [f"{key.lower()}\n" for key in index.keys]
        words, severities = WORDS_LOWER, map(index.severity.__getitem__, index.keys)
        return [name + words[rank] for name, rank in zip(self._lowered, severities, strict=True)]

    def is_fault(self, key: str) -> bool:
        """Whether anything is wrong with it."""
        return self.stage.index.severity[key] < HEALTHY

    def value_of(self, column: Column[PartitionState]) -> Callable[[str], Any]:
        """Return the sort key; the index has severity and name, the partition the rest."""
        if column.id == STATE_COLUMN:
            return self.stage.index.severity.__getitem__
        return super().value_of(column)

    def values(self, column: Column[PartitionState]) -> list[Any]:
        if column.id == STATE_COLUMN:
            return list(map(self.stage.index.severity.__getitem__, self.stage.index.keys))
        if column.value is None:
            return [0] * len(self.stage.index.keys)
        return list(map(column.value, self.rows()))


class PartitionTable(VirtualTable[PartitionState]):
    """The partitions."""

    def missed_rows(self, turn: int) -> Collection[str] | None:
        """Return the partitions that have changed; of very many, sorting all is cheaper."""
        if turn == BEHIND:
            return None
        changed = self.stage.changed_since(turn)
        return changed if len(changed) <= MISSED_MAX else None


class PartitionsScreen(TableScreen):
    """Table, inspector, and the selected partition's events with their causes."""

    context: ClassVar[str] = "partitions"
    shares_low: ClassVar[bool] = True
    shows: ClassVar[str] = "partition"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings_for("partitions")]

    def __init__(self, stage: Stage) -> None:
        super().__init__(PartitionTable(stage, PartitionRows(stage), id="table"))
        self.log_view.least = CHANGE

    # ---- painting

    def show_panes(self, changed: Collection[str]) -> None:
        """Update the table first: the selection depends on it."""
        self.table.follow(changed)
        table_pane, inspector_pane, log_pane = self.panes
        table_pane.entitle("partitions", self._table_parts())
        tp = self.table.selected
        inspector_pane.entitle(tp or "inspector")
        self._show_inspector(tp)
        if log_pane.display:
            self.log_view.show_touching([] if tp is None else [tp])
            self.log_view.follow()
        self.fit_upper(*self.views_beside(self.table, self.inspector))
        log_pane.entitle(f"events of {tp}" if tp else "events", [self.log_view.status()])

    def _show_inspector(self, tp: str | None) -> None:
        partition = None if tp is None else self.stage.view.state.partitions.get(tp)
        width = self.inspector.columns
        if partition is not None:
            self.inspector.show(partition_lines(self.stage, partition, width))
            return
        why, next_key = self._why_empty(), self._next_key()
        self.inspector.show(nothing_lines(why, next_key, width))
        self.table.empty = nothing_lines(why, next_key, self.table.columns)

    def _table_parts(self) -> list[str]:
        table = self.table
        arrow = self.stage.glyphs.descending if table.order.reverse else self.stage.glyphs.ascending
        return [
            f"{number(table.count())}/{number(len(self.stage.index.keys))}",
            f"filter {table.filter.text}" if table.filter else "",
            plural(self.stage.index.faults, "fault") if self.stage.index.faults else "no faults",
            "faults only" if table.faults_only else "",
            f"sort {table.sorted_by.title} {arrow}",
            table.columns_shown(),
        ]

    def _why_empty(self) -> str:
        if not self.stage.index.keys:
            return "There are no partitions at this time."
        if self.table.filter:
            return f"No partition matches {self.table.filter.text!r}."
        return healthy_sentence(self.stage)

    def _next_key(self) -> str:
        if not self.stage.index.keys:
            return ": topic create T --partitions 3 --replication-factor 3"
        return "esc clears the filter" if self.table.filter else "f shows all"

    # ---- keys

    def action_why(self) -> None:
        """Open the event behind the cell in the sorted column; in the log, the selected one."""
        pane, tp, stage = self.current_pane, self.table.selected, self.stage
        if pane is not None and pane.view is self.log_view:
            self.open_event_of(self.log_view)
        elif tp is not None:
            partition = stage.view.state.partitions[tp]
            column = self.table.sorted_by.id
            self.open("event", stage.explainer.of_cell(stage.view.state, partition, column))

    def narrow(self, text: str) -> None:
        """Show only what matches a filter, in its table."""
        self.enter_pane(self.panes[0])
        self.table.set_filter(text)
        self.table.pattern = text
