"""Exact percentiles by group, as window functions that need not fit into one machine's memory."""

from collections.abc import Sequence
from typing import Final

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

PERCENTS: Final = (50, 95, 99)


def percentiles(
    rows: DataFrame, keys: Sequence[str], value: str, prefix: str, unit: str, times: str = "1"
) -> DataFrame:
    """Return a row per group with values: ``PREFIX_p50_UNIT``, .. and ``PREFIX_max_UNIT``.

    ``PREFIX_n`` is the number of values.
    The percentile P is the smallest value that at least P percent of the group's values do not
    exceed (nearest rank), so it is always a value that occurs. Nulls are ignored. ``times`` is SQL
    for the number of values that a row represents.
    """
    present = rows.where(F.col(value).isNotNull())
    counted = present.groupBy(*keys, value).agg(F.sum(F.expr(times)).alias("n"))
    group = Window.partitionBy(*keys)
    upwards = group.orderBy(value).rowsBetween(Window.unboundedPreceding, Window.currentRow)
    ranked = counted.select(
        *keys,
        value,
        F.sum("n").over(upwards).alias("rank"),
        F.sum("n").over(group).alias("total"),
    )
    reached = [
        F.min(F.when(F.col("rank") * 100 >= F.col("total") * percent, F.col(value))).alias(
            f"{prefix}_p{percent}_{unit}"
        )
        for percent in PERCENTS
    ]
    return ranked.groupBy(*keys).agg(
        F.max("total").alias(f"{prefix}_n"), *reached, F.max(value).alias(f"{prefix}_max_{unit}")
    )
