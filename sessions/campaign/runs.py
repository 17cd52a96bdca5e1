"""A row for each run of a campaign: what came of it, and the command that opens it."""

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec

from sessions.campaign.availability import Reign, unavailable_us
from sessions.campaign.manifest import Failure
from sessions.campaign.plan import Plan, Run
from sessions.dataset.layout import DatasetUnreadable
from sessions.dataset.schema import SESSION, SPARK_TYPES, Column, Table
from sessions.dataset.tables import PARTITION_STATES, REPLICA_STATES, SESSIONS

if TYPE_CHECKING:
    import pyarrow as pa

COUNTED: Final = (
    "events",
    "time_us",
    "acked",
    "lost",
    "duplicated",
    "diverged",
    "consumed_lost",
    "expectations_failed",
    "invariants_violated",
)
"""What a run's row takes from its session's."""
LOSSES: Final = ("lost", "duplicated", "diverged", "consumed_lost")
"""Columns that are findings if they are not 0."""

Values = dict[str, Any]


def runs_schema() -> str:
    """The rows' schema as Spark's DDL text."""
    return ", ".join(f"`{column.name}` {SPARK_TYPES[column.type]}" for column in RUNS.columns)


def run_values(plan: Plan, run: Run, dataset: Path, failure: Failure | None) -> Values:
    """A run's row; ``failure`` if there is no session of it.

    Raises :class:`~sessions.dataset.layout.DatasetUnreadable` if its session is damaged.
    """
    variant = plan.variants[run.variant]
    found: Values = dict.fromkeys(RUNS.names)
    found |= {
        "run": run.number,
        SESSION: run.session,
        "variant": run.variant,
        "varied": msgspec.json.encode(variant.values).decode(),
        "seed": run.seed,
        "command": variant.command.with_seed(run.seed),
    }
    if failure is not None:
        return found | {
            "outcome": failure.outcome,
            "findings": [failure.outcome],
            "error": failure.error,
        }
    try:
        return found | _session_values(dataset, run.session)
    except (OSError, ValueError) as error:
        reason = str(error).splitlines()[0]
        raise DatasetUnreadable(
            f"session {run.session} in {dataset} is damaged: {reason}"
        ) from None


def _session_values(dataset: Path, session: str) -> Values:
    (row,) = _read(dataset, SESSIONS, session).to_pylist()
    failed = ["failed"] if row["outcome"] == "failed" else []
    return {name: row[name] for name in COUNTED} | {
        "outcome": row["outcome"],
        "findings": failed + [name for name in LOSSES if row[name]],
        "unavailable_us": _unavailable_us(dataset, session, row["time_us"]),
    }


def _unavailable_us(dataset: Path, session: str, end_us: int) -> int:
    states = _rows(dataset, PARTITION_STATES, session, ("state", "leader"), end_us)
    replicas = _rows(dataset, REPLICA_STATES, session, ("role", "broker"), end_us)
    there = [each for each in states if each[1] != "nonexistent"]
    return unavailable_us(
        [Reign(tp, leader, begin, end) for tp, _, leader, begin, end in there if leader != -1],
        [
            Reign(tp, broker, begin, end)
            for tp, role, broker, begin, end in replicas
            if role == "leader"
        ],
        [(tp, begin, end) for tp, _, _, begin, end in there],
    )


def _rows(
    dataset: Path, table: Table, session: str, columns: tuple[str, str], end_us: int
) -> list[tuple[Any, ...]]:
    """``tp``, two columns, and from when until when; what holds at the end holds until then."""
    read = _read(dataset, table, session, ["tp", *columns, "from_us", "to_us"]).to_pydict()
    ends = [end_us if each is None else each for each in read.pop("to_us")]
    return list(zip(*read.values(), ends, strict=True))


def _read(
    dataset: Path, table: Table, session: str, columns: list[str] | None = None
) -> "pa.Table":
    import pyarrow.parquet as pq

    folder = dataset / table.name / f"{SESSION}={session}"
    return pq.read_table(folder, columns=columns, partitioning=None)
