"""States of partitions and replicas without their offsets: one row until something else changes.

``partition_states`` and ``replica_states`` have a row for each advance of an HW or LEO, so nearly
all of their rows repeat every other column. Queries that do not need offsets read these few rows
instead.
"""

from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from sessions.analysis.intervals import edges, merged_intervals, until_next
from sessions.analysis.tables import DatasetTables
from sessions.analysis.windows import earlier
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
PARTITIONS: Final = "partition_intervals"
LEADERS: Final = "leader_intervals"
SERVING: Final = "serving_intervals"
"""Names under which they are materialised."""


def partition_intervals(source: DatasetTables) -> DataFrame:
    """Return how long each partition was in each :data:`STATE`, with the validity columns."""
    return source.materialised(
        PARTITIONS,
        lambda tables: merged_intervals(tables.table(PARTITION_STATES), (*PARTITION, *STATE)),
    )


def leader_intervals(source: DatasetTables) -> DataFrame:
    """Return how long each ``broker`` acted as a partition's leader, by ``leader_epoch``."""
    keys = (*PARTITION, "broker", "leader_epoch")
    return source.materialised(
        LEADERS,
        lambda tables: merged_intervals(
            tables.table(REPLICA_STATES).where("role = 'leader'"), keys
        ),
    )


def serving_intervals(source: DatasetTables) -> DataFrame:
    """Return how long each ``broker`` acted as a partition's leader while its process was running.

    A frozen broker serves no requests, whatever role it believes to have: the times in which it was
    frozen are removed from :func:`leader_intervals`. With the validity columns, without intervals
    of zero events.
    """
    return source.materialised(SERVING, _serving)


def _serving(source: DatasetTables) -> DataFrame:
    leads = edges(leader_intervals(source), (*PARTITION, "broker")).withColumnRenamed(
        "change", "leads"
    )
    frozen = frozen_intervals(source)
    of_frozen = leader_intervals(source).select(*PARTITION, "broker").distinct()
    stops = of_frozen.join(edges(frozen, (SESSION, "broker")), [SESSION, "broker"])
    changes = leads.unionByName(stops.withColumnRenamed("change", "frozen"), True)
    keys = (*PARTITION, "broker")
    summed = (
        changes.fillna(0, ["leads", "frozen"])
        .groupBy(*keys, "seq")
        .agg(
            F.max("us").alias("us"), F.sum("leads").alias("leads"), F.sum("frozen").alias("frozen")
        )
    )
    so_far = earlier(keys, now=0)
    levels = summed.select(
        *keys,
        *until_next(keys),
        F.sum("leads").over(so_far).alias("leading"),
        F.sum("frozen").over(so_far).alias("stopped"),
    )
    return merged_intervals(levels.where("leading > 0 and stopped = 0"), keys)


def frozen_intervals(source: DatasetTables) -> DataFrame:
    """Return how long each ``broker`` was frozen, with the validity columns."""
    states = source.table(FAULTS).where("kind = 'broker'")
    of_broker = (SESSION, "broker")
    intervals = states.select(*of_broker, "state", *until_next(of_broker, "time_us"))
    return intervals.where("state = 'frozen'").drop("state")
