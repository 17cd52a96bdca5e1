"""The configuration of brokers by Kafka's names: fields, valid values, and defaults by release.

Source: ``KafkaConfig``, ``LogConfig`` and ``ProducerConfig`` of each release from 0.8.1 to 4.4.
"""

import re
from typing import Annotated, Final, Literal

from msgspec import Struct
from msgspec.structs import replace

from emulator.releases.broker_configs import BROKER_CONFIGS, TOPIC_CONFIGS, BrokerConfigKey
from emulator.releases.versions import DOCUMENTS, Numbers, is_since

Parsed = int | bool
Kind = Literal["integer", "boolean", "milliseconds", "seconds", "minutes", "word"]

SHORT_MAX: Final = 32_767
INT_MAX: Final = 2_147_483_647
LONG_MAX: Final = 9_223_372_036_854
"""The largest duration that fits into 64 bits as microseconds; Kafka's own limit is higher."""


class Setting(Struct, frozen=True):
    """One configuration name.

    A field of :class:`BrokerConfig` says what Kafka's tables do not, and its ``meaning``; the rest
    is completed from them. ``attribute`` is that field. ``defaults`` are (since release, value),
    oldest first, dated by the real release like features; they are given where they differ from
    those since 0.11, which are Kafka's. ``topic_name`` is the name under which topics override it.
    ``since`` is the first release that has it, ``until`` the last. ``maximum`` also gives Kafka's
    type of an integer: SHORT, INT or LONG. ``words`` are the spellings of false and true of a
    ``word``, or of 0, 1, 2 and so on if there are more; ``aliases`` are other spellings of their
    elements.
    """

    name: str
    minimum: int = 1
    maximum: int = 0
    defaults: tuple[tuple[str, Parsed], ...] = ()
    words: tuple[str, ...] = ()
    aliases: dict[str, str] = {}
    since: str = ""
    until: str | None = None
    topic_name: str = ""
    kind: Kind = "integer"
    attribute: str = ""
    meaning: str = ""

    def default(self, numbers: Numbers) -> Parsed:
        """Return the default in a release (see :func:`emulator.releases.versions.numbers_of`)."""
        return [value for since, value in self.defaults if is_since(numbers, since)][-1]


_KRAFT: Final = "3.3"
_SNAPSHOTS_BY_TIME: Final = "3.4"

_CLASSES: Final = "org.apache.kafka.coordinator.group.assignor"
_BOTH_CLASSES: Final = f"{_CLASSES}.UniformAssignor,{_CLASSES}.RangeAssignor"

FIRST_DESCRIBED: Final = "0.11"
"""The first release whose brokers describe their configuration: earlier ones take its names."""


class BrokerConfig(Struct, frozen=True):
    """The effective values of one broker: the release's defaults with the overrides applied."""

    replica_lag_time_max_us: Annotated[
        int,
        Setting("replica.lag.time.max.ms"),
        "a follower that has not caught up for so long leaves the ISR",
    ]
    replica_lag_max_messages: Annotated[
        int,
        Setting(
            "replica.lag.max.messages",
            until="0.8.2",
            defaults=((DOCUMENTS, 4_000),),
            maximum=LONG_MAX,
        ),
        "a follower that lacks more records than this leaves the ISR (KIP-16 took it away)",
    ]
    replica_fetch_wait_max_us: Annotated[
        int,
        Setting("replica.fetch.wait.max.ms", minimum=0),
        "how long a leader lets a follower's fetch wait for records",
    ]
    replica_fetch_backoff_us: Annotated[
        int,
        Setting("replica.fetch.backoff.ms", minimum=0),
        "how long a follower lets a partition rest after a fetch error",
    ]
    replica_socket_timeout_us: Annotated[
        int,
        Setting("replica.socket.timeout.ms"),
        "how long a follower waits for any response of a leader",
    ]
    controller_socket_timeout_us: Annotated[
        int,
        Setting("controller.socket.timeout.ms"),
        "how long the controller waits for a broker's response, and a broker for the controller's",
    ]
    high_watermark_checkpoint_interval_us: Annotated[
        int,
        Setting("replica.high.watermark.checkpoint.interval.ms"),
        "how often a broker writes its high watermarks to disk",
    ]
    recovery_point_checkpoint_interval_us: Annotated[
        int,
        Setting("log.flush.offset.checkpoint.interval.ms"),
        "how often a broker writes to disk up to which offsets its logs are flushed",
    ]
    zookeeper_session_timeout_us: Annotated[
        int,
        Setting("zookeeper.session.timeout.ms"),
        "how long ZooKeeper hears nothing of a broker before it counts as dead",
    ]
    min_insync_replicas: Annotated[
        int, Setting("min.insync.replicas"), "the smallest ISR with which acks=all is accepted"
    ]
    unclean_leader_election_enable: Annotated[
        bool,
        Setting(
            "unclean.leader.election.enable",
            defaults=((DOCUMENTS, False), ("0.8.1", True), ("0.11", False)),
        ),
        "a replica outside the ISR may lead when no member is alive",
    ]
    auto_leader_rebalance_enable: Annotated[
        bool,
        Setting(
            "auto.leader.rebalance.enable",
            defaults=((DOCUMENTS, True), ("0.8.1", False), ("0.8.2", True)),
        ),
        "the controller gives leadership back to preferred replicas",
    ]
    leader_imbalance_check_interval_us: Annotated[
        int,
        Setting("leader.imbalance.check.interval.seconds"),
        "how often the controller looks for partitions not led by their preferred replica",
    ]
    leader_imbalance_per_broker_percentage: Annotated[
        int,
        Setting("leader.imbalance.per.broker.percentage", minimum=0),
        "the share of such partitions of a broker that is left alone",
    ]
    controlled_shutdown_enable: Annotated[
        bool,
        Setting(
            "controlled.shutdown.enable",
            defaults=((DOCUMENTS, True), ("0.8.1", False), ("0.8.2", True)),
        ),
        "a broker that is stopped hands its leaderships over first",
    ]
    controlled_shutdown_max_retries: Annotated[
        int,
        Setting("controlled.shutdown.max.retries", minimum=0),
        "how often it asks the controller before it stops anyway",
    ]
    controlled_shutdown_retry_backoff_us: Annotated[
        int,
        Setting("controlled.shutdown.retry.backoff.ms", minimum=0),
        "how long it waits before it asks again",
    ]
    delete_topic_enable: Annotated[bool, Setting("delete.topic.enable"), "topics can be deleted"]
    message_max_bytes: Annotated[
        int,
        Setting("message.max.bytes", minimum=0),
        "the largest batch (before 0.11: message) that a leader takes",
    ]
    log_retention_us: Annotated[
        int,
        Setting("log.retention.ms", minimum=-1, defaults=((DOCUMENTS, 604_800_000),)),
        "how long records are kept, -1 for ever; whole segments are deleted",
    ]
    log_retention_bytes: Annotated[
        int,
        Setting("log.retention.bytes", minimum=-LONG_MAX),
        "how large a log is kept, -1 without limit; whole segments are deleted",
    ]
    log_segment_bytes: Annotated[
        int, Setting("log.segment.bytes", minimum=14), "how large a segment grows"
    ]
    log_roll_us: Annotated[
        int,
        Setting("log.roll.ms", defaults=((DOCUMENTS, 604_800_000),)),
        "how long records go into one segment",
    ]
    log_retention_check_interval_us: Annotated[
        int,
        Setting("log.retention.check.interval.ms"),
        "how often a broker looks for segments to delete",
    ]
    offsets_topic_num_partitions: Annotated[
        int,
        Setting("offsets.topic.num.partitions", since="0.8.2"),
        "how many partitions __consumer_offsets is created with",
    ]
    offsets_topic_replication_factor: Annotated[
        int,
        Setting("offsets.topic.replication.factor", since="0.8.2"),
        "how many replicas its partitions get",
    ]
    offsets_commit_timeout_us: Annotated[
        int,
        Setting("offsets.commit.timeout.ms", since="0.8.2"),
        "how long a coordinator waits until a commit is replicated",
    ]
    offsets_retention_us: Annotated[
        int,
        Setting("offsets.retention.minutes", since="0.8.2"),
        "how long committed offsets are kept that no group needs (KIP-186; KIP-211: since when)",
    ]
    offsets_check_interval_us: Annotated[
        int,
        Setting("offsets.retention.check.interval.ms", since="0.8.2"),
        "how often a coordinator looks for committed offsets that have expired",
    ]
    transaction_topic_num_partitions: Annotated[
        int,
        Setting("transaction.state.log.num.partitions", since="0.11"),
        "how many partitions __transaction_state is created with",
    ]
    transaction_topic_replication_factor: Annotated[
        int,
        Setting("transaction.state.log.replication.factor", since="0.11"),
        "how many replicas its partitions get",
    ]
    transaction_topic_min_isr: Annotated[
        int,
        Setting("transaction.state.log.min.isr", since="0.11"),
        "the smallest ISR with which its partitions are written",
    ]
    transaction_max_timeout_us: Annotated[
        int,
        Setting("transaction.max.timeout.ms", since="0.11"),
        "the longest timeout that a transactional producer may ask for",
    ]
    transaction_abort_interval_us: Annotated[
        int,
        Setting("transaction.abort.timed.out.transaction.cleanup.interval.ms", since="0.11"),
        "how often a coordinator looks for transactions whose time is over",
    ]
    transactional_id_expiration_us: Annotated[
        int,
        Setting("transactional.id.expiration.ms", since="0.11"),
        "how long a coordinator keeps a transactional id that nobody uses",
    ]
    transaction_expiry_interval_us: Annotated[
        int,
        Setting("transaction.remove.expired.transaction.cleanup.interval.ms", since="0.11"),
        "how often a coordinator looks for transactional ids that nobody uses",
    ]
    transaction_verification: Annotated[
        bool,
        Setting("transaction.partition.verification.enable"),
        "leaders ask the coordinator whether they are part of a transaction (KIP-890)",
    ]
    group_min_session_timeout_us: Annotated[
        int,
        Setting("group.min.session.timeout.ms", since="0.9.0", minimum=0),
        "a member of a group may have no shorter session timeout",
    ]
    group_max_session_timeout_us: Annotated[
        int,
        Setting(
            "group.max.session.timeout.ms",
            since="0.9.0",
            defaults=((DOCUMENTS, 30_000), ("0.10.1", 300_000), ("2.3", 1_800_000)),
            minimum=0,
        ),
        "a member of a group may have no longer session timeout",
    ]
    group_initial_rebalance_delay_us: Annotated[
        int,
        Setting(
            "group.initial.rebalance.delay.ms",
            since="0.11",
            defaults=((DOCUMENTS, 0), ("0.11", 3_000)),
            minimum=0,
        ),
        "how long an empty group waits for more members than its first (KIP-134)",
    ]
    offset_metadata_max_bytes: Annotated[
        int,
        Setting("offset.metadata.max.bytes", minimum=0),
        "the longest metadata that may be committed with an offset",
    ]
    group_rebalance_protocols: Annotated[
        int,
        Setting(
            "group.coordinator.rebalance.protocols",
            words=(
                *("classic", "classic,consumer", "classic,consumer,streams"),
                "classic,consumer,share",
            ),
        ),
        "the protocols of groups that are served (KIP-848)",
    ]
    share_groups_enabled: Annotated[
        bool,
        Setting("group.share.enable", since="4.0", until="4.0", defaults=((DOCUMENTS, False),)),
        "whether share groups are served, of which 4.0 gives early access (KIP-932)",
    ]
    unstable_requests_served: Annotated[
        bool,
        Setting(
            "unstable.api.versions.enable",
            since="4.0",
            until="4.0",
            defaults=((DOCUMENTS, False),),
        ),
        "whether requests are served that 4.0 has not finished: those of share groups",
    ]
    consumer_session_timeout_us: Annotated[
        int,
        Setting("group.consumer.session.timeout.ms"),
        "how long a member of a consumer group may be silent (KIP-848)",
    ]
    consumer_min_session_timeout_us: Annotated[
        int,
        Setting("group.consumer.min.session.timeout.ms"),
        "the shortest session timeout of a consumer group (KIP-848)",
    ]
    consumer_max_session_timeout_us: Annotated[
        int,
        Setting("group.consumer.max.session.timeout.ms"),
        "the longest session timeout of a consumer group (KIP-848)",
    ]
    consumer_heartbeat_interval_us: Annotated[
        int,
        Setting("group.consumer.heartbeat.interval.ms"),
        "how often members of a consumer group are told to send heartbeats (KIP-848)",
    ]
    consumer_min_heartbeat_interval_us: Annotated[
        int,
        Setting("group.consumer.min.heartbeat.interval.ms"),
        "the shortest heartbeat interval of a consumer group (KIP-848)",
    ]
    consumer_max_heartbeat_interval_us: Annotated[
        int,
        Setting("group.consumer.max.heartbeat.interval.ms"),
        "the longest heartbeat interval of a consumer group (KIP-848)",
    ]
    consumer_assignment_interval_us: Annotated[
        int,
        Setting("group.consumer.assignment.interval.ms", minimum=0),
        "the shortest time between two assignments of a consumer group (KIP-1263)",
    ]
    consumer_group_max_size: Annotated[
        int,
        Setting("group.consumer.max.size"),
        "how many members a consumer group may have (KIP-848)",
    ]
    consumer_migration_policy: Annotated[
        int,
        Setting(
            "group.consumer.migration.policy",
            words=("disabled", "downgrade", "upgrade", "bidirectional"),
        ),
        "which groups change between the classic and the consumer protocol online (KIP-848)",
    ]
    consumer_assignors: Annotated[
        int,
        Setting(
            "group.consumer.assignors",
            defaults=((DOCUMENTS, 4), ("4.0", 0)),
            words=("uniform,range", "range,uniform", "uniform", "range", _BOTH_CLASSES),
            aliases={"UniformAssignor": "uniform", "RangeAssignor": "range"},
        ),
        "the assignors of consumer groups, the default first; only Kafka's own (KIP-848)",
    ]
    share_session_timeout_us: Annotated[
        int,
        Setting("group.share.session.timeout.ms"),
        "how long a member of a share group may be silent (KIP-932)",
    ]
    share_min_session_timeout_us: Annotated[
        int,
        Setting("group.share.min.session.timeout.ms"),
        "the shortest session timeout of a share group (KIP-932)",
    ]
    share_max_session_timeout_us: Annotated[
        int,
        Setting("group.share.max.session.timeout.ms"),
        "the longest session timeout of a share group (KIP-932)",
    ]
    share_heartbeat_interval_us: Annotated[
        int,
        Setting("group.share.heartbeat.interval.ms"),
        "how often members of a share group are told to send heartbeats (KIP-932)",
    ]
    share_min_heartbeat_interval_us: Annotated[
        int,
        Setting("group.share.min.heartbeat.interval.ms"),
        "the shortest heartbeat interval of a share group (KIP-932)",
    ]
    share_max_heartbeat_interval_us: Annotated[
        int,
        Setting("group.share.max.heartbeat.interval.ms"),
        "the longest heartbeat interval of a share group (KIP-932)",
    ]
    share_assignment_interval_us: Annotated[
        int,
        Setting("group.share.assignment.interval.ms", minimum=0),
        "the shortest time between two assignments of a share group (KIP-1263)",
    ]
    share_group_max_size: Annotated[
        int,
        Setting("group.share.max.size", since="4.0"),
        "how many members a share group may have (KIP-932)",
    ]
    share_delivery_count_limit: Annotated[
        int,
        Setting("group.share.delivery.count.limit", minimum=2),
        "how often a record is delivered in a share group at most (KIP-932)",
    ]
    share_record_lock_us: Annotated[
        int,
        Setting("group.share.record.lock.duration.ms"),
        "how long a record stays acquired in a share group (KIP-932)",
    ]
    share_min_record_lock_us: Annotated[
        int,
        Setting("group.share.min.record.lock.duration.ms"),
        "the shortest lock of acquired records (KIP-932)",
    ]
    share_max_record_lock_us: Annotated[
        int,
        Setting("group.share.max.record.lock.duration.ms"),
        "the longest lock of acquired records (KIP-932)",
    ]
    share_partition_max_record_locks: Annotated[
        int,
        Setting("group.share.partition.max.record.locks"),
        "how many records of a partition a share group may have in flight (KIP-932)",
    ]
    dead_letter_topics_created: Annotated[
        bool,
        Setting("errors.deadletterqueue.auto.create.topics.enable"),
        "whether the topic of a share group's dead letters is created (KIP-1191)",
    ]
    share_max_sessions: Annotated[
        int,
        Setting("group.share.max.share.sessions"),
        "how many share sessions a broker keeps (KIP-932)",
    ]
    share_state_num_partitions: Annotated[
        int,
        Setting("share.coordinator.state.topic.num.partitions"),
        "how many partitions __share_group_state is created with",
    ]
    share_state_replication_factor: Annotated[
        int,
        Setting("share.coordinator.state.topic.replication.factor"),
        "how many replicas __share_group_state is created with",
    ]
    share_state_min_isr: Annotated[
        int,
        Setting("share.coordinator.state.topic.min.isr"),
        "min.insync.replicas of __share_group_state",
    ]
    share_updates_per_snapshot: Annotated[
        int,
        Setting("share.coordinator.snapshot.update.records.per.snapshot", minimum=0),
        "after how many changes a share-partition's whole state is written again",
    ]
    share_state_write_timeout_us: Annotated[
        int,
        Setting("share.coordinator.write.timeout.ms"),
        "how long a share coordinator waits until its records are replicated",
    ]
    share_initialize_retry_us: Annotated[
        int,
        Setting(
            "group.share.initialize.retry.interval.ms", since="4.1", defaults=((DOCUMENTS, 30_000),)
        ),
        "after how long a share group begins again with partitions whose state is not there yet",
    ]
    rack_aware_reads: Annotated[
        bool,
        Setting(
            "replica.selector.class",
            defaults=((DOCUMENTS, False),),
            words=("LeaderSelector", "RackAwareReplicaSelector"),
        ),
        "which replica consumers read: LeaderSelector or RackAwareReplicaSelector (KIP-392)",
    ]
    log_append_time: Annotated[
        bool,
        Setting("log.message.timestamp.type", since="0.10", words=("CreateTime", "LogAppendTime")),
        "whose time records have: their producer's (CreateTime) or their leader's (LogAppendTime)",
    ]
    replica_fetch_max_bytes: Annotated[
        int,
        Setting("replica.fetch.max.bytes", minimum=0),
        "how many bytes of records a follower is given of one partition at once",
    ]
    replica_fetch_response_max_bytes: Annotated[
        int,
        Setting(
            "replica.fetch.response.max.bytes",
            since="0.10.1",
            defaults=((DOCUMENTS, 2_147_483_647), ("0.10.1", 10_485_760)),
            minimum=0,
        ),
        "how many bytes of records a follower is given at once (KIP-74)",
    ]
    fetch_max_bytes: Annotated[
        int,
        Setting(
            "fetch.max.bytes",
            minimum=1_024,
            defaults=((DOCUMENTS, 2_147_483_647), ("2.5", 57_671_680)),
        ),
        "how many bytes of records a consumer is given at once, whatever it asks for (KIP-541)",
    ]
    fetch_session_slots: Annotated[
        int,
        Setting(
            "max.incremental.fetch.session.cache.slots",
            defaults=((DOCUMENTS, 0), ("1.1", 1_000)),
            minimum=0,
        ),
        "how many fetch sessions of consumers a broker keeps (KIP-227)",
    ]
    auto_create_topics_enable: Annotated[
        bool,
        Setting("auto.create.topics.enable"),
        "a topic that a client of the wire protocol asks for is made if there is none",
    ]
    num_partitions: Annotated[
        int, Setting("num.partitions"), "how many partitions a topic gets for which nobody says it"
    ]
    default_replication_factor: Annotated[
        int, Setting("default.replication.factor"), "how many replicas its partitions get"
    ]
    socket_request_max_bytes: Annotated[
        int, Setting("socket.request.max.bytes"), "the largest request that a broker takes"
    ]
    connections_max_idle_us: Annotated[
        int,
        Setting("connections.max.idle.ms", since="0.8.2"),
        "how long a client's connection may be idle before the broker closes it",
    ]
    broker_session_timeout_us: Annotated[
        int,
        Setting("broker.session.timeout.ms", since=_KRAFT),
        "KRaft: how long the controller hears nothing of a broker before it fences it (KIP-631)",
    ]
    broker_heartbeat_interval_us: Annotated[
        int,
        Setting("broker.heartbeat.interval.ms", since=_KRAFT),
        "KRaft: how often a broker sends the controller a heartbeat",
    ]
    quorum_election_timeout_us: Annotated[
        int,
        Setting("controller.quorum.election.timeout.ms", since=_KRAFT),
        "KRaft: how long an election may take; chance adds up to as much (KIP-595)",
    ]
    quorum_election_backoff_max_us: Annotated[
        int,
        Setting("controller.quorum.election.backoff.max.ms", since=_KRAFT, minimum=0),
        "KRaft: how long a candidate that lost waits at most before it stands again",
    ]
    quorum_fetch_timeout_us: Annotated[
        int,
        Setting("controller.quorum.fetch.timeout.ms", since=_KRAFT),
        "KRaft: how long a controller hears nothing of the quorum's leader before it stands",
    ]
    quorum_request_timeout_us: Annotated[
        int,
        Setting("controller.quorum.request.timeout.ms", since=_KRAFT),
        "KRaft: how long a member of the quorum waits for a response",
    ]
    quorum_append_linger_us: Annotated[
        int,
        Setting("controller.quorum.append.linger.ms", since=_KRAFT, minimum=0),
        "KRaft: how long the leader gathers records before it writes them to the log",
    ]
    metadata_max_idle_interval_us: Annotated[
        int,
        Setting("metadata.max.idle.interval.ms", minimum=0),
        "KRaft: how often the active controller writes a NoOpRecord, 0 for never (KIP-835)",
    ]
    metadata_snapshot_bytes: Annotated[
        int,
        Setting("metadata.log.max.record.bytes.between.snapshots", since=_KRAFT),
        "KRaft: after so many bytes of the metadata log a member writes a snapshot (KIP-630)",
    ]
    metadata_snapshot_interval_us: Annotated[
        int,
        Setting(
            "metadata.log.max.snapshot.interval.ms",
            defaults=((DOCUMENTS, 0), (_SNAPSHOTS_BY_TIME, 3_600_000)),
            minimum=0,
        ),
        "KRaft: after so long a member writes a snapshot, 0 for never (KIP-876)",
    ]
    metadata_max_retention_bytes: Annotated[
        int,
        Setting("metadata.max.retention.bytes", minimum=-1, since=_KRAFT),
        "KRaft: how much the metadata log and its snapshots may take, -1 for any amount",
    ]
    metadata_max_retention_us: Annotated[
        int,
        Setting("metadata.max.retention.ms", since=_KRAFT, minimum=0),
        "KRaft: how old a snapshot of the metadata log may be that is not the latest",
    ]
    metadata_log_segment_bytes: Annotated[
        int,
        Setting("metadata.log.segment.bytes", minimum=8_388_608, since=_KRAFT),
        "KRaft: the size of a file of the metadata log; a file goes as a whole",
    ]
    metadata_log_segment_us: Annotated[
        int,
        Setting("metadata.log.segment.ms", since=_KRAFT, minimum=0),
        "KRaft: after how long a new file of the metadata log begins",
    ]
    unclean_election_interval_us: Annotated[
        int,
        Setting(
            "unclean.leader.election.interval.ms",
            since=_KRAFT,
            defaults=((DOCUMENTS, 300_000),),
            maximum=LONG_MAX,
        ),
        "KRaft: how often the controller looks for partitions to elect uncleanly",
    ]


_LARGEST: Final = {"SHORT": SHORT_MAX, "INT": INT_MAX, "LONG": LONG_MAX}
_UNITS: Final[dict[str, Kind]] = {
    "ms": "milliseconds",
    "seconds": "seconds",
    "minutes": "minutes",
}


_HISTORY: Final[dict[str, list[BrokerConfigKey]]] = {}
for _key in BROKER_CONFIGS:
    _HISTORY.setdefault(_key.name, []).append(_key)
_TOPIC_NAMES: Final = {key.of_broker: key.name for key in TOPIC_CONFIGS}


def _kind(attribute: str, setting: Setting, python_type: type) -> Kind:
    if setting.words:
        return "word"
    if attribute.endswith("_us"):
        return _UNITS[setting.name.rpartition(".")[2]]
    return "boolean" if python_type is bool else "integer"


def _complete(attribute: str, python_type: type, setting: Setting, meaning: str) -> Setting:
    """Complete a field's declaration from Kafka's tables."""
    kind = _kind(attribute, setting, python_type)
    history = _HISTORY.get(setting.name, [])
    is_number = kind not in ("boolean", "word")
    defaults = setting.defaults
    if not defaults:
        oldest, *later = [(key.since, _value(setting, kind, key.default or "")) for key in history]
        defaults = ((DOCUMENTS, oldest[1]), *later)
    since = history[0].since if history else FIRST_DESCRIBED
    largest = _LARGEST[history[-1].type] if history and is_number else INT_MAX
    return replace(
        setting,
        attribute=attribute,
        meaning=meaning,
        kind=kind,
        minimum=setting.minimum if is_number else 0,
        maximum=setting.maximum or largest,
        defaults=defaults,
        since=setting.since or (DOCUMENTS if since == FIRST_DESCRIBED else since),
        topic_name=_TOPIC_NAMES.get(setting.name, ""),
    )


def _value(setting: Setting, kind: Kind, text: str) -> Parsed:
    if kind == "boolean":
        return text == "true"
    if kind != "word":
        return int(text)
    number = setting.words.index(text)
    return number if setting.words[2:] else bool(number)


SETTINGS: Final = tuple(
    _complete(attribute, annotation.__origin__, *annotation.__metadata__)
    for attribute, annotation in BrokerConfig.__annotations__.items()
)
"""Every name with an effect here; topics have those with a ``topic_name``, too."""

WITHOUT_EFFECT: Final = {
    "inter.broker.protocol.version": "brokers speak the newest protocol of their release, and"
    " --version gives another release",
    "log.flush.interval.messages": "nothing is flushed before a clean stop, as by Kafka's default",
    "log.flush.interval.ms": "nothing is flushed before a clean stop, as by Kafka's default",
    "log.flush.start.offset.checkpoint.interval.ms": "logs are loaded in no time",
    "log.message.format.version": "records have the newest format of the release, and --version"
    " gives another release",
    "num.replica.fetchers": "a broker has one fetcher for each leader",
    "queued.max.requests": "handling a request takes no time, so none is queued before it",
    "replica.fetch.min.bytes": "followers are answered as soon as there is anything",
    "reserved.broker.max.id": "no ids are generated",
    "zookeeper.connection.timeout.ms": "a broker tries until ZooKeeper answers",
}
"""Why some of Kafka's names have no effect here; whoever sets them is told."""

PREVIEWS: Final = {
    "group.coordinator.new.enable": "group.coordinator.rebalance.protocols=classic,consumer turns"
    " the preview of 3.7 to 3.9 on",
    "group.share.enable": "it turns on the early access of 4.0 to share groups, which from 4.1 on"
    " are a feature, share.version=1",
    "unstable.api.versions.enable": "it turns on requests that a release has not finished, of which"
    " those of share groups in 4.0 are emulated",
}
"""Kafka's internal names that turn on what is not finished, and why they are refused."""

PRODUCERS: Final = frozenset(
    {
        "acks",
        "batch.size",
        "delivery.timeout.ms",
        "enable.idempotence",
        "linger.ms",
        "max.in.flight.requests.per.connection",
        "metadata.max.age.ms",
        "request.timeout.ms",
        "retries",
        "retry.backoff.ms",
    }
)
"""Producer settings, for which ``produce`` has options instead."""

TOPIC_DEFAULTS: Final = {
    "cleanup.policy": "delete",
    "compression.type": "producer",
}
"""Settings of topics alone, and the values that clients read."""

Allowed = int | range | frozenset[int] | type[float] | tuple[str, ...] | re.Pattern[str] | None
"""The valid values.

Integers from a minimum on, or one of several; with ``float`` a number from 0 to 1; words; a list
whose elements match a pattern; or (None) anything.
"""
THROTTLED_REPLICA: Final = re.compile(r"([0-9]+:[0-9]+)?")
"""A partition and a broker, in lists of replicas (``ThrottledReplicaListValidator``)."""

BOOLEAN: Final = ("true", "false")
TOPICS: Final[dict[str, Allowed]] = {
    "cleanup.policy": ("compact", "delete", "compact,delete", "delete,compact"),
    "compression.gzip.level": frozenset({-1, *range(1, 10)}),
    "compression.lz4.level": range(1, 18),
    "compression.type": ("uncompressed", "zstd", "lz4", "snappy", "gzip", "producer"),
    "compression.zstd.level": range(-131_072, 23),
    "delete.retention.ms": 0,
    "file.delete.delay.ms": 0,
    "flush.messages": 0,
    "flush.ms": 0,
    "follower.replication.throttled.replicas": THROTTLED_REPLICA,
    "index.interval.bytes": 0,
    "leader.replication.throttled.replicas": THROTTLED_REPLICA,
    "local.retention.bytes": -2,
    "local.retention.ms": -2,
    "max.compaction.lag.ms": 1,
    "message.downconversion.enable": BOOLEAN,
    "message.format.version": None,
    "message.timestamp.after.max.ms": 0,
    "message.timestamp.before.max.ms": 0,
    "message.timestamp.difference.max.ms": 0,
    "min.cleanable.dirty.ratio": float,
    "min.compaction.lag.ms": 0,
    "preallocate": BOOLEAN,
    "errors.deadletterqueue.group.enable": BOOLEAN,
    "max.decompressed.message.bytes": 1,
    "remote.copy.lag.bytes": -1,
    "remote.copy.lag.ms": -1,
    "remote.log.copy.disable": BOOLEAN,
    "remote.log.delete.on.disable": BOOLEAN,
    "remote.storage.enable": BOOLEAN,
    "segment.index.bytes": 0,
    "segment.jitter.ms": 0,
}
"""Topic settings that a real broker accepts but have no effect here (``LogConfig``).

Where releases differ in the minimum, it is the lowest of them.
"""

INTERNAL_TOPIC_CONFIGS: Final = {
    "local.retention.bytes": "3.0",
    "local.retention.ms": "3.0",
    "remote.storage.enable": "3.0",
}
"""Names that brokers took before they described them, with the release (``defineInternal``)."""

LISTS: Final = frozenset(key.name for key in TOPIC_CONFIGS if key.type == "LIST")
"""Those of topics' configurations that are lists, separated by commas."""
