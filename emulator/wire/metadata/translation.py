"""Turn records as they stand in a log into those that a metadata image is built from.

What has no meaning for replication has no counterpart: access control, quotas, tokens, credentials.
"""

from base64 import urlsafe_b64encode
from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final

from emulator.metadata_log import records as log
from emulator.metadata_log.records import AnyRecord
from emulator.wire.metadata import messages as wire
from emulator.wire.metadata.control_records import LeaderChangeMessage
from emulator.wire.types import Message


@lru_cache(maxsize=1 << 16)
def uuid_text(uuid: bytes) -> str:
    """Return an id as Kafka writes it (``org.apache.kafka.common.Uuid``)."""
    return urlsafe_b64encode(uuid).decode().rstrip("=")


def translate(record: Message) -> AnyRecord | None:
    """Return a record's counterpart; None if it has no meaning for replication."""
    translation = _TRANSLATIONS.get(type(record))
    return None if translation is None else translation(record)


def _partition(record: wire.PartitionRecord) -> AnyRecord:
    return log.PartitionRecord(
        record.partition_id,
        uuid_text(record.topic_id),
        tuple(record.replicas),
        tuple(record.isr),
        tuple(record.removing_replicas),
        tuple(record.adding_replicas),
        record.leader,
        record.leader_recovery_state,
        record.leader_epoch,
        record.partition_epoch,
        _optional(record.eligible_leader_replicas),
        _optional(record.last_known_elr),
    )


def _partition_change(record: wire.PartitionChangeRecord) -> AnyRecord:
    return log.PartitionChangeRecord(
        record.partition_id,
        uuid_text(record.topic_id),
        _optional(record.isr),
        record.leader,
        _optional(record.replicas),
        _optional(record.removing_replicas),
        _optional(record.adding_replicas),
        record.leader_recovery_state,
        _optional(record.eligible_leader_replicas),
        _optional(record.last_known_elr),
    )


def _register_broker(record: wire.RegisterBrokerRecord) -> AnyRecord:
    return log.RegisterBrokerRecord(
        record.broker_id,
        uuid_text(record.incarnation_id),
        record.broker_epoch,
        record.fenced,
        record.in_controlled_shutdown,
        record.rack,
    )


def _registration_change(record: wire.BrokerRegistrationChangeRecord) -> AnyRecord:
    cordoned = record.cordoned_log_dirs
    return log.BrokerRegistrationChangeRecord(
        record.broker_id,
        record.broker_epoch,
        record.fenced,
        record.in_controlled_shutdown,
        None if cordoned is None else tuple(map(uuid_text, cordoned)),
    )


def _config(record: wire.ConfigRecord) -> AnyRecord | None:
    """Configurations of groups and of client metrics concern no broker and no topic."""
    if record.resource_type not in (log.TOPIC_RESOURCE, log.BROKER_RESOURCE):
        return None
    return log.ConfigRecord(record.resource_type, record.resource_name, record.name, record.value)


def _optional(values: list[int] | None) -> log.Replicas | None:
    return None if values is None else tuple(values)


_TRANSLATIONS: Final[dict[type[Message], Callable[[Any], AnyRecord | None]]] = {
    wire.PartitionRecord: _partition,
    wire.PartitionChangeRecord: _partition_change,
    wire.RegisterBrokerRecord: _register_broker,
    wire.BrokerRegistrationChangeRecord: _registration_change,
    wire.ConfigRecord: _config,
    wire.TopicRecord: lambda record: log.TopicRecord(record.name, uuid_text(record.topic_id)),
    wire.RemoveTopicRecord: lambda record: log.RemoveTopicRecord(uuid_text(record.topic_id)),
    wire.ClearElrRecord: lambda record: log.ClearElrRecord(record.topic_name),
    wire.FeatureLevelRecord: lambda record: log.FeatureLevelRecord(
        record.name, record.feature_level
    ),
    wire.UnregisterBrokerRecord: lambda record: log.UnregisterBrokerRecord(
        record.broker_id, record.broker_epoch
    ),
    wire.FenceBrokerRecord: lambda record: log.BrokerRegistrationChangeRecord(
        record.id, record.epoch, log.FENCE
    ),
    wire.UnfenceBrokerRecord: lambda record: log.BrokerRegistrationChangeRecord(
        record.id, record.epoch, log.UNFENCE
    ),
    wire.RegisterControllerRecord: lambda record: log.RegisterControllerRecord(
        record.controller_id, uuid_text(record.incarnation_id), record.zk_migration_ready
    ),
    wire.ProducerIdsRecord: lambda record: log.ProducerIdsRecord(
        record.broker_id, record.broker_epoch, record.next_producer_id
    ),
    wire.ZkMigrationStateRecord: lambda record: log.ZkMigrationStateRecord(
        record.zk_migration_state
    ),
    wire.NoOpRecord: lambda record: log.NoOpRecord(),
    wire.BeginTransactionRecord: lambda record: log.BeginTransactionRecord(record.name or ""),
    wire.EndTransactionRecord: lambda record: log.EndTransactionRecord(),
    wire.AbortTransactionRecord: lambda record: log.AbortTransactionRecord(record.reason or ""),
    LeaderChangeMessage: lambda record: log.LeaderChangeMessage(record.leader_id),
}
