"""``tidegauge sessions show``: a session's metadata."""

import typer

from commands.cli.examples import examples
from commands.cli.sessions.arguments import AsJson, File
from commands.output import streams
from commands.runs.opening import opened

app = typer.Typer()


@app.command("show", epilog=examples("tidegauge sessions show run.tide.db --json"))
def show(file: File, as_json: AsJson = False) -> None:
    """Show a session's metadata, statements and final state."""
    from commands.output import session_tables

    with opened(file) as session:
        if as_json:
            streams.emit(session_tables.as_json(session_tables.described_plain(session)))
        else:
            streams.emit_tables(session_tables.described(session))
