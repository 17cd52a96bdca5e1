"""KRaft's metadata log: the fields of its records, and the partitions that they describe."""

from functools import reduce
from operator import or_
from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from sessions.analysis.logs import PARTITION
from sessions.analysis.tables import DatasetTables
from sessions.analysis.windows import earlier, nearest
from sessions.dataset.schema import SESSION
from sessions.dataset.tables import METADATA_RECORDS

ZOOKEEPER: Final = "zk"
KRAFT: Final = "kraft"
"""Modes of a cluster, as ``--mode`` names them."""
ELIGIBLE: Final = ("eligibleLeaderReplicas", "lastKnownElr")
NOBODY: Final = "[]"


def said(name: str, kind: str = "int") -> Column:
    """Return a field of a record's data, null if the record does not set it."""
    return F.get_json_object("data", f"$.{name}").cast(kind)


def releases(source: DatasetTables) -> DataFrame:
    """Return each session's ``version`` (empty: none) and ``mode``, ``zk`` or ``kraft``."""
    kraft = source.table(METADATA_RECORDS).select(SESSION).distinct()
    named = source.sessions.select(SESSION, F.coalesce("version", F.lit("")).alias("version"))
    return named.join(kraft.withColumn("mode", F.lit(KRAFT)), SESSION, "left").fillna(
        ZOOKEEPER, ["mode"]
    )


def final_registrations(source: DatasetTables) -> DataFrame:
    """Replay the log: what it says of each partition at the end of a session.

    As in Kafka's ``PartitionRegistration.merge``, a change that names a leader, even -1 or the same
    one, increments the leader epoch, and every change increments the partition epoch. So does a
    ClearElrRecord that clears something (KIP-966), although it does not name the partition.
    """
    leader, isr = said("leader"), said("isr", "string")
    changes = F.col("type") == "PartitionChange"
    elected, cleared = changes & leader.isNotNull(), F.col("type") == "ClearElr"
    had = [nearest(said(name, "string"), earlier(PARTITION)) for name in ELIGIBLE]
    cleared_some = cleared & reduce(
        or_, (F.coalesce(each, F.lit(NOBODY)) != NOBODY for each in had)
    )
    line = _histories(source).withColumn("bumps", changes | cleared_some)
    last = line.groupBy(*PARTITION).agg(
        F.max("seq").alias("seq"),
        F.max_by(leader, F.when(leader.isNotNull(), F.col("seq"))).alias("leader"),
        (F.max(said("leaderEpoch")) + F.count_if(elected)).cast("int").alias("leader_epoch"),
        F.max_by("epoch", F.when(~cleared, F.col("seq"))).alias("controller_epoch"),
        F.from_json(F.max_by(isr, F.when(isr.isNotNull(), F.col("seq"))), "ARRAY<INT>").alias(
            "isr"
        ),
        (F.max(said("partitionEpoch")) + F.count_if("bumps")).cast("int").alias("partition_epoch"),
    )
    return last.where("leader is not null")


def _histories(source: DatasetTables) -> DataFrame:
    """Return the records about each partition that exists at the end, in the columns of its ``tp``.

    A ClearElrRecord is among those of each partition that it concerns, as if it set empty lists.
    """
    records = source.table(METADATA_RECORDS).withColumn("id", said("topicId", "string"))
    removed = records.where("type = 'RemoveTopic'")
    created = records.where("type = 'Topic'").join(removed, [SESSION, "id"], "left_anti")
    topics = created.select(SESSION, "id", said("name", "string").alias("topic"))
    of_topics = records.where("type in ('Partition', 'PartitionChange')").join(
        topics, [SESSION, "id"]
    )
    named = of_topics.withColumn("tp", F.concat_ws("-", "topic", said("partitionId", "string")))
    places = named.select(*PARTITION, "topic").distinct()
    empty = F.lit('{"eligibleLeaderReplicas":[],"lastKnownElr":[]}')
    clears = records.where("type = 'ClearElr'").select(
        SESSION, "seq", "type", "epoch", said("topicName", "string").alias("cleared")
    )
    of_all = places.join(clears, SESSION).where("cleared = '' or cleared = topic")
    own = ("seq", "type", "epoch", "data")
    return named.select(*PARTITION, *own).unionByName(
        of_all.withColumn("data", empty).select(*PARTITION, *own)
    )
