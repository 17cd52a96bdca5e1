"""``tidegauge sessions trim``: copy part of a session."""

from pathlib import Path
from typing import Annotated

import typer

from commands.cli.examples import examples
from commands.cli.options import option
from commands.cli.sessions.arguments import File
from commands.language.places import first_seq, last_seq
from commands.output import streams
from commands.runs.opening import opened
from sessions.grammar.places import Place, place

PLACE = "a time (12s, 12:04), one before the end (-3m) or an event (#18207)"

app = typer.Typer()


@app.command(
    "trim",
    epilog=examples(
        "tidegauge sessions trim run.tide.db --to 12s --out start.tide.db",
        "tidegauge sessions trim run.tide.db --from=-3m --out end.tide.db",
        "tidegauge sessions trim damaged.tide.db --out whole.tide.db",
    ),
)
def trim(
    file: File,
    out: Annotated[str, option("--out", metavar="FILE", text="the new session file, *.tide.db")],
    begin: Annotated[
        Place | None,
        option("--from", metavar="PLACE", parse=place, text=PLACE, default="the beginning"),
    ] = None,
    end: Annotated[
        Place | None,
        option("--to", metavar="PLACE", parse=place, text="the same", default="the end"),
    ] = None,
) -> None:
    """Copy part of a session into a new one.

    Events keep their numbers, and the new session opens, replays and verifies as far as it goes.
    Trimming a damaged session copies its readable part into an intact one.
    """
    from commands.output.progress import Progress
    from commands.runs.recording import new_session
    from sessions.format.chunks import Chunks
    from sessions.playback.trim import trim as trimmed

    target = new_session(Path(out))
    with opened(file) as session:
        chunks = Chunks(session)
        first = session.first_seq if begin is None else first_seq(begin, chunks)
        last = session.last_seq if end is None else last_seq(end, chunks)
        with Progress(f"trimming {file}", "events", max(1, last - first + 1)) as progress:
            made = trimmed(session, target, first, last, progress)
    streams.narrate(
        f"{made.path}: events {made.first_seq:,} to {made.last_seq:,} of {made.of_events:,}, "
        f"{made.size_bytes:,} bytes"
    )
