"""Screen 3, Brokers: who is to blame; and one broker by itself."""

from collections.abc import Callable, Collection, Hashable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal

from console.bindings import bindings_for
from console.broker_columns import broker_lines, columns, fields
from console.columns import Column
from console.describe import CHANGE
from console.event_view import EventView
from console.formats import number
from console.inspector import nothing_lines
from console.pane import Pane
from console.screens.base import ConsoleScreen
from console.text_view import TextView
from console.virtual_table import VirtualTable

if TYPE_CHECKING:
    from console.stage import Stage
    from sessions.states import BrokerState


def broker_object(key: str) -> str:
    """A broker's name as an object that events touch."""
    return f"broker.{key}"


class BrokerRows:
    """The brokers as rows of a table; keys are their ids as text."""

    def __init__(self, stage: "Stage") -> None:
        self.stage = stage
        self.columns: Sequence[Column[BrokerState]] = columns(stage)
        self.fields = fields(stage)

    def keys(self) -> Sequence[str]:
        """By id."""
        return [str(broker) for broker in sorted(self.stage.view.state.brokers)]

    def generation(self) -> Hashable:
        """Brokers are few: their order is worked out anew with every event."""
        return id(self.stage.view), self.stage.source.seq

    def row(self, key: str) -> "BrokerState":
        """The broker at the time cursor."""
        return self.stage.view.state.brokers[int(key)]

    def rows(self) -> "Sequence[BrokerState]":
        """All brokers."""
        return [self.row(key) for key in self.keys()]

    def version(self, key: str) -> Hashable:
        """Its cells tell of partitions and ages as well."""
        return self.stage.source.seq, self.stage.source.time_us

    def text(self, key: str) -> str:
        """Id, state and rack."""
        broker = self.row(key)
        return f"{key}\n{broker.state}\n{broker.rack or ''}".lower()

    def texts(self) -> Sequence[str]:
        """The same of all brokers."""
        return [self.text(key) for key in self.keys()]

    def is_fault(self, key: str) -> bool:
        """Whether it does not run, or holds replicas that are out of sync."""
        return self.row(key).state != "running" or self.stage.index.out_of_sync[int(key)] > 0

    def value_of(self, column: "Column[BrokerState]") -> Callable[[str], Any]:
        """As the column says."""
        value = column.value
        return lambda key: 0 if value is None else value(self.row(key))

    def values(self, column: "Column[BrokerState]") -> list[Any]:
        """The same of all brokers."""
        return [self.value_of(column)(key) for key in self.keys()]


class BrokerTable(VirtualTable["BrokerState"]):
    """The brokers."""

    filter_hint: ClassVar[str] = (
        "words, re:pattern, !not, or leaders>10; fields: id state rack leaders replicas out epoch"
    )

    def follow(self, changed: Collection[str]) -> None:
        """Ages move with time, even without an event."""
        super().follow(changed)
        self.refresh_lines_of(self.in_sight())


class BrokersScreen(ConsoleScreen):
    """Table, the selected broker, and its events."""

    context: ClassVar[str] = "brokers"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings_for("brokers")]

    def __init__(self, stage: "Stage") -> None:
        super().__init__(stage)
        self.table = BrokerTable(stage, BrokerRows(stage), id="table")
        self.inspector = TextView(stage, id="inspector")
        self.log_view = EventView(stage, id="log")
        self.log_view.least = CHANGE

    def compose_body(self) -> ComposeResult:
        """The table with its inspector, and the log below."""
        with Horizontal(id="upper"):
            yield self.pane(self.table, "brokers")
            yield self.pane(self.inspector, "inspector", "side")
        yield self.pane(self.log_view, "events", "log")

    def show_panes(self, changed: Collection[str]) -> None:
        """Table first: what is selected depends on it."""
        self.table.follow(changed)
        table_pane, inspector_pane, log_pane = self.panes
        counts = self.stage.view.counts()
        parts = [
            f"{counts.brokers_up}/{counts.brokers} up",
            "faults only" if self.table.faults_only else "",
            f"filter {self.table.filter.text}" if self.table.filter else "",
        ]
        table_pane.entitle("brokers", parts)
        key = self.table.selected
        inspector_pane.entitle(f"broker {key}" if key else "inspector")
        if key is None:
            why = (
                "No broker matches."
                if self.table.filter
                else "No faults: all brokers run and are in sync."
            )
            hint = "esc clears the filter" if self.table.filter else "f shows all"
            self.inspector.show(nothing_lines(why, hint, self.inspector.columns))
            return
        broker = self.stage.view.state.brokers[int(key)]
        self.inspector.show(broker_lines(self.stage, broker, self.inspector.columns))
        if log_pane.display:
            self.log_view.show_touching([broker_object(key)])
            self.log_view.follow()
        log_pane.entitle(f"events of broker {key}", [self.log_view.status()])

    def selection(self) -> Sequence[str]:
        """The selected broker."""
        key = self.table.selected
        return () if key is None else (broker_object(key),)

    def on_virtual_view_selected(self) -> None:
        """Inspector and log follow the cursor at once."""
        self.desk.paint()

    def on_virtual_view_chosen(self) -> None:
        """A double click opens."""
        self.do_drill()

    def do_drill(self) -> None:
        """Open the broker; in the log, the event."""
        pane = self.current_pane
        if pane is not None and pane.view is self.log_view and self.log_view.selected is not None:
            self.desk.open_event(self.log_view.selected.seq)
        elif self.table.selected is not None:
            self.desk.open_broker(int(self.table.selected))

    def do_sort_menu(self) -> None:
        """Choose a column."""
        self.desk.choose_sort(self.table)


class BrokerScreen(ConsoleScreen):
    """The drill-down into one broker."""

    context: ClassVar[str] = "broker"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings_for("broker")]

    def __init__(self, stage: "Stage", broker: int) -> None:
        super().__init__(stage)
        self.broker = broker
        self.inspector = TextView(stage, id="inspector")
        self.log_view = EventView(stage, id="log")
        self.log_view.least = CHANGE
        self.log_view.objects = (broker_object(str(broker)),)

    def compose_body(self) -> ComposeResult:
        """Its events, and all that is known of it beside or instead."""
        with Horizontal(id="upper"):
            yield self.pane(self.log_view, "events")
            yield self.pane(self.inspector, "inspector", "side")

    def begin(self) -> Pane:
        """Begin to look for its events."""
        self.log_view.look_again()
        return self.panes[0]

    def trail(self) -> str:
        """Which broker."""
        return f"broker {self.broker}"

    def show_panes(self, changed: Collection[str]) -> None:
        """Log and inspector at the time cursor."""
        log, inspector = self.panes
        self.log_view.follow()
        log.entitle(f"events of broker {self.broker}", [self.log_view.status()])
        inspector.entitle(
            f"broker {self.broker}", [f"{number(self.stage.index.leaders[self.broker])} leaders"]
        )
        broker = self.stage.view.state.brokers.get(self.broker)
        rows = [] if broker is None else broker_lines(self.stage, broker, self.inspector.columns)
        self.inspector.show(rows)

    def selection(self) -> Sequence[str]:
        """The broker itself."""
        return (broker_object(str(self.broker)),)

    def on_virtual_view_chosen(self) -> None:
        """A double click opens."""
        self.do_drill()

    def do_drill(self) -> None:
        """Open the selected event."""
        if (event := self.log_view.selected) is not None:
            self.desk.open_event(event.seq)
