"""Events as rows of the ``events`` table, made column by column.

A block of events is sorted by type first, since all events of a type have the same fields; the
columns of each type come from one pass over its events, and the rows are put back in the order of
``seq`` at the end.
"""

from collections.abc import Iterable, Sequence
from functools import cache
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final, NamedTuple

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


class Gathered(NamedTuple):
    """Events of one type, their fields out of Python's hands: columns, and payloads as lines."""

    shape: Shape
    rows: int
    columns: "dict[str, pa.Array]"
    payloads: bytes


def gathered(events: Sequence[Event]) -> list[Gathered]:
    """Events of one block by type: the part of the work for which Python objects are looked at."""
    return [_gathered(shape_of(type_), same) for type_, same in group(events).items()]


def event_rows(block: Sequence[Gathered]) -> "pa.Table":
    """The events of one block as a table in the order of ``seq``; there must be one at least.

    All of this is Arrow's work, during which another thread can go on.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    schema = arrow_schema(EVENTS)
    rows = pa.Table.from_batches([_rows_of(same, schema) for same in block], schema)
    return rows.take(pc.sort_indices(rows["seq"]))


def _gathered(shape: Shape, events: list[Event]) -> Gathered:
    import pyarrow as pa

    columns = {
        name: pa.array(_field(events, name), pa.int64()) for name in ("seq", "time_us", "cause")
    }
    if shape.place is not None:
        columns["broker"] = pa.array(_field(events, shape.place), pa.int32())
    for name in ("tp", "topic"):
        if getattr(shape, name):
            columns[name] = pa.array(_field(events, name), pa.string())
    return Gathered(shape, len(events), columns, _payload_lines(shape, events))


def _rows_of(gathered: Gathered, schema: "pa.Schema") -> "pa.RecordBatch":
    """The rows of events that all have one shape; what the shape does not have is null."""
    import pyarrow as pa

    shape, count, columns, lines = gathered
    columns = {**columns, "type": pa.repeat(shape.name, count)}
    columns["payload"] = _payloads(lines) if lines else pa.repeat("{}", count)
    if shape.tp:
        columns |= split_partitions(columns["tp"])
    return pa.RecordBatch.from_arrays(
        [
            pa.nulls(count, field.type) if field.name not in columns else columns[field.name]
            for field in schema
        ],
        schema=schema,
    )


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


def _payload_lines(shape: Shape, events: list[Event]) -> bytes:
    """All payloads, each a line of JSON (which has no bare newlines); empty if there is nothing."""
    if not shape.payload_fields:
        return b""
    fields = [map(attrgetter(name), events) for name in shape.payload_fields]
    payloads = list(map(shape.payload, *fields))  # encode_lines never lets go of an iterator
    return msgspec.json.Encoder().encode_lines(payloads)


def _payloads(lines: bytes) -> "pa.Array":
    """The payload column: lines cut apart."""
    import pyarrow as pa
    import pyarrow.compute as pc

    whole = pa.array([lines], pa.large_binary()).cast(pa.large_string())
    return pc.split_pattern(whole, "\n").values[:-1].cast(pa.string())


def as_event(row: dict[str, Any]) -> Event:
    """The event that a row of ``events`` tells of: the inverse of :func:`event_rows`."""
    type_ = VOCABULARY[row["type"]]
    fields = {**row, **msgspec.json.decode(row["payload"])}
    values = [fields[name] for name in type_.__struct_fields__]
    return msgspec.convert([row["type"], *values], type_)
