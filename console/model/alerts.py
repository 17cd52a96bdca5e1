"""Alert edges: the moments at which the worst state of all partitions and brokers changed.

A function of the places at which the source's counts changed, so it costs no reading of events.
"""

from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from sessions.model.health import ALERTING, Counts

BROKER_DOWN: Final = "broker down"
CALM: Final = "all is well"


class Edge(Struct, frozen=True):
    """A moment at which the alert changed, with the alert before and after."""

    seq: int
    time_us: int
    before: str
    now: str


def alert_of(counts: Counts) -> str:
    """The worst state that the counts show."""
    for state in ALERTING:
        if getattr(counts, state.name):
            return state.label
    return BROKER_DOWN if counts.brokers_up < counts.brokers else CALM


def edges(samples: Sequence[tuple[int, int, Counts]]) -> list[Edge]:
    """All alert edges; brokers that are still starting with their cluster are no alert."""
    found: list[Edge] = []
    alert = CALM
    has_begun = False
    for seq, time_us, counts in samples:
        has_begun = has_begun or counts.brokers_up == counts.brokers > 0
        now = alert_of(counts) if has_begun else CALM
        if now != alert:
            found.append(Edge(seq, time_us, alert, now))
            alert = now
    return found


def nearest(found: Sequence[Edge], seq: int, direction: int) -> Edge | None:
    """The first edge after ``seq``, or (-1) the last one before it."""
    beyond = [edge for edge in found if (edge.seq - seq) * direction > 0]
    return min(beyond, key=lambda edge: edge.seq * direction, default=None)
