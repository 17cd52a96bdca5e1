"""A row for each run of a campaign: its result, and the command that opens it."""

from typing import Any, Final, Literal

from msgspec import Struct

from sessions.campaign.plan import Plan, Run
from sessions.dataset.schema import SESSION
from sessions.dataset.tables import RUNS, SESSIONS
from sessions.dataset.writer import Row

LOSSES: Final = {
    "lost": ("lost", "lost_offsets"),
    "duplicated": ("duplicated",),
    "diverged": ("diverged",),
    "consumed_lost": ("consumed_lost",),
}
"""Findings, and the columns of which one is not 0 then."""
COUNTED: Final = (
    "events",
    "time_us",
    "acked",
    *(name for names in LOSSES.values() for name in names),
    "expectations_failed",
    "invariants_violated",
)
"""The columns that a run's row takes from its session's."""


class Failure(Struct, frozen=True):
    """How a run without a session ended."""

    outcome: Literal["raised", "hung"]
    error: str


def run_row(plan: Plan, run: Run, limit_s: float, ended: Row | Failure) -> Row:
    """Return a run's row for the writer; ``ended`` is its session's row, or why it has none."""
    variant = plan.variants[run.variant]
    row: dict[str, Any] = dict.fromkeys(RUNS.names)
    row |= {
        "varied": list(variant.values.items()),
        "seed": run.seed,
        "limit_s": limit_s,
        "command": variant.command.with_seed(run.seed),
    }
    if isinstance(ended, Failure):
        row |= {"outcome": ended.outcome, "findings": [ended.outcome], "error": ended.error}
    else:
        row |= _of_session(ended)
    return tuple(row[name] for name in RUNS.names if name != SESSION)


def _of_session(row: Row) -> dict[str, Any]:
    names = [name for name in SESSIONS.names if name != SESSION]
    values = dict(zip(names, row, strict=True))
    losses = [loss for loss, columns in LOSSES.items() if any(values[name] for name in columns)]
    failed = ["failed"] if values["outcome"] == "failed" else []
    return {name: values[name] for name in COUNTED} | {
        "outcome": values["outcome"],
        "findings": failed + losses,
        "unavailable_us": values["leaderless_us"],
    }
