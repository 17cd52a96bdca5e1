"""``tidegauge sessions``: look at recordings, verify them, and hand them on to analysis."""

from pathlib import Path
from typing import Annotated

import typer

from commands.cli import session_files, session_script
from commands.cli.examples import examples
from commands.cli.opening import opened
from commands.cli.options import argument, flag, option
from commands.exits import ExitCode
from commands.output import streams

app = typer.Typer(
    name="sessions",
    help="List, show, verify, compare, cut, export and delete recordings.",
    epilog=examples(
        "tidegauge sessions list recordings/",
        "tidegauge sessions verify recordings/scenario.tide.db",
    ),
)

File = Annotated[str, argument("FILE", text="a session, *.tide.db")]
AsJson = Annotated[bool, flag("--json", text="as JSON")]


@app.command("list", epilog=examples("tidegauge sessions list", "tidegauge sessions list DIR"))
def list_sessions(
    folder: Annotated[str, argument("DIR", text="a folder; here if left out")] = ".",
    as_json: AsJson = False,
) -> None:
    """List a folder's sessions."""
    from commands.output import session_tables

    if as_json:
        streams.emit(session_tables.as_json(session_tables.listed_plain(Path(folder))))
    else:
        streams.emit_tables([session_tables.listing(Path(folder))])


@app.command("show", epilog=examples("tidegauge sessions show run.tide.db --json"))
def show(file: File, as_json: AsJson = False) -> None:
    """Show a session's facts, statements and end."""
    from commands.output import session_tables

    with opened(file) as session:
        if as_json:
            streams.emit(session_tables.as_json(session_tables.facts(session)))
        else:
            streams.emit_tables(session_tables.described(session))


@app.command("verify", epilog=examples("tidegauge sessions verify run.tide.db"))
def verify(file: File) -> ExitCode:
    """Run a session again and compare.

    Its statements are given again to a new cluster; every event and the final state must be the
    same. Exit status 1: they are not, and the first difference is told; 5: it is damaged, and what
    can be read of it is the same.
    """
    from commands.output.progress import Progress
    from sessions.format.catalog import show_session
    from sessions.playback.verify import verify as verified

    last = show_session(file).last_seq
    with Progress(f"verifying {file}", "events", last) as progress:
        verification = verified(Path(file), progress)
    streams.emit(f"{verification}\n")
    if not verification.same:
        return ExitCode.FAILED
    return ExitCode.BAD_SESSION if verification.damaged else ExitCode.OK


@app.command(
    "export",
    epilog=examples(
        "tidegauge sessions export run.tide.db --out dataset/",
        "tidegauge sessions export recordings/*.tide.db --out dataset/",
    ),
)
def export(
    files: Annotated[list[str], argument("FILE", text="sessions, *.tide.db")],
    out: Annotated[str, option("--out", metavar="DATASET", text="a dataset; made if need be")],
) -> ExitCode:
    """Add sessions to a Parquet dataset.

    A session's name in the dataset is its file's. Nothing is seen of a session before all of it is
    there. One that is there already is left out: so an export that was broken off goes on when it
    is started again. Exit status 3: the dataset cannot be written, or has another session of a
    name; 5: a session cannot be read, or not from its beginning; the others are exported.
    """
    from commands.runs.export import export_files

    return export_files(files, Path(out))


app.add_typer(session_files.app)
app.add_typer(session_script.app)
