"""What a share coordinator answers and writes: pure functions of its state.

A leader that is newer than the one that last read or wrote fences that one; so does a newer state
epoch, which the group coordinator gives. Source: ``ShareCoordinatorShard`` 4.1 and 4.2.
"""

from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from msgspec import Struct, field

from emulator.common.errors import NONE
from emulator.coordinator.share_state.combining import combined
from emulator.coordinator.share_state.records import Record, ShareSnapshot, ShareUpdate
from emulator.protocol import (
    DeleteShareGroupStateRequest,
    InitializeShareGroupStateRequest,
    ReadShareGroupStateRequest,
    ReadShareGroupStateSummaryRequest,
    ShareGroupStateResponse,
    SharePartitionKey,
    StateBatch,
    WriteShareGroupStateRequest,
)

Request = (
    InitializeShareGroupStateRequest
    | ReadShareGroupStateRequest
    | WriteShareGroupStateRequest
    | DeleteShareGroupStateRequest
    | ReadShareGroupStateSummaryRequest
)
"""A request about a share-partition's state."""
INVALID: Final = "INVALID_REQUEST"


class ShareState(Struct, frozen=True, array_like=True):
    """A share-partition's state.

    ``updates`` counts the changes since the last snapshot. ``known_epoch`` is the newest leader
    epoch that was ever seen, which outlives a new beginning.
    """

    snapshot_epoch: int
    state_epoch: int = 0
    leader_epoch: int = 0
    start: int = -1
    batches: list[StateBatch] = field(default_factory=list)
    completed: int = -1
    updates: int = -1
    known_epoch: int = 0


States = Mapping[str, ShareState]
"""The states by key."""


class Outcome(NamedTuple):
    """A request's records (at most one), and what it is answered."""

    record: Record | None
    response: ShareGroupStateResponse


def replayed(state: ShareState | None, record: Record, per_snapshot: int) -> ShareState | None:
    """The state after a record; a snapshot is due after ``per_snapshot`` changes."""
    if isinstance(record, ShareSnapshot):
        if record.snapshot_epoch < 0:
            return None
        updates = -1 if state is None else state.updates
        return ShareState(
            record.snapshot_epoch,
            max(record.state_epoch, -1 if state is None else state.state_epoch),
            record.leader_epoch,
            record.start,
            record.batches,
            record.completed,
            0 if updates >= per_snapshot else updates,
            max(record.leader_epoch, 0 if state is None else state.known_epoch),
        )
    known = state or ShareState(record.snapshot_epoch)
    start = known.start if record.start < 0 else record.start
    return ShareState(
        record.snapshot_epoch,
        known.state_epoch,
        record.leader_epoch,
        start,
        combined(known.batches, record.batches, start),
        record.completed,
        known.updates + 1,
        max(known.known_epoch, record.leader_epoch),
    )


def answer(
    states: States,
    request: Request,
    has_partition: Callable[[str, int], bool],
    per_snapshot: int,
    *,
    begins_itself: bool = False,
) -> Outcome:
    """Answer a request; the response has no request's number yet.

    ``has_partition`` is whether a topic, by its id, has a partition. ``begins_itself`` (4.0): who
    reads or writes a state that is not there begins with it.
    """
    key = request.key
    state = states.get(str(key))
    error, message = (NONE, "") if begins_itself and state is None else _refusal(state, request)
    if error == NONE and not has_partition(key.topic_id, key.partition):
        error = "UNKNOWN_TOPIC_OR_PARTITION"
    if error != NONE:
        return Outcome(None, ShareGroupStateResponse(0, key, error, message))
    done = ShareGroupStateResponse(0, key, NONE)
    if isinstance(request, InitializeShareGroupStateRequest):
        epoch = 0 if state is None else state.snapshot_epoch + 1
        snapshot = ShareSnapshot(key, epoch, request.state_epoch, 0, request.start)
        return Outcome(snapshot, done)
    if isinstance(request, DeleteShareGroupStateRequest):
        return Outcome(None if state is None else ShareSnapshot(key, -1), done)
    if isinstance(request, ReadShareGroupStateSummaryRequest):
        return Outcome(None, done if state is None else _response(key, state))
    if state is None:
        return _begun(request, done)
    if isinstance(request, WriteShareGroupStateRequest):
        return Outcome(_change(state, request, state.leader_epoch, per_snapshot), done)
    response = _response(key, state)
    if request.leader_epoch in (-1, state.known_epoch):
        return Outcome(None, response)
    write = WriteShareGroupStateRequest(
        key, state.state_epoch, request.leader_epoch, state.start, [], state.completed
    )
    return Outcome(_change(state, write, request.leader_epoch, per_snapshot), response)


def _begun(
    request: ReadShareGroupStateRequest | WriteShareGroupStateRequest, done: ShareGroupStateResponse
) -> Outcome:
    """Begin with what a leader writes, or reads: nothing yet."""
    key = request.key
    if isinstance(request, ReadShareGroupStateRequest):
        is_new = request.leader_epoch >= 0
        snapshot = ShareSnapshot(key, 0, 0, request.leader_epoch, -1)
        return Outcome(snapshot if is_new else None, done)
    batches = combined([], request.batches, request.start)
    return Outcome(
        ShareSnapshot(key, 0, request.state_epoch, request.leader_epoch, request.start, batches),
        done,
    )


def _response(key: SharePartitionKey, state: ShareState) -> ShareGroupStateResponse:
    return ShareGroupStateResponse(
        0,
        key,
        NONE,
        "",
        state.state_epoch,
        state.start,
        state.leader_epoch,
        state.batches,
        state.completed,
    )


def _refusal(state: ShareState | None, request: Request) -> tuple[str, str]:
    """The error for a request, and its message."""
    fenced = "FENCED_LEADER_EPOCH", ""
    if isinstance(request, ReadShareGroupStateRequest):
        if state is None:
            return INVALID, "Read operation on uninitialized share partition not allowed."
        return fenced if state.known_epoch > request.leader_epoch else (NONE, "")
    if isinstance(request, WriteShareGroupStateRequest):
        if state is None:
            return INVALID, "Write operation on uninitialized share partition not allowed."
        if -1 < request.leader_epoch < state.known_epoch:
            return fenced
    if isinstance(request, WriteShareGroupStateRequest | InitializeShareGroupStateRequest):
        known = -1 if state is None else state.state_epoch
        if -1 < request.state_epoch < known:
            return "FENCED_STATE_EPOCH", ""
    return NONE, ""


def _change(
    state: ShareState, request: WriteShareGroupStateRequest, leader_epoch: int, per_snapshot: int
) -> Record:
    """The record of a change, or of the whole state if a snapshot is due."""
    if state.updates < per_snapshot:
        return ShareUpdate(
            request.key,
            state.snapshot_epoch,
            leader_epoch,
            request.start,
            combined([], request.batches, request.start),
            request.completed,
        )
    start = state.start if request.start < 0 else request.start
    return ShareSnapshot(
        request.key,
        state.snapshot_epoch + 1,
        state.state_epoch,
        leader_epoch,
        start,
        combined(state.batches, request.batches, start),
        request.completed,
    )
