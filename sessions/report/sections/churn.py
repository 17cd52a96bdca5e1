"""How often ISRs changed."""

from typing import Final

from sessions.analysis.results.cluster import ISR_CHURN
from sessions.analysis.results.reading import DOWN, UP, Row
from sessions.report.bars import Bar, Part, bars
from sessions.report.markup import Element
from sessions.report.parts import BARS_MAX, ROWS_MAX, Material, Section, figure, section
from sessions.report.tables import At, TableColumns, table
from sessions.report.units import number_text
from sessions.text import plural

ORDER: Final = (("changes", DOWN), ("shrinks", DOWN), ("session", UP), ("tp", UP))
SHOWN: Final = TableColumns(
    ISR_CHURN,
    "Partitions, the most changes of the ISR first",
    {
        "session": "session",
        "partition": "tp",
        "changes": "changes",
        "shrinks": At("shrinks", "last_shrink_seq"),
        "expands": "expands",
        "by the controller": "by_controller",
        "smallest ISR": "size_min",
        "mean ISR": "size_mean",
        "most often left out": "restless",
        "how often": "restless_shrinks",
    },
)
LEGEND: Final = [("shrinks", "shrinks: a replica left out"), ("expands", "expands: one taken in")]


def churn(material: Material) -> Element:
    """The partitions whose ISR changed most."""
    rows = material.results.top(ISR_CHURN, ORDER, ROWS_MAX)
    drawn = [_bar(row) for row in rows if row["shrinks"] + row["expands"]][:BARS_MAX]
    plot = bars(drawn, "shrinks and expands", number_text) if drawn else None
    return section(
        "churn",
        "ISR churn",
        "Changes of the in-sync replicas in the state znode, in the partitions with the most.",
        figure("Changes of the ISR", plot, LEGEND) if plot is not None else None,
        table(SHOWN, rows, material.results.count(ISR_CHURN)),
    )


def _bar(row: Row) -> Bar:
    """``changes`` is no sum of the two: some changes leave one replica out and take another in."""
    parts = [
        Part(kind, row[kind], plural(row[kind], kind.removesuffix("s")))
        for kind in ("shrinks", "expands")
        if row[kind]
    ]
    note = ", ".join(part.text for part in parts)
    return Bar(row["session"], row["tp"], parts, note, row["last_shrink_seq"])


SECTION: Final = Section(churn, (ISR_CHURN,), place=60)
