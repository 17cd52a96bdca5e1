"""Where replicas hold a record, and which records were ever lost, when and why."""

from collections import defaultdict
from typing import Final

from msgspec import Struct

from emulator.events import AuditChanged, LogTruncated
from sessions.model.states import PartitionState, ReplicaState

LOSSES_MAX: Final = 10_000
"""The most losses that are remembered: the first ones."""


def offset_of(replica: ReplicaState, record_id: int) -> int | None:
    """The offset at which a replica holds a record; the newest one if it has it twice."""
    for run in reversed(replica.log):
        if run.first_record <= record_id < run.first_record + run.count:
            return run.base_offset + record_id - run.first_record
    return None


def record_at(replica: ReplicaState, offset: int) -> int | None:
    """The record that a replica holds at an offset."""
    for run in reversed(replica.log):
        if run.base_offset <= offset < run.base_offset + run.count:
            return run.first_record + offset - run.base_offset
    return None


def places_of(partition: PartitionState, record_id: int) -> set[int]:
    """All offsets at which replicas hold the record."""
    offsets = (offset_of(replica, record_id) for replica in partition.replica_states.values())
    return {offset for offset in offsets if offset is not None}


def holders_of(partition: PartitionState, record_id: int) -> list[int]:
    """The brokers whose disks hold the record."""
    replicas = sorted(partition.replica_states.items())
    return [broker for broker, replica in replicas if offset_of(replica, record_id) is not None]


class Truncation(Struct, frozen=True):
    """Records that a replica has truncated: runs of (first record id, count)."""

    seq: int
    time_us: int
    broker: int
    reason: str
    runs: tuple[tuple[int, int], ...]

    def has(self, record_id: int) -> bool:
        """Whether the record was ever lost."""
        return any(first <= record_id < first + count for first, count in self.runs)

    @property
    def records(self) -> list[int]:
        """All of them, by their ids."""
        return [first + n for first, count in self.runs for n in range(count)]


class Loss(Struct):
    """An acknowledged record that was not in the leader's log, from event ``seq`` on.

    ``back_seq`` is the event since which it has been back, with another leader.
    """

    tp: str
    offset: int
    record: int
    seq: int
    time_us: int
    back_seq: int | None = None


class Losses:
    """Every record that was ever lost, and every truncation, as far as events have been read.

    A loss stays in the list even after the partition's log has been truncated and rewritten, and
    while the partition has no leader, although the audit then finds nothing to look into.
    """

    def __init__(self) -> None:
        self._losses: list[Loss] = []
        self._open: dict[tuple[str, int], Loss] = {}
        self._returned: dict[tuple[str, int], Loss] = {}
        self._truncations: defaultdict[str, list[Truncation]] = defaultdict(list)

    def led_again(self, tp: str, seq: int) -> None:
        """Take the lost records as back: a partition has a leader again, and an audit follows."""
        for key in [key for key in self._open if key[0] == tp]:
            self._returned[key] = loss = self._open.pop(key)
            loss.back_seq = seq

    def audited(self, event: AuditChanged, *, is_led: bool = True) -> int:
        """Apply an audit of a partition; return how many records are newly lost."""
        lost = {record: offset for offset, record in event.lost}
        keys = [key for key in self._open if key[0] == event.tp]
        for key in keys if is_led else ():
            if key[1] not in lost:
                self._open.pop(key).back_seq = event.seq
        for record in lost:
            loss = self._returned.get((event.tp, record))
            if loss is not None and loss.back_seq == event.cause:  # the new leader lacks it, too
                loss.back_seq = None
                self._open[event.tp, record] = loss
        new = [record for record in lost if (event.tp, record) not in self._open]
        for record in new:
            loss = Loss(event.tp, lost[record], record, event.seq, event.time_us)
            self._open[event.tp, record] = loss
            if len(self._losses) < LOSSES_MAX:
                self._losses.append(loss)
        return len(new)

    def truncated(self, event: LogTruncated, replica: ReplicaState | None) -> None:
        """Note the records that a replica is about to truncate."""
        runs = []
        for run in () if replica is None else reversed(replica.log):
            end = run.base_offset + run.count
            if end <= event.log_end_offset:
                break
            gone = max(run.base_offset, event.log_end_offset)
            runs.append((run.first_record + gone - run.base_offset, end - gone))
        runs.reverse()
        truncation = Truncation(event.seq, event.time_us, event.broker, event.reason, tuple(runs))
        self._truncations[event.tp].append(truncation)

    def up_to(self, seq: int) -> list[Loss]:
        """The losses up to an event, in order."""
        return [loss for loss in self._losses if loss.seq <= seq]

    def truncations_of(self, loss: Loss, seq: int) -> list[Truncation]:
        """The replicas that have truncated the record, up to an event."""
        truncations = self._truncations[loss.tp]
        return [
            truncation
            for truncation in truncations
            if truncation.seq <= seq and truncation.has(loss.record)
        ]

    def truncation(self, tp: str, seq: int) -> Truncation | None:
        """The records that an event truncated; None if it has not been read."""
        return next(
            (truncation for truncation in self._truncations[tp] if truncation.seq == seq), None
        )
