"""Screens over other screens: pages of text (help, output), and menus."""

from collections.abc import Collection, Hashable, Sequence
from typing import Any, ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.screen import ModalScreen

from console.actions.bindings import bindings_for, modal_bindings
from console.actions.lookup import available, headings
from console.model.workspace import Stage
from console.render.bars import key_name
from console.render.high_watermark_help import high_watermark_lines
from console.render.lines import BLANK, Line, Span, cells, data, fit, line
from console.render.partition_columns import WRITES_ROLES
from console.render.state_words import STATE_WORDS, glyph_of
from console.screens.base import ConsoleScreen
from console.widgets.text import TextView
from console.widgets.virtual_table import VirtualTable
from console.widgets.virtual_view import VirtualView

KEYS_WIDTH = 18
WRITES_MEAN = {
    "nobody": "takes them: the partition is offline, or its leader is dead",
    "refused": "by the leader: the ISR is below min.insync.replicas",
    "waiting": "for a broker in the ISR that does not respond or fetch",
    "ok": "acknowledged at once",
}
"""What the words of the column WRITES mean."""
MENU_WIDTH = 34
"""The minimum width of a menu."""
MENU_MARGIN = 8
"""The columns around a menu's widest line: the cursor's mark, the rule, the scrollbar."""


class PageScreen(ConsoleScreen):
    """A page of text."""

    context: ClassVar[str] = "page"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings_for("page")]

    def __init__(self, stage: Stage, title: str, lines: Sequence[Line]) -> None:
        super().__init__(stage)
        self.title_ = title
        self.text = TextView(stage, id="text")
        self.text.lines = list(lines)

    def compose_body(self) -> ComposeResult:
        yield self.pane(self.text, self.title_)

    def trail(self) -> str:
        return self.title_

    def show_panes(self, changed: Collection[str]) -> None:
        self.text.resize()
        self.panes[0].entitle(self.title_, ["esc goes back"])


def text_page(stage: Stage, title: str, text: str) -> PageScreen:
    """Text on a page of its own."""
    return PageScreen(stage, title, [line(data(row)) for row in text.splitlines()])


class MenuView(VirtualView):
    """The choices of a menu."""

    def __init__(self, stage: Stage, choices: Sequence[str], chosen: int) -> None:
        super().__init__(stage, id="menu")
        self.choices = list(choices)
        self.index = chosen

    def count(self) -> int:
        return len(self.choices)

    def version(self, index: int) -> Hashable:
        return self.choices[index]

    def draw(self, index: int) -> Line:
        mark = self.stage.glyphs.cursor if index == self.index else " "
        return line(Span(f"{mark} ", "key"), self.choices[index])

    def cursor_index(self) -> int | None:
        return self.index

    def set_cursor(self, index: int) -> None:
        self.index = index


class MenuScreen(ConsoleScreen, ModalScreen[int], inherit_bindings=False):
    """A menu over the screen below; its result is the chosen line's number, or None.

    It is modal: keys of the application and of the screen below do nothing.
    """

    context: ClassVar[str] = "menu"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings_for("menu"), *modal_bindings()]

    def __init__(self, stage: Stage, title: str, choices: Sequence[str], chosen: int) -> None:
        super().__init__(stage)
        self.title_ = title
        self.menu = MenuView(stage, choices, chosen)

    def compose_body(self) -> ComposeResult:
        """One small pane, as wide as its widest line."""
        widest = max(cells(text) for text in (self.title_, *self.menu.choices))
        self.call_after_refresh(self._widen, max(MENU_WIDTH, widest + MENU_MARGIN))
        yield self.pane(self.menu, self.title_)

    def _widen(self, width: int) -> None:
        self.query_one("#body").styles.width = width

    def trail(self) -> str:
        return self.title_

    def show_panes(self, changed: Collection[str]) -> None:
        self.menu.resize()
        self.panes[0].entitle(self.title_)

    def action_drill(self) -> None:
        self.dismiss(self.menu.index)

    def action_go_back(self) -> None:
        self.dismiss(None)


def choose_sort(screen: ConsoleScreen, table: VirtualTable[Any]) -> None:
    """Let a menu choose the column that a table is sorted by."""
    columns = [placed.column for placed in table.placed]
    titles = [column.title for column in columns]
    place = titles.index(table.sorted_by.title) if table.sorted_by.title in titles else 0

    def sort(index: int | None) -> None:
        if index is not None:
            table.sort_by(columns[index])
            screen.repaint()

    screen.app.push_screen(MenuScreen(screen.stage, "sort by", titles, place), sort)


def help_lines(stage: Stage, context: str) -> list[Line]:
    """A screen's keys under their headings, what the state words mean, and what the HW is."""
    rows: list[Line] = []
    kraft = stage.is_kraft
    for heading, actions in headings(available(context)).items():
        rows.append(line(Span(heading.upper(), "title")))
        for action in actions:
            keys = " ".join(key_name(key) for key in action.keys)
            live = "  (live only)" if action.writes else ""
            rows.append(
                line(
                    Span(f"  {fit(keys, KEYS_WIDTH)}", "key"),
                    action.help_in(kraft=kraft),
                    Span(live, "muted"),
                )
            )
        rows.append(BLANK)
    rows += [*high_watermark_lines(stage.source.view.state.version), BLANK]
    rows.append(
        line(Span("STATES", "title"), Span("  most severe first, the default order", "muted"))
    )
    for word in STATE_WORDS:
        shown = fit(f"{glyph_of(word, stage.glyphs)} {word.word}", 7)
        rows.append(
            line(
                "  ",
                Span(shown, word.role),
                Span(f" {word.status.replace('_', ' '):<18}", "muted"),
                word.meaning,
            )
        )
    rows += [BLANK, line(Span("WRITES", "title"), Span("  what becomes of acks=all", "muted"))]
    for writes, meaning in WRITES_MEAN.items():
        rows.append(line("  ", Span(f"{writes:<8}", WRITES_ROLES[writes]), meaning))
    dead = f"{stage.glyphs.leaderless}2"
    rows.append(
        line("  ", Span(f"{dead:<8}", "error"), "as the leader: broker 2 is dead or frozen")
    )
    return rows
