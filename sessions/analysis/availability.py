"""When, how often and how long partitions were unhealthy.

Problems visible in the state znode are read from the partition's states. *Leaderless* is what
producers notice: no broker with a running process acts as leader. So it starts with the leader's
crash or freeze, long before ZooKeeper and the controller detect it.
:mod:`sessions.dataset.rows.leaderless` sums up the same time for ``sessions``. Intervals of zero
length do not count.
"""

from functools import reduce
from typing import Final

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from sessions.analysis.intervals import edges, lasted, merged_intervals, until_next
from sessions.analysis.job import Job, Result, in_ms, rounded, shown
from sessions.analysis.results.availability import (
    AVAILABILITY,
    AVAILABILITY_TIMELINE,
    KINDS,
    OUTAGES,
)
from sessions.analysis.state_intervals import partition_intervals, serving_intervals
from sessions.analysis.tables import DatasetTables
from sessions.analysis.windows import earlier
from sessions.dataset.schema import PARTITION, SESSION

VALIDITY: Final = ("from_seq", "from_us", "to_seq", "to_us")
BY_ZNODE: Final = {
    "offline": "state = 'offline'",
    "under_min_isr": "state <> 'nonexistent' and size(isr) < min_isr",
    "under_replicated": "state <> 'nonexistent' and size(array_except(replicas, isr)) > 0",
}
"""Problems that the state znode shows, as conditions on a partition's state."""


def outages(source: DatasetTables) -> DataFrame:
    """Return the table :data:`OUTAGES`: a row for each interval of each kind."""
    states = partition_intervals(source)
    wrong = F.array(
        *(F.when(F.expr(condition), F.lit(kind)) for kind, condition in BY_ZNODE.items())
    )
    rows = states.select(*PARTITION, *VALIDITY, F.explode(F.array_compact(wrong)).alias("kind"))
    of_kinds = merged_intervals(rows, (*PARTITION, "kind"))
    intervals = of_kinds.unionByName(_leaderless(states, serving_intervals(source)))
    return lasted(intervals, source.ends).where("lasted_us > 0").select(*OUTAGES.names)


def _leaderless(states: DataFrame, leaders: DataFrame) -> DataFrame:
    """Return intervals without an acting leader, while a partition exists, after its first one."""
    exist = edges(states, PARTITION).withColumnRenamed("change", "exists")
    leads = edges(leaders, PARTITION).withColumnRenamed("change", "leads")
    changes = exist.unionByName(leads, allowMissingColumns=True).fillna(0, ["exists", "leads"])
    so_far = earlier(PARTITION, now=0)
    summed = changes.groupBy(*PARTITION, "seq").agg(
        F.max("us").alias("us"), F.sum("exists").alias("exists"), F.sum("leads").alias("leads")
    )
    levels = summed.select(
        *PARTITION,
        *until_next(PARTITION),
        F.sum("exists").over(so_far).alias("existing"),
        F.sum("leads").over(so_far).alias("leading"),
        F.sum(F.when(F.col("exists") > 0, 1).otherwise(0)).over(so_far).alias("life"),
    )
    before = F.max("leading").over(earlier((*PARTITION, "life"), "from_seq", 0))
    without = levels.withColumn("before", before).where(
        "existing > 0 and leading = 0 and before > 0"
    )
    return merged_intervals(without, PARTITION).withColumn("kind", F.lit("leaderless"))


def availability(source: DatasetTables) -> DataFrame:
    """Return the table :data:`AVAILABILITY`: a row for each partition that ever existed."""
    exist = lasted(merged_intervals(partition_intervals(source), PARTITION), source.ends)
    whole = exist.groupBy(*PARTITION).agg(F.sum("lasted_us").alias("existed_us"))
    outages = source.result(OUTAGES).groupBy(SESSION, "tp")
    sums = outages.agg(*(column for kind in KINDS for column in _of_kind(kind)))
    whole = whole.join(sums, [SESSION, "tp"], "left")
    served = F.col("existed_us") - F.col("leaderless_us")
    share = F.when(F.col("existed_us") > 0, served * 100 / F.col("existed_us"))
    totals = [f"{kind}_{measure}" for kind in KINDS for measure in ("us", "spells")]
    return whole.fillna(0, totals).withColumn("served_percent", share).select(*AVAILABILITY.names)


def _of_kind(kind: str) -> tuple[Column, ...]:
    """Return total time, count and longest interval (the first of several) of one kind."""
    of_kind = F.col("kind") == kind
    longest = F.max(F.when(of_kind, F.struct("lasted_us", (-F.col("from_seq")).alias("first"))))
    return (
        F.sum(F.when(of_kind, F.col("lasted_us")).otherwise(0)).alias(f"{kind}_us"),
        F.count_if(of_kind).alias(f"{kind}_spells"),
        longest["lasted_us"].alias(f"{kind}_longest_us"),
        (-longest["first"]).alias(f"{kind}_longest_seq"),
    )


def availability_timeline(source: DatasetTables) -> DataFrame:
    """Return the table :data:`AVAILABILITY_TIMELINE`: counts of partitions between changes."""
    exist = merged_intervals(partition_intervals(source), PARTITION)
    exist = exist.withColumn("kind", F.lit("partitions"))
    all_intervals = source.result(OUTAGES).select(*exist.columns).unionByName(exist)
    names = ("partitions", *KINDS)
    changes = [
        F.sum(F.when(F.col("kind") == name, F.col("change")).otherwise(0)).alias(name)
        for name in names
    ]
    times = edges(all_intervals, (*PARTITION, "kind")).groupBy(SESSION, "us")
    by_time = times.agg(F.max("seq").alias("from_seq"), *changes)
    moved = by_time.where(reduce(lambda a, b: a | b, (F.col(name) != 0 for name in names)))
    line = Window.partitionBy(SESSION).orderBy("us")
    so_far = earlier((SESSION,), "us", 0)
    return (
        moved.join(source.ends, SESSION, "left")
        .select(
            SESSION,
            F.col("us").alias("from_us"),
            F.coalesce(F.lead("us").over(line), "end_us").alias("to_us"),
            "from_seq",
            *(F.sum(name).over(so_far).alias(name) for name in names),
        )
        .where("to_us > from_us")
        .select(*AVAILABILITY_TIMELINE.names)
    )


JOB: Final = Job(
    "availability",
    "how long did each partition have which problem?",
    (
        Result(
            OUTAGES,
            outages,
            "Outages",
            shown(
                session=SESSION,
                partition="tp",
                what="kind",
                from_s=rounded("from_us", 3, 1_000_000),
                lasted_ms=in_ms("lasted_us"),
                from_event="from_seq",
                to_event="to_seq",
            ),
            ("lasted_us",),
            (SESSION, "topic", "partition", "from_seq", "kind"),
        ),
        Result(
            AVAILABILITY,
            availability,
            "Availability by partition",
            shown(
                session=SESSION,
                partition="tp",
                served_percent=rounded("served_percent", 3),
                leaderless_ms=in_ms("leaderless_us"),
                offline_ms=in_ms("offline_us"),
                under_min_ISR_ms=in_ms("under_min_isr_us"),
                under_replicated_ms=in_ms("under_replicated_us"),
                longest_ms=in_ms("leaderless_longest_us"),
                from_event="leaderless_longest_seq",
            ),
            ("leaderless_us", "offline_us", "under_min_isr_us", "under_replicated_us"),
            (SESSION, "topic", "partition"),
        ),
        Result(AVAILABILITY_TIMELINE, availability_timeline, "Availability over time"),
    ),
)
