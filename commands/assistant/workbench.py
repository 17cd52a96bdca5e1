"""What an assistant works on: one cluster that it may break, or one recorded session.

Answers are text as the program prints it. Each is limited in length, and each call in time: a
statement that takes longer goes on with the next call.
"""

import shlex
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from time import monotonic
from typing import Final

from commands.exits import CommandError
from commands.language.parser import Script, ShowStatement, Step, parse_line, parse_script
from commands.language.statements.show import Show
from commands.output.grids import Grid, as_text
from commands.output.session_tables import described
from commands.output.show_tables import events_grid, grids
from commands.runs.driver import Driver, Pace, TimeLimitError
from commands.runs.json_result import final_tables
from commands.runs.live import live_source_of, replay_source
from commands.runs.narration import outcome_text
from commands.runs.opening import go_to
from commands.runs.recording import recorder
from commands.runs.run import started
from commands.runs.script_runner import ScriptRunner
from commands.runs.why import answer, troubles
from console.model.workspace import Stage
from console.render.effects import change_rows, effect_words
from console.render.lines import text_of
from console.styles.glyphs import ASCII
from emulator.events import Event
from emulator.scenario.outcome import Outcome
from sessions.format.errors import SessionError
from sessions.grammar.event_patterns import pattern
from sessions.grammar.places import place
from sessions.grammar.words import BadWord
from sessions.recording.recorder import Recorder
from sessions.sources.live import LiveSource
from sessions.sources.replay import ReplaySource

SECONDS_MAX: Final = 20.0
"""Wall-clock time of one call."""
CHARACTERS_MAX: Final = 16_000
"""Length of one answer."""
EVENTS_MAX: Final = 200
"""Events that one answer lists."""
TROUBLES_MAX: Final = 8
"""Partitions that are explained without being asked about."""
RECORDED_BYTES_MAX: Final = 256 << 20
"""Size of the temporary recording; the oldest events are dropped."""
FORECAST_SLICE_S: Final = 0.2
PAGE: Final = 1_000
LIMIT_US: Final = int(SECONDS_MAX * 1_000_000)


class WorkbenchError(Exception):
    """A call that cannot be answered; the message is one sentence."""


class Workbench:
    """Holds a cluster with its recording, or a session; :meth:`close` ends it."""

    def __init__(self) -> None:
        self._run: ScriptRunner | None = None
        self._recorder: Recorder | None = None
        self._source: LiveSource | ReplaySource | None = None
        self._stage: Stage | None = None

    # ---- what is looked at

    def start(self, script: str, options: Sequence[str] = ()) -> str:
        """Create a cluster by a script, in place of what there was.

        ``options`` are words for the script's ``cluster`` statement.

        Raises:
            WorkbenchError: the script is wrong; what there was is still there.
        """
        with _refusals():
            parsed = parse_script(script, "-", {}, options)
            recording = recorder(parsed, None, {}, RECORDED_BYTES_MAX)
            run = started(parsed, Pace(limit_us=LIMIT_US), recording)
        self.close()
        self._run, self._recorder = run, recording
        source = live_source_of(run.runner, recording)
        run.happened = lambda: source.events(source.first_seq, source.last_seq)
        self._look_at(source)
        told_lines = self._driven(parsed)
        return limited("\n".join([*told_lines, "", as_text(final_tables(run)), *self._troubles()]))

    def open(self, path: Path) -> str:
        """Open a recorded session at its end, in place of what there was.

        Raises:
            WorkbenchError: the file cannot be read.
        """
        with _refusals():
            source = replay_source(path)
            source.to_tail()
            tables = described(source.session)
        self.close()
        self._look_at(source)
        text = as_text([*tables, *self._tables("partitions"), *self._tables("audit")])
        return limited("\n".join([text, *self._troubles()]))

    def _look_at(self, source: LiveSource | ReplaySource) -> None:
        self._source, self._stage = source, Stage(source, glyphs=ASCII, paused=True)

    def close(self) -> None:
        """End the cluster and delete its temporary recording, or close the session."""
        if isinstance(self._source, LiveSource):
            self._source.close()
        elif self._source is not None:
            self._source.session.close()
        if self._recorder is not None:
            self._recorder.close()
        self._run = self._recorder = self._source = self._stage = None

    # ---- acting

    def perform(self, statements: str) -> str:
        """Give statements to the cluster, one after the other, and tell what became of each.

        Raises:
            WorkbenchError: there is no cluster, or the text is wrong; nothing has happened then.
        """
        run, recording = self._run, self._recorder
        if run is None or recording is None:
            raise WorkbenchError(self._without_cluster())
        with _refusals():
            steps = parse_line(statements, {})
        run.driver = Driver(run.runner, Pace(limit_us=LIMIT_US), recording.tick)
        lines: list[str] = []
        printed = len(run.outputs)
        try:
            for step in steps:
                lines.append(f"{step.text}: {outcome_text(run.perform(step))}")
                lines += [output.text.rstrip() for output in run.outputs[printed:]]
                printed = len(run.outputs)
        except TimeLimitError:
            lines.append(self._too_long())
        return limited("\n".join([*lines, *self._troubles()]))

    def _driven(self, script: Script) -> list[str]:
        """Run a script's statements, and return what became of those that failed."""
        assert self._run is not None
        lines = [f"{script.spec.version}, seed {script.spec.seed}"]

        def finished(step: Step, outcome: Outcome) -> None:
            if outcome.error != "NONE" or outcome.passed is False:
                lines.append(f"{step.text}: {outcome_text(outcome)}")

        try:
            self._run.run(finished)
        except TimeLimitError:
            lines.append(self._too_long())
        return [*lines, *(output.text.rstrip() for output in self._run.outputs)]

    def _too_long(self) -> str:
        return (
            f"{SECONDS_MAX:.0f} s have passed: this statement goes on with the next call, "
            "and those after it were not given"
        )

    def what_if(self, statements: str) -> str:
        """Tell what statements would change, by running them on a copy of the cluster.

        Raises:
            WorkbenchError: there is no cluster, or the text is wrong.
        """
        source = self._source
        if not isinstance(source, LiveSource):
            raise WorkbenchError(self._without_cluster())
        source.to_tail()
        try:
            parsed = source.statements_of(statements)
        except ValueError as error:
            raise WorkbenchError(str(error)) from None
        forecast = source.starting_point().forecast(parsed)
        until = monotonic() + SECONDS_MAX
        while not forecast.go_on(FORECAST_SLICE_S):
            if monotonic() > until:
                raise WorkbenchError(
                    f"the forecast takes longer than {SECONDS_MAX:.0f} s "
                    f"({forecast.share:.0%} is done): ask for less"
                )
        assert forecast.effect is not None
        rows = [text_of(row.line) for row in change_rows(forecast.effect)]
        ahead = f"within the next {forecast.effect.seconds} s"
        return limited("\n".join([f"{ahead}: {effect_words(forecast.effect)}", *rows]))

    # ---- looking

    def show(self, table: str, of: str = "", at: str = "") -> str:
        """Return a table of ``show``, of something, at a moment.

        Raises:
            WorkbenchError: there is none.
        """
        with self._at(at), _refusals():
            return limited(as_text(self._tables(table, of)))

    def _tables(self, table: str, of: str = "") -> list[Grid]:
        source = self._opened()
        for step in parse_line(shlex.join(["show", table, *([of] if of else [])]), {}):
            if isinstance(step, ShowStatement):
                return grids(step.show, source.view)
        raise BadWord(f"'{table}' is no table")

    def events(self, matching: str, last: int, at: str = "") -> str:
        """Return the last events up to a moment that match a pattern.

        Raises:
            WorkbenchError: the pattern is wrong.
        """
        source = self._opened()
        with self._at(at), _refusals():
            event_pattern = pattern(matching.split()) if matching else None
            selected = (
                event
                for event in _backwards(source)
                if event_pattern is None or event_pattern.matches(event)
            )
            events = list(islice(selected, max(1, min(last, EVENTS_MAX))))
        return limited(as_text([events_grid(Show("events"), events[::-1])]))

    def why(self, subject: str, at: str = "") -> str:
        """Explain a partition's state, or an event: the chain of causes, the root first.

        Raises:
            WorkbenchError: there is no such partition or event.
        """
        stage = self._staged()
        with self._at(at), _refusals():
            return limited("\n".join(answer(stage, subject).lines()))

    def _troubles(self) -> Iterator[str]:
        """Yield why partitions are not healthy, for the first of them, and how many more."""
        answers = troubles(self._staged(), TROUBLES_MAX + 1)
        yield from (answer.headline for answer in answers[:TROUBLES_MAX])
        if len(answers) > TROUBLES_MAX:
            yield "more partitions are not healthy"

    @contextmanager
    def _at(self, at: str) -> Iterator[None]:
        """Have the cursor at a moment, ``12s``, ``-3m`` or ``#345``, and then at the end again."""
        source = self._opened()
        try:
            if at:
                with _refusals():
                    go_to(source, place(at))
            yield
        finally:
            if at:
                source.to_tail()

    def _opened(self) -> LiveSource | ReplaySource:
        if self._source is None:
            raise WorkbenchError("there is neither a cluster nor a session yet: start or open one")
        return self._source

    def _staged(self) -> Stage:
        self._opened()
        assert self._stage is not None
        return self._stage

    def _without_cluster(self) -> str:
        if self._source is None:
            return "there is no cluster yet: start one"
        return "this is a recorded session, in which nothing can be changed: start a cluster"


def _backwards(source: LiveSource | ReplaySource) -> Iterator[Event]:
    """Yield the events from the cursor back to the first, read page by page."""
    last = source.seq
    while last >= source.first_seq:
        first = max(source.first_seq, last - PAGE + 1)
        yield from reversed(source.events(first, last))
        last = first - 1


@contextmanager
def _refusals() -> Iterator[None]:
    """Turn what is wrong with a call, or with a file, into a sentence for the assistant."""
    try:
        yield
    except (BadWord, CommandError, SessionError) as error:
        raise WorkbenchError(str(error)) from None


def limited(text: str) -> str:
    """Return a text, or its beginning and how much is missing."""
    text = text.strip()
    if len(text) <= CHARACTERS_MAX:
        return text
    shown = text[:CHARACTERS_MAX].rpartition("\n")[0] or text[:CHARACTERS_MAX]
    return f"{shown}\n({len(text) - len(shown):,} characters more: ask for less)"
