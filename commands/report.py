"""What a run yields on standard output: the JSON object, or its final tables."""

from typing import Any

import msgspec

from commands.grids import Grid, as_text
from commands.runner import Runner
from commands.statements.showing import Show
from commands.tables import grids
from commands.tally import Tally
from commands.words import UNITS_US
from sessions.view import ClusterView

MARKED = ("controller", "brokers", "partitions")
"""What a mark holds of the object, as it was then."""


def json_object(runner: Runner) -> dict[str, Any]:
    """The object of ``run --json``: schema 1; keys may be added, none renamed."""
    from sessions.summary import contract

    made: dict[str, Any] = contract(runner.view)
    made["time_ms"] = runner.cluster.now_us // UNITS_US["ms"]
    made["events"] = runner.cluster.sequence
    made["state_hash"] = runner.cluster.state_hash
    made["expectations"] = expectations(runner.tally)
    made["marks"] = {name: _mark(view) for name, view in runner.marks.items()}
    made["outputs"] = [msgspec.structs.asdict(each) for each in runner.outputs]
    return made


def expectations(tally: Tally) -> dict[str, Any]:
    """How many held, and those that did not."""
    failed = [msgspec.structs.asdict(failure) for failure in tally.failed]
    return {"passed": tally.passed, "failed": failed}


def as_json(made: dict[str, Any]) -> str:
    """One line of JSON, in UTF-8."""
    return msgspec.json.encode(made).decode() + "\n"


def final_tables(runner: Runner, width: int, is_terminal: bool) -> str:
    """Partitions, clients, audit and failed expectations, as text."""
    view = runner.view
    found = [*grids(Show("partitions"), view)]
    found += [grid for grid in grids(Show("producers"), view) if grid.rows]
    found += [*grids(Show("audit"), view), _failures(runner.tally)]
    return as_text(found, width, is_terminal)


def _mark(view: ClusterView) -> dict[str, Any]:
    from sessions.summary import contract

    made: dict[str, Any] = contract(view)
    time_ms = view.time_us // UNITS_US["ms"]
    return {"time_ms": time_ms, **{key: made[key] for key in MARKED}}


def _failures(tally: Tally) -> Grid:
    rows = [
        (failure.line, failure.text, msgspec.json.encode(failure.actual).decode())
        for failure in tally.failed
    ]
    return Grid(
        f"expectations: {tally.passed} held, {len(rows)} failed",
        ("LINE", "WHAT", "WAS"),
        list(rows),
        empty="",
    )
