"""The rules that permit records of the metadata log, by the names of Kafka's classes and KIPs."""

from enum import Enum

_CLUSTER = "ClusterControlManager"
_CONFIGURATION = "ConfigurationControlManager"
_REPLICATION = "ReplicationControlManager"


class Rule(Enum):
    """A rule: what it does, and the KIP or the class and method of Kafka that has it."""

    LEADER_CHANGE = "a controller has been elected", "KIP-595, LeaderChangeMessage"
    VOTERS = (
        "the voters or the version of the quorum change",
        "KIP-853, KRaftControlRecordStateMachine",
    )
    NO_OP = "the log advances while the cluster is idle", "KIP-835, NoOpRecord"
    BOOTSTRAP = "the first records of a new cluster", "KIP-778, ActivationRecordsGenerator"
    TRANSACTION = "a metadata transaction", "KIP-868, BeginTransactionRecord"
    ZK_MIGRATION = "the metadata are copied from ZooKeeper", "KIP-866, KRaftMigrationDriver"
    ZK_MIGRATION_STATE = (
        "the migration from ZooKeeper advances",
        "KIP-866, ActivationRecordsGenerator",
    )
    FEATURES = (
        "a feature is upgraded or downgraded",
        "KIP-584, FeatureControlManager.updateFeatures",
    )
    BROKER_REGISTRATION = "a broker registers", f"KIP-631, {_CLUSTER}.registerBroker"
    BROKER_SHUTDOWN = (
        "a broker that was not fenced registers anew",
        f"KIP-966, {_REPLICATION}.handleBrokerShutdown",
    )
    BROKER_UNREGISTRATION = "a broker is unregistered", f"KIP-631, {_REPLICATION}.unregisterBroker"
    CONTROLLER_REGISTRATION = "a controller registers", f"KIP-919, {_CLUSTER}.registerController"
    FENCING = "a broker is fenced", f"KIP-631, {_REPLICATION}.handleBrokerFenced"
    UNFENCING = "a broker is unfenced", f"KIP-631, {_REPLICATION}.handleBrokerUnfenced"
    CONTROLLED_SHUTDOWN = (
        "a broker begins its controlled shutdown",
        f"KIP-841, {_REPLICATION}.handleBrokerInControlledShutdown",
    )
    OFFLINE_DIRECTORIES = (
        "log directories of a broker have failed",
        f"KIP-858, {_REPLICATION}.handleDirectoriesOffline",
    )
    CORDONED_DIRECTORIES = (
        "a broker cordons log directories",
        f"KIP-1066, {_REPLICATION}.handleDirectoriesCordoned",
    )
    DIRECTORY_ASSIGNMENT = (
        "a broker tells in which log directory a replica is",
        f"KIP-858, {_REPLICATION}.handleAssignReplicasToDirs",
    )
    ALTER_PARTITION = "a leader changes the ISR", f"KIP-497, {_REPLICATION}.alterPartition"
    PREFERRED_ELECTION = (
        "the preferred replica is elected",
        f"KIP-460, {_REPLICATION}.electLeaders, maybeBalancePartitionLeaders",
    )
    UNCLEAN_ELECTION = (
        "a leader is elected uncleanly",
        f"KIP-460, {_REPLICATION}.electLeaders, maybeElectUncleanLeaders",
    )
    REASSIGNMENT = (
        "a reassignment begins",
        f"KIP-455, {_REPLICATION}.alterPartitionReassignments",
    )
    REASSIGNMENT_CANCELLED = (
        "a reassignment is cancelled",
        f"KIP-455, {_REPLICATION}.cancelPartitionReassignment",
    )
    TOPIC_CREATION = "a topic is created", f"KIP-4, {_REPLICATION}.createTopics"
    TOPIC_DELETION = "a topic is deleted", f"KIP-4, {_REPLICATION}.deleteTopics"
    PARTITION_CREATION = "partitions are added", f"KIP-195, {_REPLICATION}.createPartitions"
    CONFIGURATION = (
        "a configuration is set or removed",
        f"KIP-339, {_CONFIGURATION}.incrementalAlterConfigs",
    )
    PRODUCER_IDS = (
        "a broker receives a block of producer ids",
        "KIP-730, ProducerIdControlManager.generateNextProducerId",
    )
    CLIENT_QUOTAS = (
        "a client quota is set or removed",
        "KIP-546, ClientQuotaControlManager.alterClientQuotas",
    )
    SCRAM = "a SCRAM credential is set or removed", "KIP-554, ScramControlManager.alterCredentials"
    ACLS = "an access control entry is added or removed", "KIP-801, AclControlManager"
    DELEGATION_TOKENS = (
        "a delegation token is created, renewed or removed",
        "KIP-900, DelegationTokenControlManager",
    )

    def __init__(self, meaning: str, source: str) -> None:
        self.meaning = meaning
        self.source = source
