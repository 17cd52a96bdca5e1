"""How long records took to be committed, and how far the HW lagged, for each partition.

*Commit latency* is the time from sending a record until a leader's HW passed it. *HW lag* is
LEO - HW on the leader: records written but not committed. A *fetch round* of a record is a fetch
in which an in-sync follower appended to its log, between the record's append on the leader and
its commit; normally there is one per follower, and the next fetch commits.
"""

from typing import Final

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from sessions.analysis.batches import batches, records_by_outcome
from sessions.analysis.events import facts
from sessions.analysis.hw_lag import lag_by_partition
from sessions.analysis.logs import REPLICA
from sessions.analysis.metadata_log import releases
from sessions.analysis.percentiles import percentiles
from sessions.analysis.results.latency import COMMIT_LATENCY, HW_LAG, LATENCIES, LATENCY
from sessions.analysis.state_intervals import partition_intervals
from sessions.analysis.tables import DatasetTables
from sessions.analysis.windows import earlier, nearest
from sessions.dataset.schema import PARTITION, SESSION

KEYS: Final = (SESSION, "tp")
OF_ACKS: Final = (*KEYS, "acks")


def commit_latency(source: DatasetTables) -> DataFrame:
    """Return the table :data:`COMMIT_LATENCY`: a row for each partition and producer setting."""
    produced = timed(source)
    whole = _counts(produced)
    for value in ("commit", "ack"):
        latencies = percentiles(produced, OF_ACKS, f"{value}_us", value, "us", "records")
        whole = whole.join(latencies, list(OF_ACKS), "left")
    counted = ["committed", "commit_n", "ack_n"]
    return whole.fillna(0, counted).select(*COMMIT_LATENCY.names)


def latencies(source: DatasetTables) -> DataFrame:
    """Return the table :data:`LATENCIES`: a row for each latency that occurs in a session."""
    times = F.create_map(F.lit("commit"), "commit_us", F.lit("ack"), "ack_us")
    measured = timed(source).select(
        SESSION, "acks", "sent_seq", "records", F.explode(times).alias("what", "us")
    )
    counted = measured.groupBy(SESSION, "what", "acks", "us").agg(
        F.sum("records").alias("records"), F.min("sent_seq").alias("example_seq")
    )
    return counted.select(*LATENCIES.names)


def latency_by_release(source: DatasetTables) -> DataFrame:
    """Return the table :data:`LATENCY`: a row for each release and producer setting."""
    times = source.result(LATENCIES).join(releases(source), SESSION, "left")
    commits = times.where("what = 'commit'")
    keys = ("version", "mode", "acks")
    slowest = F.max(
        F.when(
            F.col("us").isNotNull(),
            F.struct("us", SESSION, (-F.col("example_seq")).alias("first")),
        )
    )
    whole = commits.groupBy(*keys).agg(
        F.count_distinct(SESSION).alias("sessions"),
        F.sum("records").alias("records"),
        slowest[SESSION].alias("slowest_session"),
        (-slowest["first"]).alias("slowest_seq"),
    )
    for time in ("commit", "ack"):
        of_kind = times.where(F.col("what") == time)
        whole = whole.join(
            percentiles(of_kind, keys, "us", time, "us", "records"), list(keys), "left"
        )
    return whole.fillna(0, ["commit_n", "ack_n"]).select(*LATENCY.names)


def hw_lag(source: DatasetTables) -> DataFrame:
    """Return the table :data:`HW_LAG`: a row for each partition that ever existed."""
    whole = partition_intervals(source).select(*PARTITION).distinct()
    for part in (lag_by_partition(source), _fetch_rounds(source)):
        whole = whole.join(part, list(KEYS), "left")
    return whole.fillna(0, ["online_us"]).select(*HW_LAG.names)


def timed(source: DatasetTables) -> DataFrame:
    """Return the produced batches with their latencies: ``commit_us`` and ``ack_us``."""
    acked = F.when(F.col("outcome") == "acked", F.col("answered_us") - F.col("sent_us"))
    committed = F.col("committed_us") - F.col("sent_us")
    return batches(source).withColumns({"commit_us": committed, "ack_us": acked})


def _counts(produced: DataFrame) -> DataFrame:
    """Return record counts by outcome, and the slowest record (the first of several)."""
    slowest = F.max(
        F.when(
            F.col("commit_us").isNotNull(), F.struct("commit_us", (-F.col("sent_seq")).alias("s"))
        )
    )
    return produced.groupBy(*PARTITION, "acks").agg(
        F.sum("records").alias("records"),
        *records_by_outcome(),
        F.sum(F.when(F.col("commit_us").isNotNull(), F.col("records"))).alias("committed"),
        (-slowest["s"]).alias("slowest_seq"),
    )


def _fetch_rounds(source: DatasetTables) -> DataFrame:
    """Return fetch rounds per follower between append and commit: mean over records and maximum.

    Records appended by one event and committed by one event form one run. The two ends of runs,
    the followers' appends and the ISR changes are ordered together by event number; running values
    over that order give what each run needs at its ends.
    """
    run = ("appended_seq", "committed_seq")
    runs = (
        batches(source)
        .where("appended_seq is not null and committed_seq is not null")
        .groupBy(*KEYS, *run)
        .agg(F.sum("records").alias("records"))
    )
    ends = runs.withColumn("seq", F.explode(F.array(*run)))
    line = ends.unionByName(_writes(source), True).unionByName(_isrs(source), True)
    so_far = Window.partitionBy(*KEYS).orderBy("seq")
    with_isr = line.withColumn("isr", F.last("isr", ignorenulls=True).over(so_far))
    in_sync = F.array_contains("isr", F.col("writer")).cast("int")
    passes = with_isr.select(
        *KEYS,
        *run,
        "records",
        F.coalesce(F.sum(in_sync).over(so_far), F.lit(0)).alias("rounds"),
        (F.size("isr") - 1).alias("followers"),
        (F.col("seq") == F.col("committed_seq")).alias("at_end"),
    ).where("records is not null")
    whole = passes.groupBy(*KEYS, *run, "records").agg(
        (F.max("rounds") - F.min("rounds")).alias("rounds"),
        F.max(F.when(F.col("at_end"), F.col("followers"))).alias("followers"),
    )
    ratio = F.col("rounds") / F.col("followers")
    per_follower = F.when(F.col("followers") > 0, ratio).otherwise(0.0)
    counted = whole.withColumn("per_follower", per_follower)
    return counted.groupBy(*KEYS).agg(
        (F.sum(F.col("per_follower") * F.col("records")) / F.sum("records")).alias("rounds_mean"),
        F.max("per_follower").alias("rounds_max"),
    )


def _writes(source: DatasetTables) -> DataFrame:
    """Return the events at which a follower, ``writer``, appended to its log."""
    appended = facts(source, "RecordsAppended").where("count > 0")
    roles = facts(source, "ReplicaRoleChanged", "LogDeleted").select(
        *REPLICA, "seq", F.coalesce("role", F.lit("offline")).alias("role")
    )
    changes = appended.select(*REPLICA, "seq").unionByName(roles, True)
    acting = nearest("role", earlier(REPLICA))
    writes = changes.select(*REPLICA, "seq", "role", acting.alias("acting"))
    followed = writes.where("role is null and acting = 'follower'")
    return followed.select(*KEYS, "seq", F.col("broker").alias("writer"))


def _isrs(source: DatasetTables) -> DataFrame:
    """Return the ISR changes in the state znode; empty without one."""
    changes = facts(source, "PartitionStateChanged", "PartitionStateRemoved")
    return changes.select(
        *KEYS, "seq", F.coalesce("isr", F.array().cast("array<int>")).alias("isr")
    )
