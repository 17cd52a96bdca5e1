"""Screen 7, Lab: what if? Scenarios to open, faults to inflict, and earlier statements."""

import re
from collections.abc import Collection, Sequence
from typing import ClassVar, Final

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal
from textual.reactive import var

from console.actions.bindings import bindings_for
from console.model.faults import faults_of, subject_of
from console.model.library import Card, Library, Opened
from console.model.workspace import Stage
from console.render.lines import Line, Span, data, fit, line, wrap
from console.render.rows import Pick
from console.render.scenario_card import briefing_lines
from console.screens.base import ConsoleScreen
from console.screens.explore import ExploreScreen
from console.screens.faults import FaultsScreen
from console.screens.messages import ActionRequested, FaultChosen, SourceRequested
from console.screens.page import MenuScreen
from console.widgets.fault_list import FaultView
from console.widgets.pane import Pane
from console.widgets.pick_list import PickView
from console.widgets.text import TextView
from sessions.text import clock, plural

NUMBER: Final = re.compile(r"[A-Z]\d+b?")
NUMBER_WIDTH: Final = 4
TITLE_WIDTH: Final = 46
OBJECTS_MAX: Final = 200
"""The most objects that the menu offers."""


class LabScreen(ConsoleScreen):
    """The scenarios, a description of the selected one, faults, and statements."""

    context: ClassVar[str] = "lab"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings_for("lab")]
    version: var[str] = var("", init=False)
    """The release that scenarios open on; empty for the newest that each supports."""

    def __init__(self, stage: Stage) -> None:
        super().__init__(stage)
        self.scenarios = PickView(
            stage, id="scenarios", hint="words of a scenario's name, title, part or questions"
        )
        self.about = TextView(stage, id="about")
        self.faults = FaultView(stage, id="faults")
        self.given = PickView(stage, id="given", hint="words of a statement")
        self.cards: dict[str, Card] = {}
        self._subject: object = None

    def compose_body(self) -> ComposeResult:
        with Horizontal(id="upper"):
            yield self.pane(self.scenarios, "scenarios")
            yield self.pane(self.about, "about", "side")
        with Horizontal(id="lower"):
            yield self.pane(self.faults, "faults", "log")
            yield self.pane(self.given, "statements", "extra")

    def begin(self) -> None:
        """Show the library, with the open scenario selected."""
        library = self.stage.library
        self.cards = {} if library is None else {card.name: card for card in library.cards()}
        if self.stage.card is not None:
            self.scenarios.key = self.stage.card.name
        self.scenarios.offer(picks_of(list(self.cards.values())))

    # ---- painting

    def show_panes(self, changed: Collection[str]) -> None:
        scenarios, about, faults, given = self.panes
        shown = f"{self.scenarios.count()} of {len(self.cards)}"
        on = f"on {self.version}" if self.version else "newest release"
        filtered = f"filter {self.scenarios.words}" if self.scenarios.words else ""
        scenarios.entitle("scenarios", [shown, on, filtered])
        about.entitle("about")
        self.about.show(self._about(self.about.columns))
        self._show_faults(faults)
        self.given.offer(_given(self.stage.statements))
        count = plural(len(self.stage.statements), "statement")
        given.entitle("statements", [count if self.stage.statements else "none yet; : enters one"])

    def _show_faults(self, pane: Pane) -> None:
        view, names = self.stage.present, self.stage.subject
        source = self.stage.source
        subject = (tuple(names), len(self.stage.statements), source.read_only, view.seq > 0)
        if subject != self._subject:
            self._subject = subject
            self.faults.show_faults(faults_of(view, names))
        if pane.display:
            self.faults.look_ahead()
        self.faults.warn(self.prompt)
        at = f"as of {clock(self.faults.forecasts.time_us)}" if self.faults.picks else "no broker"
        pane.entitle(f"faults of {subject_of(view, names)}", [at])

    def is_busy(self) -> bool:
        """Update forecasts while their pane is visible."""
        return any(pane.display and pane.view.is_busy() for pane in self.panes)

    def _about(self, width: int) -> list[Line]:
        card = self.cards.get(self.scenarios.selected)
        if card is not None:
            return briefing_lines(card, self.version or card.version, width)
        reason, next_key = (
            (f"No scenario matches '{self.scenarios.words}'.", "esc clears the filter")
            if self.cards
            else ("The console was started without a library of scenarios.", "x shows faults")
        )
        rows = [line(Span(row, "muted")) for row in wrap(reason, max(10, width - 2))]
        return [*rows, line(Span(next_key, "key"))]

    # ---- keys

    def action_drill(self) -> None:
        """Open the scenario, list what the fault would change, or edit the statement again."""
        pane = self.current_pane
        view = self.scenarios if pane is None else pane.view
        if view is self.faults:
            self._list_changes()
        elif view is self.given:
            self._take(self.given.selected)
        elif card := self.cards.get(self.scenarios.selected):
            self._open(card, self.version or card.version)

    def _take(self, key: str) -> None:
        if key:
            self.request(ActionRequested("act.command", self.stage.statements[-int(key)]))

    def _list_changes(self) -> None:
        view, names, fault = self.stage.present, self.stage.subject, self.faults.fault
        if fault is not None:
            subject, offered = subject_of(view, names), self.faults.offered
            self.app.push_screen(FaultsScreen(self.stage, subject, offered, fault.statement))

    def action_inflict(self) -> None:
        """Inflict the fault under the cursor."""
        pane = self.current_pane
        if pane is not None and pane.view is self.faults:
            self.request(FaultChosen(self.faults, lambda: None))
        else:
            self.notify("choose a fault first: tab goes to their list")

    def _open(self, card: Card, version: str, against: str | None = None) -> None:
        def opener(library: Library) -> Opened:
            return library.open_scenario(card.name, version, against)

        self.request(SourceRequested(opener, "compare" if against else "partitions"))

    def action_lab_version(self) -> None:
        """Choose the release that scenarios are opened on."""
        versions = self._versions()
        if versions:
            choices = ["the newest that each scenario supports", *versions]
            place = choices.index(self.version) if self.version in versions else 0
            self.app.push_screen(
                MenuScreen(self.stage, "release", choices, place), self._choose_version
            )

    def _choose_version(self, index: int | None) -> None:
        if index is not None:
            self.version = self._versions()[index - 1] if index else ""

    def watch_version(self) -> None:
        """Describe the selected scenario on this release."""
        self.repaint()

    def _versions(self) -> Sequence[str]:
        library = self.stage.library
        return () if library is None else library.versions()

    def action_lab_compare(self) -> None:
        """Type two releases, and open the scenario on both."""
        card = self.cards.get(self.scenarios.selected)
        versions = self._versions()
        if card is not None and versions:
            hint = f"two of {' '.join(versions)}"
            text = " ".join(card.apart)
            self.prompt.ask("side by side", self._compare, text=text, hint=hint)

    def _compare(self, text: str) -> str | None:
        card = self.cards.get(self.scenarios.selected)
        words = text.replace(",", " ").split()
        if card is None or not words:
            return None
        match [word for word in words if word in self._versions()]:
            case [first, second] if len(words) == len((first, second)):
                self.call_after_refresh(self._open, card, first, second)
                return None
        return f"'{text}': two releases are needed, such as 0.10.2 0.11"

    def action_lab_explore(self) -> None:
        """Ask whether any order of events breaks what Kafka promises."""
        if self.stage.library is None:
            self.notify("nothing can be explored here: the console was started without a library")
        else:
            self.app.push_screen(ExploreScreen(self.stage, self.stage.library, self.version))

    def action_lab_object(self) -> None:
        """Choose the object of the faults."""
        state = self.stage.view.state
        names = [f"broker.{broker}" for broker in state.brokers]
        names += list(state.partitions)[: OBJECTS_MAX - len(names)]
        if names:
            chosen = self.stage.subject[0] if self.stage.subject else ""
            place = names.index(chosen) if chosen in names else 0
            self.app.push_screen(
                MenuScreen(self.stage, "object", names, place),
                lambda n: None if n is None else self._choose(names[n]),
            )

    def _choose(self, name: str) -> None:
        self.stage.subject = (name,)
        self.repaint()


def picks_of(cards: Sequence[Card]) -> list[Pick]:
    """Each scenario as a line: its number, if it has one, its title, and its name."""
    picks = []
    for card in cards:
        number = NUMBER.match(card.name)
        shown = line(
            Span(fit(number[0] if number else "", NUMBER_WIDTH), "key"),
            fit(card.title, TITLE_WIDTH),
            Span(card.name, "faint"),
        )
        text = " ".join((card.name, card.title, card.group, *card.questions))
        picks.append(Pick(card.name, shown, text))
    return picks


def _given(statements: Sequence[str]) -> list[Pick]:
    """The statements, last first; keys count backwards, so the cursor stays on the last one."""
    last_first = list(enumerate(reversed(statements), start=1))
    return [Pick(str(n), (data(text),), text) for n, text in last_first]
