"""Requests of a broker to share coordinators, which are tried again while that may help.

A partition's leader reads and writes the state of its share-partitions, a group coordinator begins,
deletes and sums it up. Source: ``DefaultStatePersister`` and ``PersisterStateManager`` 4.1.
"""

from collections.abc import Callable
from typing import Final

from msgspec import Struct, field

from emulator.broker_context import BrokerContext
from emulator.common.errors import LOADING
from emulator.coordinator import internal_topics
from emulator.coordinator.internal_topics import SHARE_STATE
from emulator.coordinator.own_requests import OwnRequests
from emulator.coordinator.share_state.requests import Request
from emulator.protocol import ConnectionLost, ShareGroupStateResponse

TASK: Final = "share-persister"
ASKER: Final = "share-persister"
BACKOFF_US: Final = 1_000_000
"""How long the first retry waits; each further one twice as long."""
ATTEMPTS_MAX: Final = 5
TIMEOUT_US: Final = 30_000_000
"""The timeout of a request to a share coordinator (request.timeout.ms)."""
RETRIABLE: Final = ("COORDINATOR_NOT_AVAILABLE", LOADING, "NOT_COORDINATOR")
UNKNOWN: Final = "UNKNOWN_TOPIC_OR_PARTITION"
"""A topic that the coordinator may not know as yet; the request is tried again from 4.2 on."""

Answered = Callable[[int, ShareGroupStateResponse], None]
"""Called with the number of the request and its outcome."""


class Pending(Struct, array_like=True):
    """A request that is not answered: who asked, how often it was sent, and to which broker."""

    asker: str
    message: Request
    attempts: int = 0
    broker: int = -1


class PersisterState(Struct, array_like=True):
    """The requests that are under way, by number, and the numbers of those that were sent."""

    last: int = 0
    pending: dict[int, Pending] = field(default_factory=dict)
    sent: dict[int, int] = field(default_factory=dict)
    own: dict[int, int] = field(default_factory=dict)
    partition_count: int = 0


class SharePersister:
    """Sends requests to share coordinators."""

    def __init__(
        self,
        context: BrokerContext,
        state: PersisterState,
        own: OwnRequests,
        handle: Callable[[int, int, Request], None],
    ) -> None:
        """Act in ``context``; ``handle`` takes the requests that this broker answers itself."""
        self.context = context
        self.state = state
        self.own = own
        self._handle = handle
        own.on_response(ASKER, self._own_response)
        self._answered: dict[str, Answered] = {}
        knows_late = context.profile.has("share_locks_renewed")
        self.retriable = (*RETRIABLE, UNKNOWN) if knows_late else RETRIABLE

    def on_answer(self, asker: str, answered: Answered) -> None:
        """Pass the outcomes of ``asker``'s requests to ``answered``."""
        self._answered[asker] = answered

    def number(self) -> int:
        """Allocate a number for a request."""
        self.state.last += 1
        return self.state.last

    def send(self, asker: str, number: int, message: Request) -> None:
        """Send a request; its outcome comes later, but maybe before this returns."""
        self.state.pending[number] = Pending(asker, message)
        self._try(number)

    def _try(self, number: int) -> None:
        """Send a request to the coordinator as it is known now, or wait for one."""
        context, pending = self.context, self.state.pending[number]
        pending.attempts += 1
        tp = internal_topics.partition_of(
            context, SHARE_STATE, self.state, str(pending.message.key)
        )
        leader = context.metadata.leader(tp)
        if leader is None:
            internal_topics.create(context, SHARE_STATE)
        if leader is None or leader < 0:
            self._later(number, "COORDINATOR_NOT_AVAILABLE")
        elif leader == context.id:
            pending.broker = leader
            asked = self.own.number(ASKER)
            self.state.own[asked] = number
            self._handle(leader, asked, pending.message)
        else:
            pending.broker = leader
            seq = context.network.send(context.id, leader, pending.message)
            self.state.sent[seq] = number
            context.timers.set_deadline(TASK, f"sent {seq}", context.kernel.now + TIMEOUT_US)

    def _later(self, number: int, error: str) -> None:
        """Try again after a while, if it was not tried too often."""
        pending = self.state.pending[number]
        if pending.attempts >= ATTEMPTS_MAX:
            self._end(number, ShareGroupStateResponse(0, pending.message.key, error))
            return
        due_us = self.context.kernel.now + BACKOFF_US * 2 ** (pending.attempts - 1)
        self.context.timers.set_deadline(TASK, f"retry {number}", due_us)

    def _end(self, number: int, response: ShareGroupStateResponse) -> None:
        pending = self.state.pending.pop(number)
        self._answered[pending.asker](number, response)

    # ---- responses

    def on_response(self, _source: int, _request: int, message: ShareGroupStateResponse) -> None:
        """Handle the response of another broker."""
        number = self._ended(message.request)
        if number is not None:
            self._take(number, message)

    def _own_response(self, asked: int, message: ShareGroupStateResponse) -> None:
        number = self.state.own.pop(asked, None)
        if number is not None:
            self._take(number, message)

    def _take(self, number: int, message: ShareGroupStateResponse) -> None:
        pending = self.state.pending.get(number)
        if pending is None:
            return
        if message.error in self.retriable:
            self._later(number, message.error)
        else:
            self._end(number, message)

    def _ended(self, seq: int) -> int | None:
        self.context.timers.clear_deadline(TASK, f"sent {seq}")
        return self.state.sent.pop(seq, None)

    def connection_lost(self, message: ConnectionLost) -> None:
        """Retry the requests that a broken connection has lost."""
        for seq, number in list(self.state.sent.items()):
            pending = self.state.pending.get(number)
            is_lost = message.request in (0, seq)
            if pending is not None and pending.broker == message.peer and is_lost:
                self._ended(seq)
                self._later(number, "NETWORK_EXCEPTION")

    def tick(self) -> None:
        """Retry what is due, and what was not answered in time."""
        for of in self.context.timers.overdue(TASK):
            kind, _, number = str(of).partition(" ")
            if kind == "retry":
                if int(number) in self.state.pending:
                    self._try(int(number))
                continue
            asked = self._ended(int(number))
            if asked is not None and asked in self.state.pending:
                self.context.network.give_up(self.context.id, self.state.pending[asked].broker)
                self._later(asked, "REQUEST_TIMED_OUT")
