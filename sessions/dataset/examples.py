"""A question for each table of the dataset, as SQL that DuckDB and Spark both understand.

docs/dataset.md shows them, and the tests run them with both. They refer to tables by name.
"""

from typing import Final, NamedTuple


class Example(NamedTuple):
    """A question, and the query that answers it."""

    question: str
    sql: str


EXAMPLES: Final = {
    "events": Example(
        "Which messages crossed the network most often?",
        """\
SELECT name, count(*) AS messages
FROM events
WHERE type = 'MessageSent'
GROUP BY name
ORDER BY messages DESC, name
LIMIT 10
""",
    ),
    "partition_states": Example(
        "How long was each partition without a leader in its state znode?",
        """\
SELECT p.session, p.tp, sum(coalesce(p.to_us, s.time_us) - p.from_us) AS offline_us
FROM partition_states p JOIN sessions s ON p.session = s.session
WHERE p.state = 'offline'
GROUP BY p.session, p.tp
ORDER BY offline_us DESC, p.session, p.tp
""",
    ),
    "replica_states": Example(
        "How many records that it did not know to be committed did each follower have, at most?",
        """\
SELECT session, tp, broker, max(leo - hw) AS uncommitted_max
FROM replica_states
WHERE role = 'follower'
GROUP BY session, tp, broker
ORDER BY uncommitted_max DESC, session, tp, broker
LIMIT 10
""",
    ),
    "produced": Example(
        "Which records were acknowledged late, and how late?",
        """\
SELECT session, tp, record, value, acks, retries, answered_us - sent_us AS acknowledged_us
FROM produced
WHERE outcome = 'acked' AND answered_us IS NOT NULL
ORDER BY acknowledged_us DESC, session, record
LIMIT 10
""",
    ),
    "consumed": Example(
        "How long did each record take from producer to consumer?",
        """\
SELECT c.session, c.consumer, c.tp, c.offset, c.time_us - p.sent_us AS under_way_us
FROM consumed c JOIN produced p ON c.session = p.session AND c.record = p.record
ORDER BY under_way_us DESC, c.session, c.tp, c.offset
LIMIT 10
""",
    ),
    "elections": Example(
        "Which elections failed, and why?",
        """\
SELECT session, time_us, tp, strategy, reason
FROM elections
WHERE NOT elected
ORDER BY session, time_us, tp
LIMIT 10
""",
    ),
    "isr_changes": Example(
        "How often did a leader request to remove each replica from the ISR, and to add it again?",
        """\
SELECT session, tp, replica,
       sum(CASE WHEN change = 'shrink' THEN 1 ELSE 0 END) AS shrinks,
       sum(CASE WHEN change = 'expand' THEN 1 ELSE 0 END) AS expands
FROM isr_changes
WHERE step = 'asked'
GROUP BY session, tp, replica
ORDER BY shrinks DESC, session, tp, replica
""",
    ),
    "truncations": Example(
        "How many records did each broker truncate, and for what reason?",
        """\
SELECT session, broker, reason, sum(previous_leo - leo) AS records
FROM truncations
GROUP BY session, broker, reason
ORDER BY records DESC, session, broker, reason
""",
    ),
    "requests": Example(
        "How long did requests wait for a response, and how many never received one?",
        """\
SELECT name, count(*) AS requests,
       sum(CASE WHEN answered_us IS NULL THEN 1 ELSE 0 END) AS unanswered,
       max(answered_us - time_us) AS longest_us
FROM requests
GROUP BY name
ORDER BY longest_us DESC, name
""",
    ),
    "client_requests": Example(
        "How long did clients wait for each API, and how often did they receive an error?",
        """\
SELECT client, api, count(*) AS requests,
       max(answered_us - time_us) AS longest_us,
       sum(CASE WHEN answered_us IS NULL THEN 1 ELSE 0 END) AS unanswered,
       sum(CASE WHEN cardinality(errors) > 0 THEN 1 ELSE 0 END) AS told_errors
FROM client_requests
GROUP BY client, api
ORDER BY longest_us DESC, client, api
""",
    ),
    "znodes": Example(
        "Which znodes were written most often?",
        """\
SELECT path, count(*) AS writes, max(version) AS data_version
FROM znodes
WHERE change = 'changed'
GROUP BY path
ORDER BY writes DESC, path
LIMIT 10
""",
    ),
    "controller": Example(
        "Who became controller, when, and with which epoch?",
        """\
SELECT session, time_us, broker, epoch
FROM controller
WHERE change = 'elected'
ORDER BY session, epoch
""",
    ),
    "metadata_records": Example(
        "Which partitions changed in the same batch in which a broker was fenced?",
        """\
SELECT f.session, f.time_us, f.broker, p.topic, p.partition, p.leader
FROM metadata_records f JOIN metadata_records p
  ON p.session = f.session AND p.batch = f.batch AND p.type = 'PartitionChange'
WHERE f.type = 'BrokerRegistrationChange' AND f.fenced
ORDER BY f.session, f.offset, p.offset
""",
    ),
    "quorum_roles": Example(
        "How often was a controller a candidate, and how often was one elected?",
        """\
SELECT session, controller,
  sum(CASE WHEN role = 'candidate' THEN 1 ELSE 0 END) AS candidacies,
  sum(CASE WHEN role = 'leader' THEN 1 ELSE 0 END) AS terms
FROM quorum_roles
GROUP BY session, controller
ORDER BY session, controller
""",
    ),
    "faults": Example(
        "Which faults hit the leader of a partition?",
        """\
SELECT f.session, f.time_us, f.broker, f.state, p.tp
FROM faults f JOIN partition_states p
  ON p.session = f.session AND p.leader = f.broker
  AND p.from_seq <= f.seq AND f.seq < coalesce(p.to_seq, 9223372036854775807)
WHERE f.kind = 'broker' AND f.state IN ('crashed', 'frozen')
ORDER BY f.session, f.time_us, p.tp
""",
    ),
    "sessions": Example(
        "Which releases lost acknowledged records?",
        """\
SELECT version, count(*) AS sessions, sum(acked) AS acked, sum(lost) AS lost
FROM sessions
GROUP BY version
ORDER BY lost DESC, version
""",
    ),
    "runs": Example(
        "Which runs of a campaign are worth a look, and which command opens them?",
        """\
SELECT outcome, lost, diverged, expectations_failed, command
FROM runs
WHERE outcome <> 'passed' OR lost > 0 OR diverged > 0
ORDER BY lost DESC, command
LIMIT 10
""",
    ),
}
"""By the table that each is about."""
