"""Sending of markers to the leaders of a transaction's partitions.

Each leader receives the markers for its partitions in one request; failed ones are sent again, to
the leader at that time. Source: ``TransactionMarkerChannelManager`` and
``TransactionMarkerRequestCompletionHandler`` 0.11 to 4.1.
"""

from collections.abc import Callable, Iterable
from typing import Final

from emulator.broker_context import BrokerContext
from emulator.common.errors import NONE
from emulator.coordinator.own_requests import OwnRequests
from emulator.coordinator.transaction_metadata import (
    PREPARE_COMMIT,
    Markers,
    Transaction,
    TransactionCoordinatorState,
)
from emulator.protocol import ConnectionLost, WriteTxnMarkersRequest, WriteTxnMarkersResponse

TASK: Final = "transactions"
ASKER: Final = "markers"
RETRY_US: Final = 50_000
"""The backoff before failed markers are sent again (reconnect.backoff.ms)."""
TIMEOUT_US: Final = 30_000_000
"""The timeout of a request to a leader (request.timeout.ms)."""
GIVEN_UP: Final = ("INVALID_PRODUCER_EPOCH", "TRANSACTION_COORDINATOR_FENCED")
"""Errors for a fenced coordinator: another one completes the transaction."""

Write = Callable[[int, int, WriteTxnMarkersRequest], None]


class TransactionMarkers:
    """Sends the markers of the transactions that a broker coordinates."""

    def __init__(
        self,
        context: BrokerContext,
        state: TransactionCoordinatorState,
        own: OwnRequests,
        write: Write,
        completed: Callable[[str], None],
    ) -> None:
        """Act in ``context``; ``write`` handles the markers that this broker writes itself.

        ``completed`` is called with a transaction whose markers are all written.
        """
        self.context = context
        self.state = state
        self.own = own
        own.on_response(ASKER, lambda number, message: self.on_response(-number, message))
        self.timers = context.timers
        self._write = write
        self.completed = completed

    def send(self, transaction: Transaction, coordinator_epoch: int) -> None:
        """Send the markers not yet in flight; deleted partitions need none."""
        name, leader_of = transaction.id, self.context.metadata.leader
        transaction.partitions = [tp for tp in transaction.partitions if leader_of(tp) is not None]
        under_way = {
            tp
            for sent in self.state.sent.values()
            if sent.transactional_id == name
            for tp in sent.partitions
        }
        by_leader: dict[int, list[str]] = {}
        for tp in transaction.partitions:
            leader = leader_of(tp)
            if leader is not None and tp not in under_way:
                by_leader.setdefault(leader, []).append(tp)
        if by_leader.pop(-1, None):
            self.later(name)  # they have no leader now
        for broker, partitions in by_leader.items():
            request = WriteTxnMarkersRequest(
                transaction.producer_id,
                transaction.epoch,
                coordinator_epoch,
                transaction.state == PREPARE_COMMIT,
                partitions,
            )
            self._send(name, broker, request)
        if not transaction.partitions:
            self.completed(name)

    def _send(self, name: str, broker: int, request: WriteTxnMarkersRequest) -> None:
        context = self.context
        if broker == context.id:
            number = self.own.number(ASKER)
            self.state.sent[-number] = Markers(name, broker, request.partitions)
            self._write(broker, number, request)
            return
        seq = context.network.send(context.id, broker, request)
        self.state.sent[seq] = Markers(name, broker, request.partitions)
        self.timers.set_deadline(TASK, f"sent {seq}", context.kernel.now + TIMEOUT_US)

    def on_response(self, request: int, message: WriteTxnMarkersResponse) -> None:
        """Handle a leader's response to a request to write markers."""
        sent = self._ended(request)
        if sent is None:
            return
        transaction = self.state.transactions.get(sent.transactional_id)
        if transaction is None or transaction.producer_id != message.producer_id:
            return
        for tp, error in message.errors.items():
            if error == NONE and tp in transaction.partitions:
                transaction.partitions.remove(tp)
        errors = [error for error in message.errors.values() if error != NONE]
        if any(error in GIVEN_UP for error in errors):
            return
        if errors:
            self.later(sent.transactional_id)
        elif not transaction.partitions:
            self.completed(sent.transactional_id)

    def _ended(self, request: int) -> Markers | None:
        self.timers.clear_deadline(TASK, f"sent {request}")
        return self.state.sent.pop(request, None)

    def later(self, name: str) -> None:
        """Schedule a retry of a transaction's markers."""
        self.timers.set_deadline(TASK, f"markers {name}", self.context.kernel.now + RETRY_US)

    def forget(self, name: str) -> None:
        """Stop sending a transaction's markers: another broker completes it."""
        self.timers.clear_deadline(TASK, f"markers {name}")
        mine = [seq for seq, sent in self.state.sent.items() if sent.transactional_id == name]
        for seq in mine:
            self._ended(seq)

    def connection_lost(self, message: ConnectionLost) -> None:
        """Retry the requests that a broken connection has lost."""
        for seq, sent in list(self.state.sent.items()):
            if sent.broker == message.peer and message.request in (0, seq):
                self._ended(seq)
                self.later(sent.transactional_id)

    def due(self, deadlines: Iterable[str]) -> list[str]:
        """The transactions whose markers have to be resent, by their expired deadlines."""
        transactions: dict[str, None] = {}
        for of in deadlines:
            kind, _, name = of.partition(" ")
            if kind == "markers":
                transactions[name] = None
            elif kind == "sent":
                sent = self._ended(int(name))
                if sent is not None:
                    self.context.network.give_up(self.context.id, sent.broker)
                    transactions[sent.transactional_id] = None
        return list(transactions)
