"""The report of a rehearsal: verdicts, risks, and what the cluster is like after each case."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import asdict

from emulator.cluster_image.image import ClusterImage
from emulator.common.names import split
from sessions.rehearsal.cases import Case
from sessions.rehearsal.change import Change
from sessions.rehearsal.outcome import Outcome, PartitionOutcome
from sessions.rehearsal.restart_order import restart_order
from sessions.rehearsal.risks import (
    Broken,
    Risks,
    UnsafeTopic,
    broken,
    in_order,
    risks_of,
    unsafe_topics,
)
from sessions.rehearsal.rolling import Roll
from sessions.rehearsal.runs import CaseRun, Rehearsal, Runs

SCHEMA: Final = 1
SAFE: Final = "safe"
UNSAFE: Final = "unsafe"


class CaseReport(Struct, frozen=True):
    """One case: its risks, and the cluster afterwards.

    ``leaders`` counts the partitions that each remaining broker leads, ``leading_bytes`` is the
    size of their logs where sizes are known. ``races`` has the partitions whose outcome is chance,
    with all outcomes that were seen. ``seconds`` is the virtual time until nothing changed.
    """

    case: Case
    risks: Risks
    outcome: Outcome
    races: dict[str, list[PartitionOutcome]]
    leaders: dict[int, int]
    leading_bytes: dict[int, int]
    seconds: float
    script: str

    @property
    def verdict(self) -> str:
        """``safe`` or ``unsafe``."""
        return SAFE if self.risks.is_safe else UNSAFE


class Report(Struct, frozen=True):
    """A whole rehearsal; ``broken`` is what does not work although nothing was lost.

    ``settled`` has the partitions before anything was lost.
    """

    release: str
    mode: str
    assumed: list[str]
    broken: Broken
    cases: list[CaseReport]
    restart_order: list[int]
    unsafe_topics: list[UnsafeTopic]
    settled: dict[str, PartitionOutcome]
    roll: Roll | None = None
    change: Change | None = None

    @property
    def safe(self) -> bool:
        """Whether nothing that was healthy becomes unavailable or unwritable in any case."""
        is_rolled_safely = self.roll is None or not self.roll.unwritable
        is_changed_safely = self.change is None or not self.change.unwritable
        return (
            is_rolled_safely
            and is_changed_safely
            and all(case.risks.is_safe for case in self.cases)
        )


def report_of(
    rehearsal: Rehearsal,
    runs: Runs,
    assumed: Iterable[str],
    image_name: str,
    roll: Roll | None = None,
    change: Change | None = None,
) -> Report:
    """Judge the runs of a rehearsal; ``image_name`` is the file that its commands name."""
    image = rehearsal.image
    requirements = rehearsal.requirements
    replicas = {
        f"{topic.name}-{partition.partition}": len(partition.replicas)
        for topic in image.topics
        for partition in topic.partitions
    }
    sizes, settled, nothing = _sizes(image), rehearsal.settled, runs.nothing
    return Report(
        image.release or "",
        image.mode or "",
        list(assumed),
        broken({**settled, **nothing.changed}, requirements),
        [
            _case(
                run,
                risks_of(run, settled, nothing, replicas, requirements),
                settled,
                sizes,
                image_name,
            )
            for run in runs.cases
        ],
        restart_order(image),
        unsafe_topics(image, requirements),
        settled,
        roll,
        change,
    )


def _case(
    run: CaseRun,
    risks: Risks,
    settled: Mapping[str, PartitionOutcome],
    sizes: dict[str, int],
    image_name: str,
) -> CaseReport:
    outcome = run.orders[0].outcome
    leaders: Counter[int] = Counter()
    leading: Counter[int] = Counter()
    for tp, partition in {**settled, **outcome.changed}.items():
        if partition.online:
            leaders[partition.leader] += 1
            leading[partition.leader] += sizes.get(tp, 0)
    return CaseReport(
        run.case,
        risks,
        outcome,
        {tp: _outcomes(run, tp, settled) for tp in run.races},
        dict(sorted(leaders.items())),
        dict(sorted(leading.items())) if sizes else {},
        max(order.seconds for order in run.orders),
        script_of(run.case, image_name),
    )


def _outcomes(
    run: CaseRun, tp: str, settled: Mapping[str, PartitionOutcome]
) -> list[PartitionOutcome]:
    outcomes: list[PartitionOutcome] = []
    for order in run.orders:
        partition = order.outcome.changed.get(tp) or settled[tp]
        if partition not in outcomes:
            outcomes.append(partition)
    return outcomes


def _sizes(image: ClusterImage) -> dict[str, int]:
    """The size in bytes of each partition's largest log, where one is known."""
    sizes = {}
    for topic in image.topics:
        for partition in topic.partitions:
            log_sizes = [log.size for log in partition.logs if log.size is not None]
            if log_sizes:
                sizes[f"{topic.name}-{partition.partition}"] = max(log_sizes)
    return sizes


def script_of(case: Case, image_name: str) -> str:
    """Return the command that opens the console when the processes of a case have just died."""
    statements = [f"controller crash {controller}" for controller in case.controllers]
    statements += [f"broker crash {broker}" for broker in case.brokers]
    return f"tidegauge console {image_name} --run '{'; '.join(statements)}'"


# ---- JSON


def as_plain(report: Report, *, partitions: bool = False) -> dict[str, Any]:
    """Return a report as plain data; with ``partitions``, all of them after each case."""
    settled = report.settled if partitions else None
    plain = {
        "schema": SCHEMA,
        "release": report.release,
        "mode": report.mode,
        "assumed": report.assumed,
        "broken": asdict(report.broken),
        "cases": [_case_as_plain(case, settled) for case in report.cases],
        "restart_order": report.restart_order,
        "unsafe_topics": [asdict(topic) for topic in report.unsafe_topics],
        "safe": report.safe,
    }
    if report.roll is not None:
        plain["roll"] = _roll_as_plain(report.roll)
    if report.change is not None:
        plain["change"] = _change_as_plain(report.change)
    return plain


def _change_as_plain(change: Change) -> dict[str, Any]:
    return {
        "plan": {
            "version": 1,
            "partitions": [
                {**_named(tp), "replicas": list(replicas)} for tp, replicas in change.plan.items()
            ],
        },
        "moved_bytes": {str(broker): size for broker, size in change.moved_bytes.items()},
        "leaders_moved": change.leaders_moved,
        "least_isr": _by_partition(change.least_isr, "isr"),
        "unwritable": _by_partition(change.unwritable, "seconds"),
        "still_unwritable": change.still_unwritable,
        "unfinished": change.unfinished,
        "seconds": round(change.seconds, 3),
        "settings": change.settings,
        "needs_restart": change.needs_restart,
        "steps": [
            {
                "seconds": step.seconds,
                **_named(step.tp),
                "replicas": list(step.replicas),
                "leader": step.leader,
                "isr": list(step.isr),
                "writable": step.writable,
            }
            for step in change.steps
        ],
    }


def _by_partition(values: Mapping[str, float], name: str) -> list[dict[str, Any]]:
    return [{**_named(tp), name: round(values[tp], 3)} for tp in in_order(values)]


def _roll_as_plain(roll: Roll) -> dict[str, Any]:
    return {
        "restarts": [asdict(restart) for restart in roll.restarts],
        "least_isr": _by_partition(roll.least_isr, "isr"),
        "unwritable": _by_partition(roll.unwritable, "seconds"),
    }


def _case_as_plain(
    report: CaseReport, settled: Mapping[str, PartitionOutcome] | None
) -> dict[str, Any]:
    plain: dict[str, Any] = {
        "lose": list(report.case.lose),
        "name": report.case.name,
        "verdict": report.verdict,
        "seconds": round(report.seconds, 3),
        "risks": asdict(report.risks),
        "controller": report.outcome.controller,
        "leaders": {str(broker): count for broker, count in report.leaders.items()},
        "races": [
            {**_named(tp), "outcomes": [_state(partition) for partition in outcomes]}
            for tp, outcomes in report.races.items()
        ],
        "script": report.script,
    }
    if report.leading_bytes:
        plain["bytes"] = {str(broker): size for broker, size in report.leading_bytes.items()}
    if settled is not None:
        states = {**settled, **report.outcome.changed}
        plain["partitions"] = [{**_named(tp), **_state(states[tp])} for tp in in_order(states)]
    return plain


def _named(tp: str) -> dict[str, Any]:
    topic, number = split(tp)
    return {"topic": topic, "partition": number}


def _state(partition: PartitionOutcome) -> dict[str, Any]:
    return {
        "state": "online" if partition.online else "offline",
        "leader": partition.leader,
        "isr": list(partition.isr),
        "elr": list(partition.elr),
        "leader_epoch": partition.leader_epoch,
        "partition_epoch": partition.partition_epoch,
    }
