"""KRaft's metadata log: the fields of its records, and the partitions that they describe."""

from functools import reduce
from operator import or_
from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from sessions.analysis.logs import PARTITION
from sessions.analysis.tables import DatasetTables
from sessions.analysis.windows import earlier, nearest
from sessions.dataset.schema import SESSION
from sessions.dataset.tables import METADATA_RECORDS

ZOOKEEPER: Final = "zk"
KRAFT: Final = "kraft"
"""Modes of a cluster, as ``--mode`` names them."""
ELIGIBLE: Final = ("eligible_leader_replicas", "last_known_elr")


def releases(source: DatasetTables) -> DataFrame:
    """Return each session's ``version`` (empty: none) and ``mode``, ``zk`` or ``kraft``."""
    kraft = source.table(METADATA_RECORDS).select(SESSION).distinct()
    versions = source.sessions.select(SESSION, F.coalesce("version", F.lit("")).alias("version"))
    return versions.join(kraft.withColumn("mode", F.lit(KRAFT)), SESSION, "left").fillna(
        ZOOKEEPER, ["mode"]
    )


def final_registrations(source: DatasetTables) -> DataFrame:
    """Replay the log: return each partition's registration at the end of a session.

    As in Kafka's ``PartitionRegistration.merge``, a change that names a leader, even -1 or the same
    one, increments the leader epoch, and every change increments the partition epoch. So does a
    ClearElrRecord that clears something (KIP-966), although it does not name the partition.
    """
    leader, isr = F.col("leader"), F.col("isr")
    changes = F.col("type") == "PartitionChange"
    elected, cleared = changes & leader.isNotNull(), F.col("type") == "ClearElr"
    had = [nearest(name, earlier(PARTITION)) for name in ELIGIBLE]
    cleared_some = cleared & reduce(
        or_, (F.coalesce(F.size(members), F.lit(0)) > 0 for members in had)
    )
    line = _histories(source).withColumn("bumps", changes | cleared_some)
    last = line.groupBy(*PARTITION).agg(
        F.max("seq").alias("seq"),
        F.max_by(leader, F.when(leader.isNotNull(), F.col("seq"))).alias("leader"),
        (F.max("leader_epoch") + F.count_if(elected)).cast("int").alias("leader_epoch"),
        F.max_by("epoch", F.when(~cleared, F.col("seq"))).alias("controller_epoch"),
        F.max_by(isr, F.when(isr.isNotNull(), F.col("seq"))).alias("isr"),
        (F.max("partition_epoch") + F.count_if("bumps")).cast("int").alias("partition_epoch"),
    )
    return last.where("leader is not null")


def _histories(source: DatasetTables) -> DataFrame:
    """Return the records about each partition that exists at the end, in the columns of its ``tp``.

    A ClearElrRecord is among those of each partition that it concerns, as if it set empty lists.
    """
    records = source.table(METADATA_RECORDS).withColumnRenamed("topic", "id")
    removed = records.where("type = 'RemoveTopic'")
    created = records.where("type = 'Topic'").join(removed, [SESSION, "id"], "left_anti")
    topics = created.select(SESSION, "id", F.col("name").alias("topic"))
    of_topics = records.where("type in ('Partition', 'PartitionChange')").join(
        topics, [SESSION, "id"]
    )
    with_tp = of_topics.withColumn("tp", F.concat_ws("-", "topic", "partition"))
    partitions = with_tp.select(*PARTITION, "topic").distinct()
    nobody = {name: F.array().cast("array<int>") for name in ELIGIBLE}
    clears = records.where("type = 'ClearElr'").select(
        SESSION, "seq", "type", "epoch", F.col("name").alias("cleared")
    )
    of_all = partitions.join(clears, SESSION).where("cleared = '' or cleared = topic")
    own = ("seq", "type", "epoch", "leader", "isr", "leader_epoch", "partition_epoch", *ELIGIBLE)
    return with_tp.select(*PARTITION, *own).unionByName(
        of_all.withColumns(nobody).select(*PARTITION, "seq", "type", "epoch", *ELIGIBLE),
        allowMissingColumns=True,
    )
