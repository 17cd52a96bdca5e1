"""Events as rows of the ``events`` table, made column by column.

A block of events is sorted by type first, since all events of a type have the same fields; the
columns of each type come from one pass over its events, and the rows are put back in the order of
``seq`` at the end.
"""

from collections.abc import Iterable, Sequence
from functools import cache
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final

import msgspec
from msgspec import Struct

from emulator.events import Event
from sessions.blocks import VOCABULARY, group
from sessions.dataset.schema import arrow_schema
from sessions.dataset.tables import EVENTS

if TYPE_CHECKING:
    import pyarrow as pa

PLACES: Final = ("broker", "controller", "host", "source")
"""Fields that say where an event happened, the most telling first."""

OWN_COLUMNS: Final = frozenset({"seq", "time_us", "cause", "tp", "topic", "broker"})
"""Fields that have a column of their own and are not repeated in the payload."""


class Shape(Struct, frozen=True):
    """What rows of one type of event are made from; ``payload`` encodes as their payload."""

    name: str
    place: str | None
    tp: bool
    topic: bool
    payload_fields: tuple[str, ...]
    payload: type[Struct]


@cache
def shape_of(type_: type[Event]) -> Shape:
    """The shape of a type of event, worked out from its fields."""
    fields = type_.__struct_fields__
    payload_fields = tuple(name for name in fields if name not in OWN_COLUMNS)
    return Shape(
        name=type_.__name__,
        place=next((name for name in PLACES if name in fields), None),
        tp="tp" in fields,
        topic="topic" in fields,
        payload_fields=payload_fields,
        payload=msgspec.defstruct(
            type_.__name__, [(name, Any) for name in payload_fields], gc=False
        ),
    )


def event_rows(events: Sequence[Event]) -> "pa.Table":
    """The events of one block as a table in the order of ``seq``; ``events`` must not be empty."""
    import pyarrow as pa
    import pyarrow.compute as pc

    schema = arrow_schema(EVENTS)
    rows = pa.Table.from_batches(
        [_rows_of(shape_of(type_), same, schema) for type_, same in group(events).items()], schema
    )
    return rows.take(pc.sort_indices(rows["seq"]))


def _rows_of(shape: Shape, events: list[Event], schema: "pa.Schema") -> "pa.RecordBatch":
    """The rows of events that all have one shape."""
    import pyarrow as pa

    count = len(events)
    columns: dict[str, Any] = {
        name: pa.array(_field(events, name), pa.int64()) for name in ("seq", "time_us", "cause")
    }
    columns["type"] = pa.repeat(shape.name, count)
    columns["broker"] = _optional(events, shape.place, pa.int32())
    columns["payload"] = _payloads(shape, events)
    if shape.tp:
        columns |= split_partitions(pa.array(_field(events, "tp"), pa.string()))
    else:
        columns["tp"] = pa.nulls(count, pa.string())
        columns["topic"] = _optional(events, "topic" if shape.topic else None, pa.string())
        columns["partition"] = pa.nulls(count, pa.int32())
    return pa.RecordBatch.from_arrays([columns[name] for name in schema.names], schema=schema)


def split_partitions(tp: "pa.Array") -> "dict[str, pa.Array]":
    """The columns ``tp``, ``topic`` and ``partition``; each distinct name is split only once."""
    import pyarrow as pa

    encoded = tp.dictionary_encode()
    parts = [name.rpartition("-") for name in encoded.dictionary.to_pylist()]
    topics = pa.array([topic for topic, _, _ in parts], pa.string())
    numbers = pa.array([int(number) for _, _, number in parts], pa.int32())
    return {
        "tp": tp,
        "topic": topics.take(encoded.indices),
        "partition": numbers.take(encoded.indices),
    }


def _field(events: Iterable[Event], name: str) -> list[Any]:
    return list(map(attrgetter(name), events))


def _optional(events: list[Event], name: str | None, type_: "pa.DataType") -> "pa.Array":
    """The column of a field, or nulls where this type of event has no such field."""
    import pyarrow as pa

    return pa.nulls(len(events), type_) if name is None else pa.array(_field(events, name), type_)


def _payloads(shape: Shape, events: list[Event]) -> "pa.Array":
    """The payload column: all encoded at once as lines, then cut (JSON has no bare newlines)."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not shape.payload_fields:
        return pa.repeat("{}", len(events))
    fields = [map(attrgetter(name), events) for name in shape.payload_fields]
    payloads = list(map(shape.payload, *fields))  # encode_lines never lets go of an iterator
    lines = msgspec.json.Encoder().encode_lines(payloads)
    whole = pa.array([lines], pa.large_binary()).cast(pa.large_string())
    return pc.split_pattern(whole, "\n").values[:-1].cast(pa.string())


def as_event(row: dict[str, Any]) -> Event:
    """The event that a row of ``events`` tells of: the inverse of :func:`event_rows`."""
    type_ = VOCABULARY[row["type"]]
    fields = {**row, **msgspec.json.decode(row["payload"])}
    values = [fields[name] for name in type_.__struct_fields__]
    return msgspec.convert([row["type"], *values], type_)
