"""Combining the stored state of offsets with newer state.

Each offset has the greatest number of deliveries that was stored for it, and then the greatest
state; neighbours that are equal are told as one. Source: ``PersisterStateBatchCombiner`` 4.0 to
4.3.
"""

from collections.abc import Iterable
from heapq import heappop, heappush
from itertools import pairwise

from emulator.protocol import StateBatch


def combined(
    known: Iterable[StateBatch], newer: Iterable[StateBatch], start: int
) -> list[StateBatch]:
    """Combine states, without what lies before ``start`` (-1: nothing does)."""
    batches = [
        StateBatch(max(start, batch.first), batch.last, batch.state, batch.deliveries)
        for batch in (*known, *newer)
        if batch.last >= start
    ]
    cuts = sorted({batch.first for batch in batches} | {batch.last + 1 for batch in batches})
    batches.sort(key=lambda batch: batch.first, reverse=True)
    greatest: list[tuple[int, int, int]] = []
    result: list[StateBatch] = []
    for first, bound in pairwise(cuts):
        while batches and batches[-1].first == first:
            batch = batches.pop()
            heappush(greatest, (-batch.deliveries, -batch.state, batch.last))
        while greatest and greatest[0][2] < first:
            heappop(greatest)
        if not greatest:
            continue
        deliveries, state = -greatest[0][0], -greatest[0][1]
        before = result[-1] if result else None
        if before is not None and (before.last, before.state, before.deliveries) == (
            first - 1,
            state,
            deliveries,
        ):
            result[-1] = StateBatch(before.first, bound - 1, state, deliveries)
        else:
            result.append(StateBatch(first, bound - 1, state, deliveries))
    return result
