"""The page docs/glossary.md: the one meaning of each word that names a number.

``python -m sessions.analysis glossary > docs/glossary.md`` writes it. The columns come from the
declared tables, and the states from the console's, so that the page cannot disagree with them.
"""

from collections import defaultdict
from collections.abc import Iterator
from typing import Final

from sessions.analysis.jobs import JOBS
from sessions.dataset.schema import Table
from sessions.dataset.tables import RUNS, TABLES
from sessions.model.health import STATES

WORDS: Final = {
    "acked, acknowledged": "A record whose producer got a successful response from a broker. With "
    "acks=0 no broker responds: such a record is `sent`, never `acked`. One definition for all "
    "tables and jobs: `sessions.dataset.rows.acknowledged`.",
    "audit": "What scripts, JSON and the console say about a cluster's records: `acked`, `lost`, "
    "`duplicated`, `diverged`, `consumed_lost`, at any moment. It is the one place that also "
    "counts a record with acks=0 as acknowledged, from when it is handed to the network. So its "
    "`acked` is `acked` and `sent` of the tables together, and its `lost` is `lost` and "
    "`unacknowledged` together. Computed in `emulator.audit.ground_truth`.",
    "consumed_lost": "A record that a consumer was given and that is no longer in the log of its "
    "partition's leader.",
    "controller failover": "A controller's work from its election until it has read all metadata "
    "(`onControllerFailover`): `failover_us` of `controller_work`.",
    "diverged": "An offset below the LEO of two replicas at which they hold different records. "
    "The audit and `sessions` count offsets; `durability` counts each of the records at them.",
    "duplicated": "A further copy of a record in the log of its partition's leader.",
    "election": "The controller's choice of a leader that the partition did not have. A new leader "
    "epoch of the leader that stays (KRaft's controller raises it when it shrinks an ISR) is none. "
    "Computed in `emulator.kraft.facts` for KRaft mode.",
    "failover": "An election by which the leadership leaves a broker because that broker failed, "
    "its ZooKeeper session expired, or KRaft's controller fenced it. A planned one is none "
    "(`Preferred`, `Reassign`, `ControlledShutdown`): the leadership was `moved`. A leader that "
    "continues before another one is elected has `returned`. Computed in "
    "`sessions.analysis.failover`.",
    "HW lag": "LEO minus high watermark of the replica that leads, in records. Computed in "
    "`sessions.analysis.hw_lag` and `sessions.analysis.commit_latency`.",
    "ISR churn": "Changes of the set of a partition's in-sync replicas in its state, as opposed to "
    "those that a leader asked for. Computed in `sessions.analysis.isr_churn`.",
    "latency": "Commit latency: from ProduceSent until the high watermark of a leader first passed "
    "the record. Ack latency: from ProduceSent until ProduceAcknowledged, for `acked` records.",
    "leaderless": "A partition that exists and had a leader, while no broker whose process runs "
    "acts as its leader. Computed in `sessions.dataset.rows.leaderless` and, the same, in "
    "`sessions.analysis.availability`.",
    "lost": "An acknowledged record that is not in the log of its partition's leader. While a "
    "partition has no leader, its records are unavailable, not lost, except those that the last "
    "leader's log already lacked. Records that retention or DeleteRecords removed are not lost.",
    "lost_offsets": "Committed offsets of a cluster that started from an image, that the log of "
    "the partition's leader lacks. Which records they had is not known, so no table has them as "
    "records. Computed in `emulator.audit.ground_truth`, which counts them as `lost`, too.",
    "outcome (of a session)": "`failed` if an assertion failed, or an invariant was violated that "
    "the release is not known to violate; otherwise `passed`, or `unknown` if the recording is not "
    "complete. Computed in `sessions.dataset.rows.sessions`.",
    "sent": "With acks=0: handed to the network. Nobody was promised the record.",
    "unacknowledged": "A record that was `sent`, and is not in the log of its partition's leader.",
    "unavailable": "Of a run: its leaderless time, summed over partitions (`leaderless_us`).",
    "unclean": "An election of a leader from outside the ISR (strategy `Unclean`).",
}
"""Words whose meaning is more than one column's."""

JSON: Final = {
    "acked": "of `audit`: records of which a producer was done with success, those with acks=0 "
    "included (see audit); of a producer: its own",
    "actual": "of an assertion that did not hold: the values found instead",
    "adding, removing": "replicas that a reassignment adds or removes, in KRaft mode",
    "batch": "number of the batch in which the record was committed, from 0",
    "broker": "id of a broker; of `controller` in KRaft mode, the active controller",
    "configs": "settings by entity, in KRaft mode",
    "controller_epoch": "epoch of the controller that wrote the partition's state last",
    "data": "fields of a metadata record, by Kafka's names",
    "detail": "of a violated invariant: the values that violate it",
    "elr": "eligible leader replicas (KIP-966)",
    "epoch": "of a broker: its broker epoch; of `controller`, `quorum` and metadata records: the "
    "controller's or the quorum's epoch",
    "epoch_zk_version": "version of the znode /controller_epoch",
    "epochs": "the replica's leader epochs, each with its start offset",
    "error, errors": "Kafka's names of errors that a client or a broker got",
    "event": "number of an event",
    "events": "number of the last event",
    "failed": "of a producer: records whose produce failed; of `expectations`: the assertions "
    "that did not hold",
    "features": "finalized levels of the cluster's features, in KRaft mode",
    "fenced": "whether KRaft's controller has fenced the broker",
    "hw": "high watermark; of a partition: the one of its leader",
    "id": "id of a broker or a controller",
    "in_controlled_shutdown": "whether the broker's registration says so",
    "isr, osr": "in-sync replicas, and assigned replicas that are not in sync",
    "known": "whether the release is known to violate the invariant",
    "last_known_elr": "the last known eligible leader replicas (KIP-966)",
    "leader, leader_epoch": "the leader, and its epoch, by the partition's state; -1: none; of "
    "`quorum`: the active controller",
    "leo": "LEO, the offset after the last record; of a partition: the one of its leader",
    "line, text": "the assertion and its line in the script",
    "log_start": "offset of the first record of the replica's log",
    "lso": "last stable offset",
    "marks": "the cluster at each mark, by name",
    "metadata": "what each running broker tells clients of each topic, in KRaft mode",
    "metadata_log": "of a mark: the records committed since the previous one; of a host: its copy",
    "mode": "`kraft`; missing with ZooKeeper",
    "name": "name of a client, or of an invariant",
    "not_in_metadata": "folders on each broker that belong to no partition",
    "observers, voters": "members of the quorum: `equal` if they have its whole log, or `behind`",
    "offline": "replicas on brokers that are fenced or not registered",
    "offset": "offset of a record",
    "outputs": "what statements printed",
    "partition": "number of the partition in its topic",
    "partition_epoch": "epoch of the partition's state in KRaft mode",
    "passed": "assertions that held",
    "pending": "records of the producer that have no outcome yet",
    "position": "next offset that the consumer reads in the partition that it read last",
    "rack": "the broker's rack",
    "record_epochs": "leader epoch of each record in the replica's log",
    "recovery": "1 while the leader has yet to recover from an unclean election, else 0",
    "registered": "whether the broker is registered with ZooKeeper or KRaft's controller",
    "registrations": "how often the broker has registered",
    "remote_leo": "what the leader remembers of a follower's LEO",
    "replicas": "assigned replicas, the preferred one first",
    "retries": "requests that the producer sent again",
    "role": "`leader` or `follower`; `offline` on a broker that is frozen or does not run",
    "verdicts": "what people lose, the worst first; `healthy` if nothing. Each has its `kind`, its "
    "`count` (of partitions, records or brokers) and a `text`",
    "kind, count": "of a verdict",
    "schema": "version of this JSON",
    "seed": "seed of the cluster's random numbers",
    "session": "the broker's ZooKeeper session",
    "snapshots": "snapshots of the metadata log, named as their files are",
    "start_offset": "first offset of a host's copy of the metadata log",
    "state": "state of a broker or controller process, or of a partition: `online`, `offline`, ..",
    "state_hash": "SHA-256 of the whole state",
    "time_ms": "virtual time in milliseconds",
    "topic": "the topic's name",
    "tp": "topic-partition",
    "type": "type of a metadata record, without `Record`",
    "value, values": "values of records: those in a log, or those that a consumer was given",
    "version": "emulated release; of a metadata record: its version",
    "zk_version": "version of the partition's state znode",
}
"""Words of the JSON that scripts print (``--json``); lists of the audit are in :data:`WORDS`."""

HEAD: Final = """\
# Glossary

One meaning for every word that names a number: in the console, in JSON, in the dataset's tables, in
the results of the jobs and in the report. Times are virtual, in microseconds (`us`), unless the
unit says otherwise; the unit `event` is the number of an event.

This page is rendered from the declarations (`python -m sessions.analysis glossary >
docs/glossary.md`).
"""


def sources() -> Iterator[tuple[Table, str]]:
    """Yield every declared table, with the page that describes it."""
    for table in (*TABLES, RUNS):
        yield table, "dataset.md"
    for job in JOBS.values():
        for result in job.results:
            yield result.table, "analysis.md"


def glossary_page() -> str:
    """Return the page."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    yield HEAD
    yield "## Words\n"
    for word, meaning in sorted(WORDS.items(), key=lambda pair: pair[0].lower()):
        yield f"**{word}**: {meaning}\n"
    yield "## States of a partition\n"
    yield "The console counts them, the most severe first. A partition may be in several "
    yield "(`sessions.model.health`).\n"
    yield "| state | shown as | meaning |"
    yield "|---|---|---|"
    for state in STATES:
        yield f"| `{state.name}` | {state.label} | {state.meaning} |"
    yield "\n## JSON\n"
    yield "Words of what `--json` prints, besides the names of its lists.\n"
    yield "| word | meaning |"
    yield "|---|---|"
    for word, meaning in JSON.items():
        names = ", ".join(f"`{name}`" for name in word.split(", "))
        yield f"| {names} | {meaning} |"
    yield "\n## Columns\n"
    yield "Where each column stands: its meaning and unit are said there.\n"
    yield "| column | tables |"
    yield "|---|---|"
    for name, tables in sorted(_columns().items()):
        yield f"| `{name}` | {', '.join(tables)} |"


def _columns() -> dict[str, list[str]]:
    """Return each column's name with links to its tables."""
    tables_of: dict[str, list[str]] = defaultdict(list)
    for table, page in sources():
        link = f"[`{table.name}`]({page}#{table.name})"
        for column in table.columns:
            tables_of[column.name].append(link)
    return tables_of
