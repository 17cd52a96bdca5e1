"""Virtual time: the clock, the event queue and the seeded random number generator.

All deliveries, delays and random numbers come from here. Time is in integer microseconds. Messages
due at the same time are dispatched in the order in which they were scheduled. A host (broker,
ZooKeeper, clients) that is down loses the messages to its earlier ``incarnation``; a frozen host
finds them in its inbox when it thaws.
"""

from collections.abc import Callable, Sequence
from heapq import heappop, heappush
from typing import Any, Concatenate, ParamSpec, Protocol, cast

from msgspec import Struct, field

from emulator import events
from emulator.events import Event
from emulator.protocol import AnyMessage, Timer

Observer = Callable[[Event], None]
Fields = ParamSpec("Fields")

Scheduled = tuple[int, int, int, int, int, int, AnyMessage]
"""Due time, order number, host, the host's incarnation, cause, source host, message."""

ACTIVITY: frozenset[type[Event]] = frozenset(
    {
        events.ZnodeCreated,
        events.ZnodeChanged,
        events.ZnodeDeleted,
        events.RecordsAppended,
        events.LogTruncated,
        events.HighWatermarkChanged,
        events.IsrChanged,
        events.ReplicaRoleChanged,
        events.EpochCacheChanged,
        events.BrokerStateChanged,
        events.LogDeleted,
        events.MetadataRecordCommitted,
        events.MetadataApplied,
        events.QuorumRoleChanged,
    }
)
"""The events whose absence `settle` waits for; all others are idle traffic."""

STARTED_MS = 1_584_267_360_000
"""The wall-clock time of virtual time 0, unless a cluster has its own (15 March 2020)."""

_MULTIPLIER = 6364136223846793005
_INCREMENT = 1442695040888963407
_MASK = (1 << 64) - 1


class Host(Struct, array_like=True):
    """A process as the network sees it.

    ``silenced_by`` is the event that ended or froze it (0: it is running), which causes all effects
    of its silence.
    """

    number: int
    up: bool = False
    frozen: bool = False
    incarnation: int = 0
    inbox: list[Scheduled] = field(default_factory=list)
    silenced_by: int = 0


class KernelState(Struct, array_like=True):
    """The kernel's whole state, as plain data."""

    random_state: int
    now_us: int = 0
    sequence: int = 0
    steps: int = 0
    order: int = 0
    activity_us: int = 0
    queue: list[Scheduled] = field(default_factory=list)
    hosts: dict[int, Host] = field(default_factory=dict)
    started_ms: int = STARTED_MS

    def wall_clock_ms(self, time_us: int) -> int:
        """Return a virtual time in milliseconds since 1970."""
        return self.started_ms + time_us // 1_000


class Actor(Protocol):
    """A host's behaviour: it handles messages, changes its state and acts through the kernel."""

    def handle(self, source: int, message: AnyMessage) -> None:
        """Handle a message from ``source``."""


class Emit(Protocol):
    """Emits an event of type ``kind`` with the fields after ``cause``; returns its ``seq``.

    Without observers no event object is created. The type checker validates the fields.
    """

    def __call__(
        self,
        kind: Callable[Concatenate[int, int, int, Fields], Event],
        *fields: Fields.args,
        **named: Fields.kwargs,
    ) -> int:
        """Emit the event; fields are positional."""


class Kernel:
    """Dispatches due messages and lets actors send messages, set timers and emit events."""

    def __init__(self, state: KernelState, observers: Sequence[Observer] = ()) -> None:
        """Run on ``state``; ``observers`` receive every event."""
        self.state = state
        self.actors: dict[int, Actor] = {}
        self.cause = 0
        self._observers: list[Observer] = list(observers)
        self._typed: dict[Any, list[Observer]] = {}
        self._by_type: dict[Any, tuple[bool, list[Observer]] | None] = {}
        self.emit = self._emitter()

    @property
    def now(self) -> int:
        """Virtual time in microseconds."""
        return self.state.now_us

    # ---- emitting events

    def subscribe(
        self, observer: Callable[[Any], None], types: Sequence[type[Event]] | None = None
    ) -> None:
        """Subscribe ``observer`` to later events (or those of ``types``); it must only observe."""
        if types is None:
            self._observers.append(observer)
        else:
            for kind in types:
                self._typed.setdefault(kind, []).append(observer)
        self._by_type.clear()

    def _emitter(self) -> Emit:
        """The implementation of :attr:`emit`; keyword fields would cost a dict per event.

        It is a closure because most of the 16 events of a new partition have no observer, and a
        method would take longer to say so.
        """
        state, by_type = self.state, self._by_type

        def emit(kind: type[Event], *fields: Any) -> int:
            seq = state.sequence = state.sequence + 1
            try:
                reaction = by_type[kind]
            except KeyError:
                reaction = by_type[kind] = self._reaction_to(kind)
            if reaction is not None:
                is_activity, observers = reaction
                if is_activity:
                    state.activity_us = state.now_us
                if observers:
                    # Concatenation avoids a temporary list: 1% of the emulator's total time.
                    event = kind(*((seq, state.now_us, self.cause) + fields))  # noqa: RUF005
                    for observe in observers:
                        observe(event)
            return seq

        return cast(Emit, emit)

    def _reaction_to(self, kind: type[Event]) -> tuple[bool, list[Observer]] | None:
        """Whether events of a type are activity, and who observes them; None: neither."""
        observers = [*self._typed.get(kind, ()), *self._observers]
        is_activity = kind in ACTIVITY
        return (is_activity, observers) if observers or is_activity else None

    def observed(self, kind: type[Event]) -> bool:
        """Whether events of that type have observers (so that costly fields can be omitted)."""
        return kind in self._typed or bool(self._observers)

    def unobserved(self, kind: type[Event]) -> int:
        """Count an event without its fields if nobody observes it: its ``seq``; else 0.

        Events of that type must not be among :data:`ACTIVITY`.
        """
        if kind in self._typed or self._observers:
            return 0
        state = self.state
        seq = state.sequence = state.sequence + 1
        return seq

    @property
    def is_recorded(self) -> bool:
        """Whether an observer receives all events, with all of their fields."""
        return bool(self._observers)

    def fired(self, host: int, task: str) -> None:
        """Emit that a timer of ``host`` had an effect, as the cause of what follows."""
        self.cause = self.emit(events.TimerFired, host, task)

    # ---- random numbers and time

    def random(self) -> float:
        """Return a random number in [0, 1) from the seeded sequence."""
        state = self.state
        drawn = state.random_state = (state.random_state * _MULTIPLIER + _INCREMENT) & _MASK
        return (drawn >> 11) / 9007199254740992.0

    def random_below(self, limit: int) -> int:
        """Return a random integer in [0, limit)."""
        return int(self.random() * limit)

    def schedule(self, at_us: int, host: int, message: AnyMessage, cause: int, source: int) -> None:
        """Schedule ``message`` from ``source`` to ``host``'s current incarnation at ``at_us``."""
        state = self.state
        order = state.order = state.order + 1
        incarnation = state.hosts[host].incarnation
        heappush(state.queue, (at_us, order, host, incarnation, cause, source, message))

    def timer(self, host: int, delay_us: int, task: str, key: str = "", number: int = 0) -> None:
        """Schedule a timer of ``host`` for ``task`` after ``delay_us``.

        It is lost if the process ends before that.
        """
        at_us = self.state.now_us + delay_us
        self.schedule(at_us, host, Timer(task, key, number), self.cause, host)

    # ---- running

    def next_due_us(self) -> int | None:
        """The due time of the next message; None if there is none."""
        queue = self.state.queue
        return queue[0][0] if queue else None

    def step(self) -> bool:
        """Dispatch the next due message; return False if there is none."""
        state = self.state
        queue = state.queue
        if not queue:
            return False
        entry = heappop(queue)
        at_us, _, number, incarnation, cause, source, message = entry
        state.now_us = at_us
        state.steps += 1
        host = state.hosts[number]
        if incarnation == host.incarnation:
            if host.frozen:
                host.inbox.append(entry)
            else:
                self.cause = cause
                self.actors[number].handle(source, message)
                self.cause = 0
        return True

    # ---- hosts

    def start_host(self, number: int) -> None:
        """Start a process, possibly again."""
        host = self.state.hosts[number]
        host.up, host.frozen, host.silenced_by = True, False, 0

    def end_host(self, number: int) -> None:
        """End a process: its timers and the messages in flight to it are discarded."""
        host = self.state.hosts[number]
        host.up, host.frozen = False, False
        host.incarnation += 1
        host.silenced_by = self.cause
        host.inbox = []

    def freeze_host(self, number: int) -> None:
        """Freeze a process; its messages wait."""
        host = self.state.hosts[number]
        host.frozen, host.silenced_by = True, self.cause

    def thaw_host(self, number: int) -> None:
        """Thaw a frozen process, which handles the messages received in the meantime in order."""
        host = self.state.hosts[number]
        host.frozen, host.silenced_by = False, 0
        waiting, host.inbox = host.inbox, []
        for _, _, _, _, cause, source, message in waiting:
            self.schedule(self.state.now_us, number, message, cause, source)
