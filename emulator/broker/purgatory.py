"""Requests that are answered later (kafka.server.DelayedOperationPurgatory).

An operation is watched under the keys whose changes may complete it. Whoever changes one has it
checked; the owner of the purgatory knows what an operation waits for and what it is answered. A
broker has a purgatory each for produces (acks=all, which wait for the high watermark), for the
fetches of followers and for those of consumers. All use this one mechanism.
"""

from collections.abc import Callable, Iterable
from typing import Generic, TypeVar, cast

from msgspec import Struct, field

from emulator.broker_context import BrokerContext

Key = str | int
"""What an operation is watched under: a partition, or a follower, whose fetch session stands for
all partitions in it (so parking a fetch costs the same however many they are)."""


class DelayedOperation(Struct, frozen=True, array_like=True, gc=False):
    """The request number ``request``, for whose answer ``client`` waits."""

    request: int
    client: int


Operation = TypeVar("Operation", bound=DelayedOperation)
Answer = TypeVar("Answer")


class PurgatoryState(Struct, array_like=True):
    """The operations that wait, by request; and under each key its watchers, oldest first."""

    operations: dict[int, DelayedOperation] = field(default_factory=dict)
    watchers: dict[Key, dict[int, None]] = field(default_factory=dict)


class DelayedOperationPurgatory(Generic[Operation, Answer]):
    """Keeps operations of one kind until they can be completed, or their time is over."""

    def __init__(
        self,
        context: BrokerContext,
        state: PurgatoryState,
        timeout: str,
        *,
        keys: Callable[[Operation], Iterable[Key]],
        try_complete: Callable[[Operation], Answer | None],
        on_expiration: Callable[[Operation], Answer],
        on_complete: Callable[[Operation, Answer], None],
    ) -> None:
        """Keep what waits in ``state``, with deadlines of the timer ``timeout``.

        ``keys`` are what an operation is watched under, and stay the same while it waits.
        ``try_complete`` gives the answer to an operation, or None if it has to wait on;
        ``on_expiration`` gives the answer at the end of its time. ``on_complete`` sends an answer.
        """
        self._timers = context.timers
        self._kernel = context.kernel
        self.state = state
        self._timeout = timeout
        self._keys = keys
        self._try_complete = try_complete
        self._on_expiration = on_expiration
        self._on_complete = on_complete

    def try_complete_else_watch(self, operation: Operation, timeout_us: int) -> None:
        """Answer an operation now if that can be done, else within ``timeout_us``."""
        answer = self._try_complete(operation)
        if answer is None and timeout_us <= 0:
            answer = self._on_expiration(operation)
        if answer is None:
            self.watch(operation, timeout_us)
        else:
            self._on_complete(operation, answer)

    def watch(self, operation: Operation, timeout_us: int) -> None:
        """Let an operation wait, at most for ``timeout_us`` (microseconds, above 0)."""
        request = operation.request
        self.state.operations[request] = operation
        watchers = self.state.watchers
        for key in self._keys(operation):
            watching = watchers.get(key)
            if watching is None:
                watching = watchers[key] = {}
            watching[request] = None
        self._timers.set_deadline(self._timeout, request, self._kernel.now + timeout_us)

    def check_and_complete(self, key: Key) -> None:
        """Something has changed about ``key``: answer the operations that it completes."""
        watching = self.state.watchers.get(key)
        if watching is None:
            return
        for request in list(watching):
            operation = self.find(request)
            if operation is not None:
                answer = self._try_complete(operation)
                if answer is not None:
                    self.complete(operation, answer)

    def find(self, request: int) -> Operation | None:
        """The operation that waits under a request's number; None: there is none."""
        return cast(Operation | None, self.state.operations.get(request))

    def complete(self, operation: Operation, answer: Answer) -> None:
        """Answer an operation that waits, whatever it waits for."""
        self.forget(operation.request)
        self._on_complete(operation, answer)

    def expire(self) -> None:
        """Answer the operations whose time is over."""
        for request in self._timers.overdue(self._timeout):
            operation = self.find(cast(int, request))
            if operation is not None:
                self.complete(operation, self._on_expiration(operation))

    def forget(self, request: int) -> None:
        """Nobody waits for the answer to a request any more."""
        operation = self.find(request)
        if operation is None:
            return
        del self.state.operations[request]
        self._timers.clear_deadline(self._timeout, request)
        watchers = self.state.watchers
        for key in self._keys(operation):
            del watchers[key][request]
            if not watchers[key]:
                del watchers[key]
