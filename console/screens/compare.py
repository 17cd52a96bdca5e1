"""Two runs side by side, such as one script on two releases, with their differences marked."""

from collections.abc import Collection, Hashable, Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal
from textual.message import Message

from console.actions.bindings import bindings_for
from console.model.workspace import Stage
from console.render.comparison import pair_line, state_lines, titles_line
from console.render.lines import Line
from console.screens.base import ConsoleScreen
from console.widgets.text import TextView
from console.widgets.virtual_view import VirtualView
from sessions.sources.twin import TwinSource


class PairView(VirtualView):
    """What both runs did, pair by pair; the cursor is the position of both."""

    fixed_lines: ClassVar[int] = 1

    class Missing(Message):
        """There is no further difference in this direction."""

        def __init__(self, where: str) -> None:
            self.where = where
            super().__init__()

    def __init__(self, stage: Stage, twin: TwinSource) -> None:
        super().__init__(stage, id="pairs")
        self.twin = twin

    def count(self) -> int:
        return len(self.twin.pairing.pairs)

    def version(self, index: int) -> Hashable:
        """The pair, and how it is marked."""
        pairing = self.twin.pairing
        first = pairing.first_difference == index
        return pairing.pairs[index], first, index == self.twin.place

    def draw(self, index: int) -> Line:
        """Both events, and a sign between them if they differ."""
        return pair_line(self.stage, self.twin, index, self.columns)

    def draw_fixed(self) -> list[Line]:
        return [titles_line(self.twin, self.columns)]

    def cursor_index(self) -> int | None:
        """The pair at which both runs are."""
        place = self.twin.place
        return place if 0 <= place < self.count() else None

    def set_cursor(self, index: int) -> None:
        self.stage.pacer.paused = True
        self.twin.go_to(index)

    def action_find_next(self) -> None:
        """Move both runs to the next difference."""
        self._differing(1)

    def action_find_previous(self) -> None:
        """Move both runs to the previous difference."""
        self._differing(-1)

    def _differing(self, direction: int) -> None:
        place, pairs = self.twin.place, self.twin.pairing.pairs
        numbers = range(place + 1, len(pairs)) if direction > 0 else range(place - 1, -1, -1)
        row = next((number for number in numbers if not pairs[number].same), None)
        if row is not None:
            self.move_to(row)
        else:
            self.post_message(self.Missing("later" if direction > 0 else "earlier"))

    def cell_text(self) -> str:
        place = self.cursor_index()
        return "" if place is None else str(self.twin.pairing.pairs[place].left or "")


class CompareScreen(ConsoleScreen):
    """The state of both runs side by side, and the pairs of what they did."""

    context: ClassVar[str] = "compare"
    first_pane: ClassVar[int] = 2
    BINDINGS: ClassVar[list[BindingType]] = [*bindings_for("compare")]

    def __init__(self, stage: Stage) -> None:
        super().__init__(stage)
        assert isinstance(stage.source, TwinSource)
        self.twin = stage.source
        self.left = TextView(stage, id="left")
        self.right = TextView(stage, id="right")
        self.pairs = PairView(stage, self.twin)

    def compose_body(self) -> ComposeResult:
        with Horizontal(id="upper"):
            yield self.pane(self.left, "left")
            yield self.pane(self.right, "right")
        yield self.pane(self.pairs, "what both did", "log")

    # ---- painting

    def show_panes(self, changed: Collection[str]) -> None:
        twin = self.twin
        twin.look()
        for pane, view, source, other in (
            (self.panes[0], self.left, twin.front, twin.behind),
            (self.panes[1], self.right, twin.behind, twin.front),
        ):
            pane.entitle(source.name, [f"#{source.seq:,}"])
            view.show(state_lines(source.view, other.view, self.stage.glyphs, view.columns))
        self.pairs.resize()
        self.pairs.refresh_fixed()
        self.pairs.refresh_lines_of(self.pairs.in_sight())
        place = self.pairs.cursor_index()
        if place is not None:
            self.pairs.show_line(place)
        self.panes[2].entitle("what both did", self._parts())

    def _parts(self) -> Sequence[str]:
        pairing, place = self.twin.pairing, self.twin.place
        differences = sum(not pair.same for pair in pairing.pairs)
        first = pairing.first_difference
        if first is None:
            return [f"{place + 1}/{len(pairing.pairs)}", "no difference"]
        where = "ahead: n" if place < first else "here" if place == first else "behind: N"
        return [f"{place + 1}/{len(pairing.pairs)}", f"{differences} differ", f"first {where}"]

    # ---- keys

    def selection(self) -> Sequence[str]:
        """What the front run's event is about."""
        place = self.pairs.cursor_index()
        left = None if place is None else self.twin.pairing.pairs[place].left
        event = None if left is None else self.stage.reader.get(left)
        tp = getattr(event, "tp", "")
        return (tp,) if tp else ()

    def on_pair_view_missing(self, message: PairView.Missing) -> None:
        """Report that there is no further difference."""
        self.notify(f"no {message.where} difference")

    def action_drill(self) -> None:
        place = self.pairs.cursor_index()
        left = None if place is None else self.twin.pairing.pairs[place].left
        if left is None:
            self.notify("the first run has no such event")
        else:
            self.open("event", left)

    def _go(self, place: int) -> None:
        self.pairs.move_to(place)

    def action_time_next_touch(self) -> None:
        """Move both runs to the next pair."""
        self._go(self.twin.place + 1)

    def action_time_previous_touch(self) -> None:
        """Move both runs to the previous pair."""
        self._go(self.twin.place - 1)
