"""The job ``replay``: a session's events must rebuild the state that was recorded.

The state is rebuilt by independent means: Spark takes the last value of each field and rebuilds the
logs from appends and truncations, while the recorded state was maintained event by event, and the
lost, duplicated and diverged records were reported by the cluster, which examined its own logs.
What the partitions' state znodes say at the end must be that state too; in KRaft mode, what the
records of the metadata log add up to. A running cluster's clients see neither of them.
"""

from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from sessions.analysis.final_state import (
    PARTITIONS,
    REPLICAS,
    ZNODES,
    final_partitions,
    final_replicas,
    final_znodes,
    states_in,
)
from sessions.analysis.job import Job, Result, answered, shown
from sessions.analysis.logs import PARTITION, REPLICA
from sessions.analysis.metadata_log import final_registrations
from sessions.analysis.record_outcomes import KEPT, acknowledged, fates
from sessions.analysis.results.truth import REPLAY, REPLAY_DIFFERENCES
from sessions.analysis.tables import DatasetTables
from sessions.dataset.schema import SESSION
from sessions.dataset.tables import EVENTS, METADATA_RECORDS, PARTITION_STATES, REPLICA_STATES

COUNTS: Final = ("acked", "lost", "duplicated", "diverged", "consumed_lost")
TOTALS: Final = "totals"
ZNODE: Final = ("leader", "leader_epoch", "controller_epoch", "isr", "zk_version")
OF_PARTITION: Final = (*ZNODE, "state", "replicas", "hw", "leo")
OF_REPLICA: Final = ("role", "leader_epoch", "leo", "hw", "log_start")
OF_SESSION: Final = ("events", "last_seq", *COUNTS)


def replay_differences(source: DatasetTables) -> DataFrame:
    """Return the table :data:`REPLAY_DIFFERENCES`: a row for each value that differs."""
    states = source.table(PARTITION_STATES).where("to_seq is null")
    copies = source.table(REPLICA_STATES).where("to_seq is null")
    totals = source.materialised(TOTALS, _totals)
    replicas = source.materialised(REPLICAS, final_replicas)
    partitions = source.materialised(PARTITIONS, final_partitions)
    tree = source.materialised(ZNODES, final_znodes)
    registrations = final_registrations(source).withColumnRenamed("partition_epoch", "zk_version")
    exist = states.where("state <> 'nonexistent'")
    with_zookeeper = tree.select(SESSION).distinct()
    with_metadata_log = source.table(METADATA_RECORDS).select(SESSION).distinct()
    parts = (
        _different("session", totals.withColumn("seq", F.lit(None).cast("bigint")),
                   source.sessions, (SESSION,), OF_SESSION),
        _different("partition", partitions, states, PARTITION, OF_PARTITION),
        _different("replica", replicas, copies, REPLICA, OF_REPLICA),
        _different("znode", states_in(tree), exist.join(with_zookeeper, SESSION, "left_semi"),
                   PARTITION, ZNODE),
        _different("metadata", registrations, exist.join(with_metadata_log, SESSION, "left_semi"),
                   PARTITION, ZNODE),
    )  # fmt: skip
    whole = parts[0]
    for more in parts[1:]:
        whole = whole.unionByName(more, allowMissingColumns=True)
    return whole.select(*REPLAY_DIFFERENCES.names)


def _different(
    object_kind: str,
    rebuilt: DataFrame,
    recorded: DataFrame,
    keys: tuple[str, ...],
    fields: tuple[str, ...],
) -> DataFrame:
    """Return the values of ``fields`` that differ between both sides, as text."""
    left = rebuilt.select(*keys, "seq", F.struct(*fields).alias("rebuilt"))
    right = recorded.select(*keys, F.struct(*fields).alias("recorded"))
    joined = left.join(right, list(keys), "full")
    values = [
        F.struct(
            F.lit(name).alias("field"),
            F.col(f"rebuilt.{name}").cast("string").alias("rebuilt"),
            F.col(f"recorded.{name}").cast("string").alias("recorded"),
        )
        for name in fields
    ]
    exploded = joined.select(*keys, "seq", F.explode(F.array(*values)).alias("value"))
    differences = exploded.select(F.lit(object_kind).alias("what"), *keys, "seq", "value.*")
    differ = differences.where(~F.col("rebuilt").eqNullSafe(F.col("recorded")))
    absent = {"tp": "string", "broker": "int"}
    places = [
        F.lit(None).cast(type_).alias(name) for name, type_ in absent.items() if name not in keys
    ]
    return differ.select("*", *places)


def _totals(source: DatasetTables) -> DataFrame:
    """Return what can be counted in each session's events: the columns :data:`OF_SESSION`."""
    whole = (
        source.table(EVENTS)
        .groupBy(SESSION)
        .agg(F.count("*").alias("events"), F.max("seq").alias("last_seq"))
    )
    acked = acknowledged(source).where("promised").groupBy(SESSION)
    outcomes = source.materialised(KEPT, fates)
    names = [name for name in COUNTS if name != "acked"]
    diverged = F.count_distinct(F.when(F.col("fate") == "diverged", F.struct("tp", "offset")))
    counts = [
        (diverged if name == "diverged" else F.count_if(F.col("fate") == name)).alias(name)
        for name in names
    ]
    totals = (
        source.sessions.select(SESSION)
        .join(whole, SESSION, "left")
        .join(acked.agg(F.sum("count").alias("acked")), SESSION, "left")
        .join(outcomes.groupBy(SESSION).agg(*counts), SESSION, "left")
    )
    return totals.fillna(0)


def replay(source: DatasetTables) -> DataFrame:
    """Return the table :data:`REPLAY`: a row for each session."""
    rebuilt = source.materialised(TOTALS, _totals).select(
        SESSION, "events", *(F.col(name).alias(f"{name}_rebuilt") for name in COUNTS)
    )
    recorded = source.sessions.select(
        SESSION, *(F.col(name).alias(f"{name}_recorded") for name in COUNTS)
    )
    differences = source.result(REPLAY_DIFFERENCES).groupBy(SESSION)
    whole = recorded.join(rebuilt, SESSION, "left").join(
        differences.agg(F.count("*").alias("differences")), SESSION, "left"
    )
    for name, make in (
        (PARTITIONS, final_partitions),
        (REPLICAS, final_replicas),
        (ZNODES, final_znodes),
    ):
        rows = source.materialised(name, make)
        whole = whole.join(rows.groupBy(SESSION).agg(F.count("*").alias(name)), SESSION, "left")
    counted = whole.fillna(0, ["differences", "partitions", "replicas", "znodes"])
    return counted.withColumn("equal", F.col("differences") == 0).select(*REPLAY.names)


JOB: Final = Job(
    "replay",
    "do the events reproduce the recorded state?",
    (
        Result(
            REPLAY_DIFFERENCES,
            replay_differences,
            "Where the events build something else",
            shown(
                session=SESSION,
                what="what",
                partition="tp",
                broker="broker",
                field="field",
                rebuilt="rebuilt",
                recorded="recorded",
                last_event="seq",
            ),
            (),
            (SESSION, "what", "tp", "broker", "field"),
        ),
        Result(
            REPLAY,
            replay,
            "Replay by session",
            shown(
                session=SESSION,
                equal=answered("equal", no="NO"),
                differences="differences",
                events="events",
                partitions="partitions",
                replicas="replicas",
                znodes="znodes",
                acked="acked_rebuilt",
                lost="lost_rebuilt",
                duplicated="duplicated_rebuilt",
                diverged="diverged_rebuilt",
                read_and_lost="consumed_lost_rebuilt",
            ),
            ("differences",),
            (SESSION,),
        ),
    ),
)
