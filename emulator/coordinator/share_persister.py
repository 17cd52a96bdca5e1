"""Requests of a broker to share coordinators, which are tried again while that may help.

A partition's leader reads and writes the state of its share-partitions, a group coordinator begins,
deletes and sums it up. Source: ``DefaultStatePersister`` and ``PersisterStateManager`` 4.1.
"""

from collections.abc import Callable
from typing import Final

from msgspec import field

from emulator.broker_context import BrokerContext
from emulator.common.errors import LOADING
from emulator.coordinator import internal_topics
from emulator.coordinator.internal_topics import SHARE_STATE
from emulator.coordinator.own_requests import OwnRequests
from emulator.coordinator.retried_requests import Retried, RetriedRequests, RetryState
from emulator.coordinator.share_state.requests import Request
from emulator.protocol import ShareGroupStateResponse

TASK: Final = "share-persister"
RETRIABLE: Final = ("COORDINATOR_NOT_AVAILABLE", LOADING, "NOT_COORDINATOR")
UNKNOWN: Final = "UNKNOWN_TOPIC_OR_PARTITION"
"""A topic that the coordinator may not know as yet; the request is tried again from 4.2 on."""

Answered = Callable[[int, ShareGroupStateResponse], None]
"""Called with the number of the request and its outcome."""


class Pending(Retried, kw_only=True, array_like=True):
    """A request about a share-partition's state, and who asked."""

    asker: str
    message: Request


class PersisterState(RetryState, array_like=True):
    """The requests that are under way, by number."""

    pending: dict[int, Pending] = field(default_factory=dict)
    partition_count: int = 0


class SharePersister(RetriedRequests[Pending]):
    """Sends requests to share coordinators."""

    def __init__(
        self,
        context: BrokerContext,
        state: PersisterState,
        own: OwnRequests,
        handle: Callable[[int, int, Request], None],
    ) -> None:
        """Act in ``context``; ``handle`` takes the requests that this broker answers itself."""
        super().__init__(TASK, context, state, own, state.pending)
        self.state = state
        self._handle = handle
        self._answered: dict[str, Answered] = {}
        knows_late = context.profile.has("share_state_asked_after_unknown_errors")
        self._retriable = (*RETRIABLE, UNKNOWN) if knows_late else RETRIABLE

    def on_answer(self, asker: str, answered: Answered) -> None:
        """Pass the outcomes of ``asker``'s requests to ``answered``."""
        self._answered[asker] = answered

    def send(self, asker: str, number: int, message: Request) -> None:
        """Send a request; its outcome comes later, but maybe before this returns."""
        self.pending[number] = Pending(asker=asker, message=message)
        self.attempt(number)

    def broker_of(self, number: int) -> int | None:
        """The share coordinator: the leader of a partition of a topic, which is made if need be."""
        key = str(self.pending[number].message.key)
        tp = internal_topics.partition_of(self.context, SHARE_STATE, self.state, key)
        leader = self.context.metadata.leader(tp)
        if leader is None:
            internal_topics.create(self.context, SHARE_STATE)
        return leader

    def message_of(self, number: int) -> Request:
        return self.pending[number].message

    def handle(self, number: int, message: Request) -> None:
        self._handle(self.context.id, number, message)

    def is_retriable(self, error: str) -> bool:
        return error in self._retriable

    def failed(self, number: int, error: str) -> None:
        key = self.pending[number].message.key
        self.answered(number, ShareGroupStateResponse(0, key, error))

    def answered(self, number: int, response: ShareGroupStateResponse) -> None:
        pending = self.pending.pop(number)
        self._answered[pending.asker](number, response)
