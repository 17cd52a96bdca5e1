"""States of partitions and replicas without their offsets: as long as nothing else changes.

``partition_states`` and ``replica_states`` have a row for each step of an HW or LEO, so nearly all
of their rows say of everything else what the row before said. What does not ask for offsets reads
these few rows instead.
"""

from typing import TYPE_CHECKING, Final

from sessions.analysis.intervals import stretches
from sessions.analysis.tables import Source
from sessions.dataset.schema import PARTITION
from sessions.dataset.tables import PARTITION_STATES, REPLICA_STATES

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

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
"""By which names they are kept."""


def partition_spells(source: Source) -> "DataFrame":
    """How long each partition was in which :data:`STATE`, with the columns of validity."""
    return source.kept(
        PARTITIONS, lambda of: stretches(of.table(PARTITION_STATES), (*PARTITION, *STATE))
    )


def leader_spells(source: Source) -> "DataFrame":
    """How long each ``broker`` acted as a partition's leader, by ``leader_epoch``."""
    keys = (*PARTITION, "broker", "leader_epoch")
    return source.kept(
        LEADERS, lambda of: stretches(of.table(REPLICA_STATES).where("role = 'leader'"), keys)
    )
