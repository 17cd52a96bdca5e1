"""All bookmarks in order, with their notes: ``enter`` goes there."""

from collections.abc import Collection
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType

from console.actions.bindings import bindings_for
from console.model.links import Link
from console.model.workspace import Stage
from console.render.empty import nothing_lines
from console.render.lines import Span, fit, line
from console.render.rows import Row
from console.screens.base import ConsoleScreen
from console.widgets.links import LinkView
from sessions.format.errors import SessionError
from sessions.model.states import Bookmark
from sessions.text import clean, clock, number, plural

NAME_WIDTH = 18
NUMBER_WIDTH = 11


class BookmarksScreen(ConsoleScreen):
    """The bookmarks of the source."""

    context: ClassVar[str] = "bookmarks"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings_for("bookmarks")]

    def __init__(self, stage: Stage) -> None:
        super().__init__(stage)
        self.marks = LinkView(stage, id="marks")

    def compose_body(self) -> ComposeResult:
        yield self.pane(self.marks, "bookmarks")

    def trail(self) -> str:
        return "bookmarks"

    def show_panes(self, changed: Collection[str]) -> None:
        """Show all bookmarks, and mark the one at the time cursor."""
        marks = self.stage.source.bookmarks()
        self.marks.show([self._row(mark) for mark in marks])
        self.panes[0].entitle("bookmarks", [plural(len(marks), "bookmark")])
        reason = "There are no bookmarks."
        self.marks.empty = nothing_lines(reason, "b sets one at the time cursor", 60)

    def _row(self, mark: Bookmark) -> Row:
        glyphs, here = self.stage.glyphs, mark.seq == self.stage.source.seq
        shown = line(
            Span(f"{glyphs.here if here else ' '} ", "here"),
            Span(f"{clock(mark.time_us)} {f'#{number(mark.seq)}':>{NUMBER_WIDTH}}  ", "muted"),
            Span(fit(clean(mark.name), NAME_WIDTH, more=glyphs.more), "strong"),
            f" {clean(mark.note)}",
        )
        return Row(shown, Link("moment", str(mark.seq)), mark, mark.seq)

    def action_drill(self) -> None:
        """Go to the bookmark, and return to the previous screen."""
        if (row := self.marks.selected) is not None:
            self.dismiss()
            self.follow_link(row.link)

    def action_remove(self) -> None:
        if (row := self.marks.selected) is not None:
            try:
                self.stage.source.remove_bookmark(row.data.seq)
            except SessionError as error:
                self.notify(str(error), severity="warning")
