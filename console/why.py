"""Why is it so: the event that explains a partition's state, and the chain that led to it."""

from typing import TYPE_CHECKING, Final

from console.describe import describe
from console.formats import clock
from console.glyphs import Glyphs
from console.lines import Line, Span, cut, line
from console.reader import EventReader
from emulator.events import Event, PartitionStateChanged

if TYPE_CHECKING:
    from sessions.states import PartitionState, ViewState

NEARBY: Final = 2
"""How far a znode's write and what it says of the partition may stand apart."""
SHOWN_MAX: Final = 8
"""Links of the chain that are shown; the newest ones, and always the root."""


def state_path(partition: "PartitionState") -> str:
    """The partition's ``state`` znode."""
    return f"/brokers/topics/{partition.topic}/partitions/{partition.partition}/state"


def explaining_seq(reader: EventReader, state: "ViewState", partition: "PartitionState") -> int:
    """The event behind the partition's state: its znode's last, else the last that touched it.

    Fetches and HW moves touch a partition all the time; what it *is* stands in its znode.
    """
    znode = state.znodes.get(state_path(partition))
    stated = 0 if znode is None else znode.changed
    if partition.diverged or partition.lost or partition.duplicated or not stated:
        return partition.changed
    return _said_by(reader, partition, stated)


def _said_by(reader: EventReader, partition: "PartitionState", written: int) -> int:
    """The event that says what the write of the znode means; else the write itself."""
    for event in reader.page(written - NEARBY, written + NEARBY):
        if isinstance(event, PartitionStateChanged) and event.tp == partition.name:
            return event.seq
    return written


def chain(reader: EventReader, seq: int) -> list[Event]:
    """What led to an event, the root first: the last links, and the root."""
    links = reader.causes(seq)
    if len(links) <= SHOWN_MAX:
        return links
    return [links[0], *links[-(SHOWN_MAX - 1) :]]


def chain_lines(events: list[Event], width: int, glyphs: Glyphs) -> list[Line]:
    """One line a link, each one further in than what caused it."""
    rows = []
    for depth, event in enumerate(events):
        told = describe(event)
        arrow = f"{'  ' if depth else ''}{glyphs.because} " if depth else ""
        rows.append(
            cut(
                line(
                    Span(f" {event.seq:>7,} ", "muted"),
                    Span(arrow, "faint"),
                    Span(f"{told.word} ", told.role),
                    told.text,
                ),
                width,
                glyphs.more,
            )
        )
    return rows


def moment(event: Event) -> str:
    """An event's time and number."""
    return f"{clock(event.time_us)} #{event.seq:,}"
