"""How long records took to be committed, and how far the HW lagged, for each partition.

*Commit latency* is the time from sending a record until the HW of a leader passed it. *HW lag* is
LEO - HW on the leader: what is written and not committed. A *fetch round* of a record is a fetch by
which an in-sync follower wrote something to its log, between the record's append on the leader and
its commit; in the normal flow there is one a follower, and the next fetch commits.
"""

from typing import TYPE_CHECKING, Final

from sessions.analysis.job import Job, Shown
from sessions.analysis.percentiles import percentiles
from sessions.analysis.source import Source
from sessions.dataset.schema import SESSION, Column, Table, partition_columns
from sessions.dataset.tables import PARTITION_STATES, PRODUCED, REPLICA_STATES

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

KEYS: Final = (SESSION, "tp")
NO_COMMIT = "no record was committed"
NO_ACK = "no record was acknowledged"
NEVER_LED = "never was a leader with a log"


def _percentile_columns(prefix: str, what: str, null: str) -> tuple[Column, ...]:
    marks = (
        ("p50", "median"),
        ("p95", "95th percentile"),
        ("p99", "99th percentile"),
        ("max", "longest"),
    )
    return tuple(
        Column(f"{prefix}_{mark}_us", "int64", "us", f"{word} of the time {what}", null)
        for mark, word in marks
    )


COMMIT_LATENCY: Final = Table(
    "commit_latency",
    "a partition of a session: how long its records took, and how far its HW lagged",
    "",
    (
        Column(SESSION, "string", "", "the session"),
        *partition_columns(),
        Column("records", "int64", "records", "produced to it"),
        Column("acked", "int64", "records", "acknowledged to their producer"),
        Column("failed", "int64", "records", "ended in an error for it"),
        Column("pending", "int64", "records", "had no answer when the session ended"),
        Column("committed", "int64", "records", "that the HW of a leader passed"),
        *_percentile_columns("commit", "from sending a record to its commit", NO_COMMIT),
        Column(
            "slowest_seq",
            "int64",
            "event",
            "ProduceSent of the record that took longest to commit",
            NO_COMMIT,
        ),
        *_percentile_columns("ack", "from sending a record to its acknowledgement", NO_ACK),
        Column("online_us", "int64", "us", "time with a leader that has a log"),
        Column(
            "hw_lag_mean",
            "double",
            "records",
            "LEO - HW on the leader, weighted by time",
            NEVER_LED,
        ),
        Column(
            "hw_lag_max", "int64", "records", "the most that LEO - HW was for any time", NEVER_LED
        ),
        Column("hw_lag_max_seq", "int64", "event", "from which event on it was that", NEVER_LED),
        Column(
            "rounds_mean",
            "double",
            "rounds",
            "fetch rounds a follower until commit, over records",
            NO_COMMIT,
        ),
        Column("rounds_max", "double", "rounds", "the most for any record", NO_COMMIT),
    ),
)


def commit_latency(source: Source) -> "DataFrame":
    """The table :data:`COMMIT_LATENCY`: a row for each partition that ever existed."""
    from pyspark.sql import functions as F

    states = source.table(PARTITION_STATES)
    produced = source.table(PRODUCED).withColumns(
        {
            "commit_us": F.col("committed_us") - F.col("sent_us"),
            "ack_us": F.when(F.col("outcome") == "acked", F.col("answered_us") - F.col("sent_us")),
        }
    )
    partitions = states.select(*KEYS, "topic", "partition").distinct()
    parts = (
        _counts(produced),
        percentiles(produced, KEYS, "commit_us", "commit", "us"),
        percentiles(produced, KEYS, "ack_us", "ack", "us"),
        _high_watermark_lag(states, source.sessions),
        _fetch_rounds(produced, states, source.table(REPLICA_STATES)),
    )
    whole = partitions
    for part in parts:
        whole = whole.join(part, list(KEYS), "left")
    counted = ("records", "acked", "failed", "pending", "committed", "online_us")
    return whole.fillna(0, counted).select(*COMMIT_LATENCY.names)


def _counts(produced: "DataFrame") -> "DataFrame":
    """How many records there were by outcome, and which was the slowest (the first of several)."""
    from pyspark.sql import functions as F

    outcomes = ("acked", "failed", "pending")
    slowest = F.max(
        F.when(
            F.col("commit_us").isNotNull(), F.struct("commit_us", (-F.col("sent_seq")).alias("s"))
        )
    )
    return produced.groupBy(*KEYS).agg(
        F.count("*").alias("records"),
        *(F.count_if(F.col("outcome") == outcome).alias(outcome) for outcome in outcomes),
        F.count("commit_us").alias("committed"),
        (-slowest["s"]).alias("slowest_seq"),
    )


def _high_watermark_lag(states: "DataFrame", sessions: "DataFrame") -> "DataFrame":
    """Mean and maximum of LEO - HW over the time in which there was a leader with a log.

    Sums are exact decimals: the product of an offset and a time in microseconds may exceed 64 bits,
    and floating-point sums would depend on the order of rows.
    """
    from pyspark.sql import functions as F

    ends = sessions.select(SESSION, F.col("time_us").alias("end_us"))
    held = states.where("hw is not null").join(F.broadcast(ends), SESSION)
    exact = "decimal(19,0)"
    lasting = held.select(
        *KEYS,
        "from_seq",
        (F.coalesce("to_us", "end_us") - F.col("from_us")).alias("lasted_us"),
        (F.col("leo") - F.col("hw")).alias("lag"),
    ).where("lasted_us > 0")
    weighted = F.sum(F.col("lag").cast(exact) * F.col("lasted_us").cast(exact)).cast("double")
    largest = F.max(F.struct("lag", (-F.col("from_seq")).alias("s")))
    return lasting.groupBy(*KEYS).agg(
        F.sum("lasted_us").alias("online_us"),
        (weighted / F.sum("lasted_us")).alias("hw_lag_mean"),
        F.max("lag").alias("hw_lag_max"),
        (-largest["s"]).alias("hw_lag_max_seq"),
    )


def _fetch_rounds(produced: "DataFrame", states: "DataFrame", replicas: "DataFrame") -> "DataFrame":
    """Fetch rounds a follower between append and commit, as mean over records and maximum.

    Records that were appended by one event and committed by one event are one run. Runs' two ends,
    the followers' writes and the sizes of the ISR are put on one line by event number; running
    values along it give what each run needs at its ends.
    """
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    run = ("appended_seq", "committed_seq")
    runs = (
        produced.where("appended_seq is not null and committed_seq is not null")
        .groupBy(*KEYS, *run)
        .agg(F.count("*").alias("records"))
    )
    ends = runs.withColumn("seq", F.explode(F.array(*run)))
    sizes = states.select(
        *KEYS, F.col("from_seq").alias("seq"), (F.size("isr") - 1).alias("followers")
    )
    line = ends.unionByName(_rounds(replicas), allowMissingColumns=True)
    line = line.unionByName(sizes, allowMissingColumns=True)
    so_far = Window.partitionBy(*KEYS).orderBy("seq")
    passed = line.select(
        *KEYS,
        *run,
        "records",
        F.coalesce(F.sum("round").over(so_far), F.lit(0)).alias("rounds"),
        F.last("followers", ignorenulls=True).over(so_far).alias("followers"),
        (F.col("seq") == F.col("committed_seq")).alias("at_end"),
    ).where("records is not null")
    whole = passed.groupBy(*KEYS, *run, "records").agg(
        (F.max("rounds") - F.min("rounds")).alias("rounds"),
        F.max(F.when(F.col("at_end"), F.col("followers"))).alias("followers"),
    )
    each = F.when(F.col("followers") > 0, F.col("rounds") / F.col("followers")).otherwise(0.0)
    counted = whole.withColumn("each", each)
    return counted.groupBy(*KEYS).agg(
        (F.sum(F.col("each") * F.col("records")) / F.sum("records")).alias("rounds_mean"),
        F.max("each").alias("rounds_max"),
    )


def _rounds(replicas: "DataFrame") -> "DataFrame":
    """The fetch rounds: rows of in-sync followers whose LEO is above that of the row before."""
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    history = Window.partitionBy(*KEYS, "broker").orderBy("from_seq")
    return (
        replicas.withColumn("before", F.lag("leo", 1, 0).over(history))
        .where("role = 'follower' and in_isr and leo > before")
        .select(*KEYS, F.col("from_seq").alias("seq"), F.lit(1).alias("round"))
    )


def _shown_ms(name: str) -> str:
    return f"round({name} / 1000, 3)"


JOB: Final = Job(
    table=COMMIT_LATENCY,
    run=commit_latency,
    title="Commit latency and HW lag by partition",
    shown=(
        Shown("session", SESSION),
        Shown("partition", "tp"),
        Shown("records", "records"),
        Shown("commit p50 ms", _shown_ms("commit_p50_us")),
        Shown("p95 ms", _shown_ms("commit_p95_us")),
        Shown("p99 ms", _shown_ms("commit_p99_us")),
        Shown("max ms", _shown_ms("commit_max_us")),
        Shown("slowest sent at", "slowest_seq"),
        Shown("ack p99 ms", _shown_ms("ack_p99_us")),
        Shown("HW lag mean", "round(hw_lag_mean, 3)"),
        Shown("HW lag max", "hw_lag_max"),
        Shown("fetch rounds", "round(rounds_mean, 2)"),
    ),
    worst=("commit_p99_us", "hw_lag_mean"),
    ties=(SESSION, "topic", "partition"),
)
