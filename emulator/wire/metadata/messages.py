"""The values of records in ``__cluster_metadata``.

Each is a message with the fields of all versions, as requests are. The first line of a declaration
says what the record means; what its fields mean is said of the records of the same names in
:mod:`emulator.metadata_log.records`, which the emulated cluster writes. Source:
``metadata/src/main/resources/common/metadata/*.json`` of Kafka 4.4.0, which has all versions since
3.3.
"""

from typing import Annotated

from emulator.wire.types import (
    NO_UUID,
    Bool,
    Bytes,
    Float64,
    Int8,
    Int16,
    Int32,
    Int64,
    Message,
    String,
    Uint16,
    Uuid,
    since,
    tag,
)


class BrokerEndpoint(Message, frozen=True):
    """An address of a broker."""

    name: String = ""
    host: String = ""
    port: Uint16 = 0
    security_protocol: Int16 = 0


class BrokerFeature(Message, frozen=True):
    """The levels of a feature that a broker supports."""

    name: String = ""
    min_supported_version: Int16 = 0
    max_supported_version: Int16 = 0


class RegisterBrokerRecord(Message, frozen=True):
    """A broker has registered."""

    broker_id: Int32 = 0
    is_migrating_zk_broker: Annotated[Bool, since(2)] = False
    incarnation_id: Uuid = NO_UUID
    broker_epoch: Int64 = 0
    end_points: list[BrokerEndpoint] = []
    features: list[BrokerFeature] = []
    rack: String | None = ""
    fenced: Bool = True
    in_controlled_shutdown: Annotated[Bool, since(1)] = False
    log_dirs: Annotated[list[Uuid], since(3), tag(0)] = []
    cordoned_log_dirs: Annotated[list[Uuid] | None, since(4), tag(1)] = None


class UnregisterBrokerRecord(Message, frozen=True):
    """A broker is unregistered."""

    broker_id: Int32 = 0
    broker_epoch: Int64 = 0


class TopicRecord(Message, frozen=True):
    """A new topic; its partitions follow."""

    name: String = ""
    topic_id: Uuid = NO_UUID


class PartitionRecord(Message, frozen=True):
    """A new partition."""

    partition_id: Int32 = -1
    topic_id: Uuid = NO_UUID
    replicas: list[Int32] = []
    isr: list[Int32] = []
    removing_replicas: list[Int32] = []
    adding_replicas: list[Int32] = []
    leader: Int32 = -1
    leader_recovery_state: Annotated[Int8, tag(0)] = 0
    leader_epoch: Int32 = -1
    partition_epoch: Int32 = -1
    directories: Annotated[list[Uuid], since(1)] = []
    eligible_leader_replicas: Annotated[list[Int32] | None, since(2), tag(1)] = None
    last_known_elr: Annotated[list[Int32] | None, since(2), tag(2)] = None


class ConfigRecord(Message, frozen=True):
    """A dynamic configuration; a value of None removes it."""

    resource_type: Int8 = 0
    resource_name: String = ""
    name: String = ""
    value: String | None = ""


class PartitionChangeRecord(Message, frozen=True):
    """A change of a partition; what is absent has not changed."""

    partition_id: Int32 = -1
    topic_id: Uuid = NO_UUID
    isr: Annotated[list[Int32] | None, tag(0)] = None
    leader: Annotated[Int32, tag(1)] = -2
    replicas: Annotated[list[Int32] | None, tag(2)] = None
    removing_replicas: Annotated[list[Int32] | None, tag(3)] = None
    adding_replicas: Annotated[list[Int32] | None, tag(4)] = None
    leader_recovery_state: Annotated[Int8, tag(5)] = -1
    directories: Annotated[list[Uuid] | None, since(1), tag(8)] = None
    eligible_leader_replicas: Annotated[list[Int32] | None, since(2), tag(6)] = None
    last_known_elr: Annotated[list[Int32] | None, since(2), tag(7)] = None


class FenceBrokerRecord(Message, frozen=True):
    """A broker is fenced: up to 3.3 in place of a registration change."""

    id: Int32 = 0
    epoch: Int64 = 0


class UnfenceBrokerRecord(Message, frozen=True):
    """A broker is unfenced: up to 3.3 in place of a registration change."""

    id: Int32 = 0
    epoch: Int64 = 0


class RemoveTopicRecord(Message, frozen=True):
    """A topic is deleted."""

    topic_id: Uuid = NO_UUID


class DelegationTokenRecord(Message, frozen=True):
    """A delegation token."""

    owner: String = ""
    requester: String = ""
    renewers: list[String] = []
    issue_timestamp: Int64 = 0
    max_timestamp: Int64 = 0
    expiration_timestamp: Int64 = 0
    token_id: String = ""


class UserScramCredentialRecord(Message, frozen=True):
    """A SCRAM credential of a user."""

    name: String = ""
    mechanism: Int8 = 0
    salt: Bytes = b""
    stored_key: Bytes = b""
    server_key: Bytes = b""
    iterations: Int32 = 0


class FeatureLevelRecord(Message, frozen=True):
    """A feature is finalized; level 0 removes it."""

    name: String = ""
    feature_level: Int16 = 0


class EntityData(Message, frozen=True):
    """A user, client id or address that a quota is for."""

    entity_type: String = ""
    entity_name: String | None = ""


class ClientQuotaRecord(Message, frozen=True):
    """A quota of clients is set or removed."""

    entity: list[EntityData] = []
    key: String = ""
    value: Float64 = 0.0
    remove: Bool = False


class ProducerIdsRecord(Message, frozen=True):
    """A block of producer ids was given to a broker."""

    broker_id: Int32 = 0
    broker_epoch: Int64 = -1
    next_producer_id: Int64 = 0


class BrokerRegistrationChangeRecord(Message, frozen=True):
    """A broker is fenced, unfenced, shuts down, or has other directories."""

    broker_id: Int32 = 0
    broker_epoch: Int64 = 0
    fenced: Annotated[Int8, tag(0)] = 0
    in_controlled_shutdown: Annotated[Int8, since(1), tag(1)] = 0
    log_dirs: Annotated[list[Uuid], since(2), tag(2)] = []
    cordoned_log_dirs: Annotated[list[Uuid] | None, since(3), tag(3)] = None


class AccessControlEntryRecord(Message, frozen=True):
    """An access control entry."""

    id: Uuid = NO_UUID
    resource_type: Int8 = 0
    resource_name: String = ""
    pattern_type: Int8 = 0
    principal: String = ""
    host: String = ""
    operation: Int8 = 0
    permission_type: Int8 = 0


class RemoveAccessControlEntryRecord(Message, frozen=True):
    """An access control entry is removed."""

    id: Uuid = NO_UUID


class NoOpRecord(Message, frozen=True):
    """Nothing: it lets the log advance while the cluster is idle (KIP-835)."""


class ZkMigrationStateRecord(Message, frozen=True):
    """The state of a migration from ZooKeeper (KIP-866)."""

    zk_migration_state: Int8 = 0


class RemoveUserScramCredentialRecord(Message, frozen=True):
    """A SCRAM credential is removed."""

    name: String = ""
    mechanism: Int8 = 0


class BeginTransactionRecord(Message, frozen=True):
    """The start of a metadata transaction (KIP-868)."""

    name: Annotated[String | None, tag(0)] = None


class EndTransactionRecord(Message, frozen=True):
    """The end of a metadata transaction."""


class AbortTransactionRecord(Message, frozen=True):
    """The open metadata transaction is aborted, and its records are ignored."""

    reason: Annotated[String | None, tag(0)] = None


class RemoveDelegationTokenRecord(Message, frozen=True):
    """A delegation token is removed."""

    token_id: String = ""


class ControllerEndpoint(Message, frozen=True):
    """An address of a controller."""

    name: String = ""
    host: String = ""
    port: Uint16 = 0
    security_protocol: Int16 = 0


class ControllerFeature(Message, frozen=True):
    """The levels of a feature that a controller supports."""

    name: String = ""
    min_supported_version: Int16 = 0
    max_supported_version: Int16 = 0


class RegisterControllerRecord(Message, frozen=True):
    """A controller has registered (KIP-919)."""

    controller_id: Int32 = 0
    incarnation_id: Uuid = NO_UUID
    zk_migration_ready: Bool = False
    end_points: list[ControllerEndpoint] = []
    features: list[ControllerFeature] = []


class ClearElrRecord(Message, frozen=True):
    """The ELRs of a topic, or of all if the name is empty, are cleared (KIP-966)."""

    topic_name: String = ""


class UnregisterControllerRecord(Message, frozen=True):
    """A controller is unregistered."""

    controller_id: Int32 = 0
