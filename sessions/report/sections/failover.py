"""What happened between a leader's failure and the next one's service."""

from typing import Final

from sessions.analysis.results.failover import FAILOVER, FAILOVERS
from sessions.analysis.results.reading import DOWN, UP, Row
from sessions.report.charts import Bar, bars
from sessions.report.charts import Row as Line
from sessions.report.markup import Element
from sessions.report.parts import ROWS_MAX, Material, figure, section
from sessions.report.tables import Shown, table
from sessions.report.units import time_text

ORDER: Final = (("total_us", DOWN), ("session", UP), ("tp", UP), ("fault_seq", UP))
PHASES: Final = {
    "detection": "until ZooKeeper dropped the broker",
    "election": "until the controller chose a leader",
    "takeover": "until a broker acted as leader",
}
SHOWN: Final = Shown(
    FAILOVERS,
    {
        "session": "session",
        "partition": "tp",
        "broker": "broker",
        "fault": "fault",
        "at": "fault_seq",
        "detection": "detection_us",
        "at ": "detected_seq",
        "election": "election_us",
        "at  ": "elected_seq",
        "takeover": "takeover_us",
        "at   ": "serving_seq",
        "in all": "total_us",
        "leader": "leader",
        "strategy": "strategy",
    },
)
BY_KIND: Final = Shown(
    FAILOVER,
    {
        "version": "version",
        "fault": "fault",
        "controller": "was_controller",
        "failovers": "failovers",
        "served": "served",
        "unclean": "unclean",
        "detection p50": "detection_p50_us",
        "election p50": "election_p50_us",
        "takeover p50": "takeover_p50_us",
        "in all p50": "total_p50_us",
        "p95": "total_p95_us",
        "p99": "total_p99_us",
        "longest": "total_max_us",
        "slowest in": "slowest_session",
        "at": "slowest_seq",
    },
)


def failover(of: Material) -> Element:
    """The slowest failovers, phase by phase; percentiles by release and fault."""
    rows = of.results.top(FAILOVERS, ORDER, ROWS_MAX)
    drawn = [_line(row) for row in rows if row["total_us"] is not None]
    plot = bars(drawn, time_text, "failovers, phase by phase") if drawn else None
    legend = list(PHASES.items())
    kinds = of.results.top(
        FAILOVER, (("version", UP), ("fault", UP), ("was_controller", UP)), ROWS_MAX
    )
    return section(
        "failover",
        "Failover",
        "From a leader's failure to the service of the next one: the slowest failovers, "
        "phase by phase; then all of them, by release and fault.",
        figure("The slowest failovers", plot, legend=legend) if plot is not None else None,
        table(SHOWN, rows, of.origins, of.results.count(FAILOVERS)),
        table(BY_KIND, kinds, of.origins, of.results.count(FAILOVER)),
    )


def _line(row: Row) -> Line:
    known = [
        Bar(phase, row[f"{phase}_us"], f"{phase}: {time_text(row[f'{phase}_us'])}, {meaning}")
        for phase, meaning in PHASES.items()
        if row[f"{phase}_us"] is not None
    ]
    left = row["total_us"] - sum(part.length for part in known)
    rest = (
        [Bar("rest", left, f"phases that cannot be told apart: {time_text(left)}")]
        if left > 0
        else []
    )
    return Line(f"{row['session']} {row['tp']}", [*known, *rest], time_text(row["total_us"]))
