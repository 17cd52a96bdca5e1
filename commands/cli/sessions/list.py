"""``tidegauge sessions list``: the sessions in a folder and their outcomes."""

from pathlib import Path
from typing import Annotated

import typer

from commands.cli.examples import examples
from commands.cli.options import argument
from commands.cli.sessions.arguments import AsJson
from commands.output import streams

app = typer.Typer()


@app.command("list", epilog=examples("tidegauge sessions list", "tidegauge sessions list DIR"))
def list_sessions(
    folder: Annotated[str, argument("DIR", text="a folder [default: the current one]")] = ".",
    as_json: AsJson = False,
) -> None:
    """List the sessions in a folder."""
    from commands.output import session_tables

    if as_json:
        streams.emit_json(session_tables.listed_plain(Path(folder)))
    else:
        streams.emit_tables([session_tables.listing(Path(folder))])
