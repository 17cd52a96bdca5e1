"""``tidegauge sessions script``: a recording's statements, to run again or change."""

from pathlib import Path

import typer

from commands.cli.examples import examples
from commands.cli.sessions.arguments import File
from commands.exits import ExitCode
from commands.output import streams

app = typer.Typer()


@app.command(
    "script",
    epilog=examples(
        "tidegauge sessions script run.tide.db",
        "tidegauge sessions script run.tide.db > again.tide && tidegauge run again.tide",
    ),
)
def script(file: File) -> ExitCode:
    """Print a session's statements as a script.

    Each statement runs at the time at which it was originally given, so the script reaches the same
    state. Requests of external clients ('tidegauge serve') are left out: 'tidegauge serve' of the
    script runs the statements at the same times while clients are served. Exit status 5: the
    session is damaged, and the script has the statements that can be read.
    """
    from commands.runs.console_library import script_of_source
    from sessions.sources.recorded import ReplaySource

    source = ReplaySource(Path(file))
    try:
        streams.emit(script_of_source(source))
        if not source.trouble:
            return ExitCode.OK
        streams.narrate(source.trouble)
        return ExitCode.BAD_SESSION
    finally:
        source.close()
