"""``tidegauge sessions diff``: where two sessions diverge."""

from typing import Annotated

import typer

from commands.cli.examples import examples
from commands.cli.options import argument
from commands.cli.sessions.arguments import AsJson
from commands.exits import ExitCode
from commands.output import streams
from commands.runs.opening import opened

app = typer.Typer()


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

    with opened(first) as one, opened(second) as other:
        comparison = compare(one, other)
        damaged = one.damage or other.damage
    if as_json:
        streams.emit_json(session_diff.as_plain(comparison))
    else:
        streams.emit_tables(session_diff.told(comparison))
    if not comparison.same:
        return ExitCode.FAILED
    return ExitCode.BAD_SESSION if damaged else ExitCode.OK
