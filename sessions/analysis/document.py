"""docs/analysis.md: the results of analysis, rendered from their declarations."""

from typing import Final

from sessions.analysis.examples import EXAMPLES
from sessions.analysis.jobs import JOBS
from sessions.dataset.document import page

HEAD: Final = """\
# Analysis

`tidegauge analyze DATASET --out DIR` runs Spark jobs over all sessions of
[the dataset](dataset.md). Each result is a folder of Parquet files, `DIR/TABLE`, described below;
its worst rows are shown in the terminal. `--master` names a Spark master (this machine,
`local[*]`, if left out), `--remote` a Spark Connect server (`sc://HOST:PORT`); both must see the
two folders under the same paths or URIs (`s3a://BUCKET/..`). `--conf spark.K=V` sets what Spark
knows. `--job` chooses jobs; all of them run if it is left out.

`spark-submit --master URL .../site-packages/tidegauge/__main__.py analyze DATASET --out DIR` runs
it inside `spark-submit`, which takes Python files only. There the submitter's master and settings
count, and a `--master` of the program does not. Spark puts the program's standard error on
standard output, so the object of `--json` is the last line.

`DIR/report.html` is [one page](report.md), made from these tables, that needs nothing else: charts,
the worst rows, and for the number of an event the command that opens its session there.

Where DIR has an earlier analysis of the dataset, the sessions that came since are analysed and
added; tables over all sessions are made anew. If a session has been replaced or removed since,
everything is.

- Times are virtual, in microseconds (`us`); `event` is the number of an event in its session.
- A percentile P is the smallest value that at least P percent of the values do not exceed, so it
  is always a value that occurred; it is exact.
- The number of values behind a percentile is beside it, in `.._n`.
- A partition is *leaderless* while no broker whose process runs acts as its leader; one that is
  frozen serves nobody.
- A broker that thaws, or leads on after a restart, before another leader was elected has
  *returned*: that is no failover, and counts apart.
- With acks=0 nobody acknowledges a record: such records are `sent`, never `acked` or `lost`.
- *Commit* of a record is the moment at which the HW of a leader first passed it.
- *HW lag* is LEO - HW on the leader: what is written and not yet committed.
- A *fetch round* of a record is a fetch by which an in-sync follower wrote something to its log
  between the record's append on the leader and its commit. In the normal flow there is one a
  follower: the fetch that brings the record; the next one tells the leader, which commits.
- A column without a meaning for null always has a value.

Below each table is a query that uses the tables' names: after
`CREATE VIEW outages AS SELECT * FROM 'DIR/outages/*.parquet'` DuckDB knows it, after
`spark.read.parquet("DIR/outages").createOrReplaceTempView("outages")` Spark does.

This page is rendered from the declarations (`python -m sessions.analysis > docs/analysis.md`).
"""


def analysis_page() -> str:
    """Render docs/analysis.md as Markdown."""
    lines = ["| job | question | tables |", "|--|--|--|"]
    for job in JOBS.values():
        names = (result.table.name for result in job.results)
        links = ", ".join(f"[`{name}`](#{name})" for name in names)
        lines.append(f"| `{job.name}` | {job.question} | {links} |")
    tables = tuple(result.table for job in JOBS.values() for result in job.results)
    return page("\n".join((HEAD, *lines, "")), tables, EXAMPLES)
