"""Reduce a failing run to the fewest statements that still fail in the same way.

Halves of the statements are removed, then quarters, and so on, as long as the rest still fails
(Zeller and Hildebrandt's ddmin). So the result is minimal in the sense that no single statement can
be removed. A run "still fails" if it has the same finding, and otherwise only findings of the whole
run and milder losses. A script without its topic fails as well, but explains nothing: an
expectation must find the same value. Logs that differ because nothing restarted a broker are no
reason to keep the restart.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Final

import msgspec
from msgspec import Struct, structs

from emulator.events import AuditChanged, ExpectationChecked, InvariantViolated
from emulator.inputs.statements import Statement
from sessions.campaign.limits import TooLong, time_limit
from sessions.campaign.plan import Plan, Run, Variant
from sessions.campaign.run import Emulation

if TYPE_CHECKING:
    import pyarrow as pa

Finding = tuple[str, str, str]
"""A finding: ``invariant`` and its name, ``expectation``, its text and the value found instead (as
JSON), a loss, or ``raised`` and the error. What does not apply is empty.
"""
Fails = Callable[[Sequence[Statement]], bool]

LOSSES: Final = ("lost", "consumed_lost", "diverged", "duplicated")
"""What the audit finds at the end of a run, the gravest first."""
WORST: Final = ("raised", "invariant", "expectation", *LOSSES)
"""The order in which one finding is chosen if a run has several."""
TRIALS_MAX: Final = 2_000
"""Maximum number of shorter scripts tried for one run."""


class Shrunk(Struct, frozen=True):
    """A run that was reduced: its finding, and its number of statements before and after."""

    session: str
    finding: str
    statements: int
    left: int
    script: str


class ShrinkTask(Struct, frozen=True):
    """Runs to be reduced by a worker; ``limit_s`` is the wall-clock time of each trial."""

    plan: Plan
    limit_s: float


def findings(variant: Variant, seed: int, limit_s: float) -> set[Finding]:
    """Return the findings of a run; none if it takes longer than the limit."""
    losses: dict[str, AuditChanged] = {}
    findings: set[Finding] = set()
    try:
        with time_limit(limit_s):
            for event in Emulation(variant, seed).events():
                match event:
                    case ExpectationChecked() if not event.passed:
                        findings.add(("expectation", event.text, event.actual))
                    case InvariantViolated() if not event.known:
                        findings.add(("invariant", event.name, ""))
                    case AuditChanged():
                        losses[event.tp] = event
    except TooLong:
        return set()
    except Exception as error:
        return {*findings, ("raised", type(error).__name__, "")}
    for kind in LOSSES:
        if any(
            getattr(audit, kind) or (kind == "lost" and audit.lost_offsets)
            for audit in losses.values()
        ):
            findings.add((kind, "", ""))
    return findings


def shrink(plan: Plan, run: Run, limit_s: float) -> Shrunk | None:
    """Reduce a run; return None if it has no finding.

    The result does not depend on the machine, unless a trial takes longer than the limit.
    """
    variant = plan.of_run(run)
    whole = findings(variant, run.seed, limit_s)
    if not whole:
        return None
    target = min(whole, key=lambda finding: (WORST.index(finding[0]), *finding[1:]))

    milder = WORST[WORST.index(target[0]) + 1 :]
    allowed = {finding[:2] for finding in whole} | {(kind, "") for kind in LOSSES if kind in milder}

    def fails(steps: Sequence[Statement]) -> bool:
        shorter = structs.replace(variant, steps=list(steps))
        remaining = findings(shorter, run.seed, limit_s)
        return target in remaining and {finding[:2] for finding in remaining} <= allowed

    minimal = reduced(variant.steps, fails)
    name = " ".join(filter(None, target[:2])) + (f" (found {target[2]})" if target[2] else "")
    return Shrunk(
        session=run.session,
        finding=name,
        statements=len(variant.steps),
        left=len(minimal),
        script=script_text(variant, run.seed, minimal, f"{name}, reduced from {run.session}"),
    )


def reduced(steps: Sequence[Statement], fails: Fails) -> list[Statement]:
    """Return a minimal subset of the statements that still fails."""
    remaining, parts, trials = list(steps), 2, 0
    while remaining and trials < TRIALS_MAX:
        size = -(-len(remaining) // parts)
        for begin in range(0, len(remaining), size):
            shorter = remaining[:begin] + remaining[begin + size :]
            trials += 1
            if fails(shorter):
                remaining, parts = shorter, max(parts - 1, 2)
                break
        else:
            if size == 1:
                break
            parts = min(len(remaining), parts * 2)
    return remaining


def script_text(variant: Variant, seed: int, steps: Sequence[Statement], title: str) -> str:
    """Return a run as a script, faults included."""
    rows = [f"# {title}", variant.text.with_seed(seed)]
    for step in steps:
        rows.append(step.text)
        if step.expected_error:
            rows.append(f"expect error {step.expected_error}")
    return "\n".join(rows) + "\n"


def shrink_batches(task: bytes, batches: "Iterable[pa.RecordBatch]") -> "Iterator[pa.RecordBatch]":
    """Reduce the runs with these numbers; Spark calls this."""
    import pyarrow as pa

    shrink_task = msgspec.msgpack.decode(task, type=ShrinkTask)
    for batch in batches:
        for number in batch.column("run").to_pylist():
            shrunk = shrink(shrink_task.plan, shrink_task.plan.run(number), shrink_task.limit_s)
            rows = [] if shrunk is None else [msgspec.json.encode(shrunk).decode()]
            yield pa.RecordBatch.from_pydict({"shrunk": pa.array(rows, pa.string())})
