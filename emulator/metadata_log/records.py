"""The records of the metadata log (``__cluster_metadata``), with Kafka's names and values.

A record does not contain its version, which follows from the record and the ``metadata.version`` in
effect when it is written (:func:`version_of`) and is the same for every reader. Fields that are
irrelevant for replication (endpoints, supported features) are omitted. A log directory, which in
Kafka has a random id, is named by how many disks its broker had before: 0 is the first. Source:
``metadata/src/main/resources/common/metadata/*.json`` of Kafka 3.9 to 4.1.
"""

from typing import ClassVar, Final

from msgspec import Struct

from emulator.metadata_log.metadata_version import (
    is_cordoned_log_dirs_supported,
    is_directory_assignment_supported,
    is_elr_supported,
    is_in_controlled_shutdown_supported,
    is_migration_supported,
)

NO_LEADER: Final = -1
"""The leader of a partition without one (``LeaderConstants.NO_LEADER``)."""
NO_LEADER_CHANGE: Final = -2
"""The leader in a change that keeps leader and leader epoch."""

RECOVERED: Final = 0
"""The leader was elected cleanly, or has recovered from an unclean election."""
RECOVERING: Final = 1
"""The leader was elected uncleanly and has not changed the ISR since (KIP-704)."""
NO_RECOVERY_CHANGE: Final = -1
"""The leader recovery state in a change that keeps it."""

FENCE: Final = 1
"""``fenced`` of a registration change that fences (``BrokerRegistrationFencingChange``)."""
UNFENCE: Final = -1
"""``fenced`` of a registration change that unfences."""
NO_FENCING_CHANGE: Final = 0
"""``fenced`` of a registration change that does not concern fencing."""
IN_CONTROLLED_SHUTDOWN: Final = 1
"""``inControlledShutdown`` of a registration change that starts a controlled shutdown."""

TOPIC_RESOURCE: Final = 2
"""The resource type of topics (``ConfigResource.Type.TOPIC``)."""
BROKER_RESOURCE: Final = 4
"""The resource type of brokers; the name ``""`` is the cluster-wide default."""
METRICS_RESOURCE: Final = 16
"""That of subscriptions to clients' metrics (``ConfigResource.Type.CLIENT_METRICS``)."""
GROUP_RESOURCE: Final = 32
"""The resource type of groups (``ConfigResource.Type.GROUP``)."""

Replicas = tuple[int, ...]
Directories = tuple[int, ...]


class MetadataRecord(Struct, frozen=True, array_like=True, tag=True, gc=False, rename="camel"):
    """The base of all records; Kafka's names of their fields are what they are encoded as."""

    hidden: ClassVar[tuple[str, ...]] = ()
    """Fields that are not shown: random values, or irrelevant to a reader."""


class LeaderChangeMessage(MetadataRecord, frozen=True):
    """A control record of the Raft quorum: ``leader_id`` is the leader of the new epoch."""

    leader_id: int


class BeginTransactionRecord(MetadataRecord, frozen=True):
    """The start of a metadata transaction: the records up to its end are atomic (KIP-868)."""

    name: str


class EndTransactionRecord(MetadataRecord, frozen=True):
    """The end of a transaction."""


class AbortTransactionRecord(MetadataRecord, frozen=True):
    """The open transaction is aborted, and its records are ignored."""

    reason: str


class NoOpRecord(MetadataRecord, frozen=True):
    """A no-op that advances the log end offset while idle (KIP-835)."""


class FeatureLevelRecord(MetadataRecord, frozen=True):
    """A finalized feature; level 0 removes it (KIP-778)."""

    name: str
    feature_level: int


class ZkMigrationStateRecord(MetadataRecord, frozen=True):
    """The state of a migration from ZooKeeper; 0: none. Up to 3.9 (KIP-866)."""

    zk_migration_state: int = 0


class RegisterControllerRecord(MetadataRecord, frozen=True):
    """A controller has started (KIP-919)."""

    controller_id: int
    incarnation_id: str
    zk_migration_ready: bool = False
    hidden: ClassVar[tuple[str, ...]] = ("incarnation_id",)


class RegisterBrokerRecord(MetadataRecord, frozen=True):
    """A broker has started, or the same incarnation has registered again.

    A new incarnation is fenced, and its ``broker_epoch`` is the offset of the first record of its
    registration. ``directory`` is its log directory (KIP-858).
    """

    broker_id: int
    incarnation_id: str
    broker_epoch: int
    fenced: bool = True
    in_controlled_shutdown: bool = False
    rack: str | None = None
    directory: int = 0
    hidden: ClassVar[tuple[str, ...]] = ("incarnation_id", "rack", "directory")


class UnregisterBrokerRecord(MetadataRecord, frozen=True):
    """A broker was unregistered by an administrator."""

    broker_id: int
    broker_epoch: int


class BrokerRegistrationChangeRecord(MetadataRecord, frozen=True):
    """A broker is fenced or unfenced, or has started a controlled shutdown (KIP-841).

    ``cordoned_log_dirs`` are the directories in which it accepts no new partitions (KIP-1066); None
    if they have not changed.
    """

    broker_id: int
    broker_epoch: int
    fenced: int = NO_FENCING_CHANGE
    in_controlled_shutdown: int = 0
    cordoned_log_dirs: tuple[str, ...] | None = None


class TopicRecord(MetadataRecord, frozen=True):
    """A topic; its partitions follow."""

    name: str
    topic_id: str


class RemoveTopicRecord(MetadataRecord, frozen=True):
    """A topic is deleted, including its partitions and configuration."""

    topic_id: str


class PartitionRecord(MetadataRecord, frozen=True):
    """A new partition.

    ``directories`` are those of its replicas, in their order; empty if they are all the first ones.
    """

    partition_id: int
    topic_id: str
    replicas: Replicas
    isr: Replicas
    removing_replicas: Replicas = ()
    adding_replicas: Replicas = ()
    leader: int = NO_LEADER
    leader_recovery_state: int = RECOVERED
    leader_epoch: int = 0
    partition_epoch: int = 0
    eligible_leader_replicas: Replicas | None = None
    last_known_elr: Replicas | None = None
    directories: Directories = ()
    hidden: ClassVar[tuple[str, ...]] = ("directories",)


class PartitionChangeRecord(MetadataRecord, frozen=True):
    """A change of a partition; None, or the constant for it, means no change.

    It bumps the partition epoch, and also the leader epoch if it names a leader, even the same one.
    """

    partition_id: int
    topic_id: str
    isr: Replicas | None = None
    leader: int = NO_LEADER_CHANGE
    replicas: Replicas | None = None
    removing_replicas: Replicas | None = None
    adding_replicas: Replicas | None = None
    leader_recovery_state: int = NO_RECOVERY_CHANGE
    eligible_leader_replicas: Replicas | None = None
    last_known_elr: Replicas | None = None
    directories: Directories | None = None
    hidden: ClassVar[tuple[str, ...]] = ("directories",)


class ClearElrRecord(MetadataRecord, frozen=True):
    """The ELRs of a topic are cleared, or those of all topics if the name is empty (KIP-966)."""

    topic_name: str = ""


class ConfigRecord(MetadataRecord, frozen=True):
    """A dynamic configuration; a value of None removes it."""

    resource_type: int
    resource_name: str
    name: str
    value: str | None


class ProducerIdsRecord(MetadataRecord, frozen=True):
    """A block of producer ids was allocated; the next one starts at ``next_producer_id``."""

    broker_id: int
    broker_epoch: int
    next_producer_id: int


class AccessControlEntryRecord(MetadataRecord, frozen=True):
    """An access control entry; numbers are those of the protocol (KIP-801)."""

    id: str
    resource_type: int
    resource_name: str
    pattern_type: int
    principal: str
    host: str
    operation: int
    permission_type: int
    hidden: ClassVar[tuple[str, ...]] = ("id",)


class RemoveAccessControlEntryRecord(MetadataRecord, frozen=True):
    """An access control entry is removed."""

    id: str
    hidden: ClassVar[tuple[str, ...]] = ("id",)


AnyRecord = (
    LeaderChangeMessage
    | BeginTransactionRecord
    | EndTransactionRecord
    | AbortTransactionRecord
    | NoOpRecord
    | FeatureLevelRecord
    | ZkMigrationStateRecord
    | RegisterControllerRecord
    | RegisterBrokerRecord
    | UnregisterBrokerRecord
    | BrokerRegistrationChangeRecord
    | TopicRecord
    | RemoveTopicRecord
    | PartitionRecord
    | PartitionChangeRecord
    | ClearElrRecord
    | ConfigRecord
    | ProducerIdsRecord
    | AccessControlEntryRecord
    | RemoveAccessControlEntryRecord
)
"""Any record of the metadata log."""


_REGISTER_BROKER_VERSIONS: Final = (
    is_in_controlled_shutdown_supported,
    is_migration_supported,
    is_directory_assignment_supported,
    is_cordoned_log_dirs_supported,
)
"""What versions 1, 2, 3 and 4 of RegisterBrokerRecord added."""


def version_of(record: AnyRecord, metadata_version: int) -> int:
    """Return the version of a record to write (``MetadataVersion.*RecordVersion``)."""
    match record:
        case PartitionRecord() | PartitionChangeRecord():
            if is_elr_supported(metadata_version):
                return 2
            return 1 if is_directory_assignment_supported(metadata_version) else 0
        case RegisterBrokerRecord():
            return sum(supports(metadata_version) for supports in _REGISTER_BROKER_VERSIONS)
        case BrokerRegistrationChangeRecord(
            in_controlled_shutdown=shutdown, cordoned_log_dirs=cordoned
        ):
            if cordoned is not None:
                return 3
            return 1 if shutdown else 0
        case _:
            return 0


def type_of(record: AnyRecord) -> str:
    """Return a record's type as printed by Kafka's tools: its class name without ``Record``."""
    return type(record).__name__.removesuffix("Record").removesuffix("Message")
