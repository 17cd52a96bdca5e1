"""``tidegauge sessions`` continued: compare recordings, cut pieces from them, delete them."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from commands.cli.examples import examples
from commands.cli.opening import opened
from commands.cli.options import argument, flag, option
from commands.exits import CommandError, ExitCode
from commands.language.places import first_seq, last_seq
from commands.output import streams
from sessions.grammar.places import Place, place

app = typer.Typer()

PLACE = "a time (12s, 12:04), one before the end (-3m) or an event (#18207)"


@app.command(
    "diff",
    epilog=examples(
        "tidegauge sessions diff one.tide.db other.tide.db",
        "tidegauge sessions diff one.tide.db other.tide.db --json",
    ),
)
def diff(
    first: Annotated[str, argument("A", text="a session, *.tide.db")],
    second: Annotated[str, argument("B", text="another one")],
    as_json: Annotated[bool, flag("--json", text="as JSON")] = False,
) -> ExitCode:
    """Find where two sessions part.

    Prints the first event that is not the same in both, and all values that then differ between the
    two clusters. What was asked (release, seed, settings, statements) is told apart. Exit status:
    0 they are the same, 1 they differ, 5 one is damaged and as far as it can be read they are the
    same.
    """
    from commands.output import session_diff, session_tables
    from sessions.playback.diff import compare

    with opened(first) as one, opened(second) as other:
        found = compare(one, other)
        damaged = one.damage or other.damage
    if as_json:
        streams.emit(session_tables.as_json(session_diff.as_plain(found)))
    else:
        streams.emit_tables(session_diff.told(found))
    if not found.same:
        return ExitCode.FAILED
    return ExitCode.BAD_SESSION if damaged else ExitCode.OK


@app.command(
    "trim",
    epilog=examples(
        "tidegauge sessions trim run.tide.db --to 12s --out start.tide.db",
        "tidegauge sessions trim run.tide.db --from=-3m --out end.tide.db",
        "tidegauge sessions trim damaged.tide.db --out whole.tide.db",
    ),
)
def trim(
    file: Annotated[str, argument("FILE", text="a session, *.tide.db")],
    out: Annotated[str, option("--out", metavar="FILE", text="the new session, *.tide.db")],
    begin: Annotated[
        Place | None,
        option("--from", metavar="PLACE", parse=place, text=PLACE, default="the beginning"),
    ] = None,
    end: Annotated[
        Place | None,
        option("--to", metavar="PLACE", parse=place, text="the same", default="the end"),
    ] = None,
) -> None:
    """Copy a part of a session into a new one.

    Events keep their numbers, and the new session opens, replays and verifies as far as it goes. Of
    a damaged session, the part that can be read becomes a whole one.
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


@app.command(
    "delete",
    epilog=examples(
        "tidegauge sessions delete run.tide.db", "tidegauge sessions delete old/*.tide.db --yes"
    ),
)
def delete(
    files: Annotated[list[str], argument("FILE", text="sessions, *.tide.db")],
    yes: Annotated[bool, flag("--yes", text="do not ask")] = False,
) -> None:
    """Delete sessions, after a question.

    What is no session is not deleted, nor is one that is being recorded.
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
    """Whether somebody at a terminal says yes.

    Raises:
        CommandError: there is nobody to ask.
    """
    stream = sys.stdin
    if stream is None or stream.closed or not stream.isatty():
        message = "'tidegauge sessions delete' asks, and here is no terminal: give --yes"
        raise CommandError(ExitCode.USAGE, message)
    size = sum(path.stat().st_size for path in paths)
    what = str(paths[0]) if len(paths) == 1 else f"{len(paths)} sessions"
    return typer.confirm(f"delete {what} ({size:,} bytes)?", err=True)
