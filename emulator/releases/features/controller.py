"""Changes to the controller."""

from typing import Final

from emulator.releases.features.base import features

CONTROLLER: Final = features("""\
new_topic_with_defaults | since 2.4 | KIP-464
    with ZooKeeper, -1 in CreateTopics stands for the broker's default
existing_topic_refused_first | since 2.3 | AdminManager.createTopics
    with ZooKeeper, CreateTopics checks first whether the topic exists
new_topic_configuration_checked_first | documents to 2.6 | AdminManager.createTopics, ended by KIP-599
    with ZooKeeper, CreateTopics validates a topic's configuration before its replicas
new_topic_invalid_config_error | since 2.1 | AdminManager.createTopics
    an invalid value in CreateTopics is INVALID_CONFIG instead of UNKNOWN_SERVER_ERROR
null_config_values_refused | since 2.6 | AdminManager.alterConfigs
    a null value in AlterConfigs is INVALID_REQUEST instead of UNKNOWN_SERVER_ERROR
empty_config_keys_mean_all | since 2.7 | AdminManager.describeConfigs
    an empty list of names in DescribeConfigs means all, and no error has an empty message
configs_named_by_row | since 2.7 | DescribeConfigsRequest
    DescribeConfigs answers each time that a resource is named, with the type that was named
alter_configs_named_once | since 2.6 | AlterConfigsRequest.configs
    AlterConfigs that names a resource twice is not answered (up to 3.2 the broker fails when it
    logs it); types that it does not know are one
unknown_topics_not_described | since 2.0 | AdminManager.describeConfigs
    DescribeConfigs refuses a topic that does not exist, which had default values before
quotas_checked_strictly | since 3.5 | ClientQuotaControlManager.validateQuotaKeyValue
    without ZooKeeper a quota must be greater than 0, and fit into its type
broker_logger_resources | since 2.4 | KIP-412
    a broker's log levels are a resource of DescribeConfigs and AlterConfigs
unexpected_node_named | since 3.7 | ConfigAdminManager.validateResourceNameIsCurrentNodeId
    the loggers of another broker are refused with the word node, no more broker
client_metrics_resources | since 3.7 | KIP-714
    clients' metrics subscriptions are a resource of DescribeConfigs and AlterConfigs
metadata_topic_prohibited | since 3.3 | KafkaApis.handleCreateTopicsRequest, ControllerApis.createTopics
    CreateTopics refuses the name of the metadata log, __cluster_metadata
metadata_topic_prohibition_explained | since 3.9 | KafkaApis.handleCreateTopicsRequest, ControllerApis.createTopics
    the error is INVALID_REQUEST with the reason instead of TOPIC_AUTHORIZATION_FAILED
unknown_topic_error_when_altering | since 2.7 | ZkAdminManager.alterTopicConfigs
    altering a topic that does not exist is UNKNOWN_TOPIC_OR_PARTITION, not UNKNOWN_SERVER_ERROR
topics_named_twice_answered_twice | since 2.4 | KafkaApis.handleCreateTopicsRequest
    with ZooKeeper a topic that CreateTopics names twice is refused twice, not once
offline_election_in_isr_order | documents to 0.8.1 | KAFKA-42, ended by KAFKA-1503
    the controller elects the first live member in the order of the ISR
controlled_shutdown_election_in_isr_order | documents to 0.9 | KAFKA-340, ended by KAFKA-3670
    who takes over from a broker that goes is the first in the order of the ISR
empty_isr_on_unclean | 0.8.1 to 1.0 | KAFKA-42, ended by KAFKA-5642
    the last member leaves the ISR too when unclean election is on
failover_checks_running | documents to 0.10.2 | KAFKA-499, ended by KAFKA-5028
    a new controller first looks whether its broker is still running
running_as_controller | 0.8.2 to 0.10.0 and from documents | KAFKA-1384, ended by KAFKA-3761
    the controller's broker is in a state of its own, RunningAsController
controller_event_queue | since 0.11 | KAFKA-5028
    the controller works on one event at a time; handlers of znodes take the listeners' place
controlled_shutdown_one_by_one | documents to 1.0 | KAFKA-340, ended by KAFKA-5642
    a broker that wants to go is relieved of one partition after another, in hash order
assignments_filtered_into_a_map | documents to 0.10.1 | KAFKA-340, ended by recording 70-rolling
    a broker's partitions are filtered into another map before they are visited
election_before_registration | documents to 1.0 | KAFKA-320, ended by KAFKA-5642
    a broker takes part in the election of a controller before it registers; so a new controller
    may find itself dead, and then sees itself start
controlled_shutdown_asks_zookeeper | documents to 2.8 | KAFKA-340, ended by KAFKA-9189
    a broker that shuts down reads the controller from ZooKeeper, and waits for the response
controlled_shutdown_ends_without_controller | documents to 1.0 | KAFKA-340, ended by KAFKA-5642
    a broker that wants to go, and reads that there is no controller, does not ask again
controlled_shutdown_waits_after_last_try | documents to 3.0 | KAFKA-340, ended by KafkaServer 3.1.0
    a broker that nobody lets go waits once more after its last try
topic_deletion_in_hash_order | documents to 1.0 | KAFKA-330, ended by KAFKA-5642
    the replicas of a topic that is deleted leave their ISRs in hash order, not by broker
controller_awaits_send_threads | 0.10.2.1 to 2.1.0 | KAFKA-4959, ended by KAFKA-7576
    a controller that loses a broker or resigns waits for the responses that are due to it
live_brokers_change_with_their_procedures | since 2.2 | KIP-380
    while new brokers are started the controller still takes those for alive that have died
failover_deletes_notifications | since 1.1 | KAFKA-5642
    a new controller deletes the notifications that were meant for the former one
failover_sends_metadata_first | since 0.10.2 | KAFKA-4443
    a new controller sends UpdateMetadata before its state machines start
preferred_election_of_current_leader | 1.1 to 2.1 | KAFKA-5642, ended by KAFKA-5692
    a preferred election raises the epoch even where the preferred replica leads already
reassignment_needs_live_replicas | documents to 0.10.0 | KAFKA-42, ended by KAFKA-4214
    a partition moves only to brokers that are alive when the controller is asked
reassignments_remembered | 1.1 to 2.3 | KAFKA-5642, ended by KIP-455
    what is left in /admin/reassign_partitions is written from the controller's memory, and a
    topic that is being deleted is not moved any further by a new controller
reassignments_dropped_together | 2.0 to 2.3 | KAFKA-6617, ended by KIP-455
    /admin/reassign_partitions is written anew once all reassignments asked for have begun
unreadable_preferred_election_stays | documents to 1.0 | KAFKA-43, ended by KAFKA-5642
    what cannot be read in /admin/preferred_replica_election is left there
admin_requests_data_watched | documents to 1.0 | KAFKA-43, ended by KAFKA-5642
    any change of what is asked for under /admin is noticed, not only that it is made
unknown_preferred_election_stays | documents to 2.1 | KAFKA-43, ended by KAFKA-5692
    a preferred election that names an unknown partition stays in ZooKeeper once it is done
added_partitions_of_deleted_topic_undone | since 2.0 | KAFKA-6612
    the controller takes partitions out of the znode of a topic that is being deleted
offline_replica_needs_leader | documents to 1.1 | ReplicaStateMachine 0.8.1, ended by KAFKA-6650
    a replica of a partition that was never led cannot go offline, nor its topic be deleted
unclean_broker_config_elects | since 2.0 | KAFKA-6526
    turning unclean election on for the controller's broker elects for offline partitions
unclean_topic_config_elects | since 2.1 | KAFKA-6835
    turning unclean election on for a topic elects for its offline partitions at once
controller_multi | since 2.1 | KAFKA-6082
    election is one multi; each controller write checks /controller_epoch
broker_epochs | since 2.2 | KIP-380
    requests carry the broker's registration epoch
cancel_reassignment | since 2.4 | KIP-455
    a reassignment names what it adds and removes, and can be taken back
elect_leaders | since 2.4 | KIP-460
    administrators can ask for an election of any kind, unclean ones too
offline_replicas_ineligible_for_deletion | since 2.3 | KAFKA-8237
    a replica that was offline before its topic is deleted is ineligible for deletion, and so
    retried, which takes it offline anew and costs an epoch
brokers_in_hash_order | 1.1 to 2.4 | KAFKA-5642, ended by Scala 2.13
    replicas go offline broker by broker in the order of a hash map, not of broker ids
brokers_in_hash_order_of_scala_2_13 | since 2.5 | Scala 2.13
    replicas go offline broker by broker in the order of Scala 2.13's hash map: 0, 5, 1, ..
offline_replicas_leave_isr_at_failover | since 2.3 | KAFKA-3143
    a new controller takes replicas on dead brokers out of the ISR
leader_ahead_of_controller_noticed | since 3.3 | KAFKA-14154
    a controller that knows less of a partition than its leader says that it is none
leader_recovery | since 3.2 | KIP-704
    an unclean election leaves a mark in the state znode until the leader changes the ISR
wrong_value_is_invalid_config | since 3.3 | KAFKA-13899
    who alters a topic is told INVALID_CONFIG for a wrong value, no more INVALID_REQUEST
""")
