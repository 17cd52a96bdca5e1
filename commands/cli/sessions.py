"""``tidegauge sessions``: inspect, verify and export recordings."""

import shlex
import sys
from math import inf
from pathlib import Path
from typing import Annotated

import typer

from commands.cli.examples import examples
from commands.cli.options import AsJson, argument, flag, option
from commands.exits import CommandError, ExitCode
from commands.language.places import first_seq, last_seq
from commands.output import streams
from commands.runs.opening import go_to, opened
from sessions.grammar.places import Place, place

app = typer.Typer(
    name="sessions",
    help="List, show, verify, compare, trim, export and delete recordings.",
    epilog=examples(
        "tidegauge sessions list recordings/",
        "tidegauge sessions verify recordings/scenario.tide.db",
    ),
)
File = Annotated[str, argument("FILE", text="a session file, *.tide.db")]


@app.command(
    "list", epilog=examples("tidegauge sessions list", "tidegauge sessions list recordings/")
)
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


@app.command("show", epilog=examples("tidegauge sessions show run.tide.db --json"))
def show(file: File, as_json: AsJson = False) -> ExitCode:
    """Show a session's metadata, statements and final state.

    Exit status 5: the session is damaged, and none of its events can be read.
    """
    from commands.output import session_tables
    from sessions.format.errors import consistent

    with opened(file) as session, consistent(session.path):
        damage_before = session.damage
        if as_json:
            streams.emit_json(session_tables.described_plain(session))
        else:
            streams.emit_tables(session_tables.described(session))
        if session.damage and session.damage != damage_before:
            streams.narrate(session.damage)
        is_empty = session.last_seq < session.first_seq
        return ExitCode.BAD_SESSION if session.damage and is_empty else ExitCode.OK


@app.command(
    "why",
    epilog=examples(
        "tidegauge sessions why run.tide.db",
        "tidegauge sessions why run.tide.db orders-0",
        "tidegauge sessions why run.tide.db orders-0 --at 12s --json",
        "tidegauge sessions why run.tide.db '#1289'",
    ),
)
def why(
    file: File,
    subject: Annotated[
        str,
        argument("SUBJECT", text="a partition, or an event's number [default: all that is wrong]"),
    ] = "",
    at: Annotated[
        Place | None,
        option(
            "--at",
            metavar="PLACE",
            parse=place,
            text="look at this time (12s, -3m) or event (#1289)",
            default="the end",
        ),
    ] = None,
    as_json: AsJson = False,
) -> ExitCode:
    """Explain a partition's state, or an event, by the chain of causes that led to it.

    The chain begins with what a person did or what chance brought, and ends with the change that
    is explained. Without a subject, there is one sentence for each partition that is not healthy.
    """
    from commands.runs import why as explanation
    from console.model.workspace import Stage
    from sessions.format.errors import consistent
    from sessions.grammar.words import BadWord
    from sessions.sources.replay import ReplaySource

    with opened(file) as session, consistent(session.path):
        source = ReplaySource(session.path)
        try:
            source.to_tail()
            if at is not None:
                go_to(source, at)
            stage = Stage(source, paused=True, patience=inf)
            if subject:
                answers = [explanation.answer(stage, subject)]
            else:
                answers = explanation.troubles(stage)
        except BadWord as error:
            raise CommandError(ExitCode.USAGE, str(error)) from None
        finally:
            source.session.close()
    if as_json and subject:
        streams.emit_json(answers[0].plain())
    elif as_json:
        streams.emit_json([answer.plain() for answer in answers])
    elif subject:
        streams.emit("".join(f"{line}\n" for line in answers[0].lines()))
    else:
        lines = [answer.headline for answer in answers] or ["every partition is healthy"]
        streams.emit("".join(f"{line}\n" for line in lines))
    return ExitCode.OK


SUFFIXES = (".html", ".htm")


@app.command(
    "html",
    epilog=examples(
        "tidegauge sessions html run.tide.db",
        "tidegauge sessions html run.tide.db --at '#1289' --out issue.html",
    ),
)
def html(
    file: File,
    out: Annotated[
        Path | None,
        option(
            "--out",
            metavar="PAGE",
            text="the page, *.html; one that exists is replaced",
            default="the session's name, in this folder",
        ),
    ] = None,
    at: Annotated[
        Place | None,
        option(
            "--at",
            metavar="PLACE",
            parse=place,
            text="open the page at this time (12s, -3m) or event (#1289)",
            default="the end",
        ),
    ] = None,
) -> None:
    """Write a session as one HTML file, to attach to an issue or to show.

    The page has partitions over time, the logs of each partition, all events and why each
    partition is in its state. It steps forwards and backwards, opens from a file in any browser
    of 2023 or newer, and loads nothing else.
    """
    from commands.output.progress import Progress
    from commands.runs.session_page import EVENTS_MAX, story_of
    from sessions.file_system import write_file
    from sessions.format.errors import consistent
    from sessions.replay_page.page import replay_page
    from sessions.sources.replay import ReplaySource
    from sessions.text import number

    name = Path(file).name
    page = Path(f"{name.removesuffix('.tide.db')}.html") if out is None else out
    if page.suffix not in SUFFIXES:
        message = f"--out: a page is called '{page.with_suffix('.html').name}', not '{page.name}'"
        raise CommandError(ExitCode.USAGE, message)
    with opened(file) as session, consistent(session.path):
        source = ReplaySource(session.path)
        try:
            count = source.last_seq - source.first_seq + 1
            if count > EVENTS_MAX:
                part = f"tidegauge sessions trim {shlex.quote(name)} --from=-3m --out part.tide.db"
                raise CommandError(
                    ExitCode.USAGE,
                    f"{name} has {number(count)} events, and a page holds {number(EVENTS_MAX)}: "
                    f"take a part of it first, such as '{part}'",
                )
            opens_at = source.last_seq
            if at is not None:
                go_to(source, at)
                opens_at = source.seq
            command = f"tidegauge replay {shlex.quote(name)}"
            with Progress(f"reading {name}", "events", count) as progress:
                story = story_of(source, name, command, opens_at, progress)
        finally:
            source.close()
    text = replay_page(story).encode()
    try:
        write_file(page, text, page.parent)
    except OSError as error:
        message = f"cannot write '{page}': {error.strerror}"
        raise CommandError(ExitCode.UNREACHABLE, message) from None
    streams.narrate(f"wrote {page}: {number(count)} events, {number(len(text))} bytes")


@app.command(
    "verify",
    epilog=examples(
        "tidegauge sessions verify run.tide.db", "tidegauge sessions verify run.tide.db --json"
    ),
)
def verify(file: File, as_json: AsJson = False) -> ExitCode:
    """Run a session again and compare.

    Its statements are run on a new cluster; every event and the final state must be the same. Exit
    status 1: they differ, and the first difference is printed; 5: the session is damaged, and its
    readable part is the same. If another version of tidegauge recorded it, only its state hash may
    differ, and a note says so.
    """
    from commands.output.progress import Progress
    from commands.output.session_diff import verification_as_plain
    from sessions.format.catalog import show_session
    from sessions.playback.verify import verify as verified

    last = show_session(file).last_seq
    with Progress(f"verifying {file}", "events", last) as progress:
        verification = verified(Path(file), progress)
    if as_json:
        streams.emit_json(verification_as_plain(verification))
    else:
        streams.emit(f"{verification}\n")
    if not verification.same:
        return ExitCode.FAILED
    return ExitCode.BAD_SESSION if verification.damaged else ExitCode.OK


@app.command(
    "export",
    epilog=examples(
        "tidegauge sessions export run.tide.db --out dataset/",
        "tidegauge sessions export recordings/*.tide.db --out dataset/",
        "tidegauge sessions export run.tide.db --out s3a://bucket/dataset",
        "tidegauge sessions export run.tide.db --out dataset/ --replace",
    ),
)
def export(
    files: Annotated[list[str], argument("FILE..", text="session files, *.tide.db")],
    out: Annotated[
        str,
        option("--out", metavar="DATASET", text="a dataset, a folder or URI; created if missing"),
    ],
    replace: Annotated[bool, flag("--replace", text="replace sessions of the same name")] = False,
) -> ExitCode:
    """Add sessions to a Parquet dataset.

    A session is named after its file in the dataset. A session becomes visible only once all of it
    is written. Sessions that are already in the dataset are skipped, so an interrupted export
    resumes when it is run again. Exit status 3: the dataset cannot be written, or already has a
    different session of the same name; 5: a session cannot be read, or not from its beginning, and
    the others are exported; 6: all are exported, but one is damaged, is still being recorded, or
    was killed.
    """
    from commands.runs.export import export_files

    return export_files(files, out, replace=replace)


@app.command(
    "diff",
    epilog=examples(
        "tidegauge sessions diff one.tide.db other.tide.db",
        "tidegauge sessions diff one.tide.db other.tide.db --json",
    ),
)
def diff(
    first: Annotated[str, argument("A", text="a session file, *.tide.db")],
    second: Annotated[str, argument("B", text="the session to compare it with")],
    as_json: AsJson = False,
) -> ExitCode:
    """Find where two sessions diverge.

    Prints the first event that differs, and all values that then differ between the two clusters.
    Differences in the inputs (release, seed, settings, statements) are listed separately. Exit
    status: 0 they are the same, 1 they differ, 5 one is damaged and its readable part is the same.
    """
    from commands.output import session_diff
    from sessions.playback.diff import compare

    with opened(first) as session_a, opened(second) as session_b:
        comparison = compare(session_a, session_b)
        damaged = session_a.damage or session_b.damage
    if as_json:
        streams.emit_json(session_diff.as_plain(comparison))
    else:
        streams.emit_tables(session_diff.tables_of(comparison))
    if not comparison.same:
        return ExitCode.FAILED
    return ExitCode.BAD_SESSION if damaged else ExitCode.OK


PLACE = "a time (12s, 12:04), one before the end (-3m) or an event (#18207)"


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
            copied = trimmed(session, target, first, last, progress)
    streams.narrate(
        f"{copied.path}: events {copied.first_seq:,} to {copied.last_seq:,} "
        f"of {copied.of_events:,}, {copied.size_bytes:,} bytes"
    )


@app.command(
    "delete",
    epilog=examples(
        "tidegauge sessions delete run.tide.db", "tidegauge sessions delete old/*.tide.db --yes"
    ),
)
def delete(
    files: Annotated[list[str], argument("FILE..", text="session files, *.tide.db")],
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
    subject = str(paths[0]) if len(paths) == 1 else f"{len(paths)} sessions"
    return typer.confirm(f"delete {clean(subject)} ({size:,} bytes)?", err=True)


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
    from sessions.sources.replay import ReplaySource

    source = ReplaySource(Path(file))
    try:
        streams.emit(script_of_source(source))
        if not source.trouble:
            return ExitCode.OK
        streams.narrate(source.trouble)
        return ExitCode.BAD_SESSION
    finally:
        source.close()
