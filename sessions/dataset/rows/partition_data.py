"""The column ``partition_data`` of ``events``: what messages list by partition, as structs.

The values of an item have names by message (:mod:`emulator.protocol.details`). A detail of another
form, as foreign recordings may have, stays as it is and goes to ``payload``.
"""

from collections.abc import Iterator, Sequence
from itertools import accumulate, chain
from typing import TYPE_CHECKING, Any, Final

from emulator.protocol.details import COORDINATED_VALUES, PARTITION_VALUES
from sessions.dataset.schema import arrow_schema
from sessions.dataset.tables import EVENTS, PARTITION_DATA

if TYPE_CHECKING:
    import pyarrow as pa

Detail = list[list[str | int]]

DETAIL: Final = "detail"
"""The field of a message that becomes :data:`PARTITION_DATA`."""
ABOUT: Final = PARTITION_DATA.fields[0].name
"""The field of a struct with the first value of an item."""
NAMES: Final = {
    message: tuple((ABOUT, *values) for values in (first, others))
    for message in PARTITION_VALUES.keys() | COORDINATED_VALUES.keys()
    for others in [PARTITION_VALUES.get(message, ())]
    for first in [COORDINATED_VALUES.get(message, others)]
}
"""The names of an item's values by message: those of the first item, and those of the others."""
UNNAMED: Final = ((ABOUT,), (ABOUT,))
INT_BITS: Final = {
    field.name: {"int32": 32, "int64": 64}.get(field.type, 0) for field in PARTITION_DATA.fields
}
"""The size of a field's integers; 0: it has text."""


class Misfit(Exception):
    """A detail does not have the form that its message's name promises."""


def partition_data(
    messages: Sequence[str], details: Sequence[Detail]
) -> "tuple[pa.Array, dict[int, Detail]]":
    """Return the column for some messages, and the details that do not fit into it by their row."""
    import pyarrow as pa

    try:
        return _column(messages, details), {}
    except (Misfit, pa.ArrowException, OverflowError, TypeError):
        misfits = {
            row: detail
            for row, (message, detail) in enumerate(zip(messages, details, strict=True))
            if not _fits(message, detail)
        }
        fitting = [None if row in misfits else detail for row, detail in enumerate(details)]
        return _column(messages, fitting), misfits


def detail_of(message: str, items: "Sequence[Any]") -> list[list[Any]]:
    """Return the detail of a message from the structs in its row."""
    return [
        [item[name] for name in names if item[name] is not None]
        for names, item in zip(_names(message), items, strict=False)
    ]


def _names(message: str) -> Iterator[tuple[str, ...]]:
    """Yield the names of the values of each item."""
    first, others = NAMES.get(message, UNNAMED)
    yield first
    while True:
        yield others


def _column(messages: Sequence[str], details: "Sequence[Detail | None]") -> "pa.Array":
    import pyarrow as pa

    type_ = arrow_schema(EVENTS).field(PARTITION_DATA.name).type
    items, positions = _by_names(messages, details)
    ends = pa.array(
        chain((0,), accumulate(0 if detail is None else len(detail) for detail in details)),
        pa.int32(),
    )
    missing = pa.array([detail is None for detail in details], pa.bool_())
    structs = _structs(items, positions, type_.value_type)
    return pa.ListArray.from_arrays(ends, structs, type=type_, mask=missing)


Items = dict[tuple[str, ...], list[list[str | int]]]
"""Items by the names of their values."""


def _by_names(
    messages: Sequence[str], details: "Sequence[Detail | None]"
) -> tuple[Items, list[int]]:
    """Return all items by their names, and the places at which they were, in the same order."""
    items: Items = {}
    positions: dict[tuple[str, ...], list[int]] = {}
    position = 0
    for message, detail in zip(messages, details, strict=True):
        if not detail:
            continue
        names, others = NAMES.get(message, UNNAMED)
        for item in detail:
            if not item or len(item) > len(names):
                raise Misfit
            used = names if len(item) == len(names) else names[: len(item)]
            if used in items:
                items[used].append(item)
                positions[used].append(position)
            else:
                items[used], positions[used] = [item], [position]
            position += 1
            names = others
    return items, [position for used in items for position in positions[used]]


def _structs(items: Items, positions: list[int], type_: "pa.DataType") -> "pa.StructArray":
    """Return the items as structs, each at its place."""
    import pyarrow as pa
    import pyarrow.compute as pc

    columns = {
        names: dict(zip(names, zip(*members, strict=True), strict=True))
        for names, members in items.items()
    }
    order = pc.sort_indices(pa.array(positions, pa.int32())) if len(items) > 1 else None
    children = []
    for field in type_:
        if any(field.name in names for names in items):
            parts = [
                pa.array(columns[names][field.name], field.type)
                if field.name in names
                else pa.nulls(len(members), field.type)
                for names, members in items.items()
            ]
            child = parts[0] if order is None else pa.concat_arrays(parts).take(order)
        else:
            child = pa.nulls(len(positions), field.type)
        children.append(child)
    return pa.StructArray.from_arrays(children, fields=list(type_))


def _fits(message: str, detail: Detail) -> bool:
    return all(
        0 < len(item) <= len(names) and all(map(_has_type, names, item))
        for names, item in zip(_names(message), detail, strict=False)
    )


def _has_type(name: str, value: str | int) -> bool:
    bits = INT_BITS[name]
    if not bits:
        return isinstance(value, str)
    return isinstance(value, int) and -(1 << (bits - 1)) <= value < 1 << (bits - 1)
