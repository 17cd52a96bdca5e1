"""How far the HW lagged behind the leader's LEO: by partition, and over time.

Sums of lag times time are exact decimals: the product of an offset and a time in microseconds may
exceed 64 bits, and floating-point sums would depend on the order of rows.
"""

from collections.abc import Sequence
from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from sessions.analysis.intervals import lasted, merged_intervals
from sessions.analysis.results.latency import HW_LAG_BUCKETS, HW_LAG_TIMELINE
from sessions.analysis.tables import DatasetTables
from sessions.dataset.schema import PARTITION, SESSION
from sessions.dataset.tables import PARTITION_STATES

KEYS: Final = (SESSION, "tp")
EXACT: Final = "decimal(19,0)"


def lag_by_partition(source: DatasetTables) -> DataFrame:
    """Return mean and maximum of LEO - HW over the time in which there was a leader with a log."""
    states, ends = source.table(PARTITION_STATES), source.ends
    lags = _by_lag(_lags(source, ends).where("lasted_us > 0"), KEYS, "lasted_us")
    summed = lags.groupBy(*KEYS).agg(
        F.sum("lasted_us").alias("online_us"),
        (_weighted("lasted_us") / F.sum("lasted_us")).alias("hw_lag_mean"),
        F.max("lag").alias("hw_lag_max"),
        F.max_by("from_seq", "lag").alias("hw_lag_max_seq"),
    )
    lagging = merged_intervals(states.where("leo > hw"), KEYS)
    longest = F.max(F.struct("lasted_us", (-F.col("from_seq")).alias("first")))
    lagging_times = lasted(lagging, ends).where("lasted_us > 0").groupBy(*KEYS)
    longest_times = lagging_times.agg(
        longest["lasted_us"].alias("longest_us"),
        (-longest["first"]).alias("hw_lag_longest_seq"),
    )
    never = F.coalesce("longest_us", F.lit(0)).alias("hw_lag_longest_us")
    return summed.join(longest_times, list(KEYS), "left").select("*", never).drop("longest_us")


def hw_lag_timeline(source: DatasetTables) -> DataFrame:
    """Return the table :data:`HW_LAG_TIMELINE`: lag over equal intervals of each session's time."""
    width = F.greatest(F.ceil(F.col("end_us") / HW_LAG_BUCKETS), F.lit(1)).alias("width_us")
    ends = source.ends.select(SESSION, "end_us", width)
    lags = _lags(source, ends).where("lasted_us > 0")
    last = F.expr("(from_us + lasted_us - 1) div width_us")
    buckets = F.sequence(F.expr("from_us div width_us"), last)
    cut = lags.withColumn("bucket", F.explode(buckets))
    begin, end = F.col("bucket") * F.col("width_us"), (F.col("bucket") + 1) * F.col("width_us")
    inside = cut.withColumns(
        {
            "begin_us": begin,
            "finish_us": F.least(end, "end_us"),
            "inside_us": F.least(end, F.col("from_us") + F.col("lasted_us"))
            - F.greatest(begin, "from_us"),
        }
    )
    keys = (*PARTITION, "bucket", "begin_us", "finish_us")
    rows = (
        _by_lag(inside, keys, "inside_us")
        .groupBy(*keys)
        .agg(
            (_weighted("inside_us") / F.sum("inside_us")).alias("lag_mean"),
            F.max("lag").alias("lag_max"),
            F.max_by("from_seq", "lag").alias("lag_max_seq"),
        )
    )
    return rows.select(
        *PARTITION,
        F.col("bucket").cast("int").alias("bucket"),
        F.col("begin_us").alias("from_us"),
        F.col("finish_us").alias("to_us"),
        *HW_LAG_TIMELINE.names[-3:],
    )


def _lags(source: DatasetTables, ends: DataFrame) -> DataFrame:
    """Return the states with a leader that has a log: its ``lag``, and how long it lasted.

    Callers group them by :data:`KEYS` and more, and the result by fewer; rows are shuffled once,
    by partition, which suits both.
    """
    until = F.coalesce("to_us", "end_us") - F.col("from_us")
    led = source.table(PARTITION_STATES).where("hw is not null").join(ends, SESSION, "left")
    lag = (F.col("leo") - F.col("hw")).alias("lag")
    names = [name for name in ends.columns if name != SESSION]
    lags = led.select(*PARTITION, *names, "from_seq", "from_us", until.alias("lasted_us"), lag)
    return source.distributed(lags, *KEYS)


def _by_lag(lags: DataFrame, keys: Sequence[str], time: str) -> DataFrame:
    """Return the total time of each ``lag``, and when it first occurred.

    Each lag then occurs once, so finding the event of the largest needs no sorting.
    """
    grouped = lags.groupBy(*keys, "lag")
    return grouped.agg(F.sum(time).alias(time), F.min("from_seq").alias("from_seq"))


def _weighted(time: str) -> Column:
    return F.sum(F.col("lag").cast(EXACT) * F.col(time).cast(EXACT)).cast("double")
