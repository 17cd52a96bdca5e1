"""How far the HW was behind what was written."""

from typing import Final

from sessions.analysis.results.latency import HW_LAG, HW_LAG_TIMELINE
from sessions.analysis.results.reading import DOWN, UP
from sessions.report.charts import Chart, Series, chart
from sessions.report.markup import Element
from sessions.report.parts import ROWS_MAX, Material, Section, distinct, section
from sessions.report.steps import steps
from sessions.report.tables import At, TableColumns, table
from sessions.report.units import clock_text, number_text, time_text

ORDER: Final = (("hw_lag_max", DOWN), ("hw_lag_mean", DOWN), ("session", UP), ("tp", UP))
SHOWN: Final = TableColumns(
    HW_LAG,
    "Partitions by their HW lag",
    {
        "session": "session",
        "partition": "tp",
        "largest lag": At("hw_lag_max", "hw_lag_max_seq"),
        "mean lag": "hw_lag_mean",
        "with a leader for": "online_us",
        "longest above the HW": At("hw_lag_longest_us", "hw_lag_longest_seq"),
        "fetch rounds, mean": "rounds_mean",
        "most fetch rounds": "rounds_max",
    },
)
SERIES: Final = {
    "lag_max": ("most", "largest", "of each hundredth of the session's time"),
    "lag_mean": ("mean", "mean", "weighted by time"),
}


def lag(material: Material) -> Element:
    """LEO - HW over time, of the partitions in which it was largest."""
    rows = material.results.top(HW_LAG, ORDER, ROWS_MAX)
    lagging = [row for row in rows if row["hw_lag_max"]]
    figures = [_figure(material, session, tp) for session, tp in distinct(lagging, "session", "tp")]
    return section(
        "lag",
        "HW lag",
        "Records above the high watermark of the leader (LEO - HW), which are written and not yet "
        "committed, in the partitions with the most of them.",
        *figures,
        table(SHOWN, rows, material.results.count(HW_LAG)),
    )


def _figure(material: Material, session: str, tp: str) -> Element | None:
    import pyarrow.compute as pc

    where = (pc.field("session") == session) & (pc.field("tp") == tp)
    count = material.results.count(HW_LAG_TIMELINE, where)
    if not count:
        return None
    columns = ("from_us", "to_us", "lag_max_seq", *SERIES)
    results = material.results
    timeline = steps(lambda: results.rows(HW_LAG_TIMELINE, where, columns), count, tuple(SERIES))
    drawn = Chart(
        "time",
        timeline.begins,
        timeline.end,
        "records above the HW",
        [
            Series(kind, name, timeline.values[value], meaning)
            for value, (kind, name, meaning) in SERIES.items()
        ],
        [session],
        timeline.events,
    )
    first = timeline.first("lag_max")
    since = "" if first is None else f", first at {clock_text(timeline.begins[first])}"
    summary = (
        f"At most {number_text(timeline.highest('lag_max'))}{since}, in {time_text(timeline.end)}."
    )
    return chart(drawn, f"{session}, {tp}: HW lag", summary, session, tp)


SECTION: Final = Section(lag, (HW_LAG, HW_LAG_TIMELINE), place=50)
