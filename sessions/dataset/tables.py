"""The tables of the dataset, declared: the vocabulary of all that is asked of sessions.

Times are virtual microseconds, offsets are Kafka's (LEO is the next offset to be written, HW the
first that is not committed), ``seq`` numbers events, and record ids number every record ever
produced in a session.
"""

from typing import Final

from emulator.events import TYPES, Event
from emulator.events.fields import COLUMNS, Meaning, meaning_of, type_of
from sessions.dataset.schema import (
    Column,
    Example,
    Table,
    column_type,
    columns,
    fact_columns,
    partition_columns,
    session_column,
    validity_columns,
)

NO_PARTITION = "the event is not about one partition"

NO_FIELD: Final = "the event has no such field"
NO_VALUE: Final = "the message does not have it"

PARTITION_DATA: Final = Column(
    "partition_data",
    "list<struct>",
    "",
    "the content of a message by partition; its fields are null if a message has no such value",
    NO_FIELD + ", or `payload` has a `detail` of unknown form",
    (
        Column("tp", "string", "", "topic-partition; or `group.NAME`, `transaction.ID`, .."),
        Column("error", "string", "", "Kafka's error name", NO_VALUE),
        Column("offset", "int64", "offset", "an offset fetched or committed", NO_VALUE),
        Column("base_offset", "int64", "offset", "offset of the first record", NO_VALUE),
        Column("count", "int64", "records", "number of records", NO_VALUE),
        Column("high_watermark", "int64", "offset", "HW of the partition's leader", NO_VALUE),
        Column("log_start", "int64", "offset", "first offset", NO_VALUE),
        Column("end_offset", "int64", "offset", "offset after an epoch or snapshot", NO_VALUE),
        Column("leader", "int32", "broker id", "leader; -1: none", NO_VALUE),
        Column("leader_epoch", "int32", "", "leader epoch; -1: none", NO_VALUE),
        Column("zk_version", "int32", "", "dataVersion of the `state` znode", NO_VALUE),
        Column("first_record", "int64", "record id", "the first record", NO_VALUE),
        Column("acks", "int32", "", "0, 1 or -1 (all)", NO_VALUE),
        Column("producer_id", "int64", "", "producer id", NO_VALUE),
        Column("producer_epoch", "int32", "", "producer epoch", NO_VALUE),
        Column("base_sequence", "int32", "", "sequence number of the first record", NO_VALUE),
        Column("generation", "int32", "", "generation of a consumer group", NO_VALUE),
        Column("coordinator", "int32", "broker id", "a group's coordinator; -1: none", NO_VALUE),
        Column("result", "string", "", "`commit` or `abort`", NO_VALUE),
    ),
)
"""What a message lists by partition (:mod:`emulator.protocol.details`)."""


def _column(kind: type[Event], field: str, meaning: Meaning) -> Column:
    null = f"{NO_FIELD}, or {meaning.null}" if meaning.null else NO_FIELD
    type_ = column_type(type_of(kind, field), meaning.bits)
    return Column(meaning.column or field, type_, meaning.unit, meaning.text, null)


def _columns() -> tuple[Column, ...]:
    """The columns of all fields that have one, in the order in which their types are declared."""
    columns: dict[str, Column] = {}
    for kind in TYPES.values():
        for field in kind.__struct_fields__:
            meaning = meaning_of(kind, field)
            if meaning is None:
                continue
            column = _column(kind, field, meaning)
            if column.name not in COLUMNS or columns.setdefault(column.name, column) != column:
                raise TypeError(f"{field} of {kind.__name__} is not what its name says elsewhere")
    return tuple(columns[name] for name in COLUMNS if name in columns)


FIELDS: Final = _columns()
"""Fields of events that have a column of their own, for every event whose field has that type."""

EVENTS: Final = Table(
    "events",
    "an event, stored completely in `type`, the columns below and `payload`",
    "sorted by `seq` within each type",
    (
        session_column(),
        *fact_columns(),
        Column("type", "string", "", "the event's type, `RecordsAppended`, .."),
        *partition_columns(NO_PARTITION + "; `partition` also if it is about a whole topic"),
        *columns("""\
broker | int32 broker id | the event's broker, controller, host or source; -1 ZooKeeper, -2 clients
    | it did not happen on a particular host
"""),
        *FIELDS,
        PARTITION_DATA,
        *columns("""\
payload | string JSON | fields without a column of their own, an object by name; few rare events
    have any | there are none
"""),
    ),
    clustered="type",
    example=Example(
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
)

PARTITION_STATES: Final = Table(
    "partition_states",
    "a period in which a partition's `state` znode and its leader's HW and LEO do not change",
    "sorted by the end of validity; those valid until the session's end come last",
    (
        session_column(),
        *partition_columns(),
        *columns("""\
state | string | `online` (the znode names a leader), `offline` or `nonexistent`
leader | int32 broker id | leader; -1: none | no state znode
leader_epoch | int32 | leader epoch | no state znode
controller_epoch | int32 | epoch of the controller that wrote it | no state znode
zk_version | int32 | dataVersion of the state znode | no state znode
isr | list<int32> broker id | in-sync replicas as the znode has them
replicas | list<int32> broker id | assigned replicas, the preferred leader first
min_isr | int32 replicas | min.insync.replicas in force for the topic
unclean_election | bool | unclean.leader.election.enable in force for the topic
hw | int64 offset | the leader's own HW | there is no leader, or it does not act as one: it is down,
    or not notified yet
leo | int64 offset | the leader's own LEO | as `hw`
"""),
        *validity_columns(),
    ),
    example=Example(
        "How long was each partition without a leader in its state znode?",
        """\
SELECT p.session, p.tp, sum(coalesce(p.to_us, s.time_us) - p.from_us) AS offline_us
FROM partition_states p JOIN sessions s ON p.session = s.session
WHERE p.state = 'offline'
GROUP BY p.session, p.tp
ORDER BY offline_us DESC, p.session, p.tp
""",
    ),
)

REPLICA_STATES: Final = Table(
    "replica_states",
    "a period in which a replica's state on its own broker does not change",
    "sorted by the end of validity; those valid until the session's end come last",
    (
        session_column(),
        *partition_columns(),
        *columns("""\
broker | int32 broker id | the replica's broker
role | string | `leader`, `follower` or `offline`
leader_epoch | int32 | the latest leader epoch that it has received; -1: none yet
leo | int64 offset | LEO
hw | int64 offset | HW
log_start | int64 offset | first offset
remote_leo | int64 offset | LEO of this replica as known to the leader that the state znode names |
    the leader does not know it, or there is no leader
in_isr | bool | whether it is in the ISR of the state znode
"""),
        *validity_columns(),
    ),
    example=Example(
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
)

PRODUCED: Final = Table(
    "produced",
    "a record that a producer sent, and its outcome",
    "sorted by the event after which their batch was both answered and committed; others come last",
    (
        session_column(),
        *columns("""\
record | int64 record id | its number among all records of the session
producer | string | the producer's name
"""),
        *partition_columns(),
        *columns("""\
key | string text | key | it has none
value | string text | value
acks | int32 | 0, 1 or -1 (all)
sent_seq | int64 event | ProduceSent, when its batch was first sent
sent_us | int64 us | virtual time of that event
retries | int32 | number of times the batch was resent
appended_seq | int64 event | RecordsAppended, when a leader first wrote it | no leader wrote it
appended_us | int64 us | virtual time of that event | as `appended_seq`
offset | int64 offset | offset in its acknowledgement or, without one, of its first append by a
    leader | neither happened
outcome | string | `acked`, `failed`, `pending` (the session ended first) or, with acks=0, `sent`:
    sent without waiting for an acknowledgement
error | string | Kafka's error name for a failed record, else `NONE`
answered_seq | int64 event | ProduceAcknowledged or ProduceFailed | pending
answered_us | int64 us | virtual time of that event | pending
committed_seq | int64 event | HighWatermarkChanged, when a leader's HW first passed it | never
    committed
committed_us | int64 us | virtual time of that event | never committed
"""),
    ),
    example=Example(
        "Which records were acknowledged late, and how late?",
        """\
SELECT session, tp, record, value, acks, retries, answered_us - sent_us AS acknowledged_us
FROM produced
WHERE outcome = 'acked' AND answered_us IS NOT NULL
ORDER BY acknowledged_us DESC, session, record
LIMIT 10
""",
    ),
)

CONSUMED: Final = Table(
    "consumed",
    "a record that a consumer received",
    "sorted by `seq`, then `offset`",
    (
        session_column(),
        *fact_columns(),
        *columns("""\
consumer | string | the consumer's name
consume | int32 | number of the `consume` statement of this consumer, from 1
"""),
        *partition_columns(),
        *columns("""\
offset | int64 offset | offset at which it was read
record | int64 record id | the record, as in `produced`
"""),
    ),
    example=Example(
        "How long did each record take from producer to consumer?",
        """\
SELECT c.session, c.consumer, c.tp, c.offset, c.time_us - p.sent_us AS under_way_us
FROM consumed c JOIN produced p ON c.session = p.session AND c.record = p.record
ORDER BY under_way_us DESC, c.session, c.tp, c.offset
LIMIT 10
""",
    ),
)

ELECTIONS: Final = Table(
    "elections",
    "an attempt of the controller to elect a leader",
    "sorted by `seq`",
    (
        session_column(),
        *fact_columns(),
        *partition_columns(),
        *columns("""\
controller | int32 broker id | the controller
strategy | string | `New`, `Offline`, `Reassign`, `Preferred`, `ControlledShutdown` or `Unclean`
elected | bool | whether a leader was found
leader | int32 broker id | the new leader | no leader was found
leader_epoch | int32 | its leader epoch | no leader was found
isr | list<int32> broker id | the new ISR | no leader was found
reason | string | why no leader was found | a leader was found
"""),
    ),
    example=Example(
        "Which elections failed, and why?",
        """\
SELECT session, time_us, tp, strategy, reason
FROM elections
WHERE NOT elected
ORDER BY session, time_us, tp
LIMIT 10
""",
    ),
)

ISR_CHANGES: Final = Table(
    "isr_changes",
    "a step in which a leader changes its ISR",
    "sorted by `seq`",
    (
        session_column(),
        *fact_columns(),
        *partition_columns(),
        *columns("""\
broker | int32 broker id | the leader
step | string | `asked` (requested from ZooKeeper or the controller) or `acting` (now in effect)
isr | list<int32> broker id | the ISR that is requested or in effect
change | string | `shrink` or `expand` | `acting`
replica | int32 broker id | the replica that leaves or joins | `acting`
zk_version | int32 | version of the state znode that the leader assumes | `asked`
"""),
    ),
    example=Example(
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
)

TRUNCATIONS: Final = Table(
    "truncations",
    "a truncation of a replica's log",
    "sorted by `seq`",
    (
        session_column(),
        *fact_columns(),
        *partition_columns(),
        *columns("""\
broker | int32 broker id | the replica's broker
leo | int64 offset | LEO after the truncation
previous_leo | int64 offset | LEO before the truncation
reason | string | the rule that required it
"""),
    ),
    example=Example(
        "How many records did each broker truncate, and for what reason?",
        """\
SELECT session, broker, reason, sum(previous_leo - leo) AS records
FROM truncations
GROUP BY session, broker, reason
ORDER BY records DESC, session, broker, reason
""",
    ),
)

REQUESTS: Final = Table(
    "requests",
    "a request, with its response if it had one within ten minutes of virtual time",
    "sorted by response or loss; requests without either come later",
    (
        session_column(),
        *fact_columns(),
        *columns("""\
name | string | Kafka's name, `FetchRequest`, ..
source | int32 host | sender: broker id, -1 ZooKeeper, -2 clients
destination | int32 host | receiver
partitions | int32 partitions | number of partitions that its detail lists
answered_seq | int64 event | MessageSent of the response | there was none
answered_us | int64 us | virtual time at which the response left | there was none
lost | string | why the request was lost | it was not lost
"""),
    ),
    example=Example(
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
)

CLIENT_REQUESTS: Final = Table(
    "client_requests",
    "a request of a real client (`tidegauge serve`), with its response",
    "sorted by response or the end of the connection; requests without either come later",
    (
        session_column(),
        *fact_columns(),
        *columns("""\
connection | int64 | number of the connection
client | string | client id; `connection-N` if it has none
address | string | host and port of the client; empty if unknown
library | string | library and version | not sent (KIP-511)
broker | int32 broker id | the broker that received it
api | string | Kafka's name, `Produce`, `Fetch`, ..
api_version | int32 | version of the request
group | string | consumer group that the client is a member of | none
answered_seq | int64 event | ClientResponseSent | there was none
answered_us | int64 us | virtual time at which the response left | there was none
errors | list<string> | names of the errors in the response, each once | there was none
"""),
    ),
    example=Example(
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
)

ZNODES: Final = Table(
    "znodes",
    "a change of a znode",
    "sorted by `seq`",
    (
        session_column(),
        *fact_columns(),
        *columns("""\
path | string | the znode's path
change | string | `created`, `changed` or `deleted`
data | string | its data after the change | ZooKeeper's null, or deleted
version | int32 | its dataVersion after the change | deleted
zk_session | int64 | the owner of an ephemeral znode; 0: persistent | not `created`
zxid | int64 | ZooKeeper's transaction id
"""),
    ),
    example=Example(
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
)

CONTROLLER: Final = Table(
    "controller",
    "an action of a controller",
    "sorted by `seq`",
    (
        session_column(),
        *fact_columns(),
        *columns("""\
broker | int32 broker id | the controller
change | string | `elected`, `resigned` or `step` (of one of its procedures)
epoch | int32 | controller epoch | `step`
epoch_zk_version | int32 | dataVersion of /controller_epoch | not `elected`
procedure | string | `onControllerFailover`, .. | not `step`
step | int32 | number of the step in the procedure | not `step`
name | string | name of the step | not `step`
detail | string | what the step concerned, or why it resigned | `elected`
"""),
    ),
    example=Example(
        "Who became controller, when, and with which epoch?",
        """\
SELECT session, time_us, broker, epoch
FROM controller
WHERE change = 'elected'
ORDER BY session, epoch
""",
    ),
)

NOT_IN_RECORD: Final = "the record has no such field, or does not change it"

METADATA_RECORDS: Final = Table(
    "metadata_records",
    "a committed record of KRaft's metadata log; there are none with ZooKeeper",
    "sorted by `seq`",
    (
        session_column(),
        *fact_columns(),
        *columns("""\
offset | int64 offset | its offset in `__cluster_metadata-0`
epoch | int32 | leader epoch of the quorum that wrote it
batch | int64 offset | offset of the first record of its batch, which takes effect as a whole
type | string | Kafka's name without `Record`; `NoOpRecord`s are left out
version | int32 | version of the record's schema
"""),
        Column("topic", "string", "", "topic; `t#2` is the second one called t", NOT_IN_RECORD),
        Column("partition", "int32", "", "number of a partition in its topic", NOT_IN_RECORD),
        Column("replicas", "list<int32>", "broker id", "assigned replicas", NOT_IN_RECORD),
        Column("isr", "list<int32>", "broker id", "in-sync replicas", NOT_IN_RECORD),
        Column("leader", "int32", "broker id", "leader of a partition; -1: none", NOT_IN_RECORD),
        Column("leader_epoch", "int32", "", "leader epoch of a new partition", NOT_IN_RECORD),
        Column("partition_epoch", "int32", "", "partition epoch of a new partition", NOT_IN_RECORD),
        Column(
            "leader_recovery_state",
            "int32",
            "",
            "1: elected uncleanly and not recovered yet, else 0",
            NOT_IN_RECORD,
        ),
        Column(
            "removing_replicas", "list<int32>", "broker id", "replicas being removed", NOT_IN_RECORD
        ),
        Column(
            "adding_replicas", "list<int32>", "broker id", "replicas being added", NOT_IN_RECORD
        ),
        Column(
            "eligible_leader_replicas", "list<int32>", "broker id", "ELR (KIP-966)", NOT_IN_RECORD
        ),
        Column("last_known_elr", "list<int32>", "broker id", "last known ELR", NOT_IN_RECORD),
        Column("broker", "int32", "broker id", "a broker", NOT_IN_RECORD),
        Column(
            "broker_epoch", "string", "", "`ID.N`: the Nth registration of broker ID", NOT_IN_RECORD
        ),
        Column(
            "fenced", "bool", "", "whether the broker is fenced or unfenced by it", NOT_IN_RECORD
        ),
        Column(
            "in_controlled_shutdown",
            "bool",
            "",
            "whether the broker starts a controlled shutdown",
            NOT_IN_RECORD,
        ),
        Column(
            "cordoned_log_dirs",
            "list<string>",
            "",
            "log directories without new partitions",
            NOT_IN_RECORD,
        ),
        Column("controller", "int32", "host", "a controller", NOT_IN_RECORD),
        Column(
            "name",
            "string",
            "",
            "name of a topic, feature, configuration or transaction",
            NOT_IN_RECORD,
        ),
        Column("value", "string", "text", "value of a configuration", NOT_IN_RECORD),
        Column(
            "resource_type",
            "int32",
            "",
            "type of what is configured: 2 topic, 4 broker",
            NOT_IN_RECORD,
        ),
        Column(
            "resource",
            "string",
            "",
            "name of what is configured; empty: all brokers",
            NOT_IN_RECORD,
        ),
        Column(
            "feature_level", "int32", "", "finalized level of a feature; 0: removed", NOT_IN_RECORD
        ),
        Column("next_producer_id", "int64", "", "first producer id after the block", NOT_IN_RECORD),
        *columns("""\
data | string JSON | fields without a column of their own, by Kafka's names | there are none
"""),
    ),
    example=Example(
        "Which partitions changed in the same batch in which a broker was fenced?",
        """\
SELECT f.session, f.time_us, f.broker, p.topic, p.partition, p.leader
FROM metadata_records f JOIN metadata_records p
  ON p.session = f.session AND p.batch = f.batch AND p.type = 'PartitionChange'
WHERE f.type = 'BrokerRegistrationChange' AND f.fenced
ORDER BY f.session, f.offset, p.offset
""",
    ),
)

QUORUM_ROLES: Final = Table(
    "quorum_roles",
    "a change of a controller's role in KRaft's quorum; there are none with ZooKeeper",
    "sorted by `seq`",
    (
        session_column(),
        *fact_columns(),
        *columns("""\
controller | int32 host | the controller
role | string | `unattached`, `follower`, `prospective`, `candidate`, `leader` or `resigned`
epoch | int32 | latest quorum epoch that it knows
leader | int32 host | the leader of that epoch as it knows it; -1: none
"""),
    ),
    example=Example(
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
)

FAULTS: Final = Table(
    "faults",
    "a failure or recovery of a broker or controller process, a link, a ZooKeeper session or a "
    "follower",
    "sorted by `seq`",
    (
        session_column(),
        *fact_columns(),
        *columns("""\
kind | string | `broker`, `controller` (KRaft's), `link`, `session` or `replica`
"""),
        *partition_columns("not `replica`"),
        *columns("""\
broker | int32 broker id | the broker or host; for a link, its source
destination | int32 host | destination of the link | not `link`
state | string | the process's state; or `whole`, `cut`, `impaired`; `expired`, `closed`; `paused`,
    `resumed`
delay_us | int64 us | delay added to each message | not `link`
drop_percent | double percent | share of messages lost | not `link`
holding | list<string> | names of messages held back; `*`: all | not `link`
"""),
    ),
    example=Example(
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
)

SESSIONS: Final = Table(
    "sessions",
    "a session whose export to the dataset is complete",
    "",
    (
        session_column(),
        *columns("""\
name | string | the session's name
version | string | the emulated release | no cluster was created
seed | int64 | random seed | no cluster was created
brokers | int32 brokers | brokers when the cluster was created | no cluster was created
config | map<string,string> | broker defaults that were set, by Kafka's names
variables | map<string,string> | values of the script's variables, by name
path | string | path of its file when it was exported | it had no file
events | int64 events | events in the session
last_seq | int64 event | number of the last event; 0: none
time_us | int64 us | virtual time at its end; if not complete, of its last event
complete | bool | whether its recording was closed and could be read completely when it was exported
damaged_at | int64 event | number of the first event that could not be read | no event is damaged
state_hash | string | SHA-256 of the final state | not recorded
acked | int64 records | acknowledged records; those with acks=0 are none of them
failed | int64 records | records whose produce failed
lost | int64 records | those of `acked` that are missing from their leaders' logs at the end
lost_offsets | int64 offsets | offsets that were committed before the cluster started from an image,
    and that the leaders' logs lack at the end: which records they had is not known
duplicated | int64 records | extra copies in the leaders' logs at the end
diverged | int64 offsets | offsets at which replicas have different records at the end
consumed_lost | int64 records | records that a consumer read and that are gone
expectations_passed | int64 | assertions that passed
expectations_failed | int64 | assertions that failed
invariants_violated | int64 | violated invariants that the release is not known to violate
leaderless_us | int64 us | time without a running broker that acts as leader, after the first
    leader; summed over partitions
outcome | string | `failed` if an assertion failed or such an invariant was violated; otherwise
    `passed`, or `unknown` if it is not complete
"""),
    ),
    example=Example(
        "Which releases lost acknowledged records?",
        """\
SELECT version, count(*) AS sessions, sum(acked) AS acked, sum(lost) AS lost
FROM sessions
GROUP BY version
ORDER BY lost DESC, version
""",
    ),
)

TABLES: Final[tuple[Table, ...]] = (
    EVENTS,
    PARTITION_STATES,
    REPLICA_STATES,
    PRODUCED,
    CONSUMED,
    ELECTIONS,
    ISR_CHANGES,
    TRUNCATIONS,
    REQUESTS,
    CLIENT_REQUESTS,
    ZNODES,
    CONTROLLER,
    METADATA_RECORDS,
    QUORUM_ROLES,
    FAULTS,
    SESSIONS,
)
"""Every table.

``sessions`` is written last when a session is added: its row completes the session.
"""

BY_NAME: Final[dict[str, Table]] = {table.name: table for table in TABLES}

NO_SESSION: Final = "it raised or hung"

RUNS: Final = Table(
    "runs",
    "a run of a campaign, including those without a session",
    "",
    (
        session_column(),
        *columns("""\
varied | map<string,string> | the run's combination of varied values, by name
seed | int64 | random seed
outcome | string | `passed`; `failed` (an assertion or an invariant), `raised` (a bug in the
    program), `hung` (it took longer than the limit)
findings | list<string> | why the run is worth a look: an outcome, a loss
limit_s | double seconds | its limit of wall time
error | string | the error | it did not raise or hang
"""),
        Column("events", "int64", "events", "events in the session", NO_SESSION),
        Column("time_us", "int64", "us", "virtual time at its end", NO_SESSION),
        Column("acked", "int64", "records", "as in `sessions`", NO_SESSION),
        Column("lost", "int64", "records", "as in `sessions`", NO_SESSION),
        Column("lost_offsets", "int64", "offsets", "as in `sessions`", NO_SESSION),
        Column("duplicated", "int64", "records", "extra copies at the end", NO_SESSION),
        Column(
            "diverged", "int64", "offsets", "offsets with different records at the end", NO_SESSION
        ),
        Column(
            "consumed_lost",
            "int64",
            "records",
            "records that a consumer read and that are gone",
            NO_SESSION,
        ),
        Column("expectations_failed", "int64", "", "assertions that failed", NO_SESSION),
        Column("invariants_violated", "int64", "", "as in `sessions`", NO_SESSION),
        Column(
            "unavailable_us",
            "int64",
            "us",
            "as `leaderless_us` in `sessions`",
            NO_SESSION,
        ),
        Column("command", "string", "", "command that opens it in the console, at its first event"),
    ),
    example=Example(
        "Which runs of a campaign are worth a look, and which command opens them?",
        """\
SELECT outcome, lost, diverged, expectations_failed, command
FROM runs
WHERE outcome <> 'passed' OR lost > 0 OR diverged > 0
ORDER BY lost DESC, command
LIMIT 10
""",
    ),
)
"""The table that campaigns add to :data:`TABLES`, in the same commits."""
