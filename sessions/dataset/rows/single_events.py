"""Rows for the tables that restate single events, and for ``requests``, which pairs two."""

from collections.abc import Callable
from typing import Any, Final

from emulator.events import (
    TYPES,
    ConsumeFinished,
    Event,
    MessageLost,
    MessageSent,
    MetadataRecordCommitted,
    RecordsConsumed,
)
from sessions.dataset.rows.by_name import event_row, row_maker
from sessions.dataset.rows.metadata_records import metadata_record
from sessions.dataset.tables import BY_NAME, CONSUMED, METADATA_RECORDS, REQUESTS
from sessions.dataset.writer import Row

REQUEST: Final = "Request"
"""Suffixes of the names of messages that may have a response."""
RESPONSE_MAX_US: Final = 600_000_000
"""Time to wait for a response: after ten minutes every connection has timed out."""
LOOK_EVERY: Final = 10_000
"""Number of open requests at which timed-out ones are removed."""


FACTS: Final[dict[type[Event], tuple[str, Callable[[Any], Row]]]] = {
    kind: (kind.row.table, event_row(kind, kind.row, BY_NAME[kind.row.table]))
    for kind in TYPES.values()
    if kind.row is not None
} | {MetadataRecordCommitted: (METADATA_RECORDS.name, metadata_record)}
"""The table of each class of events that is a row of its own, and how the row is made."""


consumed: Final = row_maker(CONSUMED)
request_row: Final = row_maker(REQUESTS)


class ConsumedFold:
    """Makes the runs of ``consumed`` rows; counts the reads that each consumer has finished."""

    def __init__(self, add: Callable[[Row], object]) -> None:
        self._add = add
        self._finished: dict[str, int] = {}

    def handlers(self) -> dict[type[Event], Callable[[Any], None]]:
        return {RecordsConsumed: self._consumed, ConsumeFinished: self._finish}

    def finish(self) -> None:
        """End the session; all rows have been emitted already."""

    def _finish(self, event: ConsumeFinished) -> None:
        self._finished[event.consumer] = self._finished.get(event.consumer, 0) + 1

    def _consumed(self, event: RecordsConsumed) -> None:
        offset = event.offset
        for first, count in event.runs:
            run = consumed(
                seq=event.seq,
                time_us=event.time_us,
                cause=event.cause,
                consumer=event.consumer,
                consume=self._finished.get(event.consumer, 0) + 1,
                tp=event.tp,
                offset=offset,
                record=first,
            )
            self._add((*run, count))
            offset += count


class RequestFold:
    """Pairs requests with their responses; holds a request for :data:`RESPONSE_MAX_US` at most."""

    def __init__(self, add: Callable[[Row], object]) -> None:
        self._add = add
        self._waiting: dict[int, MessageSent] = {}
        self._look_at = LOOK_EVERY

    def handlers(self) -> dict[type[Event], Callable[[Any], None]]:
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
            request_row(
                seq=request.seq,
                time_us=request.time_us,
                cause=request.cause,
                name=request.name,
                source=request.source,
                destination=request.destination,
                partitions=len(request.detail),
                answered_seq=None if response is None else response.seq,
                answered_us=None if response is None else response.time_us,
                lost=lost,
            )
        )
