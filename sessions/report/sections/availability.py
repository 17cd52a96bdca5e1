"""When partitions could not be used: over time, and for how long."""

from typing import Final

from sessions.analysis.results.availability import AVAILABILITY, AVAILABILITY_TIMELINE, KINDS
from sessions.analysis.results.reading import DOWN, UP
from sessions.report.charts import Chart, Series, chart
from sessions.report.markup import Element
from sessions.report.parts import ROWS_MAX, Material, Section, distinct, section
from sessions.report.steps import Steps, steps
from sessions.report.tables import At, TableColumns, table
from sessions.report.units import clock_text, number_text, time_text

ORDER: Final = (
    ("leaderless_us", DOWN),
    ("offline_us", DOWN),
    ("under_min_isr_us", DOWN),
    ("under_replicated_us", DOWN),
    ("session", UP),
    ("tp", UP),
)
SHOWN: Final = TableColumns(
    AVAILABILITY,
    "Partitions, the longest without a leader first",
    {
        "session": "session",
        "partition": "tp",
        "existed": "existed_us",
        "with a leader": "served_percent",
        "leaderless": "leaderless_us",
        "longest": At("leaderless_longest_us", "leaderless_longest_seq"),
        "offline": "offline_us",
        "longest offline": At("offline_longest_us", "offline_longest_seq"),
        "under min ISR": "under_min_isr_us",
        "longest under min ISR": At("under_min_isr_longest_us", "under_min_isr_longest_seq"),
        "under-replicated": "under_replicated_us",
        "longest under-replicated": At(
            "under_replicated_longest_us", "under_replicated_longest_seq"
        ),
    },
)
GRAVEST_FIRST: Final = ("offline", "leaderless", "under_min_isr", "under_replicated")


def availability(material: Material) -> Element:
    """How many partitions had what wrong with them, in the worst sessions; the worst partitions."""
    rows = material.results.top(AVAILABILITY, ORDER, ROWS_MAX)
    figures = [_figure(material, session) for (session,) in distinct(rows, "session")]
    return section(
        "availability",
        "Availability",
        "How many partitions had something wrong with them, over virtual time, in the sessions "
        "with the worst of them; below, the partitions themselves.",
        *figures,
        table(SHOWN, rows, material.results.count(AVAILABILITY)),
    )


def _figure(material: Material, session: str) -> Element | None:
    import pyarrow.compute as pc

    where = pc.field("session") == session
    count = material.results.count(AVAILABILITY_TIMELINE, where)
    if not count:
        return None
    names = (*GRAVEST_FIRST, "partitions")
    columns = ("from_us", "to_us", "from_seq", *names)
    results = material.results
    timeline = steps(lambda: results.rows(AVAILABILITY_TIMELINE, where, columns), count, names)
    maximum = int(timeline.highest("partitions") or 0)
    drawn = Chart(
        "time",
        timeline.begins,
        timeline.end,
        "partitions",
        [
            Series(kind, _name(kind), timeline.values[kind], KINDS[kind])
            for kind in reversed(GRAVEST_FIRST)
        ],
        [session],
        timeline.events,
    )
    title = f"{session}: partitions with something wrong, of {maximum:,}"
    return chart(drawn, title, _summary(timeline), session)


def _name(kind: str) -> str:
    return {"under_min_isr": "under min ISR", "under_replicated": "under-replicated"}.get(
        kind, kind
    )


def _summary(timeline: Steps) -> str:
    sentences = []
    for kind in GRAVEST_FIRST:
        first = timeline.first(kind)
        if first is not None:
            highest = number_text(timeline.highest(kind))
            sentences.append(
                f"{_name(kind)}: at most {highest}, first at {clock_text(timeline.begins[first])}"
            )
    whole = f"{'; '.join(sentences) or 'nothing was wrong'}, in {time_text(timeline.end)}."
    if timeline.merged:
        whole += (
            f" Drawn from {timeline.merged:,} changes: where several fall into one step of the "
            "chart, it shows the highest values."
        )
    return whole[0].upper() + whole[1:]


SECTION: Final = Section(availability, (AVAILABILITY, AVAILABILITY_TIMELINE), place=20)
