"""A rehearsal of the cluster that is shown: its progress, then the verdict and the risks."""

from collections.abc import Collection

from console.model.background_job import Job
from console.model.workspace import Stage
from console.render.lines import Line, Span, data, line
from console.screens.page import PageScreen
from sessions.text import clock


class RehearsalScreen(PageScreen):
    """A page that fills when the job is done."""

    def __init__(self, stage: Stage, job: Job) -> None:
        """Show the outcome of ``job``, which runs in the background."""
        super().__init__(stage, "rehearsal", [])
        self.job = job
        self.begun_us = stage.source.last_time_us
        self._is_shown = False

    def is_busy(self) -> bool:
        """Whether there is news to show: progress, or at last the outcome."""
        return not self._is_shown

    def show_panes(self, changed: Collection[str]) -> None:
        """Show the progress, or what came of it."""
        if not self._is_shown:
            self._is_shown = self.job.done
            self.text.lines = self._lines()
        self.text.resize()
        source = self.stage.source
        at = f"of {source.name} as it was at {clock(self.begun_us)}"
        self.panes[0].entitle(self.title_, [at, "esc goes back"])

    def _lines(self) -> list[Line]:
        if not self.job.done:
            progress = self.job.progress or "an emulated copy of the cluster starts"
            return [line(Span(progress, "muted"))]
        if self.job.failed:
            return [line(Span(f"cannot be rehearsed: {self.job.outcome}", "error"))]
        verdict, *rest = self.job.outcome.splitlines()
        role = "error" if verdict.startswith("UNSAFE") else "ok"
        return [line(Span(verdict, role)), *(line(data(row)) for row in rest)]
