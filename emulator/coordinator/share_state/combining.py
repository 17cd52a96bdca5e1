"""Combining the stored state of offsets with newer state.

Each offset has the greatest number of deliveries that was stored for it, and then the greatest
state; neighbours that are equal are told as one. Source: ``PersisterStateBatchCombiner`` 4.0 to
4.3.
"""

from collections.abc import Iterable
from itertools import pairwise

from emulator.protocol import StateBatch


def combined(
    known: Iterable[StateBatch], newer: Iterable[StateBatch], start: int
) -> list[StateBatch]:
    """Combine states, without what lies before ``start`` (-1: nothing does)."""
    batches = [
        StateBatch(max(start, each.first), each.last, each.state, each.deliveries)
        for each in (*known, *newer)
        if each.last >= start
    ]
    cuts = sorted({each.first for each in batches} | {each.last + 1 for each in batches})
    found: list[StateBatch] = []
    for first, bound in pairwise(cuts):
        states = [
            (each.deliveries, each.state) for each in batches if each.first <= first <= each.last
        ]
        if not states:
            continue
        deliveries, state = max(states)
        before = found[-1] if found else None
        if before is not None and (before.last, before.state, before.deliveries) == (
            first - 1,
            state,
            deliveries,
        ):
            found[-1] = StateBatch(before.first, bound - 1, state, deliveries)
        else:
            found.append(StateBatch(first, bound - 1, state, deliveries))
    return found
