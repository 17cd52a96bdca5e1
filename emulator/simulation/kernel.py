"""Virtual time: a clock, an event queue and seeded randomness; it alone delivers, delays and draws.

Time is in integer microseconds. What is due at the same time is dispatched in the order in which it
was scheduled. A host (broker, ZooKeeper, clients) that is down loses what was meant for its earlier
life (``incarnation``); a frozen one finds it in its inbox when it thaws.
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
"""Due time, order number, host, incarnation of that host, cause, source host, message."""

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
"""The events that `settle` waits to cease; all others are idle traffic."""

STARTED_MS = 1_584_267_360_000
"""The wall-clock time that virtual time 0 stands for where one is shown (15 March 2020)."""

_MULTIPLIER = 6364136223846793005
_INCREMENT = 1442695040888963407
_MASK = (1 << 64) - 1


class Host(Struct, array_like=True):
    """A process as the network sees it.

    ``silenced_by`` is the event that ended or froze it (0: it works): what its silence leads to is
    caused by that.
    """

    number: int
    up: bool = False
    frozen: bool = False
    incarnation: int = 0
    inbox: list[Scheduled] = field(default_factory=list)
    silenced_by: int = 0


class KernelState(Struct, array_like=True):
    """All that the kernel remembers: plain data."""

    random_state: int
    now_us: int = 0
    sequence: int = 0
    steps: int = 0
    order: int = 0
    activity_us: int = 0
    queue: list[Scheduled] = field(default_factory=list)
    hosts: dict[int, Host] = field(default_factory=dict)


class Actor(Protocol):
    """A host's behaviour: it takes messages, changes its own state and acts through the kernel."""

    def handle(self, source: int, message: AnyMessage) -> None:
        """Take one message from ``source``."""


class Emit(Protocol):
    """States an event of type ``kind``, given its fields after ``cause``; returns its ``seq``.

    Nothing is built if nobody looks. The type checker compares the fields with the event's.
    """

    def __call__(
        self,
        kind: Callable[Concatenate[int, int, int, Fields], Event],
        *fields: Fields.args,
        **named: Fields.kwargs,
    ) -> int:
        """State it; fields go by their places."""


class Kernel:
    """Dispatches what is due and lets actors send, set timers and state facts."""

    def __init__(self, state: KernelState, observers: Sequence[Observer] = ()) -> None:
        """Run on ``state``; ``observers`` get every event."""
        self.state = state
        self.actors: dict[int, Actor] = {}
        self.cause = 0
        self.emit = cast(Emit, self._emit)
        self._observers: list[Observer] = list(observers)
        self._typed: dict[Any, list[Observer]] = {}
        self._by_type: dict[Any, tuple[bool, list[Observer]]] = {}

    @property
    def now(self) -> int:
        """Virtual time in microseconds."""
        return self.state.now_us

    # ---- stating facts

    def subscribe(
        self, observer: Callable[[Any], None], types: Sequence[type[Event]] | None = None
    ) -> None:
        """Let ``observer`` see all later events (or those of ``types``); it must not steer."""
        if types is None:
            self._observers.append(observer)
        else:
            for each in types:
                self._typed.setdefault(each, []).append(observer)
        self._by_type.clear()

    def _emit(self, kind: type[Event], *fields: Any) -> int:
        """What :attr:`emit` does; names for the fields would cost a dict each time."""
        state = self.state
        seq = state.sequence = state.sequence + 1
        try:
            is_activity, observers = self._by_type[kind]
        except KeyError:
            observers = [*self._typed.get(kind, ()), *self._observers]
            is_activity = kind in ACTIVITY
            self._by_type[kind] = is_activity, observers
        if is_activity:
            state.activity_us = state.now_us
        if observers:
            # Joined, the arguments take no list on the way: a hundredth of the whole emulator.
            event = kind(*((seq, state.now_us, self.cause) + fields))  # noqa: RUF005
            for observe in observers:
                observe(event)
        return seq

    def observed(self, kind: type[Event]) -> bool:
        """Whether anybody looks at events of that type (so that costly fields may be left out)."""
        return bool(self._observers) or kind in self._typed

    @property
    def is_recorded(self) -> bool:
        """Whether somebody takes every event, with all that is in it."""
        return bool(self._observers)

    def fired(self, host: int, task: str) -> None:
        """State that a timer of ``host`` had an effect; what follows is caused by it."""
        self.cause = self.emit(events.TimerFired, host, task)

    # ---- chance and time

    def random(self) -> float:
        """A number in [0, 1) from the seeded sequence."""
        state = self.state
        drawn = state.random_state = (state.random_state * _MULTIPLIER + _INCREMENT) & _MASK
        return (drawn >> 11) / 9007199254740992.0

    def random_below(self, limit: int) -> int:
        """An integer in [0, limit)."""
        return int(self.random() * limit)

    def schedule(self, at_us: int, host: int, message: AnyMessage, cause: int, source: int) -> None:
        """Give ``message`` of ``source`` to ``host``'s present incarnation at ``at_us``."""
        state = self.state
        state.order += 1
        incarnation = state.hosts[host].incarnation
        entry = (at_us, state.order, host, incarnation, cause, source, message)
        heappush(state.queue, entry)

    def timer(self, host: int, delay_us: int, task: str, key: str = "", number: int = 0) -> None:
        """Let ``host`` be told of ``task`` after ``delay_us``.

        It is lost if the process ends before.
        """
        at_us = self.state.now_us + delay_us
        self.schedule(at_us, host, Timer(task, key, number), self.cause, host)

    # ---- running

    def next_due_us(self) -> int | None:
        """When the next message is due; None: never."""
        queue = self.state.queue
        return queue[0][0] if queue else None

    def step(self) -> bool:
        """Dispatch the next message that is due; False if there is none."""
        state = self.state
        if not state.queue:
            return False
        entry = heappop(state.queue)
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
        """A process begins (again)."""
        host = self.state.hosts[number]
        host.up, host.frozen, host.silenced_by = True, False, 0

    def end_host(self, number: int) -> None:
        """A process ends: its timers and what was on the way to it are void."""
        host = self.state.hosts[number]
        host.up, host.frozen = False, False
        host.incarnation += 1
        host.silenced_by = self.cause
        host.inbox = []

    def freeze_host(self, number: int) -> None:
        """Let a process do nothing; what reaches it waits."""
        host = self.state.hosts[number]
        host.frozen, host.silenced_by = True, self.cause

    def thaw_host(self, number: int) -> None:
        """Let a frozen process go on with what has reached it meanwhile, in order."""
        host = self.state.hosts[number]
        host.frozen, host.silenced_by = False, 0
        waiting, host.inbox = host.inbox, []
        for _, _, _, _, cause, source, message in waiting:
            self.schedule(self.state.now_us, number, message, cause, source)
