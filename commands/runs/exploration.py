"""User-facing searches: what to explore, for how long, and how to report it."""

import contextlib
import resource
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct
from msgspec.structs import asdict, replace

from commands.exits import CommandError, ExitCode
from commands.language import values
from commands.output import streams
from commands.output.grids import Cell, Grid
from commands.runs.counterexample import script_of
from emulator.cluster_image.assumptions import complete
from emulator.cluster_image.image import ClusterImage
from emulator.common.extras import missing_extra
from emulator.explorer.bounds import PROPERTIES, Bounds, properties_for
from emulator.explorer.question import Question, Release, Specification
from emulator.explorer.search import INTERRUPTED, Keep, Progress, Result, Search, Violation
from emulator.explorer.specifications import GENERATIONS, Constants
from emulator.explorer.specifications import PROPERTIES as SPECIFIED
from emulator.inputs.statements import CreateTopic, Produce, Statement
from emulator.metadata_log.metadata_version import ELIGIBLE_LEADER_REPLICAS, supported_features
from emulator.quorum_controller.feature_control import default_features
from emulator.quorum_controller.result import ApiException
from emulator.releases.config import (
    ConfigError,
    is_kraft,
    producer_defaults,
    resolve,
    resolve_topic,
    with_effect,
)
from sessions.garbage_collection import collector_resting
from sessions.grammar.words import BadWord

if TYPE_CHECKING:
    from console.model import exploration as lab

MEMORY: Final = "the memory limit was reached"
TIME: Final = "the time limit was reached"
REPLICAS: Final = (2, 4)
"""Numbers of replicas that can be explored."""
SHOWN_SECONDS: Final = 0.2


class Subject(Struct, frozen=True):
    """The subject of a search: a specification, or a release within bounds.

    ``label`` and ``name`` appear in JSON, ``constants`` bound the search.
    """

    label: str
    name: str
    question: Question
    constants: dict[str, Any]
    bounds: Bounds | None = None

    @property
    def properties(self) -> tuple[str, ...]:
        return self.question.properties


class SearchStore(Struct, frozen=True):
    """Where a search is stored, and where it runs: locally, or on the Spark of ``master``."""

    place: str
    resume: bool = False
    master: str | None = None
    conf: Mapping[str, str] = {}


class Limits(Struct, frozen=True):
    """Limits that end a search early: real time in seconds, memory in bytes."""

    seconds: float | None = None
    memory_bytes: int | None = None


class Explored(Struct, frozen=True):
    """A finished search."""

    subject: Subject
    result: Result
    seconds: float

    @property
    def is_limited(self) -> bool:
        return bool(self.result.stopped)

    def plain(self) -> dict[str, Any]:
        """Return the search as an object for JSON."""
        subject, result = self.subject, self.result
        return {
            subject.label: subject.name,
            "constants": subject.constants,
            "properties": list(subject.properties),
            "states": result.states,
            "depth": result.depth,
            "generated": result.generated,
            "seconds": round(self.seconds, 3),
            "complete": result.complete,
            "stopped": result.stopped or None,
            "violations": [self._violation(violation) for violation in result.violations],
        }

    def _violation(self, violation: Violation) -> dict[str, Any]:
        bounds = self.subject.bounds
        return {
            "property": violation.name,
            "steps": violation.steps,
            "faults": violation.faults,
            "path": [{"action": action.name, **dict(action.details)} for action in violation.path],
            "script": None if bounds is None else script_of(violation, bounds),
        }

    def text(self) -> str:
        return "\n".join((*self._counterexamples(), self.summary())) + "\n"

    def _counterexamples(self) -> list[str]:
        lines = []
        for violation in self.result.violations:
            lines.append(f"{violation.name} is violated in {steps_of(violation)}:")
            lines += [*path_lines(violation), ""]
        return lines

    def summary(self) -> str:
        """Return the size of the search and what holds, on one line."""
        result, subject = self.result, self.subject
        counted = (
            f"{result.states:,} states, depth {result.depth}, "
            f"{result.generated:,} generated in {self.seconds:.1f} s"
        )
        if result.stopped:
            so_far = "" if result.violations else f"no violation up to depth {result.depth}; "
            return f"{result.stopped}: {so_far}{counted}"
        violated = {violation.name for violation in result.violations}
        holding = [name for name in subject.properties if name not in violated]
        if not result.complete:
            return f"{counted}; the rest was not looked at (--keep-going)"
        if not holding:
            return f"{counted}: that is all"
        return f"{', '.join(holding)} {'hold' if len(holding) > 1 else 'holds'} in all {counted}"


def path_lines(violation: Violation) -> list[str]:
    """Return a violation's path, one line per step."""
    lines = []
    for number, action in enumerate(violation.path, 1):
        lines.append(f"  {number:2}. {action.name:22} {action.details_text}")
    return lines


def steps_of(violation: Violation) -> str:
    """Return ``14 steps``, or ``14 steps with 2 faults``."""
    faults = violation.faults
    with_faults = f" with {faults} {'fault' if faults == 1 else 'faults'}" if faults else ""
    return f"{violation.steps} steps{with_faults}"


# ---- what is explored


def specified(
    spec: str, numbers: Sequence[int], *, symmetric: bool, properties: Sequence[str]
) -> Subject:
    """Return a published specification as a subject.

    Raises:
        BadWord: there is no such specification or property.
    """
    generation = GENERATIONS[values.one_of(spec, tuple(GENERATIONS), "specification")]
    constants = Constants(*numbers)
    checked = _checked(properties, SPECIFIED) or generation.holds
    return Subject(
        "spec",
        spec,
        Question(Specification(spec, constants, symmetric), checked),
        {**asdict(constants), "symmetric": symmetric},
    )


def released(bounds: Bounds, properties: Sequence[str]) -> Subject:
    """Return a release's own rules as a subject.

    Raises:
        BadWord: there is no such property.
    """
    constants = asdict(bounds)
    del constants["version"]
    return Subject(
        "version",
        bounds.version,
        Question(
            Release(bounds), _checked(properties, tuple(PROPERTIES)) or properties_for(bounds)
        ),
        constants,
        bounds,
    )


def _checked(properties: Sequence[str], allowed: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(values.one_of(name, allowed, "property") for name in properties))


def bounds_of(path: Path, bounds: Bounds) -> Bounds:
    """Return the bounds with the settings of a script's first topic and its first produced record.

    Raises:
        ScriptError: the script does not parse.
        BadWord: it creates no topic, or one that cannot be explored.
    """
    # The parser imports the whole emulator; other searches need none of it.
    from commands.language.parser import parse_script, read_text

    script = parse_script(read_text(path), str(path))
    steps = [step.input for step in script.steps if isinstance(step, Statement)]
    topic = next((statement for statement in steps if isinstance(statement, CreateTopic)), None)
    if topic is None:
        raise BadWord(f"'{path}' creates no topic to explore")
    version = script.spec.version
    produces = [e for e in steps if isinstance(e, Produce) and e.topic == topic.topic]
    acks_values = [produce.acks for produce in produces if produce.acks is not None]
    acks: int = acks_values[0] if acks_values else producer_defaults(version).acks
    if acks == 0:
        raise BadWord(f"'{path}' produces with acks=0, which guarantees nothing to check")
    values = resolve_topic(resolve(version, script.spec.config), topic.config)
    replicas = len(topic.assignment[0]) if topic.assignment else topic.replication_factor
    of_script = replace(
        bounds,
        version=version,
        replicas=replicas,
        acks=acks,
        min_insync_replicas=values.min_insync_replicas,
        unclean=values.unclean_leader_election_enable,
    )
    return in_mode(of_script, script.spec.mode, script.spec.features.get(ELIGIBLE_LEADER_REPLICAS))


def bounds_in(image: ClusterImage, partition: str | None, bounds: Bounds) -> Bounds:
    """Return the bounds with the release, mode and defaults of a cluster's image.

    With a partition, such as ``orders-0``, its replicas and its topic's settings count.

    Raises:
        BadWord: there is no such partition, or it cannot be explored.
    """
    image = complete(image).image
    version = image.release or bounds.version
    configs: dict[str, str] = {}
    if partition is not None:
        replicas = {
            f"{topic.name}-{listed.partition}": (listed.replicas, topic.configs)
            for topic in image.topics
            for listed in topic.partitions
        }
        brokers, of_topic = replicas[values.one_of(partition, tuple(replicas), "partition")]
        bounds, configs = replace(bounds, replicas=len(brokers)), of_topic or {}
    named_configs = (image.static_configs or {}) | (image.configs or {})
    settings = resolve_topic(resolve(version, with_effect(named_configs, version)), configs)
    bounds = replace(
        bounds,
        version=version,
        min_insync_replicas=settings.min_insync_replicas,
        unclean=settings.unclean_leader_election_enable,
    )
    level = (image.features or {}).get(ELIGIBLE_LEADER_REPLICAS, 0)
    has_elr = image.mode == "kraft" and ELIGIBLE_LEADER_REPLICAS in supported_features(version)
    return in_mode(bounds, image.mode or "", level if has_elr else None)


def require_possible(bounds: Bounds) -> None:
    """Reject bounds within which nothing could happen.

    Raises:
        BadWord: they are impossible.
    """
    least, most = REPLICAS
    if not least <= bounds.replicas <= most:
        raise BadWord(
            f"a partition with {bounds.replicas} replicas cannot be explored ({least} to {most})"
        )
    if bounds.min_insync_replicas > bounds.replicas:
        raise BadWord(
            f"min.insync.replicas {bounds.min_insync_replicas} is more than the replicas "
            f"({bounds.replicas}): no write could succeed"
        )
    if bounds.acks == 0:
        raise BadWord("acks=0 guarantees nothing to check (1 or all)")


def in_mode(bounds: Bounds, mode: str, elr: int | None) -> Bounds:
    """Return the bounds of a release in a mode: kraft, zk, or empty for its default.

    ``elr`` is the level of eligible leader replicas, None for the release's default.

    Raises:
        BadWord: the release does not have that mode, or not this feature.
    """
    try:
        kraft = is_kraft(bounds.version, mode)
        chosen = {} if elr is None else {ELIGIBLE_LEADER_REPLICAS: elr}
        if chosen and not kraft:
            raise BadWord(f"{bounds.version} uses ZooKeeper, and has no {ELIGIBLE_LEADER_REPLICAS}")
        features = default_features(bounds.version, chosen) if kraft else {}
    except ConfigError as error:
        raise BadWord(str(error).rstrip(".")) from None
    except ApiException as refused:
        raise BadWord(refused.message.rstrip(".")) from None
    if not kraft and (bounds.fencings or bounds.shutdowns):
        raise BadWord(
            f"{bounds.version} has ZooKeeper here, and --fencings and --shutdowns are explored "
            "without it (--mode kraft from 3.3 on)"
        )
    return replace(bounds, kraft=kraft, elr=ELIGIBLE_LEADER_REPLICAS in features)


# ---- for the console


def in_console(question: "lab.Question", version: str, watch: "lab.Watch") -> "lab.Explored":
    """Answer the Lab's question for a release.

    If the release does not support it, the answer says why.
    """
    from console.model import exploration as lab

    bounds_of_release = replace(question.bounds, version=version)
    try:
        elr = question.elr if is_kraft(version, "") else None
        bounds = in_mode(bounds_of_release, "", elr)
        require_possible(bounds)
    except BadWord as error:
        return lab.Explored(version, f"{version}: {error}", {}, [])
    subject = released(bounds, [question.property] if question.property else ())
    began = time.monotonic()
    search = Search(subject.question.of.model(), subject.properties)
    result = search.run(watch.begin(version, question.limit_seconds))
    explored = Explored(subject, result, time.monotonic() - began)
    counterexamples = [
        lab.Counterexample(
            version,
            violation.name,
            steps_of(violation),
            path_lines(violation),
            script_of(violation, bounds),
        )
        for violation in result.violations
    ]
    cells = {name: _cell(explored, name) or "" for name in subject.properties}
    return lab.Explored(version, explored.summary(), cells, counterexamples)


# ---- the search


def explore(
    subject: Subject, limits: Limits, *, keep_going: bool, store: SearchStore | None = None
) -> Explored:
    """Search and show progress, until the search is exhausted or a limit is reached.

    Raises:
        CommandError: it cannot be stored in ``store``, or Spark is missing.
    """
    watch = _Watch(subject, limits, time.monotonic())
    if store is not None and store.master is not None:
        result = _explore_on_spark(subject, store, watch, keep_going)
    else:
        with _search(subject, store) as (search, keep), collector_resting():
            try:
                result = search.run(watch, keep_going=keep_going, keep=keep)
            except KeyboardInterrupt:
                result = search.so_far(INTERRUPTED)
    streams.progress("")
    return Explored(subject, result, time.monotonic() - watch.began)


@contextlib.contextmanager
def _search(subject: Subject, store: SearchStore | None) -> Iterator[tuple[Search, Keep | None]]:
    """Yield a search in this process, and the store of its levels."""
    question = subject.question
    if store is None:
        yield Search(question.of.model(), question.properties), None
        return
    from sessions.exploration.folder import ExplorationError
    from sessions.exploration.local_search import kept_search

    try:
        with kept_search(question, store.place, resume=store.resume) as pair:
            yield pair
    except ExplorationError as error:
        raise CommandError(ExitCode.UNREACHABLE, str(error)) from None


def _explore_on_spark(
    subject: Subject, store: SearchStore, watch: "_Watch", keep_going: bool
) -> Result:
    from sessions.analysis.errors import AnalysisError
    from sessions.exploration.folder import ExplorationError

    try:
        from sessions.exploration.spark_search import search_on_spark
    except ImportError as error:
        message = missing_extra("--master", f"PySpark ({error})", "spark")
        raise CommandError(ExitCode.UNREACHABLE, message) from None
    try:
        return search_on_spark(
            subject.question,
            store.place,
            watch,
            master=store.master,
            conf=store.conf,
            resume=store.resume,
            keep_going=keep_going,
        )
    except (AnalysisError, ExplorationError) as error:
        raise CommandError(ExitCode.UNREACHABLE, str(error)) from None


class _Watch:
    """Shows a search's progress and ends it at its limits."""

    def __init__(
        self,
        subject: Subject,
        limits: Limits,
        began: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.subject = subject
        self.limits = limits
        self.began = self.shown = began
        self.clock = clock

    def __call__(self, progress: Progress) -> str:
        now, memory = self.clock(), memory_bytes()
        if now - self.shown >= SHOWN_SECONDS:
            self.shown = now
            seconds = now - self.began
            streams.progress(
                f"{self.subject.name}  {progress.states:,} states  depth {progress.depth}  "
                f"frontier {progress.frontier:,}  faults {progress.faults}  "
                f"{progress.states / seconds:,.0f} states/s  {memory >> 20:,} MB  {seconds:.0f} s"
            )
        limits = self.limits
        if limits.memory_bytes is not None and memory >= limits.memory_bytes:
            return MEMORY
        if limits.seconds is not None and now - self.began >= limits.seconds:
            return TIME
        return ""


def memory_bytes() -> int:
    """Return the peak memory use of this process."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


# ---- release x property


def as_grid(explored: Sequence[Explored]) -> Grid:
    """Return a row per release, a column per property: the shortest violation, or the size."""
    properties = tuple(
        dict.fromkeys(name for exploration in explored for name in exploration.subject.properties)
    )
    rows: list[tuple[Cell, ...]] = [
        (exploration.subject.name, *(_cell(exploration, name) for name in properties))
        for exploration in explored
    ]
    return Grid("explored", ("VERSION", *properties), rows)


def _cell(explored: Explored, name: str) -> str | None:
    if name not in explored.subject.properties:
        return None
    violation = next((v for v in explored.result.violations if v.name == name), None)
    if violation is not None:
        return steps_of(violation)
    so_far = "" if explored.result.complete else ", not all"
    return f"none in {explored.result.states:,} states{so_far}"
