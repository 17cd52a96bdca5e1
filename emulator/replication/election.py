"""Leader election strategies as functions of plain values.

Each returns the new leader and ISR, or None if no replica can lead. Source:
kafka.controller.Election (2.x) and PartitionLeaderSelector (0.8-1.0).
"""

from collections.abc import Collection, Sequence

from msgspec import Struct


class Choice(Struct, frozen=True):
    """An elected leader and its ISR."""

    leader: int
    isr: list[int]


def initial(assigned: Sequence[int], live: Collection[int]) -> Choice | None:
    """New partition: the first live replica leads, all live ones are in sync."""
    isr = [b for b in assigned if b in live]
    return Choice(isr[0], isr) if isr else None


def offline(
    assigned: Sequence[int],
    isr: Sequence[int],
    live: Collection[int],
    *,
    unclean: bool,
    isr_order: bool,
) -> Choice | None:
    """Leader failure: the first assigned replica that is live and in sync.

    With ``unclean``, otherwise the first live one. ``isr_order``: the releases up to 0.8.1 choose
    the first live member of the ISR instead.
    """
    in_sync = [b for b in isr if b in live]
    order = in_sync if isr_order else [b for b in assigned if b in in_sync]
    if order:
        return Choice(order[0], in_sync)
    if unclean:
        for broker in assigned:
            if broker in live:
                return Choice(broker, [broker])
    return None


def reassigned(target: Sequence[int], isr: Sequence[int], live: Collection[int]) -> Choice | None:
    """Reassignment: the first target replica that is live and in sync; the ISR is unchanged."""
    for broker in target:
        if broker in live and broker in isr:
            return Choice(broker, list(isr))
    return None


def preferred(assigned: Sequence[int], isr: Sequence[int], live: Collection[int]) -> Choice | None:
    """Preferred leader: the first assigned replica, if it is live and in sync."""
    head = assigned[0]
    return Choice(head, list(isr)) if head in live and head in isr else None


def controlled_shutdown(
    assigned: Sequence[int],
    isr: Sequence[int],
    live: Collection[int],
    shutting_down: Collection[int],
    *,
    isr_order: bool = False,
) -> Choice | None:
    """Controlled shutdown: the first assigned replica in sync that is not shutting down.

    Those shutting down leave the ISR. ``isr_order``: up to 0.9 the ISR's first (KAFKA-3670).
    """
    staying = [b for b in isr if b not in shutting_down]
    for broker in staying if isr_order else assigned:
        if broker in live and broker in staying:
            return Choice(broker, staying)
    return None
