"""Results of the job ``quorum``."""

from typing import Final

from sessions.analysis.results.columns import (
    broker,
    count,
    event,
    session_column,
    text,
    time,
)
from sessions.dataset.schema import Column, Example, Table

UNTIL_END: Final = "until the session's end"
NOT_UNFENCED: Final = "it was not unfenced, or was fenced again first"

QUORUM_TERMS: Final = Table(
    "quorum_terms",
    "a term of a controller as the leader of KRaft's quorum",
    "",
    (
        session_column(),
        broker("controller", "the controller"),
        Column("epoch", "int32", "", "epoch of the quorum"),
        event("from_seq", "QuorumRoleChanged: it becomes leader"),
        time("from_us", "virtual time of that event"),
        event("to_seq", "it changed its role or stopped, or another became leader", UNTIL_END),
        time("to_us", "virtual time of that event", UNTIL_END),
        time(
            "without_us",
            "time without a running leader before it: since the one before ended, or froze",
            "it is the session's first leader",
        ),
        count("candidacies", "candidacies", "candidacies of any controller since the last term"),
        count("records", "records", "committed records that were written in this epoch"),
        count("batches", "batches", "their batches"),
        count("fencings", "records", "those that fence a broker"),
        count("registrations", "records", "those that register a broker"),
        count("elections", "records", "those that name a partition's new leader"),
        count("unclean", "records", "those after which the new leader must recover (KIP-704)"),
        count("eligible", "records", "those that change the members of an ELR"),
    ),
    example=Example(
        "How long was the quorum of each cluster without a leader?",
        """\
SELECT session, max(without_us) AS longest_us, sum(without_us) AS all_us, count(*) AS terms
FROM quorum_terms
GROUP BY session
ORDER BY session
""",
    ),
)

METADATA_WORK: Final = Table(
    "metadata_work",
    "a type of record in the metadata log, in one epoch of the quorum",
    "",
    (
        session_column(),
        Column("epoch", "int32", "", "epoch of the quorum"),
        text("type", "Kafka's name without `Record`"),
        count("records", "records", "committed records"),
        count("batches", "batches", "batches that contain such records"),
        event("first_seq", "MetadataRecordCommitted of the first record"),
        time("first_us", "virtual time of that event"),
        time("last_us", "virtual time at which the last record was committed"),
    ),
    example=Example(
        "Which types of records make up the metadata log?",
        """\
SELECT session, type, sum(records) AS records
FROM metadata_work
GROUP BY session, type
ORDER BY session, records DESC, type
""",
    ),
)

FENCINGS: Final = Table(
    "fencings",
    "a broker that KRaft's controller fenced, which removes it from leadership and ISRs",
    "",
    (
        session_column(),
        broker("broker", "the broker"),
        event("fenced_seq", "MetadataRecordCommitted of the fencing"),
        time("fenced_us", "virtual time of that event"),
        text(
            "process",
            "its process then: `running` (isolated, or slow), `frozen`, `crashed` or `stopped`",
        ),
        event("fault_seq", "BrokerStateChanged to that state", "its process was running"),
        time("fault_us", "virtual time of that event", "its process was running"),
        time("noticed_us", "from the fault to the fencing", "its process was running"),
        count("partitions", "partitions", "partitions that the batch of the fencing changed"),
        event("unfenced_seq", "MetadataRecordCommitted of its unfencing", NOT_UNFENCED),
        time("unfenced_us", "virtual time of that event", NOT_UNFENCED),
        time("fenced_for_us", "time for which it was fenced", NOT_UNFENCED),
    ),
    example=Example(
        "How long does a controller take to fence a dead broker?",
        """\
SELECT session, broker, process, noticed_us, partitions, fenced_for_us
FROM fencings
WHERE noticed_us IS NOT NULL
ORDER BY noticed_us DESC, session, fenced_seq
LIMIT 10
""",
    ),
)
