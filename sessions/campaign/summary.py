"""Summarize a campaign on Spark, from the table of its runs."""

import shlex
from collections.abc import Iterator
from functools import reduce
from typing import Any, Final

from msgspec import structs
from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as F

from sessions.analysis.tables import DatasetTables
from sessions.campaign.manifest import FOLDER, CampaignFolder
from sessions.campaign.outcome import OUTCOMES, CampaignReport, Failing, Loss, VariantReport
from sessions.campaign.plan import Plan
from sessions.campaign.runs import LOSSES
from sessions.campaign.shrink import script_text
from sessions.dataset.layout import Dataset
from sessions.dataset.schema import SESSION
from sessions.dataset.tables import RUNS

SHOWN_MAX: Final = 20
"""Maximum number of runs worth looking at in the report."""
WRITTEN_MAX: Final = 100_000
"""Maximum number of them in its file; the table has all."""


def all_runs(spark: SparkSession, dataset: Dataset) -> DataFrame:
    """Return the runs of a campaign without duplicates: the last attempt of each."""
    rows = DatasetTables(spark, dataset, dataset.location / FOLDER).whole(RUNS)
    last = F.max_by(F.struct(*(name for name in RUNS.names if name != SESSION)), "limit_s")
    return rows.groupBy(SESSION).agg(last.alias("last")).select(SESSION, "last.*")


def summed_up(spark: SparkSession, plan: Plan, dataset: Dataset) -> CampaignReport:
    """Return the report of a campaign whose runs have all ended, and store it with its commands.

    Among equally grave runs, one of each combination comes first, then another of each, and so on:
    the few that are shown and reduced should not all be of one combination.
    """
    folder = CampaignFolder(dataset.location)
    runs = all_runs(spark, dataset)
    combinations = {_combination(variant.values): variant.values for variant in plan.variants}
    sums = runs.groupBy(_entries()).agg(*_sums()).collect()
    matrix = {_combination(dict(row["varied"])): row.asDict() for row in sums}
    to_look_at = runs.where(F.size("findings") > 0)
    alike = Window.partitionBy("gravity", _entries()).orderBy("seed")
    ranked = to_look_at.withColumn("gravity", _gravity())
    ranked = ranked.withColumn("nth", F.row_number().over(alike))
    worst = ranked.orderBy("gravity", "nth", SESSION).limit(WRITTEN_MAX)
    first = worst.select("session", "varied", "seed", "findings", "error", "command").collect()
    failing = [_failing(row.asDict()) for row in first[:SHOWN_MAX]]
    if plan.chaos is not None:
        failing = [_with_script(plan, run, folder) for run in failing]
    report = CampaignReport(
        dataset=str(dataset),
        script=plan.script,
        runs=plan.runs,
        variants=tuple(
            _variant(values, matrix[combination])
            for combination, values in combinations.items()
            if combination in matrix
        ),
        failing=tuple(failing),
        failing_in_all=to_look_at.count(),
        failing_file=str(folder.failing),
        runs_table=str(dataset.location / RUNS.name),
    )
    folder.sum_up(report, "".join(_line(row.asDict()) for row in first).encode())
    return report


def _with_script(plan: Plan, failing: Failing, folder: CampaignFolder) -> Failing:
    """Add a script of the run, in which its faults are statements."""
    run = plan.run(plan.number_of(failing.session))
    variant = plan.of_run(run)
    title = f"{failing.session}: {', '.join(failing.findings)}"
    text = script_text(variant, run.seed, variant.steps, title)
    path = folder.keep_script(folder.scripts, failing.session, text)
    command = f"tidegauge console {shlex.quote(path)} --from-start --paused"
    return structs.replace(failing, command=command)


def _line(row: dict[str, Any]) -> str:
    reason = ", ".join(row["findings"]) + (f": {row['error']}" if row["error"] else "")
    return f"{row['command']}  # {' '.join(reason.split())}\n"


def _combination(values: dict[str, str]) -> frozenset[tuple[str, str]]:
    return frozenset(values.items())


def _entries() -> Column:
    """Return what was varied in a form by which Spark can group: maps have no order."""
    return F.array_sort(F.map_entries("varied")).alias("varied")


def _gravity() -> Column:
    """Return the sort order: internal errors first, then failures, losses, and the rest."""
    return (
        F.when(F.col("outcome").isin("raised", "hung"), 0)
        .when(F.col("outcome") == "failed", 1)
        .when(_total("lost") > 0, 2)
        .otherwise(3)
    )


def _total(loss: str) -> Column:
    return reduce(Column.__add__, (F.col(name) for name in LOSSES[loss]))


def _sums() -> Iterator[Column]:
    yield F.count("*").alias("runs")
    for outcome in OUTCOMES:
        yield F.count_if(F.col("outcome") == outcome).alias(outcome)
    for loss in LOSSES:
        yield F.count_if(_total(loss) > 0).alias(f"{loss}_runs")
        yield F.coalesce(F.sum(_total(loss)), F.lit(0)).alias(loss)
    yield F.avg("unavailable_us").alias("unavailable_mean_us")
    yield F.max("unavailable_us").alias("unavailable_max_us")


def _variant(values: dict[str, str], row: dict[str, Any]) -> VariantReport:
    losses = {name: Loss(row[f"{name}_runs"], row[name]) for name in LOSSES}
    return VariantReport(
        values=values,
        runs=row["runs"],
        outcomes={outcome: row[outcome] for outcome in OUTCOMES},
        unavailable_mean_us=row["unavailable_mean_us"],
        unavailable_max_us=row["unavailable_max_us"],
        **losses,
    )


def _failing(row: dict[str, Any]) -> Failing:
    return Failing(
        session=row["session"],
        values=row["varied"],
        seed=row["seed"],
        findings=row["findings"],
        error=row["error"],
        command=row["command"],
    )
