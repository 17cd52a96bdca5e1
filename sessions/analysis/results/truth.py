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
from sessions.dataset.schema import Column, Table

FATES: Final = {
    "lost": "acknowledged, and not in its leader's log at the session's end",
    "duplicated": "an extra copy in its leader's log",
    "diverged": "at an offset at which two replicas' logs hold different records",
    "consumed_lost": "given to a consumer, and not in its leader's log at the session's end",
}
"""Problems of a record at the end of a session, and what each word means."""

UNACKNOWLEDGED: Final = "unacknowledged"
"""Sent with acks=0, and not in its leader's log at the session's end: it was never acknowledged."""

ANOMALIES_KNOWN: Final = {
    "lost-write": "acknowledged at an offset at which a consumer was later given another record; "
    "no consumer ever was given this one",
    "unseen": "acknowledged at an offset above everything that consumers were given of its "
    "partition",
    "duplicate": "given to consumers or acknowledged at more than one offset",
    "inconsistent-offsets": "different records were given or acknowledged at its offset",
    "nonmonotonic-poll": "within one `consume`, a poll began at or below where the one before "
    "ended",
    "poll-skip": "within one `consume`, a poll left out offsets after the one before",
    "nonmonotonic-send": "acknowledged at an offset at or below that of the record that its "
    "producer sent there before",
    "G1a": "given to a consumer although its producer was told for certain that it is not written",
}
"""Anomalies that clients can observe, by their Jepsen names, and what each means for a record."""

DURABILITY_RECORDS: Final = Table(
    "durability_records",
    "something that is wrong with a record at its session's end, by what the logs hold then",
    "",
    (
        *place_columns(),
        text(
            "fate",
            "; ".join(f"`{fate}`: {meaning}" for fate, meaning in FATES.items())
            + f"; `{UNACKNOWLEDGED}`: sent with acks=0, and not in its leader's log at the end",
        ),
        Column("record", "int64", "record id", "its number among all records of the session"),
        Column("offset", "int64", "offset", "where; -1: its producer was never told"),
        text("producer", "the producer's name", "a coordinator wrote it, not a producer"),
        Column("acks", "int32", "", "0, 1 or -1 (all)", "as `producer`"),
        event("sent_seq", "ProduceSent", "as `producer`"),
        event("answered_seq", "ProduceAcknowledged or ProduceFailed", "as `producer`, or pending"),
    ),
)

DURABILITY: Final = Table(
    "durability",
    "a way to produce, over all sessions: what it was worth",
    "",
    (
        text(
            "generation",
            "generation of the replication protocol: `HW` (logs are cut to the HW), or the newest "
            "of `KIP-101` (leader epochs), `KIP-279`, `KIP-320` (fencing), `KIP-497`, `KIP-595` "
            "(cut on fetch), `KAFKA-15583`",
        ),
        Column("acks", "int32", "", "0, 1 or -1 (all)"),
        Column("min_isr", "int32", "replicas", "min.insync.replicas of the topic at the end"),
        Column(
            "unclean", "bool", "", "whether unclean.leader.election.enable held for it at the end"
        ),
        text("versions", "releases that this stands for, oldest first"),
        count("sessions", "sessions", "in which something was produced so"),
        count("records", "records", "produced so"),
        count("acked", "records", "acknowledged"),
        count("sent", "records", "handed to the network with acks=0, which nobody acknowledges"),
        count("failed", "records", "whose produce failed"),
        count("pending", "records", "without an answer at the end"),
        count("lost", "records", "acknowledged, and not in their leaders' logs at the end"),
        count("duplicated", "records", "extra copies in the leaders' logs at the end"),
        count("diverged", "records", "at offsets where replicas differ at the end"),
        count("consumed_lost", "records", "given to a consumer and gone at the end"),
        count(UNACKNOWLEDGED, "records", "sent with acks=0, and not in their leaders' logs"),
        count("sessions_lost", "sessions", "in which an acknowledged record is lost"),
        count("sessions_harmed", "sessions", "in which any of the four happened"),
        text("example_session", "the first of these by name", "there is none"),
        event("example_seq", "ProduceSent of the first such record in it", "there is none"),
    ),
)

ANOMALIES: Final = Table(
    "anomalies",
    "something that clients could see and should not have",
    "",
    (
        *place_columns(),
        text("name", "; ".join(f"`{name}`: {what}" for name, what in ANOMALIES_KNOWN.items())),
        Column("record", "int64", "record id", "the record it is about"),
        Column("offset", "int64", "offset", "where it was given or acknowledged"),
        Column(
            "other_record", "int64", "record id", "the record that it clashes with", "none does"
        ),
        Column("other_offset", "int64", "offset", "the offset that it clashes with", "none does"),
        text("client", "the consumer that was given it, or the producer that sent it"),
        event("seq", "event by which that client saw it"),
    ),
)

ANOMALY_COUNTS: Final = Table(
    "anomaly_counts",
    "an anomaly under a release, over all sessions; 0 where there is none",
    "",
    (
        text("version", "release whose rules the sessions ran by"),
        text("name", "as in `anomalies`"),
        count("sessions", "sessions", "that ran by it"),
        count("sessions_with", "sessions", "in which it happened"),
        count("times", "records", "that it happened to"),
        text("example_session", "the first of these by name", "it never happened"),
        event("example_seq", "the first such event in it", "it never happened"),
    ),
)


def _twice(name: str, unit: str, what: str) -> tuple[Column, ...]:
    return (
        count(f"{name}_rebuilt", unit, f"{what}, counted in the logs that the events build"),
        count(f"{name}_recorded", unit, f"{what}, as the cluster itself stated"),
    )


REPLAY: Final = Table(
    "replay",
    "a session: whether the state that its events build is the one that was recorded",
    "",
    (
        session_column(),
        Column("equal", "bool", "", "no difference was found"),
        count("differences", "values", "that differ: rows of `replay_differences`"),
        count("events", "events", "that were replayed"),
        count("partitions", "partitions", "that were compared"),
        count("replicas", "replicas", "that were compared"),
        count("znodes", "znodes", "that exist at the end"),
        *_twice("acked", "records", "acknowledged records"),
        *_twice("lost", "records", "lost records"),
        *_twice("duplicated", "records", "extra copies"),
        *_twice("diverged", "offsets", "offsets at which replicas differ"),
        *_twice("consumed_lost", "records", "consumed and lost records"),
    ),
)

REPLAY_DIFFERENCES: Final = Table(
    "replay_differences",
    "a value that the events do not build as it was recorded",
    "",
    (
        session_column(),
        text("what", "`session`, `partition`, `replica` or `znode`: where it is"),
        text("tp", "topic-partition", "`session`"),
        broker("broker", "the replica's broker", "not `replica`"),
        text("field", "the column's name"),
        text("rebuilt", "the value that the events build", "there is none"),
        text("recorded", "the value that was recorded", "there is none"),
        event("seq", "last event that was about it", "none was"),
    ),
)
