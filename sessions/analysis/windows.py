"""Looking back and ahead along events.

Spark works out a frame that reaches to the end of its group anew for each row, in quadratic time;
so what lies ahead is looked at in reverse order, where it comes before.
"""

from collections.abc import Sequence

from pyspark.sql import Column, Window
from pyspark.sql import functions as F
from pyspark.sql.window import WindowSpec


def in_order(keys: Sequence[str], order: str = "seq") -> WindowSpec:
    """The rows of a group, in order."""
    return Window.partitionBy(*keys).orderBy(order)


def earlier(keys: Sequence[str], order: str = "seq", now: int = -1) -> WindowSpec:
    """The rows of a group before this one; with ``now`` 0 this one, too."""
    line = Window.partitionBy(*keys).orderBy(order)
    return line.rowsBetween(Window.unboundedPreceding, now)


def later(keys: Sequence[str], order: str = "seq", now: int = -1) -> WindowSpec:
    """The rows of a group after this one, the last first; with ``now`` 0 this one, too."""
    line = Window.partitionBy(*keys).orderBy(F.desc(order))
    return line.rowsBetween(Window.unboundedPreceding, now)


def nearest(value: Column | str, frame: WindowSpec) -> Column:
    """The value that is not null nearest to this row, in a frame of either function above."""
    return F.last(value, ignorenulls=True).over(frame)


def farthest(value: Column | str, frame: WindowSpec) -> Column:
    """The value that is not null farthest from this row, in a frame of either function above."""
    return F.first(value, ignorenulls=True).over(frame)
