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
from sessions.dataset.schema import Column, Table

UNTIL_END: Final = "until the session's end"
NOT_UNFENCED: Final = "it was not unfenced, or fenced once more before"

QUORUM_TERMS: Final = Table(
    "quorum_terms",
    "a controller's time as leader of KRaft's quorum",
    "",
    (
        session_column(),
        broker("controller", "the controller"),
        Column("epoch", "int32", "", "epoch of the quorum"),
        event("from_seq", "QuorumRoleChanged: it is the leader"),
        time("from_us", "virtual time of that"),
        event("to_seq", "it took another role or ended, or another became leader", UNTIL_END),
        time("to_us", "virtual time of that", UNTIL_END),
        time("without_us", "time without a leader before it", "it is the session's first"),
        count("candidacies", "candidacies", "of any controller since the leader before it began"),
        count("records", "records", "committed that were written in the epoch"),
        count("batches", "batches", "that these are"),
        count("fencings", "records", "of these that fence a broker"),
        count("registrations", "records", "of these that register one"),
        count("elections", "records", "of these that name a partition's new leader"),
        count("unclean", "records", "of these with which it begins to recover (KIP-704)"),
        count("eligible", "records", "of these by which an ELR has a member more or less"),
    ),
)

METADATA_WORK: Final = Table(
    "metadata_work",
    "a type of record in the metadata log, by the epoch of the quorum in which it was written",
    "",
    (
        session_column(),
        Column("epoch", "int32", "", "epoch of the quorum"),
        text("type", "Kafka's name without `Record`"),
        count("records", "records", "committed"),
        count("batches", "batches", "in which such records are"),
        event("first_seq", "MetadataRecordCommitted of the first"),
        time("first_us", "virtual time of that"),
        time("last_us", "virtual time at which the last was committed"),
    ),
)

FENCINGS: Final = Table(
    "fencings",
    "a broker that KRaft's controller fenced, so that it leads nothing and is in no ISR",
    "",
    (
        session_column(),
        broker("broker", "the broker"),
        event("fenced_seq", "MetadataRecordCommitted: it is fenced"),
        time("fenced_us", "virtual time of that"),
        text(
            "process",
            "its process by then: `running` (cut off, or slow), `frozen`, `crashed` or `stopped`",
        ),
        event("fault_seq", "BrokerStateChanged to that", "its process ran"),
        time("fault_us", "virtual time of that", "its process ran"),
        time("noticed_us", "from the fault to the fencing", "its process ran"),
        count("partitions", "partitions", "that the batch of the fencing changed"),
        event("unfenced_seq", "MetadataRecordCommitted: it is unfenced", NOT_UNFENCED),
        time("unfenced_us", "virtual time of that", NOT_UNFENCED),
        time("fenced_for_us", "how long it was fenced", NOT_UNFENCED),
    ),
)
