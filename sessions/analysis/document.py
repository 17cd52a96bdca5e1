"""docs/analysis.md: the results of analysis, rendered from their declarations."""

from typing import Final

from sessions.analysis.results.availability import AVAILABILITY, AVAILABILITY_TIMELINE, OUTAGES
from sessions.analysis.results.cluster import (
    CONTROLLER_STEPS,
    CONTROLLER_WORK,
    ISR_CHURN,
    LEADER_BALANCE,
)
from sessions.analysis.results.failover import FAILOVER, FAILOVERS
from sessions.analysis.results.latency import COMMIT_LATENCY, HW_LAG_TIMELINE, LATENCY_HISTOGRAM
from sessions.analysis.results.truth import (
    ANOMALIES,
    ANOMALY_COUNTS,
    DURABILITY,
    DURABILITY_RECORDS,
    REPLAY,
    REPLAY_DIFFERENCES,
)
from sessions.dataset.document import page
from sessions.dataset.schema import Table

HEAD: Final = """\
# Analysis

`tidegauge analyze DATASET --out DIR` runs Spark jobs over all sessions of
[the dataset](dataset.md). Each result is a folder of Parquet files, `DIR/TABLE`, described below;
its worst rows are shown in the terminal. `--master` names a Spark master (this machine,
`local[*]`, if left out), `--remote` a Spark Connect server (`sc://HOST:PORT`); both must see the
two folders under the same paths. `--job` chooses jobs; all of them run if it is left out.

- Times are virtual, in microseconds (`us`); `event` is the number of an event in its session.
- A percentile P is the smallest value that at least P percent of the values do not exceed, so it
  is always a value that occurred; it is exact.
- *Commit* of a record is the moment at which the HW of a leader first passed it.
- *HW lag* is LEO - HW on the leader: what is written and not yet committed.
- A *fetch round* of a record is a fetch by which an in-sync follower wrote something to its log
  between the record's append on the leader and its commit. In the normal flow there is one a
  follower: the fetch that brings the record; the next one tells the leader, which commits.
- A column without a meaning for null always has a value.

This page is rendered from the declarations (`python -m sessions.analysis > docs/analysis.md`).
"""

RESULTS: Final[dict[str, tuple[Table, ...]]] = {
    "availability": (OUTAGES, AVAILABILITY, AVAILABILITY_TIMELINE),
    "failover": (FAILOVERS, FAILOVER),
    "latency": (COMMIT_LATENCY, LATENCY_HISTOGRAM, HW_LAG_TIMELINE),
    "isr": (ISR_CHURN,),
    "durability": (DURABILITY_RECORDS, DURABILITY),
    "leaders": (LEADER_BALANCE,),
    "controller": (CONTROLLER_WORK, CONTROLLER_STEPS),
    "anomalies": (ANOMALIES, ANOMALY_COUNTS),
    "replay": (REPLAY, REPLAY_DIFFERENCES),
}
"""The jobs by name, and the tables that each one writes."""


def analysis_page() -> str:
    """docs/analysis.md as Markdown."""
    lines = ["| job | tables |", "|--|--|"]
    for job, tables in RESULTS.items():
        names = ", ".join(f"[`{table.name}`](#{table.name})" for table in tables)
        lines.append(f"| `{job}` | {names} |")
    head = "\n".join((HEAD, *lines, ""))
    return page(head, tuple(table for tables in RESULTS.values() for table in tables))
