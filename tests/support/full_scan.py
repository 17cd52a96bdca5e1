"""Ground truth by a scan of everything: what the audit has to find, told in the plainest way."""

from collections.abc import Iterable, Mapping
from itertools import combinations

from emulator.audit.ground_truth import Acked, OffsetRecords, PartitionAudit
from emulator.storage.log import Log

Findings = tuple[OffsetRecords, OffsetRecords, OffsetRecords, OffsetRecords]
"""Lost, duplicated, diverged, consumed and lost."""


def full_scan(logs: Mapping[int, Log], found: PartitionAudit) -> Findings:
    """What is wrong with a partition whose logs these are; without a leader, what was before."""
    diverged = _diverged(logs.values())
    leader = logs.get(found.leader)
    if leader is None:
        return found.lost, found.duplicated, diverged, found.consumed_lost
    records = set(_by_offset(leader).values())
    return (
        _missing(found.acked, records),
        _duplicated(leader),
        diverged,
        _missing(found.consumed, records),
    )


def _by_offset(log: Log) -> dict[int, int]:
    return {b.base_offset + i: b.first_record + i for b in log.batches for i in range(b.count)}


def _missing(told: Iterable[Acked], records: set[int]) -> OffsetRecords:
    return [
        (-1 if batch.base_offset < 0 else batch.base_offset + i, batch.first_record + i)
        for batch in told
        for i in range(batch.count)
        if batch.first_record + i not in records
    ]


def _duplicated(log: Log) -> OffsetRecords:
    """Later copies of a batch, as far as a copy before them reaches."""
    seen: dict[int, int] = {}
    extra: OffsetRecords = []
    for batch in log.batches:
        known = seen.get(batch.first_record, 0)
        both = range(min(known, batch.count))
        extra += [(batch.base_offset + i, batch.first_record + i) for i in both]
        seen[batch.first_record] = max(known, batch.count)
    return extra


def _diverged(logs: Iterable[Log]) -> OffsetRecords:
    found: dict[int, int] = {}
    for one, other in combinations(logs, 2):
        left, right = _by_offset(one), _by_offset(other)
        for offset in range(max(one.start, other.start), min(one.end, other.end)):
            if left.get(offset) != right.get(offset):
                found[offset] = left.get(offset, -1)
    return sorted(found.items())
