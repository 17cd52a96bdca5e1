"""The replicas' logs at a session's end, rebuilt from events by Spark.

A log is the runs of records appended to it, each truncated to the lowest offset that the log was
truncated to afterwards.
"""

from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from sessions.analysis.events import facts
from sessions.analysis.tables import DatasetTables
from sessions.analysis.windows import farthest, later
from sessions.dataset.schema import SESSION

PARTITION: Final = (SESSION, "tp")
REPLICA: Final = (*PARTITION, "broker")
APPENDED: Final = "RecordsAppended"
CUTS: Final = (
    "LogTruncated",
    "LogLoaded",
    "LogDeleted",
    "LogStartOffsetChanged",
)


def final_logs(source: DatasetTables) -> DataFrame:
    """Return the runs in the logs of replicas assigned at the end, on live or dead brokers.

    ``base`` and ``end`` (exclusive) are offsets, ``first`` is the first record's id, ``leads`` says
    whether the state znode names this broker as leader.
    """
    replicas = source.looked_up(assigned(source))
    return _runs(source).join(replicas, list(REPLICA))


def _runs(source: DatasetTables) -> DataFrame:
    """Return the rest of all appended runs that remains at the end."""
    appended, cuts = facts(source, APPENDED), facts(source, *CUTS)
    touched = source.looked_up(cuts.select(*REPLICA).distinct())
    whole = appended.join(touched, list(REPLICA), "left_anti").select(
        *REPLICA,
        F.col("base_offset").alias("base"),
        (F.col("base_offset") + F.col("count")).alias("end"),
        F.col("first_record").alias("first"),
    )
    changes = appended.join(touched, list(REPLICA), "left_semi").unionByName(cuts, True)
    return whole.where("base < end").unionByName(_cut(changes))


def _cut(changes: DataFrame) -> DataFrame:
    """Return the rest of each run after later truncations of its log."""
    after = later(REPLICA)
    cut = F.when(F.col("type") == "LogDeleted", F.lit(0)).when(
        F.col("type").isin("LogTruncated", "LogLoaded"), F.col("log_end_offset")
    )
    start = F.when(F.col("type") == "LogDeleted", F.lit(0)).otherwise(F.col("log_start"))
    end = F.col("base_offset") + F.col("count")
    runs = changes.select(
        *REPLICA,
        "type",
        F.greatest("base_offset", farthest(start, after)).alias("base"),
        F.least(end, F.min(cut).over(after)).alias("end"),
        "base_offset",
        "first_record",
    )
    remaining = runs.where((F.col("type") == APPENDED) & F.expr("base < end"))
    first = F.col("first_record") + F.col("base") - F.col("base_offset")
    return remaining.select(*REPLICA, "base", "end", first.alias("first"))


def assigned(source: DatasetTables) -> DataFrame:
    """Return the replicas that are assigned at the end and have a log, with ``leads``."""
    placed = final_assignment(source).select(*PARTITION, F.explode("replicas").alias("broker"))
    leads = (F.col("broker") == F.col("leader")).alias("leads")
    changes = facts(source, "LogCreated", "LogLoaded", "LogDeleted")
    last = changes.groupBy(*REPLICA).agg(F.max_by("type", "seq").alias("last"))
    there = placed.join(last.where("last <> 'LogDeleted'"), list(REPLICA), "left_semi")
    with_leader = there.join(final_leaders(source), list(PARTITION), "left").select(*REPLICA, leads)
    return with_leader.fillna(False, ["leads"])


def records_of(runs: DataFrame) -> DataFrame:
    """Expand runs: a row for each ``record`` with its ``offset``."""
    offset = F.explode(F.sequence("base", F.col("end") - 1)).alias("offset")
    apart = runs.select("*", offset).drop("end")
    record = F.col("first") + F.col("offset") - F.col("base")
    return apart.withColumn("record", record).drop("base", "first")


def final_leaders(source: DatasetTables) -> DataFrame:
    """Return the leader in each partition's state znode at the end; -1: none."""
    changes = facts(source, "PartitionStateChanged", "PartitionStateRemoved")
    last = F.max_by(F.struct("type", "leader"), "seq").alias("last")
    states = changes.groupBy(*PARTITION).agg(last).where("last.type = 'PartitionStateChanged'")
    return states.select(*PARTITION, F.col("last.leader").alias("leader"))


def final_assignment(source: DatasetTables) -> DataFrame:
    """Return each partition's assigned ``replicas`` at the end; none if it was deleted."""
    changes = facts(source, "TopicCreated", "PartitionsAdded", "ReplicasAssigned", "TopicDeleted")
    by_topic = changes.where("assignment is not null").select(
        SESSION,
        "topic",
        "seq",
        F.coalesce("first", F.lit(0)).alias("begin"),
        F.posexplode("assignment").alias("place", "replicas"),
    )
    whole = by_topic.select(
        SESSION,
        "topic",
        F.concat("topic", F.lit("-"), (F.col("begin") + F.col("place")).cast("string")).alias("tp"),
        "seq",
        "replicas",
    )
    single = changes.where("type = 'ReplicasAssigned'").select(*whole.columns)
    last = (
        whole.unionByName(single)
        .groupBy(SESSION, "topic", "tp")
        .agg(F.max_by("replicas", "seq").alias("replicas"), F.max("seq").alias("seq"))
    )
    deleted = (
        changes.where("type = 'TopicDeleted'")
        .groupBy(SESSION, "topic")
        .agg(F.max("seq").alias("deleted_seq"))
    )
    joined = last.join(deleted, [SESSION, "topic"], "left")
    stands = joined.where("deleted_seq is null or deleted_seq < seq")
    return stands.select(*PARTITION, "replicas")
