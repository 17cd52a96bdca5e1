"""How often ISRs changed."""

from typing import Final

from sessions.analysis.results.cluster import ISR_CHURN
from sessions.analysis.results.reading import DOWN, UP
from sessions.report.charts import Bar, bars
from sessions.report.charts import Row as Line
from sessions.report.markup import Element
from sessions.report.parts import ROWS_MAX, Material, figure, section
from sessions.report.tables import Shown, table
from sessions.report.units import number_text

ORDER: Final = (("changes", DOWN), ("shrinks", DOWN), ("session", UP), ("tp", UP))
SHOWN: Final = Shown(
    ISR_CHURN,
    {
        "session": "session",
        "partition": "tp",
        "changes": "changes",
        "shrinks": "shrinks",
        "last at": "last_shrink_seq",
        "expands": "expands",
        "by the controller": "by_controller",
        "smallest ISR": "size_min",
        "mean": "size_mean",
        "restless replica": "restless",
        "left out": "restless_shrinks",
    },
)


def churn(of: Material) -> Element:
    """The partitions whose ISR changed most."""
    rows = of.results.top(ISR_CHURN, ORDER, ROWS_MAX)
    drawn = [
        Line(
            f"{row['session']} {row['tp']}",
            [
                Bar("shrinks", row["shrinks"], f"{row['shrinks']:,} shrinks"),
                Bar("expands", row["expands"], f"{row['expands']:,} expands"),
            ],
            number_text(row["shrinks"] + row["expands"]),
        )
        for row in rows
        if row["shrinks"] + row["expands"]
    ]
    legend = [("shrinks", "a replica left out"), ("expands", "a replica taken in")]
    plot = bars(drawn, number_text, "changes of ISRs") if drawn else None
    return section(
        "churn",
        "ISR churn",
        "Changes of in-sync replicas in the state znode, of the partitions with most.",
        figure("Changes of the ISR", plot, legend=legend) if plot is not None else None,
        table(SHOWN, rows, of.origins, of.results.count(ISR_CHURN)),
    )
