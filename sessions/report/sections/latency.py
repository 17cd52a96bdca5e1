"""How long records took to be committed."""

from itertools import pairwise
from typing import Final

from sessions.analysis.results.latency import COMMIT_LATENCY, LATENCY, LATENCY_HISTOGRAM
from sessions.analysis.results.reading import DOWN, UP, Row
from sessions.report.charts import Chart, Series, chart
from sessions.report.markup import Element, element
from sessions.report.parts import ROWS_MAX, Material, Section, section
from sessions.report.tables import ACKS, At, TableColumns, table
from sessions.report.units import time_text

ORDER: Final = (("commit_p99_us", DOWN), ("commit_max_us", DOWN), ("session", UP), ("tp", UP))
SHOWN: Final = TableColumns(
    COMMIT_LATENCY,
    "Partitions, the slowest first",
    {
        "session": "session",
        "partition": "tp",
        "acks": "acks",
        "records": "records",
        "committed": "committed",
        "commit p50": "commit_p50_us",
        "commit p95": "commit_p95_us",
        "commit p99": "commit_p99_us",
        "longest commit": At("commit_max_us", "slowest_seq"),
        "acknowledged": "acked",
        "ack p50": "ack_p50_us",
        "ack p95": "ack_p95_us",
        "ack p99": "ack_p99_us",
        "longest ack": "ack_max_us",
    },
)
BY_WAY: Final = TableColumns(
    LATENCY,
    "Latency by release and acks, over all sessions",
    {
        "release": "version",
        "mode": "mode",
        "acks": "acks",
        "sessions": "sessions",
        "records": "records",
        "commits": "commit_n",
        "commit p50": "commit_p50_us",
        "commit p95": "commit_p95_us",
        "commit p99": "commit_p99_us",
        "longest commit": "commit_max_us",
        "acks received": "ack_n",
        "ack p50": "ack_p50_us",
        "ack p95": "ack_p95_us",
        "ack p99": "ack_p99_us",
        "longest ack": "ack_max_us",
        "slowest in": At("slowest_session", "slowest_seq"),
    },
)
WHAT: Final = {"commit": "from sending to commit", "ack": "from sending to acknowledgement"}


def latency(material: Material) -> Element:
    """How many records took how long, over all sessions; the slowest partitions."""
    sums = material.results.sums(
        LATENCY_HISTOGRAM,
        ["what", "acks", "from_us", "to_us"],
        "records",
        ["session", "example_seq"],
    )
    kinds = dict.fromkeys((row["what"], row["acks"]) for row in sums)
    rows = material.results.top(COMMIT_LATENCY, ORDER, ROWS_MAX)
    order = (("version", UP), ("mode", UP), ("acks", UP))
    releases = material.results.top(LATENCY, order, ROWS_MAX)
    return section(
        "latency",
        "Commit latency",
        "How many records took how long, over all sessions: a step is a quarter of a power of two "
        "wide. Below, the partitions whose records took longest, and percentiles by release.",
        element(
            "div",
            *(_figure(what, acks, sums) for what, acks in sorted(kinds, key=_sort_key)),
            class_="pairs",
        ),
        table(SHOWN, rows, material.results.count(COMMIT_LATENCY)),
        table(BY_WAY, releases, material.results.count(LATENCY)),
    )


def _sort_key(kind: tuple[str, int]) -> tuple[int, int]:
    """Commits first, the safest way to produce first."""
    event, acks = kind
    return list(WHAT).index(event), acks


def _figure(event: str, acks: int, sums: list[Row]) -> Element:
    chosen = [row for row in sums if (row["what"], row["acks"]) == (event, acks)]
    filled = _without_gaps(chosen)
    drawn = Chart(
        "latency",
        [row["from_us"] for row in filled],
        filled[-1]["to_us"],
        "records",
        [Series(event, "records", [row["records"] for row in filled])],
        [row["session"] for row in filled],
        [row["example_seq"] for row in filled],
    )
    total = sum(row["records"] for row in chosen)
    usual = max(chosen, key=lambda row: row["records"])
    summary = (
        f"{total:,} records took {time_text(chosen[0]['from_us'])} to "
        f"{time_text(chosen[-1]['to_us'])}, most of them {time_text(usual['from_us'])} to "
        f"{time_text(usual['to_us'])}."
    )
    acks_text = ACKS.get(acks, str(acks))
    return chart(drawn, f"acks={acks_text}: time {WHAT.get(event, event)}", summary)


def _without_gaps(rows: list[Row]) -> list[Row]:
    """The groups with those between them that no record is in, as one each."""
    nothing = {"records": 0, "session": None, "example_seq": None}
    filled = rows[:1]
    for before, row in pairwise(rows):
        if before["to_us"] < row["from_us"]:
            filled.append({"from_us": before["to_us"], "to_us": row["from_us"], **nothing})
        filled.append(row)
    return filled


SECTION: Final = Section(latency, (COMMIT_LATENCY, LATENCY_HISTOGRAM), place=40)
