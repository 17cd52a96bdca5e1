"""``tidegauge rehearse``: what a cluster that somebody runs does when something fails."""

import os
import shlex
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, NamedTuple

import typer

from commands.cli.examples import examples
from commands.cli.import_cluster import imported_of
from commands.cli.options import (
    AsJson,
    Mode,
    Racks,
    ResourceSettings,
    Seed,
    Version,
    argument,
    flag,
    option,
)
from commands.cli.spark_options import Master, SparkConf, spark_conf
from commands.exits import CommandError, ExitCode
from commands.language import values
from commands.language.images import is_image
from commands.output import streams
from emulator.common.extras import missing_extra

if TYPE_CHECKING:
    from emulator.cluster_image.image import ClusterImage
    from emulator.inputs.statements import CreateCluster
    from sessions.own_cluster.importing import Imported
    from sessions.rehearsal.cases import Case
    from sessions.rehearsal.change import Plan
    from sessions.rehearsal.report import Report
    from sessions.rehearsal.runs import Order, Progress, Rehearsal, RunTrials, Trial

app = typer.Typer()


class ChangeOptions(NamedTuple):
    """A change to preview: the file of a plan, brokers that leave or come, configurations."""

    plan: str | None
    decommission: Sequence[int]
    add_brokers: Sequence[values.Setting]
    settings: Sequence[values.Setting]


class Execution(NamedTuple):
    """Where cases run: in so many processes here, or with a Spark master."""

    workers: int
    master: str | None
    conf: dict[str, str]

    def run(self, rehearsal: "Rehearsal", spec: "CreateCluster") -> "RunTrials":
        from sessions.rehearsal.processes import in_processes

        if self.master is None:
            return in_processes(rehearsal, spec, self.workers)
        try:
            from sessions.rehearsal.on_spark import on_spark
        except ImportError as error:
            message = missing_extra("--master", f"PySpark ({error})", "spark")
            raise CommandError(ExitCode.UNREACHABLE, message) from None
        from sessions.analysis.errors import AnalysisError

        run = on_spark(spec, self.master, self.conf)

        def run_trials(trials: "Sequence[Trial]", progress: "Progress") -> "Sequence[Order]":
            try:
                return run(trials, progress)
            except AnalysisError as error:
                raise CommandError(ExitCode.UNREACHABLE, str(error)) from None

        return run_trials


IMAGE_NAME: Final = "prod.cluster.json"
"""How commands in the report name the image if it was made of other sources."""


@app.command(
    "rehearse",
    epilog=examples(
        "kafka-topics --bootstrap-server kafka:9092 --describe > topics.txt",
        "tidegauge rehearse topics.txt --version 4.1",
        "tidegauge rehearse prod.cluster.json --html report.html",
        "tidegauge rehearse prod.cluster.json --lose rack=a,broker=7 --json --partitions",
        "tidegauge rehearse prod.cluster.json --each rack --roll",
        "tidegauge rehearse prod.cluster.json --json --baseline yesterday.json",
        "tidegauge rehearse prod.cluster.json --set-config topic:orders:min.insync.replicas=2",
        "tidegauge rehearse fleet.cluster.json --master spark://host:7077",
        "tidegauge rehearse prod.cluster.json --add-broker 7=b --decommission 3",
    ),
)
def rehearse(
    sources: Annotated[
        list[str],
        argument("SOURCE..", text="an image, or sources as 'tidegauge import' reads them"),
    ],
    kinds: Annotated[
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
    reassign: Annotated[
        str | None,
        option(
            "--reassign",
            metavar="FILE",
            parse=values.file_name,
            text="preview this plan of kafka-reassign-partitions, and rehearse the cluster"
            " afterwards",
        ),
    ] = None,
    decommission: Annotated[
        list[int] | None,
        option(
            "--decommission",
            metavar="B",
            parse=values.broker,
            text="preview moving all replicas away from this broker, by the plan given or the one"
            " that Kafka generates; may be repeated",
        ),
    ] = None,
    add_brokers: Annotated[
        list[values.Setting] | None,
        option(
            "--add-broker",
            metavar="B=RACK",
            parse=values.broker_rack,
            text="preview one more broker; may be repeated",
        ),
    ] = None,
    set_config: Annotated[
        list[values.Setting] | None,
        option(
            "--set-config",
            metavar="K=V",
            parse=values.resource_setting,
            text="preview this configuration, written as --set's: the cases are rehearsed without"
            " and with it; may be repeated",
        ),
    ] = None,
    version: Version = None,
    mode: Mode = None,
    racks: Racks = None,
    settings: ResourceSettings = None,
    seed: Seed = None,
    partitions: Annotated[
        bool, flag("--partitions", text="list all partitions after each case in the JSON")
    ] = False,
    as_json: AsJson = False,
    html: Annotated[
        str | None,
        option("--html", kind="FILE", text="write the report as one page"),
    ] = None,
    baseline: Annotated[
        str | None,
        option(
            "--baseline",
            kind="FILE",
            text="the JSON of an earlier rehearsal: tell only what became worse",
        ),
    ] = None,
    workers: Annotated[
        int | None,
        option(
            "--workers",
            kind="N",
            text="how many cases to run side by side",
            default="one for each core",
        ),
    ] = None,
    master: Master = None,
    conf: SparkConf = None,
) -> int:
    """Rehearse failures of a cluster that you run, on an emulated copy.

    The copy starts in the state that the sources describe, loses a broker, a controller or a rack,
    and does what that release of Kafka does. Nothing is sent to your cluster. The exit status is 0
    if nothing that is healthy now becomes unavailable or unwritable in any case, and 1 otherwise;
    with --baseline it is 1 if something became worse.
    """
    if conf and master is None:
        raise CommandError(ExitCode.USAGE, "--conf is of Spark, and there is no --master")
    imported = imported_of(sources, racks or [], settings or [], version, mode)
    before = None if baseline is None else _baseline(Path(baseline))
    report, unchanged = _rehearsed(
        imported,
        image_name=sources[0] if is_image(Path(sources[0])) else IMAGE_NAME,
        kinds=[*(kinds or ()), *(["pair"] if pairs else ())],
        lose=lose or [],
        roll=roll,
        change=ChangeOptions(reassign, decommission or [], add_brokers or [], set_config or []),
        seed=seed,
        execution=Execution(workers or os.cpu_count() or 1, master, spark_conf(conf)),
    )
    if html is not None:
        _write_page(report, _differences(report, unchanged), Path(html), sources)
    if before is not None:
        return _tell_worse(report, before, as_json=as_json)
    _print(report, unchanged, as_json=as_json, partitions=partitions)
    is_opened = any(not case.risks.is_safe for case in report.cases)
    if is_opened and not (as_json or is_image(Path(sources[0]))):
        words = ["tidegauge", "import", *sources, "--out", IMAGE_NAME]
        words += ["--version", version] if version else []
        words += ["--mode", mode] if mode else []
        words += [word for rack in racks or () for word in ("--rack", "=".join(rack))]
        words += [word for setting in settings or () for word in ("--set", "=".join(setting))]
        streams.emit(f"to make {IMAGE_NAME}: {shlex.join(words)}\n")
    return ExitCode.OK if report.safe else ExitCode.FAILED


def _rehearsed(
    imported: "Imported",
    *,
    image_name: str,
    kinds: Sequence[str],
    lose: Sequence[values.Losses],
    roll: bool,
    change: ChangeOptions,
    seed: int | None,
    execution: Execution,
) -> tuple["Report", "Report | None"]:
    """Return the report, and if a change is previewed that of the cluster without it."""
    from commands.output.progress import Progress
    from emulator.cluster_image.assumptions import complete
    from emulator.releases.config import ConfigError
    from sessions.rehearsal.cases import CaseError
    from sessions.rehearsal.change import preview, with_broker, with_settings
    from sessions.rehearsal.report import report_of
    from sessions.rehearsal.rolling import roll as roll_nodes
    from sessions.rehearsal.runs import Rehearsal, Runs, all_trials, run_cases

    completed = complete(imported.image)
    image = before = completed.image
    if not image.brokers:
        message = "the sources name no broker; wanted is what 'kafka-topics --describe' prints"
        raise CommandError(ExitCode.UNREACHABLE, message)
    number = 1 if seed is None else seed
    previewed = unchanged = None

    def run(rehearsal: Rehearsal, label: str) -> Runs:
        cases = list(dict.fromkeys(_cases(rehearsal.image, kinds, lose, only_rolled=roll)))
        trials = len(all_trials(cases, rehearsal.image))
        run_trials = execution.run(rehearsal, _spec(rehearsal.image, number))
        with Progress(label, "trials", trials) as progress:
            return run_cases(cases, rehearsal.image, run_trials, progress)

    try:
        for broker in change.add_brokers:
            image = complete(with_broker(image, int(broker.name), broker.value)).image
        plan = _plan(image, change, number)
        with_settings(image, change.settings)
        rehearsal = Rehearsal(_spec(before, number), before)
        if plan or change.settings or change.add_brokers:
            unchanged = report_of(rehearsal, run(rehearsal, "before the change"), [], image_name)
            if image is not before:
                del rehearsal  # one cluster at a time: a large one takes a gigabyte
                rehearsal = Rehearsal(_spec(image, number), image)
            previewed = preview(rehearsal, plan, change.settings)
            image = complete(previewed.after).image
            del rehearsal
            rehearsal = Rehearsal(_spec(image, number), image)
        runs = run(rehearsal, "rehearsing")
    except (CaseError, ConfigError) as error:
        raise CommandError(ExitCode.USAGE, str(error).removesuffix(".")) from None
    rolled = roll_nodes(rehearsal) if roll else None
    assumed = [str(assumption) for assumption in completed.assumed]
    return report_of(rehearsal, runs, assumed, image_name, rolled, previewed), unchanged


def _spec(image: "ClusterImage", seed: int) -> "CreateCluster":
    from emulator.inputs.statements import CreateCluster

    return CreateCluster(version=image.release or "", mode=image.mode or "", image=image, seed=seed)


def _plan(image: "ClusterImage", change: ChangeOptions, seed: int) -> "Plan":
    """The plan that is given, or else the one that Kafka generates for brokers that leave."""
    from sessions.own_cluster.importing import read_source
    from sessions.own_cluster.reading import Authority, SourceError
    from sessions.rehearsal.change import generated_plan

    if change.plan is None:
        return generated_plan(image, change.decommission, seed) if change.decommission else {}
    try:
        reading = read_source(change.plan)
    except SourceError as error:
        raise CommandError(ExitCode.UNREACHABLE, str(error)) from None
    if reading.authority is not Authority.INTENT:
        message = f"--reassign: '{change.plan}' is no plan of kafka-reassign-partitions"
        raise CommandError(ExitCode.USAGE, message)
    return {
        f"{topic.name}-{partition.partition}": partition.replicas
        for topic in reading.image.topics
        for partition in topic.partitions
    }


def _cases(
    image: "ClusterImage", kinds: Sequence[str], lose: Sequence[values.Losses], *, only_rolled: bool
) -> Iterator["Case"]:
    from sessions.rehearsal import cases

    cases_of = {
        "broker": cases.each_broker,
        "controller": cases.each_controller,
        "rack": cases.each_rack,
        "pair": cases.each_pair,
    }
    chosen = kinds
    if (not kinds or list(kinds) == ["pair"]) and not lose and not only_rolled:
        chosen = ["broker", "controller", "rack", *kinds]
    for kind in chosen:
        yield from cases_of[kind](image)
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


def _print(
    report: "Report", unchanged: "Report | None", *, as_json: bool, partitions: bool
) -> None:
    from commands.output.rehearsal import details, differences, tables, verdict
    from sessions.rehearsal.report import as_plain

    changed = _differences(report, unchanged)
    if as_json:
        streams.emit_json(as_plain(report, partitions=partitions) | changed)
        return
    lines = [line for word, cases in changed.items() for line in differences(word, cases)]
    if unchanged is not None and not lines:
        lines = ["the change makes no case worse or better"]
    for line in report.assumed:
        streams.narrate(f"assumed: {line}")
    streams.emit(f"{verdict(report)}\n\n")
    streams.emit_tables(tables(report))
    streams.emit("\n" + "".join(f"{line}\n" for line in (*details(report), *lines)))


def _differences(report: "Report", unchanged: "Report | None") -> dict[str, list[dict[str, Any]]]:
    """Return the cases that a change makes worse and better; empty without a change."""
    from sessions.rehearsal.baseline import risks_of_cases, worse

    if unchanged is None:
        return {}
    return {
        "worse": worse(report, risks_of_cases(unchanged)),
        "better": worse(unchanged, risks_of_cases(report)),
    }


def _tell_worse(report: "Report", before: dict[str, dict[str, list[str]]], *, as_json: bool) -> int:
    from commands.output.rehearsal import differences
    from sessions.rehearsal.baseline import worse

    regressions = worse(report, before)
    if as_json:
        streams.emit_json({"schema": 1, "worse": regressions, "safe": report.safe})
    else:
        lines = list(differences("worse", regressions)) or ["nothing became worse"]
        streams.emit("".join(f"{line}\n" for line in lines))
    return ExitCode.FAILED if regressions else ExitCode.OK


def _write_page(
    report: "Report",
    changed: dict[str, list[dict[str, Any]]],
    path: Path,
    sources: Sequence[str],
) -> None:
    from commands.output.rehearsal import differences, verdict
    from sessions.file_system import write_file
    from sessions.rehearsal.html import page

    stamp = f"made on {datetime.now().astimezone():%Y-%m-%d %H:%M %Z}"
    lines = [line for word, cases in changed.items() for line in differences(word, cases)]
    text = page(report, ", ".join(sources), verdict(report), stamp, lines)
    try:
        write_file(path, text.encode(), path.parent)
    except OSError as error:
        message = f"cannot write '{path}': {error.strerror}"
        raise CommandError(ExitCode.UNREACHABLE, message) from None
    streams.narrate(f"wrote {path}")
