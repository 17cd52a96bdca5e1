"""Look back and ahead along events.

For a frame that extends to the end of its group, Spark recomputes each row, in quadratic time; so
looking ahead is done in reverse order, looking back.
"""

from collections.abc import Sequence

from pyspark.sql import Column, Window
from pyspark.sql import functions as F
from pyspark.sql.window import WindowSpec


def in_order(keys: Sequence[str], order: str = "seq") -> WindowSpec:
    """Return a window over the rows of a group, in order."""
    return Window.partitionBy(*keys).orderBy(order)


def earlier(keys: Sequence[str], order: str = "seq", now: int = -1) -> WindowSpec:
    """Return a window over a group's rows before this one; with ``now`` 0 including this one."""
    line = Window.partitionBy(*keys).orderBy(order)
    return line.rowsBetween(Window.unboundedPreceding, now)


def later(keys: Sequence[str], order: str = "seq", now: int = -1) -> WindowSpec:
    """Return a window over the rows after this one, last first; ``now`` 0 includes this one."""
    line = Window.partitionBy(*keys).orderBy(F.desc(order))
    return line.rowsBetween(Window.unboundedPreceding, now)


def nearest(value: Column | str, frame: WindowSpec) -> Column:
    """Return the nearest non-null value to this row, in a frame of either function above."""
    return F.last(value, ignorenulls=True).over(frame)


def farthest(value: Column | str, frame: WindowSpec) -> Column:
    """Return the farthest non-null value from this row, in a frame of either function above."""
    return F.first(value, ignorenulls=True).over(frame)
