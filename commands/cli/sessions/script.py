"""``tidegauge sessions script``: a recording's statements, to run again or change."""

from pathlib import Path

import typer

from commands.cli.examples import examples
from commands.cli.sessions.arguments import File
from commands.output import streams

app = typer.Typer()


@app.command(
    "script",
    epilog=examples(
        "tidegauge sessions script run.tide.db",
        "tidegauge sessions script run.tide.db > again.tide && tidegauge run again.tide",
    ),
)
def script(file: File) -> None:
    """Print a session's statements as a script.

    Each statement runs at the time at which it was originally given, so the script reaches the same
    state. Requests of external clients ('tidegauge serve') are left out: 'tidegauge serve' of the
    script runs the statements at the same times while clients are served.
    """
    from commands.runs.console_library import script_of_source
    from sessions.sources.source import ReplaySource

    source = ReplaySource(Path(file))
    try:
        streams.emit(script_of_source(source))
    finally:
        source.close()
