"""The events from which state is rebuilt, as typed columns.

Rows of ``events`` are clustered by type, so a filter on the type reads few pages of a file.
"""

from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from sessions.analysis.tables import DatasetTables
from sessions.dataset.schema import SESSION
from sessions.dataset.tables import EVENTS, FIELDS

PLACE: Final = (SESSION, "seq", "type", "tp", "topic", "broker")
TYPED: Final = tuple(column.name for column in FIELDS)
NESTED: Final = {
    "assignment": "ARRAY<ARRAY<INT>>",
    "first": "INT",
    "runs": "ARRAY<ARRAY<BIGINT>>",
}
"""Payload fields with their Spark types."""
WITH_NESTED: Final = frozenset({"TopicCreated", "PartitionsAdded", "RecordsConsumed"})
"""The event types that have one of :data:`NESTED`."""


def facts(source: DatasetTables, *types: str) -> DataFrame:
    """Return the events of these types: number, type, position, and their fields as columns.

    :data:`NESTED` fields are included if one of the types has any.
    """
    rows = source.table(EVENTS).where(F.col("type").isin(*sorted(types)))
    if not WITH_NESTED & set(types):
        return rows.select(*PLACE, *TYPED)
    schema = ", ".join(f"{name} {type_}" for name, type_ in NESTED.items())
    nested = F.when(
        F.col("type").isin(*sorted(WITH_NESTED & set(types))), F.from_json("payload", schema)
    )
    return rows.select(*PLACE, *TYPED, nested.alias("nested")).select(*PLACE, *TYPED, "nested.*")
