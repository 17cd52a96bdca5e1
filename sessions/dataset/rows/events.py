"""Events as rows of the ``events`` table, made of a block's columns: no event is built for it."""

from collections.abc import Iterable, Iterator
from functools import cache
from itertools import repeat
from typing import TYPE_CHECKING, Any, Final

import msgspec
from msgspec import Struct

from emulator.events import Event
from sessions.dataset.schema import arrow_schema
from sessions.dataset.tables import EVENTS
from sessions.format.codec import VOCABULARY, Columns, Unpacked

if TYPE_CHECKING:
    import pyarrow as pa

PLACES: Final = ("broker", "controller", "host", "source")
"""Fields that say where an event happened, the most telling first."""

OWN_COLUMNS: Final = frozenset({"seq", "time_us", "cause", "tp", "topic", "broker"})
"""Fields that have a column of their own and are not repeated in the payload."""


ROW: Final = ("cause", "type", "tp", "topic", "broker", "payload")
"""The columns whose values come from an event by itself."""

ENCODE: Final = msgspec.json.Encoder().encode


class Shape(Struct, frozen=True):
    """What rows of one type of event are made from; ``payload`` encodes as their payload."""

    name: str
    place: str | None
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
        payload_fields=payload_fields,
        payload=msgspec.defstruct(
            type_.__name__, [(name, Any) for name in payload_fields], gc=False
        ),
    )


def event_rows(block: Unpacked) -> "pa.Table":
    """The events of one block as a table in order; there must be one at least."""
    import pyarrow as pa
    import pyarrow.compute as pc

    schema = arrow_schema(EVENTS)
    rows: list[Any] = [None] * len(block.times)
    for events in block.columns:
        for place, row in zip(events.places, _rows(events), strict=True):
            rows[place] = row
    values = zip(ROW, zip(*rows, strict=True), strict=True)
    columns = {name: pa.array(column, schema.field(name).type) for name, column in values}
    parts = split_partitions(columns["tp"])
    columns |= {**parts, "topic": pc.coalesce(parts["topic"], columns["topic"])}
    columns["seq"] = pa.array(range(block.first_seq, block.last_seq + 1), pa.int64())
    columns["time_us"] = pa.array(block.times, pa.int64())
    return pa.Table.from_arrays([columns[name] for name in schema.names], schema=schema)


def _rows(events: Columns) -> Iterator[tuple[Any, ...]]:
    """The values of :data:`ROW` for events of one type; what this does not have is None."""
    shape = shape_of(events.kind)
    names = events.kind.__struct_fields__[3:]
    fields: dict[str | None, Iterable[Any]] = dict(zip(names, events.fields, strict=True))
    nothing = repeat(None)
    payloads = (
        map(ENCODE, map(shape.payload, *(fields[name] for name in shape.payload_fields)))
        if shape.payload_fields
        else repeat(b"{}")
    )
    return zip(
        events.causes,
        repeat(shape.name),
        fields.get("tp", nothing),
        fields.get("topic", nothing),
        fields.get(shape.place, nothing),
        payloads,
        strict=False,  # some are endless
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


def as_event(row: dict[str, Any]) -> Event:
    """The event that a row of ``events`` tells of: the inverse of :func:`event_rows`."""
    type_ = VOCABULARY[row["type"]]
    fields = {**row, **msgspec.json.decode(row["payload"])}
    values = [fields[name] for name in type_.__struct_fields__]
    return msgspec.convert([row["type"], *values], type_)
