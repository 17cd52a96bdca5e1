"""Screen 6, Sessions: what did we record? Open, verify, export and analyse recordings."""

import asyncio
from collections.abc import Callable, Collection
from functools import partial
from pathlib import Path
from time import monotonic
from typing import ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.timer import Timer

from console.actions.bindings import bindings_for
from console.model.background_job import Job, Tell, Work
from console.model.library import Finding, Library, Opened
from console.model.workspace import Stage
from console.render.lines import BLANK, Line, Span, data, line
from console.render.sessions import about_lines, empty_lines, pick_of, size_text, titles_line
from console.screens.analysis import AnalysisScreen
from console.screens.base import ConsoleScreen
from console.screens.messages import ScreenRequested, SourceRequested, WorkFailed
from console.screens.page import text_page
from console.widgets.pick_list import PickView
from console.widgets.text import TextView
from sessions.format.catalog import Listed, list_sessions
from sessions.format.errors import SessionError
from sessions.text import plural

LISTING = "reading the folder"
LOOK_SECONDS = 0.2
"""Interval at which background work is polled, on every screen."""


class SessionView(PickView):
    """The recordings of a folder."""

    fixed_lines: ClassVar[int] = 1
    filter_hint = "words of a file's name, release, script or end"

    def draw_fixed(self) -> list[Line]:
        return [titles_line(self.columns)]


class SessionsScreen(ConsoleScreen):
    """The recordings of a folder, and details of the selected one."""

    context: ClassVar[str] = "sessions"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings_for("sessions")]

    def __init__(self, stage: Stage) -> None:
        super().__init__(stage)
        self.list = SessionView(stage, id="sessions")
        self.about = TextView(stage, id="about")
        self.listed: dict[str, Listed] = {}
        self.problem = ""
        self.is_listing = False
        self.job: Job | None = None
        self._ended: Callable[[Job], None] = lambda job: None
        self._began = 0.0
        self._watch: Timer | None = None

    def compose_body(self) -> ComposeResult:
        """The list, and details of the selected recording below."""
        yield self.pane(self.list, "sessions")
        yield self.pane(self.about, "about", "log")

    def begin(self) -> None:
        self.action_session_refresh()

    @property
    def folder(self) -> Path:
        """The folder whose recordings are listed."""
        library = self.stage.library
        return Path() if library is None else library.folder

    # ---- the folder

    @work(group="listing", exclusive=True)
    async def action_session_refresh(self) -> None:
        """Read the folder again, without blocking the screen."""
        self.is_listing = True
        try:
            sessions = await asyncio.to_thread(list_sessions, self.folder)
        except SessionError as error:
            self.listed, self.problem = {}, str(error)
        else:
            self.listed, self.problem = {str(session.path): session for session in sessions}, ""
        self.is_listing = False
        self.repaint()

    def on_screen_resume(self) -> None:
        """List the folder again, which may have changed."""
        super().on_screen_resume()
        if self.is_ready:
            self.action_session_refresh()

    # ---- painting

    def is_busy(self) -> bool:
        return self.job is not None

    def show_panes(self, changed: Collection[str]) -> None:
        """Update the list, the details, and the progress of background work."""
        self._look_at_job()
        sessions, about = self.panes
        glyphs, width = self.stage.glyphs, self.list.columns
        known = list(self.listed.values())
        self.list.offer(
            [
                pick_of(
                    session,
                    width,
                    glyphs.sparks,
                    glyphs.more,
                    recording=self._is_recording(session),
                )
                for session in known
            ]
        )
        self.list.refresh_fixed()
        total = size_text(sum(session.size_bytes for session in known))
        folder = str(self.folder.resolve())
        parts = [plural(len(known), "recording"), total, folder, self.working()]
        sessions.entitle("sessions", parts if known else [folder, self.working()])
        about.entitle("about", [Path(self.list.selected).name])
        self.about.show(self._about(self.about.columns))
        self.list.empty = self._why_empty(width)

    def _is_recording(self, listed: Listed) -> bool:
        """Whether this is the file of the current recording."""
        path = self.stage.recording
        return path is not None and listed.path.resolve() == path.resolve()

    def working(self) -> str:
        """The background work, its duration so far, and its progress."""
        if self.job is not None:
            seconds = int(monotonic() - self._began)
            return f"{self.job.title} {seconds} s {self.job.progress}".rstrip()
        return LISTING if self.is_listing else ""

    def _about(self, width: int) -> list[Line]:
        listed = self.listed.get(self.list.selected)
        rows = [] if self.job is None else [line(Span(f" {self.working()}", "warning")), BLANK]
        return rows if listed is None else [*rows, *about_lines(listed, width)]

    def _why_empty(self, width: int) -> list[Line]:
        if self.is_listing:
            return [line(Span(f" {LISTING} ..", "muted"))]
        if self.listed:
            text = f" No recording matches '{self.list.words}'."
            return [line(data(text, "muted")), line(Span(" esc clears the filter", "key"))]
        return empty_lines(str(self.folder.resolve()), self.problem, width)

    # ---- work

    def begin_job(self, title: str, do: Work, ended: Callable[[Job], None]) -> None:
        """Start background work; there is one job at a time."""
        if self.job is not None:
            self.notify(f"one at a time: {self.working()}", severity="warning")
            return
        self._ended, self._began = ended, monotonic()
        self.job = Job(title, do)
        self._watch = self.set_interval(LOOK_SECONDS, self._look_at_job)

    def _look_at_job(self) -> None:
        job = self.job
        if job is not None and job.done:
            self.job = None
            if self._watch is not None:
                self._watch.stop()
            if job.failed:
                self.request(WorkFailed(job.title, job.outcome, "The recording is unchanged."))
            else:
                self._ended(job)

    def _selected(self) -> Listed | None:
        session = self.listed.get(self.list.selected)
        if session is None:
            self.notify("there is no recording here; r looks again")
        return session

    def _library(self) -> Library | None:
        library = self.stage.library
        if library is None:
            self.notify("recordings cannot be opened here: there is no library")
        return library

    # ---- keys

    def action_drill(self) -> None:
        """Open the recording over the current source."""
        listed = self._selected()
        if listed is None:
            return

        def opener(library: Library) -> Opened:
            return library.open_session(listed.path)

        self.request(SourceRequested(opener, "overview"))

    def action_session_verify(self) -> None:
        """Run the recording again and compare."""
        listed = self._selected()
        if listed is not None:
            self.begin_job(f"verifying {listed.path.name}", partial(_verified, listed), self._tell)

    def action_session_export(self) -> None:
        """Type a dataset's folder, and add the recording to it."""
        listed, library = self._selected(), self._library()
        if listed is None or library is None:
            return

        def export(text: str) -> str | None:
            if text:
                self.begin_job(
                    f"exporting {listed.path.name}",
                    lambda tell: library.export(listed.path, text, tell),
                    self._tell,
                )
            return None

        hint = f"a dataset's folder in {self.folder.resolve()}; created if missing"
        self.prompt.ask("add to dataset", export, text="dataset", hint=hint)

    def action_session_analyse(self) -> None:
        """Type a dataset's folder and one for results, and run Spark's jobs."""
        library = self._library()
        if library is None:
            return

        def analyse(text: str) -> str | None:
            dataset, _, out = text.partition(" ")
            if not out.strip():
                return "two folders are needed: the dataset, and a new one for the results"
            findings: list[Finding] = []

            def analysed(tell: Tell) -> str:
                findings.extend(library.analyse(dataset, out.strip(), tell))
                return plural(len(findings), "line")

            def show(_job: Job) -> None:
                self.request(
                    ScreenRequested(AnalysisScreen(self.stage, f"analysis of {dataset}", findings))
                )

            self.begin_job(f"analysing {dataset}", analysed, show)
            return None

        hint = "the dataset (E adds recordings to it), then a new folder for the results"
        self.prompt.ask("analyse", analyse, text="dataset report", hint=hint)

    def _tell(self, job: Job) -> None:
        """Show a line as a toast, and longer output as a page."""
        if "\n" in job.outcome:
            self.request(ScreenRequested(text_page(self.stage, job.title, job.outcome)))
        else:
            self.notify(job.outcome)


def _verified(listed: Listed, tell: Tell) -> str:
    """Run a recording again, and return the result in words."""
    from sessions.playback.verify import verify

    def progress(seq: int) -> None:
        tell(f"{seq:,} of {listed.events:,} events")

    return str(verify(listed.path, progress))
