"""Every fact that a cluster states, as frozen values.

Everything outside the emulator (screens, JSON, recordings, Parquet, analysis) is folded from these
events and from nothing else. Each event carries

- ``seq``: its number, 1, 2, 3, .. without gaps; the order in which facts became true;
- ``time_us``: virtual time in microseconds since the cluster was made;
- ``cause``: the ``seq`` of the event that led to it (an input, a message, a task), 0 for a root.
  Following ``cause`` unfolds any fact to what somebody did.

Vocabulary of the fields: ``tp`` is a topic-partition written ``orders-0``; ``broker`` a broker id;
``leader`` -1 means none; a host is a broker id, :data:`ZOOKEEPER` or :data:`CLIENTS`; offsets are
Kafka's (LEO is the next offset to be written, HW the first one that is not committed); record ids
number every record ever produced, so two copies of one produced record have one id.
"""

from emulator.events.base import (
    CLIENTS,
    ZOOKEEPER,
    Event,
)
from emulator.events.clients import (
    AuditChanged,
    ConsumeFinished,
    ConsumerTruncationDetected,
    InvariantViolated,
    ProduceAcknowledged,
    ProduceFailed,
    ProduceRetried,
    ProduceSent,
    RecordsConsumed,
)
from emulator.events.connections import (
    ClientConnected,
    ClientDisconnected,
    ClientIdentified,
    ClientRequestReceived,
    ClientResponseSent,
)
from emulator.events.controller import (
    ControllerElected,
    ControllerResigned,
    ControllerStep,
    ElectionFailed,
    ElectionHeld,
    LeaderElected,
    MetadataUpdated,
    PartitionCached,
    RequestRefused,
)
from emulator.events.groups import (
    AssignmentChanged,
    GroupRecordsWritten,
    GroupsLoaded,
    GroupStateChanged,
    MemberJoined,
    MemberLeft,
    OffsetCommitted,
    OffsetExpired,
)
from emulator.events.inputs import (
    BookmarkSet,
    ClusterCreated,
    ExpectationChecked,
    InputFinished,
    InputReceived,
    TimerFired,
)
from emulator.events.network import (
    BrokerRegistered,
    BrokerStateChanged,
    LinkChanged,
    MessageHeld,
    MessageLost,
    MessageReleased,
    MessageSent,
)
from emulator.events.quorum import (
    ControllerStateChanged,
    MetadataApplied,
    MetadataRecordCommitted,
    QuorumProgressChanged,
    QuorumRoleChanged,
    ReplicaFolderMoved,
)
from emulator.events.replicas import (
    EpochCacheChanged,
    HighWatermarkChanged,
    HighWatermarksCheckpointed,
    IsrChanged,
    IsrChangeStarted,
    LogCreated,
    LogDeleted,
    LogLoaded,
    LogStartOffsetChanged,
    LogTruncated,
    RecordsAppended,
    RemoteLogEndOffsetChanged,
    ReplicaFetchPaused,
    ReplicaRoleChanged,
)
from emulator.events.topics import (
    ConfigChanged,
    PartitionsAdded,
    ReplicasAssigned,
    TopicCreated,
    TopicDeleted,
)
from emulator.events.transactions import (
    LastStableOffsetChanged,
    TransactionMarkerWritten,
    TransactionRecordWritten,
    TransactionsLoaded,
    TransactionStateChanged,
)
from emulator.events.znodes import (
    PartitionStateChanged,
    PartitionStateRemoved,
    SessionCreated,
    SessionEnded,
    WatchFired,
    ZkConnectionChanged,
    ZnodeChanged,
    ZnodeCreated,
    ZnodeDeleted,
    ZooKeeperRefused,
)

__all__ = [
    "CLIENTS",
    "ZOOKEEPER",
    "AssignmentChanged",
    "AuditChanged",
    "BookmarkSet",
    "BrokerRegistered",
    "BrokerStateChanged",
    "ClientConnected",
    "ClientDisconnected",
    "ClientIdentified",
    "ClientRequestReceived",
    "ClientResponseSent",
    "ClusterCreated",
    "ConfigChanged",
    "ConsumeFinished",
    "ConsumerTruncationDetected",
    "ControllerElected",
    "ControllerResigned",
    "ControllerStateChanged",
    "ControllerStep",
    "ElectionFailed",
    "ElectionHeld",
    "EpochCacheChanged",
    "Event",
    "ExpectationChecked",
    "GroupRecordsWritten",
    "GroupStateChanged",
    "GroupsLoaded",
    "HighWatermarkChanged",
    "HighWatermarksCheckpointed",
    "InputFinished",
    "InputReceived",
    "InvariantViolated",
    "IsrChangeStarted",
    "IsrChanged",
    "LastStableOffsetChanged",
    "LeaderElected",
    "LinkChanged",
    "LogCreated",
    "LogDeleted",
    "LogLoaded",
    "LogStartOffsetChanged",
    "LogTruncated",
    "MemberJoined",
    "MemberLeft",
    "MessageHeld",
    "MessageLost",
    "MessageReleased",
    "MessageSent",
    "MetadataApplied",
    "MetadataRecordCommitted",
    "MetadataUpdated",
    "OffsetCommitted",
    "OffsetExpired",
    "PartitionCached",
    "PartitionStateChanged",
    "PartitionStateRemoved",
    "PartitionsAdded",
    "ProduceAcknowledged",
    "ProduceFailed",
    "ProduceRetried",
    "ProduceSent",
    "QuorumProgressChanged",
    "QuorumRoleChanged",
    "RecordsAppended",
    "RecordsConsumed",
    "RemoteLogEndOffsetChanged",
    "ReplicaFetchPaused",
    "ReplicaFolderMoved",
    "ReplicaRoleChanged",
    "ReplicasAssigned",
    "RequestRefused",
    "SessionCreated",
    "SessionEnded",
    "TimerFired",
    "TopicCreated",
    "TopicDeleted",
    "TransactionMarkerWritten",
    "TransactionRecordWritten",
    "TransactionStateChanged",
    "TransactionsLoaded",
    "WatchFired",
    "ZkConnectionChanged",
    "ZnodeChanged",
    "ZnodeCreated",
    "ZnodeDeleted",
    "ZooKeeperRefused",
]
