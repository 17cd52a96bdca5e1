"""Summing a campaign up: by Spark, from the table of its runs."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from sessions.campaign.manifest import Ledger, writing
from sessions.campaign.outcome import OUTCOMES, CampaignReport, Failing, Loss, VariantReport
from sessions.campaign.plan import Plan
from sessions.campaign.runs import LOSSES, runs_schema

if TYPE_CHECKING:
    from pyspark.sql import Column, SparkSession

SHOWN_MAX: Final = 20
"""How many of the runs to look at are in the report; all are in its file."""


def summed_up(spark: "SparkSession", plan: Plan, ledger: Ledger) -> CampaignReport:
    """The report of a campaign whose runs have all ended; it is kept beside its commands."""
    from pyspark.sql import functions as F

    from sessions.analysis.tables import literal_path

    runs = spark.read.schema(runs_schema()).parquet(literal_path(ledger.runs))
    matrix = runs.groupBy("variant").agg(*_sums()).orderBy("variant").collect()
    to_look_at = runs.where(F.size("findings") > 0)
    first = to_look_at.orderBy(_gravity(), "run").limit(SHOWN_MAX).collect()
    _write_commands(ledger)
    report = CampaignReport(
        dataset=ledger.dataset,
        script=plan.script,
        runs=plan.runs,
        variants=tuple(_variant(plan, row.asDict()) for row in matrix),
        failing=tuple(_failing(plan, row.asDict()) for row in first),
        failing_in_all=to_look_at.count(),
        failing_file=ledger.failing,
        runs_table=ledger.runs,
    )
    ledger.sum_up(report)
    return report


def _gravity() -> "Column":
    """What comes first: faults of the program, failures, losses, and then the rest."""
    from pyspark.sql import functions as F

    return (
        F.when(F.col("outcome").isin("raised", "hung"), 0)
        .when(F.col("outcome") == "failed", 1)
        .when(F.col("lost") > 0, 2)
        .otherwise(3)
    )


def _sums() -> "Iterator[Column]":
    from pyspark.sql import functions as F

    yield F.count("*").alias("runs")
    for outcome in OUTCOMES:
        yield F.count_if(F.col("outcome") == outcome).alias(outcome)
    for loss in LOSSES:
        yield F.count_if(F.col(loss) > 0).alias(f"{loss}_runs")
        yield F.coalesce(F.sum(loss), F.lit(0)).alias(loss)
    yield F.avg("unavailable_us").alias("unavailable_mean_us")
    yield F.max("unavailable_us").alias("unavailable_max_us")


def _variant(plan: Plan, row: dict[str, Any]) -> VariantReport:
    losses = {name: Loss(row[f"{name}_runs"], row[name]) for name in LOSSES}
    return VariantReport(
        values=plan.variants[row["variant"]].values,
        runs=row["runs"],
        outcomes={outcome: row[outcome] for outcome in OUTCOMES},
        unavailable_mean_us=row["unavailable_mean_us"],
        unavailable_max_us=row["unavailable_max_us"],
        **losses,
    )


def _failing(plan: Plan, row: dict[str, Any]) -> Failing:
    return Failing(
        session=row["session"],
        values=plan.variants[row["variant"]].values,
        seed=row["seed"],
        findings=row["findings"],
        error=row["error"],
        command=row["command"],
    )


def _write_commands(ledger: Ledger) -> None:
    """Write the command of every run to look at, in order; never more than some of them at once."""
    import pyarrow.dataset as pad

    rows = pad.dataset(ledger.runs, format="parquet").scanner(["command", "findings", "error"])
    with writing(ledger.dataset), ledger.failing.open("w", encoding="utf-8") as file:
        for batch in rows.to_batches():
            for row in batch.to_pylist():
                if row["findings"]:
                    why = ", ".join(row["findings"]) + (f": {row['error']}" if row["error"] else "")
                    file.write(f"{row['command']}  # {' '.join(why.split())}\n")
