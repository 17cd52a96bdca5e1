"""Whether the events alone build the state that was recorded."""

from typing import Final

from sessions.analysis.results.reading import DOWN, UP
from sessions.analysis.results.truth import REPLAY
from sessions.report.markup import Element
from sessions.report.parts import ROWS_MAX, Material, Section, section
from sessions.report.tables import TableColumns, table
from sessions.text import plural

REPLAYED: Final = TableColumns(
    REPLAY,
    "Sessions, those with differences first",
    {
        "session": "session",
        "equal": "equal",
        "differences": "differences",
        "events": "events",
        "partitions": "partitions",
        "replicas": "replicas",
        "znodes": "znodes",
    },
)


def replay(material: Material) -> Element:
    """Whether the state that Spark builds from events alone is the recorded one."""
    import pyarrow.compute as pc

    order = (("differences", DOWN), ("session", UP))
    rows = material.results.top(REPLAY, order, ROWS_MAX)
    equal = material.results.count(REPLAY, pc.field("equal"))
    count = material.results.count(REPLAY)
    return section(
        "replay",
        "Replay",
        "The final state was built again from the events alone. It equals the recorded one in "
        f"{equal:,} of {plural(count, 'session')}.",
        table(REPLAYED, rows, count),
    )


SECTION: Final = Section(replay, (REPLAY,), place=110)
