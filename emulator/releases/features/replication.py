"""Changes to replication: ISR, high watermark, truncation, fetches."""

from typing import Final

from emulator.releases.features.base import features

REPLICATION: Final = features("""\
truncate_to_high_watermark_on_restart | documents to documents | documents
    a restarted replica sets its LEO to its HW, even one that then leads
high_watermark_stored_at_once | documents to documents | documents
    each change of a replica's HW is on disk at once, not only with the next checkpoint
surplus_truncated_to_leaders_end | documents to documents | documents
    a follower of a new leader loses what it has beyond the leader's LEO, not what is beyond its
    own HW
min_isr_checked_before_append_only | documents to documents | documents
    a record that was written with enough replicas in the ISR is not refused afterwards: one
    that ends in NOT_ENOUGH_REPLICAS is in no log
response_has_raised_high_watermark | documents to documents | documents
    a leader reads, notes the follower's position and moves the HW, and then answers: the
    response already carries the HW that this very fetch raised
fetch_recorded_before_read | 0.8.1 to 0.8.1 | KAFKA-46, ended by KAFKA-1430
    a fetch response already carries the HW that this very fetch raised
replica_lag_in_messages | documents to 0.8.2 | KAFKA-46, ended by KIP-16
    a follower more than replica.lag.max.messages behind leaves the ISR
lag_time_since_last_fetch | documents to 0.8.2 | KAFKA-46, ended by KIP-16
    lag time counts from the last recorded fetch, not from being caught up
out_of_range_truncates_fully | documents to 0.9.0.0 | KAFKA-521, ended by KAFKA-2143
    a follower out of range begins a log anew
requests_need_metadata | since 0.10.1 | KAFKA-3396
    produce requests and fetches, followers' too, fail for a partition that is not in the
    broker's metadata, such as that of a topic being deleted
absent_replica_is_no_leader | since 2.0.0 | KAFKA-6796
    a broker that knows a partition, but has no replica of it, says that it is not the leader
absent_replica_not_available | 0.10.2 to 2.5 | ReplicaManager.getReplicaOrException, ended by KAFKA-10223
    asked by a client that debugs, a broker without a replica says REPLICA_NOT_AVAILABLE
log_dir_moves_need_metadata | since 2.1 | ReplicaManager.alterReplicaLogDirs
    moving a replica to another log directory fails with UNKNOWN_TOPIC_OR_PARTITION if the
    partition is not in the broker's metadata; before, with REPLICA_NOT_AVAILABLE
required_acks_validated | since 0.9 | KAFKA-1697
    acks other than 0, 1 and all are refused
isr_change_notifications | 0.9 to 2.6 and from documents | KAFKA-1367, ended by KIP-497
    leaders tell the controller of their ISR writes by sequential znodes
leader_and_isr_waits_for_idle_fetchers | documents to 1.0 | KAFKA-612, ended by KAFKA-6051
    LeaderAndIsr is answered only when fetchers without partitions have their last response
out_of_range_is_fatal | 0.8.2 to 2.0.0 | KAFKA-1028, ended by KAFKA-7414
    a follower with a longer log than its leader's ends, unless unclean election is on
fatal_fetch_error_exits_in_order | 0.10.0.1 to 2.0.0 | KAFKA-3924, ended by KAFKA-7414
    a follower that may not truncate shuts its broker down (System.exit, not Runtime.halt)
exiting_thread_has_ended | since 0.11 | KAFKA-4039
    a shutdown does not wait for the fetcher thread that began it, which would be for ever
timeouts_precede_responses | since 0.9 | KAFKA-2411
    a fetcher thread continued after a freeze finds a timed-out fetch before its response
isr_expiration_at_half_lag_time | since 0.10.2 | KAFKA-4485
    ISR expiry runs every half of replica.lag.time.max.ms, not every whole
caught_up_replicas_hold_high_watermark | since 0.10.2 | KAFKA-4485
    assigned replicas that are caught up hold the HW back although not in the ISR
caught_up_at_previous_fetch | since 0.10.2 | KAFKA-4485
    reaching the LEO of the fetch before counts as caught up at that fetch
leader_epochs | since 0.11 and from documents | KIP-101
    records carry leader epochs, and replicas keep the start offset of each in a cache
truncation_by_leader_epoch | since 0.11 | KIP-101
    followers ask for the end of their epoch and truncate there, not to their HW
log_start_offset_replicated | since 0.11 | KIP-107
    followers delete the records before their leader's log start offset
epoch_end_offset_has_epoch | since 2.0 | KIP-279
    the leader answers with epoch and offset; the follower may ask again
epoch_assigned_at_election | since 2.0.1 | KAFKA-7415
    a leader enters its epoch in the cache when it is elected
isr_expand_needs_epoch_start | since 2.0.1 | KAFKA-7128
    a follower joins the ISR only past the start of the leader's epoch
epoch_end_offset_below_first_epoch | since 2.0.1 | KAFKA-7415
    an epoch below the first known one is answered with the first start offset
truncate_on_each_epoch | since 2.1 | KIP-320
    a follower truncates again on every new leader epoch, same leader or not
leader_epoch_fencing | since 2.1 | KIP-320
    fetches carry the leader epoch: FENCED_LEADER_EPOCH, UNKNOWN_LEADER_EPOCH
incremental_fetch_without_epoch | 2.1 to 2.4 | KIP-320, ended by KAFKA-9338
    only the fetch that begins a session carries the leader epoch to the check
sharded_fetch_session_cache | since 3.8 | KAFKA-9401
    the slots of fetch sessions are divided among eight parts of the cache, in turn
in_sync_at_log_end | since 2.1 | KAFKA-7152
    a follower that has everything stays in the ISR however long it is silent
high_watermark_in_log | since 2.4 and from documents | KAFKA-8457
    the HW lives in the log: it is truncated with it and clamped to its range
delayed_fetch_completes_on_high_watermark | 2.4 to 2.5 | KIP-392, ended by KAFKA-9952
    a parked follower fetch is answered as soon as the HW rises
alter_isr | since 2.7 | KIP-497
    leaders ask the controller for ISR changes; a pending ISR counts at its largest
alter_isr_sent_periodically | 2.7 to 2.7 | KIP-497, ended by AlterIsrManager 2.8.0
    leaders look every 50 ms for ISR changes to ask for, not only when there is a new one
failed_isr_retry_ends_response | 2.7 to 2.8 | KIP-497, ended by AlterIsrManager 3.0.0
    an ISR change that cannot be asked for again keeps others from hearing of their response
unexpected_alter_isr_error_is_final | 2.7 to 3.0 | KIP-497, ended by KAFKA-13091
    an ISR change that fails with an error that the leader does not expect stays pending
epoch_cache_truncated_at_log_end | since 2.6.1 | KAFKA-10706
    cutting at the LEO still drops epoch entries that start there
isr_write_holds_partition_lock | documents to 2.6 | KAFKA-46, ended by KIP-497
    a leader that stores an ISR change keeps the partition's lock until ZooKeeper answers
reads_need_partition_lock | since 2.1 | KIP-320
    reading a partition needs its lock, so reads wait too while a leader changes the ISR
truncate_on_fetch | since 2.8 | KIP-595
    the fetch itself reports a diverging epoch; no separate question
high_watermark_checked_after_alter_partition | since 3.1 | KAFKA-13091
    the leader checks its HW again when an ISR change is answered
caught_up_at_log_end | since 3.3 | Replica 3.3.0
    an assigned replica that has everything counts as caught up however long it is silent
isr_needs_live_replica | since 3.3 | KIP-841
    a leader takes only replicas into the ISR that are alive in its metadata
alter_partition_needs_live_replicas | since 3.3 | KAFKA-14140
    the controller refuses an ISR with a dead or stopping replica: INELIGIBLE_REPLICA
fetch_carries_broker_epoch | since 3.5 | KIP-903
    in KRaft mode followers' fetches carry their broker epochs, which the leader passes on with
    an ISR change, so that no restarted broker is taken for its previous process
high_watermark_ignores_dead_replicas | since 3.6 | KAFKA-15021
    a caught-up replica outside the ISR holds the HW back only while it is alive
high_watermark_needs_min_isr | since 3.7 | KAFKA-15583
    the HW does not move while the ISR is below min.insync.replicas
compacted_topics_need_keys | since 0.9.0 | KAFKA-1755
    a topic that is compacted takes no records without a key
invalid_record_error | since 2.4 | KIP-467
    records without a key in a compacted topic: INVALID_RECORD, not CORRUPT_MESSAGE
""")
