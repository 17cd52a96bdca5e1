"""``tidegauge postmortem``: what happened to a cluster that somebody runs, by its own records."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from commands.cli.examples import examples
from commands.cli.options import argument, flag, option
from commands.exits import CommandError, ExitCode
from commands.output import streams

if TYPE_CHECKING:
    from sessions.postmortem.incident import Incident
    from sessions.postmortem.places import Place

app = typer.Typer()
PROGRAM: Final = "tidegauge postmortem"


@app.command(
    "postmortem",
    epilog=examples(
        "tidegauge postmortem /var/lib/kafka/metadata",
        "tidegauge postmortem node1 node2 node3 --record incident.tide.db",
        "tidegauge replay incident.tide.db",
        "tidegauge postmortem __cluster_metadata-0 --json",
        "tidegauge postmortem __cluster_metadata-0 --json --at 2026-11-23T19:05:07.079Z",
    ),
)
def postmortem(
    paths: Annotated[
        list[str],
        argument(
            "PATH..", text="folders of nodes, or their __cluster_metadata-0, or files of these"
        ),
    ],
    record: Annotated[
        str | None,
        option("--record", kind="FILE", text="write the history as a session, *.tide.db"),
    ] = None,
    at: Annotated[
        str | None,
        option(
            "--at",
            metavar="OFFSET|TIME",
            text="the state there, and what led to it: 88, or 2026-11-23T19:05:07.079Z",
            default="the end",
        ),
    ] = None,
    as_json: Annotated[bool, flag("--json", text="print JSON")] = False,
) -> int:
    """Read a cluster's own history from its metadata log, and check it against the rules.

    In KRaft mode __cluster_metadata is an exact history of everything that the controller decided,
    with wall-clock times. Copies of several nodes become one history; nothing is sent to a cluster
    and no file is changed. The exit status is 0 if a rule of the release explains every record, and
    1 otherwise.
    """
    incident = _examined(paths, record, _place(at))
    for note in incident.notes:
        streams.narrate(f"note: {note}")
    if as_json:
        from sessions.postmortem.document import as_plain

        streams.emit_json(as_plain(incident))
    else:
        from commands.output.postmortem import lines

        streams.emit("".join(f"{line}\n" for line in lines(incident)))
    if record is not None:
        streams.narrate(f"wrote {record}: open it with 'tidegauge replay {record}'")
    return ExitCode.FAILED if incident.unexplained_count else ExitCode.OK


def _place(at: str | None) -> "Place | None":
    from sessions.postmortem.places import place_of

    if at is None:
        return None
    try:
        return place_of(at)
    except ValueError as error:
        raise CommandError(ExitCode.USAGE, f"--at: {error}") from None


def _examined(paths: list[str], record: str | None, until: "Place | None") -> "Incident":
    from sessions.own_cluster.reading import SourceError
    from sessions.postmortem.incident import examine, read_paths
    from sessions.postmortem.session import record as record_session

    def tell(records: int) -> None:
        streams.progress(f"reading .. {records:,} records")

    try:
        log = read_paths(paths)
        if record is None:
            return examine(log, until=until, progress=tell)
        return record_session(log, Path(record), paths, PROGRAM, until=until, progress=tell)
    except SourceError as error:
        raise CommandError(ExitCode.UNREACHABLE, str(error)) from None
    finally:
        streams.progress("")
