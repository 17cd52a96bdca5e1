"""Problems of records at a session's end: missing, duplicated or diverged ones.

Whole runs are compared first, which settles nearly every partition; only the undecided ones are
expanded into records.
"""

from typing import Final

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from sessions.analysis.events import facts
from sessions.analysis.logs import PARTITION, REPLICA, final_logs, records_of
from sessions.analysis.logs import assigned as assigned_replicas
from sessions.analysis.results.truth import UNACKNOWLEDGED
from sessions.analysis.tables import DatasetTables
from sessions.analysis.windows import earlier, later
from sessions.dataset.rows.acknowledged import UNPROMISED
from sessions.dataset.schema import SESSION
from sessions.dataset.tables import EVENTS

KEPT: Final = "fates"
"""Name under which the rows of :func:`fates` are materialised for several jobs."""
LOGS: Final = "logs"
TOLD: Final = "told"
IN_DOUBT: Final = "in_doubt"


def fates(source: DatasetTables) -> DataFrame:
    """Return rows of ``fate``, ``offset`` and ``record``: they should match the cluster's audit."""
    parts = (
        missing(
            source.materialised(TOLD, _in_doubt), source.materialised(IN_DOUBT, _records_in_doubt)
        ),
        duplicated(source.materialised(IN_DOUBT, _records_in_doubt)),
        diverged(source.materialised(IN_DOUBT, _records_in_doubt)),
    )
    return parts[0].unionByName(parts[1]).unionByName(parts[2]).unionByName(standing(source))


def standing(source: DatasetTables) -> DataFrame:
    """Return what the audit last found of the log of a leader that is gone.

    While a partition has no leader, or its leader no log, nobody has lost records back.
    """
    kinds = ("lost", "duplicated", "consumed_lost")
    found = F.from_json("payload", ", ".join(f"{kind} ARRAY<ARRAY<BIGINT>>" for kind in kinds))
    audits = source.table(EVENTS).where("type = 'AuditChanged'")
    last = audits.groupBy(*PARTITION).agg(
        F.max("seq").alias("seq"), F.max_by("payload", "seq").alias("payload")
    )
    removed = facts(source, "PartitionStateRemoved").groupBy(*PARTITION)
    led = source.looked_up(assigned_replicas(source).where("leads").select(*PARTITION))
    present = (
        last.join(led, list(PARTITION), "left_anti")
        .join(removed.agg(F.max("seq").alias("removed")), list(PARTITION), "left")
        .where("coalesce(removed, 0) < seq")
    )
    lists = [F.struct(F.lit(kind).alias("fate"), found[kind].alias("pairs")) for kind in kinds]
    pairs = present.select(*PARTITION, F.inline(F.array(*lists))).select(
        *PARTITION, "fate", F.explode("pairs").alias("pair")
    )
    rows = pairs.select(
        *PARTITION, "fate", F.col("pair")[0].alias("offset"), F.col("pair")[1].alias("record")
    )
    unpromised = acknowledged(source).where("not promised").groupBy(*PARTITION)
    runs = unpromised.agg(F.collect_list(F.struct("first_record", "count")).alias("unpromised"))
    is_unpromised = F.expr(
        "fate = 'lost' and exists(unpromised, run -> "
        "record >= run.first_record and record < run.first_record + run.count)"
    )
    fate = F.when(is_unpromised, UNACKNOWLEDGED).otherwise(F.col("fate"))
    return rows.join(source.looked_up(runs), list(PARTITION), "left").select(
        *PARTITION, fate.alias("fate"), "offset", "record"
    )


def _in_doubt(source: DatasetTables) -> DataFrame:
    """Return the runs reported to clients that are not inside one run of the leader's log.

    Partitions without a leader, or whose leader has no log, are left out.
    """
    led = source.looked_up(assigned_replicas(source).where("leads").select(*PARTITION))
    whole = (
        source.materialised(LOGS, final_logs)
        .where("leads")
        .groupBy(*PARTITION, "first")
        .agg(F.max(F.col("end") - F.col("base")).alias("held"))
    )
    reported = _told_producers(source).unionByName(_consumed(source))
    of_led = _of_this_topic(source, reported).join(led, list(PARTITION), "left_semi")
    compared = of_led.join(source.looked_up(whole), [*PARTITION, "first"], "left")
    doubtful = compared.where("held is null or held < count").drop("held")
    removed = source.looked_up(_removed(source))
    since = doubtful.join(removed, list(PARTITION), "left").fillna(0, ["removed"])
    return since.where("first + count > removed")


def _removed(source: DatasetTables) -> DataFrame:
    """Return below which record id a log was deleted, by retention or on request: ``removed``."""
    moves = facts(source, "LogStartOffsetChanged")
    replicas = source.looked_up(moves.select(*REPLICA).distinct())
    others = facts(source, "RecordsAppended", "LogTruncated", "LogLoaded", "LogDeleted")
    kind = F.col("type")
    line = (
        others.join(replicas, list(REPLICA), "left_semi")
        .unionByName(moves)
        .withColumns(
            {
                "start": F.when(kind == "LogStartOffsetChanged", F.col("log_start")),
                "cut": F.when(kind.isin("LogTruncated", "LogLoaded"), F.col("log_end_offset")),
                "life": F.count_if(kind == "LogDeleted").over(earlier(REPLICA)),
            }
        )
    )
    after = later((*REPLICA, "life"))
    runs = line.select(
        *(*PARTITION, "type", "base_offset", "count", "first_record"),
        F.max("start").over(after).alias("start"),
        F.min("cut").over(after).alias("cut"),
    ).where("type = 'RecordsAppended' and start is not null")
    deleted = F.least("start", "cut", F.col("base_offset") + F.col("count")) - F.col("base_offset")
    below = F.when(deleted > 0, F.col("first_record") + deleted)
    return runs.groupBy(*PARTITION).agg(F.max(below).alias("removed"))


def _of_this_topic(source: DatasetTables, reported: DataFrame) -> DataFrame:
    """Leave out records of topics that were deleted later."""
    deleted = (
        facts(source, "TopicDeleted").groupBy(SESSION, "topic").agg(F.max("seq").alias("gone"))
    )
    joined = reported.join(source.looked_up(deleted), [SESSION, "topic"], "left")
    since = joined.where("gone is null or gone < seq")
    return since.drop("topic", "seq", "gone")


def acknowledged(source: DatasetTables) -> DataFrame:
    """Return the events by which producers had done with a batch, and whether it is ``promised``.

    With acks=0 no broker responds: nobody was promised the batch's records.
    """
    sent = source.table(EVENTS).where(f"type = 'ProduceSent' and acks = {UNPROMISED}")
    unpromised = sent.select(SESSION, "first_record", F.lit(False).alias("promised")).distinct()
    ended = facts(source, "ProduceAcknowledged")
    joined = ended.join(source.looked_up(unpromised), [SESSION, "first_record"], "left")
    return joined.fillna(True, ["promised"])


def _told_producers(source: DatasetTables) -> DataFrame:
    """Return the runs that producers have done with; ``base`` -1: without an offset."""
    return acknowledged(source).select(
        *PARTITION,
        "topic",
        "seq",
        F.when(F.col("promised"), "lost").otherwise(UNACKNOWLEDGED).alias("fate"),
        F.col("first_record").alias("first"),
        "count",
        F.col("base_offset").alias("base"),
    )


def _consumed(source: DatasetTables) -> DataFrame:
    """Return the runs returned to consumers."""
    consumed = facts(source, "RecordsConsumed")
    before = "aggregate(slice(runs, 1, place), offset, (sum, run) -> sum + run[1])"
    runs = consumed.select(
        *PARTITION,
        "topic",
        "seq",
        "offset",
        "runs",
        F.posexplode("runs").alias("place", "run"),
    )
    return runs.select(
        *PARTITION,
        "topic",
        "seq",
        F.lit("consumed_lost").alias("fate"),
        F.col("run")[0].alias("first"),
        F.col("run")[1].alias("count"),
        F.expr(before).alias("base"),
    )


def _records_in_doubt(source: DatasetTables) -> DataFrame:
    """Return all logs, record by record, of the partitions that comparing runs does not settle."""
    logs = source.materialised(LOGS, final_logs)
    suspects = (
        source.materialised(TOLD, _in_doubt)
        .select(*PARTITION)
        .unionByName(_overlapping(logs.where("leads")))
        .unionByName(_unequal(logs))
    )
    undecided = source.looked_up(suspects.distinct())
    return records_of(logs.join(undecided, list(PARTITION), "left_semi"))


def _overlapping(records: DataFrame) -> DataFrame:
    """Return partitions whose leader's log has a record in two runs."""
    reach = F.max(F.col("first") + F.col("end") - F.col("base")).over(earlier(PARTITION, "first"))
    return records.withColumn("reach", reach).where("reach > first").select(*PARTITION)


def _unequal(logs: DataFrame) -> DataFrame:
    """Return partitions whose logs do not all start the same run where one of them starts one."""
    reach = logs.groupBy(*PARTITION, "broker").agg(
        F.min("base").alias("low"), F.max("end").alias("high")
    )
    reaches = reach.groupBy(*PARTITION).agg(F.collect_list(F.struct("low", "high")).alias("logs"))
    starts = logs.groupBy(*PARTITION, "base").agg(
        F.count("*").alias("begin"),
        F.min("first").alias("one"),
        F.max("first").alias("other"),
    )
    there = F.expr("size(filter(logs, log -> log.low <= base and base < log.high))")
    unlike = (F.col("one") != F.col("other")) | (F.col("begin") != there)
    return starts.join(reaches, list(PARTITION)).where(unlike).select(*PARTITION)


def missing(expected: DataFrame, records: DataFrame) -> DataFrame:
    """Return records that clients were told of and the leader's log lacks, once per report."""
    index = F.explode(F.sequence(F.lit(0).cast("bigint"), F.col("count") - 1)).alias("place")
    offset = F.when(F.col("base") < 0, F.lit(-1)).otherwise(F.col("base") + F.col("place"))
    apart = expected.select("*", index).select(
        *PARTITION,
        "fate",
        "removed",
        offset.cast("bigint").alias("offset"),
        (F.col("first") + F.col("place")).alias("record"),
    )
    in_log = records.where("leads").select(*PARTITION, "record")
    remaining = apart.where("record >= removed").drop("removed")
    return remaining.join(in_log, [*PARTITION, "record"], "left_anti")


def duplicated(records: DataFrame) -> DataFrame:
    """Return all copies but the first of records that occur more than once in a leader's log."""
    copies = Window.partitionBy(*PARTITION, "record").orderBy("offset")
    numbered = records.where("leads").withColumn("copy", F.row_number().over(copies))
    extra = numbered.where("copy > 1")
    return extra.select(*PARTITION, F.lit("duplicated").alias("fate"), "offset", "record")


def diverged(records: DataFrame) -> DataFrame:
    """Return records at offsets at which two logs have different ones."""
    at = records.groupBy(*PARTITION, "offset").agg(F.collect_set("record").alias("records"))
    differ = at.where("size(records) > 1")
    return differ.select(
        *PARTITION, F.lit("diverged").alias("fate"), "offset", F.explode("records").alias("record")
    )
