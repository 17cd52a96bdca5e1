"""How long partitions had no leader at work, from the states of one session."""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import NamedTuple


class Reign(NamedTuple):
    """A time in which a broker was a partition's leader in somebody's eyes; from, until in us."""

    tp: str
    broker: int
    from_us: int
    to_us: int


def unavailable_us(
    named: Iterable[Reign], leading: Iterable[Reign], exists: Iterable[tuple[str, int, int]]
) -> int:
    """The time in which partitions existed, had once been led, and had no leader at work.

    ``named`` is whom the state znode names, and when; ``leading`` which broker leads in its own
    eyes, while its process is up. A leader is at work while both say the same. ``exists`` is when
    there is a state znode: topic-partition, from, until. Summed over partitions, in microseconds;
    the times of one partition and broker do not overlap within an argument.
    """
    served = _overlaps(named, leading)
    first: dict[str, int] = {}
    total: dict[str, int] = defaultdict(int)
    for tp, from_us, to_us in served:
        first[tp] = min(from_us, first.get(tp, from_us))
        total[tp] += to_us - from_us
    there = 0
    for tp, from_us, to_us in exists:
        if tp in first:
            there += max(0, to_us - max(from_us, first[tp]))
    return there - sum(total.values())


def _overlaps(named: Iterable[Reign], leading: Iterable[Reign]) -> Iterator[tuple[str, int, int]]:
    """When somebody is the leader in both views."""
    by_broker: dict[tuple[str, int], list[tuple[int, int]]] = defaultdict(list)
    for reign in leading:
        by_broker[reign.tp, reign.broker].append((reign.from_us, reign.to_us))
    for reigns in by_broker.values():
        reigns.sort()
    for reign in named:
        reigns = by_broker.get((reign.tp, reign.broker), [])
        at = max(0, bisect_right(reigns, (reign.from_us, reign.from_us)) - 1)
        for from_us, to_us in reigns[at:]:
            if from_us >= reign.to_us:
                break
            begin, end = max(from_us, reign.from_us), min(to_us, reign.to_us)
            if begin < end:
                yield reign.tp, begin, end
