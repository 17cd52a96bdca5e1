"""A partition's logs as tapes: a line a replica, each record as the leader epoch it carries.

The replica's own HW stands as a bar in its tape, the leader's HW as a broken bar in all of them, so
the round by which a follower lags is a distance that can be seen. What lies right of a bar is not
committed as far as that replica knows. A record that the leader does not have at that offset is
marked, and records that the event under the time cursor cut off stand as crosses for that one step.
"""

from typing import TYPE_CHECKING, Final

from msgspec import Struct

from console.formats import number
from console.glyphs import Glyphs
from console.lines import Line, Span, fit, line
from emulator.events import Event, LogTruncated

if TYPE_CHECKING:
    from sessions.states import PartitionState, ReplicaState

EPOCH_ROLES: Final = 6
"""Colours that epochs take in turn."""
LABEL_WIDTH: Final = 16
FIGURES_WIDTH: Final = 31
"""Room at the right end for HW, LEO and the distance to the leader."""
FIGURES_MIN_WIDTH: Final = 76
"""Narrower tapes leave the figures out."""
LEGEND_WIDTH: Final = 118
RULER_STEP: Final = 5
CELL_GROWTH_MAX: Final = 2
"""Where few records leave room, each takes this many columns more."""

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
        """The offsets, in order."""
        return range(self.first, self.end)


def window_of(
    partition: "PartitionState", width: int, pan: int = 0, *, marks: bool = False
) -> Window:
    """The newest offsets that fit into ``width`` columns, or ``pan`` offsets older ones."""
    replicas = partition.replica_states.values()
    newest = max((replica.log_end_offset for replica in replicas), default=0)
    oldest = min((replica.log_start for replica in replicas), default=0)
    highest = max((run.leader_epoch for replica in replicas for run in replica.log[-8:]), default=0)
    smallest = len(str(max(0, highest))) + 1 + marks
    room = max(smallest, width - 1)
    cell = max(smallest, min(smallest + CELL_GROWTH_MAX, room // max(1, newest - oldest)))
    fitting = room // cell
    end = max(min(newest, oldest + fitting), newest - max(0, pan))
    return Window(first=max(oldest, end - fitting), end=end, cell=cell, marks=marks)


def foreign_offsets(
    partition: "PartitionState", window: Window, original: dict[int, Record]
) -> dict[int, set[int]]:
    """For each replica the offsets at which it holds another record than the leader."""
    found: dict[int, set[int]] = {}
    for broker, replica in partition.replica_states.items():
        records = records_in(replica, window)
        found[broker] = {
            offset
            for offset, (_, record_id) in records.items()
            if offset in original and original[offset][1] != record_id
        }
    return found


def records_in(replica: "ReplicaState", window: Window) -> dict[int, Record]:
    """The replica's records by offset, inside the window."""
    found: dict[int, Record] = {}
    for run in reversed(replica.log):
        if run.base_offset + run.count <= window.first:
            break
        first = max(run.base_offset, window.first)
        for offset in range(first, min(run.base_offset + run.count, window.end)):
            found[offset] = (run.leader_epoch, run.first_record + offset - run.base_offset)
    return found


def tape_lines(
    partition: "PartitionState",
    glyphs: Glyphs,
    width: int,
    *,
    event: Event | None = None,
    pan: int = 0,
) -> list[Line]:
    """The ruler and one tape a replica, the leader's first.

    ``event`` is the one under the time cursor: what it cut off is shown.
    """
    figures = width >= FIGURES_MIN_WIDTH
    room = width - LABEL_WIDTH - (FIGURES_WIDTH if figures else 0)
    leader = partition.leader_replica
    window = window_of(partition, room, pan)
    original = records_in(leader, window) if leader is not None else {}
    foreign = foreign_offsets(partition, window, original)
    if any(foreign.values()):
        window = window_of(partition, room, pan, marks=True)
    room = min(room, 2 + len(window.offsets) * window.cell)
    rows = [ruler(window)]
    for broker in tape_order(partition):
        replica = partition.replica_states.get(broker)
        if replica is None:
            rows.append(line(label(partition, broker, None, glyphs), Span("no log", "muted")))
            continue
        gone = cut_by(event, partition.name, broker)
        spans = tape(replica, window, glyphs, foreign=foreign[broker], leader=leader, gone=gone)
        used = 1 + len(window.offsets) * window.cell
        padding = Span(" " * max(0, room - used))
        tail = figures_of(replica, leader) if figures else ()
        rows.append(line(label(partition, broker, replica, glyphs), *spans, padding, *tail))
    return rows


def tape_order(partition: "PartitionState") -> list[int]:
    """The leader, then the assigned replicas, then brokers that merely still hold a log."""
    first = [] if partition.leader is None or partition.leader < 0 else [partition.leader]
    return list(dict.fromkeys([*first, *partition.replicas, *sorted(partition.replica_states)]))


def label(
    partition: "PartitionState", broker: int, replica: "ReplicaState | None", glyphs: Glyphs
) -> Span:
    """Who the tape belongs to, and whether it is in sync."""
    role = "-" if replica is None else replica.role
    place = "" if broker == partition.leader else "isr" if broker in partition.isr else "OSR"
    up = glyphs.offline if role == "offline" else glyphs.up
    text = f"{broker:>3} {up} {'down' if role == 'offline' else role[:6]:<6} {place}"
    shade = "error" if role == "offline" else "warning" if place == "OSR" else ""
    return Span(fit(text, LABEL_WIDTH), shade)


def cut_by(event: Event | None, tp: str, broker: int) -> range:
    """The offsets that the event cut off this replica."""
    match event:
        case LogTruncated(tp=name, broker=where, log_end_offset=end, previous=previous):
            return range(end, previous) if (name, where) == (tp, broker) else range(0)
        case _:
            return range(0)


def ruler(window: Window) -> Line:
    """Offsets above the tapes, every few cells."""
    step = RULER_STEP
    while step * window.cell < len(number(window.end)) + 2:
        step += RULER_STEP
    text = ""
    for offset in window.offsets:
        column = (offset - window.first + 1) * window.cell - 1 - window.marks
        if offset % step == 0 and column >= len(text) + (1 if text else 0):
            text = text.ljust(column) + number(offset)
    return line(Span(fit("    offset", LABEL_WIDTH), "muted"), Span(text, "muted"))


def tape(
    replica: "ReplicaState",
    window: Window,
    glyphs: Glyphs,
    *,
    foreign: set[int],
    leader: "ReplicaState | None",
    gone: range,
) -> list[Span]:
    """One replica's cells: a boundary column, then the epoch, for each offset."""
    records = records_in(replica, window)
    width = window.cell - 1 - window.marks
    spans: list[Span] = []
    for offset in window.offsets:
        spans.append(boundary(offset, replica, leader, glyphs))
        spans.append(cell(offset, records.get(offset), replica, width, glyphs, gone=gone))
        if window.marks:
            differs = offset in foreign
            spans.append(Span(glyphs.different if differs else " ", "diverged" if differs else ""))
    return [*spans, boundary(window.end, replica, leader, glyphs)]


def boundary(
    offset: int, replica: "ReplicaState", leader: "ReplicaState | None", glyphs: Glyphs
) -> Span:
    """The column before an offset: the replica's own HW, the leader's, or nothing."""
    if offset == replica.high_watermark:
        return Span(glyphs.high_watermark, "hw")
    if leader is not None and offset == leader.high_watermark:
        return Span(glyphs.leader_high_watermark, "hw-leader")
    return Span(" ")


def cell(
    offset: int,
    record: Record | None,
    replica: "ReplicaState",
    width: int,
    glyphs: Glyphs,
    *,
    gone: range,
) -> Span:
    """One record as its epoch; dimmed while the replica does not know it as committed."""
    if record is None:
        if offset in gone:
            return Span(glyphs.truncated.rjust(width), "error")
        missing = offset >= replica.log_end_offset
        return Span((glyphs.no_record if missing else " ").rjust(width), "faint")
    epoch = record[0]
    text = glyphs.record if epoch < 0 else str(epoch)
    state = "epoch" if offset < replica.high_watermark else "pending"
    return Span(text.rjust(width), f"{state}{max(0, epoch) % EPOCH_ROLES}")


def figures_of(replica: "ReplicaState", leader: "ReplicaState | None") -> Line:
    """HW and LEO of the replica, and how far its log ends from the leader's."""
    behind = "" if leader is None or replica is leader else _distance(replica, leader)
    return line(
        Span(" HW ", "muted"),
        Span(f"{number(replica.high_watermark):>7}", "hw"),
        Span(" LEO ", "muted"),
        f"{number(replica.log_end_offset):>7}",
        Span(f" {behind:>6}", "warning"),
    )


def _distance(replica: "ReplicaState", leader: "ReplicaState") -> str:
    distance = replica.log_end_offset - leader.log_end_offset
    return f"{distance:+,}" if distance else ""


def epoch_cache_line(partition: "PartitionState") -> Line:
    """Every replica's leader-epoch cache, epoch and start offset."""
    spans: list[Span | str] = [Span(" epoch caches ", "muted")]
    for broker in tape_order(partition):
        replica = partition.replica_states.get(broker)
        if replica is None:
            continue
        spans.append(Span(f"  {broker} ", "strong"))
        if replica.epochs is None:
            spans.append(Span("none before 0.11", "muted"))
            continue
        entries = [
            Span(f"e{epoch}:{start} ", f"epoch{epoch % EPOCH_ROLES}")
            for epoch, start in replica.epochs[-4:]
        ]
        spans += entries or [Span("empty ", "muted")]
    return line(*spans)


def legend(glyphs: Glyphs, width: int) -> Line:
    """What the signs on a tape mean; in fewer words where there is little room."""
    signs = (
        ("3", "leader epoch of a record", "epoch", "epoch3"),
        (glyphs.high_watermark, "own HW", "HW", "hw"),
        (glyphs.leader_high_watermark, "leader's HW", "leader's", "hw-leader"),
        (glyphs.no_record, "not there", "not there", "faint"),
        (glyphs.different, "not the leader's record", "other", "diverged"),
        (glyphs.truncated, "cut by this event", "cut now", "error"),
    )
    roomy = width >= LEGEND_WIDTH
    spans: list[Span] = [Span(" ")]
    for sign, meaning, word, role in signs:
        spans += [Span(sign, role), Span(f" {meaning if roomy else word}   ", "faint")]
    return line(*spans)
