"""Changes to the contents of ZooKeeper."""

from typing import Final

from emulator.releases.features.base import features

ZNODES: Final = features("""\
broker_endpoints | since 0.9 and from documents | KIP-2
    a broker's znode lists its endpoints (version 2)
generated_broker_ids | since 0.9 and from documents | KAFKA-1070
    brokers without an id take one of /brokers/seqid
client_quotas | since 0.9 | KIP-13
    quotas of clients stand in /config/clients
isr_change_notification_znode | since 0.9 and from documents | KAFKA-1367
    there is /isr_change_notification
prefixed_acls | since 2.0 | KIP-290
    access control entries may name resources by a prefix, under /kafka-acl-extended
json_config_changes | since 0.9 | KIP-21
    a notification of changed configuration is JSON
broker_rack | since 0.10.0 and from documents | KIP-36
    brokers register racks; rack-aware assignment
config_entity_paths | since 0.10.1 | KIP-55
    a notification names what changed by one path (version 2)
cluster_id | since 0.10.1 and from documents | KIP-78
    the cluster has an id, in /cluster/id
producer_id_block_znode | since 0.11 and from documents | KIP-98
    there is /latest_producer_id_block
listener_protocol_map | since 0.10.2 and from documents | KIP-103
    listeners have names, mapped to protocols (version 4)
dynamic_broker_config | since 1.1 | KIP-226
    there are /config/brokers and /config/users
removed_broker_config_stays | 1.1 to 2.4 | KIP-226, ended by recording 50
    what is removed from /config/brokers/N holds until the broker is restarted
session_expiry_fails_requests | since 1.1 | KAFKA-5501
    a request that waits for ZooKeeper fails when the session expires; before, it was sent again
    in the next session
log_dir_event_notifications | since 1.0 and from documents | KIP-112
    brokers tell of failed disks in /log_dir_event_notification
broker_registration_multi | since 2.2 and from documents | KIP-380
    /brokers/ids/N is created and set in one multi (dataVersion 1)
zookeeper_config_node | since 2.4 | KAFKA-8634
    ZooKeeper (3.5, which 2.4 comes with) has /zookeeper/config
zkcli_of_3_5 | since 2.4 | KAFKA-8634
    zkCli (of ZooKeeper 3.5) sorts children, and prints the Stat only with -s; before, it
    printed children in the order of a Java HashSet
registrations_by_scala_2_13 | since 2.5 | recording 01
    a broker's znode has its fields in the order of a map of Scala 2.13
finalized_features | since 2.7 | KIP-584
    there is /feature; brokers' znodes list features (version 5)
topic_ids | since 2.8 | KIP-516
    topics have ids, which their znodes hold
ip_quotas | since 2.8 | KIP-612
    quotas of addresses stand in /config/ips
producer_ids_on_demand | since 3.0 | KIP-730
    no producer ids until one is asked for
producer_ids_without_waiting | since 3.6 | KAFKA-14694
    a broker that is still waiting for a block of producer ids says so instead of waiting
kraft_controller_epoch | since 3.4 | KIP-866
    /controller says that no KRaft controller leads
""")
