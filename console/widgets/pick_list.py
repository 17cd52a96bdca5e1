"""A list to pick from: lines with keys, filtered by words while they are typed."""

from collections.abc import Hashable, Sequence
from typing import ClassVar

from console.model.workspace import Stage
from console.render.lines import Line, Span, line
from console.render.rows import Pick
from console.widgets.virtual_view import VirtualView


class PickView(VirtualView):
    """Lines with a cursor that stays on its key while lines are added and removed."""

    filters_live: ClassVar[bool] = True

    def __init__(self, stage: Stage, *, id: str, hint: str = "words of it") -> None:
        """Begin without lines; ``hint`` says what a filter finds."""
        super().__init__(stage, id=id)
        self.filter_hint = hint
        self.all: Sequence[Pick] = ()
        self.picks: list[Pick] = []
        self.key = ""
        self.words = ""

    # ---- what there is

    def offer(self, picks: Sequence[Pick]) -> None:
        """Show these; the cursor stays with its key, or goes to the first line."""
        if picks != self.all:
            before = len(self.picks)
            self.all = picks
            self._narrow()
            self.resize()
            if len(self.picks) != before:
                self.forget()

    def _narrow(self) -> None:
        words = self.words.lower().split()
        kept = [pick for pick in self.all if all(word in pick.text.lower() for word in words)]
        changed = [n for n, (a, b) in enumerate(zip(self.picks, kept, strict=False)) if a != b]
        self.picks = kept
        if kept and not any(pick.key == self.key for pick in kept):
            self.key = kept[0].key
        self.refresh_lines_of(changed)

    @property
    def selected(self) -> str:
        """The key under the cursor; empty if there is nothing."""
        return self.key if self.picks else ""

    # ---- lines

    def count(self) -> int:
        return len(self.picks)

    def version(self, index: int) -> Hashable:
        """The line, and whether it has the cursor's mark."""
        return self.picks[index], index == self.cursor_index()

    def draw(self, index: int) -> Line:
        """Draw the line with the cursor's mark, for users who cannot rely on colour alone."""
        mark = self.stage.glyphs.cursor if index == self.cursor_index() else " "
        return line(Span(f"{mark} ", "key"), *self.picks[index].shown)

    def cursor_index(self) -> int | None:
        indexes = (n for n, pick in enumerate(self.picks) if pick.key == self.key)
        return next(indexes, None)

    def set_cursor(self, index: int) -> None:
        self.key = self.picks[index].key

    # ---- finding and copying

    def filter_text(self) -> str:
        """The words that lines are filtered by."""
        return self.words

    def set_filter(self, text: str) -> str | None:
        """Show only lines that have all words."""
        self.words = text
        self._narrow()
        self.resize()
        self.forget()
        self.post_message(self.Selected(self))
        return None

    def cell_text(self) -> str:
        return self.selected

    def row_text(self) -> str:
        return next((pick.text for pick in self.picks if pick.key == self.key), "")
