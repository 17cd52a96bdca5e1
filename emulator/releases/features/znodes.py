"""Changes to the contents of ZooKeeper."""

from typing import Final

from emulator.releases.features.base import Feature

ZNODES: Final = (
    Feature(
        "broker_endpoints",
        "0.9",
        None,
        "KIP-2",
        "a broker's znode lists its endpoints (version 2)",
        also=("documents",),
    ),
    Feature(
        "generated_broker_ids",
        "0.9",
        None,
        "KAFKA-1070",
        "brokers without an id take one of /brokers/seqid",
        also=("documents",),
    ),
    Feature("client_quotas", "0.9", None, "KIP-13", "quotas of clients stand in /config/clients"),
    Feature(
        "isr_change_notification_znode",
        "0.9",
        None,
        "KAFKA-1367",
        "there is /isr_change_notification",
        also=("documents",),
    ),
    Feature(
        "json_config_changes",
        "0.9",
        None,
        "KIP-21",
        "a notification of changed configuration is JSON",
    ),
    Feature(
        "broker_rack",
        "0.10.0",
        None,
        "KIP-36",
        "brokers register racks; rack-aware assignment",
        also=("documents",),
    ),
    Feature(
        "config_entity_paths",
        "0.10.1",
        None,
        "KIP-55",
        "a notification names what changed by one path (version 2)",
    ),
    Feature(
        "cluster_id",
        "0.10.1",
        None,
        "KIP-78",
        "the cluster has an id, in /cluster/id",
        also=("documents",),
    ),
    Feature(
        "producer_id_block_znode",
        "0.11",
        None,
        "KIP-98",
        "there is /latest_producer_id_block",
        also=("documents",),
    ),
    Feature(
        "listener_protocol_map",
        "0.10.2",
        None,
        "KIP-103",
        "listeners have names, mapped to protocols (version 4)",
        also=("documents",),
    ),
    Feature(
        "dynamic_broker_config",
        "1.1",
        None,
        "KIP-226",
        "there are /config/brokers and /config/users",
    ),
    Feature(
        "removed_broker_config_stays",
        "1.1",
        "2.4",
        "KIP-226",
        "what is removed from /config/brokers/N holds until the broker is restarted",
        ended_by="recording 50",
    ),
    Feature(
        "session_expiry_fails_requests",
        "1.1",
        None,
        "KAFKA-5501",
        "a request that waits for ZooKeeper fails when the session expires; before, it was sent"
        " again in the next session",
    ),
    Feature(
        "log_dir_event_notifications",
        "1.0",
        None,
        "KIP-112",
        "brokers tell of failed disks in /log_dir_event_notification",
        also=("documents",),
    ),
    Feature(
        "broker_registration_multi",
        "2.2",
        None,
        "KIP-380",
        "/brokers/ids/N is created and set in one multi (dataVersion 1)",
        also=("documents",),
    ),
    Feature(
        "zookeeper_config_node",
        "2.4",
        None,
        "KAFKA-8634",
        "ZooKeeper (3.5, which 2.4 comes with) has /zookeeper/config",
    ),
    Feature(
        "finalized_features",
        "2.7",
        None,
        "KIP-584",
        "there is /feature; brokers' znodes list features (version 5)",
    ),
    Feature("topic_ids", "2.8", None, "KIP-516", "topics have ids, which their znodes hold"),
    Feature("ip_quotas", "2.8", None, "KIP-612", "quotas of addresses stand in /config/ips"),
    Feature(
        "producer_ids_on_demand", "3.0", None, "KIP-730", "no producer ids until one is asked for"
    ),
    Feature(
        "kraft_controller_epoch",
        "3.4",
        None,
        "KIP-866",
        "/controller says that no KRaft controller leads",
    ),
)
