"""Topics and partitions: assignment, configuration, ``state`` znode, and ground truth."""

from sys import intern
from typing import Final

from emulator import events
from sessions.model.folding import MIN_ISR, Handlers, Model
from sessions.model.handlers import cached_states
from sessions.model.states import PartitionState


def topic_created(model: Model, event: events.TopicCreated) -> None:
    """Add the partitions of a new topic, which have no leaders yet."""
    if event.config:
        model.state.topic_configs[event.topic] = event.config
    _assign(model, event.topic, 0, event.assignment, event)


def partitions_added(model: Model, event: events.PartitionsAdded) -> None:
    """Add a topic's new partitions, which have no leaders yet."""
    _assign(model, event.topic, event.first, event.assignment, event)


def _assign(
    model: Model, topic: str, first: int, assignment: list[list[int]], event: events.Event
) -> None:
    min_isr = model.min_isr(topic, None)
    for number, replicas in enumerate(assignment, start=first):
        tp = intern(f"{topic}-{number}")
        partition = model.partition(tp, event.seq)
        partition.replicas = replicas
        partition.min_isr = min_isr
        partition.created_us = event.time_us
        model.judge(tp, partition)


def topic_deleted(model: Model, event: events.TopicDeleted) -> None:
    """Remove the topic; a partition stays while an unreachable broker has it on disk."""
    model.state.topic_configs.pop(event.topic, None)
    # An outsider may have numbered them with gaps.
    for tp in [tp for tp, state in model.partitions.items() if state.topic == event.topic]:
        partition = model.partition(tp, event.seq)
        partition.replicas, partition.adding, partition.removing = [], [], []
        partition.led = False
        _without_state(partition)
        if partition.replica_states:
            model.judge(tp, partition)
        else:
            model.remove_partition(tp)


def replicas_assigned(model: Model, event: events.ReplicasAssigned) -> None:
    """A partition's replica list changed."""
    partition = model.partition(event.tp, event.seq)
    partition.replicas = event.replicas
    partition.adding = event.adding
    partition.removing = event.removing
    model.judge(event.tp, partition)


def state_changed(model: Model, event: events.PartitionStateChanged) -> None:
    """Update leader, epoch and ISR; a leader from outside the former ISR was elected uncleanly."""
    partition = model.partition(event.tp, event.seq)
    cached_states.znode_moves(model, partition)
    leader = event.leader
    if leader != partition.leader:
        if leader < 0:
            partition.unclean = False
        elif model.state.quorum is None and not model.state.is_observed:
            partition.unclean = partition.state != "nonexistent" and leader not in partition.isr
        partition.hw_moved_us = event.time_us
        partition.leader = leader
        if model.state.broker_configs:
            partition.min_isr = model.min_isr(partition.topic, leader)
    partition.state = "online" if leader >= 0 else "offline"
    partition.leader_epoch = event.leader_epoch
    partition.isr = event.isr
    if model.by_broker is not None:
        model.names(event.tp, (*event.isr, leader))
    partition.controller_epoch = event.controller_epoch
    partition.zk_version = event.zk_version
    model.judge(event.tp, partition)


def leader_elected(model: Model, event: events.LeaderElected) -> None:
    """The controller knows what it has written; in KRaft only it knows whether that was clean.

    There the new leader may be from outside the ISR and have all records (KIP-966). The election is
    told before the record that it leads to.
    """
    cached_states.leader_elected(model, event)
    if model.state.quorum is not None:
        partition = model.partition(event.tp, event.seq)
        is_unclean = event.strategy == "Unclean"
        if partition.unclean != is_unclean:
            partition.unclean = is_unclean
            model.judge(event.tp, partition)


def state_removed(model: Model, event: events.PartitionStateRemoved) -> None:
    """The ``state`` znode was deleted: forget the audit of its records, too."""
    partition = model.partition(event.tp, event.seq)
    cached_states.znode_moves(model, partition)
    _without_state(partition)
    cached_states.znode_gone(model, event.tp)
    model.judge(event.tp, partition)


def _without_state(partition: PartitionState) -> None:
    partition.state = "nonexistent"
    partition.leader = partition.leader_epoch = None
    partition.controller_epoch = partition.zk_version = None
    partition.isr, partition.leader_isr = [], []
    partition.unclean = False
    partition.lost, partition.lost_offsets, partition.duplicated = [], [], []
    partition.diverged, partition.consumed_lost = [], []


def leader_isr_changed(model: Model, event: events.IsrChanged) -> None:
    """Update the ISR that the leader uses; that of a former leader is ignored."""
    partition, replica = model.replica(event.tp, event.broker, event.seq)
    replica.isr, replica.zk_version = event.isr, event.zk_version
    if event.broker == partition.leader:
        partition.leader_isr = event.isr


def elr_changed(model: Model, event: events.EligibleReplicasChanged) -> None:
    """A client was told another ELR."""
    partition = model.partition(event.tp, event.seq)
    partition.elr, partition.last_known_elr = event.elr, event.last_known_elr


def audited(model: Model, event: events.AuditChanged) -> None:
    """Ground truth about the partition."""
    partition = model.partition(event.tp, event.seq)
    partition.lost, partition.lost_offsets = event.lost, event.lost_offsets
    partition.duplicated = event.duplicated
    partition.diverged = event.diverged
    partition.consumed_lost = event.consumed_lost
    model.judge(event.tp, partition)


def config_changed(model: Model, event: events.ConfigChanged) -> None:
    """Update a configuration; min.insync.replicas may change which partitions have a problem."""
    state = model.state
    values: dict[str, str]
    if event.entity == "topic":
        values = state.topic_configs.get(event.name, {})
        state.topic_configs[event.name] = changed(values, event)
    elif event.entity == "group":
        return
    elif event.name.isdigit():
        values = state.broker_configs.get(int(event.name), {})
        state.broker_configs[int(event.name)] = changed(values, event)
    else:
        state.config = changed(state.config, event)
    if event.key == MIN_ISR:
        _judge_min_isr(model, event)


def changed(values: dict[str, str], event: events.ConfigChanged) -> dict[str, str]:
    """The values with one set, or (empty) removed."""
    rest = {key: value for key, value in values.items() if key != event.key}
    return {**rest, event.key: event.value} if event.value else rest


def _judge_min_isr(model: Model, event: events.ConfigChanged) -> None:
    one_topic = event.name if event.entity == "topic" else None
    for tp, partition in list(model.partitions.items()):
        if one_topic is None or partition.topic == one_topic:
            min_isr = model.min_isr(partition.topic, partition.leader)
            if min_isr != partition.min_isr:
                touched = model.partition(tp, event.seq)
                touched.min_isr = min_isr
                model.judge(tp, touched)


HANDLERS: Final[Handlers] = {
    events.TopicCreated: topic_created,
    events.PartitionsAdded: partitions_added,
    events.TopicDeleted: topic_deleted,
    events.ReplicasAssigned: replicas_assigned,
    events.PartitionStateChanged: state_changed,
    events.LeaderElected: leader_elected,
    events.PartitionStateRemoved: state_removed,
    events.IsrChanged: leader_isr_changed,
    events.EligibleReplicasChanged: elr_changed,
    events.AuditChanged: audited,
    events.ConfigChanged: config_changed,
}
