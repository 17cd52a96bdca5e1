"""Make the rows of the dataset's tables from the events of one session."""

from collections.abc import Callable, Collection
from typing import Any, Final, Protocol

from emulator.events import Event, ProduceSent
from emulator.simulation.packed_list import text_bytes
from sessions.dataset.rows.client_requests import ClientRequestFold
from sessions.dataset.rows.produced import RecordFold
from sessions.dataset.rows.sessions import SessionFacts, Totals
from sessions.dataset.rows.single_events import FACTS, ConsumedFold, RequestFold
from sessions.dataset.rows.state_fold import StateFold
from sessions.dataset.tables import BY_NAME, CONSUMED, EVENTS, PRODUCED, SESSIONS
from sessions.dataset.writer import Row
from sessions.format.codec import Unpacked
from sessions.garbage_collection import collector_paused

Handler = Callable[[Any], None]


class Fold(Protocol):
    """Makes rows from events, which it receives in order."""

    def handlers(self) -> dict[type[Event], Handler]: ...

    def finish(self) -> None: ...


FOLDS: Final[tuple[tuple[tuple[str, ...], Callable[..., Fold]], ...]] = (
    (("partition_states", "replica_states"), StateFold),
    ((PRODUCED.name,), RecordFold),
    ((CONSUMED.name,), ConsumedFold),
    (("requests",), RequestFold),
    (("client_requests",), ClientRequestFold),
)
"""The tables whose rows need more than one event, and what makes these rows."""


class SessionRows:
    """Makes the rows of one session from its events, which it receives in order.

    ``columns`` are the types of events that a block must contain (None: all). ``memory`` bounds
    what the blocks take whose rows nobody has taken yet.
    """

    def __init__(self, session: str, names: Collection[str] = BY_NAME) -> None:
        self.session = session
        self.events = self.memory = 0
        self.rows: dict[str, list[Row]] = {name: [] for name in names if name != EVENTS.name}
        self.waiting: list[list[Event] | Unpacked] | None = [] if EVENTS.name in names else None
        self._last = (0, 0)
        self._totals = Totals() if SESSIONS.name in names else None
        self._folds = [
            make(*(self.rows[name].append for name in tables))
            for tables, make in FOLDS
            if self.rows.keys() >= set(tables)
        ]
        self._handlers = self._gather_handlers()
        self.columns = None if EVENTS.name in names else self._handlers.keys()

    def _gather_handlers(self) -> dict[type[Event], tuple[Handler, ...]]:
        handlers: dict[type[Event], tuple[Handler, ...]] = {}
        folds = [fold.handlers() for fold in self._folds]
        if self._totals is not None:
            folds += [self._totals.handlers(), self._totals.leaderless.handlers()]
        for of_fold in folds:
            for type_, handler in of_fold.items():
                handlers[type_] = (*handlers.get(type_, ()), handler)
        for type_, (table, make) in FACTS.items():
            if table in self.rows:
                adder = _row_adder(self.rows[table], make)
                handlers[type_] = (*handlers.get(type_, ()), adder)
        return handlers

    def add(self, events: list[Event]) -> None:
        """Add consecutive events (one or more)."""
        self.memory += sum(text_bytes(event) for event in events if type(event) is ProduceSent)
        self._fold(events, len(events), events[-1].seq, events[-1].time_us)
        if self.waiting is not None:
            self.waiting.append(events)

    def add_block(self, block: Unpacked) -> None:
        """Add the events of a block, which has at least the types in ``columns``."""
        self.memory += block.memory
        events = block.events(self._handlers.keys())
        self._fold(events, len(block.times), block.last_seq, block.times[-1])
        if self.waiting is not None:
            self.waiting.append(block)

    def _fold(self, events: list[Event], count: int, last_seq: int, last_us: int) -> None:
        self.events += count
        self._last = (last_seq, last_us)
        handlers, nobody = self._handlers, ()
        with collector_paused():
            for event in events:
                for handle in handlers.get(type(event), nobody):
                    handle(event)

    def finish(self, facts: SessionFacts) -> None:
        """Make the remaining rows and, if ``sessions`` is one of the tables, the session's row."""
        for fold in self._folds:
            fold.finish()
        if self._totals is not None:
            row = self._totals.row(facts, self.events, *self._last)
            self.rows[SESSIONS.name].append(row)


def _row_adder(rows: list[Row], make: Callable[[Any], Row]) -> Handler:
    def add(event: Event) -> None:
        rows.append(make(event))

    return add
