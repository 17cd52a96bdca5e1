"""A complete run: narrated, printed, recorded, and judged."""

from typing import TYPE_CHECKING

from commands.exits import ExitCode
from commands.language.parser import Script, Step
from commands.output import streams
from commands.runs.cut_off import Cause, CutOff, cutting_off
from commands.runs.driver import Pace, TimeLimitError
from commands.runs.json_result import final_tables, json_object
from commands.runs.narration import Narrator
from commands.runs.script_runner import ScriptRunner
from emulator.inputs.statements import Statement
from emulator.scenario.outcome import Outcome
from sessions.garbage_collection import collector_resting

if TYPE_CHECKING:  # only runs with --record import it: it takes a tenth of a start-up
    from sessions.recording.recorder import Recorder


def run_script(
    script: Script,
    pace: Pace,
    recording: "Recorder | None",
    ending: Statement | None,
    json: bool,
) -> ExitCode:
    """Run a script and print its result; ``ending`` is the statement of ``--until``.

    Raises:
        CommandError: the cluster cannot be created; no recording is kept then.
        SessionError: the recording failed; the run has been printed.
    """
    for name in script.unused:
        streams.narrate(f"--set {name}: the script does not use ${{{name}}}")
    with collector_resting():
        try:
            with cutting_off(pace.limit_us):
                runner = started(script, pace, recording)
                if recording is not None:
                    recording.look_in(runner.cluster.ledger)
                code = driven(runner, ending, json)
        except CutOff as cut:
            return _given_up(recording, cut)
        if code is not ExitCode.INTERRUPTED:
            _print(runner, json)
    if recording is not None:
        recording.close(code.name.lower())
        streams.narrate(f"recorded: {recording.path}")
    return code


def _given_up(recording: "Recorder | None", cut: CutOff) -> ExitCode:
    """Say that there is no result; what has been recorded is kept."""
    if recording is not None:
        recording.abandon()
    streams.narrate(
        f"{cut.cause.value} inside of one step, so there is no result;"
        " fewer brokers, partitions or records (--count) take less"
    )
    return ExitCode.INTERRUPTED if cut.cause is Cause.INTERRUPTED else ExitCode.TIME_LIMIT


def started(script: Script, pace: Pace, recording: "Recorder | None") -> ScriptRunner:
    """Return the runner with its cluster; if that fails, delete the recording that was started."""
    try:
        return ScriptRunner(script, pace, recording)
    except BaseException:
        if recording is not None:
            from sessions.format.writer import delete_files

            recording.close()
            delete_files(recording.path)
        raise


def driven(runner: ScriptRunner, ending: Statement | None, json: bool) -> ExitCode:
    """Run to the end or until interrupted, and judge; with ``json`` nothing is printed yet."""
    narrator = Narrator(lambda: (runner.cluster.now_us, runner.cluster.sequence))
    runner.watchers.append(narrator.look)
    printed = 0

    def finished(step: Step, outcome: Outcome) -> None:
        nonlocal printed
        narrator.finished(step, outcome)
        if not json:
            for output in runner.outputs[printed:]:
                streams.emit(output.text if output.text.endswith("\n") else f"{output.text}\n")
            printed = len(runner.outputs)

    narrator.finished(runner.script.cluster, Outcome())
    try:
        runner.run(finished, ending)
    except TimeLimitError:
        streams.narrate("the time limit was reached; the result shows the state at that moment")
        return ExitCode.TIME_LIMIT
    except KeyboardInterrupt:
        streams.narrate("interrupted")
        return ExitCode.INTERRUPTED
    except Exception:
        if runner.recorder is not None:
            runner.recorder.close("fault")
        raise
    return _judged(runner)


def _judged(runner: ScriptRunner) -> ExitCode:
    if not runner.reached_until:
        return ExitCode.TIME_LIMIT
    if runner.tally.failed or runner.violations:
        return ExitCode.FAILED
    return ExitCode.OK


def _print(runner: ScriptRunner, json: bool) -> None:
    if json:
        streams.emit_json(json_object(runner))
        return
    streams.emit_tables(final_tables(runner))
