"""``tidegauge explore``: check every interleaving within bounds; print the shortest violation."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, NamedTuple

import typer

from commands.cli.examples import examples
from commands.cli.matrix import versions_word
from commands.cli.options import Declaration, JsonObject, flag, option
from commands.cli.options import Mode as ModeOption
from commands.cli.spark_options import Master, SparkConf, spark_conf
from commands.exits import CommandError, ExitCode
from commands.language import values
from commands.language.places import size
from commands.output import streams
from sessions.grammar.words import BadWord

if TYPE_CHECKING:
    from commands.runs.exploration import Explored, Limits, SearchStore, Subject
    from emulator.explorer.bounds import Bounds

app = typer.Typer()

REPLICAS: Final = (2, 4)
CONSTANTS: Final = (
    ("replicas", 1, 5),
    ("log size", 1, 6),
    ("records", 1, 6),
    ("highest leader epoch", 0, 6),
)
"""A specification's four constants: name, minimum and maximum of each."""


def within(noun: str, minimum: int, maximum: int) -> Callable[[str], int]:
    """Return a parser for a number between ``minimum`` and ``maximum``."""

    def number(word: str) -> int:
        return values.integer(word, minimum, noun, maximum)

    return number


class Numbers(tuple[int, ...]):
    """The constants of a specification."""


def constants_word(word: str) -> Numbers:
    """Parse the four constants of a specification, such as ``3,2,2,2``."""
    parts = word.split(",")
    if len(parts) != len(CONSTANTS):
        names = ", ".join(noun for noun, _least, _most in CONSTANTS)
        raise BadWord(f"'{word}' are no constants (written 3,2,2,2: {names})")
    return Numbers(
        values.integer(part, least, f"number of {noun}" if noun.endswith("s") else noun, most)
        for part, (noun, least, most) in zip(parts, CONSTANTS, strict=True)
    )


ELR: Final = "eligible.leader.replicas.version"


def feature_word(word: str) -> values.Setting:
    """Parse the level of the one feature that affects the search."""
    setting = values.setting(word)
    values.one_of(setting.name, (ELR,), "feature")
    values.integer(setting.value, 0, f"level of {ELR}", 1)
    return setting


class Mode(NamedTuple):
    """ZooKeeper or KRaft, and the ELR level (None: the release's default)."""

    name: str | None = None
    elr: int | None = None


class Source(NamedTuple):
    """The source of the settings to explore: a script, a partition of an image, or None."""

    configuration: str | None
    image: str | None
    partition: str | None

    @property
    def is_given(self) -> bool:
        """Whether there is a script or an image."""
        return self.configuration is not None or self.image is not None

    def bounds(self, bounds: "Bounds") -> "Bounds":
        """Return the bounds with these settings."""
        from commands.language.images import cluster_image
        from commands.runs.exploration import bounds_in, bounds_of

        if self.image is not None:
            return bounds_in(cluster_image(self.image), self.partition, bounds)
        return bounds_of(Path(self.configuration or ""), bounds)


def counted(name: str, text: str, minimum: int = 0, maximum: int = 9) -> Declaration:
    """Declare an option that limits how often something may happen."""
    noun = "number of " + name.replace("-", " ")
    return option(f"--{name}", metavar="N", parse=within(noun, minimum, maximum), text=text)


@app.command(
    "explore",
    epilog=examples(
        "tidegauge explore --version 0.10.2",
        "tidegauge explore --version 2.0.0 --replicas 3 --records 1 --elections 1 --crashes 2 \\",
        "    --property AcknowledgedKept --script lost.tide && tidegauge run lost.tide",
        "tidegauge explore --version 4.1 --replicas 3 --records 1 --elections 0 --isr-changes 1 \\",
        "    --min-insync-replicas 2",
        "tidegauge explore --version 3.9 --mode kraft --crashes 0 --fencings 1 --shutdowns 1",
        "tidegauge explore --configuration my.tide --crashes 2",
        "tidegauge explore --image prod.cluster.json --partition orders-0 --crashes 2",
        "tidegauge explore --matrix --versions 0.10.2,0.11,2.0.0,2.1,3.9",
        "tidegauge explore --spec Kip279 --constants 3,2,2,2 --property WeakIsr",
        "tidegauge explore --spec Kip320 --constants 3,2,2,2 --symmetry --json",
        "tidegauge explore --spec Kip320 --constants 3,3,3,2 --out work/ --time 10m",
        "tidegauge explore --spec Kip320 --constants 3,3,3,2 --out work/ --resume",
        "tidegauge explore --version 3.9 --crashes 3 --out /shared/work --master spark://host:7077",
    ),
)
def explore(
    version: Annotated[
        str | None,
        option("--version", kind="VERSION", text="the release to explore"),
    ] = None,
    replicas: Annotated[
        int | None, counted("replicas", "replicas of the partition (2)", *REPLICAS)
    ] = None,
    records: Annotated[int | None, counted("records", "records produced (2)", 1)] = None,
    elections: Annotated[
        int | None, counted("elections", "times that leadership moves to a live replica (2)")
    ] = None,
    isr_changes: Annotated[
        int | None, counted("isr-changes", "times that a follower lags for too long (0)")
    ] = None,
    crashes: Annotated[
        int | None, counted("crashes", "crashes of brokers, as by kill -9 (1)")
    ] = None,
    power_losses: Annotated[
        int | None, counted("power-losses", "crashes that lose what is not flushed (0)")
    ] = None,
    shutdowns: Annotated[
        int | None, counted("shutdowns", "orderly stops of brokers, in KRaft mode (0)")
    ] = None,
    fencings: Annotated[
        int | None,
        counted("fencings", "times that a running broker is fenced, in KRaft mode (0)"),
    ] = None,
    acks: Annotated[
        int | None,
        option(
            "--acks",
            metavar="1|all",
            parse=values.acks,
            text="acks of the producers",
            default="all",
        ),
    ] = None,
    min_isr: Annotated[
        int | None, counted("min-insync-replicas", "replicas that acks=all needs in sync (1)", 1)
    ] = None,
    mode: ModeOption = None,
    feature: Annotated[
        values.Setting | None,
        option(
            "--feature",
            metavar="NAME=LEVEL",
            parse=feature_word,
            text="eligible.leader.replicas.version=0 or 1",
            default="1 from 4.1 on",
        ),
    ] = None,
    unclean: Annotated[bool, flag("--unclean", text="allow unclean leader elections")] = False,
    configuration: Annotated[
        str | None,
        option(
            "--configuration",
            kind="FILE",
            text="explore the release and settings of this script's first topic and producer",
        ),
    ] = None,
    image: Annotated[
        str | None,
        option(
            "--image",
            kind="FILE",
            text="explore the release, mode and settings of a cluster (see 'tidegauge import')",
        ),
    ] = None,
    partition: Annotated[
        str | None,
        option(
            "--partition",
            metavar="TOPIC-N",
            text="a partition of the image, with its replicas and its topic's settings",
        ),
    ] = None,
    matrix: Annotated[
        bool, flag("--matrix", text="explore several releases, and print a table")
    ] = False,
    versions: Annotated[
        values.Names | None,
        option(
            "--versions", metavar="V,V,..", parse=versions_word, text="the releases of the matrix"
        ),
    ] = None,
    spec: Annotated[
        str | None,
        option("--spec", metavar="NAME", text="explore a published specification, such as Kip279"),
    ] = None,
    constants: Annotated[
        Numbers | None,
        option(
            "--constants",
            metavar="R,L,M,E",
            parse=constants_word,
            text="its replicas, log size, records and highest leader epoch",
            default="3,2,2,2",
        ),
    ] = None,
    symmetry: Annotated[
        bool, flag("--symmetry", text="treat the specification's replicas as interchangeable")
    ] = False,
    properties: Annotated[
        list[str] | None,
        option(
            "--property",
            metavar="NAME",
            text="check only this property; may be repeated",
            default="all that are known to hold, or that Kafka promises",
        ),
    ] = None,
    keep_going: Annotated[
        bool, flag("--keep-going", text="continue when every property has been violated")
    ] = False,
    memory: Annotated[
        int | None,
        option("--memory", metavar="SIZE", parse=size, text="stop at this memory use, such as 2GB"),
    ] = None,
    limit: Annotated[
        int | None,
        option(
            "--time",
            kind="positive D",
            text="stop after this wall-clock time",
        ),
    ] = None,
    out: Annotated[
        str | None,
        option(
            "--out",
            metavar="DIR",
            text="store the search in this folder, level by level, so that it can be resumed",
        ),
    ] = None,
    resume: Annotated[
        bool, flag("--resume", text="resume the search stored in --out, if there is one")
    ] = False,
    master: Master = None,
    conf: SparkConf = None,
    script: Annotated[
        str | None,
        option(
            "--script",
            kind="FILE",
            text="write the counterexample to this file; if it exists, explore it as with "
            "--configuration",
        ),
    ] = None,
    as_json: JsonObject = False,
) -> int:
    """Search every interleaving within bounds for one that violates Kafka's guarantees.

    A release is explored with the emulator's own rules, the same ones its brokers run. The
    counterexample has the fewest faults, then the fewest steps; it is a script that tidegauge run
    reproduces. Exit status 0: explored, nothing found; 1: a violation; 4: a limit was reached.
    """
    bounds_options = {
        "replicas": replicas,
        "records": records,
        "elections": elections,
        "isr_changes": isr_changes,
        "crashes": crashes,
        "power_losses": power_losses,
        "shutdowns": shutdowns,
        "fencings": fencings,
        "acks": acks,
        "min_insync_replicas": min_isr,
        "unclean": unclean or None,
    }
    chosen = {name: value for name, value in bounds_options.items() if value is not None}
    others = [version, configuration, script, versions, mode, feature, image, partition]
    try:
        _require_spec(spec, constants is not None or symmetry, bool(chosen or matrix), others)
        if versions is not None and not matrix:
            raise BadWord("--versions is of the --matrix, which is missing")
        if matrix and (version or script or configuration):
            raise BadWord("--matrix goes with --versions, in place of --version and scripts")
        store = _store(out, resume, master, spark_conf(conf), memory, matrix)
        from commands.runs.exploration import Limits, specified

        limits = Limits(None if limit is None else limit / 1e6, memory)
        if spec is not None:
            numbers = constants or Numbers((3, 2, 2, 2))
            subject = specified(spec, numbers, symmetric=symmetry, properties=properties or ())
            return _explore(subject, limits, keep_going, as_json, None, store)
        if script is not None and Path(script).exists():
            configuration, script = configuration or script, None
        if image is not None and configuration is not None:
            raise BadWord("--image is explored in place of a script")
        if partition is not None and image is None:
            raise BadWord("--partition is one of an --image, which is missing")
        given_by = Source(configuration, image, partition)
        asked_mode = Mode(mode, None if feature is None else int(feature.value))
        names = (versions or ()) if matrix else None
        subjects = _subjects(version, names, given_by, chosen, asked_mode, properties)
    except BadWord as error:
        raise CommandError(ExitCode.USAGE, f"'tidegauge explore': {error}") from None
    if matrix:
        return _matrix(subjects, limits, keep_going, as_json)
    return _explore(subjects[0], limits, keep_going, as_json, script, store)


def _require_spec(
    spec: str | None, has_constants: bool, has_bounds: bool, others: Sequence[object]
) -> None:
    """Reject a specification's options without a specification, and other options with one."""
    if spec is None:
        if has_constants:
            raise BadWord("--constants and --symmetry are of a --spec, which is missing")
    elif has_bounds or any(other is not None for other in others):
        raise BadWord("--spec goes with --constants, --symmetry and --property only")


def _store(
    out: str | None,
    resume: bool,
    master: str | None,
    conf: dict[str, str],
    memory: int | None,
    matrix: bool,
) -> "SearchStore | None":
    """Return where the search is stored; None if it is not."""
    from commands.runs.exploration import SearchStore

    if conf and master is None:
        raise BadWord("--conf is of Spark, and there is no --master")
    if master is not None and memory is not None:
        raise BadWord("--memory is of a search in one process, and --master has it on Spark")
    if out is None:
        if resume or master:
            option = "--resume" if resume else "--master"
            raise BadWord(f"{option} needs --out DIR, the folder of the search")
        return None
    if matrix:
        raise BadWord("--out keeps one search, and --matrix makes many")
    return SearchStore(out, resume, master, conf)


def _subjects(
    version: str | None,
    versions: Sequence[str] | None,
    source: Source,
    chosen: dict[str, Any],
    mode: Mode,
    properties: Sequence[str] | None,
) -> "list[Subject]":
    from msgspec.structs import replace

    from commands.runs.exploration import in_mode, released, require_possible
    from emulator.explorer.bounds import PROPERTIES, Bounds
    from emulator.releases.profiles import DEFAULT_VERSION, RECOMMENDED
    from emulator.releases.versions import order

    bounds = Bounds(version or DEFAULT_VERSION)
    if source.is_given:
        bounds = source.bounds(bounds)
        if bounds.kraft and version is None:
            mode = Mode(mode.name or "kraft", int(bounds.elr) if mode.elr is None else mode.elr)
        bounds = replace(bounds, version=version or bounds.version)
        # The question is whether these settings preserve records, not whether Kafka claims they do.
        properties = properties or tuple(PROPERTIES)
    bounds = replace(bounds, **chosen)
    require_possible(bounds)
    if versions is None:
        names = [bounds.version] if source.is_given or version else [DEFAULT_VERSION]
    else:
        names = sorted(set(versions), key=order)
    return [
        released(
            in_mode(replace(bounds, version=name), mode.name or "", mode.elr), properties or ()
        )
        for name in names or RECOMMENDED
    ]


def _explore(
    subject: "Subject",
    limits: "Limits",
    keep_going: bool,
    as_json: bool,
    script: str | None,
    store: "SearchStore | None",
) -> int:
    from commands.runs.exploration import explore as search

    explored = search(subject, limits, keep_going=keep_going, store=store)
    if as_json:
        streams.emit_json(explored.plain())
    else:
        streams.emit(explored.text())
    violations = explored.result.violations
    if script is not None and not violations:
        streams.narrate(f"no violation: {script} is not written")
    elif script is not None and subject.bounds is not None:
        from commands.runs.counterexample import script_of
        from commands.runs.script_from_session import write_script

        path = write_script(script_of(violations[0], subject.bounds), Path(script))
        streams.narrate(f"{violations[0].name}: tidegauge run {path}")
    return _status([explored])


def _matrix(
    subjects: "Sequence[Subject]", limits: "Limits", keep_going: bool, as_json: bool
) -> int:
    from commands.runs.exploration import as_grid
    from commands.runs.exploration import explore as search

    explored = []
    for subject in subjects:
        explored.append(search(subject, limits, keep_going=keep_going))
        if explored[-1].result.stopped:
            streams.narrate(f"{subject.name}: {explored[-1].result.stopped}")
    if as_json:
        streams.emit_json([exploration.plain() for exploration in explored])
    else:
        streams.emit_tables([as_grid(explored)])
    return _status(explored)


def _status(explored: "Sequence[Explored]") -> ExitCode:
    from emulator.explorer.search import INTERRUPTED

    if any(exploration.result.stopped == INTERRUPTED for exploration in explored):
        return ExitCode.INTERRUPTED
    if any(exploration.result.violations for exploration in explored):
        return ExitCode.FAILED
    limited = any(exploration.is_limited for exploration in explored)
    return ExitCode.TIME_LIMIT if limited else ExitCode.OK
