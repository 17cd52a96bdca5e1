"""The metadata image built from the records of the metadata log.

Every controller and every broker has its own image, as recent as its position in the log. It is
plain state: values are frozen and shared by copies, so a copy costs as much as copying its dicts.
Source: ``org.apache.kafka.image.MetadataImage`` and ``MetadataDelta`` of 3.9 to 4.1.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Final

from msgspec import Struct, field

from emulator.common.acls import Acl
from emulator.metadata_log.changes import MetadataDelta, TopicImage
from emulator.metadata_log.metadata_version import ELIGIBLE_LEADER_REPLICAS, METADATA_VERSION
from emulator.metadata_log.records import (
    BROKER_RESOURCE,
    GROUP_RESOURCE,
    METRICS_RESOURCE,
    TOPIC_RESOURCE,
    AccessControlEntryRecord,
    AnyRecord,
    BrokerRegistrationChangeRecord,
    ClearElrRecord,
    ConfigRecord,
    FeatureLevelRecord,
    NoOpRecord,
    PartitionChangeRecord,
    PartitionRecord,
    ProducerIdsRecord,
    RegisterBrokerRecord,
    RegisterControllerRecord,
    RemoveAccessControlEntryRecord,
    RemoveTopicRecord,
    TopicRecord,
    UnregisterBrokerRecord,
)
from emulator.metadata_log.registrations import (
    BrokerRegistration,
    PartitionRegistration,
    broker_of,
    partition_of,
    record_of,
)
from emulator.metadata_log.runs import NO_PARTITIONS, PartitionRecords, SharedPartitions, replay_run


class MetadataImage(Struct):
    """The metadata after the record at ``offset``, written in ``epoch``; -1 if empty.

    ``topics`` are keyed by id; ``configs`` by resource (:func:`config_key`), each by name.
    ``controllers`` has the incarnation of each registered controller, ``acls`` the access control
    entries by their ids.
    """

    offset: int = -1
    epoch: int = 0
    features: dict[str, int] = field(default_factory=dict)
    controllers: dict[int, str] = field(default_factory=dict)
    brokers: dict[int, BrokerRegistration] = field(default_factory=dict)
    topics: dict[str, TopicImage] = field(default_factory=dict)
    topic_ids: dict[str, str] = field(default_factory=dict)
    configs: dict[str, dict[str, str]] = field(default_factory=dict)
    next_producer_id: int = 0
    acls: dict[str, Acl] = field(default_factory=dict)

    # ---- reading

    @property
    def metadata_version(self) -> int:
        """The level of ``metadata.version``; 0 before the first record."""
        return self.features.get(METADATA_VERSION, 0)

    @property
    def elr_enabled(self) -> bool:
        """Whether members leaving the ISR below min.insync.replicas are added to the ELR."""
        return self.features.get(ELIGIBLE_LEADER_REPLICAS, 0) > 0

    def topic(self, name: str) -> TopicImage | None:
        topic_id = self.topic_ids.get(name)
        return None if topic_id is None else self.topics[topic_id]

    def partition(self, name: str, partition: int) -> PartitionRegistration | None:
        """Return a partition by topic name and number."""
        topic = self.topic(name)
        return None if topic is None else topic.partitions.get(partition)

    def partitions(self) -> Iterator[tuple[TopicImage, int, PartitionRegistration]]:
        for topic in self.topics.values():
            for number, registration in topic.partitions.items():
                yield topic, number, registration

    def is_active(self, broker: int) -> bool:
        """Whether a broker is registered, unfenced and not in controlled shutdown."""
        registration = self.brokers.get(broker)
        return registration is not None and registration.is_active

    def topic_config(self, topic: str, name: str) -> str | None:
        """Return a topic's own value of a configuration, or None."""
        return self.configs.get(config_key(TOPIC_RESOURCE, topic), {}).get(name)

    def broker_config(self, broker: int | None, name: str) -> str | None:
        """Return a node's dynamic value, or with None the cluster-wide default; None if unset."""
        resource = "" if broker is None else str(broker)
        return self.configs.get(config_key(BROKER_RESOURCE, resource), {}).get(name)

    def records(self) -> Iterator[AnyRecord]:
        """The records of a snapshot of the image (``MetadataImage.write``)."""
        for name, level in self.features.items():
            yield FeatureLevelRecord(name, level)
        for controller, incarnation in self.controllers.items():
            yield RegisterControllerRecord(controller, incarnation)
        for broker in self.brokers.values():
            yield RegisterBrokerRecord(
                *(broker.id, broker.incarnation_id, broker.epoch),
                *(broker.fenced, broker.in_controlled_shutdown),
                broker.rack,
                broker.directory,
            )
        for topic in self.topics.values():
            yield TopicRecord(topic.name, topic.id)
            for number, partition in topic.partitions.items():
                yield record_of(topic.id, number, partition)
        for key, values in self.configs.items():
            kind, _, resource = key.partition(":")
            for name, value in values.items():
                yield ConfigRecord(_RESOURCE_TYPES[kind], resource, name, value)
        if self.next_producer_id:
            yield ProducerIdsRecord(-1, -1, self.next_producer_id)
        for acl_id, acl in self.acls.items():
            yield record_of_acl(acl_id, acl)

    def changes_since(self, before: "MetadataImage", broker: int | None = None) -> MetadataDelta:
        """Return the differences after a snapshot has replaced an image (``finishSnapshot``).

        With ``broker``, the delta has only the partitions that concern it.
        """
        delta = MetadataDelta(broker)
        for topic_id in [
            *before.topics,
            *(added for added in self.topics if added not in before.topics),
        ]:
            self._add_changes(before.topics.get(topic_id), self.topics.get(topic_id), delta)
        for name in ("brokers", "configs", "features"):
            old, new = getattr(before, name), getattr(self, name)
            changed = [key for key in {**old, **new} if old.get(key) != new.get(key)]
            setattr(delta, name, dict.fromkeys(changed))
        return delta

    @staticmethod
    def _add_changes(
        before: TopicImage | None, after: TopicImage | None, delta: MetadataDelta
    ) -> None:
        topic = after or before
        assert topic is not None
        old = NO_PARTITIONS if before is None else before.partitions
        new = NO_PARTITIONS if after is None else after.partitions
        numbers: Iterable[int] = {**old, **new}
        if not old and isinstance(new, SharedPartitions) and delta.broker is not None:
            numbers = new.of_broker(delta.broker)
            if new:
                delta.topics[topic.name] = None
        for number in numbers:
            previous, now = old.get(number), new.get(number)
            if previous != now:
                delta.touch(topic, number, previous, now)

    # ---- replaying

    def share(self, other: "MetadataImage") -> None:
        """Share the partitions of an equal image, so that both are one object when they change."""
        for topic_id, topic in self.topics.items():
            topic.partitions = other.topics[topic_id].partitions

    def replay_batch(
        self,
        records: Sequence[AnyRecord],
        base_offset: int,
        epoch: int,
        delta: MetadataDelta | None = None,
    ) -> bool:
        """Apply the records of a batch; return whether any of them changes the metadata.

        If one refers to something unknown, those before it are applied, and :attr:`offset` is its.

        Raises:
            KeyError: as :meth:`replay`.
        """
        is_news = False
        for offset, record in enumerate(records, base_offset):
            # Two types are so frequent that each call would be noticeable.
            if type(record) is PartitionChangeRecord:
                is_news, self.offset, self.epoch = True, offset, epoch
                topic, number = self.topics[record.topic_id], record.partition_id
                changed = topic.partitions[number]
                if type(topic.partitions) is SharedPartitions:
                    topic.partitions = dict(topic.partitions)
                topic.partitions[number] = after = changed.merge(record)
                if delta is not None:
                    delta.touch(topic, number, changed, after)
            elif type(record) is PartitionRecord:
                is_news, self.offset = True, offset
                topic, number = self.topics[record.topic_id], record.partition_id
                self._set(topic, number, partition_of(record), delta)
            else:
                is_news = is_news or not isinstance(record, NoOpRecord)
                self.replay(record, offset, epoch, delta)
        self.offset, self.epoch = base_offset + len(records) - 1, epoch
        return is_news

    def read_batch(
        self,
        records: Sequence[AnyRecord],
        base_offset: int,
        epoch: int,
        delta: MetadataDelta | None = None,
    ) -> bool:
        """Apply a batch that other nodes read, too, and share the partitions with their images.

        Otherwise as :meth:`replay_batch`, which is faster for a single reader.
        """
        is_news = False
        run: PartitionRecords = []
        for offset, record in enumerate(records, base_offset):
            if type(record) is PartitionChangeRecord or type(record) is PartitionRecord:
                run.append(record)
                continue
            if run:
                self._read_run(run, offset, epoch, delta)
                is_news, run = True, []
            if isinstance(record, NoOpRecord):
                continue
            is_news = True
            if isinstance(record, TopicRecord):
                self._create(record, NO_PARTITIONS)
            else:
                self.replay(record, offset, epoch, delta)
        if run:
            self._read_run(run, base_offset + len(records), epoch, delta)
        self.offset, self.epoch = base_offset + len(records) - 1, epoch
        return is_news or bool(run)

    def _read_run(
        self,
        records: PartitionRecords,
        end_offset: int,
        epoch: int,
        delta: MetadataDelta | None,
    ) -> None:
        """Apply records of partitions that end before ``end_offset``."""
        with suppress(KeyError):  # it is raised again, by the record that it comes from
            if replay_run(self.topics, records, delta):
                return
        for offset, record in enumerate(records, end_offset - len(records)):
            self.replay(record, offset, epoch, delta)

    def _create(self, record: TopicRecord, partitions: dict[int, PartitionRegistration]) -> None:
        self.topics[record.topic_id] = TopicImage(record.name, record.topic_id, partitions)
        self.topic_ids[record.name] = record.topic_id

    def replay(
        self,
        record: AnyRecord,
        offset: int,
        epoch: int | None = None,
        delta: MetadataDelta | None = None,
    ) -> None:
        """Apply the record at ``offset``, written in ``epoch`` (None: the current one).

        Its changes are added to ``delta``. A record that refers to something unknown raises a
        KeyError, as Kafka's image raises an exception: this cannot happen with a controller's log.
        """
        self.offset = offset
        if epoch is not None:
            self.epoch = epoch
        match record:
            case PartitionChangeRecord():
                topic = self.topics[record.topic_id]
                before = topic.partitions[record.partition_id]
                self._set(topic, record.partition_id, before.merge(record), delta)
            case PartitionRecord():
                topic = self.topics[record.topic_id]
                self._set(topic, record.partition_id, partition_of(record), delta)
            case RegisterBrokerRecord() | BrokerRegistrationChangeRecord():
                self._replay_broker(record, offset, delta)
            case TopicRecord():
                self._create(record, {})
            case _:
                self._replay_rare(record, delta)

    def _replay_broker(
        self,
        record: RegisterBrokerRecord | BrokerRegistrationChangeRecord,
        offset: int,
        delta: MetadataDelta | None,
    ) -> None:
        broker = record.broker_id
        if delta is not None:
            delta.brokers[broker] = None
        if isinstance(record, RegisterBrokerRecord):
            self.brokers[broker] = broker_of(record, offset, self.brokers.get(broker))
        else:
            self.brokers[broker] = self.brokers[broker].merge(record)

    def _replay_rare(self, record: AnyRecord, delta: MetadataDelta | None) -> None:
        match record:
            case RemoveTopicRecord(topic_id=topic_id):
                self._remove(topic_id, delta)
            case ClearElrRecord(topic_name=name):
                self._clear_elr([self.topic_ids[name]] if name else list(self.topics), delta)
            case ConfigRecord():
                self._configure(record, delta)
            case FeatureLevelRecord(name=name, feature_level=level):
                self._finalize(name, level, delta)
            case UnregisterBrokerRecord(broker_id=broker):
                del self.brokers[broker]
                if delta is not None:
                    delta.brokers[broker] = None
            case RegisterControllerRecord(controller_id=controller, incarnation_id=incarnation):
                self.controllers[controller] = incarnation
            case ProducerIdsRecord(next_producer_id=next_id):
                self.next_producer_id = next_id
            case AccessControlEntryRecord() | RemoveAccessControlEntryRecord():
                self._replay_acl(record)
            case _:
                pass  # bootstrap transactions, control records and no-ops change nothing

    def _replay_acl(
        self, record: AccessControlEntryRecord | RemoveAccessControlEntryRecord
    ) -> None:
        if isinstance(record, AccessControlEntryRecord):
            self.acls[record.id] = acl_of(record)
        else:
            del self.acls[record.id]

    def _set(
        self,
        topic: TopicImage,
        number: int,
        after: PartitionRegistration,
        delta: MetadataDelta | None,
    ) -> None:
        before = topic.partitions.get(number)
        if isinstance(topic.partitions, SharedPartitions):
            topic.partitions = dict(topic.partitions)
        topic.partitions[number] = after
        if delta is not None:
            delta.touch(topic, number, before, after)

    def _remove(self, topic_id: str, delta: MetadataDelta | None) -> None:
        topic = self.topics.pop(topic_id)
        del self.topic_ids[topic.name]
        self.configs.pop(config_key(TOPIC_RESOURCE, topic.name), None)
        if delta is not None:
            for number, before in topic.partitions.items():
                delta.touch(topic, number, before, None)

    def _finalize(self, name: str, level: int, delta: MetadataDelta | None) -> None:
        if level:
            self.features[name] = level
        else:
            self.features.pop(name, None)
        if delta is not None:
            delta.features[name] = None

    def _clear_elr(self, topic_ids: list[str], delta: MetadataDelta | None) -> None:
        for topic_id in topic_ids:
            topic = self.topics[topic_id]
            for number, partition in list(topic.partitions.items()):
                if partition.elr or partition.last_known_elr:
                    self._set(topic, number, partition.without_elr(), delta)

    def _configure(self, record: ConfigRecord, delta: MetadataDelta | None) -> None:
        key = config_key(record.resource_type, record.resource_name)
        if delta is not None:
            delta.configs[key] = None
        values = self.configs.setdefault(key, {})
        if record.value is None:
            values.pop(record.name, None)
        else:
            values[record.name] = record.value
        if not values:
            del self.configs[key]


def acl_of(record: AccessControlEntryRecord) -> Acl:
    """Return the entry in a record."""
    return Acl(
        resource_type=record.resource_type,
        resource_name=record.resource_name,
        pattern_type=record.pattern_type,
        principal=record.principal,
        host=record.host,
        operation=record.operation,
        permission=record.permission_type,
    )


def record_of_acl(acl_id: str, acl: Acl) -> AccessControlEntryRecord:
    """Return the record of an entry."""
    return AccessControlEntryRecord(
        *(acl_id, acl.resource_type, acl.resource_name or "", acl.pattern_type),
        *(acl.principal or "", acl.host or "", acl.operation, acl.permission),
    )


def config_key(resource_type: int, resource_name: str) -> str:
    """Return the key of a resource, such as ``topic:NAME``.

    Others are ``group:NAME``, ``client-metrics:NAME``, ``broker:ID``, and ``broker:`` for all.
    """
    return f"{_KINDS[resource_type]}:{resource_name}"


_KINDS: Final = {
    TOPIC_RESOURCE: "topic",
    BROKER_RESOURCE: "broker",
    METRICS_RESOURCE: "client-metrics",
    GROUP_RESOURCE: "group",
}
_RESOURCE_TYPES: Final = {kind: resource_type for resource_type, kind in _KINDS.items()}
