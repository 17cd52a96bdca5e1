"""A partition's logs as tapes: a line a replica, each record as the leader epoch it carries.

The replica's own HW stands as a bar in its tape, the leader's HW as a broken bar in all of them, so
the round by which a follower lags is a distance that can be seen. What lies right of a bar is not
committed as far as that replica knows. A record that the leader does not have at that offset is
marked, and records that the event under the time cursor cut off stand as crosses for that one step.
Instead of epochs the records' values can be shown, in the colours of their epochs.
"""

from collections.abc import Callable, Collection, Mapping
from typing import Final

from msgspec import Struct, field

from console.model.motion import Vanishing
from console.model.tape_window import (
    EPOCH_ROLES,
    Record,
    Window,
    foreign_offsets,
    records_in,
    window_of,
)
from console.render.lines import BLANK, Line, Span, cells, fit, fit_middle, line, width_of
from console.styles.glyphs import Glyphs
from emulator.events import Event, LogTruncated
from sessions.model.states import PartitionState, ReplicaState
from sessions.text import clean, number

LABEL_WIDTH: Final = 16
FIGURES_WIDTH: Final = 31
"""Columns at the right end for HW, LEO and the distance to the leader."""
MEMORY_WIDTH: Final = 23
"""Columns for what the leader remembers of a follower, and when it was last caught up."""
FIGURES_MIN_WIDTH: Final = 76
"""Narrower tapes omit the figures."""
MEMORY_MIN_WIDTH: Final = 110
"""Narrower tapes omit what the leader remembers."""
VALUE_TAIL: Final = 4
"""Columns of a value's end that stay when it is shortened: values that are numbered end so."""
VALUE_WIDTH_MAX: Final = 8
"""Columns of a record's value that a cell shows."""
RULER_STEP: Final = 5
TAPE_ROLES: Final = {"leader": "leader", "follower": "follow"}


class Drawing(Struct, frozen=True):
    """How tapes are drawn: glyphs, the event under the time cursor, what is shown of records.

    ``value_of`` gives the value of a record id; without it a record is shown as its epoch.
    ``lag_of`` says how long ago a follower was last caught up, in words. ``cursor`` is a broker and
    an offset; ``caches``: each replica's epoch cache stands under its tape. ``gliding`` are high
    watermarks on their way, ``vanishing`` truncated records, by broker; ``frozen`` are the brokers
    whose processes are.
    """

    glyphs: Glyphs
    event: Event | None = None
    pan: int = 0
    value_of: Callable[[int], str] | None = None
    lag_of: Callable[[int], str] | None = None
    cursor: tuple[int, int] | None = None
    caches: bool = False
    gliding: Mapping[int, int] = field(default_factory=dict)
    vanishing: Mapping[int, Vanishing] = field(default_factory=dict)
    frozen: Collection[int] = ()

    def high_watermark(self, replica: ReplicaState) -> int:
        """Where a replica's high watermark is drawn."""
        return self.gliding.get(replica.broker, replica.high_watermark)

    def end_of(self, partition: PartitionState) -> int:
        """The end of what is drawn although it was truncated; 0: nothing is."""
        brokers = partition.replica_states
        cut = (cut_by(self.event, partition.name, broker).stop for broker in brokers)
        vanishing = (self.vanishing[broker].end for broker in self.vanishing if broker in brokers)
        return max((*cut, *vanishing), default=0)

    def text_of(self, record: Record) -> str:
        """The text of a record's cell."""
        if self.value_of is not None:
            return clean(self.value_of(record[1]))
        return self.glyphs.record if record[0] < 0 else str(record[0])


def room_for(width: int) -> int:
    """Columns that are left for cells."""
    figures = FIGURES_WIDTH if width >= FIGURES_MIN_WIDTH else 0
    memory = MEMORY_WIDTH if width >= MEMORY_MIN_WIDTH else 0
    return width - LABEL_WIDTH - figures - memory


def tape_lines(partition: PartitionState, width: int, drawing: Drawing) -> list[Line]:
    """The ruler and one tape for each replica, the leader's first."""
    room = room_for(width)
    leader = partition.leader_replica
    window, foreign = fitted(partition, room, drawing)
    room = min(room, 2 + len(window.offsets) * window.cell)
    rows = [ruler(window)]
    for broker in tape_order(partition):
        replica = partition.replica_states.get(broker)
        if replica is None:
            rows.append(line(label(partition, broker, None, drawing), Span(" no log", "muted")))
            rows += [BLANK] * drawing.caches
            continue
        spans = tape(
            replica, window, drawing, foreign=foreign[broker], leader=leader, tp=partition.name
        )
        used = 1 + len(window.offsets) * window.cell
        tail = figures_of(replica, leader) if width >= FIGURES_MIN_WIDTH else ()
        tail += memory_of(replica, leader, drawing) if width >= MEMORY_MIN_WIDTH else ()
        head = label(partition, broker, replica, drawing)
        rows.append(line(head, *spans, Span(" " * max(0, room - used)), *tail))
        if drawing.caches:
            rows.append(epoch_cache_line(replica, window))
    return rows


def fitted(
    partition: PartitionState, room: int, drawing: Drawing
) -> tuple[Window, dict[int, set[int]]]:
    """The window and the differences in it, with a column for marks only if there are any."""
    until = drawing.end_of(partition)
    window = window_of(partition, room, drawing.pan, until=until)
    text = 0
    if drawing.value_of is not None:
        shown = [
            cells(drawing.text_of(record))
            for replica in partition.replica_states.values()
            for record in records_in(replica, window).values()
        ]
        text = min(VALUE_WIDTH_MAX, max(shown, default=1))
    leader = partition.leader_replica
    original = records_in(leader, window) if leader is not None else {}
    foreign = foreign_offsets(partition, window, original)
    marks = any(foreign.values())
    window = window_of(partition, room, drawing.pan, marks=marks, text=text, until=until)
    return window, foreign


def tape_order(partition: PartitionState) -> list[int]:
    """The leader, then the assigned replicas, then brokers that merely still hold a log."""
    first = [] if partition.leader is None or partition.leader < 0 else [partition.leader]
    return list(dict.fromkeys([*first, *partition.replicas, *sorted(partition.replica_states)]))


def label(
    partition: PartitionState, broker: int, replica: ReplicaState | None, drawing: Drawing
) -> Span:
    """The tape's broker, what it does, and whether it is in sync."""
    glyphs = drawing.glyphs
    role = "-" if replica is None else replica.role
    place = "" if broker == partition.leader else "isr" if broker in partition.isr else "OSR"
    up = glyphs.offline if role == "offline" else glyphs.up
    is_paused = replica is not None and replica.paused and role == "follower"
    if role != "offline" and broker in drawing.frozen:
        role, up = "frozen", glyphs.down
    elif role == "leader" and place:
        role = "former"
    word = "down" if role == "offline" else "paused" if is_paused else TAPE_ROLES.get(role, role)
    text = f"{broker:>3} {up} {word:<6} {place}"
    warns = place == "OSR" or is_paused
    shade = "error" if role in ("offline", "frozen") else "warning" if warns else ""
    return Span(fit(text, LABEL_WIDTH), shade)


def cut_by(event: Event | None, tp: str, broker: int) -> range:
    """The offsets that the event truncated from this replica."""
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
    replica: ReplicaState,
    window: Window,
    drawing: Drawing,
    *,
    foreign: set[int],
    leader: ReplicaState | None,
    tp: str,
) -> list[Span]:
    """One replica's cells: a boundary column, the record, and a mark where there are any."""
    glyphs = drawing.glyphs
    records = records_in(replica, window)
    gone = cut_by(drawing.event, tp, replica.broker)
    vanishing = drawing.vanishing.get(replica.broker)
    width = window.cell - 1 - window.marks
    spans: list[Span] = []
    for offset in window.offsets:
        spans.append(boundary(offset, replica, leader, drawing))
        record = records.get(offset)
        if record is None and vanishing is not None and offset < vanishing.end:
            spans.append(truncated(offset, vanishing, width, drawing))
        elif record is None:
            here = drawing.cursor == (replica.broker, offset)
            spans.append(no_record(offset, replica, width, glyphs, gone=gone, here=here))
        else:
            spans.append(cell(offset, record, replica, width, drawing))
        if window.marks:
            differs = offset in foreign
            spans.append(Span(glyphs.different if differs else " ", "diverged" if differs else ""))
    return [*spans, boundary(window.end, replica, leader, drawing)]


def boundary(
    offset: int, replica: ReplicaState, leader: ReplicaState | None, drawing: Drawing
) -> Span:
    """The column before an offset: the replica's own HW, the leader's, or nothing."""
    if offset == drawing.high_watermark(replica):
        return Span(drawing.glyphs.high_watermark, "hw")
    if leader is not None and offset == drawing.high_watermark(leader):
        return Span(drawing.glyphs.leader_high_watermark, "hw-leader")
    return Span(" ")


def cell(offset: int, record: Record, replica: ReplicaState, width: int, drawing: Drawing) -> Span:
    """One record; dimmed while the replica does not know it as committed."""
    state = "epoch" if offset < drawing.high_watermark(replica) else "pending"
    if drawing.cursor == (replica.broker, offset):
        state = "cursor"
    return Span(_fitted(record, width, drawing), f"{state}{max(0, record[0]) % EPOCH_ROLES}")


def _fitted(record: Record, width: int, drawing: Drawing) -> str:
    more, text = drawing.glyphs.more, drawing.text_of(record)
    return fit(fit_middle(text, width, more, tail=VALUE_TAIL), width, right=True)


def truncated(offset: int, vanishing: Vanishing, width: int, drawing: Drawing) -> Span:
    """A record that is being truncated: as it was, until its turn to vanish comes."""
    record = vanishing.records.get(offset)
    if record is None or offset >= vanishing.until:
        return Span(drawing.glyphs.truncated.rjust(width), "error")
    return Span(_fitted(record, width, drawing), "error")


def no_record(
    offset: int,
    replica: ReplicaState,
    width: int,
    glyphs: Glyphs,
    *,
    gone: range,
    here: bool = False,
) -> Span:
    """Where the replica has no record: truncated just now, not there yet, or not there any more."""
    if offset in gone:
        return Span(glyphs.truncated.rjust(width), "cursor0" if here else "error")
    missing = offset >= replica.log_end_offset
    return Span((glyphs.no_record if missing else " ").rjust(width), "cursor0" if here else "faint")


def figures_of(replica: ReplicaState, leader: ReplicaState | None) -> Line:
    """The replica's HW and LEO, and its distance from the leader's LEO."""
    behind = "" if leader is None or replica is leader else _distance(replica, leader)
    return line(
        Span(" HW ", "muted"),
        Span(f"{number(replica.high_watermark):>7}", "hw"),
        Span(" LEO ", "muted"),
        f"{number(replica.log_end_offset):>7}",
        Span(f" {behind:>6}", "warning"),
    )


def memory_of(replica: ReplicaState, leader: ReplicaState | None, drawing: Drawing) -> Line:
    """What the leader remembers of a follower's LEO, and when that follower was last caught up."""
    if leader is None or replica is leader:
        return ()
    remembered = leader.remote_leo.get(replica.broker, -1)
    known = "?" if remembered < 0 else number(remembered)
    lag = "" if drawing.lag_of is None else drawing.lag_of(replica.broker)
    return line(Span(" REM ", "muted"), f"{known:>7}", Span(f" level {lag:>4}", "muted"))


def _distance(replica: ReplicaState, leader: ReplicaState) -> str:
    distance = replica.log_end_offset - leader.log_end_offset
    return f"{distance:+,}" if distance else ""


def epoch_cache_line(replica: ReplicaState, window: Window) -> Line:
    """A replica's leader-epoch cache under its tape: each epoch where it starts.

    The newest epoch that starts further left is shown at the window's left end.
    """
    head = Span(" " * (LABEL_WIDTH - 6) + "cache ", "faint")
    if replica.epochs is None:
        return line(head, Span(" not told, or none before 0.11", "faint"))
    if not replica.epochs:
        return line(head, Span(" empty", "faint"))
    older = [entry for entry in replica.epochs if entry[1] < window.first]
    spans: list[Span] = []
    column = 0
    for epoch, start in [*older[-1:], *(e for e in replica.epochs if e[1] >= window.first)]:
        place = max(0, min(start, window.end) - window.first) * window.cell + 1
        gap = max(place - column, 1 if spans else place)
        text = f"e{epoch}:{number(start)}"
        spans += [Span(" " * gap), Span(text, f"epoch{max(0, epoch) % EPOCH_ROLES}")]
        column += gap + len(text)
    return line(head, *spans)


def legend(glyphs: Glyphs, width: int) -> Line:
    """The meaning of the signs on a tape; in fewer words if there is little room."""
    signs = (
        ("3", "leader epoch of a record", "epoch", "epoch3"),
        (glyphs.high_watermark, "own HW", "HW", "hw"),
        (glyphs.leader_high_watermark, "leader's HW", "leader's", "hw-leader"),
        (glyphs.no_record, "not there", "not there", "faint"),
        (glyphs.different, "not the leader's record", "other", "diverged"),
        (glyphs.truncated, "truncated by this event", "truncated", "error"),
    )
    for words in (1, 2):
        spans = [Span(" ")]
        for sign in signs:
            spans += [Span(sign[0], sign[3]), Span(f" {sign[words]}   ", "faint")]
        if width_of(spans) <= width:
            break
    return line(*spans)
