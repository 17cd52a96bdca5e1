"""The events that state is rebuilt from, with their payloads taken apart once for all jobs."""

from typing import TYPE_CHECKING, Final

from sessions.analysis.source import Source
from sessions.dataset.schema import SESSION
from sessions.dataset.tables import EVENTS

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

KEPT: Final = "facts"
FIELDS: Final = {
    "assignment": "ARRAY<ARRAY<INT>>",
    "base_offset": "BIGINT",
    "controller_epoch": "INT",
    "count": "BIGINT",
    "data": "STRING",
    "first": "INT",
    "first_record": "BIGINT",
    "high_watermark": "BIGINT",
    "isr": "ARRAY<INT>",
    "leader": "INT",
    "leader_epoch": "INT",
    "log_end_offset": "BIGINT",
    "log_start": "BIGINT",
    "offset": "BIGINT",
    "path": "STRING",
    "replicas": "ARRAY<INT>",
    "role": "STRING",
    "runs": "ARRAY<ARRAY<BIGINT>>",
    "version": "INT",
    "zk_version": "INT",
}
"""Fields of payloads that matter here, with Spark's types; an event that lacks one has null."""
TYPES: Final = (
    "HighWatermarkChanged",
    "LogCreated",
    "LogDeleted",
    "LogLoaded",
    "LogStartOffsetChanged",
    "LogTruncated",
    "PartitionStateChanged",
    "PartitionStateRemoved",
    "PartitionsAdded",
    "ProduceAcknowledged",
    "RecordsAppended",
    "RecordsConsumed",
    "ReplicaRoleChanged",
    "ReplicasAssigned",
    "TopicCreated",
    "TopicDeleted",
    "ZnodeChanged",
    "ZnodeCreated",
    "ZnodeDeleted",
)


def facts(source: Source, *types: str) -> "DataFrame":
    """The events of these types: number, type, place, and :data:`FIELDS` as columns."""
    from pyspark.sql import functions as F

    assert set(types) <= set(TYPES)
    return source.kept(KEPT, _all).where(F.col("type").isin(*types))


def _all(source: Source) -> "DataFrame":
    from pyspark.sql import functions as F

    events = source.table(EVENTS).where(F.col("type").isin(*TYPES))
    schema = ", ".join(f"{name} {type_}" for name, type_ in FIELDS.items())
    payload = F.from_json("payload", schema).alias("fields")
    parsed = events.select(SESSION, "seq", "type", "tp", "topic", "broker", payload)
    return parsed.select(*parsed.drop("fields").columns, "fields.*")
