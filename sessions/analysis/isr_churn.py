"""The job ``isr``: how often ISRs changed, who requested it, and how small they were."""

from typing import Final

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from sessions.analysis.intervals import lasted
from sessions.analysis.job import Job, Result, rounded, shown
from sessions.analysis.results.cluster import ISR_CHURN
from sessions.analysis.state_intervals import partition_intervals
from sessions.analysis.tables import DatasetTables
from sessions.dataset.schema import PARTITION, SESSION
from sessions.dataset.tables import ISR_CHANGES

COUNTED: Final = (
    "changes",
    "shrinks",
    "expands",
    "by_controller",
    "asked_shrinks",
    "asked_expands",
)


def isr_churn(source: DatasetTables) -> DataFrame:
    """Return the table :data:`ISR_CHURN`: a row for each partition that ever existed."""
    states = partition_intervals(source)
    changes = _changes(states)
    lefts = changes.select(*PARTITION, F.explode("left_out").alias("replica"))
    by_replica = lefts.groupBy(*PARTITION, "replica").agg(F.count("*").alias("n"))
    busiest = F.max(F.struct("n", (-F.col("replica")).alias("lowest")))
    restless = by_replica.groupBy(*PARTITION).agg(
        (-busiest["lowest"]).alias("restless"), busiest["n"].alias("restless_shrinks")
    )
    whole = states.select(*PARTITION).distinct()
    for part in (_counts(changes), _sizes(states, source.ends), restless, _requested(source)):
        whole = whole.join(part, list(PARTITION), "left")
    return whole.fillna(0, list(COUNTED)).select(*ISR_CHURN.names)


def _changes(states: DataFrame) -> DataFrame:
    """Return state changes in which the znode's ISR changed: which replicas left, which joined."""
    line = Window.partitionBy(*PARTITION).orderBy("from_seq")
    znode = F.when(F.col("state") != "nonexistent", F.struct("isr", "leader_epoch"))
    before = states.select(
        *PARTITION,
        "from_seq",
        "isr",
        "leader_epoch",
        "state",
        F.lag(znode).over(line).alias("before"),
        (F.lag("to_seq").over(line) == F.col("from_seq")).alias("follows"),
    )
    followed = before.where("state <> 'nonexistent' and before is not null and follows")
    return followed.select(
        *PARTITION,
        "from_seq",
        F.array_except("before.isr", "isr").alias("left_out"),
        F.array_except("isr", "before.isr").alias("taken_in"),
        (F.col("before.leader_epoch") != F.col("leader_epoch")).alias("new_epoch"),
    ).where("size(left_out) > 0 or size(taken_in) > 0")


def _counts(changes: DataFrame) -> DataFrame:
    shrink = F.size("left_out") > 0
    return changes.groupBy(*PARTITION).agg(
        F.count("*").alias("changes"),
        F.count_if(shrink).alias("shrinks"),
        F.count_if(F.size("taken_in") > 0).alias("expands"),
        F.count_if("new_epoch").alias("by_controller"),
        F.max(F.when(shrink, F.col("from_seq"))).alias("last_shrink_seq"),
    )


def _sizes(states: DataFrame, ends: DataFrame) -> DataFrame:
    lasting_states = lasted(states.where("state <> 'nonexistent'"), ends).where("lasted_us > 0")
    weighted = F.sum(F.size("isr") * F.col("lasted_us"))
    return lasting_states.groupBy(*PARTITION).agg(
        F.min(F.size("isr")).cast("bigint").alias("size_min"),
        (weighted / F.sum("lasted_us")).alias("size_mean"),
    )


def _requested(source: DatasetTables) -> DataFrame:
    """Return how often leaders requested to shrink and to expand ISRs."""
    requests = source.table(ISR_CHANGES).where("step = 'asked'")
    return requests.groupBy(*PARTITION).agg(
        F.count_if(F.col("change") == "shrink").alias("asked_shrinks"),
        F.count_if(F.col("change") == "expand").alias("asked_expands"),
    )


JOB: Final = Job(
    "isr",
    "how did the ISRs change?",
    (
        Result(
            ISR_CHURN,
            isr_churn,
            "ISR churn by partition",
            shown(
                session=SESSION,
                partition="tp",
                changes="changes",
                shrinks="shrinks",
                expands="expands",
                by_controller="by_controller",
                asked_shrinks="asked_shrinks",
                asked_expands="asked_expands",
                size_min="size_min",
                size_mean=rounded("size_mean", 3),
                most_restless="restless",
                left_out="restless_shrinks",
                last_at="last_shrink_seq",
            ),
            ("changes", "asked_shrinks"),
            (SESSION, "topic", "partition"),
        ),
    ),
)
