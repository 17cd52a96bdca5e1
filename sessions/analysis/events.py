"""The events from which state is rebuilt, as typed columns.

Rows of ``events`` are clustered by type, so a filter on the type reads few pages of a file.
"""

from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from sessions.analysis.tables import DatasetTables
from sessions.dataset.schema import SESSION
from sessions.dataset.tables import EVENTS

PLACE: Final = (SESSION, "seq", "type", "tp", "topic", "broker")
OF_REPLICATION: Final = (
    *("name", "destination", "request", "error", "role", "leader", "leader_epoch"),
    *("controller_epoch", "zk_version", "isr", "replicas", "count", "first_record"),
    *("base_offset", "offset", "high_watermark", "log_end_offset", "log_start", "previous"),
    *("path", "data", "version", "assignment", "first", "runs"),
)
"""The columns from which the state of partitions, replicas and znodes is rebuilt."""


def facts(source: DatasetTables, *types: str) -> DataFrame:
    """Return the events of these types: number, type, position, and their fields as columns."""
    rows = source.table(EVENTS).where(F.col("type").isin(*sorted(types)))
    return rows.select(*PLACE, *OF_REPLICATION)
