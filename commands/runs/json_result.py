"""The result of a run on standard output: the JSON object, or its final tables."""

from typing import Any, Final

import msgspec

from commands.language.statements.show import Show
from commands.output.grids import Grid
from commands.runs.expectations import Tally
from commands.runs.script_runner import ScriptRunner
from sessions.grammar.words import UNITS_US
from sessions.model.summary import contract, marks

ROWS_MAX: Final = 100
"""Maximum number of rows of a table at the end of a run."""


def json_object(runner: ScriptRunner) -> dict[str, Any]:
    """Return the object of ``run --json``: schema 1; keys may be added, none renamed."""
    facts = {
        "time_ms": runner.cluster.now_us // UNITS_US["ms"],
        "state_hash": runner.runner.state_hash,
        "expectations": expectations(runner.tally),
        "marks": marks(runner.marks),
        "outputs": [msgspec.structs.asdict(output) for output in runner.outputs],
    }
    return contract(runner.view, facts)


def expectations(tally: Tally) -> dict[str, Any]:
    """Return how many held, and those that did not."""
    failed = [msgspec.structs.asdict(failure) for failure in tally.failed]
    return {"passed": tally.passed, "failed": failed}


def final_tables(runner: ScriptRunner) -> list[Grid]:
    """Return partitions (only some of very many), clients, audit and failed expectations."""
    from commands.output.show_tables import grids

    view = runner.view
    tables = [_shortened(grid) for grid in grids(Show("partitions"), view)]
    tables += [grid for grid in grids(Show("producers"), view) if grid.rows]
    tables += [_shortened(grid) for grid in grids(Show("audit"), view)]
    return [*tables, _failures(runner.tally)]


def _shortened(grid: Grid) -> Grid:
    """Return the table's first rows; ``show`` prints all of them."""
    if len(grid.rows) <= ROWS_MAX:
        return grid
    title = f"{grid.title} ({ROWS_MAX} of {len(grid.rows):,})"
    return Grid(title, grid.columns, grid.rows[:ROWS_MAX], grid.empty)


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
