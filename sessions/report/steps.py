"""Values over time as steps: at most as many as a chart can show, and no outage lost.

A session may have a hundred thousand changes, and a chart has a thousand columns of pixels. Where
there are more changes than columns, a column takes the highest value of each series in its time, so
that whatever happened is still to be seen, if only as wide as a column.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

from msgspec import Struct

COLUMNS_MAX: Final = 1_200
"""How many steps a chart has at most: about as many as its pixels."""

Row = dict[str, Any]
Value = int | float | None


class Steps(Struct, frozen=True):
    """Values that hold from ``begins[i]`` to ``begins[i + 1]``, the last to ``end``; in us.

    ``events`` are numbers of the events that lead to them; None is no value: nothing is known of
    that time. ``merged`` is of how many changes they were made, 0 if of each there is a step.
    """

    begins: list[int]
    end: int
    values: dict[str, list[Value]]
    events: list[int | None]
    merged: int = 0

    def highest(self, name: str) -> Value:
        """The highest value of a series; None if it has none."""
        known = [value for value in self.values[name] if value is not None]
        return max(known, default=None)

    def first(self, name: str) -> int | None:
        """Of the steps with a value above 0 the first; None if there is none."""
        places = (at for at, value in enumerate(self.values[name]) if value)
        return next(places, None)


def steps(
    rows: Callable[[], Iterable[Row]],
    count: int,
    names: Sequence[str],
    event: str,
    columns_max: int = COLUMNS_MAX,
) -> Steps:
    """Steps of rows with ``from_us`` and ``to_us`` that do not overlap, in any order.

    ``rows`` gives them as often as it is called, and ``count`` is how many there are: of many, no
    more than the columns are held. ``names`` are the columns of values, the gravest first, which
    decide whose event stands for a column of several; ``event`` is the column with its number.
    """
    if count <= columns_max:
        return _each(sorted(rows(), key=lambda row: (row["from_us"], row["to_us"])), names, event)
    end = max(row["to_us"] for row in rows())
    return _merged(rows(), names, event, max(1, end), columns_max)


def _each(rows: Sequence[Row], names: Sequence[str], event: str) -> Steps:
    made = _Making(names)
    end = 0
    for row in rows:
        if row["from_us"] > end:
            made.add(end, None, None)
        made.add(row["from_us"], [row[name] for name in names], row[event])
        end = row["to_us"]
    return made.steps(end)


def _merged(rows: Iterable[Row], names: Sequence[str], event: str, end: int, columns: int) -> Steps:
    highest: list[list[Any] | None] = [None] * columns
    gravest: list[tuple[list[Any], int, int | None] | None] = [None] * columns
    count = 0
    for row in rows:
        count += 1
        values = [row[name] for name in names]
        rank = (values, -row["from_us"], row[event])
        first = min(row["from_us"] * columns // end, columns - 1)
        last = min(max(first, (row["to_us"] * columns - 1) // end), columns - 1)
        for column in range(first, last + 1):
            held, before = highest[column], gravest[column]
            highest[column] = values if held is None else list(map(max, held, values))
            if before is None or rank[:2] > before[:2]:
                gravest[column] = rank
    made = _Making(names)
    for column, held in enumerate(highest):
        rank_of = gravest[column]
        made.add(column * end // columns, held, None if rank_of is None else rank_of[2])
    return made.steps(end, count)


class _Making:
    """Steps while they are put together; one that changes nothing is left out."""

    def __init__(self, names: Sequence[str]) -> None:
        self._names = names
        self._begins: list[int] = []
        self._values: list[list[Any] | None] = []
        self._events: list[int | None] = []

    def add(self, begin: int, values: list[Any] | None, event: int | None) -> None:
        if self._values and self._values[-1] == values:
            return
        self._begins.append(begin)
        self._values.append(values)
        self._events.append(event)

    def steps(self, end: int, merged: int = 0) -> Steps:
        by_name = {
            name: [None if row is None else row[at] for row in self._values]
            for at, name in enumerate(self._names)
        }
        return Steps(self._begins, end, by_name, self._events, merged)
