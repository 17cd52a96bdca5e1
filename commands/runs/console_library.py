"""What the console works with: the library, recordings, and saved scripts."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache, partial
from pathlib import Path

from commands.exits import CommandError, ExitCode
from commands.language.parser import Script, parse_script
from commands.library.index import GROUPS, Scenario, find, library
from commands.runs.driver import Pace
from commands.runs.live import asked, completer, replay_source_on_screen
from commands.runs.recording import TEMPORARY_BYTES_MAX, recorder
from commands.runs.script_from_session import Ending, TimedStatement, script_of, write_script
from commands.runs.script_runner import ScriptRunner
from console.model.exploration import Explored, Question, Watch
from console.model.library import Card, Finding, LibraryError, Opened, Tell
from emulator.cluster_image.image import ClusterImage
from emulator.events import Event
from emulator.inputs.conditions import Subject
from emulator.inputs.statements import OF_CONNECTIONS, Expect, ExpectEvents, Statement, WaitUntil
from emulator.releases.profiles import DEFAULT_VERSION, KRAFT_VERSIONS, RECOMMENDED
from emulator.releases.variants import VARIANTS
from emulator.releases.versions import DOCUMENTS
from sessions.format.errors import SessionError
from sessions.format.file import SessionFile
from sessions.format.metadata import RecordedInput
from sessions.grammar.clauses import leaves
from sessions.grammar.event_patterns import EventPattern, pattern
from sessions.grammar.words import BadWord
from sessions.recording.recorder import Recorder
from sessions.sources.live import LiveSource
from sessions.sources.replay import ReplaySource
from sessions.sources.source import Source
from sessions.sources.twin import TwinSource


@contextmanager
def _sentences() -> Iterator[None]:
    """Convert errors to the console's error messages."""
    try:
        yield
    except (CommandError, BadWord, SessionError) as error:
        raise LibraryError(str(error)) from None


class ConsoleLibrary:
    """Implements the console's :class:`console.model.library.Library`."""

    def __init__(self, folder: Path = Path()) -> None:
        """Look for sessions in ``folder``, and write scripts there."""
        self.folder = folder

    def versions(self) -> Sequence[str]:
        return RECOMMENDED

    def cards(self) -> Sequence[Card]:
        return [card_of(scenario) for scenario in library()]

    def open_scenario(self, name: str, version: str, against: str | None = None) -> Opened:
        """Run a scenario and open it with the cursor at its start."""
        with _sentences():
            scenario = find(name, library())
            source, recording = _live(scenario, version)
            if against is None:
                source.seek_seq(start_of(source))
                return _opened(source, [source], [recording], scenario)
            other, other_recording = _live(scenario, against)
            twin = TwinSource(source, other)
            twin.seek_seq(start_of(source))
            return _opened(twin, [source, other], [recording, other_recording], scenario)

    def fork(self, source: Source, statement: str) -> Opened:
        """Run a second cluster with the same inputs up to the time cursor, beside the first one."""
        from sessions.playback.rerun import rerun

        if not isinstance(source, LiveSource):
            raise LibraryError("only a single live cluster can be forked")
        with _sentences():
            source.flush()
            with SessionFile(source.recorder.path) as session:
                recording = Recorder(None, session.origin, limit_bytes=TEMPORARY_BYTES_MAX)
                runner = rerun(session, source.seq, recording, recording.announce)
            forked = LiveSource(runner, recording, partial(asked, variables={}))
            forked.name = f"{source.name} fork"
            seq = source.seq
            reply = forked.submit(statement)
            if reply.error != "NONE":
                forked.close()
                recording.close("ok")
                raise LibraryError(f"{reply.error}: {reply.message}")
            twin = TwinSource(forked, source)
            twin.seek_seq(seq)

            def close() -> None:
                forked.close()
                recording.close("ok")

            return Opened(twin, close, completer(twin))

    def open_session(self, path: Path) -> Opened:
        """Open a recording with the cursor at its beginning."""
        with _sentences():
            source = replay_source_on_screen(path)
            return Opened(source, source.close, completer(source))

    def open_script(self, name: str, script: str) -> Opened:
        """Run a script and open it with the cursor at its start."""
        with _sentences():
            parsed = parse_script(script, f"{name}.tide", {}, [])
            source, recording = _run(parsed, name)
            source.seek_seq(start_of(source))
            return _closing(source, [source], [recording], None)

    def explore(self, question: Question, version: str, watch: Watch) -> Explored:
        """Search a release for a violation."""
        from commands.runs.exploration import in_console

        with _sentences():
            return in_console(question, version, watch)

    def rehearse(self, image: ClusterImage, tell: Tell) -> str:
        """Rehearse the loss of each broker, controller and rack."""
        from commands.runs.rehearsal import rehearsed

        with _sentences():
            return rehearsed(image, tell)

    def save_script(self, source: Source, name: str) -> str:
        """Write a source's statements as a script."""
        with _sentences():
            path = write_script(script_of_source(source), self.folder / name)
            return f"saved as {path}: 'tidegauge run {path}' comes to the same state"

    def export(self, path: Path, dataset: str, tell: Tell) -> str:
        """Add a recording to a Parquet dataset."""
        from commands.runs.export import export_file

        with _sentences(), SessionFile(path) as session:
            if session.damage and not session.last_seq:
                raise CommandError(ExitCode.FAILED, f"{path}: there is no event to export")
            return export_file(session, self.folder / dataset, tell)

    def analyse(self, dataset: str, out: str, tell: Tell) -> list[Finding]:
        """Run Spark's jobs over a dataset."""
        from commands.runs.analysis import analysis, findings

        with _sentences():
            folder = self.folder
            data, results = str(folder / dataset), str(folder / out)
            return findings(analysis(data, results, None, None, tell=tell))


# ---- scenarios


@cache
def card_of(scenario: Scenario) -> Card:
    """Return a scenario as the Lab shows it."""
    return Card(
        scenario.name,
        scenario.title,
        scenario.group,
        scenario.watch,
        scenario.questions,
        scenario.versions,
        scenario.version,
        scenario.change,
        apart(scenario),
        scenario.answers(),
        tuple(watched(scenario)),
    )


def watched(scenario: Scenario) -> Iterator[Subject | EventPattern]:
    """Yield the subjects of the statements that answer a scenario's questions."""
    answers = scenario.answers()
    for step in parse_script(scenario.text(), scenario.path.name, {}).steps:
        if step.line not in answers or not isinstance(step, Statement):
            continue
        if isinstance(step.input, Expect | WaitUntil):
            yield from (clause.left for clause in leaves(step.input.clauses))
        elif isinstance(step.input, ExpectEvents):
            yield from map(pattern, step.input.patterns)
        else:
            yield Subject("audit", "", "lost")


def apart(scenario: Scenario) -> tuple[str, str]:
    """Return the two adjacent releases between which the outcome changes, as far as it is known.

    A variant of the documents is compared with these. For KRaft: the first release that it is
    written for, and the next; earlier ones may refuse it.
    """
    if scenario.group == GROUPS["K"]:
        index = min(KRAFT_VERSIONS.index(scenario.versions[0]), len(KRAFT_VERSIONS) - 2)
        return KRAFT_VERSIONS[index], KRAFT_VERSIONS[index + 1]
    if scenario.versions[0] in VARIANTS:
        return DOCUMENTS, scenario.versions[0]
    changes = [since for since, _ in scenario.outcomes[1:]]
    after = changes[-1] if changes else scenario.versions[0]
    if after == RECOMMENDED[0]:
        ended = RECOMMENDED.index(scenario.versions[-1])
        after = RECOMMENDED[min(ended + 1, RECOMMENDED.index(DEFAULT_VERSION))]
    return RECOMMENDED[RECOMMENDED.index(after) - 1], after


def _live(scenario: Scenario, version: str) -> tuple[LiveSource, Recorder]:
    """Run the scenario on a live cluster to its end."""
    script = parse_script(scenario.text(), scenario.path.name, {}, ["--version", version])
    return _run(script, f"{scenario.name} {version}")


def _run(script: Script, name: str) -> tuple[LiveSource, Recorder]:
    recording = recorder(script, None, {})
    runner = ScriptRunner(script, Pace(), recording)
    runner.run(lambda step, outcome: None)
    source = LiveSource(runner.runner, recording, partial(asked, variables={}))
    source.name = name
    return source, recording


def start_of(source: Source) -> int:
    """Return the event after which the cluster exists but no statement has run yet."""
    from emulator.events import InputFinished

    for first in range(1, source.last_seq + 1, 256):
        for event in source.events(first, first + 255):
            if isinstance(event, InputFinished):
                return event.seq
    return source.last_seq


def _opened(
    source: Source,
    sources: Sequence[LiveSource],
    recordings: Sequence[Recorder],
    scenario: Scenario,
) -> Opened:
    return _closing(source, sources, recordings, card_of(scenario))


def _closing(
    source: Source,
    sources: Sequence[LiveSource],
    recordings: Sequence[Recorder],
    card: Card | None,
) -> Opened:
    def close() -> None:
        for live in sources:
            live.close()
        for recording in recordings:
            recording.close("ok")

    return Opened(source, close, completer(source), card)


# ---- scripts


def script_of_source(source: Source) -> str:
    """Return a source's statements as a script.

    Raises:
        CommandError: its statements are not known.
    """
    if isinstance(source, TwinSource):
        return script_of_source(source.front)
    if isinstance(source, LiveSource):
        return script_of_live(source)
    if isinstance(source, ReplaySource):
        return script_of_recording(source)
    raise CommandError(ExitCode.FAILED, f"the statements of {source.name} are unknown")


def script_of_live(source: LiveSource) -> str:
    """Return a live cluster's statements so far as a script."""
    runner = source.runner
    source.recorder.flush()
    with SessionFile(source.recorder.path, check=False) as session:
        ending = Ending(runner.now_us, runner.steps, runner.state_hash)
        return _script(session, source.name, ending, source)


def script_of_recording(source: ReplaySource) -> str:
    """Return a recording's statements as a script.

    Raises:
        CommandError: the recording does not start with the creation of its cluster.
    """
    session = source.session
    ending = Ending(session.last_us, None)
    if session.complete and (outcome := session.outcome) is not None:
        ending = Ending(outcome.time_us, outcome.steps, outcome.state_hash)
    return _script(session, source.name, ending, source)


def _script(session: SessionFile, name: str, ending: Ending, source: Source) -> str:
    """Return the script; if requests of external clients are left out, no step count is known."""
    inputs = list(session.inputs(frames=False))
    if not inputs or inputs[0].seq != 1:
        raise CommandError(
            ExitCode.FAILED, f"{session.path} does not contain the creation of its cluster"
        )

    def event_at(seq: int) -> Event | None:
        events = source.events(seq, seq)
        return events[0] if events else None

    statements = [entry for entry in inputs if not _is_of_clients(entry)]
    left_out = len(inputs) - len(statements)
    if left_out:
        ending = Ending(ending.time_us, None)
    entries = [
        TimedStatement(
            entry.seq, entry.time_us, None if left_out else entry.steps, entry.line, entry.text
        )
        for entry in statements
    ]
    return script_of(name, session.origin.cluster, entries, ending, event_at, left_out)


def _is_of_clients(entry: RecordedInput) -> bool:
    return entry.statement is not None and isinstance(entry.statement.input, OF_CONNECTIONS)
