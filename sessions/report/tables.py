"""Rows of a result as a table of the page: each value as people read it, and as it was.

What a number counts is declared with its column, and so is how it is written. An event's number is
a button that gives the command to open its session there.
"""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from sessions.analysis.results.reading import Row
from sessions.dataset.schema import SESSION, Column, Table
from sessions.report.markup import Element, element
from sessions.report.origins import Origins
from sessions.report.units import NOTHING, number_text, time_text

EVENT: Final = "event"
ACKS: Final = {-1: "all"}


class Shown(NamedTuple):
    """Columns of a result by their headers, in order."""

    table: Table
    columns: Mapping[str, str]


def table(
    shown: Shown, rows: Sequence[Row], origins: Origins, in_all: int | None = None
) -> Element:
    """The rows; ``in_all`` is how many the result has, if these are not all."""
    if not rows:
        return element("p", "None.", class_="none")
    origins.look_up(sessions_in(shown, rows))
    columns = {column.name: column for column in shown.table.columns}
    chosen = [columns[name] for name in shown.columns.values()]
    head = element(
        "tr",
        *(
            element("th", header, class_=_class(column), title=_meaning(column))
            for header, column in zip(shown.columns, chosen, strict=True)
        ),
    )
    body = [element("tr", *(_cell(column, row, origins) for column in chosen)) for row in rows]
    made = element(
        "table",
        element("thead", head),
        element("tbody", *body),
        data_table=shown.table.name,
    )
    note = None
    if in_all is not None and in_all > len(rows):
        note = element("p", f"{len(rows)} of {in_all:,} rows; all are in ", class_="note")
        note.append(element("code", f"{shown.table.name}/"))
    return element("div", made, note, class_="table")


def sessions_in(shown: Shown, rows: Sequence[Row]) -> set[str]:
    """The sessions that the rows' events are of."""
    events = [column.name for column in shown.table.columns if column.unit == EVENT]
    names = {session_of(name, shown.table.names) for name in events}
    return {row[name] for row in rows for name in names if row.get(name) is not None}


def session_of(event: str, names: Sequence[str]) -> str:
    """The column that says which session an event is of: ``slowest_session`` of ``slowest_seq``."""
    own = f"{event.removesuffix('_seq')}_session"
    return own if own in names else SESSION


def _cell(column: Column, row: Row, origins: Origins) -> Element:
    value = row[column.name]
    exact = None if value is None else str(value)
    cell = element("td", class_=_class(column), data_column=column.name, data_value=exact)
    if column.unit == EVENT and value is not None:
        session = row.get(session_of(column.name, list(row)))
        if session is not None:
            command = origins.command(session, value)
            cell.append(event_button(value, command))
            return cell
    cell.text = value_text(column, value)
    return cell


def event_button(seq: int, command: str) -> Element:
    """The number of an event, which gives its command when it is pressed."""
    return element("button", f"#{seq:,}", class_="event", title=command, data_command=command)


def value_text(column: Column, value: object) -> str:
    """A value as people read it."""
    if value is None:
        return NOTHING
    if column.name == "acks" and isinstance(value, int):
        return ACKS.get(value, str(value))
    if isinstance(value, bool):
        return "yes" if value else "no"
    if not isinstance(value, int | float):
        return str(value)
    if column.unit == "us":
        return time_text(value)
    if column.unit == "percent":
        return f"{number_text(value)} %"
    return number_text(value)


def _class(column: Column) -> str | None:
    return None if column.type in ("string", "bool") else "number"


def _meaning(column: Column) -> str:
    return f"{column.name}: {column.meaning}"
