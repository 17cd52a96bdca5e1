"""What happened between a leader's failure and the next one's service."""

from typing import Final

from sessions.analysis.results.failover import FAILOVER, FAILOVERS
from sessions.analysis.results.reading import DOWN, UP, Row
from sessions.report.bars import Bar, Part, bars
from sessions.report.markup import Element
from sessions.report.parts import BARS_MAX, ROWS_MAX, Material, Section, figure, section
from sessions.report.tables import At, TableColumns, table
from sessions.report.units import time_text

ORDER: Final = (("total_us", DOWN), ("session", UP), ("tp", UP), ("fault_seq", UP))
UNKNOWN: Final = "rest"
PHASES: Final = {
    "detection": "until the controller knew of it",
    "election": "until the controller chose a leader",
    "takeover": "until a broker acted as leader",
}
SHOWN: Final = TableColumns(
    FAILOVERS,
    "Failovers, the slowest first",
    {
        "session": "session",
        "partition": "tp",
        "broker": "broker",
        "fault": At("fault", "fault_seq"),
        "at": "fault_us",
        "detection": At("detection_us", "detected_seq"),
        "election": At("election_us", "elected_seq"),
        "takeover": At("takeover_us", "serving_seq"),
        "total": "total_us",
        "new leader": "leader",
        "strategy": "strategy",
        "outcome": "outcome",
    },
    "fault_us",
    "serving_us",
)
BY_KIND: Final = TableColumns(
    FAILOVER,
    "Failovers by release and fault, over all sessions",
    {
        "release": "version",
        "mode": "mode",
        "fault": "fault",
        "was controller": "was_controller",
        "failovers": "failovers",
        "with a new leader": "served",
        "returned": "returned",
        "moved": "moved",
        "unclean": "unclean",
        "detections": "detection_n",
        "detection p50": "detection_p50_us",
        "elections": "election_n",
        "election p50": "election_p50_us",
        "takeovers": "takeover_n",
        "takeover p50": "takeover_p50_us",
        "totals": "total_n",
        "total p50": "total_p50_us",
        "total p95": "total_p95_us",
        "total p99": "total_p99_us",
        "slowest": "total_max_us",
        "slowest in": At("slowest_session", "slowest_seq"),
    },
)


def failover(material: Material) -> Element:
    """The slowest failovers, phase by phase; percentiles by release and fault."""
    import pyarrow.compute as pc

    rows = material.results.top(FAILOVERS, ORDER, ROWS_MAX)
    # When a leader of a real cluster served is not known: such a failover is in the table alone.
    is_whole = (pc.field("outcome") == "failed over") & pc.field("total_us").is_valid()
    ended = material.results.top(FAILOVERS, ORDER, BARS_MAX, is_whole)
    drawn = [_bar(row) for row in ended]
    kinds = material.results.top(
        FAILOVER, (("version", UP), ("mode", UP), ("fault", UP), ("was_controller", UP)), ROWS_MAX
    )
    legend = [(phase, f"{phase}: {meaning}") for phase, meaning in PHASES.items()]
    if any(part.kind == UNKNOWN for bar in drawn for part in bar.parts):
        legend.append((UNKNOWN, "phases that cannot be told apart"))
    axis = "virtual time since the fault"
    return section(
        "failover",
        "Failover",
        "From a leader's failure to the service of the next one: the slowest failovers phase by "
        "phase, then all of them by release and fault. A leader that returned in time was only "
        "away: that is no failover.",
        figure("The slowest failovers", bars(drawn, axis, time_text), legend) if drawn else None,
        table(SHOWN, rows, material.results.count(FAILOVERS)),
        table(BY_KIND, kinds, material.results.count(FAILOVER)),
    )


def _bar(row: Row) -> Bar:
    phases = [
        Part(phase, row[f"{phase}_us"], f"{phase} {time_text(row[f'{phase}_us'])}")
        for phase in PHASES
        if row[f"{phase}_us"] is not None
    ]
    unknown_us = row["total_us"] - sum(part.length for part in phases)
    if unknown_us > 0:
        phases.append(
            Part(UNKNOWN, unknown_us, f"phases that cannot be told apart {time_text(unknown_us)}")
        )
    note = time_text(row["total_us"])
    return Bar(row["session"], row["tp"], phases, note, row["fault_seq"], row["fault_us"])


SECTION: Final = Section(failover, (FAILOVERS, FAILOVER), place=30)
