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
from sessions.dataset.schema import Column, Table

NO_COMMIT: Final = "no record was committed"
NO_ACK: Final = "no record was acknowledged"
NEVER_LED: Final = "never was a leader with a log"

COMMIT_LATENCY: Final = Table(
    "commit_latency",
    "a partition of a session and a way to produce to it: how long records took",
    "",
    (
        *place_columns(),
        Column("acks", "int32", "", "0, 1 or -1 (all)"),
        count("records", "records", "produced to it so"),
        count("acked", "records", "acknowledged to their producer"),
        count("sent", "records", "handed to the network with acks=0, which nobody acknowledges"),
        count("failed", "records", "ended in an error for it"),
        count("pending", "records", "had no answer when the session ended"),
        count("committed", "records", "that the HW of a leader passed"),
        *percentile_columns("commit", "from sending a record to its commit", NO_COMMIT),
        event("slowest_seq", "ProduceSent of the record that took longest to commit", NO_COMMIT),
        *percentile_columns("ack", "from sending a record to its acknowledgement", NO_ACK),
    ),
)

LATENCY: Final = Table(
    "latency",
    "a way to produce under a release, over all sessions: how long records took",
    "",
    (
        text("version", "release whose rules the sessions ran by"),
        Column("acks", "int32", "", "0, 1 or -1 (all)"),
        count("sessions", "sessions", "in which something was produced so"),
        count("records", "records", "produced so"),
        *percentile_columns("commit", "from sending a record to its commit", NO_COMMIT),
        *percentile_columns("ack", "from sending a record to its acknowledgement", NO_ACK),
        text("slowest_session", "session of the record that took longest to commit", NO_COMMIT),
        event("slowest_seq", "ProduceSent of it", NO_COMMIT),
    ),
)

HW_LAG: Final = Table(
    "hw_lag",
    "a partition of a session: how far its HW lagged, and how often followers fetched",
    "",
    (
        *place_columns(),
        time("online_us", "time with a leader that has a log"),
        Column(
            "hw_lag_mean",
            "double",
            "records",
            "LEO - HW on the leader, weighted by time",
            NEVER_LED,
        ),
        count("hw_lag_max", "records", "the most that LEO - HW was for any time", NEVER_LED),
        event("hw_lag_max_seq", "from which event on it was that", NEVER_LED),
        time("hw_lag_longest_us", "the longest time for which LEO was above HW", NEVER_LED),
        event("hw_lag_longest_seq", "event with which that began", "there was no such time"),
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

LATENCY_HISTOGRAM: Final = Table(
    "latency_histogram",
    "records of a session that took about as long",
    "",
    (
        session_column(),
        text("what", "`commit`: from sending to commit; `ack`: from sending to acknowledgement"),
        Column("acks", "int32", "", "0, 1 or -1 (all)"),
        time("from_us", "shortest time of the group; a quarter of a power of two wide"),
        time("to_us", "the next group's shortest time"),
        count("records", "records", "that took so long"),
        event("example_seq", "ProduceSent of the first of them"),
    ),
)

HW_LAG_BUCKETS: Final = 100
HW_LAG_TIMELINE: Final = Table(
    "hw_lag_timeline",
    f"a partition in one of {HW_LAG_BUCKETS} equal stretches of its session's time in which it "
    "had a leader with a log",
    "",
    (
        *place_columns(),
        Column("bucket", "int32", "", f"which stretch, 0 to {HW_LAG_BUCKETS - 1}"),
        time("from_us", "virtual time at which it begins"),
        time("to_us", "virtual time at which it ends"),
        Column("lag_mean", "double", "records", "LEO - HW on the leader, weighted by time"),
        count("lag_max", "records", "the most that it was"),
        event("lag_max_seq", "from which event on it was that"),
    ),
)
