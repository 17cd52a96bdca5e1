"""Intervals of events and time in which a condition holds, computed by window functions.

The dataset's state tables have a row for each value for as long as it is valid; an outage or a
controller term spans many of these rows. A row counts +1 at its first event and -1 at the event
that ended it. Where one row ends and the next begins, the two cancel out, which leaves only as many
rows as there are real starts and ends; only these have to be sorted.
"""

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from sessions.analysis.windows import earlier, in_order


def edges(rows: DataFrame, keys: Sequence[str]) -> DataFrame:
    """Return where rows start or stop being valid: ``keys``, ``seq``, ``us`` and ``change``.

    ``rows`` have the validity columns ``from_seq``, .. ``to_us``; a row that is valid until the
    session's end has no edge there.
    """
    begin = F.struct(
        F.col("from_seq").alias("seq"), F.col("from_us").alias("us"), F.lit(1).alias("change")
    )
    end = F.struct(
        F.col("to_seq").alias("seq"), F.col("to_us").alias("us"), F.lit(-1).alias("change")
    )
    exploded = rows.select(*keys, F.explode(F.array(begin, end)).alias("edge"))
    counted = exploded.select(*keys, "edge.*").where("seq is not null").groupBy(*keys, "seq")
    return counted.agg(F.max("us").alias("us"), F.sum("change").cast("int").alias("change")).where(
        "change <> 0"
    )


def merged_intervals(rows: DataFrame, keys: Sequence[str]) -> DataFrame:
    """Return the maximal intervals in which at least one row is valid: ``keys`` and validity."""
    level = F.sum("change").over(earlier(keys, now=0))
    levels = edges(rows, keys).withColumn("level", level)
    turns = levels.where("level = 0 or level = change")
    return turns.select(*keys, "level", *until_next(keys)).where("level > 0").drop("level")


def until_next(keys: Sequence[str], time: str = "us") -> tuple[Column, ...]:
    """Return the validity columns of rows that are valid from their ``seq`` to that of the next."""
    line = in_order(keys)
    return (
        F.col("seq").alias("from_seq"),
        F.col(time).alias("from_us"),
        F.lead("seq").over(line).alias("to_seq"),
        F.lead(time).over(line).alias("to_us"),
    )


def lasted(rows: DataFrame, ends: DataFrame) -> DataFrame:
    """Add how long each row was valid, ``lasted_us``, at most until its session's end."""
    until = F.coalesce("to_us", "end_us") - F.col("from_us")
    return rows.join(ends, "session", "left").withColumn("lasted_us", until).drop("end_us")
