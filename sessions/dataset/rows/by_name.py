"""Rows made by the names of their columns.

A row is a tuple in the order of the declared columns, with only ``tp`` for the three columns of a
partition.
"""

from collections.abc import Callable
from operator import attrgetter, itemgetter
from typing import Any

from msgspec import defstruct
from msgspec.structs import astuple

from emulator.events import Attribute, Event, Row
from sessions.dataset.schema import Table
from sessions.dataset.writer import Row as Values
from sessions.dataset.writer import given_columns


def row_maker(table: Table) -> Callable[..., Values]:
    """Return a function of columns by name that returns a row; columns not given are null."""
    fields = [(name, Any, None) for name in given_columns(table)]
    values_by_name = defstruct(table.name, fields, gc=False)

    def row(**values: object) -> Values:
        return astuple(values_by_name(**values))

    return row


def event_row(kind: type[Event], row: Row, table: Table) -> Callable[[Event], Values]:
    """Return a function that makes rows of a class of events as ``row`` describes.

    Raises:
        TypeError: the table has no such column, or the row lacks a value that is never null.
    """
    columns = given_columns(table)
    if unknown := row.values.keys() - set(columns):
        raise TypeError(f"{table.name} has no column {min(unknown)}, which {kind.__name__} fills")
    nullable = {column.name for column in table.columns if column.null}
    attributes: list[str] = []
    constants: list[object] = []
    order: list[int] = []
    for column in columns:
        default = Attribute(column) if hasattr(kind, column) else None
        value = row.values.get(column, default)
        if value is None and column not in nullable:
            raise TypeError(f"{kind.__name__} says nothing of {column} in {table.name}")
        if isinstance(value, Attribute):
            order.append(len(attributes))
            attributes.append(value)
        else:
            constants.append(value)
            order.append(-len(constants))
    # Constants come after the attributes, in reverse: so they are found from the end.
    attributes_of, in_order, last = attrgetter(*attributes), itemgetter(*order), (*constants[::-1],)
    return lambda event: in_order(attributes_of(event) + last)
