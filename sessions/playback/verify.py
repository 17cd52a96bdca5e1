"""Verification: a session's statements, run again, must give the same events and final state."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from msgspec import Struct

from emulator.cluster import Cluster
from emulator.common.version import THIS_PROGRAM
from emulator.events import Event
from emulator.releases.config import ConfigError
from emulator.scenario.runner import Advance, Runner
from sessions.format.chunks import Chunks
from sessions.format.errors import (
    SessionDamagedError,
    SessionEndedError,
    SessionIncompleteError,
    consistent,
)
from sessions.format.file import SessionFile
from sessions.format.metadata import Outcome
from sessions.model.cluster_view import ClusterView
from sessions.model.result_view import ResultView
from sessions.model.summary import snapshot
from sessions.playback.replay import Replay
from sessions.playback.rerun import STEPS_AT_ONCE, first_of, follow, runner_of, statement_of
from sessions.recording.recorder import outcome_of

Progress = Callable[[int], object]
STATE_HASH: Final = "state hash"
TOLD_EVERY: Final = 1_024
"""Events between two progress reports."""


class Difference(Struct, frozen=True):
    """The first event that is not the same; None where one of the two runs has no such event."""

    seq: int
    recorded: Event | None
    again: Event | None


class OutcomeDifference(Struct, frozen=True):
    """A value of the recording's outcome that differs in the new run."""

    name: str
    recorded: object
    again: object


class Verification(Struct, frozen=True):
    """The result of a verification; ``events`` are those that were compared and are the same.

    ``outcome``: the values of the recorded outcome that differ in the new run; None: there is none,
    or the new run did not get there, and then there is no ``state_hash`` of the new run either.
    ``note`` says what could not be compared, or is empty. ``damaged``: because it cannot be read.

    A state hash that alone differs is no difference if another version recorded the session, since
    a hash covers fields of the state that no event tells; then the rows of the two final states
    are the same, and ``note`` says so.
    """

    path: Path
    events: int
    difference: Difference | None = None
    outcome: list[OutcomeDifference] | None = None
    state_hash: str | None = None
    note: str = ""
    damaged: bool = False

    @property
    def same(self) -> bool:
        """Whether everything that could be compared is equal."""
        return self.difference is None and not self.outcome

    def __str__(self) -> str:
        difference = self.difference
        if difference is not None:
            return (
                f"{self.path} differs at event {difference.seq:,}.\n"
                f"  recorded: {_shown(difference.recorded)}\n"
                f"  again:    {_shown(difference.again)}"
            )
        if self.outcome:
            lines = [
                f"  {value.name}: recorded {value.recorded}, again {value.again}"
                for value in self.outcome
            ]
            summary = f"{self.path}: all {self.events:,} events are the same, but the end is not."
            return "\n".join([summary, *lines])
        if not self.events:
            return f"{self.path}: there is no event to compare.{self.note}"
        if self.damaged:
            return f"{self.path}: the {self.events:,} events up to there are the same.{self.note}"
        also = "" if self.outcome is None else " and the final state"
        return f"{self.path}: all {self.events:,} events{also} are the same.{self.note}"


def _shown(event: Event | None) -> str:
    return "no such event" if event is None else repr(event)


class Comparer:
    """An observer that compares each event with the recorded one, up to the first difference."""

    def __init__(
        self,
        recorded: Iterator[Event],
        first_seq: int = 1,
        progress: Progress | None = None,
        last_seq: int | None = None,
    ) -> None:
        """Expect the ``recorded`` events in order, starting with ``first_seq``.

        With ``last_seq`` there must be none after it: the recording ended there.
        """
        self._first_seq = first_seq
        self._last_seq = last_seq
        self._progress = progress
        self.difference: Difference | None = None
        self.count = 0
        self._recorded = recorded

    def __call__(self, event: Event) -> None:
        """Compare; events before or after the recorded ones are ignored."""
        if self._progress is not None and event.seq % TOLD_EVERY == 0:
            self._progress(event.seq)
        if self.difference is not None or event.seq < self._first_seq:
            return
        recorded = self._next()
        if recorded == event:
            self.count += 1
        elif recorded is not None:
            self.difference = Difference(recorded.seq, recorded, event)
        elif self._last_seq is not None and event.seq > self._last_seq:
            self.difference = Difference(event.seq, None, event)

    def finish(self) -> None:
        """Finish the run: no recorded event may be left."""
        unmatched = None if self.difference is not None else self._next()
        if unmatched is not None:
            self.difference = Difference(unmatched.seq, unmatched, None)

    def _next(self) -> Event | None:
        """The next recorded event; None at the end, or where it cannot be read."""
        try:
            return next(self._recorded, None)
        except SessionEndedError:
            self._recorded, self._last_seq = iter(()), None
            return None


def verify(path: Path | str, progress: Progress | None = None) -> Verification:
    """Run a session again and compare; ``progress`` is called with the event number periodically.

    All events are compared, and the recorded outcome: the number of events, the end time, the
    final state, and the results of the audit and the expectations.

    Raises:
        SessionError: it cannot be read, or its statements are not all known.
    """
    with SessionFile(path) as session, consistent(session.path):
        if session.origin.sources:
            raise SessionIncompleteError(
                f"{session.path} is the history of a real cluster: there is no script to run again."
            )
        outcome = session.outcome if session.complete else None
        ended = None if outcome is None else outcome.events
        comparer = Comparer(session.all_events(), session.first_seq, progress, ended)
        view = ResultView()
        runner = _run(session, comparer, view)
        comparer.finish()
        differences: list[OutcomeDifference] | None = None
        again: Outcome | None = None
        if outcome is not None and not session.damage and comparer.difference is None:
            view.come_to(runner.cluster.sequence, runner.now_us)
            again = outcome_of(view, runner)
            differences = _differences(outcome, again)
        note = _note(session)
        if _differs_by_version(session, differences, view):
            differences = []
            note += (
                f" Only the state hash differs: {_recorded_by(session)} recorded it, "
                f"and this is {THIS_PROGRAM}."
            )
        return Verification(
            session.path,
            comparer.count,
            comparer.difference,
            differences,
            None if again is None else again.state_hash,
            note,
            bool(session.damage),
        )


def _differences(recorded: Outcome, again: Outcome) -> list[OutcomeDifference]:
    """Return the differing outcomes of two runs; how the run was interrupted does not count."""
    fields = [name for name in Outcome.__struct_fields__ if name != "outcome"]
    return [
        OutcomeDifference(name.replace("_", " ").replace(" us", " (us)"), first, second)
        for name in fields
        if (first := getattr(recorded, name)) != (second := getattr(again, name))
    ]


def _differs_by_version(
    session: SessionFile, differences: list[OutcomeDifference] | None, again: ClusterView
) -> bool:
    """Whether the hashes alone differ, as they may between versions, and the rows are equal."""
    if [value.name for value in differences or ()] != [STATE_HASH]:
        return False
    if session.origin.program == THIS_PROGRAM:
        return False
    replay = Replay(Chunks(session))
    replay.seek_seq(session.last_seq)
    return snapshot(replay.view) == snapshot(again)


def _recorded_by(session: SessionFile) -> str:
    _, _, version = session.origin.program.partition(" ")
    return session.origin.program if version else "an earlier version"


def _note(session: SessionFile) -> str:
    if session.damage:
        return f" {session.damage}"
    first, note = session.first_seq, ""
    if first > 1:
        note = f" It does not contain the events before event {first:,}."
    if session.outcome is None:
        how = "was trimmed there" if session.extent.is_trimmed else "was not closed"
        note += f" The recording {how}, so there is no final state to compare."
    return note


def _run(session: SessionFile, comparer: Comparer, view: ResultView) -> Runner:
    inputs = session.inputs()
    first = first_of(session, inputs)
    if first is None:
        raise SessionIncompleteError(f"{session.path} contains no statement: nothing to run.")
    statement_of(session, first)
    try:
        cluster = Cluster(session.origin.cluster, (comparer,), first.text, first.line, view.by_type)
    except ConfigError as error:
        raise SessionDamagedError(f"{session.path} cannot be run again: {error}") from error
    view.look_in(cluster.ledger)
    runner = runner_of(cluster)
    if not follow(session, inputs, runner, is_over=lambda: comparer.difference is not None):
        return runner
    outcome, last_seq = session.outcome, session.last_seq
    if outcome is not None:
        _return_to(runner, outcome.time_us, outcome.steps, comparer)
        last_seq = min(last_seq, outcome.events)
    if last_seq < session.first_seq:
        return runner  # no event can be read
    while cluster.sequence < last_seq and comparer.difference is None:
        if runner.advance(budget=1) is Advance.IDLE:
            break
    return runner


def _return_to(runner: Runner, time_us: int, steps: int, comparer: Comparer) -> None:
    """Run on to the end of the recorded run, or until the new one is known to differ."""
    while not runner.return_to(time_us, steps, STEPS_AT_ONCE):
        if comparer.difference is not None:
            return
