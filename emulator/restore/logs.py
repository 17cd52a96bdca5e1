"""The logs on the disks of a cluster that starts from an image.

What a log contains is not known, only its offsets. So it has a single batch without records, as
compaction leaves one behind (``MemoryRecords.filterTo``): the offsets count, replicas fetch it like
any other, and clients read past it. Whatever is written later follows at the log end offset.

The exception are the records of groups: those that a coordinator needs are the last ones below the
high watermark.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec.structs import replace

from emulator.broker.replication.replica import Replica
from emulator.cluster_image.image import NO_LEADER, ClusterImage, Partition, ReplicaLog
from emulator.protocol import RecordBatch
from emulator.protocol.record_batch import NO_RECORDS
from emulator.releases.profiles import Profile
from emulator.replication.leader_epoch_cache import LeaderEpochCache
from emulator.restore.groups import StoredGroup
from emulator.storage.log import NO_BATCHES, Log, RecordBatches


def replicas_on_disk(
    image: ClusterImage, profile: Profile, groups: Iterable[StoredGroup]
) -> Mapping[int, dict[str, Replica]]:
    """Return the replicas on each broker's disk, by broker and partition name.

    ``groups`` are those whose records the logs have. ``image`` is complete
    (:func:`emulator.cluster_image.assumptions.complete`). Every assigned broker has its replica,
    also one that is down: nothing says that its disk is gone.
    """
    has_epochs = profile.has("leader_epochs")
    stored: dict[str, list[StoredGroup]] = {}
    for group in groups:
        stored.setdefault(group.tp, []).append(group)
    disks: dict[int, dict[str, Replica]] = {broker.id: {} for broker in image.brokers}
    for topic in image.topics:
        for partition in topic.partitions:
            tp = f"{topic.name}-{partition.partition}"
            known = stored.get(tp, [])
            made = _with_room(partition, sum(len(group.values) for group in known))
            logs = {log.broker: log for log in made.logs if not log.future}
            for broker in partition.replicas:
                log = logs.get(broker, ReplicaLog(broker))
                disks[broker][tp] = _replica(tp, made, log, known, has_epochs=has_epochs)
    return disks


def committed_offsets(
    image: ClusterImage, groups: Iterable[StoredGroup]
) -> Mapping[str, tuple[int, tuple[int, int]]]:
    """Return the leader of each partition, and its committed offsets whose records are not known.

    Committed is what is below the high watermark. Partitions without such offsets are left out.
    """
    stored = Counter[str]()
    for group in groups:
        stored[group.tp] += len(group.values)
    committed = {}
    for topic in image.topics:
        for partition in topic.partitions:
            tp = f"{topic.name}-{partition.partition}"
            start = partition.log_start or 0
            end = (partition.high_watermark or 0) - stored[tp]
            if start < end:
                leader = NO_LEADER if partition.leader is None else partition.leader
                committed[tp] = leader, (start, end)
    return committed


def end_of(partition: Partition, log: ReplicaLog) -> int:
    """Return the log end offset of a replica.

    If only its lag is known, that is counted from the high watermark; if nothing is, it is assumed
    to have what the leader has.
    """
    end = partition.log_end or 0
    if log.end is not None:
        return log.end
    if log.lag is not None:
        watermark = end if partition.high_watermark is None else partition.high_watermark
        return max(0, watermark - log.lag)
    return end


def _with_room(partition: Partition, count: int) -> Partition:
    """Return the partition with offsets for ``count`` records, if its log has fewer or none."""
    start, end = partition.log_start or 0, partition.log_end or 0
    watermark = end if partition.high_watermark is None else partition.high_watermark
    missing = max(0, start + count - watermark) if count else 0
    if not missing:
        return partition
    logs = (
        replace(log, end=None if log.end is None else log.end + missing) for log in partition.logs
    )
    return replace(
        partition,
        log_start=start,
        log_end=end + missing,
        high_watermark=watermark + missing,
        logs=tuple(logs),
    )


def _replica(
    tp: str,
    partition: Partition,
    log: ReplicaLog,
    groups: Sequence[StoredGroup],
    *,
    has_epochs: bool,
) -> Replica:
    end = end_of(partition, log)
    start = min(end, (log.start if log.start is not None else partition.log_start) or 0)
    watermark = end if partition.high_watermark is None else min(end, partition.high_watermark)
    epoch = partition.leader_epoch or 0
    batches = NO_BATCHES
    entries: list[tuple[int, int]] = []
    if end > start:
        made = _batches(partition, start, end, epoch if has_epochs else -1, log.size or 0, groups)
        batches = RecordBatches(made)
        entries = [(epoch, start)]
    return Replica(
        tp,
        log.broker,
        start,
        end,
        watermark,
        LeaderEpochCache(entries) if has_epochs else None,
        first_segment=start,
        log=Log(start, end, end, batches),
        checkpointed_hw=watermark,
    )


def _batches(
    partition: Partition, start: int, end: int, epoch: int, size: int, groups: Sequence[StoredGroup]
) -> Iterator[RecordBatch]:
    """The batches from ``start`` to ``end``: groups' records below the high watermark, one each."""
    if not groups:
        yield RecordBatch(start, end - start, epoch, NO_RECORDS, size_bytes=size)
        return
    at = (partition.high_watermark or 0) - sum(len(group.values) for group in groups)
    known = sum(sum(group.sizes) for group in groups)
    if start < min(at, end):
        unknown = max(0, size - known)
        yield RecordBatch(start, min(at, end) - start, epoch, NO_RECORDS, size_bytes=unknown)
    for group in groups:
        for record, bytes_of_it in enumerate(group.sizes, group.first_record):
            if start <= at < end:
                yield RecordBatch(at, 1, epoch, record, size_bytes=bytes_of_it)
            at += 1
    if at < end:
        yield RecordBatch(max(at, start), end - max(at, start), epoch, NO_RECORDS)
