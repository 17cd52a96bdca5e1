"""What the console shows: a live cluster created by a script, or a recording.

The console does not import the parser: this module passes it to the source, for the ``:`` line.
"""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from commands.exits import ExitCode
from commands.language.completion import complete_line
from commands.language.parser import (
    AtStatement,
    Script,
    ScriptError,
    ShowStatement,
    parse_line,
    parse_script,
    read_text,
)
from commands.language.statements.show import Show
from commands.output.grids import as_text
from commands.output.show_tables import events_grid, grids
from commands.runs.driver import Pace
from commands.runs.recording import recorder
from commands.runs.run import driven, started
from emulator.events import Event
from emulator.scenario.runner import Runner
from sessions.grammar.event_patterns import Happened
from sessions.grammar.words import BadWord
from sessions.model.cluster_view import ClusterView
from sessions.playback.cursor import Reply
from sessions.recording.recorder import Recorder
from sessions.sources.live import LinePart, LiveSource
from sessions.sources.replay import ReplaySource
from sessions.sources.source import Source

DEMO = Path(__file__).parents[1] / "library" / "scripts" / "demo.tide"
"""The script that the console runs by default."""
PATIENCE_S = 0.03
"""How long a move through a recording takes at most before the screen shows how far it is."""


def live_source(
    path: Path | None,
    record: Path | None,
    variables: dict[str, str],
    options: Sequence[str],
    limit_bytes: int | None = None,
    statements: str | None = None,
) -> tuple[LiveSource, Recorder]:
    """Run a script on a live cluster to its end; return the cluster and its recorder.

    ``options`` are words for the ``cluster`` statement; ``statements`` follow the script's. Without
    ``record`` the recording is a temporary file that is deleted with the recorder; ``limit_bytes``
    limits its size. The caller closes both.

    Raises:
        CommandError: the script does not parse or cannot be read, or the recording cannot be made.
        KeyboardInterrupt: ctrl-c while the script ran.
    """
    script = script_shown(path, variables, options, statements)
    recording = recorder(script, record, variables, limit_bytes)
    runner = started(script, Pace(), recording)
    if driven(runner, None, json=True) is ExitCode.INTERRUPTED:
        recording.close("interrupted")
        raise KeyboardInterrupt
    return live_source_of(runner.runner, recording, variables), recording


def live_source_of(
    runner: Runner, recording: Recorder, variables: dict[str, str] | None = None
) -> LiveSource:
    """Return the source of a cluster that exists, and that ``recording`` has followed so far.

    ``variables`` are those of the lines that are given to it.
    """
    source = LiveSource(
        runner, recording, lambda text: asked(text, variables, lambda: _all_events(source))
    )
    return source


def script_shown(
    path: Path | None,
    variables: dict[str, str],
    options: Sequence[str],
    statements: str | None = None,
) -> Script:
    """Return the script that a live console runs; None: the demo. ``statements`` follow its own.

    Raises:
        CommandError: the script does not parse or cannot be read, or an option is wrong.
    """
    path = path or DEMO
    script = parse_script(read_text(path), str(path), variables, options)
    return script if statements is None else script.followed_by(parse_line(statements, variables))


def _all_events(source: Source) -> Sequence[Event]:
    """Return all retained events of a source."""
    return source.events(source.first_seq, source.last_seq)


def replay_source(path: Path) -> ReplaySource:
    """Open a recording with the cursor at its beginning.

    Raises:
        SessionError: it cannot be read.
    """
    return ReplaySource(path)


def replay_source_on_screen(path: Path) -> ReplaySource:
    """Open a recording whose cursor goes on frame by frame where a move takes long.

    Raises:
        SessionError: it cannot be read.
    """
    return ReplaySource(path, patience_s=PATIENCE_S)


def asked(
    text: str, variables: dict[str, str] | None = None, happened: Happened = tuple
) -> list[LinePart]:
    """Parse a console line: statements for the cluster, and queries of the view.

    ``happened`` returns the events that ``show events`` searches.

    Raises:
        ValueError: the line is wrong; its text is one sentence.
    """
    try:
        steps = parse_line(text, variables)
    except ScriptError as error:
        raise ValueError(error.problems[0]) from None
    return [
        partial(_shown, step.show, happened) if isinstance(step, ShowStatement) else step
        for step in steps
        if not isinstance(step, AtStatement)
    ]


def completer(source: Source) -> Callable[[str], list[str]]:
    """Return a completer for a line being typed, with the names that the source shows."""
    return lambda text: complete_line(text, source.view)


def _shown(show: Show, happened: Happened, view: ClusterView) -> Reply:
    try:
        if show.what == "events":
            return Reply(output=as_text([events_grid(show, happened())]))
        return Reply(output=as_text(grids(show, view)))
    except BadWord as error:
        return Reply("UNKNOWN_TOPIC_OR_PARTITION", str(error))
