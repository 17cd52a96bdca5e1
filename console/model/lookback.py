"""Search of the past for an event, page by page back from the time cursor."""

from collections.abc import Callable
from time import perf_counter
from typing import Final

from console.model.reader import EventReader
from emulator.events import Event, InputReceived, RecordsAppended

PAGE: Final = 512
"""Events read at once."""
BUDGET_MS: Final = 15.0
"""How long one search may take."""
KEPT_MAX: Final = 256

Wanted = Callable[[Event], bool]


def last_match(
    reader: EventReader, seq: int, matches: Wanted, budget_ms: float = BUDGET_MS
) -> Event | None:
    """The last matching event up to ``seq``; None if there is none near enough."""
    deadline = perf_counter() + budget_ms * reader.patience / 1_000
    last = seq
    while last > 0 and perf_counter() < deadline:
        first = max(1, last - PAGE + 1)
        for event in reversed(reader.page(first, last)):
            if matches(event):
                return event
        last = first - 1
    return None


def statement_end(reader: EventReader, seq: int, direction: int) -> int | None:
    """Where the statement after (1) or before (-1) an event has done all that it did.

    That is the event before the next statement, or the last one; None if it is too far to be found.
    """
    if direction < 0:
        statement = last_match(reader, seq, lambda event: isinstance(event, InputReceived))
        return None if statement is None else statement.seq - 1
    deadline = perf_counter() + BUDGET_MS / 1_000
    first, last_seq = seq + 2, reader.source.last_seq
    while first <= last_seq and perf_counter() < deadline:
        for event in reader.page(first, first + PAGE - 1):
            if isinstance(event, InputReceived):
                return event.seq - 1
        first += PAGE
    return last_seq if first > last_seq > seq else None


class Writes:
    """When a replica wrote a record: what was found is kept, so a tape asks again for nothing."""

    def __init__(self, reader: EventReader) -> None:
        self.reader = reader
        self._found: dict[tuple[str, int, int], Event] = {}
        self._missed: dict[tuple[str, int, int], int] = {}

    def find(self, tp: str, broker: int, offset: int, seq: int) -> Event | None:
        """The last append up to ``seq`` that wrote an offset of a replica, if it is near enough."""
        key = (tp, broker, offset)
        kept = self._found.get(key)
        if kept is not None and kept.seq <= seq:
            return kept
        if seq - self._missed.get(key, -PAGE) in range(PAGE):
            return None
        event = last_match(self.reader, seq, lambda event: _wrote(event, tp, broker, offset))
        if len(self._found) + len(self._missed) > KEPT_MAX:
            self._found.clear()
            self._missed.clear()
        if event is None:
            self._missed[key] = seq
        else:
            self._found[key] = event
        return event


def _wrote(event: Event, tp: str, broker: int, offset: int) -> bool:
    return (
        type(event) is RecordsAppended
        and event.broker == broker
        and event.tp == tp
        and event.base_offset <= offset < event.base_offset + event.count
    )
