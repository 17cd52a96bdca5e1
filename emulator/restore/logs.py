"""The logs on the disks of a cluster that starts from an image.

What a log contains is not known, only its offsets. So it has a single batch without records, as
compaction leaves one behind (``MemoryRecords.filterTo``): the offsets count, replicas fetch it like
any other, and clients read past it. Whatever is written later follows at the log end offset.
"""

from collections.abc import Mapping

from emulator.broker.replication.replica import Replica
from emulator.cluster_image.image import ClusterImage, Partition, ReplicaLog
from emulator.protocol import RecordBatch
from emulator.protocol.record_batch import NO_RECORDS
from emulator.releases.profiles import Profile
from emulator.replication.leader_epoch_cache import LeaderEpochCache
from emulator.storage.log import NO_BATCHES, Log, RecordBatches


def replicas_on_disk(image: ClusterImage, profile: Profile) -> Mapping[int, dict[str, Replica]]:
    """Return the replicas on each broker's disk, by broker and partition name.

    ``image`` is complete (:func:`emulator.cluster_image.assumptions.complete`). Every assigned
    broker has its replica, also one that is down: nothing says that its disk is gone.
    """
    has_epochs = profile.has("leader_epochs")
    disks: dict[int, dict[str, Replica]] = {broker.id: {} for broker in image.brokers}
    for topic in image.topics:
        for partition in topic.partitions:
            tp = f"{topic.name}-{partition.partition}"
            logs = {log.broker: log for log in partition.logs if not log.future}
            for broker in partition.replicas:
                log = logs.get(broker, ReplicaLog(broker))
                disks[broker][tp] = _replica(tp, partition, log, has_epochs=has_epochs)
    return disks


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


def _replica(tp: str, partition: Partition, log: ReplicaLog, *, has_epochs: bool) -> Replica:
    end = end_of(partition, log)
    start = min(end, (log.start if log.start is not None else partition.log_start) or 0)
    watermark = end if partition.high_watermark is None else min(end, partition.high_watermark)
    epoch = partition.leader_epoch or 0
    batches = NO_BATCHES
    entries: list[tuple[int, int]] = []
    if end > start:
        batch = RecordBatch(
            start,
            end - start,
            epoch if has_epochs else -1,
            NO_RECORDS,
            size_bytes=log.size or 0,
        )
        batches = RecordBatches([batch])
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
