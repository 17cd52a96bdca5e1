"""Requests of a broker to others, or to itself, that are tried again while that may help.

Each further attempt waits twice as long. Source: ``PersisterStateManager`` 4.1,
``ShareGroupDLQStateManager`` 4.4.
"""

from typing import Any, Final, Generic, TypeVar

from msgspec import Struct, field

from emulator.broker_context import BrokerContext
from emulator.coordinator.own_requests import OwnRequests
from emulator.protocol import AnyMessage, ConnectionLost

BACKOFF_US: Final = 1_000_000
"""How long the first retry waits; each further one twice as long."""
ATTEMPTS_MAX: Final = 5
TIMEOUT_US: Final = 30_000_000
"""The timeout of a request (request.timeout.ms)."""


class Retried(Struct, array_like=True):
    """A request that is not answered: how often it was sent, and to which broker."""

    attempts: int = 0
    broker: int = -1


PendingT = TypeVar("PendingT", bound=Retried)


class RetryState(Struct, array_like=True):
    """The requests that are under way: their numbers by those with which they were sent."""

    last: int = 0
    sent: dict[int, int] = field(default_factory=dict)
    own: dict[int, int] = field(default_factory=dict)


class RetriedRequests(Generic[PendingT]):
    """Sends requests, by number; ``task`` is the name of their timers."""

    def __init__(
        self,
        task: str,
        context: BrokerContext,
        state: RetryState,
        own: OwnRequests,
        pending: dict[int, PendingT],
    ) -> None:
        """Act in ``context``; ``pending`` are the requests that are not answered."""
        self.task = task
        self.context = context
        self._retries = state
        self.own = own
        self.pending = pending
        own.on_response(task, self._own_response)

    # ---- what requests do otherwise

    def broker_of(self, number: int) -> int | None:
        """The broker to send a request to; None if there is none now."""
        raise NotImplementedError

    def message_of(self, number: int) -> AnyMessage:
        """The request as it is sent."""
        raise NotImplementedError

    def handle(self, number: int, message: Any) -> None:  # noqa: ANN401 - one of the requests
        """Let this broker handle a request itself, with the number of the request to it."""
        raise NotImplementedError

    def is_retriable(self, error: str) -> bool:
        """Whether a request may succeed later."""
        raise NotImplementedError

    def failed(self, number: int, error: str) -> None:
        """End a request that was tried too often."""
        raise NotImplementedError

    def answered(self, number: int, response: Any) -> None:  # noqa: ANN401 - its response
        raise NotImplementedError

    # ---- sending

    def number(self) -> int:
        self._retries.last += 1
        return self._retries.last

    def attempt(self, number: int) -> None:
        """Send a request to the broker that it is for now, or wait for one."""
        context, pending = self.context, self.pending[number]
        pending.attempts += 1
        broker = self.broker_of(number)
        if broker is None or broker < 0:
            self._later(number, "COORDINATOR_NOT_AVAILABLE")
            return
        pending.broker = broker
        message = self.message_of(number)
        if broker == context.id:
            own_number = self.own.number(self.task)
            self._retries.own[own_number] = number
            self.handle(own_number, message)
        else:
            seq = context.network.send(context.id, broker, message)
            self._retries.sent[seq] = number
            context.timers.set_deadline(self.task, f"sent {seq}", context.kernel.now + TIMEOUT_US)

    def _later(self, number: int, error: str) -> None:
        """Try again after a while, if it was not tried too often."""
        attempts = self.pending[number].attempts
        if attempts >= ATTEMPTS_MAX:
            self.failed(number, error)
            return
        self.attempt_after(number, BACKOFF_US * 2 ** (attempts - 1))

    def attempt_after(self, number: int, delay_us: int) -> None:
        """Send a request after a while: by a timer, not in a call of what has just ended."""
        due_us = self.context.kernel.now + delay_us
        self.context.timers.set_deadline(self.task, f"retry {number}", due_us)

    # ---- responses

    def on_response(self, _source: int, _request: int, message: Any) -> None:  # noqa: ANN401
        number = self._ended(message.request)
        if number is not None:
            self._take(number, message)

    def _own_response(self, own_number: int, message: Any) -> None:  # noqa: ANN401 - its response
        number = self._retries.own.pop(own_number, None)
        if number is not None:
            self._take(number, message)

    def _take(self, number: int, message: Any) -> None:  # noqa: ANN401 - the response
        if number not in self.pending:
            return
        if self.is_retriable(message.error):
            self._later(number, message.error)
        else:
            self.answered(number, message)

    def _ended(self, seq: int) -> int | None:
        self.context.timers.clear_deadline(self.task, f"sent {seq}")
        return self._retries.sent.pop(seq, None)

    def connection_lost(self, message: ConnectionLost) -> None:
        """Retry the requests that a broken connection has lost."""
        for seq, number in list(self._retries.sent.items()):
            pending = self.pending.get(number)
            is_lost = message.request in (0, seq)
            if pending is not None and pending.broker == message.peer and is_lost:
                self._ended(seq)
                self._later(number, "NETWORK_EXCEPTION")

    def tick(self) -> None:
        """Retry what is due, and what was not answered in time."""
        for key in self.context.timers.overdue(self.task):
            kind, _, number = str(key).partition(" ")
            if kind == "retry":
                if int(number) in self.pending:
                    self.attempt(int(number))
                continue
            sent = self._ended(int(number))
            if sent is not None and sent in self.pending:
                self.context.network.give_up(self.context.id, self.pending[sent].broker)
                self._later(sent, "REQUEST_TIMED_OUT")
