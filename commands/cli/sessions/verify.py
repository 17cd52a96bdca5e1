"""``tidegauge sessions verify``: whether running a session again gives the same events."""

from pathlib import Path

import typer

from commands.cli.examples import examples
from commands.cli.sessions.arguments import File
from commands.exits import ExitCode
from commands.output import streams

app = typer.Typer()


@app.command("verify", epilog=examples("tidegauge sessions verify run.tide.db"))
def verify(file: File) -> ExitCode:
    """Run a session again and compare.

    Its statements are run on a new cluster; every event and the final state must be the same. Exit
    status 1: they differ, and the first difference is printed; 5: the session is damaged, and its
    readable part is the same.
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
