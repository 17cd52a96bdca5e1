"""``tidegauge postmortem``: what happened to a cluster that somebody runs, by its own records."""

from collections.abc import Callable
from datetime import UTC, datetime, tzinfo
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from commands.cli.examples import examples
from commands.cli.options import AsJson, argument, option, place_at, switch
from commands.exits import CommandError, ExitCode
from commands.output import streams

if TYPE_CHECKING:
    from emulator.cluster_image.image import ClusterImage
    from sessions.own_cluster.places import Place
    from sessions.postmortem.beside import Writing
    from sessions.postmortem.incident import Incident, Progress
    from sessions.postmortem.what_if import Setting, WhatIf

app = typer.Typer()


@app.command(
    "postmortem",
    epilog=examples(
        "tidegauge postmortem /var/lib/kafka/metadata",
        "tidegauge postmortem node1 node2 node3 --record incident.tide.db",
        "tidegauge replay incident.tide.db",
        "tidegauge postmortem node1 node2 node3 --report incident.html --tz Europe/Berlin",
        "tidegauge postmortem __cluster_metadata-0 --what-if min.insync.replicas=2",
        "tidegauge postmortem __cluster_metadata-0 --json",
        "tidegauge postmortem __cluster_metadata-0 --json --at 2026-11-23T19:05:07.079Z",
    ),
)
def postmortem(
    paths: Annotated[
        list[str],
        argument(
            "PATH..",
            text="folders of nodes, their __cluster_metadata-0, their text logs, or files of these",
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
    report: Annotated[
        str | None,
        option("--report", kind="FILE", text="write the report for people, *.md or *.html"),
    ] = None,
    check: Annotated[
        bool | None,
        switch(
            "--check/--no-check",
            text="check each record against the rules of the release",
            default="check",
        ),
    ] = None,
    zone: Annotated[
        str | None,
        option(
            "--tz",
            metavar="ZONE",
            text="the time zone of text logs that do not say theirs: Europe/Berlin",
            default="UTC",
        ),
    ] = None,
    changes: Annotated[
        list[str] | None,
        option(
            "--what-if",
            metavar="CONFIG=VALUE",
            text="run the worst incidents on the emulator without and with this; may be repeated",
        ),
    ] = None,
    as_json: AsJson = False,
) -> int:
    """Read a cluster's own history from its metadata log, and check it against the rules.

    In KRaft mode __cluster_metadata is an exact history of everything that the controller decided,
    with wall-clock times. With ZooKeeper its transaction log is one; there are no rules to check it
    against. Text logs of the nodes say why. Copies of several nodes become one history; nothing is
    sent to a cluster and no file is changed. The exit status is 0 if a rule of the release explains
    every record, and 1 otherwise.
    """
    write = None if report is None else _writer(Path(report))
    settings = _settings(changes or [])
    incident = _examined(paths, _zone(zone), record, check, place_at(at), runs_again=bool(settings))
    comparisons = _without_and_with(paths, incident, settings)
    for note in incident.notes:
        streams.narrate(f"note: {note}")
    if as_json:
        from sessions.postmortem.document import as_plain

        streams.emit_json(as_plain(incident, comparisons))
    else:
        from commands.output.postmortem import lines

        streams.emit("".join(f"{line}\n" for line in lines(incident, comparisons)))
    if write is not None:
        write(incident, paths, comparisons)
    if record is not None:
        streams.narrate(f"wrote {record}: open it with 'tidegauge replay {record}'")
    return ExitCode.FAILED if incident.unexplained_count else ExitCode.OK


def _writer(path: Path) -> "Callable[[Incident, list[str], list[WhatIf]], None]":
    """Return what writes the report, in the format that the file's name says."""
    from sessions.file_system import write_file
    from sessions.postmortem.html import page
    from sessions.postmortem.markdown import markdown
    from sessions.postmortem.report import report_of

    if path.suffix not in (".md", ".html"):
        raise CommandError(ExitCode.USAGE, f"--report: '{path}' ends neither with .md nor .html")

    def write(incident: "Incident", sources: list[str], comparisons: "list[WhatIf]") -> None:
        report = report_of(incident, sources, comparisons)
        stamp = f"Made on {datetime.now().astimezone():%Y-%m-%d %H:%M %Z}."
        text = markdown(report) if path.suffix == ".md" else page(report, stamp)
        try:
            write_file(path, text.encode(), path.parent)
        except OSError as error:
            message = f"cannot write '{path}': {error.strerror}"
            raise CommandError(ExitCode.UNREACHABLE, message) from None
        streams.narrate(f"wrote {path}")

    return write


def _zone(name: str | None) -> tzinfo:
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

    from emulator.common.names import nearest_hint

    if name is None:
        return UTC
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        hint = nearest_hint(name, available_timezones())
        raise CommandError(ExitCode.USAGE, f"--tz: there is no time zone {name!r}{hint}") from None


def _settings(changes: list[str]) -> "list[Setting]":
    from emulator.releases.config import ConfigError
    from sessions.postmortem.what_if import setting_of

    try:
        return list(map(setting_of, changes))
    except ConfigError as error:
        raise CommandError(ExitCode.USAGE, f"--what-if: {error}") from None


def _without_and_with(
    paths: list[str], incident: "Incident", settings: "list[Setting]"
) -> "list[WhatIf]":
    from emulator.releases.config import ConfigError
    from sessions.own_cluster.reading import FormatError, SourceError
    from sessions.postmortem.what_if import what_if

    comparisons: list[WhatIf] = []
    try:
        for setting in settings:
            streams.progress(f"running the incidents with {setting} ..")
            changed = what_if(_history(paths), incident, setting)
            if not changed:
                streams.narrate("note: no incident did harm, so there is nothing to run again")
            comparisons += changed
    except ConfigError as error:
        raise CommandError(ExitCode.USAGE, f"--what-if: {error}") from None
    except (FormatError, SourceError) as error:
        raise CommandError(ExitCode.UNREACHABLE, f"--what-if: {error}") from None
    finally:
        streams.progress("")
    return comparisons


def _history(paths: list[str]) -> "Callable[[int], ClusterImage]":
    """Return what gives the image just before an offset, or a transaction of ZooKeeper's."""
    from sessions.own_cluster.zookeeper_history import log_copies, reading
    from sessions.postmortem.incident import read_paths
    from sessions.postmortem.what_if import image_before

    transactions = log_copies.find_transaction_logs(list(map(Path, paths)))
    if transactions is not None:
        return partial(reading.image_before, transactions)
    return partial(image_before, read_paths(paths))


def _examined(
    paths: list[str],
    zone: tzinfo,
    record: str | None,
    check: bool | None,
    until: "Place | None",
    *,
    runs_again: bool,
) -> "Incident":
    from emulator.quorum_controller.explanation.trace import Explainer
    from sessions.own_cluster.reading import SourceError
    from sessions.postmortem import beside, text_history
    from sessions.postmortem.incident import examine, read_sources
    from sessions.postmortem.session import record as record_session
    from sessions.postmortem.zookeeper import examination as zookeeper

    def show(records: int) -> None:
        streams.progress(f"reading .. {records:,} records")

    rules = None if check is False else Explainer()
    try:
        history = zookeeper.read_sources(paths, zone)
        if history is not None:
            transactions, lines = history
            if record is None:
                return zookeeper.examine(transactions, lines=lines, until=until, progress=show)
            return zookeeper.record(
                transactions, Path(record), paths, lines=lines, until=until, progress=show
            )
        only_lines = text_history.read_sources(paths, zone)
        if only_lines is not None:
            if runs_again:
                raise SourceError(f"--what-if: {text_history.NO_IMAGE}")
            if record is None:
                return text_history.examine(only_lines, until=until, progress=show)
            return text_history.record(only_lines, Path(record), paths, until=until, progress=show)
        log, lines = read_sources(paths, zone)
        if record is not None and log.size_bytes >= beside.WORTH_BYTES:
            with beside.writing_beside(paths, Path(record), zone, until) as writing:
                incident = examine(
                    log,
                    lines=lines,
                    rules=rules,
                    until=until,
                    progress=_shows_progress(record, writing),
                )
                streams.progress("writing the session ..")
                writing.finish()
                return incident
        if record is None:
            return examine(
                log,
                lines=lines,
                rules=rules,
                until=until,
                progress=show,
            )
        return record_session(
            log,
            Path(record),
            paths,
            lines=lines,
            rules=rules,
            until=until,
            progress=show,
        )
    except SourceError as error:
        raise CommandError(ExitCode.UNREACHABLE, str(error)) from None
    finally:
        streams.progress("")


def _shows_progress(record: str, writing: "Writing") -> "Progress":
    """Return what shows the progress, and says when the session can be opened before the end."""
    was_complete = False

    def show(records: int) -> None:
        nonlocal was_complete
        if writing.is_complete and not was_complete:
            was_complete = True
            streams.progress("")
            streams.narrate(
                f"{record} is complete, and can be opened while its records are checked"
            )
        streams.progress(f"checking .. {records:,} records")

    return show
