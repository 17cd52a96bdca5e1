"""An example query for each result table, in SQL that both DuckDB and Spark support.

docs/analysis.md shows them, and the tests run them on both. They refer to tables by name.
"""

from typing import Final

from sessions.dataset.examples import Example

EXAMPLES: Final = {
    "outages": Example(
        "Which were the ten longest problems of a partition?",
        """\
SELECT session, tp, kind, from_us, lasted_us
FROM outages
ORDER BY lasted_us DESC, session, tp, kind
LIMIT 10
""",
    ),
    "availability": Example(
        "Which partitions had the lowest availability?",
        """\
SELECT session, tp, served_percent, leaderless_us, leaderless_spells
FROM availability
ORDER BY served_percent, session, tp
LIMIT 10
""",
    ),
    "availability_timeline": Example(
        "When were the most partitions without a leader?",
        """\
SELECT session, from_us, to_us, leaderless, partitions
FROM availability_timeline
WHERE leaderless > 0
ORDER BY leaderless DESC, session, from_us
LIMIT 10
""",
    ),
    "failovers": Example(
        "Where did the time of the slowest failovers go?",
        """\
SELECT session, tp, fault, detection_us, election_us, takeover_us, total_us
FROM failovers
WHERE outcome = 'failed over'
ORDER BY total_us DESC, session, tp
LIMIT 10
""",
    ),
    "failover": Example(
        "How long does a failover take in each release?",
        """\
SELECT version, fault, was_controller, total_n, total_p50_us, total_p99_us
FROM failover
ORDER BY version, fault, was_controller
""",
    ),
    "commit_latency": Example(
        "Which partitions were slowest to commit?",
        """\
SELECT session, tp, acks, commit_n, commit_p99_us
FROM commit_latency
WHERE commit_n > 0
ORDER BY commit_p99_us DESC, session, tp, acks
LIMIT 10
""",
    ),
    "latencies": Example(
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
    "latency": Example(
        "What latency does each setting of acks cost in each release?",
        """\
SELECT version, acks, ack_n, ack_p50_us, ack_p99_us
FROM latency
ORDER BY version, acks
""",
    ),
    "hw_lag": Example(
        "Where did the HW lag most?",
        """\
SELECT session, tp, hw_lag_max, hw_lag_longest_us, rounds_mean
FROM hw_lag
ORDER BY hw_lag_max DESC, session, tp
LIMIT 10
""",
    ),
    "latency_histogram": Example(
        "How is commit latency distributed?",
        """\
SELECT acks, from_us, to_us, sum(records) AS records
FROM latency_histogram
WHERE what = 'commit'
GROUP BY acks, from_us, to_us
ORDER BY acks, from_us
""",
    ),
    "hw_lag_timeline": Example(
        "When did the HW lag, and how far?",
        """\
SELECT session, tp, from_us, to_us, lag_max
FROM hw_lag_timeline
WHERE lag_max > 0
ORDER BY session, tp, from_us
LIMIT 10
""",
    ),
    "isr_churn": Example(
        "Which replicas were removed from the ISR most often?",
        """\
SELECT session, tp, restless, restless_shrinks, changes
FROM isr_churn
ORDER BY changes DESC, session, tp
LIMIT 10
""",
    ),
    "durability_records": Example(
        "Which acknowledged records are lost, and where were they acknowledged?",
        """\
SELECT r.session, r.tp, r.record, r.acks, r.offset, r.answered_seq
FROM durability_records r
WHERE fate = 'lost'
ORDER BY session, record
LIMIT 10
""",
    ),
    "partition_durability": Example(
        "Which partitions lost acknowledged records, and how many of all?",
        """\
SELECT session, tp, acks, acked, lost
FROM partition_durability
WHERE lost > 0
ORDER BY lost DESC, session, tp, acks
LIMIT 10
""",
    ),
    "durability": Example(
        "How durable are acknowledged records, by settings?",
        """\
SELECT generation, acks, min_isr, sessions, acked, lost, sessions_lost
FROM durability
ORDER BY generation, acks, min_isr
""",
    ),
    "leader_balance": Example(
        "Which broker led the most partitions at a time?",
        """\
SELECT session, broker, led_max, led_mean, imbalance_percent
FROM leader_balance
ORDER BY led_max DESC, session, broker
LIMIT 10
""",
    ),
    "quorum_terms": Example(
        "How long was the quorum of each cluster without a leader?",
        """\
SELECT session, max(without_us) AS longest_us, sum(without_us) AS all_us, count(*) AS terms
FROM quorum_terms
GROUP BY session
ORDER BY session
""",
    ),
    "metadata_work": Example(
        "Which types of records make up the metadata log?",
        """\
SELECT session, type, sum(records) AS records
FROM metadata_work
GROUP BY session, type
ORDER BY session, records DESC, type
""",
    ),
    "fencings": Example(
        "How long does a controller take to fence a dead broker?",
        """\
SELECT session, broker, process, noticed_us, partitions, fenced_for_us
FROM fencings
WHERE noticed_us IS NOT NULL
ORDER BY noticed_us DESC, session, fenced_seq
LIMIT 10
""",
    ),
    "controller_work": Example(
        "How long did the failover to each controller take, and what did that controller do then?",
        """\
SELECT session, epoch, broker, failover_us, elections, elections_failed, leader_and_isr
FROM controller_work
ORDER BY session, epoch
""",
    ),
    "controller_steps": Example(
        "What are the steps of a controller failover?",
        """\
SELECT procedure, step, name, sum(times) AS times
FROM controller_steps
WHERE procedure = 'onControllerFailover'
GROUP BY procedure, step, name
ORDER BY step, name
""",
    ),
    "anomalies": Example(
        "What did clients observe that they never should?",
        """\
SELECT a.name, a.session, a.tp, a.record, a.offset, a.client
FROM anomalies a
ORDER BY a.name, a.session, a.tp, a.offset, a.record
LIMIT 10
""",
    ),
    "anomaly_counts": Example(
        "How often does each anomaly happen in each release?",
        """\
SELECT name, version, sessions_with, sessions, times
FROM anomaly_counts
ORDER BY name, version
""",
    ),
    "replay_differences": Example(
        "Where does the rebuilt state differ from the recorded one?",
        """\
SELECT session, what, tp, broker, field, rebuilt, recorded
FROM replay_differences
ORDER BY session, what, tp, broker, field
LIMIT 10
""",
    ),
    "replay": Example(
        "Do the events of every session reproduce the recorded state?",
        """\
SELECT equal, count(*) AS sessions, sum(events) AS events
FROM replay
GROUP BY equal
ORDER BY equal
""",
    ),
}
"""The examples by table."""
