"""Rows for the tables that restate single events, and for ``requests``, which pairs two.

Rows are in the order of the declared columns, with only ``tp`` for the three columns of a
partition.
"""

from collections.abc import Callable
from typing import Any, Final

from emulator.events import (
    BrokerStateChanged,
    ConsumeFinished,
    ControllerElected,
    ControllerResigned,
    ControllerStateChanged,
    ControllerStep,
    ElectionFailed,
    Event,
    IsrChanged,
    IsrChangeStarted,
    LeaderElected,
    LinkChanged,
    LogTruncated,
    MessageLost,
    MessageSent,
    MetadataRecordCommitted,
    QuorumRoleChanged,
    RecordsConsumed,
    ReplicaFetchPaused,
    SessionEnded,
    ZnodeChanged,
    ZnodeCreated,
    ZnodeDeleted,
)
from sessions.dataset.rows.metadata_records import metadata_record
from sessions.dataset.writer import Row

REQUEST: Final = "Request"
"""Suffixes of the names of messages that may have a response."""
RESPONSE_MAX_US: Final = 600_000_000
"""Time to wait for a response: after ten minutes every connection has timed out."""
LOOK_EVERY: Final = 10_000
"""Number of open requests at which timed-out ones are removed."""


def _place(e: Event) -> tuple[int, int, int]:
    return e.seq, e.time_us, e.cause


def _leader_elected(e: LeaderElected) -> Row:
    elected = (True, e.leader, e.leader_epoch, e.isr, None)
    return (*_place(e), e.tp, e.controller, e.strategy, *elected)


def _election_failed(e: ElectionFailed) -> Row:
    return (*_place(e), e.tp, e.controller, e.strategy, False, None, None, None, e.reason)


def _isr_change_started(e: IsrChangeStarted) -> Row:
    return (*_place(e), e.tp, e.broker, "asked", e.isr, e.change, e.replica, None)


def _isr_changed(e: IsrChanged) -> Row:
    return (*_place(e), e.tp, e.broker, "acting", e.isr, None, None, e.zk_version)


def _log_truncated(e: LogTruncated) -> Row:
    return (*_place(e), e.tp, e.broker, e.log_end_offset, e.previous, e.reason)


def _znode_created(e: ZnodeCreated) -> Row:
    return (*_place(e), e.path, "created", e.data, 0, e.session, e.zxid)


def _znode_changed(e: ZnodeChanged) -> Row:
    return (*_place(e), e.path, "changed", e.data, e.version, None, e.zxid)


def _znode_deleted(e: ZnodeDeleted) -> Row:
    return (*_place(e), e.path, "deleted", None, None, None, e.zxid)


def _controller_elected(e: ControllerElected) -> Row:
    return (*_place(e), e.broker, "elected", e.epoch, e.epoch_zk_version, None, None, None, None)


def _controller_resigned(e: ControllerResigned) -> Row:
    return (*_place(e), e.broker, "resigned", e.epoch, None, None, None, None, e.reason)


def _controller_step(e: ControllerStep) -> Row:
    return (*_place(e), e.broker, "step", None, None, e.procedure, e.step, e.name, e.detail)


def _quorum_role_changed(e: QuorumRoleChanged) -> Row:
    return (*_place(e), e.controller, e.role, e.epoch, e.leader)


def _controller_state_changed(e: ControllerStateChanged) -> Row:
    return (*_place(e), "controller", None, e.controller, None, e.state, None, None, None)


def _broker_state_changed(e: BrokerStateChanged) -> Row:
    return (*_place(e), "broker", None, e.broker, None, e.state, None, None, None)


def _link_changed(e: LinkChanged) -> Row:
    impaired = bool(e.delay_us or e.drop_percent or e.holding)
    state = "cut" if e.cut else "impaired" if impaired else "whole"
    values = (e.delay_us, e.drop_percent, e.holding)
    return (*_place(e), "link", None, e.source, e.destination, state, *values)


def _session_ended(e: SessionEnded) -> Row:
    return (*_place(e), "session", None, e.host, None, e.reason, None, None, None)


def _replica_fetch_paused(e: ReplicaFetchPaused) -> Row:
    state = "paused" if e.paused else "resumed"
    return (*_place(e), "replica", e.tp, e.broker, None, state, None, None, None)


FACTS: Final[dict[type[Event], tuple[str, Callable[[Any], Row]]]] = {
    LeaderElected: ("elections", _leader_elected),
    ElectionFailed: ("elections", _election_failed),
    IsrChangeStarted: ("isr_changes", _isr_change_started),
    IsrChanged: ("isr_changes", _isr_changed),
    LogTruncated: ("truncations", _log_truncated),
    ZnodeCreated: ("znodes", _znode_created),
    ZnodeChanged: ("znodes", _znode_changed),
    ZnodeDeleted: ("znodes", _znode_deleted),
    ControllerElected: ("controller", _controller_elected),
    ControllerResigned: ("controller", _controller_resigned),
    ControllerStep: ("controller", _controller_step),
    MetadataRecordCommitted: ("metadata_records", metadata_record),
    QuorumRoleChanged: ("quorum_roles", _quorum_role_changed),
    ControllerStateChanged: ("faults", _controller_state_changed),
    BrokerStateChanged: ("faults", _broker_state_changed),
    LinkChanged: ("faults", _link_changed),
    SessionEnded: ("faults", _session_ended),
    ReplicaFetchPaused: ("faults", _replica_fetch_paused),
}
"""The table of each type of event that is a row of its own, and how the row is made."""


class ConsumedFold:
    """Makes the runs of ``consumed`` rows; counts the reads that each consumer has finished."""

    def __init__(self, add: Callable[[Row], object]) -> None:
        self._add = add
        self._finished: dict[str, int] = {}

    def handlers(self) -> dict[type[Event], Callable[[Any], None]]:
        """Return the handlers by type of event."""
        return {RecordsConsumed: self._consumed, ConsumeFinished: self._finish}

    def finish(self) -> None:
        """End the session; all rows have been emitted already."""

    def _finish(self, event: ConsumeFinished) -> None:
        self._finished[event.consumer] = self._finished.get(event.consumer, 0) + 1

    def _consumed(self, event: RecordsConsumed) -> None:
        place = (*_place(event), event.consumer, self._finished.get(event.consumer, 0) + 1)
        offset = event.offset
        for first, count in event.runs:
            self._add((*place, event.tp, offset, first, count))
            offset += count


class RequestFold:
    """Pairs requests with their responses; holds a request for :data:`RESPONSE_MAX_US` at most."""

    def __init__(self, add: Callable[[Row], object]) -> None:
        self._add = add
        self._waiting: dict[int, MessageSent] = {}
        self._look_at = LOOK_EVERY

    def handlers(self) -> dict[type[Event], Callable[[Any], None]]:
        """Return the handlers by type of event."""
        return {MessageSent: self._sent, MessageLost: self._lost}

    def finish(self) -> None:
        """End the session: emit the requests without a response."""
        self._give_up(None)

    def _sent(self, event: MessageSent) -> None:
        if event.request:
            request = self._waiting.pop(event.request, None)
            if request is not None:
                self._end(request, event)
        elif event.name.endswith(REQUEST):
            self._waiting[event.seq] = event
            if len(self._waiting) >= self._look_at:
                self._give_up(event.time_us - RESPONSE_MAX_US)
                self._look_at = LOOK_EVERY + 2 * len(self._waiting)

    def _give_up(self, before_us: int | None) -> None:
        """Emit requests without a response that were sent before a time (None: all)."""
        for request in list(self._waiting.values()):
            if before_us is None or request.time_us < before_us:
                self._end(self._waiting.pop(request.seq))

    def _lost(self, event: MessageLost) -> None:
        request = self._waiting.pop(event.message, None)
        if request is not None:
            self._end(request, lost=event.reason)

    def _end(
        self, request: MessageSent, response: MessageSent | None = None, lost: str | None = None
    ) -> None:
        self._add(
            (
                request.seq,
                request.time_us,
                request.cause,
                request.name,
                request.source,
                request.destination,
                len(request.detail),
                None if response is None else response.seq,
                None if response is None else response.time_us,
                lost,
            )
        )
