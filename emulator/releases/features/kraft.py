"""Features of KRaft: the controller quorum and its active controller; unused with ZooKeeper."""

from typing import Final

from emulator.releases.features.base import Feature

KRAFT: Final = (
    Feature(
        "kraft",
        "3.3",
        None,
        "KIP-833",
        "clusters may run without ZooKeeper: a quorum of controllers keeps a log of metadata",
    ),
    Feature(
        "leader_checks_quorum",
        "3.7",
        None,
        "KAFKA-15489",
        "a quorum's leader from which no majority fetches any more resigns",
    ),
    Feature(
        "pre_vote",
        "4.0",
        None,
        "KIP-996",
        "a controller asks whether it would be elected before it begins a new epoch",
    ),
    Feature(
        "metadata_fetch_tells_high_watermark",
        "4.1",
        None,
        "KIP-1166",
        "fetches of the metadata log are answered as soon as the high watermark has risen",
    ),
    Feature(
        "controller_registration",
        "3.7",
        None,
        "KIP-919",
        "controllers register in the metadata log",
    ),
    Feature(
        "features_chosen_at_format",
        "4.0",
        None,
        "KIP-1022",
        "clusters are formatted with levels of each feature that may be chosen",
    ),
    Feature(
        "directory_assignments_wait_half_a_second",
        "3.7",
        "3.8",
        "KAFKA-15358",
        "a broker collects assignments to log directories for 500 ms; later for 100 ms",
        ended_by="KAFKA-17190",
    ),
    Feature(
        "kraft_unclean_election_by_config",
        "3.9",
        None,
        "KAFKA-12670",
        "in KRaft mode unclean.leader.election.enable has an effect, at once where something"
        " changes and every five minutes",
    ),
    Feature(
        "contact_times_by_broker_epoch",
        "4.0",
        None,
        "KAFKA-17793",
        "the quorum controller keeps when brokers were heard of apart from whether they are fenced,"
        " and looks for stale ones eight times a session: one that was shut down is fenced twice",
    ),
    Feature(
        "leader_checks_periodic",
        "4.0",
        None,
        "KAFKA-17793",
        "the quorum controller looks for leaders to give back, and for unclean elections, at fixed"
        " intervals; before, an interval after there was first something to do",
    ),
    Feature(
        "contact_times_of_fenced_brokers",
        "4.0",
        "4.0",
        "KAFKA-18138",
        "a quorum controller that becomes active begins a session for fenced brokers too",
        ended_by="ClusterControlManager.activate",
    ),
    Feature(
        "registration_handles_shutdown",
        "4.0",
        None,
        "KAFKA-18106",
        "a broker that registers anew before it was fenced leaves the ISRs with its registration",
    ),
    Feature(
        "dead_last_known_leader_elected",
        "4.0",
        "4.0",
        "KAFKA-15584",
        "with ISR and ELR empty the last known leader is elected even while it is fenced",
        ended_by="KAFKA-19522",
    ),
    Feature(
        "last_leader_noted_with_empty_isr",
        "4.0",
        "4.1.0",
        "KAFKA-15584",
        "the last known leader is written down when the ISR empties, not when the leader goes",
        ended_by="PartitionChangeBuilder.maybeUpdateLastKnownLeader",
    ),
    Feature(
        "amended_registration_keeps_fencing",
        "3.7.1",
        None,
        "KAFKA-16757",
        "a broker that registers again without a restart stays unfenced",
    ),
    Feature(
        "amended_registration_keeps_epoch",
        "3.9",
        None,
        "KAFKA-16952",
        "a broker that registers again without a restart keeps its broker epoch",
    ),
    Feature(
        "epoch_bump_without_isr_change",
        "3.3",
        "3.7",
        "KAFKA-15021",
        "below metadata version 3.6-IV0 the leader epoch rises also when the last member may not"
        " leave the ISR",
        ended_by="KAFKA-16624",
    ),
    Feature(
        "reassignment_completes_with_all_replicas",
        "3.8",
        "4.2",
        "KAFKA-15665",
        "a reassignment is complete when all target replicas are in sync; before, when those are"
        " that it adds",
        ended_by="KAFKA-19975",
    ),
    Feature(
        "reassignment_completes_unless_shrinking",
        "4.3",
        None,
        "KAFKA-19975",
        "a reassignment that does not shrink the replica list need not wait for those target"
        " replicas that it does not add",
    ),
    Feature(
        "directory_assignment_clears_elr",
        "4.0",
        "4.2",
        "ReplicationControlManager.handleAssignReplicasToDirs",
        "a partition loses its eligible leader replicas when a broker tells in which log directory"
        " its replica is",
        ended_by="PartitionChangeBuilder",
    ),
    Feature(
        "replication_factor_change_refusable",
        "4.1",
        None,
        "KIP-860",
        "a reassignment may ask that the replication factor stays",
    ),
    Feature(
        "zk_migration_state_in_log",
        "3.4",
        "3.9",
        "KIP-866",
        "a new metadata log says that no migration from ZooKeeper is under way",
        ended_by="ActivationRecordsGenerator",
    ),
)
