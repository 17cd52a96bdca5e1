"""The table of configuration names: meaning, valid values, and defaults by release.

Source: ``KafkaConfig``, ``LogConfig`` and ``ProducerConfig`` of each release from 0.8.1 to 3.9.
"""

from typing import Final, Literal

from msgspec import Struct

from emulator.releases.versions import DOCUMENTS, Numbers, is_since

Parsed = int | bool
Kind = Literal["integer", "boolean", "milliseconds", "seconds", "minutes", "word"]

SHORT_MAX: Final = 32_767
INT_MAX: Final = 2_147_483_647
LONG_MAX: Final = 9_223_372_036_854
"""The largest duration that fits into 64 bits as microseconds; Kafka's own limit is higher."""


class Setting(Struct, frozen=True):
    """One configuration name.

    ``defaults`` are (since release, value), oldest first, dated by the real release like
    features. ``attribute`` is its field in :class:`emulator.releases.config.BrokerConfig`.
    ``per_topic``: topics can override it, under the same name or as ``topic_name``. ``since`` is
    the first release that has it, ``until`` the last. ``maximum`` also gives Kafka's type of an
    integer: SHORT, INT or LONG. ``words`` are the spellings of false and true of a ``word``, or of
    0, 1, 2 and so on if there are more; ``aliases`` are other spellings of their elements.
    """

    name: str
    attribute: str
    kind: Kind
    defaults: tuple[tuple[str, Parsed], ...]
    meaning: str
    minimum: int = 0
    maximum: int = INT_MAX
    per_topic: bool = False
    topic_name: str = ""
    words: tuple[str, ...] = ()
    aliases: dict[str, str] = {}
    since: str = DOCUMENTS
    until: str | None = None

    def default(self, numbers: Numbers) -> Parsed:
        """Return the default in a release (see :func:`emulator.releases.versions.numbers_of`)."""
        return [value for since, value in self.defaults if is_since(numbers, since)][-1]


_SINCE_EVER: Final = DOCUMENTS
_KRAFT: Final = "3.3"
_SNAPSHOTS_BY_TIME: Final = "3.4"

_CLASSES: Final = "org.apache.kafka.coordinator.group.assignor"
_BOTH_CLASSES: Final = f"{_CLASSES}.UniformAssignor,{_CLASSES}.RangeAssignor"

FIRST_DESCRIBED: Final = "0.11.0.0"
"""The first release whose brokers describe their configuration: earlier ones take its names."""

SETTINGS: Final = (
    Setting(
        "replica.lag.time.max.ms",
        "replica_lag_time_max_us",
        "milliseconds",
        ((_SINCE_EVER, 10_000), ("2.5", 30_000)),
        "a follower that has not caught up for so long leaves the ISR",
        minimum=1,
        maximum=LONG_MAX,
    ),
    Setting(
        "replica.lag.max.messages",
        "replica_lag_max_messages",
        "integer",
        ((_SINCE_EVER, 4_000),),
        "a follower that lacks more records than this leaves the ISR (KIP-16 took it away)",
        minimum=1,
        maximum=LONG_MAX,
        until="0.8.2",
    ),
    Setting(
        "replica.fetch.wait.max.ms",
        "replica_fetch_wait_max_us",
        "milliseconds",
        ((_SINCE_EVER, 500),),
        "how long a leader lets a follower's fetch wait for records",
    ),
    Setting(
        "replica.fetch.backoff.ms",
        "replica_fetch_backoff_us",
        "milliseconds",
        ((_SINCE_EVER, 1_000),),
        "how long a follower lets a partition rest after a fetch error",
    ),
    Setting(
        "replica.socket.timeout.ms",
        "replica_socket_timeout_us",
        "milliseconds",
        ((_SINCE_EVER, 30_000),),
        "how long a follower waits for any response of a leader",
        minimum=1,
    ),
    Setting(
        "controller.socket.timeout.ms",
        "controller_socket_timeout_us",
        "milliseconds",
        ((_SINCE_EVER, 30_000),),
        "how long the controller waits for a broker's response, and a broker for the controller's",
        minimum=1,
    ),
    Setting(
        "replica.high.watermark.checkpoint.interval.ms",
        "high_watermark_checkpoint_interval_us",
        "milliseconds",
        ((_SINCE_EVER, 5_000),),
        "how often a broker writes its high watermarks to disk",
        minimum=1,
        maximum=LONG_MAX,
    ),
    Setting(
        "log.flush.offset.checkpoint.interval.ms",
        "recovery_point_checkpoint_interval_us",
        "milliseconds",
        ((_SINCE_EVER, 60_000),),
        "how often a broker writes to disk up to which offsets its logs are flushed",
        minimum=1,
    ),
    Setting(
        "zookeeper.session.timeout.ms",
        "zookeeper_session_timeout_us",
        "milliseconds",
        ((_SINCE_EVER, 6_000), ("2.5", 18_000)),
        "how long ZooKeeper hears nothing of a broker before it counts as dead",
        minimum=1,
    ),
    Setting(
        "min.insync.replicas",
        "min_insync_replicas",
        "integer",
        ((_SINCE_EVER, 1),),
        "the smallest ISR with which acks=all is accepted",
        minimum=1,
        per_topic=True,
    ),
    Setting(
        "unclean.leader.election.enable",
        "unclean_leader_election_enable",
        "boolean",
        ((_SINCE_EVER, False), ("0.8.1", True), ("0.11", False)),
        "a replica outside the ISR may lead when no member is alive",
        per_topic=True,
    ),
    Setting(
        "auto.leader.rebalance.enable",
        "auto_leader_rebalance_enable",
        "boolean",
        ((_SINCE_EVER, True), ("0.8.1", False), ("0.8.2", True)),
        "the controller gives leadership back to preferred replicas",
    ),
    Setting(
        "leader.imbalance.check.interval.seconds",
        "leader_imbalance_check_interval_us",
        "seconds",
        ((_SINCE_EVER, 300),),
        "how often the controller looks for partitions not led by their preferred replica",
        minimum=1,
        maximum=LONG_MAX,
    ),
    Setting(
        "leader.imbalance.per.broker.percentage",
        "leader_imbalance_per_broker_percentage",
        "integer",
        ((_SINCE_EVER, 10),),
        "the share of such partitions of a broker that is left alone",
    ),
    Setting(
        "controlled.shutdown.enable",
        "controlled_shutdown_enable",
        "boolean",
        ((_SINCE_EVER, True), ("0.8.1", False), ("0.8.2", True)),
        "a broker that is stopped hands its leaderships over first",
    ),
    Setting(
        "controlled.shutdown.max.retries",
        "controlled_shutdown_max_retries",
        "integer",
        ((_SINCE_EVER, 3),),
        "how often it asks the controller before it stops anyway",
    ),
    Setting(
        "controlled.shutdown.retry.backoff.ms",
        "controlled_shutdown_retry_backoff_us",
        "milliseconds",
        ((_SINCE_EVER, 5_000),),
        "how long it waits before it asks again",
        maximum=LONG_MAX,
    ),
    Setting(
        "delete.topic.enable",
        "delete_topic_enable",
        "boolean",
        ((_SINCE_EVER, False), ("1.0", True)),
        "topics can be deleted",
    ),
    Setting(
        "message.max.bytes",
        "message_max_bytes",
        "integer",
        ((_SINCE_EVER, 1_000_012), ("2.5", 1_048_588)),
        "the largest batch (before 0.11: message) that a leader takes",
        per_topic=True,
        topic_name="max.message.bytes",
    ),
    Setting(
        "log.retention.ms",
        "log_retention_us",
        "milliseconds",
        ((_SINCE_EVER, 604_800_000),),
        "how long records are kept, -1 for ever; whole segments are deleted",
        minimum=-1,
        maximum=LONG_MAX,
        per_topic=True,
        topic_name="retention.ms",
    ),
    Setting(
        "log.retention.bytes",
        "log_retention_bytes",
        "integer",
        ((_SINCE_EVER, -1),),
        "how large a log is kept, -1 without limit; whole segments are deleted",
        minimum=-1,
        maximum=LONG_MAX,
        per_topic=True,
        topic_name="retention.bytes",
    ),
    Setting(
        "log.segment.bytes",
        "log_segment_bytes",
        "integer",
        ((_SINCE_EVER, 1_073_741_824),),
        "how large a segment grows",
        minimum=14,
        per_topic=True,
        topic_name="segment.bytes",
    ),
    Setting(
        "log.roll.ms",
        "log_roll_us",
        "milliseconds",
        ((_SINCE_EVER, 604_800_000),),
        "how long records go into one segment",
        minimum=1,
        maximum=LONG_MAX,
        per_topic=True,
        topic_name="segment.ms",
    ),
    Setting(
        "log.retention.check.interval.ms",
        "log_retention_check_interval_us",
        "milliseconds",
        ((_SINCE_EVER, 300_000),),
        "how often a broker looks for segments to delete",
        minimum=1,
        maximum=LONG_MAX,
    ),
    Setting(
        "offsets.topic.num.partitions",
        "offsets_topic_num_partitions",
        "integer",
        ((_SINCE_EVER, 50),),
        "how many partitions __consumer_offsets is made with",
        minimum=1,
        since="0.8.2",
    ),
    Setting(
        "offsets.topic.replication.factor",
        "offsets_topic_replication_factor",
        "integer",
        ((_SINCE_EVER, 3),),
        "how many replicas its partitions get",
        minimum=1,
        since="0.8.2",
        maximum=SHORT_MAX,
    ),
    Setting(
        "offsets.commit.timeout.ms",
        "offsets_commit_timeout_us",
        "milliseconds",
        ((_SINCE_EVER, 5_000),),
        "how long a coordinator waits until a commit is replicated",
        minimum=1,
        since="0.8.2",
    ),
    Setting(
        "offsets.retention.minutes",
        "offsets_retention_us",
        "minutes",
        ((_SINCE_EVER, 1_440), ("2.0", 10_080)),
        "how long a position is kept that no group needs (KIP-186; KIP-211 since when)",
        minimum=1,
        since="0.8.2",
    ),
    Setting(
        "offsets.retention.check.interval.ms",
        "offsets_check_interval_us",
        "milliseconds",
        ((_SINCE_EVER, 600_000),),
        "how often a coordinator looks for positions that are too old",
        minimum=1,
        since="0.8.2",
        maximum=LONG_MAX,
    ),
    Setting(
        "transaction.state.log.num.partitions",
        "transaction_topic_num_partitions",
        "integer",
        ((_SINCE_EVER, 50),),
        "how many partitions __transaction_state is made with",
        minimum=1,
        since="0.11",
    ),
    Setting(
        "transaction.state.log.replication.factor",
        "transaction_topic_replication_factor",
        "integer",
        ((_SINCE_EVER, 3),),
        "how many replicas its partitions get",
        minimum=1,
        since="0.11",
        maximum=SHORT_MAX,
    ),
    Setting(
        "transaction.state.log.min.isr",
        "transaction_topic_min_isr",
        "integer",
        ((_SINCE_EVER, 2),),
        "the smallest ISR with which its partitions are written",
        minimum=1,
        since="0.11",
    ),
    Setting(
        "transaction.max.timeout.ms",
        "transaction_max_timeout_us",
        "milliseconds",
        ((_SINCE_EVER, 900_000),),
        "the longest timeout that a transactional producer may ask for",
        minimum=1,
        since="0.11",
    ),
    Setting(
        "transaction.abort.timed.out.transaction.cleanup.interval.ms",
        "transaction_abort_interval_us",
        "milliseconds",
        ((_SINCE_EVER, 60_000), ("2.5", 10_000)),
        "how often a coordinator looks for transactions whose time is over",
        minimum=1,
        since="0.11",
    ),
    Setting(
        "transactional.id.expiration.ms",
        "transactional_id_expiration_us",
        "milliseconds",
        ((_SINCE_EVER, 604_800_000),),
        "how long a coordinator keeps a transactional id that nobody uses",
        minimum=1,
        since="0.11",
    ),
    Setting(
        "transaction.remove.expired.transaction.cleanup.interval.ms",
        "transaction_expiry_interval_us",
        "milliseconds",
        ((_SINCE_EVER, 3_600_000),),
        "how often a coordinator looks for transactional ids that nobody uses",
        minimum=1,
        since="0.11",
    ),
    Setting(
        "transaction.partition.verification.enable",
        "transaction_verification",
        "boolean",
        ((_SINCE_EVER, True),),
        "leaders ask the coordinator whether they are part of a transaction (KIP-890)",
        since="3.6",
    ),
    Setting(
        "group.min.session.timeout.ms",
        "group_min_session_timeout_us",
        "milliseconds",
        ((_SINCE_EVER, 6_000),),
        "a member of a group may have no shorter session timeout",
        since="0.9.0",
    ),
    Setting(
        "group.max.session.timeout.ms",
        "group_max_session_timeout_us",
        "milliseconds",
        ((_SINCE_EVER, 30_000), ("0.10.1", 300_000), ("2.3", 1_800_000)),
        "a member of a group may have no longer session timeout",
        since="0.9.0",
    ),
    Setting(
        "group.initial.rebalance.delay.ms",
        "group_initial_rebalance_delay_us",
        "milliseconds",
        ((_SINCE_EVER, 0), ("0.11", 3_000)),
        "how long an empty group waits for more members than its first (KIP-134)",
        since="0.11",
    ),
    Setting(
        "group.consumer.session.timeout.ms",
        "consumer_session_timeout_us",
        "milliseconds",
        ((_SINCE_EVER, 45_000),),
        "how long a member of a consumer group may be silent (KIP-848)",
        minimum=1,
        since="3.7",
    ),
    Setting(
        "group.consumer.min.session.timeout.ms",
        "consumer_min_session_timeout_us",
        "milliseconds",
        ((_SINCE_EVER, 45_000),),
        "the shortest session timeout of a consumer group (KIP-848)",
        minimum=1,
        since="3.7",
    ),
    Setting(
        "group.consumer.max.session.timeout.ms",
        "consumer_max_session_timeout_us",
        "milliseconds",
        ((_SINCE_EVER, 60_000),),
        "the longest session timeout of a consumer group (KIP-848)",
        minimum=1,
        since="3.7",
    ),
    Setting(
        "group.consumer.heartbeat.interval.ms",
        "consumer_heartbeat_interval_us",
        "milliseconds",
        ((_SINCE_EVER, 5_000),),
        "how often members of a consumer group are told to send heartbeats (KIP-848)",
        minimum=1,
        since="3.7",
    ),
    Setting(
        "group.consumer.min.heartbeat.interval.ms",
        "consumer_min_heartbeat_interval_us",
        "milliseconds",
        ((_SINCE_EVER, 5_000),),
        "the shortest heartbeat interval of a consumer group (KIP-848)",
        minimum=1,
        since="3.7",
    ),
    Setting(
        "group.consumer.max.heartbeat.interval.ms",
        "consumer_max_heartbeat_interval_us",
        "milliseconds",
        ((_SINCE_EVER, 15_000),),
        "the longest heartbeat interval of a consumer group (KIP-848)",
        minimum=1,
        since="3.7",
    ),
    Setting(
        "group.consumer.assignment.interval.ms",
        "consumer_assignment_interval_us",
        "milliseconds",
        ((_SINCE_EVER, 1_000),),
        "the shortest time between two assignments of a consumer group (KIP-1263)",
        since="4.3",
    ),
    Setting(
        "group.consumer.max.size",
        "consumer_group_max_size",
        "integer",
        ((_SINCE_EVER, INT_MAX),),
        "how many members a consumer group may have (KIP-848)",
        minimum=1,
        since="3.7",
    ),
    Setting(
        "group.consumer.migration.policy",
        "consumer_migration_policy",
        "word",
        ((_SINCE_EVER, 0), ("4.0", 3)),
        "which groups change between the classic and the consumer protocol online (KIP-848)",
        words=("disabled", "downgrade", "upgrade", "bidirectional"),
        since="3.8",
    ),
    Setting(
        "group.consumer.assignors",
        "consumer_assignors",
        "word",
        ((_SINCE_EVER, 4), ("4.0", 0)),
        "the assignors of consumer groups, the default first; only Kafka's own (KIP-848)",
        words=("uniform,range", "range,uniform", "uniform", "range", _BOTH_CLASSES),
        aliases={"UniformAssignor": "uniform", "RangeAssignor": "range"},
        since="3.7",
    ),
    Setting(
        "group.share.session.timeout.ms",
        "share_session_timeout_us",
        "milliseconds",
        ((_SINCE_EVER, 45_000),),
        "how long a member of a share group may be silent (KIP-932)",
        minimum=1,
        since="3.9",
    ),
    Setting(
        "group.share.min.session.timeout.ms",
        "share_min_session_timeout_us",
        "milliseconds",
        ((_SINCE_EVER, 45_000),),
        "the shortest session timeout of a share group (KIP-932)",
        minimum=1,
        since="3.9",
    ),
    Setting(
        "group.share.max.session.timeout.ms",
        "share_max_session_timeout_us",
        "milliseconds",
        ((_SINCE_EVER, 60_000),),
        "the longest session timeout of a share group (KIP-932)",
        minimum=1,
        since="3.9",
    ),
    Setting(
        "group.share.heartbeat.interval.ms",
        "share_heartbeat_interval_us",
        "milliseconds",
        ((_SINCE_EVER, 5_000),),
        "how often members of a share group are told to send heartbeats (KIP-932)",
        minimum=1,
        since="3.9",
    ),
    Setting(
        "group.share.min.heartbeat.interval.ms",
        "share_min_heartbeat_interval_us",
        "milliseconds",
        ((_SINCE_EVER, 5_000),),
        "the shortest heartbeat interval of a share group (KIP-932)",
        minimum=1,
        since="3.9",
    ),
    Setting(
        "group.share.max.heartbeat.interval.ms",
        "share_max_heartbeat_interval_us",
        "milliseconds",
        ((_SINCE_EVER, 15_000),),
        "the longest heartbeat interval of a share group (KIP-932)",
        minimum=1,
        since="3.9",
    ),
    Setting(
        "group.share.assignment.interval.ms",
        "share_assignment_interval_us",
        "milliseconds",
        ((_SINCE_EVER, 1_000),),
        "the shortest time between two assignments of a share group (KIP-1263)",
        since="4.3",
    ),
    Setting(
        "group.share.max.size",
        "share_group_max_size",
        "integer",
        ((_SINCE_EVER, 200),),
        "how many members a share group may have (KIP-932)",
        minimum=1,
        since="4.0",
    ),
    Setting(
        "group.share.delivery.count.limit",
        "share_delivery_count_limit",
        "integer",
        ((_SINCE_EVER, 5),),
        "how often a record is delivered in a share group at most (KIP-932)",
        minimum=2,
        since="3.9",
    ),
    Setting(
        "group.share.record.lock.duration.ms",
        "share_record_lock_us",
        "milliseconds",
        ((_SINCE_EVER, 30_000),),
        "how long a record stays acquired in a share group (KIP-932)",
        minimum=1,
        since="3.9",
    ),
    Setting(
        "group.share.min.record.lock.duration.ms",
        "share_min_record_lock_us",
        "milliseconds",
        ((_SINCE_EVER, 15_000),),
        "the shortest lock of acquired records (KIP-932)",
        minimum=1,
        since="3.9",
    ),
    Setting(
        "group.share.max.record.lock.duration.ms",
        "share_max_record_lock_us",
        "milliseconds",
        ((_SINCE_EVER, 60_000),),
        "the longest lock of acquired records (KIP-932)",
        minimum=1,
        since="3.9",
    ),
    Setting(
        "group.share.partition.max.record.locks",
        "share_partition_max_record_locks",
        "integer",
        ((_SINCE_EVER, 200), ("4.1", 2_000)),
        "how many records of a partition a share group may have in flight (KIP-932)",
        minimum=1,
        since="3.9",
    ),
    Setting(
        "group.share.max.share.sessions",
        "share_max_sessions",
        "integer",
        ((_SINCE_EVER, 2_000),),
        "how many share sessions a broker keeps (KIP-932)",
        minimum=1,
        since="4.1",
    ),
    Setting(
        "share.coordinator.state.topic.num.partitions",
        "share_state_num_partitions",
        "integer",
        ((_SINCE_EVER, 50),),
        "how many partitions __share_group_state is made with",
        minimum=1,
        since="4.0",
    ),
    Setting(
        "share.coordinator.state.topic.replication.factor",
        "share_state_replication_factor",
        "integer",
        ((_SINCE_EVER, 3),),
        "how many replicas __share_group_state is made with",
        minimum=1,
        maximum=SHORT_MAX,
        since="4.0",
    ),
    Setting(
        "share.coordinator.state.topic.min.isr",
        "share_state_min_isr",
        "integer",
        ((_SINCE_EVER, 2),),
        "min.insync.replicas of __share_group_state",
        minimum=1,
        maximum=SHORT_MAX,
        since="4.0",
    ),
    Setting(
        "share.coordinator.snapshot.update.records.per.snapshot",
        "share_updates_per_snapshot",
        "integer",
        ((_SINCE_EVER, 500),),
        "after how many changes a share-partition's whole state is written again",
        since="4.0",
    ),
    Setting(
        "share.coordinator.write.timeout.ms",
        "share_state_write_timeout_us",
        "milliseconds",
        ((_SINCE_EVER, 5_000),),
        "how long a share coordinator waits until its records are replicated",
        minimum=1,
        since="4.0",
    ),
    Setting(
        "group.share.initialize.retry.interval.ms",
        "share_initialize_retry_us",
        "milliseconds",
        ((_SINCE_EVER, 30_000),),
        "after how long a share group begins again with partitions whose state is not there yet",
        minimum=1,
        since="4.1",
    ),
    Setting(
        "replica.selector.class",
        "rack_aware_reads",
        "word",
        ((_SINCE_EVER, False),),
        "which replica consumers read: LeaderSelector or RackAwareReplicaSelector (KIP-392)",
        words=("LeaderSelector", "RackAwareReplicaSelector"),
        since="2.4",
    ),
    Setting(
        "log.message.timestamp.type",
        "log_append_time",
        "word",
        ((_SINCE_EVER, False),),
        "whose time records have: their producer's (CreateTime) or their leader's (LogAppendTime)",
        words=("CreateTime", "LogAppendTime"),
        per_topic=True,
        topic_name="message.timestamp.type",
        since="0.10",
    ),
    Setting(
        "replica.fetch.max.bytes",
        "replica_fetch_max_bytes",
        "integer",
        ((_SINCE_EVER, 1_048_576),),
        "how many bytes of records a follower is given of one partition at once",
    ),
    Setting(
        "replica.fetch.response.max.bytes",
        "replica_fetch_response_max_bytes",
        "integer",
        ((_SINCE_EVER, INT_MAX), ("0.10.1", 10_485_760)),
        "how many bytes of records a follower is given at once (KIP-74)",
        since="0.10.1",
    ),
    Setting(
        "fetch.max.bytes",
        "fetch_max_bytes",
        "integer",
        ((_SINCE_EVER, INT_MAX), ("2.5", 57_671_680)),
        "how many bytes of records a consumer is given at once, whatever it asks for (KIP-541)",
        minimum=1_024,
        since="2.5",
    ),
    Setting(
        "max.incremental.fetch.session.cache.slots",
        "fetch_session_slots",
        "integer",
        ((_SINCE_EVER, 0), ("1.1", 1_000)),
        "how many fetch sessions of consumers a broker keeps (KIP-227)",
        since="1.1",
    ),
    Setting(
        "auto.create.topics.enable",
        "auto_create_topics_enable",
        "boolean",
        ((_SINCE_EVER, True),),
        "a topic that a client of the wire protocol asks for is made if there is none",
    ),
    Setting(
        "num.partitions",
        "num_partitions",
        "integer",
        ((_SINCE_EVER, 1),),
        "how many partitions a topic gets for which nobody says it",
        minimum=1,
    ),
    Setting(
        "default.replication.factor",
        "default_replication_factor",
        "integer",
        ((_SINCE_EVER, 1),),
        "how many replicas its partitions get",
        minimum=1,
    ),
    Setting(
        "socket.request.max.bytes",
        "socket_request_max_bytes",
        "integer",
        ((_SINCE_EVER, 104_857_600),),
        "the largest request that a broker takes",
        minimum=1,
    ),
    Setting(
        "connections.max.idle.ms",
        "connections_max_idle_us",
        "milliseconds",
        ((_SINCE_EVER, 600_000),),
        "how long a client's connection may be idle before the broker closes it",
        minimum=1,
        since="0.8.2",
        maximum=LONG_MAX,
    ),
    Setting(
        "broker.session.timeout.ms",
        "broker_session_timeout_us",
        "milliseconds",
        ((_SINCE_EVER, 9_000),),
        "KRaft: how long the controller hears nothing of a broker before it fences it (KIP-631)",
        minimum=1,
        since=_KRAFT,
    ),
    Setting(
        "broker.heartbeat.interval.ms",
        "broker_heartbeat_interval_us",
        "milliseconds",
        ((_SINCE_EVER, 2_000),),
        "KRaft: how often a broker sends the controller a heartbeat",
        minimum=1,
        since=_KRAFT,
    ),
    Setting(
        "controller.quorum.election.timeout.ms",
        "quorum_election_timeout_us",
        "milliseconds",
        ((_SINCE_EVER, 1_000),),
        "KRaft: how long an election may take; chance adds up to as much (KIP-595)",
        minimum=1,
        since=_KRAFT,
    ),
    Setting(
        "controller.quorum.election.backoff.max.ms",
        "quorum_election_backoff_max_us",
        "milliseconds",
        ((_SINCE_EVER, 1_000),),
        "KRaft: how long a candidate that lost waits at most before it stands again",
        since=_KRAFT,
    ),
    Setting(
        "controller.quorum.fetch.timeout.ms",
        "quorum_fetch_timeout_us",
        "milliseconds",
        ((_SINCE_EVER, 2_000),),
        "KRaft: how long a controller hears nothing of the quorum's leader before it stands",
        minimum=1,
        since=_KRAFT,
    ),
    Setting(
        "controller.quorum.request.timeout.ms",
        "quorum_request_timeout_us",
        "milliseconds",
        ((_SINCE_EVER, 2_000),),
        "KRaft: how long a member of the quorum waits for a response",
        minimum=1,
        since=_KRAFT,
    ),
    Setting(
        "controller.quorum.append.linger.ms",
        "quorum_append_linger_us",
        "milliseconds",
        ((_SINCE_EVER, 25),),
        "KRaft: how long the leader gathers records before it writes them to the log",
        since=_KRAFT,
    ),
    Setting(
        "metadata.max.idle.interval.ms",
        "metadata_max_idle_interval_us",
        "milliseconds",
        ((_SINCE_EVER, 500),),
        "KRaft: how often the active controller writes a NoOpRecord, 0 for never (KIP-835)",
        since=_KRAFT,
    ),
    Setting(
        "metadata.log.max.record.bytes.between.snapshots",
        "metadata_snapshot_bytes",
        "integer",
        ((_SINCE_EVER, 20_971_520),),
        "KRaft: after so many bytes of the metadata log a member writes a snapshot (KIP-630)",
        minimum=1,
        maximum=LONG_MAX,
        since=_KRAFT,
    ),
    Setting(
        "metadata.log.max.snapshot.interval.ms",
        "metadata_snapshot_interval_us",
        "milliseconds",
        ((_SINCE_EVER, 0), (_SNAPSHOTS_BY_TIME, 3_600_000)),
        "KRaft: after so long a member writes a snapshot, 0 for never (KIP-876)",
        maximum=LONG_MAX,
        since=_SNAPSHOTS_BY_TIME,
    ),
    Setting(
        "metadata.max.retention.bytes",
        "metadata_max_retention_bytes",
        "integer",
        ((_SINCE_EVER, -1), (_SNAPSHOTS_BY_TIME, 104_857_600)),
        "KRaft: how much the metadata log and its snapshots may take, -1 for any amount",
        minimum=-1,
        maximum=LONG_MAX,
        since=_KRAFT,
    ),
    Setting(
        "metadata.max.retention.ms",
        "metadata_max_retention_us",
        "milliseconds",
        ((_SINCE_EVER, 604_800_000),),
        "KRaft: how old a snapshot of the metadata log may be that is not the latest",
        maximum=LONG_MAX,
        since=_KRAFT,
    ),
    Setting(
        "metadata.log.segment.bytes",
        "metadata_log_segment_bytes",
        "integer",
        ((_SINCE_EVER, 1_073_741_824),),
        "KRaft: the size of a file of the metadata log; a file goes as a whole",
        minimum=8_388_608,
        since=_KRAFT,
    ),
    Setting(
        "metadata.log.segment.ms",
        "metadata_log_segment_us",
        "milliseconds",
        ((_SINCE_EVER, 604_800_000),),
        "KRaft: after how long a new file of the metadata log begins",
        maximum=LONG_MAX,
        since=_KRAFT,
    ),
    Setting(
        "unclean.leader.election.interval.ms",
        "unclean_election_interval_us",
        "milliseconds",
        ((_SINCE_EVER, 300_000),),
        "KRaft: how often the controller looks for partitions to elect uncleanly",
        minimum=1,
        maximum=LONG_MAX,
        since=_KRAFT,
    ),
)
"""Every name with an effect here; topics have those ``per_topic``, too."""

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

Allowed = int | tuple[str, ...] | type | None
"""The valid values: integers from a minimum on, words, a type, or (None) anything."""

BOOLEAN: Final = ("true", "false")
TOPICS: Final[dict[str, Allowed]] = {
    "cleanup.policy": ("compact", "delete", "compact,delete", "delete,compact"),
    "compression.gzip.level": int,
    "compression.lz4.level": int,
    "compression.type": ("uncompressed", "zstd", "lz4", "snappy", "gzip", "producer"),
    "compression.zstd.level": int,
    "delete.retention.ms": 0,
    "file.delete.delay.ms": 0,
    "flush.messages": 0,
    "flush.ms": 0,
    "follower.replication.throttled.replicas": None,
    "index.interval.bytes": 0,
    "leader.replication.throttled.replicas": None,
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

TOPICS_BEFORE_4: Final = frozenset(
    {
        "message.downconversion.enable",
        "message.format.version",
        "message.timestamp.difference.max.ms",
    }
)
"""Those of them that 4.0 has removed."""

LISTS: Final = frozenset(
    {
        "cleanup.policy",
        "follower.replication.throttled.replicas",
        "leader.replication.throttled.replicas",
    }
)
"""Those of :data:`TOPICS` that are lists, separated by commas."""

LONGS: Final = frozenset(
    {
        "flush.messages",
        "local.retention.bytes",
        *(name for name in TOPICS if name.endswith(".ms")),
    }
)
"""Those of :data:`TOPICS` that are 64-bit integers; other integers have 32 bits."""
