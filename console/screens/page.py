"""Screens that lie over others: pages of text (help, output), and menus to choose from."""

from collections.abc import Callable, Collection, Hashable, Sequence
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType

from console.actions.bindings import bindings_for
from console.actions.lookup import available, headings
from console.render.bars import key_name
from console.render.high_watermark_help import high_watermark_lines
from console.render.lines import BLANK, Line, Span, fit, line
from console.render.state_words import STATE_WORDS, glyph_of
from console.screens.base import ConsoleScreen
from console.widgets.text import TextView
from console.widgets.virtual_view import VirtualView

if TYPE_CHECKING:
    from console.model.workspace import Stage

KEYS_WIDTH = 18


class PageScreen(ConsoleScreen):
    """Lines to read."""

    context: ClassVar[str] = "page"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings_for("page")]

    def __init__(self, stage: "Stage", title: str, lines: Sequence[Line]) -> None:
        super().__init__(stage)
        self.title_ = title
        self.text = TextView(stage, id="text")
        self.text.lines = list(lines)

    def compose_body(self) -> ComposeResult:
        """One pane."""
        yield self.pane(self.text, self.title_)

    def trail(self) -> str:
        """What is read."""
        return self.title_

    def show_panes(self, changed: Collection[str]) -> None:
        """The text stays as it is."""
        self.text.resize()
        self.panes[0].entitle(self.title_, ["esc goes back"])


class MenuView(VirtualView):
    """Lines to choose from."""

    def __init__(self, stage: "Stage", choices: Sequence[str], chosen: int) -> None:
        super().__init__(stage, id="menu")
        self.choices = list(choices)
        self.index = chosen

    def count(self) -> int:
        """How many choices there are."""
        return len(self.choices)

    def version(self, index: int) -> Hashable:
        """Choices do not change."""
        return self.choices[index]

    def draw(self, index: int) -> Line:
        """One choice."""
        mark = self.stage.glyphs.cursor if index == self.index else " "
        return line(Span(f"{mark} ", "key"), self.choices[index])

    def cursor_index(self) -> int | None:
        """The choice under the cursor."""
        return self.index

    def set_cursor(self, index: int) -> None:
        """Move it."""
        self.index = index


class MenuScreen(ConsoleScreen):
    """A list over the screen below; ``choose`` is called with the number of the chosen line."""

    context: ClassVar[str] = "menu"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings_for("menu")]

    def __init__(
        self,
        stage: "Stage",
        title: str,
        choices: Sequence[str],
        chosen: int,
        choose: Callable[[int], None],
    ) -> None:
        super().__init__(stage)
        self.title_ = title
        self.menu = MenuView(stage, choices, chosen)
        self.choose = choose

    def compose_body(self) -> ComposeResult:
        """One small pane."""
        yield self.pane(self.menu, self.title_)

    def trail(self) -> str:
        """What is chosen."""
        return self.title_

    def show_panes(self, changed: Collection[str]) -> None:
        """The menu stays as it is."""
        self.menu.resize()
        self.panes[0].entitle(self.title_)

    def on_virtual_view_chosen(self) -> None:
        """A double click chooses."""
        self.do_drill()

    def do_drill(self) -> None:
        """Choose this line."""
        self.dismiss()
        self.choose(self.menu.index)


def help_lines(stage: "Stage", context: str) -> list[Line]:
    """A screen's keys under their headings, what the state words mean, and what the HW is."""
    rows: list[Line] = []
    for heading, actions in headings(available(context)).items():
        rows.append(line(Span(heading.upper(), "title")))
        for action in actions:
            keys = " ".join(key_name(key) for key in action.keys)
            live = "  (live only)" if action.writes else ""
            rows.append(
                line(Span(f"  {fit(keys, KEYS_WIDTH)}", "key"), action.help, Span(live, "muted"))
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
    return rows
