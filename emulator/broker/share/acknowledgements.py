"""Acknowledgements of members: what is wrong in them, and which dead letters they make."""

from bisect import bisect_right
from collections.abc import Sequence
from operator import itemgetter

from emulator.broker.share.dead_letters import REJECTED, TOO_OFTEN, DeadLetters
from emulator.broker.share.in_flight import ARCHIVING
from emulator.broker.share.share_partition import REJECT, RENEW, SharePartition
from emulator.protocol import Acknowledgement, StateBatch


def is_invalid(batches: Sequence[Acknowledgement], *, renews: bool, may_renew: bool) -> bool:
    """Whether acknowledgements of a partition are wrong in themselves."""
    former_last, last_type = -1, RENEW if may_renew else RENEW - 1
    for batch in batches:
        if batch.first > batch.last or batch.first < former_last or not batch.types:
            return True
        if len(batch.types) > 1 and batch.last - batch.first != len(batch.types) - 1:
            return True
        if any(not 0 <= kind <= last_type for kind in batch.types):
            return True
        if RENEW in batch.types and not renews:
            return True
        former_last = batch.last
    return False


def dead_letters_of(
    share: SharePartition,
    stored: Sequence[StateBatch],
    acknowledged: Sequence[Acknowledgement] = (),
    limit: int = 0,
) -> list[DeadLetters]:
    """The dead letters of a change: what members reject, and what was delivered too often.

    What is found in the stored state was delivered ``limit`` times, or rejected.
    """
    rejected = [
        (first, last)
        for batch in acknowledged
        for first, last, kind in runs_of(batch)
        if kind == REJECT
    ]
    letters = list[DeadLetters]()
    for batch in stored:
        if batch.state != ARCHIVING:
            continue
        is_rejected = batch.deliveries < limit or covers(rejected, batch.first)
        cause = REJECTED if is_rejected else TOO_OFTEN
        alike = (batch.first - 1, batch.deliveries, cause)
        if letters and (letters[-1].last, letters[-1].deliveries, letters[-1].cause) == alike:
            letters[-1].last = batch.last
            continue
        letters.append(
            DeadLetters(
                share=share.name,
                group=share.group,
                tp=share.tp,
                first=batch.first,
                last=batch.last,
                deliveries=batch.deliveries,
                cause=cause,
            )
        )
    return letters


def runs_of(acknowledged: Acknowledgement) -> list[tuple[int, int, int]]:
    """Offsets with one type each: first, last and type."""
    if len(acknowledged.types) == 1:
        return [(acknowledged.first, acknowledged.last, acknowledged.types[0])]
    runs: list[tuple[int, int, int]] = []
    for offset, kind in enumerate(acknowledged.types, acknowledged.first):
        if runs and runs[-1][2] == kind:
            runs[-1] = (runs[-1][0], offset, kind)
        else:
            runs.append((offset, offset, kind))
    return runs


def covers(ranges: Sequence[tuple[int, int]], offset: int) -> bool:
    """Whether one of the ranges, which are in order, has an offset."""
    index = bisect_right(ranges, offset, key=itemgetter(0)) - 1
    return index >= 0 and offset <= ranges[index][1]
