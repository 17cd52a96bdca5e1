"""What the end of a session holds against records: lost, duplicated, diverged, consumed and lost.

First whole runs are compared, which settles nearly every partition; only those that it leaves in
doubt are taken apart into records.
"""

from typing import Final

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from sessions.analysis.events import facts
from sessions.analysis.logs import PARTITION, final_logs, records_of
from sessions.analysis.logs import assigned as assigned_replicas
from sessions.analysis.tables import DatasetTables
from sessions.analysis.windows import earlier

KEPT: Final = "fates"
"""By which name the rows of :func:`fates` are kept for several jobs."""
LOGS: Final = "logs"
TOLD: Final = "told"
IN_DOUBT: Final = "in_doubt"


def fates(source: DatasetTables) -> DataFrame:
    """Rows of ``fate``, ``offset`` and ``record``: what the cluster's own audit should say."""
    found = (
        missing(
            source.materialised(TOLD, _in_doubt), source.materialised(IN_DOUBT, _records_in_doubt)
        ),
        duplicated(source.materialised(IN_DOUBT, _records_in_doubt)),
        diverged(source.materialised(IN_DOUBT, _records_in_doubt)),
    )
    return found[0].unionByName(found[1]).unionByName(found[2])


def _in_doubt(source: DatasetTables) -> DataFrame:
    """What clients were told of and that no run of the leader's log holds as a whole.

    Nothing can be said where there is no leader, or the leader has no log.
    """
    led = assigned_replicas(source).where("leads").select(*PARTITION)
    whole = (
        source.materialised(LOGS, final_logs)
        .where("leads")
        .groupBy(*PARTITION, "first")
        .agg(F.max(F.col("end") - F.col("base")).alias("held"))
    )
    told = _acknowledged(source).unionByName(_consumed(source))
    asked = told.join(led, list(PARTITION), "left_semi")
    compared = asked.join(whole, [*PARTITION, "first"], "left")
    return compared.where("held is null or held < count").drop("held")


def _acknowledged(source: DatasetTables) -> DataFrame:
    """The runs that producers were told are written; ``base`` -1: not where."""
    return facts(source, "ProduceAcknowledged").select(
        *PARTITION,
        F.lit("lost").alias("fate"),
        F.col("first_record").alias("first"),
        "count",
        F.col("base_offset").alias("base"),
    )


def _consumed(source: DatasetTables) -> DataFrame:
    """The runs that consumers were given."""
    told = facts(source, "RecordsConsumed")
    before = "aggregate(slice(runs, 1, place), offset, (sum, run) -> sum + run[1])"
    each = told.select(*PARTITION, "offset", "runs", F.posexplode("runs").alias("place", "run"))
    return each.select(
        *PARTITION,
        F.lit("consumed_lost").alias("fate"),
        F.col("run")[0].alias("first"),
        F.col("run")[1].alias("count"),
        F.expr(before).alias("base"),
    )


def _records_in_doubt(source: DatasetTables) -> DataFrame:
    """All logs, record by record, of the partitions that comparing runs does not settle."""
    logs = source.materialised(LOGS, final_logs)
    suspects = (
        source.materialised(TOLD, _in_doubt)
        .select(*PARTITION)
        .unionByName(_overlapping(logs.where("leads")))
        .unionByName(_unequal(logs))
    )
    return records_of(logs.join(suspects.distinct(), list(PARTITION), "left_semi"))


def _overlapping(held: DataFrame) -> DataFrame:
    """Partitions in whose leader's log two runs have a record in common."""
    reach = F.max(F.col("first") + F.col("end") - F.col("base")).over(earlier(PARTITION, "first"))
    return held.withColumn("reach", reach).where("reach > first").select(*PARTITION)


def _unequal(logs: DataFrame) -> DataFrame:
    """Partitions whose logs do not all begin the same run wherever one of them begins one."""
    reach = logs.groupBy(*PARTITION, "broker").agg(
        F.min("base").alias("low"), F.max("end").alias("high")
    )
    reaches = reach.groupBy(*PARTITION).agg(F.collect_list(F.struct("low", "high")).alias("logs"))
    begun = logs.groupBy(*PARTITION, "base").agg(
        F.count("*").alias("begin"),
        F.min("first").alias("one"),
        F.max("first").alias("other"),
    )
    there = F.expr("size(filter(logs, log -> log.low <= base and base < log.high))")
    unlike = (F.col("one") != F.col("other")) | (F.col("begin") != there)
    return begun.join(reaches, list(PARTITION)).where(unlike).select(*PARTITION)


def missing(told: DataFrame, records: DataFrame) -> DataFrame:
    """Records that clients were told of and that the leader's log lacks, once a time told."""
    place = F.explode(F.sequence(F.lit(0).cast("bigint"), F.col("count") - 1)).alias("place")
    known = F.when(F.col("base") < 0, F.lit(-1)).otherwise(F.col("base") + F.col("place"))
    apart = told.select("*", place).select(
        *PARTITION,
        "fate",
        known.cast("bigint").alias("offset"),
        (F.col("first") + F.col("place")).alias("record"),
    )
    held = records.where("leads").select(*PARTITION, "record")
    return apart.join(held, [*PARTITION, "record"], "left_anti").select(*apart.columns)


def duplicated(records: DataFrame) -> DataFrame:
    """The copies but the first of records that a leader's log holds more than once."""
    copies = Window.partitionBy(*PARTITION, "record").orderBy("offset")
    numbered = records.where("leads").withColumn("copy", F.row_number().over(copies))
    extra = numbered.where("copy > 1")
    return extra.select(*PARTITION, F.lit("duplicated").alias("fate"), "offset", "record")


def diverged(records: DataFrame) -> DataFrame:
    """Records at offsets at which two logs hold different ones."""
    at = records.groupBy(*PARTITION, "offset").agg(F.collect_set("record").alias("records"))
    differ = at.where("size(records) > 1")
    return differ.select(
        *PARTITION, F.lit("diverged").alias("fate"), "offset", F.explode("records").alias("record")
    )
