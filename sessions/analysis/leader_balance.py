"""The job ``leaders``: how leadership was distributed, and how far from the preferred leaders."""

from typing import Final

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from sessions.analysis.intervals import edges
from sessions.analysis.job import Job, Result, rounded, shown
from sessions.analysis.results.cluster import LEADER_BALANCE
from sessions.analysis.state_intervals import partition_intervals
from sessions.analysis.tables import OBSERVED, DatasetTables
from sessions.dataset.schema import SESSION

KEYS: Final = (SESSION, "broker")
COUNTED: Final = ("led_at_end", "preferred_at_end", "strayed_at_end", "gained", "lost")


def leader_balance(source: DatasetTables) -> DataFrame:
    """Return the table :data:`LEADER_BALANCE`: a row for each broker with an assigned replica."""
    states = partition_intervals(source)
    led = states.where("leader >= 0").withColumn("broker", F.col("leader"))
    turns = edges(led, (*KEYS, "tp"))
    whole = states.select(SESSION, F.explode("replicas").alias("broker")).distinct()
    gained = turns.groupBy(*KEYS).agg(
        F.count_if(F.col("change") > 0).alias("gained"),
        F.count_if(F.col("change") < 0).alias("lost"),
    )
    for part in (_over_time(whole, turns, source), *_at_end(states), gained):
        whole = whole.join(part, list(KEYS), "left")
    imbalance = F.col("strayed_at_end") * 100 / F.col("preferred_at_end")
    share = F.when(F.col("preferred_at_end") > 0, imbalance)
    counted = whole.fillna(0, list(COUNTED)).withColumn("imbalance_percent", share)
    return counted.select(*LEADER_BALANCE.names)


def _over_time(brokers: DataFrame, turns: DataFrame, source: DatasetTables) -> DataFrame:
    """Return how many partitions each broker led, as mean over time and maximum.

    A session of a real cluster has times of day: its time begins with its first leader.
    """
    first = turns.groupBy(SESSION).agg(F.min("us").alias("first_us"))
    observed = source.sessions.where(OBSERVED).select(SESSION).join(first, SESSION, "left")
    start = brokers.join(observed, SESSION, "left").select(
        *KEYS,
        F.lit(0).alias("seq"),
        F.coalesce("first_us", F.lit(0)).alias("us"),
        F.lit(0).alias("change"),
    )
    changes = turns.drop("tp").unionByName(start).join(source.ends, SESSION, "left")
    line = Window.partitionBy(*KEYS).orderBy("seq")
    so_far = line.rangeBetween(Window.unboundedPreceding, Window.currentRow)
    levels = changes.select(
        *KEYS,
        "seq",
        "end_us",
        F.sum("change").over(so_far).alias("level"),
        (F.coalesce(F.lead("us").over(line), "end_us") - F.col("us")).alias("lasted_us"),
    ).where("lasted_us > 0")
    largest = F.max(F.struct("level", (-F.col("seq")).alias("first")))
    return levels.groupBy(*KEYS).agg(
        (F.sum(F.col("level") * F.col("lasted_us")) / F.sum("lasted_us")).alias("led_mean"),
        largest["level"].alias("led_max"),
        (-largest["first"]).alias("led_max_seq"),
    )


def _at_end(states: DataFrame) -> tuple[DataFrame, DataFrame]:
    """Return the partitions that each broker leads at the end, and those it should lead."""
    last = states.where("to_seq is null")
    led = last.where("leader >= 0").groupBy(SESSION, F.col("leader").alias("broker"))
    preferred = last.where("size(replicas) > 0").groupBy(
        SESSION, F.col("replicas")[0].alias("broker")
    )
    strays = ~F.col("leader").eqNullSafe(F.col("replicas")[0])
    return (
        led.agg(F.count("*").alias("led_at_end")),
        preferred.agg(
            F.count("*").alias("preferred_at_end"), F.count_if(strays).alias("strayed_at_end")
        ),
    )


JOB: Final = Job(
    "leaders",
    "how were leaders distributed over the brokers?",
    (
        Result(
            LEADER_BALANCE,
            leader_balance,
            "Leader balance by broker",
            shown(
                session=SESSION,
                broker="broker",
                led_mean=rounded("led_mean", 3),
                led_max="led_max",
                at_event="led_max_seq",
                led_at_end="led_at_end",
                preferred="preferred_at_end",
                strayed="strayed_at_end",
                imbalance_percent=rounded("imbalance_percent", 1),
                gained="gained",
                lost="lost",
            ),
            ("imbalance_percent", "led_max"),
            KEYS,
        ),
    ),
)
