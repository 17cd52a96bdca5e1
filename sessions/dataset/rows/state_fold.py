"""Rows of ``partition_states`` and ``replica_states``: values from one event until another.

This folds only the types of events that affect the two tables. It keeps one open row for each
partition and each replica, so its memory depends on the size of the cluster, not on the length of
the session.
"""

from collections.abc import Callable
from typing import Any, Final

from emulator.events import (
    ClusterCreated,
    ConfigChanged,
    Event,
    HighWatermarkChanged,
    LogCreated,
    LogDeleted,
    LogLoaded,
    LogStartOffsetChanged,
    LogTruncated,
    PartitionsAdded,
    PartitionStateChanged,
    PartitionStateRemoved,
    RecordsAppended,
    RemoteLogEndOffsetChanged,
    ReplicaRoleChanged,
    ReplicasAssigned,
    TopicCreated,
    TopicDeleted,
)
from emulator.releases.config import resolve
from emulator.releases.profiles import DEFAULT_VERSION
from sessions.dataset.rows.states import Partition, Replica
from sessions.dataset.writer import Row

MIN_ISR: Final = "min.insync.replicas"
UNCLEAN: Final = "unclean.leader.election.enable"


class Partitions(dict[str, Partition]):
    """Partitions by name, created on first access."""

    def __missing__(self, tp: str) -> Partition:
        partition = self[tp] = Partition(tp)
        return partition


class StateFold:
    """Folds events into rows of both tables; calls the two functions with each row as it ends."""

    def __init__(
        self, add_partition: Callable[[Row], object], add_replica: Callable[[Row], object]
    ) -> None:
        self._add_partition = add_partition
        self._add_replica = add_replica
        self._partitions = Partitions()
        self._defaults = resolve(DEFAULT_VERSION, {})

    def handlers(self) -> dict[type[Event], Callable[[Any], None]]:
        return {
            ClusterCreated: self._cluster_created,
            ConfigChanged: self._config_changed,
            TopicCreated: self._topic_created,
            PartitionsAdded: self._partitions_added,
            TopicDeleted: self._topic_deleted,
            ReplicasAssigned: self._replicas_assigned,
            PartitionStateChanged: self._state_changed,
            PartitionStateRemoved: self._state_removed,
            LogCreated: self._log_created,
            LogDeleted: self._log_deleted,
            LogLoaded: self._log_loaded,
            ReplicaRoleChanged: self._role_changed,
            RecordsAppended: self._appended,
            LogTruncated: self._truncated,
            HighWatermarkChanged: self._high_watermark_changed,
            LogStartOffsetChanged: self._log_start_changed,
            RemoteLogEndOffsetChanged: self._remote_leo_changed,
        }

    def finish(self) -> None:
        """End the session: emit the rows that hold until its end."""
        for partition in self._partitions.values():
            if partition.since_seq:
                self._add_partition(partition.row(None, None))
            for replica in partition.held.values():
                self._add_replica(replica.row(partition.tp, None, None))

    # ---- open rows

    def _end_partition(self, partition: Partition, event: Event) -> None:
        """End the partition's row before a value changes, unless this very event began it."""
        if partition.since_seq not in (0, event.seq):
            self._add_partition(partition.row(event.seq, event.time_us))
            partition.since_seq, partition.since_us = event.seq, event.time_us

    def _end_replica(self, partition: Partition, replica: Replica, event: Event) -> None:
        """End the replica's row before a value changes, unless this very event began it."""
        if replica.since_seq != event.seq:
            self._add_replica(replica.row(partition.tp, event.seq, event.time_us))
            replica.since_seq, replica.since_us = event.seq, event.time_us

    def _changing(self, tp: str, broker: int, event: Event) -> Replica:
        """End the row of a replica whose LEO or HW may change, and the partition's if it leads."""
        partition = self._partitions[tp]
        if broker == partition.leader:
            self._end_partition(partition, event)
        replica = partition.held.get(broker)
        if replica is None:
            replica = partition.held[broker] = Replica(broker, event)
            replica.in_isr = broker in partition.isr
            replica.remote_leo = partition.leader_remembers(broker)
        else:
            self._end_replica(partition, replica, event)
        return replica

    # ---- topics

    def _cluster_created(self, event: ClusterCreated) -> None:
        self._defaults = resolve(event.version, event.config)

    def _topic_created(self, event: TopicCreated) -> None:
        min_isr = self._min_isr(event.config.get(MIN_ISR, ""))
        unclean = self._unclean(event.config.get(UNCLEAN, ""))
        self._add_partitions(event, 0, min_isr, unclean)

    def _partitions_added(self, event: PartitionsAdded) -> None:
        partition = next(iter(self._of_topic(event.topic)), None)
        min_isr = self._min_isr("") if partition is None else partition.min_isr
        unclean = self._unclean("") if partition is None else partition.unclean_election
        self._add_partitions(event, event.first, min_isr, unclean)

    def _add_partitions(
        self, event: TopicCreated | PartitionsAdded, first: int, min_isr: int, unclean: bool
    ) -> None:
        for number, replicas in enumerate(event.assignment, first):
            partition = self._partitions[f"{event.topic}-{number}"]
            self._end_partition(partition, event)
            partition.replicas = tuple(replicas)
            partition.min_isr, partition.unclean_election = min_isr, unclean
            partition.since_seq, partition.since_us = event.seq, event.time_us

    def _min_isr(self, value: str) -> int:
        """Return the effective setting for a topic's value (empty: it has none)."""
        return int(value) if value else self._defaults.min_insync_replicas

    def _unclean(self, value: str) -> bool:
        """Return the effective setting for a topic's value (empty: it has none)."""
        return value == "true" if value else self._defaults.unclean_leader_election_enable

    def _of_topic(self, topic: str) -> list[Partition]:
        """Return the topic's existing partitions."""
        return [
            partition
            for tp, partition in self._partitions.items()
            if partition.since_seq and tp.rpartition("-")[0] == topic
        ]

    def _topic_deleted(self, event: TopicDeleted) -> None:
        for partition in self._of_topic(event.topic):
            self._end_partition(partition, event)
            self._set_znode(partition, None, event)
            partition.since_seq = 0

    def _replicas_assigned(self, event: ReplicasAssigned) -> None:
        partition = self._partitions[event.tp]
        self._end_partition(partition, event)
        partition.replicas = tuple(event.replicas)

    def _config_changed(self, event: ConfigChanged) -> None:
        """Apply only topics' values: a broker's own value does not belong in a partition's row."""
        if event.entity != "topic" or event.key not in (MIN_ISR, UNCLEAN):
            return
        for partition in self._of_topic(event.name):
            values = partition.min_isr, partition.unclean_election
            if event.key == MIN_ISR:
                changed = self._min_isr(event.value), values[1]
            else:
                changed = values[0], self._unclean(event.value)
            if changed != values:
                self._end_partition(partition, event)
                partition.min_isr, partition.unclean_election = changed

    # ---- the state znode

    def _state_changed(self, event: PartitionStateChanged) -> None:
        partition = self._partitions[event.tp]
        self._end_partition(partition, event)
        if not partition.since_seq:
            partition.since_seq, partition.since_us = event.seq, event.time_us
        self._set_znode(partition, event, event)

    def _state_removed(self, event: PartitionStateRemoved) -> None:
        partition = self._partitions[event.tp]
        self._end_partition(partition, event)
        self._set_znode(partition, None, event)

    def _set_znode(
        self, partition: Partition, znode: PartitionStateChanged | None, event: Event
    ) -> None:
        """Apply the znode's content (None: it was deleted), including its effect on replicas."""
        before = (partition.leader, partition.isr)
        partition.forget_znode()
        if znode is not None:
            partition.state = "offline" if znode.leader < 0 else "online"
            partition.leader = znode.leader
            partition.leader_epoch = znode.leader_epoch
            partition.controller_epoch = znode.controller_epoch
            partition.zk_version = znode.zk_version
            partition.isr = tuple(znode.isr)
        if before != (partition.leader, partition.isr):
            self._compare_with_znode(partition, event)

    def _compare_with_znode(self, partition: Partition, event: Event) -> None:
        """Update the replicas' rows from the state znode."""
        for broker, replica in partition.held.items():
            membership = (broker in partition.isr, partition.leader_remembers(broker))
            if membership != (replica.in_isr, replica.remote_leo):
                self._end_replica(partition, replica, event)
                replica.in_isr, replica.remote_leo = membership

    # ---- replicas

    def _log_created(self, event: LogCreated) -> None:
        if event.broker not in self._partitions[event.tp].held:
            self._changing(event.tp, event.broker, event)

    def _log_deleted(self, event: LogDeleted) -> None:
        self._changing(event.tp, event.broker, event)
        del self._partitions[event.tp].held[event.broker]

    def _log_loaded(self, event: LogLoaded) -> None:
        replica = self._changing(event.tp, event.broker, event)
        replica.log_start = event.log_start
        replica.leo = event.log_end_offset
        replica.hw = event.high_watermark

    def _role_changed(self, event: ReplicaRoleChanged) -> None:
        partition = self._partitions[event.tp]
        replica = partition.held.get(event.broker)
        if replica is None:
            replica = self._changing(event.tp, event.broker, event)
        if (replica.role, replica.leader_epoch) != (event.role, event.leader_epoch):
            self._end_replica(partition, replica, event)
            begins_or_ends = (replica.role == "leader") != (event.role == "leader")
            if event.broker == partition.leader and begins_or_ends:
                self._end_partition(partition, event)
            replica.role, replica.leader_epoch = event.role, event.leader_epoch
        if event.role != "leader" and event.broker in partition.remembered:
            del partition.remembered[event.broker]
            self._compare_with_znode(partition, event)

    def _appended(self, event: RecordsAppended) -> None:
        if event.count:
            leo = event.base_offset + event.count
            self._changing(event.tp, event.broker, event).leo = leo

    def _truncated(self, event: LogTruncated) -> None:
        if event.log_end_offset != event.previous:
            self._changing(event.tp, event.broker, event).leo = event.log_end_offset

    def _high_watermark_changed(self, event: HighWatermarkChanged) -> None:
        if event.high_watermark != event.previous:
            self._changing(event.tp, event.broker, event).hw = event.high_watermark

    def _log_start_changed(self, event: LogStartOffsetChanged) -> None:
        partition = self._partitions[event.tp]
        replica = partition.held.get(event.broker)
        if replica is not None and replica.log_start != event.log_start:
            self._end_replica(partition, replica, event)
            replica.log_start = event.log_start

    def _remote_leo_changed(self, event: RemoteLogEndOffsetChanged) -> None:
        partition = self._partitions[event.tp]
        partition.remembered.setdefault(event.broker, {})[event.follower] = event.log_end_offset
        replica = partition.held.get(event.follower)
        if replica is None or event.broker != partition.leader:
            return
        leo = None if event.log_end_offset < 0 else event.log_end_offset
        if leo != replica.remote_leo:
            self._end_replica(partition, replica, event)
            replica.remote_leo = leo
