"""How far the HW was behind what was written."""

from typing import Final

from sessions.analysis.results.latency import HW_LAG, HW_LAG_TIMELINE
from sessions.analysis.results.reading import DOWN, UP, Row
from sessions.report.charts import Axis, Series, Step, timeline
from sessions.report.markup import Element
from sessions.report.parts import ROWS_MAX, Material, distinct, figure, section
from sessions.report.tables import Shown, table
from sessions.report.units import number_text, time_marks, time_text, whole_marks

ORDER: Final = (("hw_lag_max", DOWN), ("hw_lag_mean", DOWN), ("session", UP), ("tp", UP))
SHOWN: Final = Shown(
    HW_LAG,
    {
        "session": "session",
        "partition": "tp",
        "lag, at most": "hw_lag_max",
        "from": "hw_lag_max_seq",
        "mean": "hw_lag_mean",
        "longest above HW": "hw_lag_longest_us",
        "since": "hw_lag_longest_seq",
        "fetch rounds, mean": "rounds_mean",
        "at most": "rounds_max",
    },
)


def lag(of: Material) -> Element:
    """LEO - HW over time, of the partitions in which it was largest."""
    rows = of.results.top(HW_LAG, ORDER, ROWS_MAX)
    lagging = [row for row in rows if row["hw_lag_max"]]
    figures = [_figure(of, session, tp) for session, tp in distinct(lagging, "session", "tp")]
    return section(
        "lag",
        "HW lag",
        "Records above the high watermark of the leader (LEO - HW): written, and not yet "
        "committed; of the partitions in which there were most.",
        *figures,
        table(SHOWN, rows, of.origins, of.results.count(HW_LAG)),
    )


def _figure(of: Material, session: str, tp: str) -> Element | None:
    import pyarrow.compute as pc

    where = (pc.field("session") == session) & (pc.field("tp") == tp)
    rows = of.results.all(HW_LAG_TIMELINE, where, ["from_us"])
    if not rows:
        return None
    most = max(row["lag_max"] for row in rows)
    plot = timeline(
        [
            Series("most", "at most", _steps(rows, "lag_max")),
            Series("mean", "mean", _steps(rows, "lag_mean")),
        ],
        Axis(time_marks(rows[-1]["to_us"]), time_text),
        Axis(whole_marks(most), number_text),
        f"HW lag of {tp} in {session} over time",
    )
    legend = [("most", "at most, in each hundredth of the time"), ("mean", "mean")]
    return figure(f"{session}: {tp}, records above the HW", plot, legend=legend)


def _steps(rows: list[Row], name: str) -> list[Step]:
    return [Step(row["from_us"], row["to_us"], row[name]) for row in rows]
