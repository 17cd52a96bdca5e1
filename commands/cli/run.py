"""``tidegauge run``: a script on an emulated cluster."""

import sys
from collections.abc import Callable
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Annotated, Final

import typer

from commands.cli.examples import examples
from commands.cli.options import (
    NO_CLUSTER,
    ClusterArguments,
    Image,
    JsonObject,
    Keep,
    Record,
    argument,
    option,
    with_groups,
)
from commands.exits import CommandError, ExitCode
from commands.language import values
from commands.output import streams
from sessions.grammar.words import BadWord

if TYPE_CHECKING:
    from commands.language.parser import Script
    from emulator.inputs.statements import Statement

US_PER_SECOND: Final = 1_000_000

app = typer.Typer()

EXAMPLES = examples(
    "tidegauge run scenario.tide",
    "tidegauge run scenario.tide --version 0.10.2 --seed 7 --set ACKS=1 --json",
    "tidegauge run scenario.tide --record recordings/ --speed 4",
    "tidegauge run -c 'cluster; topic create t --partitions 1 --replication-factor 3; settle'",
    "tidegauge run load.tide --until 'time >= 60s' --within 2m",
    "cat scenario.tide | tidegauge run -",
)


@app.command("run", epilog=EXAMPLES)
@with_groups
def run(
    file: Annotated[str, argument("FILE", text="a script; - is standard input")] = "",
    text: Annotated[
        str | None, option("-c", metavar="TEXT", text="statements, separated by ;")
    ] = None,
    cluster: ClusterArguments = NO_CLUSTER,
    image: Image = None,
    record: Record = None,
    keep: Keep = None,
    as_json: JsonObject = False,
    until: Annotated[
        str | None,
        option(
            "--until",
            metavar="CONDITION",
            text="after the script, continue until this condition holds",
        ),
    ] = None,
    within: Annotated[
        str | None,
        option("--within", metavar="D", text="maximum virtual time for --until", default="60s"),
    ] = None,
    limit: Annotated[
        int | None,
        option(
            "--limit",
            kind="positive D",
            text="maximum wall-clock time",
        ),
    ] = None,
    speed: Annotated[
        float | None,
        option(
            "--speed",
            metavar="N|max",
            parse=values.speed,
            text="virtual seconds per second of wall-clock time",
            default="max",
        ),
    ] = None,
) -> int:
    """Run a script on an emulated cluster.

    Standard error gets one line for each statement, standard output the result. Options for the
    cluster override the script's cluster line. Without --version, a script that names its releases
    ('# versions: 0.9 2.4') runs on the newest of them. Exit status: 0 all expectations hold, 1 an
    expectation or an invariant failed, 2 the script or the command line does not parse, 3 a file
    cannot be read or already exists, 4 a time limit was reached or memory did not suffice, 70 an
    internal error, 130 interrupted.
    """
    variables = cluster.values()
    if within is not None and until is None:
        message = "'tidegauge run' --within: it is the time for --until, which is missing"
        raise CommandError(ExitCode.USAGE, message)
    if keep is not None and record is None:
        message = "'tidegauge run' --keep: it is the size of --record, which is missing"
        raise CommandError(ExitCode.USAGE, message)
    options = cluster.options(image=image)
    started = monotonic()
    script = _read(lambda: _script(file, text, variables, options.words()), limit)
    ending = None if until is None else _ending(until, within or "60s")
    from commands.runs.driver import Pace
    from commands.runs.run import run_script

    recording = None
    if record is not None:
        from commands.runs.recording import recorder

        recording = recorder(script, Path(record), variables, keep)
    if limit is not None:
        limit = max(1, limit - int((monotonic() - started) * US_PER_SECOND))
    return run_script(script, Pace(speed, limit), recording, ending, as_json)


def _read(script: Callable[[], "Script"], limit_us: int | None) -> "Script":
    """Return a script that is read within the limit of time and of memory."""
    from commands.runs.cut_off import CutOff, cutting_off

    try:
        with cutting_off(limit_us):
            return script()
    except CutOff as cut:
        message = f"{cut.cause.value} while the script was read; a shorter one takes less"
        raise CommandError(ExitCode.TIME_LIMIT, message) from None


def _script(file: str, text: str | None, variables: dict[str, str], options: list[str]) -> "Script":
    from commands.language.parser import COMMAND_LINE, parse_script, read_text
    from commands.runs.notes import with_notes

    if bool(file) == (text is not None):
        raise CommandError(ExitCode.USAGE, "'tidegauge run' needs a FILE, - or -c, and only one")
    if text is not None:
        return with_notes(parse_script(text, COMMAND_LINE, variables, options))
    source = standard_input() if file == "-" else read_text(Path(file))
    script = with_notes(parse_script(source, file, variables, options))
    return _on_a_named_release(script, source, variables, options)


def _on_a_named_release(
    script: "Script", source: str, variables: dict[str, str], options: list[str]
) -> "Script":
    """Return the script for a release listed in its ``# versions:`` line.

    If the user names another release, use that one and print a note.
    """
    from commands.language.parser import parse_script
    from commands.library.index import named_versions
    from emulator.releases.profiles import DEFAULT_VERSION
    from emulator.releases.versions import order

    try:
        versions = named_versions(source)
    except BadWord as error:
        raise CommandError(ExitCode.USAGE, f"{script.name}: '# versions:': {error}") from None
    version = script.spec.version
    if not versions or version in versions:
        return script
    if "--version" in " ".join((script.cluster.text, *options)):
        listed = ", ".join(versions)
        streams.narrate(f"NOTE: {script.name} is written for {listed}; here it runs on {version}")
        return script
    chosen = DEFAULT_VERSION if DEFAULT_VERSION in versions else max(versions, key=order)
    streams.narrate(f"running on {chosen}, the newest release that {script.name} is written for")
    return parse_script(source, script.name, variables, [*options, "--version", chosen])


def standard_input() -> str:
    """Read all of standard input.

    Raises:
        CommandError: it is closed, not UTF-8, or longer than any valid script.
    """
    from commands.language.parser import SCRIPT_BYTES_MAX

    if sys.stdin is None or sys.stdin.closed:
        raise CommandError(ExitCode.UNREACHABLE, "cannot read standard input: it is closed")
    try:
        text = sys.stdin.read(SCRIPT_BYTES_MAX + 1)
    except UnicodeDecodeError:
        raise CommandError(ExitCode.USAGE, "standard input is not a UTF-8 text") from None
    except OSError as error:
        message = f"cannot read standard input: {(error.strerror or '').lower()}"
        raise CommandError(ExitCode.UNREACHABLE, message) from None
    if len(text) > SCRIPT_BYTES_MAX:
        message = f"standard input is no script: it has more than {SCRIPT_BYTES_MAX:,} characters"
        raise CommandError(ExitCode.USAGE, message)
    return text.removeprefix("\ufeff")


def _ending(condition: str, within: str) -> "Statement":
    """Return the ``wait until`` statement that ends the run."""
    from commands.language.parser import ScriptError, parse_line
    from emulator.inputs.statements import Statement

    try:
        (ending,) = parse_line(f"wait until {condition} within {within}")
    except ScriptError as error:
        message = error.message.removeprefix("'wait': ")
        raise CommandError(ExitCode.USAGE, f"'tidegauge run' --until: {message}") from None
    assert isinstance(ending, Statement)
    return Statement(ending.input, ending.text)
