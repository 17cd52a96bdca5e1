"""Requests that are answered later (kafka.server.DelayedOperationPurgatory).

An operation is watched under the partitions whose changes may complete it. Whoever changes one has
it checked; the owner of the purgatory knows what an operation waits for and what it is answered. A
broker has a purgatory each for produces (acks=all, which wait for the high watermark), for the
fetches of followers and for those of consumers. All use this one mechanism.

Followers' fetches are watched under no partition: their sessions know which are in them, so that
parking a fetch costs the same however many they are.
"""

from collections.abc import Callable, Iterable
from typing import Any, Generic, TypeVar

from msgspec import Struct, field

from emulator.broker_context import BrokerContext


class DelayedOperation(Struct, frozen=True, array_like=True, gc=False):
    """The request number ``request``, for whose answer ``client`` waits."""

    request: int
    client: int


Operation = TypeVar("Operation", bound=DelayedOperation)
Answer = TypeVar("Answer")


class PurgatoryState(Struct, array_like=True):
    """The operations (of one kind) that wait, by request; and who watches each partition.

    Watchers are requests, oldest first.
    """

    operations: dict[int, Any] = field(default_factory=dict)
    watchers: dict[str, dict[int, None]] = field(default_factory=dict)


class DelayedOperationPurgatory(Generic[Operation, Answer]):
    """Keeps operations of one kind until they can be completed, or their time is over."""

    def __init__(
        self,
        context: BrokerContext,
        state: PurgatoryState,
        timeout: str,
        *,
        partitions: Callable[[Operation], Iterable[str]],
        try_complete: Callable[[Operation], Answer | None],
        on_expiration: Callable[[Operation], Answer],
        on_complete: Callable[[Operation, Answer], None],
    ) -> None:
        """Keep what waits in ``state``, with deadlines of the timer ``timeout``.

        ``partitions`` are what an operation is watched under; they stay the same while it waits.
        ``try_complete`` gives the answer to an operation, or None if it has to wait on;
        ``on_expiration`` gives the answer at the end of its time. ``on_complete`` sends an answer.
        """
        self._timers = context.timers
        self._kernel = context.kernel
        self.state = state
        self._timeout = timeout
        self._partitions = partitions
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
        for tp in self._partitions(operation):
            watchers.setdefault(tp, {})[request] = None
        self._timers.set_deadline(self._timeout, request, self._kernel.state.now_us + timeout_us)

    def check_and_complete(self, tp: str) -> None:
        """Something has changed about a partition: answer the operations that it completes."""
        watching = self.state.watchers.get(tp)
        if watching:
            for request in list(watching):
                self.check(request)

    def check(self, request: int) -> None:
        """Answer an operation if that can be done by now."""
        operation = self.find(request)
        if operation is not None:
            answer = self._try_complete(operation)
            if answer is not None:
                self.complete(operation, answer)

    def find(self, request: int) -> Operation | None:
        """The operation that waits under a request's number; None: there is none."""
        operation: Operation | None = self.state.operations.get(request)
        return operation

    def complete(self, operation: Operation, answer: Answer) -> None:
        """Answer an operation that waits, whatever it waits for."""
        self.forget(operation.request)
        self._on_complete(operation, answer)

    def expire(self) -> None:
        """Answer the operations whose time is over."""
        for request in self._timers.overdue(self._timeout):
            operation = self.find(int(request))
            if operation is not None:
                self.complete(operation, self._on_expiration(operation))

    def forget(self, request: int) -> None:
        """Nobody waits for the answer to a request any more."""
        operation = self.state.operations.pop(request, None)
        if operation is None:
            return
        self._timers.clear_deadline(self._timeout, request)
        watchers = self.state.watchers
        for tp in self._partitions(operation):
            watching = watchers[tp]
            del watching[request]
            if not watching:
                del watchers[tp]
