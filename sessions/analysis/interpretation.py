"""Have Spark interpret queries that read little.

Spark compiles each query to Java by default, which takes longer than it saves if there are few
rows. Whether it does is a setting of a session; queries that run side by side need two.
"""

from typing import Any, Final

from pyspark.sql import DataFrame, SparkSession

from sessions.analysis.sizing import INTERPRETED

LITTLE_MAX: Final = 2**17
"""Bytes of files from which compiling a query pays off, 30,000 to 100,000 rows.

Compiling one took 0.2 s of processor time on average, and interpreting 80,000 rows that much more.
"""
FILES: Final = "LogicalRelation"
"""Spark's name for files that a query reads."""
ROWS: Final = "LocalRelation"
"""Spark's name for rows that are part of a query."""


class Interpretation:
    """Has queries of ``spark`` interpreted that read little.

    A session that says whether to compile queries is obeyed. On Spark Connect all are compiled: a
    program cannot see there what a query reads.
    """

    def __init__(self, spark: SparkSession) -> None:
        session: Any = getattr(spark, "_jsparkSession", None)
        self._session = None
        if session is None or any(spark.conf.get(key, None) is not None for key in INTERPRETED):
            return
        self._session = session.cloneSession()
        for key, value in INTERPRETED.items():
            self._session.conf().set(key, value)
        jvm: Any = spark.sparkContext._jvm
        self._rows_of = jvm.org.apache.spark.sql.classic.Dataset.ofRows

    def suited(self, rows: DataFrame) -> DataFrame:
        """Return the same rows, of a query that is interpreted if it reads little."""
        if self._session is None:
            return rows
        plan = rows._jdf.logicalPlan()
        if not _reads_little(plan):
            return rows
        return DataFrame(self._rows_of(self._session, plan), rows.sparkSession)


def _reads_little(plan: Any) -> bool:  # noqa: ANN401 - py4j's
    """Return whether the files that a query reads have less than :data:`LITTLE_MAX` bytes."""
    size_bytes = 0
    leaves = plan.collectLeaves().iterator()
    while size_bytes < LITTLE_MAX and leaves.hasNext():
        leaf = leaves.next()
        kind = leaf.nodeName()
        if kind == FILES:
            size_bytes += leaf.relation().location().sizeInBytes()
        elif kind != ROWS:
            return False
    return size_bytes < LITTLE_MAX
