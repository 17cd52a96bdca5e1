"""``tidegauge sessions delete``: delete sessions and no other files."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from commands.cli.examples import examples
from commands.cli.options import argument, flag
from commands.exits import CommandError, ExitCode
from commands.output import streams

app = typer.Typer()


@app.command(
    "delete",
    epilog=examples(
        "tidegauge sessions delete run.tide.db", "tidegauge sessions delete old/*.tide.db --yes"
    ),
)
def delete(
    files: Annotated[list[str], argument("FILE", text="session files, *.tide.db")],
    yes: Annotated[bool, flag("--yes", text="do not ask for confirmation")] = False,
) -> None:
    """Delete sessions, after confirmation.

    Files that are not sessions are not deleted, nor are sessions that are being recorded.
    """
    from sessions.format.catalog import delete_session
    from sessions.format.header import require_session

    paths = [Path(file) for file in dict.fromkeys(files)]
    for path in paths:
        require_session(path)
    if not yes and not _confirmed(paths):
        streams.narrate("nothing was deleted")
        return
    for path in paths:
        delete_session(path)
        streams.narrate(f"deleted: {path}")


def _confirmed(paths: list[Path]) -> bool:
    """Return whether the user confirms at the terminal.

    Raises:
        CommandError: there is no terminal to prompt on.
    """
    stream = sys.stdin
    if stream is None or stream.closed or not stream.isatty():
        message = "'tidegauge sessions delete' asks, and here is no terminal: give --yes"
        raise CommandError(ExitCode.USAGE, message)
    from sessions.text import clean

    size = sum(path.stat().st_size for path in paths)
    what = str(paths[0]) if len(paths) == 1 else f"{len(paths)} sessions"
    return typer.confirm(f"delete {clean(what)} ({size:,} bytes)?", err=True)
