"""One run: a cluster that executes the statements of a script, and its events."""

from collections.abc import Iterator
from typing import Final

from emulator.cluster import Cluster
from emulator.events import Event
from emulator.inputs.statements import ExpectEvents, Statement
from emulator.scenario.runner import Advance, Runner
from sessions.campaign.plan import Variant
from sessions.grammar.event_patterns import looked_up

EVENTS_WAITING: Final = 4_096
"""Number of events to buffer before they are handed on."""
STEPS_BETWEEN_LOOKS: Final = 256
"""Number of kernel events between two checks of the buffer."""


class Emulation:
    """A run whose events are consumed while it executes, so that memory is bounded."""

    def __init__(self, variant: Variant, seed: int) -> None:
        """Create the cluster; all its brokers have registered when this returns."""
        self._events: list[Event] = []
        self._steps = variant.steps
        asks = any(isinstance(step.input, ExpectEvents) for step in self._steps)
        self._all_events: list[Event] | None = [] if asks else None
        spec, text = variant.spec(seed), variant.text.with_seed(seed)
        self.runner = Runner(Cluster(spec, (self._events.append,), text, variant.line))

    def events(self) -> Iterator[Event]:
        """Yield all events from the first one on; can be read once."""
        for block in self.blocks():
            yield from block

    def blocks(self) -> Iterator[list[Event]]:
        """Yield the events in non-empty lists."""
        for statement in self._steps:
            yield from self._during(statement)
        if self._events:
            yield self._take_events()

    def _during(self, statement: Statement) -> Iterator[list[Event]]:
        ticket = self.runner.submit(looked_up(statement, self._happened))
        reached = None
        while not ticket.done and reached is not Advance.IDLE:
            reached = self.runner.advance(budget=STEPS_BETWEEN_LOOKS)
            if len(self._events) >= EVENTS_WAITING:
                yield self._take_events()

    def _take_events(self) -> list[Event]:
        events = self._events.copy()
        self._events.clear()
        if self._all_events is not None:
            self._all_events += events
        return events

    def _happened(self) -> list[Event]:
        """Return all events so far, which are kept only if a statement asserts something."""
        return [*(self._all_events or ()), *self._events]
