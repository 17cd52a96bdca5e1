"""Produced and consumed records, as runs instead of single records.

The records of a batch differ only in number, offset, key and value, and so do those that a
consumer gets at once. Most queries have the same answer for all of them, so both tables are
aggregated into runs once; a run of 100 records is then one row instead of 100.
"""

from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from sessions.analysis.tables import DatasetTables
from sessions.dataset.schema import PARTITION
from sessions.dataset.tables import CONSUMED, PRODUCED

BATCHES: Final = "batches"
GIVEN: Final = "given"
"""Names under which the runs are materialised."""
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
"""Columns shared by the records of one batch that were committed by one event."""
OUTCOMES: Final = ("acked", "sent", "failed", "pending")
OF_POLL: Final = (*PARTITION, "consumer", "consume", "seq")
"""Columns shared by the records that a consumer got by one event."""


def batches(source: DatasetTables) -> DataFrame:
    """Return produced records, grouped by :data:`OF_BATCH`: ``records``, ``first`` and ``base``.

    ``first`` is the lowest record id and ``base`` its offset, null if it has none; a batch is
    written atomically, so its records are contiguous.
    """
    return source.materialised(BATCHES, lambda tables: _runs(tables.table(PRODUCED), OF_BATCH))


def consumed_runs(source: DatasetTables) -> DataFrame:
    """Return consumed records, grouped by :data:`OF_POLL` and ``shift`` (offset minus record id).

    ``first`` and ``last`` are their lowest and highest id, ``base`` and ``end`` their offsets.
    """

    def compute(tables: DatasetTables) -> DataFrame:
        shift = F.col("offset") - F.col("record")
        consumed = tables.table(CONSUMED).withColumn("shift", shift)
        return _runs(consumed, (*OF_POLL, "shift")).select(
            "*",
            (F.col("last") + F.col("shift")).alias("end"),
        )

    return source.materialised(GIVEN, compute)


def records_by_outcome() -> tuple[Column, ...]:
    """Return aggregates that count records of batches by each of :data:`OUTCOMES`."""
    return tuple(
        F.sum(F.when(F.col("outcome") == outcome, F.col("records")).otherwise(0)).alias(outcome)
        for outcome in OUTCOMES
    )


def _runs(rows: DataFrame, keys: tuple[str, ...]) -> DataFrame:
    """Merge rows that share ``keys``; only numbers are aggregated, which needs no sorting."""
    return rows.groupBy(*keys).agg(
        F.count("*").alias("records"),
        F.min("record").alias("first"),
        F.max("record").alias("last"),
        F.min("offset").alias("base"),
    )
