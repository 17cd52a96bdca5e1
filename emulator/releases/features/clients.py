"""Changes to producers, consumers and their groups."""

from typing import Final

from emulator.releases.features.base import features

CLIENTS: Final = features("""\
offsets_expire_when_group_empty | since 2.1 | KIP-211
    a group's committed offsets expire from when it is empty on, not from their commit
offsets_expire_without_subscription | since 2.4 | KIP-496
    committed offsets of topics to which no member subscribes expire from their commit on
offsets_kept_in_rebalances | since 3.2 and from 2.8.2, 3.0.1, 3.1.1 | KAFKA-13636
    no committed offset expires while a group of consumers rebalances
offsets_kept_for_transactions | since 4.0 | OffsetMetadataManager.cleanupExpiredOffsets
    a committed offset is kept while an open transaction has another one for its partition
consumer_groups | since 0.9 and from documents | KAFKA-1326
    consumers form groups by a coordinator and commit to __consumer_offsets
fetch_tells_last_stable_offset | since 2.1 | KAFKA-7395
    fetch responses tell the last stable offset to all, not only to who reads committed
completing_rebalance_state | since 1.1 | KAFKA-5565
    a group that waits for its leader is told as CompletingRebalance, not as AwaitingSync
heartbeats_refused_before_assignment | 0.9 to 2.5 | GroupCoordinator.handleHeartbeat, ended by KAFKA-10134
    a heartbeat before the leader has assigned partitions is told REBALANCE_IN_PROGRESS
unsynced_members_removed | since 2.8 | KAFKA-12890
    a member that does not ask for its assignment within the rebalance timeout is removed
refused_joins_have_generation_zero | 0.9 to 2.1 | GroupCoordinator.joinError, ended by KIP-394
    a refused JoinGroup has generation 0, not -1
invalid_topic_name_error | since 2.8 | KAFKA-9751
    Metadata refuses an invalid name with INVALID_TOPIC_EXCEPTION, also if no topic is created
offsets_deleted_with_topics | since 0.10.2 | KAFKA-2000
    committed offsets are deleted with their topic
groups_need_name | since 2.0 | KAFKA-6773
    only offsets may be committed, told and deleted for the empty group id
consumer_group_protocol | since 4.0 | KIP-848
    brokers assign the partitions of groups whose consumers use the protocol `consumer`
group_records_need_no_min_isr | since 4.0 | CoordinatorPartitionWriter.append
    a group's records are written whatever the ISR is, and wait to be replicated
new_groups_written | since 4.0 | KAFKA-14462
    the coordinator writes a record of a group as soon as its first member asks to join
classic_members_need_migration | since 4.4 | KIP-848
    no classic member may join a consumer group while the migration policy is `disabled`
group_metadata_hash | since 4.1 | KIP-1101
    a consumer group's epoch is stored with a hash of its topics, not with their metadata
heartbeats_checked_before_coordinator | since 4.1 | KAFKA-18100
    a heartbeat of a consumer group that is wrong in itself is refused by any broker
unsubscribed_partitions_revoked | since 4.2 | KAFKA-19431
    a consumer gives up a topic's partitions as soon as it does not subscribe to the topic
durations_named_with_a_dot | 4.0 to 4.0 | ShareGroupAutoOffsetResetStrategy, ended by ShareGroupAutoOffsetResetStrategy
    a wrong share.auto.offset.reset is told to be by_duration:<PnDTnHnMn.nS.>, with a dot
listed_offsets_by_row | 2.7 to 3.9 | KafkaApis.handleListOffsetRequestV1AndAbove, ended by ReplicaManager.fetchOffset
    ListOffsets answers each time that a partition is named, not once
epoch_ends_by_row | since 2.8 | OffsetsForLeaderEpochRequest
    OffsetForLeaderEpoch answers each time that a partition is named, not once
coordinator_types_read_late | since 2.3 | FindCoordinatorRequest
    an unknown type in FindCoordinator is an error, and does not close the connection
unknown_coordinator_type_invalid | since 2.8 | FindCoordinatorRequest.CoordinatorType
    that error is INVALID_REQUEST instead of UNKNOWN_SERVER_ERROR
all_topics_of_log_dirs | 2.6 to 3.6 | ReplicaManager.describeLogDirs, ended by ReplicaManager.describeLogDirs
    DescribeLogDirs tells of all topics with logs, without partitions if none of them is named
nameless_offset_fetches_unanswered | 3.0 to 3.9 | OffsetFetchResponse.errorCounts, ended by OffsetFetchResponse
    OffsetFetch without any group is not answered: the broker fails when it counts errors
producers_of_valid_topics | since 3.0 | KafkaApis.handleDescribeProducersRequest
    DescribeProducers refuses an invalid name with INVALID_TOPIC_EXCEPTION
acl_entries_read_early | 2.0 to 2.4 | ResourcePattern, ended by CreateAclsRequest
    CreateAcls with a word that only filters have cannot be read, and closes the connection
unknown_acl_words_unreadable | since 2.5 | CreateAclsRequest, DescribeAclsRequest, DeleteAclsRequest
    a request cannot be read that has the word for what is unknown in entries or filters
user_resources | since 3.3 | KIP-373
    users are a type of resources to which access is controlled
internal_topics_not_in_transactions | since 1.0 | KafkaApis.handleAddPartitionToTxnRequest
    a client that adds an internal topic is told TOPIC_AUTHORIZATION_FAILED for it
transactional_members_checked_as_others | since 3.0 | GroupCoordinator.validateOffsetCommit
    who sends any of member id and generation in TxnOffsetCommit has to be a current member by both
ongoing_transactions_known_by_epoch | since 4.0 | UnifiedLog.hasOngoingTransaction
    a leader has a transaction verified whose producer has another epoch than the one under way
transaction_verified_before_member | since 3.7 | GroupCoordinator.doTxnCommitOffsets
    TxnOffsetCommit has its transaction verified before the member that commits is looked at
verification_translated_for_produce | since 3.8 | ReplicaManager.handleProduceAppend
    errors of a verification are told as NOT_ENOUGH_REPLICAS to who produces, not to who commits
throttled_clients_told_at_once | since 2.0 | KIP-219
    a client that exceeds a quota is told so at once, and then not read from for a while
group_configs_inherit | since 4.3 | GroupConfig.validate
    the values that a group does not set are those of the brokers, told by their names
group_limits_in_numbers | since 4.4 | GroupConfig.validateIntRange
    a group's value that is out of range is told the range, not the brokers' names for it
consumers_rejoin_with_epoch_zero | since 4.2 | GroupMetadataManager.throwIfConsumerGroupMemberEpochIsInvalid
    a member of a consumer group that the coordinator knows may send epoch 0, and keeps its own
target_assignments_wait | since 4.3 | KIP-1263
    a consumer group's partitions are assigned at intervals, however often members change
revoking_partitions_described | since 4.3 | KIP-848
    a consumer is described with the partitions that it has still to revoke
preferred_assignor_bumps_epoch | since 4.4 | KIP-848
    a consumer group has a new epoch if its consumers prefer another assignor
share_groups | since 4.1 | KIP-932
    consumers of a share group share partitions, and acknowledge each record
share_locks_renewed | since 4.2 | KIP-1222
    a consumer of a share group can renew its locks
share_fetches_limited | since 4.2 | KIP-1206
    a share fetch can limit its records strictly, not only at the end of a batch
share_fetches_within_lock_limit | since 4.2 | SharePartition.acquire
    a share fetch acquires no more than the rest of share.partition.max.record.locks
share_member_ids_need_no_uuid | since 4.2 | KafkaApis.handleShareFetchRequest
    the id of a share group's member is any text of 1 to 36 characters, not a UUID
share_members_join_again | since 4.2 | GroupMetadataManager.shareGroupHeartbeat
    a member of a share group may join again with epoch 0
share_offsets_altered | since 4.2 | KIP-932
    a share group's offsets can be altered: before, only unknown topics were told
share_completed_records_counted | since 4.2 | KIP-1226
    a share-partition's state has the number of records from its start on that are done
share_partitions_kept_without_sessions | since 4.2 | SharePartitionManager
    a leader keeps the share-partitions of a group when its last session is closed
share_deliveries_counted_at_session_end | since 4.2 | SharePartition.releaseAcquiredRecords
    records that are released because a session ends count as delivered
share_state_asked_after_unknown_errors | since 4.2 | PersisterStateManager
    a share coordinator's UNKNOWN_SERVER_ERROR is retried
share_assignments_balanced | since 4.2 | SimpleAssignor
    a share group's partitions are spread evenly over its members
unsubscribed_share_partitions_forgotten | since 4.2 | ShareGroup
    a share group's members do not wait for partitions of topics without subscribers
share_deliveries_throttled | since 4.2 | KIP-932
    records that a share group was given often are given in smaller pieces, at last alone
share_fetch_of_unknown_topics | since 4.3 | KIP-932
    a share fetch of a topic whose id is unknown fails for that topic alone
message_timestamps | since 0.10.0 | KIP-32
    messages carry timestamps (format 1)
rebalance_timeout | since 0.10.1 | KIP-62
    a rebalance waits for members for max.poll.interval.ms, not for their session timeout
offsets_topic_needs_replication_factor | since 0.11 | KIP-115
    __consumer_offsets is not made before offsets.topic.replication.factor brokers live
offsets_loaded_to_log_end | since 0.11 | KAFKA-5059
    a new coordinator loads groups up to the LEO of its log, not up to the HW
idempotence | since 0.11 and from documents | KIP-98
    producer ids and sequence numbers detect duplicates
produce_needs_batch | since 0.11 | KIP-98
    a produce request without a record batch is refused (Produce 3)
transactional_offsets_need_epoch | 0.11 to 3.9 | KIP-98, ended by KIP-848
    offsets in a transaction without producer id or epoch fail with UNKNOWN_SERVER_ERROR
transaction_partition_verification | since 3.6 | KIP-890
    a leader asks the coordinator whether it is part of a transaction before it appends
transaction_abortable_error | since 3.8 | KIP-890
    what is not part of a transaction: TRANSACTION_ABORTABLE, not INVALID_TXN_STATE
transaction_start_kept | 0.11 to 4.0 | TransactionMetadata.completeTransitionTo, ended by TransactionMetadata.completeTransitionTo
    a transaction that has not begun is told with the start of the last one
transactional_records_need_id | since 2.0 | KafkaApis.handleProduceRequest
    records of a transaction are refused if the request has no transactional id
producer_state_keeps_five_batches | since 1.0 | KAFKA-5494
    five batches a producer are remembered
unknown_producer_id_error | 1.0 to 2.4 | KAFKA-5793, ended by KIP-360
    a producer that nobody knows and that starts in the middle: UNKNOWN_PRODUCER_ID
delivery_timeout | since 2.1 | KIP-91
    delivery.timeout.ms bounds a batch's time; retries without end
member_id_required | since 2.2 | KIP-394
    a new member is told its id first, and joins with it
cooperative_rebalance | since 2.4 | KIP-429
    with cooperative-sticky members keep what they own while they join again
fetch_from_followers | since 2.4 | KIP-392
    a leader sends a consumer with a rack to a replica there, which answers to its own HW
sticky_partitioner | 2.4 to 3.2 | KIP-480, ended by KIP-794
    records without a key stay on one partition for a batch, not in turn on all
unknown_producer_id_accepted | since 2.5 | KIP-360
    a producer that nobody knows may start with any sequence number
producer_epoch_bump | since 2.5 | KIP-360
    who lost count goes on in a new epoch
preferred_read_replica_in_isr | since 3.3.2 | KAFKA-14372
    consumers are sent to followers in the ISR only
built_in_partitioner | since 3.3 | KIP-794
    keyless records stay for batch.size bytes
acks_all_by_default | since 3.0 | KIP-679
    producers use acks=all
idempotence_by_default | since 3.2 and from 3.0.1, 3.1.1 | KAFKA-13598
    producers are idempotent unless told otherwise (KIP-679)
session_timeout_45s | since 3.0 | KIP-735
    session.timeout.ms of group members is 45 s
fetch_response_max_bytes | since 0.10.1 | KIP-74
    a fetch limits its whole response too, and is given a first batch however large it is
offsets_for_times | since 0.10.1 | KIP-79
    consumers find the offset of the first record that is not older than a timestamp
newest_record_has_own_epoch | since 3.8 | KAFKA-16310
    ListOffsets for the largest timestamp returns the record's leader epoch, not the newest
largest_timestamp_listed | since 3.0 | KIP-734
    ListOffsets for the timestamp -3 returns the record with the largest one
local_log_start_listed | since 3.5 | KIP-405
    ListOffsets for the timestamp -4 returns the first offset on the leader's disks
listed_timestamps_need_version | since 3.9 | KAFKA-17331
    a negative timestamp that the version of ListOffsets does not have is refused
offset_not_available_error | since 2.2 | KIP-207
    a new leader does not tell its latest offset until its HW has reached the epoch's start
refused_records_counted | since 3.2 | KAFKA-13694
    the error of a batch with refused records says how many there are, and names three
refusals_of_keys_end_with_stop | 0.8.1 to 3.4 | KIP-467, ended by KAFKA-14477
    the error of a record without a key in a compacted topic ends with a full stop
acl_authorizer | since 2.4 | KIP-504
    AclAuthorizer keeps access control entries in ZooKeeper
simple_acl_authorizer | 0.9 to 2.8 | KIP-11, ended by KAFKA-12591
    SimpleAclAuthorizer keeps access control entries in ZooKeeper
groups_have_configs | since 4.0 | KIP-848
    groups have configurations, which are described and altered by those who may
feature_updates_have_types | since 3.3 | KIP-778
    updates of features say whether they are an upgrade or a safe or unsafe downgrade
""")
