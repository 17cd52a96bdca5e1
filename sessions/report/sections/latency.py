"""How long records took to be committed."""

from typing import Final

from sessions.analysis.results.latency import COMMIT_LATENCY, LATENCY_HISTOGRAM
from sessions.analysis.results.reading import DOWN, UP, Row
from sessions.report.charts import Axis, columns
from sessions.report.markup import Element
from sessions.report.parts import ROWS_MAX, Material, figure, section
from sessions.report.tables import ACKS, Shown, table
from sessions.report.units import number_text, time_text, whole_marks

ORDER: Final = (("commit_p99_us", DOWN), ("commit_max_us", DOWN), ("session", UP), ("tp", UP))
SHOWN: Final = Shown(
    COMMIT_LATENCY,
    {
        "session": "session",
        "partition": "tp",
        "acks": "acks",
        "records": "records",
        "committed": "committed",
        "commit p50": "commit_p50_us",
        "p95": "commit_p95_us",
        "p99": "commit_p99_us",
        "longest": "commit_max_us",
        "sent at": "slowest_seq",
        "ack p50": "ack_p50_us",
        "ack p99": "ack_p99_us",
    },
)
WHAT: Final = {"commit": "from sending to commit", "ack": "from sending to acknowledgement"}
LABELS_MAX: Final = 10
"""How many columns have their time below."""


def latency(of: Material) -> Element:
    """How many records took how long, over all sessions; the slowest partitions."""
    sums = of.results.sums(LATENCY_HISTOGRAM, ["what", "acks", "from_us", "to_us"], "records")
    kinds = dict.fromkeys((row["what"], row["acks"]) for row in sums)
    rows = of.results.top(COMMIT_LATENCY, ORDER, ROWS_MAX)
    return section(
        "latency",
        "Commit latency",
        "How long records took, over all sessions: a column is a quarter of a power of two wide. "
        "Below, the partitions that took longest.",
        *(_figure(what, acks, sums) for what, acks in sorted(kinds, key=_place)),
        table(SHOWN, rows, of.origins, of.results.count(COMMIT_LATENCY)),
    )


def _place(kind: tuple[str, int]) -> tuple[int, int]:
    """Commits first, the safest way to produce first."""
    what, acks = kind
    return list(WHAT).index(what), acks


def _figure(what: str, acks: int, sums: list[Row]) -> Element:
    chosen = [row for row in sums if (row["what"], row["acks"]) == (what, acks)]
    filled = _without_holes(chosen)
    every = -(-len(filled) // LABELS_MAX)
    values = [
        (
            time_text(begin) if at % every == 0 else "",
            records,
            f"{time_text(begin)} to {time_text(end)}",
        )
        for at, (begin, end, records) in enumerate(filled)
    ]
    total = sum(row["records"] for row in chosen)
    up = Axis(whole_marks(max(row["records"] for row in chosen)), number_text)
    title = f"acks={ACKS.get(acks, str(acks))}: {WHAT.get(what, what)}, {total:,} records"
    return figure(title, columns(values, up, what, title))


def _without_holes(rows: list[Row]) -> list[tuple[int, int, int]]:
    """Begin, end and records of each column, also of those without records."""
    found: list[tuple[int, int, int]] = []
    for row in rows:
        while found and found[-1][1] < row["from_us"]:
            begin = found[-1][1]
            width = begin // 4 if begin.bit_count() == 1 else begin - found[-1][0]
            found.append((begin, min(begin + max(1, width), row["from_us"]), 0))
        found.append((row["from_us"], row["to_us"], row["records"]))
    return found
