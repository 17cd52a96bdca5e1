"""Rows of a result as an HTML table: each value in a readable form, and the raw value.

What a number counts is declared with its column, and so is how it is written. A value that an event
led to has the event's number beside it: a button that gives the command to open its session there.
"""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from sessions.analysis.results.reading import EVENT, Row, session_of
from sessions.dataset.schema import SESSION, Column, Table
from sessions.report.bars import event_button
from sessions.report.markup import Content, Element, element
from sessions.report.units import NOTHING, clock_text, number_text, time_text

ACKS: Final = {-1: "all"}


class At(NamedTuple):
    """A column of values, and the column of the events that led to them."""

    column: str
    event: str


class TableColumns(NamedTuple):
    """Columns of a result by their headers, in order.

    ``title`` is the table's; ``begins`` and ``ends`` are the columns with the time that a row is
    about, if there is one: a page that is zoomed to a time shows the rows of that time. Without
    ``ends`` it is a point in time.
    """

    table: Table
    title: str
    columns: Mapping[str, str | At]
    begins: str | None = None
    ends: str | None = None


def table(shown: TableColumns, rows: Sequence[Row], in_all: int | None = None) -> Element:
    """The rows; ``in_all`` is how many the result has, if these are not all."""
    if not rows:
        return element(
            "div",
            element("h3", shown.title),
            element("p", "None.", class_="none"),
            class_="table",
        )
    columns = {column.name: column for column in shown.table.columns}
    chosen = [
        (columns[source.column], columns[source.event])
        if isinstance(source, At)
        else (columns[source], None)
        for source in shown.columns.values()
    ]
    head = element(
        "tr",
        *(
            _heading(header, column, event)
            for header, (column, event) in zip(shown.columns, chosen, strict=True)
        ),
    )
    body = element("tbody")
    for row in rows:
        body.append(_row(shown, row, chosen))
    drawn = element("table", element("thead", head), body, data_table=shown.table.name)
    return framed(shown.title, drawn, _how_many(shown, len(rows), in_all), _meanings(shown, chosen))


def framed(title: str, drawn: Element, *below: Content) -> Element:
    """A table with its title; a table wider than the page scrolls."""
    drawn.insert(0, element("caption", title, class_="hidden"))
    scrolled = element(
        "div", drawn, class_="scrolled", tabindex=0, role="region", aria_label=f"table: {title}"
    )
    return element("div", element("h3", title), scrolled, *below, class_="table")


def _heading(header: str, column: Column, event: Column | None) -> Element:
    return element(
        "th",
        header,
        scope="col",
        class_=_class(column),
        data_column=column.name,
        data_event=None if event is None else event.name,
    )


def _row(shown: TableColumns, row: Row, chosen: Sequence[tuple[Column, Column | None]]) -> Element:
    points = (shown.begins, shown.ends)
    line = element(
        "tr",
        *(_cell(column, event, row, points) for column, event in chosen),
        data_session=row.get(SESSION),
        data_tp=row.get("tp"),
    )
    begin = None if shown.begins is None else row[shown.begins]
    if begin is not None:
        line.set("data-from", str(begin))
        end = begin if shown.ends is None else row[shown.ends]
        if end is not None:
            line.set("data-to", str(end))
    return line


def _cell(column: Column, event: Column | None, row: Row, points: Sequence[str | None]) -> Element:
    value = row[column.name]
    cell = element("td", class_=_class(column), data_value=None if value is None else str(value))
    if column.unit == EVENT:
        event = column
    else:
        cell.text = clock_text(value) if column.name in points else value_text(column, value)
    seq = None if event is None else row[event.name]
    if event is not None and seq is not None:
        own = session_of(event.name, tuple(row))
        session = row[own]
        if session is not None:
            cell.append(event_button(seq, None if own == SESSION else session))
    if not cell.text and not len(cell):
        cell.text = NOTHING
    return cell


def _how_many(shown: TableColumns, count: int, in_all: int | None) -> Element | None:
    if in_all is None or in_all <= count:
        return None
    note = element("p", f"The first {count:,} of {in_all:,} rows; all are in ", class_="note")
    note.append(element("code", f"{shown.table.name}/"))
    note[-1].tail = "."
    return note


def _meanings(shown: TableColumns, chosen: Sequence[tuple[Column, Column | None]]) -> Element:
    """What each column means, by its header: a tooltip is for those alone who can point at it."""
    terms = []
    for header, (column, event) in zip(shown.columns, chosen, strict=True):
        led = "" if event is None else f"; beside it, {event.name}: {event.meaning}"
        terms += [
            element("dt", header),
            element("dd", element("code", column.name), f": {column.meaning}{led}"),
        ]
    return element("details", element("summary", "What the columns mean"), element("dl", *terms))


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
