"""Snapshots of the metadata: when a quorum member writes them, and which it keeps (KIP-630).

Voters and observers follow the same rules, each based on what it has read since its last snapshot.
Source: ``SnapshotGenerator``, ``MetadataLoader`` and ``KafkaRaftClient`` (its log cleaner) 3.9 to
4.1.
"""

from typing import Final

from msgspec import Struct

from emulator.metadata_log.image import MetadataImage
from emulator.metadata_log.records import LeaderChangeMessage
from emulator.metadata_log.sizes import snapshot_size
from emulator.protocol.raft import MetadataSnapshot
from emulator.raft.log import MetadataLog
from emulator.raft.state import QuorumState
from emulator.simulation.snapshot import copier

CLEAN_US: Final = 60_000_000
"""The interval at which a member deletes old snapshots."""
BYTES: Final = "bytes"
TIME: Final = "time"


class SnapshotRules(Struct, frozen=True):
    """How much is read between snapshots, and how much is kept; times in microseconds.

    ``max_bytes``: metadata.log.max.record.bytes.between.snapshots. ``max_us``:
    metadata.log.max.snapshot.interval.ms (KIP-876), 0 to disable. ``retention_bytes`` and
    ``retention_us``: metadata.max.retention.bytes and .ms, -1 for unlimited.
    """

    max_bytes: int
    max_us: int
    retention_bytes: int
    retention_us: int


def copy_of(image: MetadataImage) -> MetadataImage:
    """Return a mutable copy of an image."""
    copied: MetadataImage = _copy(image)
    return copied


_copied = copier(MetadataImage)
assert _copied is not None
_copy: Final = _copied


def reason_for_snapshot(quorum: QuorumState, rules: SnapshotRules, now_us: int) -> str:
    """Count newly committed records; return the reason to write a snapshot, or an empty string.

    What a process reads until it has caught up is not counted; it has caught up once it has seen
    any record written by a controller (``MetadataLoader.stillNeedToCatchUp``). Nor is a fetched
    snapshot counted.
    """
    log, committed, count = quorum.log, quorum.high_watermark, quorum.since_snapshot
    if count.offset < max(1, log.start_offset):
        if log.snapshots or _has_seen_record(log, committed):
            _count_anew(quorum, now_us)
        return ""
    count.size_bytes += sum(batch.size_bytes for batch in log.from_offset(count.offset, committed))
    count.offset = committed
    if count.size_bytes >= rules.max_bytes:
        return BYTES
    return TIME if rules.max_us and now_us - count.since_us >= rules.max_us else ""


def take_snapshot(quorum: QuorumState, now_us: int) -> MetadataSnapshot | None:
    """Write a snapshot of all committed records; None if there is one already.

    It combines the latest snapshot with the records since then.
    """
    _count_anew(quorum, now_us)
    log, committed = quorum.log, quorum.high_watermark
    latest = log.snapshots[-1] if log.snapshots else None
    if latest is not None and latest.end_offset >= committed:
        return None
    image = MetadataImage() if latest is None else copy_of(latest.image)
    batches = log.from_offset(image.offset + 1, committed)
    for batch in batches:
        image.read_batch(batch.records, batch.base_offset, batch.epoch)
    last = batches[-1]
    written = MetadataSnapshot(committed, last.epoch, last.appended_us, snapshot_size(image), image)
    log.snapshots.append(written)
    return written


def clean(quorum: QuorumState, rules: SnapshotRules, now_us: int) -> bool:
    """Delete what need not be kept, once a minute; return whether the log start moved."""
    count = quorum.since_snapshot
    if now_us < count.clean_us:
        return False
    is_first, count.clean_us = count.clean_us == 0, now_us + CLEAN_US
    return not is_first and quorum.log.clean(now_us, rules.retention_bytes, rules.retention_us)


def _count_anew(quorum: QuorumState, now_us: int) -> None:
    count = quorum.since_snapshot
    count.offset, count.size_bytes, count.since_us = quorum.high_watermark, 0, now_us


def _has_seen_record(log: MetadataLog, committed: int) -> bool:
    return any(
        not isinstance(record, LeaderChangeMessage)
        for batch in log.from_offset(0, committed)
        for record in batch.records
    )
