"""The part of a query's filters by which sessions, types and chunks need not be read.

Spark evaluates every filter again, so what is left out here only saves time.
"""

from collections.abc import Iterable
from typing import Any, Final

from msgspec import Struct

SESSION_COLUMN: Final = "session"
TYPE_COLUMN: Final = "type"
SEQ_COLUMN: Final = "seq"
TIME_COLUMN: Final = "time_us"
OPERATORS: Final = frozenset(
    {
        "EqualTo",
        "EqualNullSafe",
        "In",
        "GreaterThan",
        "GreaterThanOrEqual",
        "LessThan",
        "LessThanOrEqual",
        "StringStartsWith",
    }
)
"""The names of Spark's filters that are understood (``pyspark.sql.datasource``)."""


class Condition(Struct, frozen=True):
    """One filter on a column: the name of Spark's class, and the value (of ``In``: the values)."""

    column: str
    operator: str
    value: Any

    def may_hold(self, low: Any, high: Any) -> bool:  # noqa: ANN401 - numbers or texts
        """Return False only if no value from ``low`` to ``high`` (inclusive) fulfils it."""
        value = self.value
        match self.operator:
            case "EqualTo" | "EqualNullSafe":
                return bool(low <= value <= high)
            case "In":
                return any(low <= listed <= high for listed in value if listed is not None)
            case "GreaterThan":
                return bool(high > value)
            case "GreaterThanOrEqual":
                return bool(high >= value)
            case "LessThan":
                return bool(low < value)
            case "LessThanOrEqual":
                return bool(low <= value)
        return low != high or str(low).startswith(str(value))


class Conditions(Struct, frozen=True):
    """All filters of a query that are understood; a row fulfils each of them."""

    all: tuple[Condition, ...] = ()

    def may_hold(self, column: str, low: Any, high: Any = None) -> bool:  # noqa: ANN401 - as above
        """Return False only if no row has a value from ``low`` to ``high`` (None: ``low``)."""
        highest = low if high is None else high
        return all(item.may_hold(low, highest) for item in self.all if item.column == column)

    def name(self, column: str) -> bool:
        """Return whether one of them is about a column."""
        return any(item.column == column for item in self.all)


def conditions(filters: Iterable[Any]) -> Conditions:
    """Return what is understood of Spark's filters."""
    return Conditions(
        tuple(
            Condition(filter_.attribute[0], type(filter_).__name__, filter_.value)
            for filter_ in filters
            if type(filter_).__name__ in OPERATORS
            and len(filter_.attribute) == 1
            and filter_.value is not None
        )
    )
