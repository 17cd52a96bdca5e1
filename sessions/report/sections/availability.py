"""When partitions could not be used: over time, and for how long."""

from typing import Final

from sessions.analysis.results.availability import AVAILABILITY, AVAILABILITY_TIMELINE, KINDS
from sessions.analysis.results.reading import DOWN, UP, Row
from sessions.report.charts import Axis, Series, Step, timeline
from sessions.report.markup import Element
from sessions.report.parts import ROWS_MAX, Material, distinct, figure, section
from sessions.report.tables import Shown, table
from sessions.report.units import number_text, time_marks, time_text, whole_marks

ORDER: Final = (
    ("leaderless_us", DOWN),
    ("offline_us", DOWN),
    ("under_min_isr_us", DOWN),
    ("under_replicated_us", DOWN),
    ("session", UP),
    ("tp", UP),
)
SHOWN: Final = Shown(
    AVAILABILITY,
    {
        "session": "session",
        "partition": "tp",
        "served": "served_percent",
        "leaderless": "leaderless_us",
        "longest since": "leaderless_longest_seq",
        "offline": "offline_us",
        "since": "offline_longest_seq",
        "under min ISR": "under_min_isr_us",
        "since ": "under_min_isr_longest_seq",
        "under-replicated": "under_replicated_us",
        "since  ": "under_replicated_longest_seq",
    },
)
BACK_TO_FRONT: Final = ("under_replicated", "under_min_isr", "leaderless", "offline")


def availability(of: Material) -> Element:
    """How many partitions had what wrong with them, in the worst sessions; the worst partitions."""
    rows = of.results.top(AVAILABILITY, ORDER, ROWS_MAX)
    figures = [_figure(of, session) for (session,) in distinct(rows, "session")]
    count = of.results.count(AVAILABILITY)
    return section(
        "availability",
        "Availability",
        "Partitions that something was wrong with, over virtual time, in the worst sessions; "
        "below, the partitions that were longest without a leader at work.",
        *figures,
        table(SHOWN, rows, of.origins, count),
    )


def _figure(of: Material, session: str) -> Element | None:
    import pyarrow.compute as pc

    where = pc.field("session") == session
    rows = of.results.all(AVAILABILITY_TIMELINE, where, ["from_us"])
    if not rows:
        return None
    most = max(row["partitions"] for row in rows)
    across = Axis(time_marks(rows[-1]["to_us"]), time_text)
    plot = timeline(
        [Series(kind, kind.replace("_", " "), _steps(rows, kind)) for kind in BACK_TO_FRONT],
        across,
        Axis(whole_marks(most), number_text),
        f"partitions of {session} over time",
    )
    legend = [(kind, f"{kind.replace('_', ' ')}: {KINDS[kind]}") for kind in BACK_TO_FRONT]
    return figure(f"{session}: partitions, of {most:,}", plot, legend=legend)


def _steps(rows: list[Row], kind: str) -> list[Step]:
    return [Step(row["from_us"], row["to_us"], row[kind]) for row in rows]
