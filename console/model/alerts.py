"""Alert edges: the moments at which the verdict on the cluster changed.

A function of the places at which the source's counts changed, so it costs no reading of events.
"""

from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from sessions.model.health import Counts
from sessions.model.verdict import HEALTHY, verdict

BROKER_DOWN: Final = "broker down"
CALM: Final = "all is well"
CALMER: Final = {"brokers down": BROKER_DOWN, HEALTHY: CALM}
"""Words of verdicts where these change."""


class Edge(Struct, frozen=True):
    """A moment at which the alert changed, with the alert before and after."""

    seq: int
    time_us: int
    before: str
    now: str


def alert_of(counts: Counts) -> str:
    """The verdict that the counts lead to, without numbers."""
    held = verdict(counts)
    return CALMER.get(held.kind, held.headline)


def begin_of(samples: Sequence[tuple[int, int, Counts]]) -> int:
    """The place of the first sample in which all brokers are up, or there are partitions."""
    up = (
        place
        for place, (_, _, counts) in enumerate(samples)
        if counts.brokers_up == counts.brokers > 0 or counts.partitions
    )
    return next(up, len(samples))


def edges(samples: Sequence[tuple[int, int, Counts]]) -> list[Edge]:
    """All alert edges; brokers that are still starting with their cluster are no alert."""
    crossed: list[Edge] = []
    alert = CALM
    for seq, time_us, counts in samples[begin_of(samples) :]:
        now = alert_of(counts)
        if now != alert:
            crossed.append(Edge(seq, time_us, alert, now))
            alert = now
    return crossed


def nearest(alert_edges: Sequence[Edge], seq: int, direction: int) -> Edge | None:
    """The first edge after ``seq``, or (-1) the last one before it."""
    beyond = [edge for edge in alert_edges if (edge.seq - seq) * direction > 0]
    return min(beyond, key=lambda edge: edge.seq * direction, default=None)
