"""The text files on a broker's disk that say how far its logs have come, as Kafka writes them.

A file begins with its version and the number of entries. ``replication-offset-checkpoint`` has the
HWs and ``recovery-point-offset-checkpoint`` the flushed offsets of all replicas that the broker had
when it wrote it (``OffsetCheckpointFile``); each partition's folder has the start offsets of leader
epochs (``LeaderEpochCheckpointFile``, 0.11+). The first two exist from the start, and are empty
until they are written.
"""

from collections.abc import Iterable
from typing import Final

from msgspec import Struct

from sessions.model.states import PartitionState, ReplicaState, ViewState

REPLICATION: Final = "replication-offset-checkpoint"
RECOVERY: Final = "recovery-point-offset-checkpoint"
LEADER_EPOCHS: Final = "leader-epoch-checkpoint"
VERSION: Final = "0"


class CheckpointFile(Struct, frozen=True):
    """A file in the broker's log directory: its path there, and its lines."""

    path: str
    lines: tuple[str, ...]


def checkpoint_files(state: ViewState, broker: int) -> list[CheckpointFile]:
    """The files of a broker, whether its process is running or not."""
    replicas = [
        (partition, replica)
        for _, partition in sorted(state.partitions.items(), key=lambda item: _sort_key(item[1]))
        if (replica := partition.replica_states.get(broker)) is not None
    ]
    files = [
        CheckpointFile(REPLICATION, _offsets((p, r.checkpointed_hw) for p, r in replicas)),
        CheckpointFile(RECOVERY, _offsets((p, r.recovery_point) for p, r in replicas)),
    ]
    for partition, replica in replicas:
        if replica.epochs is not None:
            path = f"{partition.name}/{LEADER_EPOCHS}"
            files.append(CheckpointFile(path, _epochs(replica)))
    return files


def _sort_key(partition: PartitionState) -> tuple[str, int]:
    return partition.topic, partition.partition


def _offsets(entries: Iterable[tuple[PartitionState, int]]) -> tuple[str, ...]:
    lines = [f"{p.topic} {p.partition} {offset}" for p, offset in entries if offset >= 0]
    return _written(lines)


def _epochs(replica: ReplicaState) -> tuple[str, ...]:
    return _written([f"{epoch} {start}" for epoch, start in replica.epochs or ()])


def _written(lines: list[str]) -> tuple[str, ...]:
    return (VERSION, str(len(lines)), *lines) if lines else ()
