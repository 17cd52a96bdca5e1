"""Recorded sessions as a data source of Spark, which needs no export."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def register(spark: "SparkSession") -> None:
    """Let a session read ``format("tidegauge")``; workers need tidegauge with its extra `spark`."""
    from sessions.spark.source import SessionSource

    spark.dataSource.register(SessionSource)
