"""The events that state is rebuilt from, with their payloads taken apart once for all jobs."""

from functools import reduce
from typing import TYPE_CHECKING, Final

from msgspec.structs import fields

from sessions.analysis.tables import Source
from sessions.dataset.rows.events import shape_of
from sessions.dataset.schema import SESSION
from sessions.dataset.tables import EVENTS
from sessions.format.codec import VOCABULARY

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

KEPT: Final = "facts"
KEPT_MANY: Final = "many_facts"
"""By which names they are kept."""
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
FEW: Final = frozenset(
    {
        "LogCreated",
        "LogDeleted",
        "LogLoaded",
        "LogStartOffsetChanged",
        "LogTruncated",
        "PartitionStateChanged",
        "PartitionStateRemoved",
        "PartitionsAdded",
        "RecordsConsumed",
        "ReplicaRoleChanged",
        "ReplicasAssigned",
        "TopicCreated",
        "TopicDeleted",
        "ZnodeChanged",
        "ZnodeCreated",
        "ZnodeDeleted",
    }
)
"""Types of which a long session has few: their payloads are parsed."""
MANY: Final = frozenset({"HighWatermarkChanged", "ProduceAcknowledged", "RecordsAppended"})
"""Types of which each batch makes some."""
NUMBER: Final = r'[a-z]":(-?[0-9]+)'
NUMBERS: Final = ("base_offset", "count", "first_record", "high_watermark")
"""Fields of :data:`MANY`."""
PLACE: Final = (SESSION, "seq", "type", "tp", "topic", "broker")


def facts(source: Source, *types: str) -> "DataFrame":
    """The events of these types: number, type, place, and fields of :data:`FIELDS` as columns.

    Types of :data:`MANY` alone have :data:`NUMBERS` for fields.
    """
    from pyspark.sql import functions as F

    assert set(types) <= {*FEW, *MANY}
    kept = [
        source.kept(name, make).where(F.col("type").isin(*wanted))
        for name, make, wanted in (
            (KEPT, _few, sorted(FEW & set(types))),
            (KEPT_MANY, _many, sorted(MANY & set(types))),
        )
        if wanted
    ]
    return reduce(lambda one, more: one.unionByName(more, allowMissingColumns=True), kept)


def _few(source: Source) -> "DataFrame":
    from pyspark.sql import functions as F

    schema = ", ".join(f"{name} {type_}" for name, type_ in FIELDS.items())
    payload = F.from_json("payload", schema).alias("fields")
    parsed = _events(source, FEW).select(*PLACE, payload)
    return parsed.select(*PLACE, "fields.*")


def _many(source: Source) -> "DataFrame":
    """Numbers cut out of texts, which takes a third of the time of parsing them.

    A payload has its event's fields in their order, and only behind the name of a field does a
    number follow a quote that is not escaped, whatever its texts say.
    """
    from pyspark.sql import functions as F

    numbers = F.regexp_extract_all("payload", F.lit(NUMBER), 1).alias("numbers")
    cut = _events(source, frozenset(MANY)).select(*PLACE, numbers)
    return cut.select(*PLACE, *(_number(name).alias(name) for name in NUMBERS))


def _number(name: str) -> "Column":
    """A field of payloads, by where the numbers of each type have it; null for types without."""
    from pyspark.sql import functions as F

    value = F.lit(None)
    for type_ in (VOCABULARY[type_] for type_ in sorted(MANY)):
        kept = shape_of(type_).payload_fields
        own = [field.name for field in fields(type_) if field.name in kept and field.type is int]
        if name in own:
            at = F.try_element_at("numbers", F.lit(own.index(name) + 1))
            value = F.when(F.col("type") == type_.__name__, at).otherwise(value)
    return value.cast(FIELDS[name])


def _events(source: Source, types: frozenset[str]) -> "DataFrame":
    from pyspark.sql import functions as F

    return source.table(EVENTS).where(F.col("type").isin(*sorted(types)))
