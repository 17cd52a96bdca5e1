"""Rows of the ``events`` table, made from a block's columns without building event objects.

Each field of an event has a column of its own, the place of the event is in ``broker``, and the few
fields without a column go to ``payload``.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import repeat
from typing import TYPE_CHECKING, Any, Final

import msgspec
from msgspec import Struct
from msgspec.structs import astuple

from emulator.events import TYPES, Event, MessageSent
from emulator.events.fields import meaning_of
from sessions.dataset.rows.partition_data import DETAIL, detail_of, partition_data
from sessions.dataset.schema import arrow_schema
from sessions.dataset.tables import EVENTS, FIELDS, PARTITION_DATA
from sessions.format.codec import PLANS, Columns, Unpacked, group

if TYPE_CHECKING:
    import pyarrow as pa

PLACES: Final = ("broker", "controller", "host", "source")
"""Fields that say where an event happened, the most specific first."""

OWN_COLUMNS: Final = frozenset({"seq", "time_us", "cause", "tp", "topic", "broker"})
"""Fields that have a column of their own in every event that has them."""

COLUMNS: Final = {column.name: column for column in FIELDS}

TYPE_ROWS: Final = 4_096
"""Number of events of one type that become Arrow columns at once."""

ENCODE: Final = msgspec.json.Encoder().encode
Spans = list[tuple[str, int]]
"""Sessions, each with the number of its consecutive rows."""


class Shape(Struct, frozen=True):
    """How rows of one type of event are made.

    ``place`` is the field in the column ``broker``, ``typed`` are columns with the fields that are
    in them, and ``payload`` has the fields of the payload.
    """

    name: str
    place: str | None
    typed: dict[str, str]
    payload_fields: tuple[str, ...]
    payload: type[Struct]

    @property
    def typed_fields(self) -> tuple[str, ...]:
        """The fields with a column of their own."""
        return tuple(self.typed.values())

    def column_of(self, field: str) -> str:
        if field == self.place:
            return "broker"
        return next((column for column, name in self.typed.items() if name == field), field)


@cache
def shape_of(type_: type[Event]) -> Shape:
    """Return the shape of a type of event, derived from its fields."""
    place_field = next((name for name in PLACES if name in type_.__struct_fields__), None)
    names = [name for name in type_.__struct_fields__ if name not in {*OWN_COLUMNS, place_field}]
    typed = {
        meaning.column or name: name
        for name in names
        if (meaning := meaning_of(type_, name)) is not None
    }
    payload_fields = tuple(name for name in names if name not in typed.values())
    return Shape(
        name=type_.__name__,
        place=place_field,
        typed=typed,
        payload_fields=payload_fields,
        payload=msgspec.defstruct(
            type_.__name__, [(name, Any) for name in payload_fields], gc=False
        ),
    )


class EventsOfType:
    """Events of one type.

    ``spans`` gives their sessions, in order, for all of ``columns``, which has a list for each
    field, and then all of ``members``.
    """

    __slots__ = ("columns", "count", "kind", "members", "spans")

    def __init__(self, kind: type[Event]) -> None:
        self.kind = kind
        self.count = 0
        self.spans: Spans = []
        self.columns: list[list[Any]] = [[] for _ in kind.__struct_fields__]
        self.members: list[Event] = []

    def add(self, session: str, members: list[Event]) -> None:
        self.spans.append((session, len(members)))
        self.count += len(members)
        self.members += members

    def add_block(self, session: str, block: Unpacked, columns: Columns) -> None:
        self._to_columns()
        first, indexes = block.first_seq, columns.places
        self.spans.append((session, len(indexes)))
        self.count += len(indexes)
        seqs = [index + first for index in indexes]
        times = map(block.times.__getitem__, indexes)
        self._extend([seqs, times, columns.causes, *columns.fields])

    def values(self) -> dict[str, list[Any]]:
        """Return the values of each field."""
        self._to_columns()
        return dict(zip(self.kind.__struct_fields__, self.columns, strict=True))

    def _to_columns(self) -> None:
        if self.members:
            self._extend(zip(*map(astuple, self.members), strict=True))
            self.members = []

    def _extend(self, columns: Iterable[Iterable[Any]]) -> None:
        for column, values in zip(self.columns, columns, strict=True):
            column.extend(values)


class EventRows:
    """Collects events, each with its session, until they become rows.

    Frequent types become Arrow columns early; rare types wait for more events, since a conversion
    has a fixed cost.
    """

    def __init__(self) -> None:
        self.count = 0
        self._by_type: dict[type[Event], EventsOfType] = {}
        self._tables: defaultdict[type[Event], list[pa.Table]] = defaultdict(list)

    def add(self, session: str, events: Sequence[Event]) -> None:
        self.count += len(events)
        for kind, members in group(events).items():
            rows = self._rows_of(kind)
            rows.add(session, members)
            self._convert_if_many(rows)

    def add_block(self, session: str, block: Unpacked) -> None:
        """Add the events of a block that are in its columns."""
        for columns in block.columns:
            self.count += len(columns.places)
            rows = self._rows_of(columns.kind)
            rows.add_block(session, block, columns)
            self._convert_if_many(rows)

    def take(self) -> "pa.Table":
        """Remove and return all rows so far, by type."""
        import pyarrow as pa

        for rows in list(self._by_type.values()):
            self._convert(rows)
        tables = [table for kind in sorted(self._tables, key=_name) for table in self._tables[kind]]
        self.count = 0
        self._tables.clear()
        return pa.concat_tables(tables)

    def _rows_of(self, kind: type[Event]) -> EventsOfType:
        rows = self._by_type.get(kind)
        if rows is None:
            rows = self._by_type[kind] = EventsOfType(kind)
        return rows

    def _convert_if_many(self, rows: EventsOfType) -> None:
        if rows.count >= TYPE_ROWS:
            self._convert(rows)

    def _convert(self, rows: EventsOfType) -> None:
        del self._by_type[rows.kind]
        self._tables[rows.kind].append(_table(rows))


def _name(kind: type[Event]) -> str:
    return kind.__name__


def _table(of_kind: EventsOfType) -> "pa.Table":
    import pyarrow as pa

    schema, shape, rows = arrow_schema(EVENTS), shape_of(of_kind.kind), of_kind.count
    fields = of_kind.values()
    own = ("seq", "time_us", "cause", *(("topic",) if "topic" in fields else ()))
    values: dict[str, Iterable[Any]] = {name: fields[name] for name in own}
    values |= {column: fields[name] for column, name in shape.typed.items()}
    if shape.place is not None:
        values["broker"] = fields[shape.place]
    columns = {name: _array(column, schema.field(name).type) for name, column in values.items()}
    if of_kind.kind is MessageSent:
        columns[PARTITION_DATA.name], odd = partition_data(fields["name"], fields[DETAIL])
        if odd:
            details = ({DETAIL: odd[row]} if row in odd else None for row in range(rows))
            texts = [None if detail is None else ENCODE(detail) for detail in details]
            columns["payload"] = pa.array(texts, pa.string())
    elif shape.payload_fields:
        columns["payload"] = pa.array(_payloads(shape, fields), pa.string())
    columns["session"] = session_array(of_kind.spans)
    columns["type"] = pa.repeat(pa.scalar(shape.name), rows)
    if "tp" in fields:
        columns |= split_partitions(pa.array(fields["tp"], pa.string()))
    arrays = [
        columns[name] if name in columns else pa.nulls(rows, schema.field(name).type)
        for name in schema.names
    ]
    return pa.Table.from_arrays(arrays, schema=schema)


def _array(values: Iterable[Any], type_: "pa.DataType") -> "pa.Array":
    import pyarrow as pa

    if pa.types.is_map(type_):
        values = [list(value.items()) for value in values]
    return pa.array(values, type_)


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
    kind = TYPES[row["type"]]
    payload = {} if row["payload"] is None else msgspec.json.decode(row["payload"])
    values = [
        payload[name] if name in payload else _value(kind, name, row)
        for name in kind.__struct_fields__
    ]
    return msgspec.convert([row["type"], *values], kind)


def _value(kind: type[Event], name: str, row: dict[str, Any]) -> object:
    """Return a field's value from the columns of a row; the default if there is none."""
    if kind is MessageSent and name == DETAIL:
        return detail_of(row["name"], row[PARTITION_DATA.name])
    column = shape_of(kind).column_of(name)
    value = row.get(column)
    if value is None:
        default = PLANS[kind].defaults.get(name)
        return None if default is None else default()
    is_map = column in COLUMNS and COLUMNS[column].type.startswith("map")
    return dict(value) if is_map else value
