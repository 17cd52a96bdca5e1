"""Values over time as steps: no more than a chart can show, without losing any outage.

A session may have a hundred thousand changes, and a chart has a thousand columns of pixels. Where
there are more changes than columns, a column takes the highest value of each series in its time, so
that whatever happened is still to be seen, if only as wide as a column.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Final

from msgspec import Struct

COLUMNS_MAX: Final = 1_200
"""How many steps a chart has at most: about as many as its pixels."""

Value = int | float | None
Rows = Callable[[], Iterable[tuple[int, ...]]]
"""Gives rows as often as it is called: from, to (in us), the number of an event, and values."""


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
        values = [value for value in self.values[name] if value is not None]
        return max(values, default=None)

    def first(self, name: str) -> int | None:
        """The first step with a value above 0; None if there is none."""
        indexes = (at for at, value in enumerate(self.values[name]) if value)
        return next(indexes, None)


def steps(rows: Rows, count: int, names: Sequence[str], columns_max: int = COLUMNS_MAX) -> Steps:
    """Steps of ``count`` rows that do not overlap, in any order; of many, few are held.

    ``names`` are those of the values, the gravest first: they decide whose event stands for a
    column that has several.
    """
    if count <= columns_max:
        return _all_steps(sorted(rows()), names)
    end = max(row[1] for row in rows())
    return _merged(rows(), names, max(1, end), columns_max)


def _all_steps(rows: Sequence[tuple[int, ...]], names: Sequence[str]) -> Steps:
    making = _Making(names)
    end = 0
    for begin, stop, event, *values in rows:
        if begin > end:
            making.add(end, None, None)
        making.add(begin, values, event)
        end = stop
    return making.steps(end)


class _Column:
    """The rows in a column: the highest of each value, and the most severe row."""

    __slots__ = ("begin", "event", "gravest", "highest")

    def __init__(self) -> None:
        self.highest: list[int] | None = None
        self.gravest: tuple[int, ...] = ()
        self.begin = 0
        self.event: int | None = None

    def add(self, row: tuple[int, ...]) -> None:
        """Add a row; the first of several equally severe rows counts."""
        values, begin = row[3:], row[0]
        if self.highest is None:
            self.highest = list(values)
        elif values != self.gravest:
            self.highest = [max(pair) for pair in zip(self.highest, values, strict=True)]
        if values > self.gravest or (values == self.gravest and begin < self.begin):
            self.gravest, self.begin, self.event = values, begin, row[2]


def _merged(
    rows: Iterable[tuple[int, ...]], names: Sequence[str], end: int, columns_max: int
) -> Steps:
    columns = [_Column() for _ in range(columns_max)]
    count = 0
    for row in rows:
        count += 1
        first = min(row[0] * columns_max // end, columns_max - 1)
        last = min(max(first, (row[1] * columns_max - 1) // end), columns_max - 1)
        for at in range(first, last + 1):
            columns[at].add(row)
    making = _Making(names)
    for at, column in enumerate(columns):
        making.add(at * end // columns_max, column.highest, column.event)
    return making.steps(end, count)


class _Making:
    """Builds steps; a step that changes nothing is omitted."""

    def __init__(self, names: Sequence[str]) -> None:
        self._names = names
        self._begins: list[int] = []
        self._values: list[list[int] | None] = []
        self._events: list[int | None] = []

    def add(self, begin: int, values: list[int] | None, event: int | None) -> None:
        if self._values and self._values[-1] == values:
            return
        self._begins.append(begin)
        self._values.append(values)
        self._events.append(event)

    def steps(self, end: int, merged: int = 0) -> Steps:
        by_name: dict[str, list[Value]] = {
            name: [None if row is None else row[at] for row in self._values]
            for at, name in enumerate(self._names)
        }
        return Steps(self._begins, end, by_name, self._events, merged)
