"""The znodes of a cluster in ZooKeeper mode that starts from an image."""

from collections.abc import Iterator
from typing import NamedTuple

from emulator.cluster_image.acls import acls_of
from emulator.cluster_image.image import ClusterImage, Partition, Topic
from emulator.common.acls import LITERAL, Acl
from emulator.releases.profiles import Profile
from emulator.zookeeper import acl_znodes
from emulator.zookeeper import data as znodes


class StoredZnode(NamedTuple):
    """A persistent znode: its data, and how often that was set since (its dataVersion)."""

    path: str
    data: str | None
    version: int = 0


def stored_znodes(image: ClusterImage, profile: Profile) -> Iterator[StoredZnode]:
    """Return the znodes that exist before any broker starts, parents first.

    ``image`` is complete. The controller's epoch is the one before: the controller that the image
    names increments it when the cluster starts.
    """
    for path in _folders(profile):
        yield StoredZnode(path, None)
    if profile.has("cluster_id") and image.cluster_id:
        yield StoredZnode(znodes.CLUSTER, None)
        yield StoredZnode(znodes.CLUSTER_ID, znodes.cluster_id_json(image.cluster_id))
    controller = image.controller
    assert controller is not None
    if controller.epoch and controller.epoch > 1:
        version = max(0, (controller.epoch_version or controller.epoch) - 1)
        yield StoredZnode(znodes.CONTROLLER_EPOCH, str(controller.epoch - 1), version)
    if profile.has("dynamic_broker_config"):
        yield from _broker_configs(image)
    yield from _acls(image, extended=profile.has("prefixed_acls"))
    for topic in image.topics:
        yield from _topic(topic, profile)
    moves = [] if profile.has("cancel_reassignment") else _moves(image)
    if moves:
        yield StoredZnode(znodes.REASSIGN_PARTITIONS, znodes.moves_json(moves))


def _folders(profile: Profile) -> list[str]:
    folders = [znodes.BROKERS, znodes.TOPICS, znodes.CONFIG, znodes.TOPIC_CONFIGS]
    if profile.has("dynamic_broker_config"):
        folders.append(znodes.BROKER_CONFIGS)
    return [*folders, znodes.ADMIN, znodes.DELETE_TOPICS]


def _broker_configs(image: ClusterImage) -> Iterator[StoredZnode]:
    if image.configs:
        yield StoredZnode(znodes.broker_config_path(None), znodes.config_json(image.configs))
    for broker in image.brokers:
        if broker.configs:
            path = znodes.broker_config_path(broker.id)
            yield StoredZnode(path, znodes.config_json(broker.configs))


def _acls(image: ClusterImage, *, extended: bool) -> Iterator[StoredZnode]:
    """The entries by resource, below the nodes that an authorizer creates when it starts."""
    if not image.acls:
        return
    for path in acl_znodes.paths(extended=extended):
        yield StoredZnode(path, None)
    by_path: dict[str, list[Acl]] = {}
    for acl in acls_of(image.acls):
        if extended or acl.pattern_type == LITERAL:
            by_path.setdefault(acl_znodes.path_of(acl), []).append(acl)
    for folder in dict.fromkeys(path.rpartition("/")[0] for path in by_path):
        yield StoredZnode(folder, None)
    for path, acls in by_path.items():
        yield StoredZnode(path, acl_znodes.acls_json(acls))


def _topic(topic: Topic, profile: Profile) -> Iterator[StoredZnode]:
    yield StoredZnode(znodes.topic_config_path(topic.name), znodes.config_json(topic.configs or {}))
    yield StoredZnode(znodes.topic_path(topic.name), _topic_json(topic, profile))
    yield StoredZnode(znodes.partitions_path(topic.name), None)
    for partition in topic.partitions:
        tp = f"{topic.name}-{partition.partition}"
        yield StoredZnode(znodes.partition_path(tp), None)
        yield StoredZnode(znodes.state_path(tp), _state(partition), partition.partition_epoch or 0)
    if topic.deleting:
        yield StoredZnode(znodes.delete_topic_path(topic.name), None)


def _topic_json(topic: Topic, profile: Profile) -> str:
    """A topic's assignment, from 2.4 on with its reassignments in progress (KIP-455)."""
    data = znodes.topic_json(
        profile, [partition.replicas for partition in topic.partitions], topic.id or ""
    )
    adding = {
        partition.partition: partition.adding for partition in topic.partitions if partition.adding
    }
    removing = {
        partition.partition: partition.removing
        for partition in topic.partitions
        if partition.removing
    }
    if not (adding or removing) or not profile.has("cancel_reassignment"):
        return data
    assignment = znodes.topic_in(data)
    assert assignment is not None
    return znodes.changed_topic_json(assignment, {}, adding, removing)


def _state(partition: Partition) -> str:
    return znodes.state_json(
        -1 if partition.leader is None else partition.leader,
        partition.leader_epoch or 0,
        partition.isr or (),
        partition.controller_epoch or 1,
        znodes.RECOVERING if partition.recovering else znodes.RECOVERED,
    )


def _moves(image: ClusterImage) -> list[tuple[str, tuple[int, ...]]]:
    """The reassignments in progress up to 2.3: each partition's target replicas."""
    return [
        (
            f"{topic.name}-{partition.partition}",
            tuple(
                replica
                for replica in partition.replicas
                if replica not in (partition.removing or ())
            ),
        )
        for topic in image.topics
        for partition in topic.partitions
        if partition.adding or partition.removing
    ]
