"""What the console needs from the command that starts it: scenarios, recordings and scripts.

``commands`` passes a :class:`Library`; without one the Lab says that there is none.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

from msgspec import Struct

from console.model.exploration import Explored, Question, Watch
from emulator.cluster_image.image import ClusterImage
from emulator.inputs.conditions import Subject
from sessions.grammar.event_patterns import EventPattern
from sessions.sources.source import Source

Tell = Callable[[str], None]
"""Called with the progress of a long task."""


class LibraryError(Exception):
    """A request failed; its text is one sentence that says why."""


class Card(Struct, frozen=True):
    """A scenario as the Lab shows it. ``version`` is the default release to show it on.

    ``questions`` are to be answered before stepping on; ``answers`` are the numbers of those
    (from 1) that a line of the script answers, and ``watched`` are the subjects of these lines.
    ``since`` says what fixed the problem, if anything did; ``apart`` are two adjacent releases with
    different outcomes.
    """

    name: str
    title: str
    group: str
    watch: str
    questions: tuple[str, ...]
    versions: tuple[str, ...]
    version: str
    since: str = ""
    apart: tuple[str, str] = ("", "")
    answers: dict[int, tuple[int, ...]] = {}
    watched: tuple[Subject | EventPattern, ...] = ()


class Opened(Struct, frozen=True):
    """A source to show: with completions for the ``:`` line, and a function to close it."""

    source: Source
    close: Callable[[], None]
    complete: Callable[[str], Sequence[str]] | None = None
    card: Card | None = None


class Finding(NamedTuple):
    """A line of an analysis: with the recording and the event that it is about, if any."""

    text: str
    path: Path | None = None
    seq: int = 0


class Library(Protocol):
    """The operations of the Lab and the Sessions screen.

    Every method raises :class:`LibraryError` if it fails.
    """

    folder: Path
    """The folder to search for sessions, and to write scripts to."""

    def versions(self) -> Sequence[str]:
        """The releases, oldest first."""

    def cards(self) -> Sequence[Card]:
        """The library of scenarios."""

    def open_scenario(self, name: str, version: str, against: str | None = None) -> Opened:
        """Run a scenario and open it with the cursor at its start; ``against``: on two releases."""

    def fork(self, source: Source, statement: str) -> Opened:
        """Run a second cluster with the same inputs up to the time cursor, beside the first one.

        The statement runs only on the second one; both step together from there.
        """

    def open_session(self, path: Path) -> Opened:
        """A recording, with the cursor at its beginning."""

    def open_script(self, name: str, script: str) -> Opened:
        """A script that was run, with the cursor at its start."""

    def explore(self, question: Question, version: str, watch: Watch) -> Explored:
        """Search a release for a violation; ``watch`` tracks and ends the search.

        If the release does not support the question, the summary says so.
        """

    def rehearse(self, image: ClusterImage, tell: Tell) -> str:
        """Rehearse the failures of a cluster in this state; returns lines, the verdict first."""

    def save_script(self, source: Source, name: str) -> str:
        """Write a source's statements as a script; return a sentence that names the file."""

    def export(self, path: Path, dataset: str, tell: Tell) -> str:
        """Add a recording to a Parquet dataset; returns a sentence."""

    def analyse(self, dataset: str, out: str, tell: Tell) -> list[Finding]:
        """Run Spark's jobs over a dataset; returns their tables, line by line."""


class Service(Protocol):
    """A service that runs alongside the console, in its event loop, as long as it is open."""

    async def start(self) -> None:
        """Start, once the first screen is shown."""

    async def stop(self) -> None:
        """Stop, before the console closes."""

    async def wait_for_fault(self) -> None:
        """Never return; raise any error of the service."""
