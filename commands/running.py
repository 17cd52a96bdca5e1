"""A whole run as people and programs see it: narrated, printed, recorded, and judged."""

from commands import output
from commands.driver import Pace, TimeLimitError
from commands.exits import ExitCode
from commands.narration import Narrator
from commands.parser import Script, Step
from commands.report import as_json, final_tables, json_object
from commands.runner import ScriptRunner
from emulator.inputs.statements import Statement
from emulator.scenario.outcome import Outcome
from sessions.collector import collector_resting
from sessions.record import Recorder


def run_script(
    script: Script,
    pace: Pace,
    recording: Recorder | None,
    ending: Statement | None,
    json: bool,
) -> ExitCode:
    """Run a script and print what it yields; ``ending`` is the statement of ``--until``.

    Raises:
        CommandError: the cluster cannot be made; there is no recording then.
        SessionError: the recording failed; the run has been printed.
    """
    for name in script.unused:
        output.narrate(f"--set {name}: nothing in the script asks for ${{{name}}}")
    with collector_resting():
        runner = started(script, pace, recording)
        code = driven(runner, ending, json)
        if code is not ExitCode.INTERRUPTED:
            _print(runner, json)
    if recording is not None:
        recording.close(code.name.lower())
        output.narrate(f"recorded: {recording.path}")
    return code


def started(script: Script, pace: Pace, recording: Recorder | None) -> ScriptRunner:
    """The runner with its cluster; if that fails, the recording that was begun goes."""
    try:
        return ScriptRunner(script, pace, recording)
    except BaseException:
        if recording is not None:
            recording.close()
            recording.path.unlink(missing_ok=True)
        raise


def driven(runner: ScriptRunner, ending: Statement | None, json: bool) -> ExitCode:
    """Run to the end, or to where it is broken off, and judge; ``json``: nothing is printed yet."""
    narrator = Narrator(lambda: (runner.cluster.now_us, runner.cluster.sequence))
    runner.watchers.append(narrator.look)
    printed = 0

    def finished(step: Step, outcome: Outcome) -> None:
        nonlocal printed
        narrator.finished(step, outcome)
        if not json:
            for each in runner.outputs[printed:]:
                output.emit(each.text if each.text.endswith("\n") else f"{each.text}\n")
            printed = len(runner.outputs)

    narrator.finished(runner.script.cluster, Outcome())
    try:
        runner.run(finished, ending)
    except TimeLimitError:
        output.narrate("the time limit ran out; what follows is how things stood then")
        return ExitCode.TIME_LIMIT
    except KeyboardInterrupt:
        output.narrate("interrupted")
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
        output.emit(as_json(json_object(runner)))
        return
    output.emit_tables(final_tables(runner))
