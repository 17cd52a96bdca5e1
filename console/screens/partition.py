"""One partition: a tape for every replica, all that is known of it, and its events."""

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal

from console.bindings import bindings_for
from console.describe import CHANGE
from console.event_view import EventView
from console.formats import age
from console.inspector import fetch_age, nothing_lines, partition_lines
from console.lines import Line, cut
from console.pane import Pane
from console.screens.base import ConsoleScreen
from console.tapes import Drawing, epoch_cache_line, legend, tape_lines
from console.text_view import TextView

if TYPE_CHECKING:
    from console.stage import Stage
    from sessions.states import PartitionState


PAN_STEP = 8
"""Offsets that left and right move the tapes by."""


class TapeView(TextView):
    """The tapes; left and right show older and newer offsets."""

    def __init__(self, stage: "Stage", *, id: str | None = None) -> None:
        super().__init__(stage, id=id)
        self.pan = 0
        self.shows_values = False

    def show_partition(self, partition: "PartitionState") -> None:
        """Draw the tapes at the time cursor; what the event under it cut off is shown going."""
        stage, width = self.stage, self.columns

        def fetch_age_of(follower: int) -> str:
            return age(fetch_age(stage, partition, follower))

        drawing = Drawing(
            glyphs=stage.glyphs,
            event=stage.reader.get(stage.source.seq),
            pan=self.pan,
            value_of=stage.view.value if self.shows_values else None,
            fetch_age_of=fetch_age_of,
        )
        rows: list[Line] = tape_lines(partition, width, drawing)
        rows += [epoch_cache_line(partition), legend(stage.glyphs, width)]
        self.styles.height = len(rows)
        self.show([cut(row, width, stage.glyphs.more) for row in rows])

    def do_move_left(self) -> None:
        """Older offsets."""
        self.pan += PAN_STEP

    def do_move_right(self) -> None:
        """Newer offsets."""
        self.pan = max(0, self.pan - PAN_STEP)

    def do_wide(self) -> None:
        """Show values, or epochs."""
        self.shows_values = not self.shows_values


class PartitionScreen(ConsoleScreen):
    """The drill-down into one partition."""

    context: ClassVar[str] = "partition"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings_for("partition")]

    def __init__(self, stage: "Stage", tp: str) -> None:
        super().__init__(stage)
        self.tp = tp
        self.tapes = TapeView(stage, id="tapes")
        self.log_view = EventView(stage, id="log")
        self.log_view.least = CHANGE
        self.log_view.objects = (tp,)
        self.inspector = TextView(stage, id="inspector")

    def compose_body(self) -> ComposeResult:
        """The tapes above; the log and the inspector below."""
        yield self.pane(self.tapes, "tapes")
        with Horizontal(id="lower"):
            yield self.pane(self.log_view, "events", "log")
            yield self.pane(self.inspector, "inspector", "side")

    def begin(self) -> Pane:
        """The log has the keys, since stepping through it is what one comes for."""
        self.log_view.look_again()
        return self.panes[1]

    def trail(self) -> str:
        """The partition's name."""
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
        """The partition itself."""
        return (self.tp,)

    def on_virtual_view_chosen(self) -> None:
        """A double click opens."""
        self.do_drill()

    def do_drill(self) -> None:
        """Open the selected event."""
        if (event := self.log_view.selected) is not None:
            self.desk.open_event(event.seq)

    def do_why(self) -> None:
        """Open the event behind the partition's state."""
        state = self.stage.view.state
        if (partition := state.partitions.get(self.tp)) is not None:
            self.desk.open_event(self.stage.explainer.seq(state, partition))
