"""Results of the jobs ``durability``, ``anomalies`` and ``replay``."""

from typing import Final

from sessions.analysis.results.columns import (
    broker,
    count,
    event,
    place_columns,
    session_column,
    text,
)
from sessions.dataset.schema import Column, Example, Table

FATES: Final = {
    "lost": "acknowledged, but not in its leader's log at the session's end",
    "duplicated": "an extra copy in its leader's log",
    "diverged": "at an offset where the logs of two replicas have different records",
    "consumed_lost": "read by a consumer, but not in its leader's log at the session's end",
}
"""Problems of a record at the end of a session, and what each word means."""

UNACKNOWLEDGED: Final = "unacknowledged"
"""Sent with acks=0, and not in its leader's log at the session's end: it was never acknowledged."""

ANOMALIES_KNOWN: Final = {
    "lost-write": "acknowledged at an offset at which a consumer later read another record; "
    "no consumer ever read this one",
    "unseen": "acknowledged at an offset above all that consumers have read of its partition",
    "duplicate": "read by consumers or acknowledged at more than one offset",
    "inconsistent-offsets": "different records were read or acknowledged at its offset",
    "nonmonotonic-poll": "within one `consume`, a poll began at or below the end of the previous "
    "one",
    "poll-skip": "within one `consume`, a poll skipped offsets after the previous one",
    "nonmonotonic-send": "acknowledged at an offset at or below that of the record that its "
    "producer sent there before",
    "G1a": "read by a consumer although its producer received a definite error: it is not written",
}
"""Anomalies that clients can observe, by their Jepsen names, and what each means for a record."""

DURABILITY_RECORDS: Final = Table(
    "durability_records",
    "a problem of a record, according to the logs at the session's end",
    "",
    (
        *place_columns(),
        text(
            "fate",
            "; ".join(f"`{fate}`: {meaning}" for fate, meaning in FATES.items())
            + f"; `{UNACKNOWLEDGED}`: sent with acks=0, but not in its leader's log at the end",
        ),
        Column("record", "int64", "record id", "its number among all records of the session"),
        Column("offset", "int64", "offset", "its offset; -1 if its producer never received it"),
        text("producer", "the producer's name", "a coordinator wrote it, not a producer"),
        Column("acks", "int32", "", "0, 1 or -1 (all)", "as `producer`"),
        event("sent_seq", "ProduceSent", "as `producer`"),
        event("answered_seq", "ProduceAcknowledged or ProduceFailed", "as `producer`, or pending"),
    ),
    example=Example(
        "Which acknowledged records are lost, and where were they acknowledged?",
        """\
SELECT r.session, r.tp, r.record, r.acks, r.offset, r.answered_seq
FROM durability_records r
WHERE fate = 'lost'
ORDER BY session, record
LIMIT 10
""",
    ),
)

LOST_OFFSETS: Final = Table(
    "lost_offsets",
    "a range of offsets that were committed before the cluster started from an image, and that the "
    "leader's log lacks at the session's end: which records they had is not known",
    "",
    (
        *place_columns(),
        Column("first_offset", "int64", "offset", "the first of them"),
        Column("end_offset", "int64", "offset", "the offset after the last of them"),
        event("audit_seq", "AuditChanged that told it"),
    ),
    example=Example(
        "Which committed offsets of an image are lost?",
        """\
SELECT session, tp, first_offset, end_offset, end_offset - first_offset AS offsets
FROM lost_offsets
ORDER BY session, tp, first_offset
LIMIT 10
""",
    ),
)

_OUTCOMES: Final = (
    count("records", "records", "records produced with these settings"),
    count("acked", "records", "acknowledged records"),
    count("sent", "records", "records sent with acks=0, which are never acknowledged"),
    count("failed", "records", "records whose produce failed"),
    count("pending", "records", "records without a response at the end"),
    count("lost", "records", "acknowledged records missing from their leaders' logs"),
    count("duplicated", "records", "extra copies in the leaders' logs at the end"),
    count("diverged", "records", "records at offsets where replicas differ at the end"),
    count("consumed_lost", "records", "records that a consumer read and that are gone"),
    count(UNACKNOWLEDGED, "records", "records sent with acks=0, but not in the logs"),
)

PARTITION_DURABILITY: Final = Table(
    "partition_durability",
    "a partition of a session and one setting of acks, with the outcome of records",
    "",
    (
        *place_columns(),
        Column("acks", "int32", "", "0, 1 or -1 (all)"),
        text("version", "the emulated release", "the session names none"),
        text("generation", "generation of the replication protocol, as in `durability`"),
        Column("min_isr", "int32", "replicas", "min.insync.replicas of the topic at the end"),
        Column("unclean", "bool", "", "unclean.leader.election.enable of the topic at the end"),
        *_OUTCOMES,
        event("first_seq", "ProduceSent of the first record with a problem", "there is none"),
    ),
    example=Example(
        "Which partitions lost acknowledged records, and how many of all?",
        """\
SELECT session, tp, acks, acked, lost
FROM partition_durability
WHERE lost > 0
ORDER BY lost DESC, session, tp, acks
LIMIT 10
""",
    ),
)

DURABILITY: Final = Table(
    "durability",
    "a combination of settings, with the outcome of records over all sessions",
    "",
    (
        text(
            "generation",
            "generation of the replication protocol: `HW` (logs are truncated to the HW), or the "
            "newest of `KIP-101` (leader epochs), `KIP-279`, `KIP-320` (fencing), `KIP-497`, "
            "`KIP-595` (truncation on fetch), `KAFKA-15583`; without ZooKeeper `KIP-500`, or "
            "`KIP-966` (eligible leader replicas)",
        ),
        Column("acks", "int32", "", "0, 1 or -1 (all)"),
        Column("min_isr", "int32", "replicas", "min.insync.replicas of the topic at the end"),
        Column("unclean", "bool", "", "unclean.leader.election.enable of the topic at the end"),
        text("versions", "releases in this row, oldest first"),
        count("sessions", "sessions", "sessions with records produced with these settings"),
        *_OUTCOMES,
        count("sessions_lost", "sessions", "sessions with lost records"),
        count("sessions_harmed", "sessions", "sessions with any of the four problems"),
        text("example_session", "the first of them by name", "there is none"),
        event("example_seq", "ProduceSent of the first such record in it", "there is none"),
    ),
    example=Example(
        "How durable are acknowledged records, by settings?",
        """\
SELECT generation, acks, min_isr, sessions, acked, lost, sessions_lost
FROM durability
ORDER BY generation, acks, min_isr
""",
    ),
)

ANOMALIES: Final = Table(
    "anomalies",
    "something that clients observed but never should",
    "",
    (
        *place_columns(),
        text("name", "; ".join(f"`{name}`: {what}" for name, what in ANOMALIES_KNOWN.items())),
        Column("record", "int64", "record id", "the record concerned"),
        Column("offset", "int64", "offset", "the offset at which it was read or acknowledged"),
        Column("other_record", "int64", "record id", "the conflicting record", "there is none"),
        Column("other_offset", "int64", "offset", "the conflicting offset", "there is none"),
        text("client", "the consumer that read it, or the producer that sent it"),
        event("seq", "event in which the client observed it"),
    ),
    example=Example(
        "What did clients observe that they never should?",
        """\
SELECT a.name, a.session, a.tp, a.record, a.offset, a.client
FROM anomalies a
ORDER BY a.name, a.session, a.tp, a.offset, a.record
LIMIT 10
""",
    ),
)

ANOMALY_COUNTS: Final = Table(
    "anomaly_counts",
    "an anomaly in a release, over all sessions, even if it never happened",
    "",
    (
        text("version", "the emulated release"),
        text("mode", "`zk`, or `kraft`: without ZooKeeper"),
        text("name", "as in `anomalies`"),
        count("sessions", "sessions", "sessions of the release"),
        count("sessions_with", "sessions", "sessions with the anomaly"),
        count("times", "records", "records concerned"),
        text("example_session", "the first session with it by name", "it never happened"),
        event("example_seq", "the first such event in it", "it never happened"),
    ),
    example=Example(
        "How often does each anomaly happen in each release?",
        """\
SELECT name, version, sessions_with, sessions, times
FROM anomaly_counts
ORDER BY name, version
""",
    ),
)


def _twice(name: str, unit: str, subject: str) -> tuple[Column, ...]:
    return (
        count(f"{name}_rebuilt", unit, f"{subject}, counted in the logs rebuilt from the events"),
        count(f"{name}_recorded", unit, f"{subject}, as counted by the cluster itself"),
    )


REPLAY: Final = Table(
    "replay",
    "a session, with the result of comparing its rebuilt state to the recorded one",
    "",
    (
        session_column(),
        Column("equal", "bool", "", "no difference was found"),
        count("differences", "values", "values that differ: rows of `replay_differences`"),
        count("events", "events", "replayed events"),
        count("partitions", "partitions", "compared partitions"),
        count("replicas", "replicas", "compared replicas"),
        count("znodes", "znodes", "znodes at the end"),
        *_twice("acked", "records", "acknowledged records"),
        *_twice("lost", "records", "lost records"),
        *_twice("duplicated", "records", "extra copies"),
        *_twice("diverged", "offsets", "offsets at which replicas differ"),
        *_twice("consumed_lost", "records", "consumed and lost records"),
    ),
    example=Example(
        "Do the events of every session reproduce the recorded state?",
        """\
SELECT equal, count(*) AS sessions, sum(events) AS events
FROM replay
GROUP BY equal
ORDER BY equal
""",
    ),
)

REPLAY_DIFFERENCES: Final = Table(
    "replay_differences",
    "a value that differs between the state rebuilt from the events and the recorded one",
    "",
    (
        session_column(),
        text(
            "what", "`session`, `partition`, `replica`, `znode`, or in KRaft mode `metadata` (log)"
        ),
        text("tp", "topic-partition", "`session`"),
        broker("broker", "the replica's broker", "not `replica`"),
        text("field", "the column's name"),
        text("rebuilt", "the value rebuilt from the events", "there is none"),
        text("recorded", "the recorded value", "there is none"),
        event("seq", "last event that concerned it", "there is none"),
    ),
    example=Example(
        "Where does the rebuilt state differ from the recorded one?",
        """\
SELECT session, what, tp, broker, field, rebuilt, recorded
FROM replay_differences
ORDER BY session, what, tp, broker, field
LIMIT 10
""",
    ),
)
