"""Rows of the ``events`` table, made from a block's columns without building event objects."""

from collections.abc import Iterable, Iterator
from functools import cache
from itertools import repeat
from typing import TYPE_CHECKING, Any, Final, get_type_hints

import msgspec
from msgspec import Struct

from emulator.events import Event
from sessions.dataset.schema import Type, arrow_schema
from sessions.dataset.tables import EVENTS, FIELDS
from sessions.format.codec import VOCABULARY, Columns, Unpacked

if TYPE_CHECKING:
    import pyarrow as pa

PLACES: Final = ("broker", "controller", "host", "source")
"""Fields that say where an event happened, the most specific first."""

OWN_COLUMNS: Final = frozenset({"seq", "time_us", "cause", "tp", "topic", "broker"})
"""Fields that have a column of their own in every event that has them."""

PYTHON_TYPES: Final[dict[Type, tuple[object, ...]]] = {
    "int32": (int,),
    "int64": (int,),
    "string": (str, str | None),
    "list<int32>": (list[int],),
}
"""The types of fields that fit a column of each type."""
TYPED: Final = {column.name: PYTHON_TYPES[column.type] for column in FIELDS}

ENCODE: Final = msgspec.json.Encoder().encode
Spans = list[tuple[str, int]]
"""Sessions, each with the number of its consecutive rows."""


class Shape(Struct, frozen=True):
    """How rows of one type of event are made; ``payload`` has the fields of their payload."""

    name: str
    place: str | None
    typed_fields: tuple[str, ...]
    payload_fields: tuple[str, ...]
    payload: type[Struct]


@cache
def shape_of(type_: type[Event]) -> Shape:
    """Return the shape of a type of event, derived from its fields."""
    hints = get_type_hints(type_)
    names = [name for name in type_.__struct_fields__ if name not in OWN_COLUMNS]
    typed = tuple(name for name in names if hints[name] in TYPED.get(name, ()))
    payload_fields = tuple(name for name in names if name not in typed)
    return Shape(
        name=type_.__name__,
        place=next((name for name in PLACES if name in type_.__struct_fields__), None),
        typed_fields=typed,
        payload_fields=payload_fields,
        payload=msgspec.defstruct(
            type_.__name__, [(name, Any) for name in payload_fields], gc=False
        ),
    )


class Held:
    """Events of one type by column; ``fields`` has a list for each field but the first three."""

    __slots__ = ("causes", "fields", "seqs", "spans", "times")

    def __init__(self, kind: type[Event]) -> None:
        self.spans: Spans = []
        self.seqs: list[int] = []
        self.times: list[int] = []
        self.causes: list[int] = []
        self.fields: list[list[Any]] = [[] for _ in kind.__struct_fields__[3:]]

    def add(self, session: str, block: Unpacked, columns: Columns) -> None:
        """Add the events of this type in a block."""
        first, places = block.first_seq, columns.places
        self.spans.append((session, len(places)))
        self.seqs.extend([place + first for place in places])
        self.times.extend(map(block.times.__getitem__, places))
        self.causes.extend(columns.causes)
        for mine, more in zip(self.fields, columns.fields, strict=True):
            mine.extend(more)


class EventRows:
    """Collects blocks of events, each with its session, until they become rows."""

    def __init__(self) -> None:
        self.count = 0
        self._blocks: list[tuple[str, Unpacked]] = []

    def add(self, session: str, block: Unpacked) -> None:
        """Add the events of a block, which must have all columns."""
        self._blocks.append((session, block))
        self.count += len(block.times)

    def join(self, other: "EventRows") -> None:
        """Move the events of another session here."""
        self._blocks += other._blocks
        self.count += other.count
        other.count, other._blocks = 0, []

    def take(self) -> "pa.Table":
        """Remove and return all rows so far, by type."""
        import pyarrow as pa

        held: dict[type[Event], Held] = {}
        for session, block in self._blocks:
            for columns in block.columns:
                mine = held.get(columns.kind)
                if mine is None:
                    mine = held[columns.kind] = Held(columns.kind)
                mine.add(session, block, columns)
        self.count, self._blocks = 0, []
        return pa.concat_tables([_table(kind, held[kind]) for kind in sorted(held, key=_name)])


def _name(kind: type[Event]) -> str:
    return kind.__name__


def _table(kind: type[Event], held: Held) -> "pa.Table":
    import pyarrow as pa

    schema, shape, rows = arrow_schema(EVENTS), shape_of(kind), len(held.seqs)
    fields = dict(zip(kind.__struct_fields__[3:], held.fields, strict=True))
    values: dict[str, Iterable[Any]] = {name: fields[name] for name in shape.typed_fields}
    values |= {"seq": held.seqs, "time_us": held.times, "cause": held.causes}
    values |= {name: fields[name] for name in ("topic",) if name in fields}
    if shape.place is not None:
        values["broker"] = fields[shape.place]
    if shape.payload_fields:
        values["payload"] = _payloads(shape, fields)
    columns = {
        name: pa.array(column, schema.field(name).type)
        for name, column in values.items()
        if name in schema.names
    }
    columns["session"] = session_array(held.spans)
    columns["type"] = pa.repeat(pa.scalar(shape.name), rows)
    if "tp" in fields:
        columns |= split_partitions(pa.array(fields["tp"], pa.string()))
    arrays = [
        columns[name] if name in columns else pa.nulls(rows, schema.field(name).type)
        for name in schema.names
    ]
    return pa.Table.from_arrays(arrays, schema=schema)


def _payloads(shape: Shape, fields: dict[str, list[Any]]) -> Iterator[bytes]:
    return map(ENCODE, map(shape.payload, *(fields[name] for name in shape.payload_fields)))


def session_array(spans: Spans) -> "pa.Array":
    """Return the column with the session of each row."""
    import pyarrow as pa

    if len(spans) == 1:
        return pa.repeat(pa.scalar(spans[0][0]), spans[0][1])
    ids = [session for span, count in spans for session in repeat(span, count)]
    return pa.array(ids, pa.string())


def split_partitions(tp: "pa.Array") -> "dict[str, pa.Array]":
    """Return the columns ``tp``, ``topic`` and ``partition``; each distinct name is split once.

    An empty name becomes null.
    """
    import pyarrow as pa

    encoded = tp.dictionary_encode()
    parts = [name.rpartition("-") for name in encoded.dictionary.to_pylist()]
    topics = pa.array([topic if number else None for topic, _, number in parts], pa.string())
    numbers = pa.array([int(number) if number else None for _, _, number in parts], pa.int32())
    return {
        "tp": tp,
        "topic": topics.take(encoded.indices),
        "partition": numbers.take(encoded.indices),
    }


def as_event(row: dict[str, Any]) -> Event:
    """Return the event of a row of ``events``, in this layout or an earlier one."""
    type_ = VOCABULARY[row["type"]]
    payload = row["payload"]
    fields = row if payload is None else {**row, **msgspec.json.decode(payload)}
    values = [fields[name] for name in type_.__struct_fields__]
    return msgspec.convert([row["type"], *values], type_)
