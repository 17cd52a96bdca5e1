"""One partition: a tape for every replica, all that is known of it, and its events."""

from collections.abc import Collection, Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal

from console.actions.bindings import bindings_for
from console.model.workspace import Stage
from console.render.empty import nothing_lines
from console.render.inspector import partition_lines
from console.screens.base import ConsoleScreen
from console.widgets.event_log import EventView
from console.widgets.tapes import TapeView
from console.widgets.text import TextView
from emulator.events import CHANGE


class PartitionScreen(ConsoleScreen):
    """The drill-down into one partition."""

    context: ClassVar[str] = "partition"
    is_linked: ClassVar[bool] = True
    first_pane: ClassVar[int] = 1
    """The log, since most users come to step through it."""
    BINDINGS: ClassVar[list[BindingType]] = [*bindings_for("partition")]

    @classmethod
    def of_link(cls, stage: Stage, name: str) -> ConsoleScreen | str:
        return cls(stage, name)

    def __init__(self, stage: Stage, tp: str) -> None:
        super().__init__(stage)
        self.tp = tp
        self.tapes = TapeView(stage, tp, id="tapes")
        self.log_view = EventView(stage, id="log")
        self.log_view.least = CHANGE
        self.log_view.objects = (tp,)
        self.inspector = TextView(stage, id="inspector")

    def compose_body(self) -> ComposeResult:
        """The tapes above, the log and the inspector below."""
        yield self.pane(self.tapes, "tapes")
        with Horizontal(id="lower"):
            yield self.pane(self.log_view, "events", "log")
            yield self.pane(self.inspector, "inspector", "side")

    def begin(self) -> None:
        self.log_view.look_again()

    def trail(self) -> str:
        return self.tp

    def show_panes(self, changed: Collection[str]) -> None:
        """Tapes, log and inspector at the time cursor."""
        tapes, log, inspector = self.panes
        partition = self.stage.view.state.partitions.get(self.tp)
        tapes.entitle("tapes", [self.tp])
        self.log_view.follow()
        log.entitle(f"events of {self.tp}", [self.log_view.status()])
        inspector.entitle(self.tp)
        if partition is None:
            gone = nothing_lines(
                f"{self.tp} does not exist at this time.", "> goes to its next event", 60
            )
            self.tapes.styles.height = len(gone)
            self.tapes.show(gone)
            self.inspector.show([])
            return
        self.tapes.show_partition(partition)
        self.inspector.show(partition_lines(self.stage, partition, self.inspector.columns))

    def selection(self) -> Sequence[str]:
        return (self.tp,)

    def action_drill(self) -> None:
        """Open the record under the tapes' cursor; elsewhere the selected event."""
        pane = self.current_pane
        if pane is None or pane.view is not self.tapes:
            self.open_event_of(self.log_view)
        elif (record := self.tapes.record_id()) is not None:
            self.open("record", record)

    def action_why(self) -> None:
        """Open the write of the record under the tapes' cursor, or the cause of the state."""
        stage, pane = self.stage, self.current_pane
        if (partition := stage.view.state.partitions.get(self.tp)) is None:
            return
        if pane is not None and pane.view is self.tapes and (place := self.tapes.place()):
            written = stage.writes.find(self.tp, *place, stage.source.seq)
            if written is not None:
                self.open("event", written.seq)
                return
        self.open("event", stage.explainer.seq(stage.view.state, partition))
