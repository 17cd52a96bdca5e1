"""``tidegauge rehearse``: what a cluster that somebody runs does when something fails."""

import os
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from commands.cli.examples import examples
from commands.cli.import_cluster import imported_of
from commands.cli.options import (
    Mode,
    Racks,
    ResourceSettings,
    Seed,
    Version,
    argument,
    flag,
    option,
)
from commands.exits import CommandError, ExitCode
from commands.language import values
from commands.output import streams

if TYPE_CHECKING:
    from emulator.cluster_image.image import ClusterImage
    from sessions.own_cluster.importing import Imported
    from sessions.rehearsal.cases import Case
    from sessions.rehearsal.report import Report

app = typer.Typer()

IMAGE_NAME: Final = "prod.cluster.json"
"""How commands in the report name the image if it was made of several sources."""


@app.command(
    "rehearse",
    epilog=examples(
        "kafka-topics --bootstrap-server kafka:9092 --describe > topics.txt",
        "tidegauge rehearse topics.txt --version 4.1",
        "tidegauge rehearse prod.cluster.json --html report.html",
        "tidegauge rehearse prod.cluster.json --lose rack=a,broker=7 --json --partitions",
        "tidegauge rehearse prod.cluster.json --each rack --roll",
        "tidegauge rehearse prod.cluster.json --json --baseline yesterday.json",
    ),
)
def rehearse(
    sources: Annotated[
        list[str],
        argument("SOURCE..", text="an image, or sources as 'tidegauge import' reads them"),
    ],
    each: Annotated[
        list[str] | None,
        option(
            "--each",
            metavar="KIND",
            parse=values.choice("broker", "controller", "rack", "pair"),
            text="rehearse the loss of each broker, controller, rack or pair of brokers; may be"
            " repeated",
            default="each broker, controller and rack",
        ),
    ] = None,
    pairs: Annotated[bool, flag("--pairs", text="rehearse the loss of each pair, too")] = False,
    lose: Annotated[
        list[values.Losses] | None,
        option(
            "--lose",
            metavar="NODES",
            parse=values.losses,
            text="rehearse the loss of these together: broker=1,broker=4, controller=100, rack=a;"
            " may be repeated, and replaces the default",
        ),
    ] = None,
    roll: Annotated[
        bool, flag("--roll", text="restart all nodes one after another, in the best order")
    ] = False,
    version: Version = None,
    mode: Mode = None,
    racks: Racks = None,
    settings: ResourceSettings = None,
    seed: Seed = None,
    partitions: Annotated[
        bool, flag("--partitions", text="list all partitions after each case in the JSON")
    ] = False,
    as_json: Annotated[bool, flag("--json", text="print JSON")] = False,
    html: Annotated[
        str | None,
        option(
            "--html", metavar="FILE", parse=values.file_name, text="write the report as one page"
        ),
    ] = None,
    baseline: Annotated[
        str | None,
        option(
            "--baseline",
            metavar="FILE",
            parse=values.file_name,
            text="the JSON of an earlier rehearsal: tell only what became worse",
        ),
    ] = None,
    workers: Annotated[
        int | None,
        option(
            "--workers",
            metavar="N",
            parse=values.count,
            text="how many cases to run side by side",
            default="one for each core",
        ),
    ] = None,
) -> int:
    """Rehearse failures of a cluster that you run, on an emulated copy.

    The copy starts in the state that the sources tell, loses a broker, a controller or a rack, and
    does what that release of Kafka does. Nothing is sent to your cluster. The exit status is 0 if
    nothing that is healthy now becomes unavailable or unwritable in any case, and 1 otherwise; with
    --baseline it is 1 if something became worse.
    """
    imported = imported_of(sources, racks or [], settings or [], version, mode)
    before = None if baseline is None else _baseline(Path(baseline))
    report = _rehearsed(
        imported,
        image_name=sources[0] if len(sources) == 1 else IMAGE_NAME,
        each=[*(each or ()), *(["pair"] if pairs else ())],
        lose=lose or [],
        roll=roll,
        seed=seed,
        workers=workers or os.cpu_count() or 1,
    )
    if html is not None:
        _write_page(report, Path(html), sources)
    if before is not None:
        return _tell_worse(report, before, as_json=as_json)
    _tell(report, as_json=as_json, partitions=partitions)
    return ExitCode.OK if report.safe else ExitCode.FAILED


def _rehearsed(
    imported: "Imported",
    *,
    image_name: str,
    each: Sequence[str],
    lose: Sequence[values.Losses],
    roll: bool,
    seed: int | None,
    workers: int,
) -> "Report":
    from commands.output.progress import Progress
    from emulator.cluster_image.assumptions import complete
    from emulator.inputs.statements import CreateCluster
    from emulator.releases.config import ConfigError
    from sessions.rehearsal.cases import CaseError
    from sessions.rehearsal.report import report_of
    from sessions.rehearsal.rolling import roll as roll_nodes
    from sessions.rehearsal.runs import Rehearsal, run_cases

    completed = complete(imported.image)
    image = completed.image
    try:
        cases = list(dict.fromkeys(_cases(image, each, lose, only_rolled=roll)))
        spec = CreateCluster(
            version=image.release or "",
            mode=image.mode or "",
            image=image,
            seed=1 if seed is None else seed,
        )
        rehearsal = Rehearsal(spec, image)
    except (CaseError, ConfigError) as error:
        raise CommandError(ExitCode.USAGE, str(error).removesuffix(".")) from None
    done = 0
    with Progress("rehearsing", "cases", len(cases)) as progress:

        def note(_run: object) -> None:
            nonlocal done
            done += 1
            progress(done)

        runs = run_cases(rehearsal, spec, cases, workers=workers, progress=note)
    rolled = roll_nodes(rehearsal) if roll else None
    assumed = [str(each) for each in completed.assumed]
    return report_of(rehearsal, runs, assumed, image_name, rolled)


def _cases(
    image: "ClusterImage", each: Sequence[str], lose: Sequence[values.Losses], *, only_rolled: bool
) -> Iterator["Case"]:
    from sessions.rehearsal import cases

    kinds = {
        "broker": cases.each_broker,
        "controller": cases.each_controller,
        "rack": cases.each_rack,
        "pair": cases.each_pair,
    }
    chosen = each
    if (not each or list(each) == ["pair"]) and not lose and not only_rolled:
        chosen = ["broker", "controller", "rack", *each]
    for kind in chosen:
        yield from kinds[kind](image)
    for losses in lose:
        yield cases.together(image, losses)


def _baseline(path: Path) -> dict[str, dict[str, list[str]]]:
    from sessions.file_system import read_regular
    from sessions.rehearsal.baseline import BaselineError, risks_in

    try:
        return risks_in(read_regular(path, 1 << 30))
    except BaselineError as error:
        raise CommandError(ExitCode.UNREACHABLE, f"'{path}' {error}") from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise CommandError(ExitCode.UNREACHABLE, f"cannot read '{path}': {reason}") from None


def _tell(report: "Report", *, as_json: bool, partitions: bool) -> None:
    from commands.output.rehearsal import details, tables, verdict
    from sessions.rehearsal.report import as_plain

    if as_json:
        streams.emit_json(as_plain(report, partitions=partitions))
        return
    for line in report.assumed:
        streams.narrate(f"assumed: {line}")
    streams.emit(f"{verdict(report)}\n\n")
    streams.emit_tables(tables(report))
    streams.emit("\n" + "".join(f"{line}\n" for line in details(report)))


def _tell_worse(report: "Report", before: dict[str, dict[str, list[str]]], *, as_json: bool) -> int:
    from commands.output.rehearsal import KINDS, listed
    from sessions.rehearsal.baseline import worse

    found = worse(report, before)
    if as_json:
        streams.emit_json({"schema": 1, "worse": found, "safe": report.safe})
    elif not found:
        streams.emit("nothing became worse\n")
    else:
        for case in found:
            for kind, meaning in KINDS:
                if case["risks"][kind]:
                    tps = listed(case["risks"][kind])
                    streams.emit(f"worse: {case['name']}: {meaning}: {tps}\n")
    return ExitCode.FAILED if found else ExitCode.OK


def _write_page(report: "Report", path: Path, sources: Sequence[str]) -> None:
    from commands.output.rehearsal import verdict
    from sessions.rehearsal.html import page

    made = f"made on {datetime.now().astimezone():%Y-%m-%d %H:%M %Z}"
    text = page(report, ", ".join(sources), verdict(report), made)
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        message = f"cannot write '{path}': {error.strerror}"
        raise CommandError(ExitCode.UNREACHABLE, message) from None
    streams.narrate(f"wrote {path}")
