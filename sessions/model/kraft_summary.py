"""What ``--json`` says of a cluster in KRaft mode: what the quorum, the log and each broker say.

Its shape is that of recordings of real clusters. See :mod:`sessions.model.summary`.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from emulator.metadata_log.changes import MetadataDelta, TopicIdPartition
from emulator.metadata_log.image import MetadataImage
from emulator.metadata_log.records import ClearElrRecord
from emulator.metadata_log.registrations import PartitionRegistration
from sessions.decoding import decode_object
from sessions.model.cluster_view import ClusterView
from sessions.model.metadata_log import broker_fields, end_of, image_of, partition_fields, record_of
from sessions.model.states import CommittedRecord, QuorumState

Plain = dict[str, Any]


def quorum_of(state: QuorumState) -> Plain:
    """The quorum as described by its leader; empty without a running leader."""
    leader = state.leader
    if leader is None or state.controllers.get(leader) != "running":
        return {"leader": None, "epoch": None, "voters": {}, "observers": {}}
    last = state.log[-1].offset if state.log else -1
    voters, observers = {}, {}
    for voter in sorted(state.controllers):
        has_all = voter == leader or state.fetched.get(voter, -1) > last
        voters[str(voter)] = "equal" if has_all else "behind"
    for member, end in sorted(state.fetched.items()):
        if member not in state.controllers:
            observers[str(member)] = "equal" if end > last else "behind"
    return {"leader": leader, "epoch": state.epoch, "voters": voters, "observers": observers}


def mark_of(view: ClusterView, snapshot: Mapping[str, Any], since: int) -> Plain:
    """A whole mark; ``snapshot`` is what the modes have in common.

    ``metadata_log`` begins at offset ``since``.
    """
    state = view.state.quorum
    assert state is not None
    image, cleared = MetadataImage(), Counter[TopicIdPartition]()
    for committed in state.log:
        delta, record = MetadataDelta(), record_of(committed)
        image.replay(record, committed.offset, committed.epoch, delta)
        if isinstance(record, ClearElrRecord):
            cleared.update(list(delta.partitions))
    quorum = quorum_of(state)
    return {
        "controller": {"broker": quorum["leader"], "epoch": quorum["epoch"]},
        "quorum": quorum,
        "brokers": [
            {
                **broker,
                **_registration(image, broker["id"]),
                "metadata_log": _log(state, broker["id"]),
            }
            for broker in snapshot["brokers"]
        ],
        "controllers": [
            {"id": c, "state": status, "metadata_log": _log(state, c)}
            for c, status in sorted(state.controllers.items())
        ],
        "partitions": _partitions(view, image, cleared, snapshot["partitions"]),
        "metadata": _served_metadata(view, state, image),
        "not_in_metadata": _folders(view, state, image),
        "configs": {key: config for key, config in sorted(image.configs.items()) if config},
        "metadata_log": _records([record for record in state.log if record.offset >= since]),
    }


def features_of(state: QuorumState) -> dict[str, int]:
    """The finalized features."""
    return image_of(state.log).features


def _log(state: QuorumState, host: int) -> Plain:
    """Where a host's copy of the log begins, and its snapshots, named as their files are."""
    names = [f"{end:020}-{epoch:010}" for end, epoch in state.snapshots.get(host, [])]
    return {"start_offset": state.log_starts.get(host, 0), "snapshots": names}


def _registration(image: MetadataImage, broker: int) -> Plain:
    registration = image.brokers.get(broker)
    if registration is None:
        nothing = {"fenced": None, "in_controlled_shutdown": None}
        return {"registered": False, **nothing, "registrations": 0}
    return {"registered": True, **broker_fields(registration)}


def _partitions(
    view: ClusterView,
    image: MetadataImage,
    cleared: Mapping[TopicIdPartition, int],
    common: Sequence[Plain],
) -> list[Plain]:
    """Each partition in the metadata, with its replicas' offsets.

    ``cleared`` counts the ClearElrRecords that emptied a partition's lists: each has incremented
    its partition epoch.
    """
    described = {(row["topic"], row["partition"]): row for row in common}
    rows = []
    for topic, number, partition in image.partitions():
        described_partition = described[topic.name, number]
        leader = view.state.brokers.get(partition.leader)
        state_word = "stopped" if leader is None else leader.state
        offsets: Plain = {"hw": None, "leo": None}
        if state_word == "running":
            offsets = {}
        elif state_word == "starting":  # its log can be read, but it does not answer yet
            offsets = {"hw": None}
        state = "online" if partition.has_leader else "offline"
        # Recordings of real clusters count a partition's own records.
        epoch = partition.partition_epoch - cleared.get(TopicIdPartition(topic.id, number), 0)
        own = {**partition_fields(partition), "partition_epoch": epoch}
        rows.append({**described_partition, **own, "state": state, **offsets})
    return sorted(rows, key=lambda row: (row["topic"], row["partition"]))


def _served_metadata(view: ClusterView, state: QuorumState, image: MetadataImage) -> Plain:
    """Each running broker's Metadata response, by topic.

    Brokers that have applied as much tell the same, so that is worked out once.
    """
    by_broker: Plain = {}
    topics: dict[int, Plain] = {end_of(state): _topics(image)}
    for broker in view.state.brokers.values():
        if broker.state != "running":
            continue
        end = state.applied.get(broker.id, 0)
        if end not in topics:
            topics[end] = _topics(image_of(record for record in state.log if record.offset < end))
        if topics[end]:
            by_broker[str(broker.id)] = topics[end]
    return by_broker


def _topics(image: MetadataImage) -> Plain:
    return {
        topic.name: {
            str(number): _metadata(image, partition)
            for number, partition in sorted(topic.partitions.items())
        }
        for topic in sorted(image.topics.values(), key=lambda topic: topic.name)
    }


def _metadata(image: MetadataImage, partition: PartitionRegistration) -> Plain:
    leader = partition.leader
    has_leader = leader in image.brokers
    brokers = image.brokers
    offline = [b for b in partition.replicas if b not in brokers or brokers[b].fenced]
    return {
        "error": "NONE" if has_leader else "LEADER_NOT_AVAILABLE",
        "leader": leader if has_leader else -1,
        "leader_epoch": partition.leader_epoch,
        "isr": sorted(partition.isr),
        "offline": sorted(offline),
    }


def _folders(view: ClusterView, state: QuorumState, image: MetadataImage) -> dict[str, list[str]]:
    """Folders that belong to no partition, or are renamed."""
    partitions = {f"{topic.name}-{number}" for topic, number, _ in image.partitions()}
    folders = {broker: list(names) for broker, names in state.folders.items() if names}
    for tp, partition in view.state.partitions.items():
        if tp not in partitions:
            for broker in partition.replica_states:
                folders.setdefault(broker, []).append(tp)
    return {str(broker): sorted(names) for broker, names in sorted(folders.items())}


def _records(log: Sequence[CommittedRecord]) -> list[Plain]:
    """Records with their content; those of one batch have the same number."""
    batches = {batch: number for number, batch in enumerate(dict.fromkeys(r.batch for r in log))}
    return [
        {
            "type": record.kind,
            "version": record.version,
            "data": decode_object(record.data),
            "epoch": record.epoch,
            "batch": batches[record.batch],
        }
        for record in log
    ]
