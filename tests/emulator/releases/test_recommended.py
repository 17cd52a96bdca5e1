"""What each recommended version does: a change here is a change of behaviour, never of dates alone.

Most of these were recorded on real Kafka (``tests/golden``).
"""

import pytest

from emulator.releases.features import FEATURES
from emulator.releases.profiles import PROFILES, VERSIONS

SPANS = """
truncate_to_high_watermark_on_restart documents
high_watermark_stored_at_once documents
surplus_truncated_to_leaders_end documents
min_isr_checked_before_append_only documents
response_has_raised_high_watermark documents
fetch_recorded_before_read 0.8.1
replica_lag_in_messages documents..0.8.2
lag_time_since_last_fetch documents..0.8.2
out_of_range_truncates_fully documents..0.8.2
requests_need_metadata 0.10.2..3.9
absent_replica_is_no_leader 2.0.0..3.9
absent_replica_not_available 0.10.2..2.5
log_dir_moves_need_metadata 2.1..3.9
required_acks_validated 0.9..3.9
isr_change_notifications documents 0.9..2.5
leader_and_isr_waits_for_idle_fetchers documents..0.11
out_of_range_is_fatal 0.8.2..2.0.0
fatal_fetch_error_exits_in_order 0.10.0..2.0.0
exiting_thread_has_ended 0.11..3.9
timeouts_precede_responses 0.9..3.9
isr_expiration_at_half_lag_time 0.10.2..3.9
caught_up_replicas_hold_high_watermark 0.10.2..3.9
caught_up_at_previous_fetch 0.10.2..3.9
leader_epochs documents 0.11..3.9
truncation_by_leader_epoch 0.11..3.9
log_start_offset_replicated 0.11..3.9
epoch_end_offset_has_epoch 2.0.0..3.9
epoch_assigned_at_election 2.0.1..3.9
isr_expand_needs_epoch_start 2.0.1..3.9
epoch_end_offset_below_first_epoch 2.0.1..3.9
truncate_on_each_epoch 2.1..3.9
leader_epoch_fencing 2.1..3.9
incremental_fetch_without_epoch 2.1..2.4
sharded_fetch_session_cache 3.9
in_sync_at_log_end 2.1..3.9
high_watermark_in_log documents 2.4..3.9
delayed_fetch_completes_on_high_watermark 2.4..2.5
alter_isr 2.7..3.9
alter_isr_sent_periodically 2.7
failed_isr_retry_ends_response 2.7..2.8
unexpected_alter_isr_error_is_final 2.7..2.8
epoch_cache_truncated_at_log_end 2.7..3.9
isr_write_holds_partition_lock documents..2.5
reads_need_partition_lock 2.1..3.9
truncate_on_fetch 2.8..3.9
high_watermark_checked_after_alter_partition 3.5..3.9
caught_up_at_log_end 3.5..3.9
isr_needs_live_replica 3.5..3.9
alter_partition_needs_live_replicas 3.5..3.9
fetch_carries_broker_epoch 3.5..3.9
high_watermark_ignores_dead_replicas 3.9
high_watermark_needs_min_isr 3.9
compacted_topics_need_keys 0.9..3.9
invalid_record_error 2.4..3.9
new_topic_with_defaults 2.4..3.9
existing_topic_refused_first 2.4..3.9
new_topic_configuration_checked_first documents..2.5
new_topic_invalid_config_error 2.1..3.9
null_config_values_refused 2.7..3.9
empty_config_keys_mean_all 2.7..3.9
configs_named_by_row 2.7..3.9
alter_configs_named_once 2.7..3.9
unknown_topics_not_described 2.0.0..3.9
quotas_checked_strictly 3.5..3.9
broker_logger_resources 2.4..3.9
unexpected_node_named 3.9
client_metrics_resources 3.9
metadata_topic_prohibited 3.5..3.9
metadata_topic_prohibition_explained 3.9
unknown_topic_error_when_altering 2.7..3.9
topics_named_twice_answered_twice 2.4..3.9
offline_election_in_isr_order documents..0.8.1
controlled_shutdown_election_in_isr_order documents..0.9
empty_isr_on_unclean 0.8.1..0.11
failover_checks_running documents..0.10.2
running_as_controller documents 0.8.2..0.10.0
controller_event_queue 0.11..3.9
controlled_shutdown_one_by_one documents..0.11
assignments_filtered_into_a_map documents..0.10.0
election_before_registration documents..0.11
controlled_shutdown_asks_zookeeper documents..2.8
controlled_shutdown_ends_without_controller documents..0.11
controlled_shutdown_waits_after_last_try documents..2.8
topic_deletion_in_hash_order documents..0.11
controller_awaits_send_threads 0.10.2..2.0.1
live_brokers_change_with_their_procedures 2.2..3.9
failover_deletes_notifications 1.1..3.9
failover_sends_metadata_first 0.10.2..3.9
preferred_election_of_current_leader 1.1..2.1
reassignment_needs_live_replicas documents..0.10.0
reassignments_remembered 1.1..2.2
reassignments_dropped_together 2.0.0..2.2
unreadable_preferred_election_stays documents..0.11
admin_requests_data_watched documents..0.11
unknown_preferred_election_stays documents..2.1
added_partitions_of_deleted_topic_undone 2.0.0..3.9
offline_replica_needs_leader documents..1.1
unclean_broker_config_elects 2.0.0..3.9
unclean_topic_config_elects 2.1..3.9
controller_multi 2.1..3.9
broker_epochs 2.2..3.9
cancel_reassignment 2.4..3.9
elect_leaders 2.4..3.9
offline_replicas_ineligible_for_deletion 2.4..3.9
brokers_in_hash_order 1.1..2.4
brokers_in_hash_order_of_scala_2_13 2.5..3.9
offline_replicas_leave_isr_at_failover 2.4..3.9
leader_ahead_of_controller_noticed 3.5..3.9
leader_recovery 3.5..3.9
wrong_value_is_invalid_config 3.5..3.9
offsets_expire_when_group_empty 2.1..3.9
offsets_expire_without_subscription 2.4..3.9
offsets_kept_in_rebalances 2.8..3.9
offsets_kept_for_transactions
consumer_groups documents 0.9..3.9
fetch_tells_last_stable_offset 2.1..3.9
completing_rebalance_state 1.1..3.9
heartbeats_refused_before_assignment 0.9..2.5
unsynced_members_removed 2.8..3.9
refused_joins_have_generation_zero 0.9..2.1
invalid_topic_name_error 2.8..3.9
offsets_deleted_with_topics 0.10.2..3.9
groups_need_name 2.0.0..3.9
consumer_group_protocol
group_records_need_no_min_isr
new_groups_written
classic_members_need_migration
group_metadata_hash
heartbeats_checked_before_coordinator
unsubscribed_partitions_revoked
durations_named_with_a_dot
listed_offsets_by_row 2.7..3.9
epoch_ends_by_row 2.8..3.9
coordinator_types_read_late 2.4..3.9
unknown_coordinator_type_invalid 2.8..3.9
all_topics_of_log_dirs 2.7..3.5
nameless_offset_fetches_unanswered 3.5..3.9
producers_of_valid_topics 3.5..3.9
acl_entries_read_early 2.0.0..2.4
unknown_acl_words_unreadable 2.5..3.9
user_resources 3.5..3.9
internal_topics_not_in_transactions 1.1..3.9
transactional_members_checked_as_others 3.5..3.9
ongoing_transactions_known_by_epoch
transaction_verified_before_member 3.9
verification_translated_for_produce 3.9
throttled_clients_told_at_once 2.0.0..3.9
group_configs_inherit
group_limits_in_numbers
consumers_rejoin_with_epoch_zero
target_assignments_wait
revoking_partitions_described
preferred_assignor_bumps_epoch
share_groups
share_locks_renewed
share_fetches_limited
share_fetches_within_lock_limit
share_member_ids_need_no_uuid
share_members_join_again
share_offsets_altered
share_completed_records_counted
share_partitions_kept_without_sessions
share_deliveries_counted_at_session_end
share_state_asked_after_unknown_errors
share_assignments_balanced
unsubscribed_share_partitions_forgotten
share_deliveries_throttled
share_fetch_of_unknown_topics
message_timestamps 0.10.0..3.9
rebalance_timeout 0.10.2..3.9
offsets_topic_needs_replication_factor 0.11..3.9
offsets_loaded_to_log_end 0.11..3.9
idempotence documents 0.11..3.9
produce_needs_batch 0.11..3.9
transactional_offsets_need_epoch 0.11..3.9
transaction_partition_verification 3.9
transaction_abortable_error 3.9
transaction_start_kept 0.11..3.9
transactional_records_need_id 2.0.0..3.9
producer_state_keeps_five_batches 1.1..3.9
unknown_producer_id_error 1.1..2.4
delivery_timeout 2.1..3.9
member_id_required 2.2..3.9
cooperative_rebalance 2.4..3.9
fetch_from_followers 2.4..3.9
sticky_partitioner 2.4..2.8
unknown_producer_id_accepted 2.5..3.9
producer_epoch_bump 2.5..3.9
preferred_read_replica_in_isr 3.5..3.9
built_in_partitioner 3.5..3.9
acks_all_by_default 3.5..3.9
idempotence_by_default 3.5..3.9
session_timeout_45s 3.5..3.9
fetch_response_max_bytes 0.10.2..3.9
offsets_for_times 0.10.2..3.9
newest_record_has_own_epoch 3.9
largest_timestamp_listed 3.5..3.9
local_log_start_listed 3.5..3.9
listed_timestamps_need_version 3.9
offset_not_available_error 2.2..3.9
refused_records_counted 3.5..3.9
refusals_of_keys_end_with_stop 0.8.1..2.8
acl_authorizer 2.4..3.9
simple_acl_authorizer 0.9..2.8
groups_have_configs
feature_updates_have_types 3.5..3.9
broker_endpoints documents 0.9..3.9
generated_broker_ids documents 0.9..3.9
client_quotas 0.9..3.9
isr_change_notification_znode documents 0.9..3.9
prefixed_acls 2.0.0..3.9
json_config_changes 0.9..3.9
broker_rack documents 0.10.0..3.9
config_entity_paths 0.10.2..3.9
cluster_id documents 0.10.2..3.9
producer_id_block_znode documents 0.11..3.9
listener_protocol_map documents 0.10.2..3.9
dynamic_broker_config 1.1..3.9
removed_broker_config_stays 1.1..2.4
session_expiry_fails_requests 1.1..3.9
log_dir_event_notifications documents 1.1..3.9
broker_registration_multi documents 2.2..3.9
zookeeper_config_node 2.4..3.9
zkcli_of_3_5 2.4..3.9
registrations_by_scala_2_13 2.5..3.9
finalized_features 2.7..3.9
topic_ids 2.8..3.9
ip_quotas 2.8..3.9
producer_ids_on_demand 3.5..3.9
producer_ids_without_waiting 3.9
kraft_controller_epoch 3.5..3.9
kraft 3.5..3.9
leader_checks_quorum 3.9
pre_vote
metadata_fetch_tells_high_watermark
controller_registration 3.9
features_chosen_at_format
directory_assignments_wait_half_a_second
kraft_unclean_election_by_config 3.9
contact_times_by_broker_epoch
leader_checks_periodic
contact_times_of_fenced_brokers
registration_handles_shutdown
dead_last_known_leader_elected
last_leader_noted_with_empty_isr
amended_registration_keeps_fencing 3.9
amended_registration_keeps_epoch 3.9
epoch_bump_without_isr_change 3.5
reassignment_completes_with_all_replicas 3.9
reassignment_completes_unless_shrinking
directory_assignment_clears_elr
replication_factor_change_refusable
metrics_subscriptions_are_configurations
acl_principals_checked 3.9
zk_migration_state_in_log 3.5..3.9
"""
"""Each feature with the recommended versions that have it: one, or from one to another."""

EXPECTED = {row.split()[0]: row.split()[1:] for row in SPANS.strip().splitlines()}


def test_every_feature_is_here() -> None:
    assert list(EXPECTED) == [feature.name for feature in FEATURES]


@pytest.mark.parametrize("name", EXPECTED)
def test_recommended_versions_do_what_they_did(name: str) -> None:
    expected: set[str] = set()
    for span in EXPECTED[name]:
        first, _, last = span.partition("..")
        places = VERSIONS.index(first), VERSIONS.index(last or first)
        expected.update(VERSIONS[places[0] : places[1] + 1])
    assert {version for version in VERSIONS if PROFILES[version].has(name)} == expected
