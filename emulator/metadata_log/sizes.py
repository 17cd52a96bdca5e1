"""Sizes of records in Kafka's log, which determine when a snapshot is due.

Source: the schemas of the records (``common/metadata/*.json``), ``MetadataRecordSerde`` and
``DefaultRecordBatch``, checked against a real cluster's log. Fields that records do not have here
(listeners, supported features) count as written by a 4.1 broker on IPv4.
"""

from collections.abc import Sequence
from typing import Final

from emulator.metadata_log.image import MetadataImage
from emulator.metadata_log.metadata_version import is_directory_assignment_supported
from emulator.metadata_log.records import (
    NO_LEADER_CHANGE,
    NO_RECOVERY_CHANGE,
    RECOVERED,
    AccessControlEntryRecord,
    AnyRecord,
    BeginTransactionRecord,
    BrokerRegistrationChangeRecord,
    ClearElrRecord,
    ConfigRecord,
    FeatureLevelRecord,
    LeaderChangeMessage,
    PartitionChangeRecord,
    PartitionRecord,
    ProducerIdsRecord,
    RegisterBrokerRecord,
    RegisterControllerRecord,
    RemoveAccessControlEntryRecord,
    RemoveTopicRecord,
    Replicas,
    TopicRecord,
    UnregisterBrokerRecord,
    ZkMigrationStateRecord,
)

BATCH_HEADER: Final = 61
CONTROL_BATCH: Final = 106
"""A LeaderChangeMessage of three voters, including its batch."""
SNAPSHOT_ENDS: Final = 158
"""A snapshot's SnapshotHeader and SnapshotFooter, each in a separate batch."""
FRAME: Final = 4
"""The overhead of a record: frame version, type, version, and number of tagged fields."""
UUID: Final = 16
INT32: Final = 4
INT64: Final = 8
TAG: Final = 2
"""The overhead of a tagged field: its tag and size."""
BROKER: Final = 207
"""A broker's registration without its id, epoch and rack."""
CONTROLLER: Final = 187
"""A controller's registration without its id."""


def batch_size(records: Sequence[AnyRecord], metadata_version: int) -> int:
    """Return the size of a batch with these records."""
    if records and isinstance(records[0], LeaderChangeMessage):
        return CONTROL_BATCH
    return BATCH_HEADER + sum(
        [
            _record_size(_value_size(record, metadata_version), delta)
            for delta, record in enumerate(records)
        ]
    )


def snapshot_size(image: MetadataImage) -> int:
    """Return the size of a snapshot of an image."""
    return SNAPSHOT_ENDS + batch_size(list(image.records()), image.metadata_version)


def _record_size(value: int, offset_delta: int) -> int:
    """Attributes, timestamp and offset deltas, null key, value, no headers."""
    body = 4 + _varint(offset_delta) + _varint(value) + value
    return body + _varint(body)


def _varint(value: int) -> int:
    """The size of a number as a zigzag varint."""
    return 1 + value.bit_length() // 7


def _text(value: str | None) -> int:
    return 1 + len((value or "").encode())


def _replicas(value: Replicas) -> int:
    return 1 + INT32 * len(value)


def _tagged(value: Replicas | None) -> int:
    return 0 if value is None else TAG + _replicas(value)


def _value_size(record: AnyRecord, metadata_version: int) -> int:
    match record:
        case PartitionRecord():
            return FRAME + _partition(record, metadata_version)
        case PartitionChangeRecord():
            return FRAME + _partition_change(record, metadata_version)
        case BrokerRegistrationChangeRecord(
            fenced=fenced, in_controlled_shutdown=shutdown, cordoned_log_dirs=cordoned
        ):
            tagged = (TAG + 1) * (bool(fenced) + bool(shutdown))
            if cordoned is not None:
                tagged += TAG + 1 + UUID * len(cordoned)
            return FRAME + INT32 + INT64 + tagged
        case ConfigRecord(resource_name=resource, name=name, value=value):
            return FRAME + 1 + _text(resource) + _text(name) + _text(value)
        case TopicRecord(name=name):
            return FRAME + _text(name) + UUID
        case AccessControlEntryRecord(resource_name=name, principal=principal, host=host):
            return FRAME + UUID + 4 + _text(name) + _text(principal) + _text(host)
        case RemoveAccessControlEntryRecord():
            return FRAME + UUID
        case _:
            return FRAME + _rare(record)


def _rare(record: AnyRecord) -> int:
    match record:
        case RegisterBrokerRecord(rack=rack):
            return BROKER + INT32 + INT64 + _text(rack)
        case FeatureLevelRecord(name=name):
            return _text(name) + 2
        case ClearElrRecord(topic_name=name):
            return _text(name)
        case BeginTransactionRecord(name=name):
            return TAG + _text(name) if name else 0
        case _:
            return _ALWAYS.get(type(record), 0)


_ALWAYS: Final[dict[type, int]] = {
    RegisterControllerRecord: CONTROLLER + INT32,
    RemoveTopicRecord: UUID,
    ProducerIdsRecord: INT32 + 2 * INT64,
    UnregisterBrokerRecord: INT32 + INT64,
    ZkMigrationStateRecord: 1,
}
"""Record types with a fixed size; others have none."""


def _partition(record: PartitionRecord, metadata_version: int) -> int:
    lists = INT32 * (len(record.replicas) + len(record.isr)) + 4
    if record.removing_replicas or record.adding_replicas:
        lists += INT32 * (len(record.removing_replicas) + len(record.adding_replicas))
    if is_directory_assignment_supported(metadata_version):
        lists += 1 + UUID * len(record.replicas)
    if record.leader_recovery_state != RECOVERED:
        lists += TAG + 1
    if record.eligible_leader_replicas or record.last_known_elr:
        lists += _tagged(record.eligible_leader_replicas) + _tagged(record.last_known_elr)
    return lists + UUID + 4 * INT32


def _partition_change(record: PartitionChangeRecord, metadata_version: int) -> int:
    lists = (
        *(record.isr, record.replicas, record.removing_replicas, record.adding_replicas),
        *(record.eligible_leader_replicas, record.last_known_elr),
    )
    size = INT32 + UUID + sum([_tagged(replicas) for replicas in lists])
    if record.leader != NO_LEADER_CHANGE:
        size += TAG + INT32
    if record.leader_recovery_state != NO_RECOVERY_CHANGE:
        size += TAG + 1
    changed = record.replicas if record.directories is None else record.directories
    if changed is not None and is_directory_assignment_supported(metadata_version):
        size += TAG + 1 + UUID * len(changed)
    return size
