"""Verification: a session's statements run again must give the same events and the same state."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from msgspec import Struct

from emulator.cluster import Cluster
from emulator.events import Event
from emulator.inputs.statements import Statement
from emulator.releases.config import ConfigError
from emulator.scenario.runner import Advance, Runner
from sessions.format.errors import SessionDamagedError, SessionIncompleteError
from sessions.format.file import SessionFile
from sessions.format.metadata import Outcome, RecordedInput

Progress = Callable[[int], object]
TOLD_EVERY: Final = 1_024
"""Events between two words about how far a verification is."""


class Difference(Struct, frozen=True):
    """The first event that is not the same; None where one of the two runs has no such event."""

    seq: int
    recorded: Event | None
    again: Event | None


class Verification(Struct, frozen=True):
    """What came of it. ``state_hash`` is the new one, None if the recording has none to compare.

    ``note`` says what could not be compared, or is empty. ``damaged``: because it cannot be read.
    """

    path: Path
    events: int
    difference: Difference | None = None
    state_hash: str | None = None
    recorded_hash: str | None = None
    note: str = ""
    damaged: bool = False

    @property
    def same(self) -> bool:
        """Whether everything that could be compared is equal."""
        return self.difference is None and self.state_hash == self.recorded_hash

    def __str__(self) -> str:
        found = self.difference
        if found is not None:
            return (
                f"{self.path} differs at event {found.seq:,}.\n"
                f"  recorded: {_shown(found.recorded)}\n"
                f"  again:    {_shown(found.again)}"
            )
        if not self.same:
            return (
                f"{self.path}: all {self.events:,} events are the same, but the final state is not "
                f"(recorded {self.recorded_hash}, again {self.state_hash})."
            )
        also = " and the final state" if self.state_hash else ""
        return f"{self.path}: all {self.events:,} events{also} are the same.{self.note}"


def _shown(event: Event | None) -> str:
    return "no such event" if event is None else repr(event)


class Comparer:
    """An observer that compares each event with the recorded one, up to the first difference."""

    def __init__(
        self, recorded: Iterator[Event], first_seq: int = 1, progress: Progress | None = None
    ) -> None:
        """Expect the ``recorded`` events in order, of which the first is ``first_seq``."""
        self._first_seq = first_seq
        self._progress = progress
        self.difference: Difference | None = None
        self.count = 0
        self._recorded = recorded

    def __call__(self, event: Event) -> None:
        """Compare; what is stated before or after the recording is not looked at."""
        if self._progress is not None and event.seq % TOLD_EVERY == 0:
            self._progress(event.seq)
        if self.difference is not None or event.seq < self._first_seq:
            return
        recorded = next(self._recorded, None)
        if recorded is None:
            return
        if recorded == event:
            self.count += 1
        else:
            self.difference = Difference(recorded.seq, recorded, event)

    def finish(self) -> None:
        """The run is over: no recorded event may be left."""
        left = None if self.difference is not None else next(self._recorded, None)
        if left is not None:
            self.difference = Difference(left.seq, left, None)


def verify(path: Path | str, progress: Progress | None = None) -> Verification:
    """Run a session again and compare; ``progress`` is told the number of the event now and then.

    Raises:
        SessionError: it cannot be read, or its statements are not all known.
    """
    with SessionFile(path) as session:
        inputs = session.inputs()
        statements = [_statement(session, each) for each in inputs]
        if not inputs:
            raise SessionIncompleteError(f"{session.path} holds no statement: nothing to run.")
        comparer = Comparer(session.all_events(), session.first_seq, progress)
        runner = _run(session, inputs, statements, comparer)
        comparer.finish()
        outcome = session.outcome
        ended = outcome is not None and not session.damage and comparer.difference is None
        return Verification(
            session.path,
            comparer.count,
            comparer.difference,
            runner.state_hash if ended else None,
            outcome.state_hash if ended and outcome is not None else None,
            _note(session, outcome),
            bool(session.damage),
        )


def _note(session: SessionFile, outcome: Outcome | None) -> str:
    if session.damage:
        return f" {session.damage}"
    first, note = session.first_seq, ""
    if first > 1:
        note = f" What was before event {first:,} is not in it."
    if outcome is None:
        how = "was cut there" if session.extent.is_trimmed else "was not closed"
        note += f" The recording {how}, so there is no final state to compare."
    return note


def _statement(session: SessionFile, given: RecordedInput) -> Statement:
    if given.statement is None:
        raise SessionIncompleteError(
            f"{session.path} cannot be run again: of the statement '{given.text}' "
            f"(event {given.seq:,}) only the text is recorded."
        )
    return given.statement


def _run(
    session: SessionFile,
    inputs: list[RecordedInput],
    statements: list[Statement],
    comparer: Comparer,
) -> Runner:
    first = inputs[0]
    try:
        cluster = Cluster(session.origin.cluster, (comparer,), first.text, first.line)
    except ConfigError as error:
        raise SessionDamagedError(f"{session.path} cannot be run again: {error}") from error
    runner = Runner(cluster)
    for given, statement in zip(inputs[1:], statements[1:], strict=True):
        runner.return_to(given.time_us, given.steps)
        if comparer.difference is not None:
            return runner
        runner.submit(statement)
    outcome = session.outcome
    if outcome is not None:
        runner.return_to(outcome.time_us, outcome.steps)
    while cluster.sequence < session.last_seq and comparer.difference is None:
        if runner.advance(budget=1) is Advance.IDLE:
            break
    return runner
