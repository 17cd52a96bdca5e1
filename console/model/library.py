"""What the console needs from the command that starts it: scenarios, recordings and scripts.

``commands`` hands a :class:`Library` in; without one the Lab says that there is none.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

from msgspec import Struct

from console.model.exploration import Explored, Question, Watch
from emulator.inputs.conditions import Subject
from sessions.grammar.event_patterns import EventPattern
from sessions.sources.source import Source

Tell = Callable[[str], None]
"""Told how far a long piece of work has come."""


class LibraryError(Exception):
    """What was asked for cannot be done; its text is one sentence that says why."""


class Card(Struct, frozen=True):
    """A scenario as the Lab shows it. ``version`` is the release that it is shown on by itself.

    ``questions`` are to be answered before one steps on; ``answers`` are the numbers of those
    (from 1) that a line of the script answers, and ``watched`` is what these lines are about.
    ``since`` says what made it end, if anything did; ``apart`` are two neighbouring releases on
    which it is not the same.
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
    """Something to show: its source, completions for the ``:`` line, and how to close it."""

    source: Source
    close: Callable[[], None]
    complete: Callable[[str], Sequence[str]] | None = None
    card: Card | None = None


class Library(Protocol):
    """Everything that the Lab and the Sessions screen can have done.

    Every method raises :class:`LibraryError` if it cannot.
    """

    folder: Path
    """Where sessions are looked for, and scripts are written."""

    def versions(self) -> Sequence[str]:
        """The releases, oldest first."""

    def cards(self) -> Sequence[Card]:
        """The library of scenarios."""

    def open_scenario(self, name: str, version: str, against: str | None = None) -> Opened:
        """A scenario that was run, with the cursor at its start; ``against``: on two releases."""

    def fork(self, source: Source, statement: str) -> Opened:
        """A second cluster that did the same up to the time cursor, beside the first one.

        The statement is given to the second one only; both step together from there.
        """

    def open_session(self, path: Path) -> Opened:
        """A recording, with the cursor at its beginning."""

    def open_script(self, name: str, script: str) -> Opened:
        """A script that was run, with the cursor at its start."""

    def explore(self, question: Question, version: str, watch: Watch) -> Explored:
        """Search a release for what must not be; ``watch`` follows and ends the search.

        A release that does not have what is asked is told of in the summary.
        """

    def save_script(self, source: Source, name: str) -> str:
        """Write what was asked of a source as a script; returns a sentence that names the file."""

    def export(self, path: Path, dataset: str, tell: Tell) -> str:
        """Add a recording to a Parquet dataset; returns a sentence."""

    def analyse(self, dataset: str, out: str, tell: Tell) -> str:
        """Run Spark's jobs over a dataset; returns their tables as text."""


class Service(Protocol):
    """What is done beside the console, in its event loop, as long as it is open."""

    async def start(self) -> None:
        """Begin: the first screen is there."""

    async def stop(self) -> None:
        """End: the console is about to close."""

    async def wait_for_fault(self) -> None:
        """Return never, but raise what went wrong."""
