"""``tidegauge sessions show``: a session's metadata."""

import typer

from commands.cli.examples import examples
from commands.cli.sessions.arguments import AsJson, File
from commands.exits import ExitCode
from commands.output import streams
from commands.runs.opening import opened

app = typer.Typer()


@app.command("show", epilog=examples("tidegauge sessions show run.tide.db --json"))
def show(file: File, as_json: AsJson = False) -> ExitCode:
    """Show a session's metadata, statements and final state.

    Exit status 5: the session is damaged, and none of its events can be read.
    """
    from commands.output import session_tables
    from sessions.format.errors import consistent

    with opened(file) as session, consistent(session.path):
        told = session.damage
        if as_json:
            streams.emit_json(session_tables.described_plain(session))
        else:
            streams.emit_tables(session_tables.described(session))
        if session.damage and session.damage != told:
            streams.narrate(session.damage)
        is_empty = session.last_seq < session.first_seq
        return ExitCode.BAD_SESSION if session.damage and is_empty else ExitCode.OK
