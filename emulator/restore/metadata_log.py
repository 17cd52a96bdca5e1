"""The metadata log of a cluster in KRaft mode that starts from an image: one snapshot."""

from collections.abc import Mapping
from typing import Final

from emulator.cluster_image.acls import acls_of, in_words
from emulator.cluster_image.image import Broker, ClusterImage, Partition
from emulator.common.names import uuid_of
from emulator.metadata_log.changes import TopicImage
from emulator.metadata_log.image import MetadataImage, config_key
from emulator.metadata_log.metadata_version import METADATA_VERSION, is_cordoned_log_dirs_supported
from emulator.metadata_log.records import (
    BROKER_RESOURCE,
    GROUP_RESOURCE,
    RECOVERED,
    RECOVERING,
    TOPIC_RESOURCE,
)
from emulator.metadata_log.registrations import BrokerRegistration, PartitionRegistration
from emulator.metadata_log.runs import SharedPartitions
from emulator.metadata_log.sizes import snapshot_size
from emulator.protocol.raft import MetadataSnapshot

COMBINED: Final = 1_000
"""By how much the id of a combined node's controller is higher than that of its broker."""


def controller_ids(image: ClusterImage) -> dict[int, int]:
    """Return the id of each voter's host by the voter's id in the image, in order of these.

    A node that is a broker and a controller becomes two processes here, because brokers and
    controllers are different hosts. Its controller has the lowest id of those that are its own and
    a multiple of 1,000 higher, and nobody else's.
    """
    assert image.quorum is not None
    taken = {broker.id for broker in image.brokers}
    hosts: dict[int, int] = {}
    for controller in image.quorum.controllers:
        if controller.voter:
            host = controller.id
            while host in taken:
                host += COMBINED
            hosts[controller.id] = host
            taken.add(host)
    return hosts


def snapshot_of(image: ClusterImage) -> MetadataSnapshot:
    """Return the snapshot that every node has on its disk, and nothing after it.

    It ends with the image's last committed record. Its epoch is the one before the current
    leader's, because a leader's first record begins its epoch.
    """
    quorum = image.quorum
    assert quorum is not None
    metadata = _metadata(image)
    size = sum(1 for _ in metadata.records())
    metadata.offset = max((quorum.offset or 0), size - 1, *(_epochs(image.brokers)))
    metadata.epoch = max(0, (quorum.epoch or 1) - 1)
    return MetadataSnapshot(
        metadata.offset + 1, metadata.epoch, 0, snapshot_size(metadata), metadata
    )


def _epochs(brokers: tuple[Broker, ...]) -> list[int]:
    return [broker.epoch or 0 for broker in brokers]


def _metadata(image: ClusterImage) -> MetadataImage:
    level = (image.features or {}).get(METADATA_VERSION, 0)
    metadata = MetadataImage(
        features=dict(image.features or {}),
        brokers={broker.id: _registration(broker, level) for broker in image.brokers},
        configs=_configs(image),
        next_producer_id=image.next_producer_id or 0,
        acls={
            uuid_of(f"acl {in_words(entry)}"): acl
            for entry, acl in zip(image.acls, acls_of(image.acls), strict=True)
        },
    )
    for topic in image.topics:
        assert topic.id is not None
        metadata.topic_ids[topic.name] = topic.id
        metadata.topics[topic.id] = TopicImage(
            topic.name,
            topic.id,
            SharedPartitions(
                (partition.partition, _partition(partition)) for partition in topic.partitions
            ),
        )
    return metadata


def _registration(broker: Broker, level: int) -> BrokerRegistration:
    epoch = broker.epoch or 0
    return BrokerRegistration(
        broker.id,
        epoch,
        broker.incarnation_id or "",
        epoch,
        broker.fenced or False,
        broker.in_controlled_shutdown or False,
        broker.rack or None,
        cordoned_log_dirs=() if is_cordoned_log_dirs_supported(level) else None,
    )


def _partition(partition: Partition) -> PartitionRegistration:
    return PartitionRegistration(
        partition.replicas,
        partition.isr or (),
        -1 if partition.leader is None else partition.leader,
        partition.leader_epoch or 0,
        partition.partition_epoch or 0,
        RECOVERING if partition.recovering else RECOVERED,
        partition.removing or (),
        partition.adding or (),
        partition.elr or (),
        partition.last_known_elr or (),
    )


def _configs(image: ClusterImage) -> dict[str, dict[str, str]]:
    """The dynamic configurations, by resource."""
    configs: dict[str, Mapping[str, str] | None] = {config_key(BROKER_RESOURCE, ""): image.configs}
    configs |= {
        config_key(BROKER_RESOURCE, str(broker.id)): broker.configs for broker in image.brokers
    }
    configs |= {config_key(TOPIC_RESOURCE, topic.name): topic.configs for topic in image.topics}
    configs |= {config_key(GROUP_RESOURCE, group.id): group.configs for group in image.groups}
    return {resource: dict(values) for resource, values in configs.items() if values}
