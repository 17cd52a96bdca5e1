"""Requests that are answered later (kafka.server.DelayedOperationPurgatory).

An operation is watched under the partitions whose changes may complete it. Code that changes one
triggers a check; the purgatory's owner knows what an operation waits for and how it is answered. A
broker has one purgatory each for produces (acks=all, waiting for the high watermark), for
deletions of records, and for the fetches of consumers and of share groups.

Followers' fetches are parked in their sessions (:mod:`emulator.broker.replication.fetch_session`),
which know their partitions: the cost of parking one does not depend on how many these are.
"""

from collections.abc import Callable, Iterable
from typing import Any, Generic, TypeVar

from msgspec import Struct, field

from emulator.broker_context import BrokerContext
from emulator.replication.partition import (
    CompleteProduces,
    MoveHighWatermark,
    Partition,
    StopLeading,
)


class DelayedOperation(Struct, frozen=True, array_like=True, gc=False):
    """The request with number ``request``, whose response ``client`` waits for."""

    request: int
    client: int


Operation = TypeVar("Operation", bound=DelayedOperation)
Response = TypeVar("Response")


class PurgatoryState(Struct, array_like=True):
    """The waiting operations (of one kind) by request, and the watchers of each partition.

    Watchers are request numbers, oldest first.
    """

    operations: dict[int, Any] = field(default_factory=dict)
    watchers: dict[str, dict[int, None]] = field(default_factory=dict)


class DelayedOperationPurgatory(Generic[Operation, Response]):
    """Keeps operations of one kind until they can be completed, or time out."""

    def __init__(
        self,
        context: BrokerContext,
        state: PurgatoryState,
        timeout: str,
        *,
        partitions: Callable[[Operation], Iterable[str]],
        try_complete: Callable[[Operation], Response | None],
        on_expiration: Callable[[Operation], Response],
        on_complete: Callable[[Operation, Response], None],
    ) -> None:
        """Keep the operations in ``state``, with deadlines of the timer ``timeout``.

        ``partitions`` returns what an operation is watched under; it is constant while it waits.
        ``try_complete`` returns the response to an operation, or None if it has to keep waiting;
        ``on_expiration`` returns the response on timeout. ``on_complete`` sends a response.
        """
        self._timers = context.timers
        self._kernel = context.kernel
        self.state = state
        self.timeout = timeout
        self._partitions = partitions
        self._try_complete = try_complete
        self._on_expiration = on_expiration
        self._on_complete = on_complete

    def try_complete_else_watch(self, operation: Operation, timeout_us: int) -> None:
        """Complete an operation now if possible, else within ``timeout_us``."""
        response = self._try_complete(operation)
        if response is None and timeout_us <= 0:
            response = self._on_expiration(operation)
        if response is None:
            self.watch(operation, timeout_us)
        else:
            self._on_complete(operation, response)

    def watch(self, operation: Operation, timeout_us: int) -> None:
        """Watch an operation for at most ``timeout_us`` (microseconds, above 0)."""
        request = operation.request
        self.state.operations[request] = operation
        watchers = self.state.watchers
        for tp in self._partitions(operation):
            watchers.setdefault(tp, {})[request] = None
        self._timers.set_deadline(self.timeout, request, self._kernel.state.now_us + timeout_us)

    def check_and_complete(self, tp: str) -> None:
        """Complete the operations that a change to a partition allows to complete."""
        watching = self.state.watchers.get(tp)
        if watching:
            for request in list(watching):
                self.check(request)

    def check(self, request: int) -> None:
        """Complete an operation if that is possible by now."""
        operation = self.state.operations.get(request)
        if operation is not None:
            response = self._try_complete(operation)
            if response is not None:
                self.complete(operation, response)

    def find(self, request: int) -> Operation | None:
        """The waiting operation with a request number; None if there is none."""
        operation: Operation | None = self.state.operations.get(request)
        return operation

    def complete(self, operation: Operation, response: Response) -> None:
        """Complete a waiting operation with the given response."""
        request = operation.request
        if self.state.operations.pop(request, None) is not None:
            self._timers.clear_deadline(self.timeout, request)
            watchers = self.state.watchers
            for tp in self._partitions(operation):
                watching = watchers[tp]
                del watching[request]
                if not watching:
                    del watchers[tp]
        self._on_complete(operation, response)

    def expire(self) -> None:
        """Complete the operations that have timed out."""
        for request in self._timers.overdue(self.timeout):
            assert isinstance(request, int)
            operation = self.state.operations.get(request)
            if operation is not None:
                self.complete(operation, self._on_expiration(operation))


class DelayedOperations(Struct, eq=False):
    """The purgatories that changes to a partition concern (``kafka.cluster.DelayedOperations``).

    ``fetches`` are those of consumers and of share groups.
    """

    produces: DelayedOperationPurgatory[Any, Any]
    fetches: tuple[DelayedOperationPurgatory[Any, Any], ...]

    def read_more(self, replica: Partition, _effect: MoveHighWatermark) -> None:
        """Check the waiting fetches: there may be more to read."""
        for purgatory in self.fetches:
            purgatory.check_and_complete(replica.tp)

    def complete_produces(
        self, replica: Partition, _effect: CompleteProduces | StopLeading
    ) -> None:
        """Check the waiting produces: the HW has moved, or the leadership has ended."""
        self.produces.check_and_complete(replica.tp)
