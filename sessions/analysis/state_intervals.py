"""States of partitions and replicas without their offsets: as long as nothing else changes.

``partition_states`` and ``replica_states`` have a row for each step of an HW or LEO, so nearly all
of their rows say of everything else what the row before said. What does not ask for offsets reads
these few rows instead.
"""

from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from sessions.analysis.intervals import edges, stretches
from sessions.analysis.tables import DatasetTables
from sessions.analysis.windows import earlier, in_order
from sessions.dataset.schema import PARTITION, SESSION
from sessions.dataset.tables import FAULTS, PARTITION_STATES, REPLICA_STATES

STATE: Final = (
    "state",
    "leader",
    "leader_epoch",
    "isr",
    "replicas",
    "min_isr",
    "unclean_election",
)
"""The columns of ``partition_states`` whose changes count here."""
PARTITIONS: Final = "partition_spells"
LEADERS: Final = "leader_spells"
SERVING: Final = "serving_spells"
"""By which names they are kept."""


def partition_spells(source: DatasetTables) -> DataFrame:
    """How long each partition was in which :data:`STATE`, with the columns of validity."""
    return source.materialised(
        PARTITIONS, lambda of: stretches(of.table(PARTITION_STATES), (*PARTITION, *STATE))
    )


def leader_spells(source: DatasetTables) -> DataFrame:
    """How long each ``broker`` acted as a partition's leader, by ``leader_epoch``."""
    keys = (*PARTITION, "broker", "leader_epoch")
    return source.materialised(
        LEADERS, lambda of: stretches(of.table(REPLICA_STATES).where("role = 'leader'"), keys)
    )


def serving_spells(source: DatasetTables) -> DataFrame:
    """How long each ``broker`` acted as a partition's leader while its process ran.

    A broker that is frozen serves nobody, whatever it believes to be; so the times in which it was
    are cut out of :func:`leader_spells`. With the columns of validity, without those of no length
    in events.
    """
    return source.materialised(SERVING, _serving)


def _serving(source: DatasetTables) -> DataFrame:
    leads = edges(leader_spells(source), (*PARTITION, "broker")).withColumnRenamed(
        "change", "leads"
    )
    frozen = frozen_spells(source)
    of_frozen = leader_spells(source).select(*PARTITION, "broker").distinct()
    stops = of_frozen.join(edges(frozen, (SESSION, "broker")), [SESSION, "broker"])
    both = leads.unionByName(stops.withColumnRenamed("change", "frozen"), True)
    keys = (*PARTITION, "broker")
    summed = (
        both.fillna(0, ["leads", "frozen"])
        .groupBy(*keys, "seq")
        .agg(
            F.max("us").alias("us"), F.sum("leads").alias("leads"), F.sum("frozen").alias("frozen")
        )
    )
    so_far = earlier(keys, now=0)
    line = in_order(keys)
    levels = summed.select(
        *keys,
        F.col("seq").alias("from_seq"),
        F.col("us").alias("from_us"),
        F.lead("seq").over(line).alias("to_seq"),
        F.lead("us").over(line).alias("to_us"),
        F.sum("leads").over(so_far).alias("leading"),
        F.sum("frozen").over(so_far).alias("stopped"),
    )
    return stretches(levels.where("leading > 0 and stopped = 0"), keys)


def frozen_spells(source: DatasetTables) -> DataFrame:
    """How long each ``broker`` was frozen, with the columns of validity."""
    line = in_order((SESSION, "broker"))
    states = source.table(FAULTS).where("kind = 'broker'")
    spells = states.select(
        SESSION,
        "broker",
        "state",
        F.col("seq").alias("from_seq"),
        F.col("time_us").alias("from_us"),
        F.lead("seq").over(line).alias("to_seq"),
        F.lead("time_us").over(line).alias("to_us"),
    )
    return spells.where("state = 'frozen'").drop("state")
