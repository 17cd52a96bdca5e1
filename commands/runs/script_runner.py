"""Run a script on a cluster, statement by statement, and collect its results."""

from collections.abc import Callable, Mapping
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from commands.exits import CommandError, ExitCode
from commands.language.parser import AtStatement, Script, ShowStatement, Step
from commands.output.grids import as_text
from commands.runs.driver import Driver, Pace
from commands.runs.expectations import Tally
from emulator.cluster import Cluster
from emulator.events import Event
from emulator.inputs.statements import ExpectEvents, Mark, Statement
from emulator.releases.config import ConfigError
from emulator.scenario.outcome import Outcome
from emulator.scenario.runner import Runner, Ticket
from emulator.simulation.kernel import Observer
from sessions.grammar.event_patterns import Happened, looked_up
from sessions.grammar.words import BadWord, moment_text
from sessions.model.cluster_view import ClusterView
from sessions.model.result_view import ResultView
from sessions.text import clock

if TYPE_CHECKING:
    from sessions.format.packed_events import PackedEvents
    from sessions.recording.recorder import Recorder

UNKNOWN_SUBJECT = "UNKNOWN_TOPIC_OR_PARTITION"
"""Outcome of a ``show`` of something that does not exist."""
TOO_LATE = "TOO_LATE"
"""Outcome of an ``at`` that is in the past."""


class Output(Struct, frozen=True):
    """What a ``zk`` or ``show`` statement printed, as text and as plain data."""

    line: int
    statement: str
    text: str
    result: Any


Finished = Callable[[Step, Outcome], None]
"""Called with each finished statement, after the view has all of its effects."""


class ScriptRunner:
    """One run of one script. Its results are in its attributes, complete after each statement.

    ``happened`` returns all events so far, if the script uses any.
    """

    def __init__(
        self,
        script: Script,
        pace: Pace,
        recorder: "Recorder | None" = None,
        view: ClusterView | None = None,
        *,
        keeps_events: bool = False,
    ) -> None:
        """Create the cluster; all its brokers have registered when this returns.

        Without a ``recorder``, events are applied to ``view`` or, if there is none, to the smallest
        view that suffices for the script. ``keeps_events``: statements that follow the script may
        ask for events.

        Raises:
            CommandError: the cluster's configuration is not valid.
        """
        self.script = script
        self.recorder = recorder
        fitting = ClusterView() if _shows(script) else ResultView()
        self._view: ClusterView = fitting if view is None else view
        self.tally = Tally()
        self.outputs: list[Output] = []
        self.marks: dict[str, ClusterView] = {}
        self.reached_until = True
        text, line = script.cluster.text, script.cluster.line
        keeps = keeps_events or _asks_for_events(script)
        self._events = _event_store() if keeps else None
        self.happened: Happened = lambda: self._events or ()
        observers, by_type = self._observers()
        try:
            self.cluster = Cluster(script.spec, observers, text, line, by_type)
        except ConfigError as error:
            position = f"{script.name}:{line}: " if script.name else ""
            raise CommandError(ExitCode.USAGE, f"{position}{error}") from None
        if isinstance(self._view, ResultView):
            self._view.look_in(self.cluster.ledger)
        self.runner = Runner(self.cluster)
        if recorder is not None:
            recorder.follow(self.runner)
        self.driver = Driver(self.runner, pace, self._look)
        self.watchers: list[Callable[[], None]] = []
        self._steps_left: list[tuple[Step, Ticket]] = []

    def _observers(self) -> tuple[tuple[Observer, ...], Mapping[type[Event], Observer]]:
        own = () if self._events is None else (self._events.append,)
        if self.recorder is not None:
            return (self.recorder, *own), {}
        if isinstance(self._view, ResultView):
            return own, self._view.by_type
        return (self._view.apply, *own), {}

    def run(self, finished: Finished, until: Statement | None = None) -> None:
        """Run all statements, then continue until a condition holds.

        Raises:
            KeyboardInterrupt: ctrl-c was pressed.
            TimeLimitError: the wall clock's limit was reached.
        """
        try:
            self._run(finished, until)
        finally:
            self.tally.close()

    def _run(self, finished: Finished, until: Statement | None) -> None:
        with self.driver:
            steps = self.script.steps
            for step, following in zip_longest(steps, steps[1:]):
                if isinstance(step, Statement) and isinstance(following, AtStatement):
                    self._begin(step)
                elif isinstance(step, AtStatement):
                    self._at(step, finished)
                else:
                    self._end(step, self.perform(step), finished)
                self._end_what_was_left(finished)
            if until is not None:
                outcome = self.perform(until)
                self.reached_until = outcome.passed is not False
                finished(until, outcome)

    def perform(self, step: Step) -> Outcome:
        """Run one statement and let time pass until it has ended."""
        if isinstance(step, ShowStatement):
            return self.shown(step)
        assert isinstance(step, Statement)
        step = looked_up(step, self.happened)
        if self.recorder is not None:
            self.recorder.announce(step)
        return self.performed(step, self.driver.execute(step))

    def performed(self, step: Statement, outcome: Outcome) -> Outcome:
        """Keep the output of a statement that has ended."""
        if outcome.output is not None or outcome.result is not None:
            self.put_out(step, outcome.output or "", outcome.result)
        if isinstance(step.input, Mark):
            return self._mark(step.input.name, outcome)
        return outcome

    def _mark(self, name: str, outcome: Outcome) -> Outcome:
        """Store the mark; a later one replaces one of the same name, and the outcome says so."""
        before = self.marks.get(name)
        self.marks[name] = self.view.copy()
        if before is None:
            return outcome
        message = f"in place of the mark of this name at {clock(before.time_us)}"
        return msgspec.structs.replace(outcome, message=message)

    # ---- statements that continue while others are given

    def _begin(self, step: Statement) -> None:
        """Start a statement without waiting for its end: ``at`` says when to continue."""
        if self.recorder is not None:
            self.recorder.announce(step)
        self._steps_left.append((step, self.driver.begin(step)))

    def _at(self, step: AtStatement, finished: Finished) -> None:
        """Advance to a moment; report it only if it is in the past."""
        if not self.driver.go_to(step.at.time_us, step.at.steps):
            now = moment_text(self.cluster.now_us)
            self._end(step, Outcome(TOO_LATE, f"it is {now} already", refused=True), finished)

    def _end_what_was_left(self, finished: Finished) -> None:
        """Report the statements that have ended meanwhile."""
        for step, ticket in list(self._steps_left):
            if ticket.outcome is not None:
                self._steps_left.remove((step, ticket))
                assert isinstance(step, Statement)
                self._end(step, self.performed(step, ticket.outcome), finished)

    def _end(self, step: Step, outcome: Outcome, finished: Finished) -> None:
        self.tally.note(step, outcome)
        finished(step, outcome)

    # ---- tables

    def shown(self, step: ShowStatement) -> Outcome:
        """Keep the output of a ``show``."""
        from commands.output.show_tables import events_grid, grids

        try:
            if step.show.what == "events":
                tables = [events_grid(step.show, self.happened())]
            else:
                tables = grids(step.show, self.view)
        except BadWord as error:
            return unknown_subject(error)
        plain: Any = [grid.plain() for grid in tables]
        if len(tables) == 1:
            plain = plain[0]
        self.put_out(step, as_text(tables), plain)
        return Outcome()

    def put_out(self, step: Step, text: str, result: object) -> None:
        """Keep what a statement has printed, as text and as plain data."""
        self.outputs.append(Output(step.line, step.text, text, result))

    def _look(self) -> None:
        if self.recorder is not None:
            self.recorder.tick()
        for watch in self.watchers:
            watch()

    @property
    def view(self) -> ClusterView:
        """Return the read model after the last event."""
        if self.recorder is not None:
            return self.recorder.view
        if isinstance(self._view, ResultView):
            self._view.come_to(self.cluster.sequence, self.cluster.now_us)
        return self._view

    @property
    def violations(self) -> int:
        """Violations of invariants that the release is not known to violate."""
        return sum(not known for *_, known in self.view.state.invariants)


def _event_store() -> "PackedEvents":
    from sessions.format.packed_events import PackedEvents

    return PackedEvents()


def _asks_for_events(script: Script) -> bool:
    """Return whether a script queries past events, so that they have to be kept."""
    return any(
        shows_events(step) or (isinstance(step, Statement) and isinstance(step.input, ExpectEvents))
        for step in script.steps
    )


def shows_events(step: Step) -> bool:
    """Return whether a statement prints events."""
    return isinstance(step, ShowStatement) and step.show.what == "events"


def unknown_subject(error: BadWord) -> Outcome:
    """Return the outcome of a ``show`` of something that does not exist."""
    return Outcome(UNKNOWN_SUBJECT, str(error), refused=True)


def _shows(script: Script) -> bool:
    """Return whether a script prints tables, which may show any part of the state."""
    return any(isinstance(step, ShowStatement) for step in script.steps)
