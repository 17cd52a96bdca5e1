"""``tidegauge sessions html``: a recording as one page that needs neither program nor network."""

import shlex
from pathlib import Path
from typing import Annotated

import typer

from commands.cli.examples import examples
from commands.cli.options import option
from commands.cli.sessions.arguments import File
from commands.exits import CommandError, ExitCode
from commands.output import streams
from commands.runs.opening import opened
from sessions.grammar.places import Place, place

app = typer.Typer()
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
    from commands.runs.why import go_to
    from sessions.file_system import write_file
    from sessions.format.errors import consistent
    from sessions.replay_page.page import replay_page
    from sessions.sources.recorded import ReplaySource
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
