"""Features of KRaft: the controller quorum and its active controller; unused with ZooKeeper."""

from typing import Final

from emulator.releases.features.base import features

KRAFT: Final = features("""\
kraft | since 3.3 | KIP-833
    clusters may run without ZooKeeper: a quorum of controllers keeps a log of metadata
leader_checks_quorum | since 3.7 | KAFKA-15489
    a quorum's leader from which no majority fetches any more resigns
pre_vote | since 4.0 | KIP-996
    a controller asks whether it would be elected before it begins a new epoch
metadata_fetch_tells_high_watermark | since 4.1 | KIP-1166
    fetches of the metadata log are answered as soon as the high watermark has risen
controller_registration | since 3.7 | KIP-919
    controllers register in the metadata log
features_chosen_at_format | since 4.0 | KIP-1022
    clusters are formatted with levels of each feature that may be chosen
directory_assignments_wait_half_a_second | 3.7 to 3.8 | KAFKA-15358, ended by KAFKA-17190
    a broker collects assignments to log directories for 500 ms; later for 100 ms
kraft_unclean_election_by_config | since 3.9 | KAFKA-12670
    in KRaft mode unclean.leader.election.enable has an effect, at once where something changes
    and every five minutes
contact_times_by_broker_epoch | since 4.0 | KAFKA-17793
    the quorum controller keeps when brokers were heard of apart from whether they are fenced,
    and looks for stale ones eight times a session: one that was shut down is fenced twice
leader_checks_periodic | since 4.0 | KAFKA-17793
    the quorum controller looks for leaders to give back, and for unclean elections, at fixed
    intervals; before, an interval after there was first something to do
contact_times_of_fenced_brokers | 4.0 to 4.0 | KAFKA-18138, ended by ClusterControlManager.activate
    a quorum controller that becomes active begins a session for fenced brokers too
registration_handles_shutdown | since 4.0 | KAFKA-18106
    a broker that registers anew before it was fenced leaves the ISRs with its registration
dead_last_known_leader_elected | 4.0 to 4.0 | KAFKA-15584, ended by KAFKA-19522
    with ISR and ELR empty the last known leader is elected even while it is fenced
last_leader_noted_with_empty_isr | 4.0 to 4.1.0 | KAFKA-15584, ended by PartitionChangeBuilder.maybeUpdateLastKnownLeader
    the last known leader is written down when the ISR empties, not when the leader goes
amended_registration_keeps_fencing | since 3.7.1 | KAFKA-16757
    a broker that registers again without a restart stays unfenced
amended_registration_keeps_epoch | since 3.9 | KAFKA-16952
    a broker that registers again without a restart keeps its broker epoch
epoch_bump_without_isr_change | 3.3 to 3.7 | KAFKA-15021, ended by KAFKA-16624
    below metadata version 3.6-IV0 the leader epoch rises also when the last member may not
    leave the ISR
reassignment_completes_with_all_replicas | 3.8 to 4.2 | KAFKA-15665, ended by KAFKA-19975
    a reassignment is complete when all target replicas are in sync; before, when those are that
    it adds
reassignment_completes_unless_shrinking | since 4.3 | KAFKA-19975
    a reassignment that does not shrink the replica list need not wait for those target replicas
    that it does not add
directory_assignment_clears_elr | 4.0 to 4.2 | ReplicationControlManager.handleAssignReplicasToDirs, ended by PartitionChangeBuilder
    a partition loses its eligible leader replicas when a broker tells in which log directory
    its replica is
replication_factor_change_refusable | since 4.1 | KIP-860
    a reassignment may ask that the replication factor stays
metrics_subscriptions_are_configurations | since 4.0 | ClientMetricsConfigs
    a subscription to clients' metrics has defaults and types, and is described with both
acl_principals_checked | since 3.9 | AclControlManager.validateNewAcl
    an access control entry whose principal has no colon is refused
zk_migration_state_in_log | 3.4 to 3.9 | KIP-866, ended by ActivationRecordsGenerator
    a new metadata log says that no migration from ZooKeeper is under way
""")
