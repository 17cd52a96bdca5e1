"""Results of the job ``latency``."""

from typing import Final

from sessions.analysis.results.columns import (
    count,
    event,
    percentile_columns,
    place_columns,
    session_column,
    text,
    time,
)
from sessions.dataset.schema import Column, Example, Table

NO_COMMIT: Final = "no record was committed"
NO_ACK: Final = "no record was acknowledged"
NEVER_LED: Final = "there never was a leader with a log"

COMMIT_LATENCY: Final = Table(
    "commit_latency",
    "a partition of a session and one setting of acks, with the latency of its records",
    "",
    (
        *place_columns(),
        Column("acks", "int32", "", "0, 1 or -1 (all)"),
        count("records", "records", "records produced with this setting"),
        count("acked", "records", "acknowledged records"),
        count("sent", "records", "records sent with acks=0, which are never acknowledged"),
        count("failed", "records", "records whose produce failed"),
        count("pending", "records", "records without a response at the session's end"),
        count("committed", "records", "records that the HW of a leader passed"),
        *percentile_columns("commit", "from sending a record to its commit", NO_COMMIT),
        event("slowest_seq", "ProduceSent of the record that took longest to commit", NO_COMMIT),
        *percentile_columns("ack", "from sending a record to its acknowledgement", NO_ACK),
    ),
    example=Example(
        "Which partitions were slowest to commit?",
        """\
SELECT session, tp, acks, commit_n, commit_p99_us
FROM commit_latency
WHERE commit_n > 0
ORDER BY commit_p99_us DESC, session, tp, acks
LIMIT 10
""",
    ),
)

LATENCIES: Final = Table(
    "latencies",
    "records of a session with the same setting of acks and the same latency",
    "",
    (
        session_column(),
        text("what", "`commit`: from sending to commit; `ack`: from sending to acknowledgement"),
        Column("acks", "int32", "", "0, 1 or -1 (all)"),
        time("us", "the latency", "that never happened"),
        count("records", "records", "records with this latency"),
        event("example_seq", "ProduceSent of the first of these records"),
    ),
    example=Example(
        "How many records were acknowledged within 10 ms?",
        """\
SELECT session, acks, sum(records) AS records
FROM latencies
WHERE what = 'ack' AND us <= 10000
GROUP BY session, acks
ORDER BY session, acks
LIMIT 10
""",
    ),
)

LATENCY: Final = Table(
    "latency",
    "a release and one setting of acks, with the latency of records over all sessions",
    "",
    (
        text("version", "the emulated release"),
        text("mode", "`zk`, or `kraft`: without ZooKeeper"),
        Column("acks", "int32", "", "0, 1 or -1 (all)"),
        count("sessions", "sessions", "sessions with records produced with this setting"),
        count("records", "records", "records produced with this setting"),
        *percentile_columns("commit", "from sending a record to its commit", NO_COMMIT),
        *percentile_columns("ack", "from sending a record to its acknowledgement", NO_ACK),
        text("slowest_session", "session of the record that took longest to commit", NO_COMMIT),
        event("slowest_seq", "ProduceSent of that record", NO_COMMIT),
    ),
    example=Example(
        "What latency does each setting of acks cost in each release?",
        """\
SELECT version, acks, ack_n, ack_p50_us, ack_p99_us
FROM latency
ORDER BY version, acks
""",
    ),
)

HW_LAG: Final = Table(
    "hw_lag",
    "a partition of a session, with the lag of its HW and its followers' fetch rounds",
    "",
    (
        *place_columns(),
        time("online_us", "time with a leader that has a log"),
        Column(
            "hw_lag_mean",
            "double",
            "records",
            "time-weighted mean of LEO - HW on the leader",
            NEVER_LED,
        ),
        count("hw_lag_max", "records", "largest LEO - HW for more than an instant", NEVER_LED),
        event("hw_lag_max_seq", "event from which it had that value", NEVER_LED),
        time("hw_lag_longest_us", "longest period with LEO above HW", NEVER_LED),
        event("hw_lag_longest_seq", "event that began this period", "there was none"),
        Column(
            "rounds_mean",
            "double",
            "rounds",
            "mean over records of the fetch rounds per follower until commit",
            NO_COMMIT,
        ),
        Column("rounds_max", "double", "rounds", "the maximum over records", NO_COMMIT),
    ),
    example=Example(
        "Where did the HW lag most?",
        """\
SELECT session, tp, hw_lag_max, hw_lag_longest_us, rounds_mean
FROM hw_lag
ORDER BY hw_lag_max DESC, session, tp
LIMIT 10
""",
    ),
)

LATENCY_HISTOGRAM: Final = Table(
    "latency_histogram",
    "a bucket of records of a session with similar latency",
    "",
    (
        session_column(),
        text("what", "`commit`: from sending to commit; `ack`: from sending to acknowledgement"),
        Column("acks", "int32", "", "0, 1 or -1 (all)"),
        time("from_us", "lower bound; a bucket is a quarter of a power of two wide"),
        time("to_us", "upper bound, which belongs to the next bucket"),
        count("records", "records", "records in the bucket"),
        event("example_seq", "ProduceSent of the first of these records"),
    ),
    example=Example(
        "How is commit latency distributed?",
        """\
SELECT acks, from_us, to_us, sum(records) AS records
FROM latency_histogram
WHERE what = 'commit'
GROUP BY acks, from_us, to_us
ORDER BY acks, from_us
""",
    ),
)

HW_LAG_BUCKETS: Final = 100
HW_LAG_TIMELINE: Final = Table(
    "hw_lag_timeline",
    f"a partition in one of {HW_LAG_BUCKETS} equal parts of its session, if it had a leader with "
    "a log then",
    "",
    (
        *place_columns(),
        Column("bucket", "int32", "", f"number of the part, 0 to {HW_LAG_BUCKETS - 1}"),
        time("from_us", "virtual time at which it begins"),
        time("to_us", "virtual time at which it ends"),
        Column("lag_mean", "double", "records", "time-weighted mean of LEO - HW on the leader"),
        count("lag_max", "records", "largest LEO - HW"),
        event("lag_max_seq", "event from which it had that value"),
    ),
    example=Example(
        "When did the HW lag, and how far?",
        """\
SELECT session, tp, from_us, to_us, lag_max
FROM hw_lag_timeline
WHERE lag_max > 0
ORDER BY session, tp, from_us
LIMIT 10
""",
    ),
)
