"""Share groups: which records of a partition are delivered, acquired, acknowledged or archived."""

from collections.abc import Callable, Iterable
from typing import Final

from msgspec.structs import replace

from emulator import events
from sessions.model.folding import Handlers, Model
from sessions.model.handlers.groups import changing
from sessions.model.states import SharePartitionState, ShareRun

NOBODY: Final = -1
ACQUIRED, ACKNOWLEDGED = "acquired", "acknowledged"
AVAILABLE, ARCHIVED = "available", "archived"
AFTER: Final = {
    "gap": ARCHIVED,
    "accept": ACKNOWLEDGED,
    "release": AVAILABLE,
    "reject": ARCHIVED,
    "renew": ACQUIRED,
}
"""The states of records after each type of acknowledgement."""

_Change = Callable[[ShareRun], ShareRun]


def _fold(
    model: Model,
    event: events.RecordsAcquired
    | events.RecordsAcknowledged
    | events.RecordsReleased
    | events.RecordsArchived
    | events.RecordsRestored,
    change: _Change,
) -> None:
    """Change the state of an event's records, unless another broker shares the partition out now.

    A leader that does not know of its successor goes on, but nothing of that is stored.
    """
    group = changing(model, event.group, event.seq)
    share = group.shares.get(event.tp, SharePartitionState(event.broker, event.first_offset, []))
    if share.broker != event.broker:
        return
    first, last = max(event.first_offset, share.start), event.last_offset
    archived = share.archived
    runs: list[ShareRun] = []
    for run in _covering(share.runs, first, last):
        if not first <= run.first <= last:
            runs.append(run)
            continue
        changed = change(run)
        archived += run.count if changed.state == ARCHIVED != run.state else 0
        runs.append(changed)
    joined = _joined(runs)
    group.shares[event.tp] = SharePartitionState(event.broker, share.start, joined, archived)


def _covering(runs: list[ShareRun], first: int, last: int) -> Iterable[ShareRun]:
    """The runs, split at two offsets, and with new ones for offsets between that had none."""
    here = first
    for run in runs:
        if run.last < first:
            yield run
            continue
        if here <= last and run.first > here:
            yield ShareRun(here, min(run.first - 1, last), AVAILABLE, 0)
        if run.first < first:
            yield replace(run, last=first - 1)
        low, high = max(run.first, first), min(run.last, last)
        if low <= high:
            yield replace(run, first=low, last=high)
        if run.last > last:
            yield replace(run, first=max(run.first, last + 1))
        here = max(here, run.last + 1)
    if here <= last:
        yield ShareRun(here, last, AVAILABLE, 0)


def _joined(runs: Iterable[ShareRun]) -> list[ShareRun]:
    """Neighbours with the same state as one, without those that were never delivered."""
    joined: list[ShareRun] = []
    for run in runs:
        if run.state == AVAILABLE and not run.deliveries:
            continue
        before = joined[-1] if joined and joined[-1].last + 1 == run.first else None
        if before is not None and replace(before, last=run.last) == replace(
            run, first=before.first
        ):
            joined[-1] = replace(before, last=run.last)
        else:
            joined.append(run)
    return joined


def loaded(model: Model, event: events.SharePartitionLoaded) -> None:
    """A leader has read the state, which does not contain acquisitions."""
    group = changing(model, event.group, event.seq)
    share = group.shares.get(event.tp)
    runs = _joined(ShareRun(*stored, seq=event.seq) for stored in event.stored)
    archived = 0 if share is None else share.archived
    group.shares[event.tp] = SharePartitionState(event.broker, event.share_start, runs, archived)


def forgotten(model: Model, event: events.SharePartitionForgotten) -> None:
    """A broker leads the partition no more."""
    group = changing(model, event.group, event.seq)
    share = group.shares.get(event.tp)
    if share is not None and share.broker == event.broker:
        group.shares[event.tp] = replace(share, broker=NOBODY, runs=[])


def process_ended(model: Model, broker: int, seq: int) -> None:
    """A process that ends forgets its share-partitions."""
    for name, group in list(model.state.groups.items()):
        led = [tp for tp, share in group.shares.items() if share.broker == broker]
        for tp in led:
            shares = changing(model, name, seq).shares
            shares[tp] = replace(shares[tp], broker=NOBODY, runs=[])


def acquired(model: Model, event: events.RecordsAcquired) -> None:
    """A member was given records."""
    delivery = (event.deliveries, event.consumer, event.member, event.locked_until, event.seq)
    _fold(model, event, lambda run: ShareRun(run.first, run.last, ACQUIRED, *delivery))


def acknowledged(model: Model, event: events.RecordsAcknowledged) -> None:
    """A member has decided on its records, or goes on with them."""
    state = AFTER[event.acknowledgement]
    if state == ACQUIRED:
        _fold(model, event, lambda run: replace(run, locked_until_us=event.locked_until))
    else:
        _fold(model, event, lambda run: _given_up(run, state, run.deliveries, event.seq))


def released(model: Model, event: events.RecordsReleased) -> None:
    """Records are taken from a member that did not decide on them."""
    _fold(
        model,
        event,
        lambda run: _given_up(run, event.state, event.deliveries or run.deliveries, event.seq),
    )


def archived(model: Model, event: events.RecordsArchived) -> None:
    """Records were delivered often enough."""
    _fold(model, event, lambda run: _given_up(run, ARCHIVED, event.deliveries, event.seq))


def _given_up(run: ShareRun, state: str, deliveries: int, seq: int) -> ShareRun:
    return ShareRun(run.first, run.last, state, deliveries, seq=seq)


def restored(model: Model, event: events.RecordsRestored) -> None:
    """A change was not stored."""
    members = changing(model, event.group, event.seq).members
    before = (event.state, event.deliveries, members.get(event.member, event.member))
    state = (*before, event.member, event.locked_until, event.seq)
    _fold(model, event, lambda run: ShareRun(run.first, run.last, *state))


def start_moved(model: Model, event: events.ShareStartMoved) -> None:
    """All before an offset is done."""
    group = changing(model, event.group, event.seq)
    share = group.shares.get(event.tp, SharePartitionState(event.broker, event.share_start, []))
    if share.broker != event.broker:
        return
    runs = [
        replace(run, first=max(run.first, event.share_start))
        for run in share.runs
        if run.last >= event.share_start
    ]
    group.shares[event.tp] = replace(share, start=event.share_start, runs=runs)


HANDLERS: Final[Handlers] = {
    events.SharePartitionLoaded: loaded,
    events.SharePartitionForgotten: forgotten,
    events.RecordsAcquired: acquired,
    events.RecordsAcknowledged: acknowledged,
    events.RecordsReleased: released,
    events.RecordsArchived: archived,
    events.RecordsRestored: restored,
    events.ShareStartMoved: start_moved,
}
