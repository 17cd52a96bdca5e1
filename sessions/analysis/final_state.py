"""The final state of a session, rebuilt from its events alone: the last value of each field."""

from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from sessions.analysis.events import facts
from sessions.analysis.logs import PARTITION, REPLICA, final_assignment
from sessions.analysis.tables import DatasetTables
from sessions.dataset.schema import SESSION

ABOUT_REPLICAS: Final = (
    "LogCreated",
    "LogDeleted",
    "LogLoaded",
    "ReplicaRoleChanged",
    "LogTruncated",
    "LogStartOffsetChanged",
)
GROWTH: Final = ("RecordsAppended", "HighWatermarkChanged")
"""Other frequent events of replicas: only the last of each is needed."""
REPLICAS: Final = "replicas"
PARTITIONS: Final = "partitions"
ZNODES: Final = "znodes"
"""Names under which rebuilt tables are materialised."""
STATE_PATH: Final = "^/brokers/topics/(.+)/partitions/([0-9]+)/state$"


def final_replicas(source: DatasetTables) -> DataFrame:
    """Return each replica on disk at the end: role, epoch, ``leo``, ``hw`` and ``log_start``.

    Events before a log was deleted are ignored.
    """
    changes = facts(source, *ABOUT_REPLICAS).unionByName(_last_growth(source), True)
    appended = F.when(F.col("count") > 0, F.col("base_offset") + F.col("count"))
    values: dict[str, tuple[Column, object]] = {
        "role": (F.col("role"), "offline"),
        "leader_epoch": (F.when(F.col("role").isNotNull(), F.col("leader_epoch")), -1),
        "leo": (F.coalesce(appended, "log_end_offset"), 0),
        "hw": (F.col("high_watermark"), 0),
        "log_start": (F.col("log_start"), 0),
    }
    deleted = F.max(F.when(F.col("type") == "LogDeleted", F.col("seq")))
    last = changes.groupBy(*REPLICA).agg(
        F.coalesce(deleted, F.lit(0)).alias("deleted_seq"),
        F.max("seq").alias("seq"),
        *(
            F.max(F.when(value.isNotNull(), F.struct("seq", value.alias("value")))).alias(name)
            for name, (value, _) in values.items()
        ),
    )
    known = [
        F.when(F.col(f"{name}.seq") > F.col("deleted_seq"), F.col(f"{name}.value"))
        .otherwise(F.lit(default))
        .alias(name)
        for name, (_, default) in values.items()
    ]
    return last.where("seq > deleted_seq").select(*REPLICA, "seq", *known)


def _last_growth(source: DatasetTables) -> DataFrame:
    """Return each replica's last events of :data:`GROWTH`."""
    grown = F.coalesce(F.col("count") > 0, F.lit(False)).alias("grown")
    growth = facts(source, *GROWTH).groupBy(*REPLICA, "type", grown)
    values = ("base_offset", "count", "high_watermark")
    return growth.agg(
        F.max("seq").alias("seq"), *(F.max_by(name, "seq").alias(name) for name in values)
    ).drop("grown")


def final_partitions(source: DatasetTables) -> DataFrame:
    """Return each partition at the end: assignment, state znode, its leader's HW and LEO."""
    changes = facts(source, "PartitionStateChanged", "PartitionStateRemoved")
    names = ("leader", "leader_epoch", "controller_epoch", "zk_version", "isr")
    last = changes.groupBy(*PARTITION).agg(F.max(F.struct("seq", "type", *names)).alias("last"))
    znodes = last.where("last.type = 'PartitionStateChanged'").select(
        *PARTITION, "last.seq", *(f"last.{name}" for name in names)
    )
    leading = source.materialised(REPLICAS, final_replicas).where("role = 'leader'")
    leaders = leading.select(*PARTITION, F.col("broker").alias("leader"), "hw", "leo")
    state = F.when(F.col("leader") < 0, "offline").when(F.col("leader") >= 0, "online")
    return (
        final_assignment(source)
        .join(znodes, [*PARTITION], "left")
        .join(leaders, [*PARTITION, "leader"], "left")
        .withColumn("state", F.coalesce(state, F.lit("nonexistent")))
        .withColumn("isr", F.coalesce("isr", F.array().cast("array<int>")))
    )


def final_znodes(source: DatasetTables) -> DataFrame:
    """Return each znode at the end: ``path``, ``data``, ``version``."""
    changes = facts(source, "ZnodeCreated", "ZnodeChanged", "ZnodeDeleted")
    last = changes.groupBy(SESSION, "path").agg(
        F.max(F.struct("seq", "type", "data", "version")).alias("last")
    )
    return last.where("last.type <> 'ZnodeDeleted'").select(
        SESSION,
        "path",
        "last.seq",
        "last.data",
        F.coalesce("last.version", F.lit(0)).alias("version"),
    )


def states_in(znodes: DataFrame) -> DataFrame:
    """Parse the data of the partitions' state znodes."""
    fields = "leader INT, leader_epoch INT, controller_epoch INT, isr ARRAY<INT>"
    states = znodes.where(F.col("path").rlike(STATE_PATH))
    topic, number = (F.regexp_extract("path", STATE_PATH, group) for group in (1, 2))
    return states.select(
        SESSION,
        F.concat(topic, F.lit("-"), number).alias("tp"),
        "seq",
        F.from_json("data", fields).alias("state"),
        F.col("version").alias("zk_version"),
    ).select(*PARTITION, "seq", "state.*", "zk_version")
