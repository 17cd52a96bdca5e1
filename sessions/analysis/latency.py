"""The job ``latency``: commit latency, its distribution, and HW lag over time."""

from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from sessions.analysis.commit_latency import commit_latency, hw_lag, latencies, latency_by_release
from sessions.analysis.hw_lag import hw_lag_timeline
from sessions.analysis.job import ACKS, Job, Result, in_ms, rounded, shown
from sessions.analysis.results.latency import (
    COMMIT_LATENCY,
    HW_LAG,
    HW_LAG_TIMELINE,
    LATENCIES,
    LATENCY,
    LATENCY_HISTOGRAM,
)
from sessions.analysis.tables import DatasetTables
from sessions.dataset.schema import SESSION


def latency_histogram(source: DatasetTables) -> DataFrame:
    """Return the table :data:`LATENCY_HISTOGRAM`: records by latency, four buckets per octave.

    Each microsecond below 4 us is a bucket of its own.
    """
    times = source.result(LATENCIES).where("us is not null")
    shift = F.greatest(F.length(F.bin("us")) - 3, F.lit(0)).alias("shift")
    grouped = times.select("*", shift).selectExpr(
        "*",
        "shiftleft(shiftright(us, shift), shift) AS from_us",
        "shiftleft(shiftright(us, shift) + 1, shift) AS to_us",
    )
    return (
        grouped.groupBy(SESSION, "what", "acks", "from_us", "to_us")
        .agg(F.sum("records").alias("records"), F.min("example_seq").alias("example_seq"))
        .select(*LATENCY_HISTOGRAM.names)
    )


JOB: Final = Job(
    "latency",
    "how long did records take to be committed and acknowledged, and how far did the HW lag?",
    (
        Result(
            COMMIT_LATENCY,
            commit_latency,
            "Commit latency by partition and acks",
            shown(
                session=SESSION,
                partition="tp",
                acks=ACKS,
                records="records",
                committed="commit_n",
                commit_p50_ms=in_ms("commit_p50_us"),
                p95_ms=in_ms("commit_p95_us"),
                p99_ms=in_ms("commit_p99_us"),
                max_ms=in_ms("commit_max_us"),
                slowest_sent_at="slowest_seq",
                acknowledged="ack_n",
                ack_p99_ms=in_ms("ack_p99_us"),
            ),
            ("commit_p99_us",),
            (SESSION, "topic", "partition", "acks"),
        ),
        Result(LATENCIES, latencies, "Records by latency"),
        Result(
            LATENCY,
            latency_by_release,
            "Commit latency by release and acks",
            shown(
                version="version",
                mode="mode",
                acks=ACKS,
                sessions="sessions",
                records="records",
                committed="commit_n",
                commit_p50_ms=in_ms("commit_p50_us"),
                p95_ms=in_ms("commit_p95_us"),
                p99_ms=in_ms("commit_p99_us"),
                acknowledged="ack_n",
                ack_p50_ms=in_ms("ack_p50_us"),
                ack_p99_ms=in_ms("ack_p99_us"),
            ),
            (),
            ("version", "mode", "acks"),
        ),
        Result(
            HW_LAG,
            hw_lag,
            "HW lag by partition",
            shown(
                session=SESSION,
                partition="tp",
                HW_lag_mean=rounded("hw_lag_mean", 3),
                HW_lag_max="hw_lag_max",
                at_event="hw_lag_max_seq",
                longest_ms=in_ms("hw_lag_longest_us"),
                fetch_rounds=rounded("rounds_mean", 2),
            ),
            ("hw_lag_max", "hw_lag_mean"),
            (SESSION, "topic", "partition"),
        ),
        Result(LATENCY_HISTOGRAM, latency_histogram, "Distribution of latencies"),
        Result(HW_LAG_TIMELINE, hw_lag_timeline, "HW lag over time"),
    ),
)
