"""What Spark's jobs found in a dataset: tables whose rows open the event that they are about."""

from collections.abc import Collection, Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType

from console.actions.bindings import bindings_for
from console.model.library import Finding, Library, Opened
from console.model.links import Link
from console.model.workspace import Stage
from console.render.lines import data, line
from console.render.rows import Row
from console.screens.base import ConsoleScreen
from console.screens.messages import SourceRequested
from console.widgets.links import LinkView


class AnalysisScreen(ConsoleScreen):
    """One list of lines."""

    context: ClassVar[str] = "analysis"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings_for("analysis")]

    def __init__(self, stage: Stage, title: str, findings: Sequence[Finding]) -> None:
        super().__init__(stage)
        self.title_ = title
        self.findings = list(findings)
        self.list = LinkView(stage, id="findings")
        self.list.show([Row(line(data(finding.text)), data=finding) for finding in findings])

    def compose_body(self) -> ComposeResult:
        yield self.pane(self.list, self.title_)

    def trail(self) -> str:
        return self.title_

    def show_panes(self, changed: Collection[str]) -> None:
        self.list.resize()
        self.panes[0].entitle(self.title_, ["enter opens the event of a row", "esc goes back"])

    def action_drill(self) -> None:
        """Open the recording of the row at its event."""
        row = self.list.selected
        finding = None if row is None else row.data
        if finding is None or not finding.text:
            return
        path, seq = finding.path, finding.seq
        if path is None or not path.is_file():
            why = f"the recording of event {seq} is gone" if seq else "this line is about no event"
            self.notify(why)
            return

        def opener(library: Library) -> Opened:
            opened = library.open_session(path)
            opened.source.seek_seq(seq)
            return opened

        self.request(SourceRequested(opener, "events", Link("event", str(seq))))
