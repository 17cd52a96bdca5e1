"""What was produced and consumed, by runs of records instead of records.

The records of a batch share all but their number, offset, key and value, and those that a consumer
was given at once share as much. Most questions have the same answer for all of them, so both tables
are put together into runs once; a run of 100 records is then a row instead of 100.
"""

from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from sessions.analysis.tables import DatasetTables
from sessions.dataset.schema import PARTITION
from sessions.dataset.tables import CONSUMED, PRODUCED

BATCHES: Final = "batches"
GIVEN: Final = "given"
"""By which names the runs are kept."""
OF_BATCH: Final = (
    *PARTITION,
    "producer",
    "acks",
    "sent_seq",
    "sent_us",
    "retries",
    "appended_seq",
    "outcome",
    "error",
    "answered_seq",
    "answered_us",
    "committed_seq",
    "committed_us",
)
"""What records of one batch share that were committed by one event."""
OUTCOMES: Final = ("acked", "sent", "failed", "pending")
OF_POLL: Final = (*PARTITION, "consumer", "consume", "seq")
"""What records share that a consumer was given by one event."""


def batches(source: DatasetTables) -> DataFrame:
    """Records produced, by :data:`OF_BATCH`: ``records``, ``first`` and ``base``.

    ``first`` is the lowest record id of them and ``base`` its offset, null if it has none; a batch
    is written as a whole, so its records are contiguous.
    """
    return source.materialised(BATCHES, lambda of: _runs(of.table(PRODUCED), OF_BATCH))


def given(source: DatasetTables) -> DataFrame:
    """Records consumed, by :data:`OF_POLL` and ``shift``, which is their offset less their id.

    ``first``, ``last`` are the lowest and highest id of them, ``base`` and ``end`` their offsets.
    """

    def made(of: DatasetTables) -> DataFrame:
        shift = F.col("offset") - F.col("record")
        consumed = of.table(CONSUMED).withColumn("shift", shift)
        return _runs(consumed, (*OF_POLL, "shift")).select(
            "*",
            (F.col("last") + F.col("shift")).alias("end"),
        )

    return source.materialised(GIVEN, made)


def records_by_outcome() -> tuple[Column, ...]:
    """How many records of batches had each of :data:`OUTCOMES`, to be aggregated."""
    return tuple(
        F.sum(F.when(F.col("outcome") == outcome, F.col("records")).otherwise(0)).alias(outcome)
        for outcome in OUTCOMES
    )


def _runs(rows: DataFrame, keys: tuple[str, ...]) -> DataFrame:
    """The rows that share ``keys``, as one; only numbers are gathered, which needs no sorting."""
    return rows.groupBy(*keys).agg(
        F.count("*").alias("records"),
        F.min("record").alias("first"),
        F.max("record").alias("last"),
        F.min("offset").alias("base"),
    )
