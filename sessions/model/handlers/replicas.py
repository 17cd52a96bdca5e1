"""Replicas: logs, log end offsets, high watermarks, epoch caches, roles; the busiest events."""

from typing import Final

from emulator import events
from emulator.protocol.record_batch import NO_RECORDS
from sessions.model import copies
from sessions.model.folding import Handlers, Model
from sessions.model.states import LongLog, PartitionState, ReplicaState, Run

LONG_RUNS: Final = 1024
"""Logs of so many runs are kept encoded but for their ends."""


def log_created(model: Model, event: events.LogCreated) -> None:
    """An empty log begins."""
    partition = model.partition(event.tp, event.seq)
    broker, seq = event.broker, event.seq
    replica = copies.new_replica(broker, seq, model.has_epochs)
    partition.replica_states[broker] = replica
    if model.by_broker is not None:
        model.names(event.tp, (broker,))


def log_deleted(model: Model, event: events.LogDeleted) -> None:
    """Remove a replica from disk; with its last replica, a deleted topic's partition is removed."""
    partition = model.partition(event.tp, event.seq)
    partition.replica_states.pop(event.broker, None)
    if not partition.replicas and not partition.replica_states and partition.state == "nonexistent":
        model.remove_partition(event.tp)


def log_loaded(model: Model, event: events.LogLoaded) -> None:
    """Load a starting broker's log from disk; the end of the log may be lost."""
    _, replica = model.replica(event.tp, event.broker, event.seq)
    replica.role = "offline"
    cut_end(replica, event.log_end_offset)
    replica.log_start = event.log_start
    replica.log_end_offset = event.log_end_offset
    replica.high_watermark = event.high_watermark
    replica.epochs = event.epochs


def role_changed(model: Model, event: events.ReplicaRoleChanged) -> None:
    """Update a replica's role; only leaders keep the state of followers."""
    partition, replica = model.replica(event.tp, event.broker, event.seq)
    previous, replica.role = replica.role, event.role
    replica.leader_epoch = event.leader_epoch
    replica.leader = event.leader
    if event.role == "leader":
        partition.led = True
        model.judge(event.tp, partition)
        return
    if previous == "leader":  # perhaps of a deleted topic of that name
        model.judge(event.tp, partition)
    if replica.remote_leo:
        replica.remote_leo = {}
    if replica.isr is not None:
        replica.isr = replica.zk_version = None


def records_appended(model: Model, event: events.RecordsAppended) -> None:
    """Append records; a run is extended if they follow it in offset, record id and epoch."""
    partition, replica = model.replica(event.tp, event.broker, event.seq)
    base, count = event.base_offset, event.count
    first, epoch = event.first_record, event.leader_epoch
    log = replica.log
    if first == NO_RECORDS:
        pass  # only the offsets count
    elif log:
        last = log[-1]
        if (
            last.first_record + last.count == first
            and last.leader_epoch == epoch
            and last.base_offset + last.count == base
        ):
            log[-1] = Run(last.base_offset, last.count + count, epoch, last.first_record)
        else:
            log.append(_run(partition, len(log), Run(base, count, epoch, first)))
            if len(log) >= LONG_RUNS and isinstance(log, list):
                replica.log = LongLog(log)
    else:
        replica.log = [_run(partition, 0, Run(base, count, epoch, first))]
    if partition.leader == event.broker and replica.high_watermark == replica.log_end_offset:
        partition.hw_moved_us = event.time_us
    replica.log_end_offset = base + count


def _run(partition: PartitionState, index: int, run: Run) -> Run:
    """Return the leader's object for the same run, so that copies of a log share most of it."""
    leader = partition.leader_replica
    if leader is not None and index < len(leader.log) and leader.log[index] == run:
        return leader.log[index]
    return run


def high_watermark_changed(model: Model, event: events.HighWatermarkChanged) -> None:
    """A replica's HW moved."""
    partition, replica = model.replica(event.tp, event.broker, event.seq)
    replica.high_watermark = event.high_watermark
    if partition.leader == event.broker:
        partition.hw_moved_us = event.time_us


def remote_leo_changed(model: Model, event: events.RemoteLogEndOffsetChanged) -> None:
    """A leader remembers another LEO of a follower."""
    _, replica = model.replica(event.tp, event.broker, event.seq)
    if replica.remote_leo:
        replica.remote_leo[event.follower] = event.log_end_offset
    else:
        replica.remote_leo = {event.follower: event.log_end_offset}


def log_truncated(model: Model, event: events.LogTruncated) -> None:
    """The end of a log is gone."""
    _, replica = model.replica(event.tp, event.broker, event.seq)
    cut_end(replica, event.log_end_offset)
    replica.log_end_offset = event.log_end_offset


def log_start_changed(model: Model, event: events.LogStartOffsetChanged) -> None:
    """Move the log start; a log that starts past its end is empty."""
    _, replica = model.replica(event.tp, event.broker, event.seq)
    replica.log_start = event.log_start
    cut_start(replica, event.log_start if event.first_segment < 0 else event.first_segment)
    replica.log_end_offset = max(replica.log_end_offset, event.log_start)


def epochs_changed(model: Model, event: events.EpochCacheChanged) -> None:
    """Another leader-epoch cache."""
    _, replica = model.replica(event.tp, event.broker, event.seq)
    replica.epochs = event.entries


def checkpointed(model: Model, event: events.HighWatermarksCheckpointed) -> None:
    """HWs reached the disk."""
    for tp, high_watermark in event.high_watermarks.items():
        _, replica = model.replica(tp, event.broker, event.seq)
        replica.checkpointed_hw = high_watermark


def flushed(model: Model, event: events.RecoveryPointsCheckpointed) -> None:
    """Recovery points reached the disk."""
    for tp, offset in event.recovery_points.items():
        _, replica = model.replica(tp, event.broker, event.seq)
        replica.recovery_point = offset


def fetch_paused(model: Model, event: events.ReplicaFetchPaused) -> None:
    """Pause or resume a follower's fetching: writes may wait for it."""
    partition, replica = model.replica(event.tp, event.broker, event.seq)
    replica.paused = event.paused
    model.judge(event.tp, partition)


def cut_end(replica: ReplicaState, log_end_offset: int) -> None:
    """Drop all runs, and the part of a run, from ``log_end_offset`` on."""
    log = replica.log
    while log and log[-1].base_offset >= log_end_offset:
        log.pop()
    if log and (last := log[-1]).base_offset + last.count > log_end_offset:
        count = log_end_offset - last.base_offset
        log[-1] = Run(last.base_offset, count, last.leader_epoch, last.first_record)


def cut_start(replica: ReplicaState, first: int) -> None:
    """Drop all runs, and the part of a run, below the ``first`` offset on disk."""
    log = replica.log
    dropped = 0
    while dropped < len(log) and log[dropped].base_offset + log[dropped].count <= first:
        dropped += 1
    if dropped:
        del log[:dropped]
    if log and (cut := first - log[0].base_offset) > 0:
        run = log[0]
        log[0] = Run(first, run.count - cut, run.leader_epoch, run.first_record + cut)


def process_ended(model: Model, broker: int, seq: int) -> None:
    """A process has ended; its replicas are what its disk has."""
    for tp in model.naming(broker):
        state = model.partitions[tp]
        if broker not in state.replica_states:
            model.judge(tp, model.partition(tp, seq))
            continue
        partition, replica = model.replica(tp, broker, seq)
        led, replica.role = replica.role == "leader", "offline"
        if led or broker in partition.isr or broker == partition.leader:
            model.judge(tp, partition)
        replica.leader_epoch = replica.leader = -1
        replica.remote_leo = {}
        replica.isr = replica.zk_version = None
        if not model.state.is_observed:
            replica.high_watermark = min(max(0, replica.checkpointed_hw), replica.log_end_offset)


def process_paused(model: Model, broker: int, seq: int) -> None:
    """A process froze, thawed or started, which concerns what it leads and what waits for it."""
    for tp in model.naming(broker):
        partition = model.partitions[tp]
        replica = partition.replica_states.get(broker)
        is_named = broker in partition.isr or broker == partition.leader
        if is_named or (replica is not None and replica.role == "leader"):
            model.judge(tp, model.partition(tp, seq))


def stable_offset_changed(model: Model, event: events.LastStableOffsetChanged) -> None:
    """Update a replica's last stable offset, the limit for read_committed consumers."""
    _, replica = model.replica(event.tp, event.broker, event.seq)
    replica.stable_offset = event.last_stable_offset


HANDLERS: Final[Handlers] = {
    events.LogCreated: log_created,
    events.LogDeleted: log_deleted,
    events.LogLoaded: log_loaded,
    events.ReplicaRoleChanged: role_changed,
    events.RecordsAppended: records_appended,
    events.HighWatermarkChanged: high_watermark_changed,
    events.LastStableOffsetChanged: stable_offset_changed,
    events.RemoteLogEndOffsetChanged: remote_leo_changed,
    events.LogTruncated: log_truncated,
    events.LogStartOffsetChanged: log_start_changed,
    events.EpochCacheChanged: epochs_changed,
    events.HighWatermarksCheckpointed: checkpointed,
    events.RecoveryPointsCheckpointed: flushed,
    events.ReplicaFetchPaused: fetch_paused,
}
