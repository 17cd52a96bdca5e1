"""Which offsets of a partition's logs fit on a screen, and which records lie there.

Reading starts at the end of each log, so a long log costs no more than a short one.
"""

from typing import Final

from msgspec import Struct

from sessions.model.states import PartitionState, ReplicaState

CELL_GROWTH_MAX: Final = 2
"""Where few records leave room, each takes this many columns more."""
EPOCH_ROLES: Final = 6
"""Colours that epochs take in turn."""
LAST_RUNS: Final = 8
"""The runs at the end of a log in which the highest epoch is looked for."""

Record = tuple[int, int]
"""A record in a log: its leader epoch and its id."""


class Window(Struct, frozen=True):
    """The offsets that fit: ``first`` up to and without ``end``, each ``cell`` columns wide.

    A cell is a column for a boundary, then the epoch, then with ``marks`` a column for a mark.
    """

    first: int
    end: int
    cell: int
    marks: bool = False

    @property
    def offsets(self) -> range:
        return range(self.first, self.end)


def window_of(
    partition: PartitionState,
    width: int,
    pan: int = 0,
    *,
    marks: bool = False,
    text: int = 0,
    until: int = 0,
) -> Window:
    """The newest offsets that fit into ``width`` columns, or ``pan`` offsets older ones.

    ``text`` is how wide a record's text is; 0: as wide as the highest epoch. Offsets up to
    ``until`` have a place although no log has them any more.
    """
    replicas = partition.replica_states.values()
    newest = max((replica.log_end_offset for replica in replicas), default=0)
    newest = max(newest, until)
    oldest = min((replica.log_start for replica in replicas), default=0)
    last_runs = [run for replica in replicas for run in replica.log[-LAST_RUNS:]]
    highest = max((run.leader_epoch for run in last_runs), default=0)
    smallest = (text or len(str(max(0, highest)))) + 1 + marks
    room = max(smallest, width - 1)
    cell = max(smallest, min(smallest + CELL_GROWTH_MAX, room // max(1, newest - oldest)))
    fitting = room // cell
    end = max(min(newest, oldest + fitting), newest - max(0, pan))
    return Window(first=max(oldest, end - fitting), end=end, cell=cell, marks=marks)


def pan_to(window: Window, offset: int, pan: int) -> int:
    """Return the minimal pan that brings an offset into the window."""
    if offset < window.first:
        return pan + window.first - offset
    if offset >= window.end:
        return max(0, pan - (offset - window.end + 1))
    return pan


def foreign_offsets(
    partition: PartitionState, window: Window, original: dict[int, Record]
) -> dict[int, set[int]]:
    """For each replica the offsets at which it holds another record than the leader."""
    foreign: dict[int, set[int]] = {}
    for broker, replica in partition.replica_states.items():
        records = records_in(replica, window)
        foreign[broker] = {
            offset
            for offset, (_, record_id) in records.items()
            if offset in original and original[offset][1] != record_id
        }
    return foreign


def records_in(replica: ReplicaState, window: Window) -> dict[int, Record]:
    """The replica's records by offset, inside the window."""
    records: dict[int, Record] = {}
    for run in reversed(replica.log):
        if run.base_offset + run.count <= window.first:
            break
        first = max(run.base_offset, window.first)
        for offset in range(first, min(run.base_offset + run.count, window.end)):
            records[offset] = (run.leader_epoch, run.first_record + offset - run.base_offset)
    return records
