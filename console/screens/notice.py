"""A notice over the screen: what happened, what is unchanged, and what helps."""

from collections.abc import Sequence
from typing import ClassVar

from textual.binding import BindingType

from console.actions.bindings import bindings_for
from console.model.workspace import Stage
from console.render.lines import BLANK, Line, Span, data, line, wrap
from console.screens.page import PageScreen

WIDTH = 76
"""Columns of a notice's text, which fit on a small screen."""


class Notice:
    """The text of a notice, the event that it is about (0 for none), and a command line."""

    def __init__(self, title: str, text: Sequence[str], seq: int = 0, command: str = "") -> None:
        self.title = title
        self.text = text
        self.seq = seq
        self.command = command

    def lines(self) -> list[Line]:
        """The paragraphs, the first highlighted, then the command line and the keys."""
        rows: list[Line] = [BLANK]
        for number, paragraph in enumerate(self.text):
            role = "" if number else "error"
            rows += [line(data(f"  {row}", role)) for row in wrap(paragraph, WIDTH)]
            rows.append(BLANK)
        if self.command:
            rows.append(line(Span("  To return to this:", "muted")))
            rows += [line(data(f"    {row}", "strong")) for row in wrap(self.command, WIDTH - 2)]
            rows.append(BLANK)
        keys = [("esc", "closes this")]
        keys += [("y", "copies the command line")] if self.command else []
        keys += [("enter", f"shows event #{self.seq:,} with its causes")] if self.seq else []
        rows += [line("  ", Span(f"{key:<7}", "key"), Span(what, "muted")) for key, what in keys]
        return rows


class NoticeScreen(PageScreen):
    """One notice; ``enter`` opens the event that it is about, ``y`` copies its command line."""

    context: ClassVar[str] = "notice"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings_for("notice")]

    def __init__(self, stage: Stage, notice: Notice) -> None:
        super().__init__(stage, notice.title, notice.lines())
        self.notice = notice

    def action_drill(self) -> None:
        """Close the notice and open the event."""
        self.dismiss()
        if self.notice.seq:
            self.open("event", self.notice.seq)

    def action_copy_cell(self) -> None:
        """Copy the command line, or the notice if there is none."""
        self.copy(self.notice.command or self.text.cell_text())
