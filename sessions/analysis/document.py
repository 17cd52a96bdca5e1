"""docs/analysis.md: the results of analysis, rendered from their declarations."""

from typing import Final

from sessions.analysis.jobs import JOBS
from sessions.dataset.document import page

HEAD: Final = """\
# Analysis

To analyse all sessions of [a dataset](dataset.md), run `tidegauge analyze DATASET --out DIR`. It
runs Spark jobs, prints the worst rows of each result, and writes each result to a folder of Parquet
files, `DIR/TABLE`. The tables are described below. By default all jobs run; choose some with
`--job`.

`DIR/report.html` is [one page](report.md) with charts and the worst rows, which needs no other
files. Click the number of an event to get the command that opens its session at that event.

Spark runs on this machine (`local[*]`) unless you name a Spark master with `--master`, or a Spark
Connect server (`sc://HOST:PORT`) with `--remote`. Both folders must have the same paths or URIs
there (`s3a://BUCKET/..`). `--conf spark.K=V` passes settings to Spark.

To ask Spark questions of your own, read sessions as [a data source](spark.md), without an export.

To use `spark-submit`, which accepts only Python files, run
`spark-submit --master URL .../site-packages/tidegauge/__main__.py analyze DATASET --out DIR`. The
master and the settings of `spark-submit` then apply, and the program's own `--master` is ignored.
Spark redirects the program's standard error to standard output, so the object of `--json` is the
last line.

If DIR contains an earlier analysis of the dataset, only the sessions added since then are analysed;
files without any of them are not opened. Tables over all sessions are computed again. If a session
has been replaced or removed since then, everything is computed again.

- Times are virtual, in microseconds (`us`). The unit `event` is the number of an event in its
  session.
- Percentiles are exact. A percentile P is the smallest value that at least P percent of the values
  do not exceed, so it is always one of the values.
- The number of values behind a percentile is in the column `.._n`.
- In KRaft mode the metadata log takes the place of the state znodes: read *state znode* as the
  partition's registration, its dataVersion as the partition epoch, and *controller epoch* as the
  quorum's.
- A partition is *leaderless* while no broker with a running process acts as its leader. A frozen
  broker does not count.
- A broker that thaws, or leads again after a restart, before another leader has been elected has
  *returned*. That is not a failover, and is counted separately. Nor is an election that leaves the
  leadership where it is (KRaft's controller raises the leader epoch when it shrinks an ISR), or one
  that somebody asked for (a reassignment, a preferred leader, a controlled shutdown).
- A broker that restarts before its old ZooKeeper session has expired cannot register until then.
  The session's end is the detection of its crash, not another fault.
- Records with acks=0 are never acknowledged: they count as `sent`, never as `acked` or `lost`.
- Records of a deleted topic, and records that retention deleted, are not lost. A topic that is
  created again by the same name is another topic.
- A record is *committed* when the HW of a leader first passes it.
- The *HW lag* is LEO - HW on the leader: the records that are written but not yet committed.
- A *fetch round* of a record is a fetch in which an in-sync follower wrote something to its log
  between the record's append on the leader and its commit. Normally there is one per follower: the
  fetch that copies the record. The next fetch tells the leader, which commits the record.
- A column without an entry under "null" is never null.

An example query follows each table. The queries use the tables' names. To define them in DuckDB,
run `CREATE VIEW outages AS SELECT * FROM 'DIR/outages/*.parquet'`; in Spark,
`spark.read.parquet("DIR/outages").createOrReplaceTempView("outages")`.

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
    return page("\n".join((HEAD, *lines, "")), tables)
