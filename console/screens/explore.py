"""The explorer: is there any order of events, within bounds, that breaks what Kafka promises?"""

from collections.abc import Collection, Sequence
from functools import partial
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.timer import Timer

from console.actions.bindings import bindings_for
from console.model.background_job import Job, Tell
from console.model.exploration import (
    Counterexample,
    Explored,
    Question,
    Setting,
    Watch,
    settings_of,
)
from console.model.library import Library, Opened
from console.model.workspace import Stage
from console.render.exploration import (
    counterexample_picks,
    found_lines,
    progress_text,
    setting_picks,
)
from console.render.lines import Span, line
from console.screens.base import ConsoleScreen
from console.screens.messages import SourceRequested, WorkFailed
from console.screens.page import MenuScreen
from console.widgets.pick_list import PickView
from console.widgets.text import TextView
from sessions.text import plural

LOOK_SECONDS = 0.2
"""Interval at which a running search is polled."""


class ExploreScreen(ConsoleScreen):
    """The question, what has been found, and counterexamples to open."""

    context: ClassVar[str] = "explore"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings_for("explore")]

    def __init__(self, stage: Stage, library: Library, version: str = "") -> None:
        super().__init__(stage)
        self.library = library
        self.question = Question()
        if version:
            release = self._settings()[0]
            self.question = release.choose(release.choices.index(version))
        self.settings = PickView(stage, id="settings", hint="words of a setting")
        self.found = TextView(stage, id="found")
        self.counterexamples = PickView(
            stage, id="counterexamples", hint="words of a release or property"
        )
        self.explored: list[Explored] = []
        self.progress = Watch()
        self.job: Job | None = None
        self._timer: Timer | None = None

    def compose_body(self) -> ComposeResult:
        """The question, the answer, and what can be opened."""
        yield self.pane(self.settings, "question")
        yield self.pane(self.counterexamples, "counterexamples", "extra")
        yield self.pane(self.found, "found", "log")

    def trail(self) -> str:
        return f"explore {self.question.bounds.version}"

    # ---- painting

    def is_busy(self) -> bool:
        """Show the progress of a running search."""
        return self.job is not None

    def show_panes(self, changed: Collection[str]) -> None:
        self._look()
        question, counterexamples, results = self.panes
        self.settings.offer(setting_picks(self._settings()))
        violations = self._violations()
        state = progress_text(self.progress) if self.job is not None else ""
        question.entitle("question", [state or self._hint(violations)])
        self.counterexamples.offer(counterexample_picks(violations))
        outcome = plural(len(violations), "counterexample") if violations else "none"
        counterexamples.entitle("counterexamples", [outcome])
        results.entitle("found", [state] if state else [])
        rows = found_lines(self.explored, self._selected(), max(20, self.found.columns - 1))
        if self.job is not None:
            rows = [line(Span(f"{state}; c cancels", "warning")), *rows]
        elif not rows:
            text = "Every order of events within these bounds is tried; R starts the search."
            rows = [line(Span(text, "muted"))]
        self.found.show(rows)

    def _hint(self, violations: Sequence[Counterexample]) -> str:
        """What to do next; on a small screen this is all that the result shows."""
        if violations:
            return f"{plural(len(violations), 'counterexample')}: tab"
        return "nothing found: tab" if self.explored else "R explores, M all releases"

    def _settings(self) -> list[Setting]:
        return settings_of(self.question, self.library.versions())

    def _violations(self) -> list[Counterexample]:
        return [counterexample for one in self.explored for counterexample in one.counterexamples]

    def _selected(self) -> Counterexample | None:
        key, violations = self.counterexamples.selected, self._violations()
        return violations[int(key)] if key and int(key) < len(violations) else None

    # ---- keys

    def action_drill(self) -> None:
        """Choose what a setting is, or open the counterexample."""
        pane = self.current_pane
        if pane is not None and pane.view is self.settings:
            self._choose()
        else:
            self._open()

    def _choose(self) -> None:
        setting = next((s for s in self._settings() if s.name == self.settings.selected), None)
        if setting is None:
            return

        def chosen(index: int | None) -> None:
            if index is not None:
                self.question = setting.choose(index)
                self.repaint()

        menu = MenuScreen(self.stage, setting.name, list(setting.choices), setting.place)
        self.app.push_screen(menu, chosen)

    def _open(self) -> None:
        counterexample = self._selected()
        if counterexample is None:
            self.notify("there is no counterexample to open; R explores")
            return

        def opener(library: Library) -> Opened:
            return library.open_script(
                f"{counterexample.property} {counterexample.version}", counterexample.script
            )

        self.request(SourceRequested(opener, "partitions"))

    def action_explore_run(self) -> None:
        self._begin([self.question.bounds.version])

    def action_explore_matrix(self) -> None:
        """Explore one release after the other."""
        self._begin(self.library.versions())

    def action_explore_cancel(self) -> None:
        """End the search; its results so far remain."""
        if self.job is None:
            self.notify("nothing is being explored")
        self.progress.is_cancelled = True

    # ---- the search

    def _begin(self, versions: Sequence[str]) -> None:
        if self.job is not None:
            self.notify(f"one at a time: {progress_text(self.progress)}", severity="warning")
            return
        self.explored, self.progress = [], Watch()
        work = partial(self._explore, self.question, list(versions), self.progress, self.explored)
        self.job = Job("exploring", work)
        self._timer = self.set_interval(LOOK_SECONDS, self._look)
        self.repaint()

    def _explore(
        self,
        question: Question,
        versions: Sequence[str],
        watch: Watch,
        explored: list[Explored],
        _tell: Tell,
    ) -> str:
        """Run the search in the job's thread."""
        for version in versions:
            explored.append(self.library.explore(question, version, watch))
            if watch.is_cancelled:
                break
        return ""

    def _look(self) -> None:
        job = self.job
        if job is None or not job.done:
            return
        self.job = None
        if self._timer is not None:
            self._timer.stop()
        if job.failed:
            self.request(WorkFailed(job.title, job.outcome, "The question is unchanged."))
        self.repaint()

    def on_unmount(self) -> None:
        self.progress.is_cancelled = True
