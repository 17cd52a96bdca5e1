"""Transactions of scripted producers (KIP-98): ids, partitions, commit and abort.

A producer asks the coordinator of its transactional id for a producer id and epoch before its first
transaction, adds each partition before it writes there, and ends the transaction when all its
batches are acknowledged. It has one request to the coordinator in flight. With transaction.version
2 (KIP-890, from 4.0 on) leaders add the partitions, and the end gives the producer the next epoch.
Source: ``TransactionManager`` of the Java client 0.11 to 4.1.
"""

from collections.abc import Callable
from typing import Final

from emulator.clients.context import ClientContext
from emulator.clients.network_client import RESPONSE_US, NetworkClient
from emulator.clients.state import ADDING, Identity, Producer, TransactionState
from emulator.common.errors import ERRORS, LOADING, NONE
from emulator.inputs.statements import BeginTransaction
from emulator.protocol import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    AnyMessage,
    ConnectionLost,
    EndTxnRequest,
    EndTxnResponse,
    FindCoordinatorRequest,
    FindCoordinatorResponse,
    InitProducerIdRequest,
    InitProducerIdResponse,
)

TASK: Final = "transaction"
"""The timer of a producer's request to its coordinator."""
MAX_BLOCK_US: Final = 60_000_000
"""How long beginning or ending a transaction may take (max.block.ms)."""
REQUEST_US: Final = 30_000_000
"""The timeout of a request to the coordinator (request.timeout.ms)."""
SOON_US: Final = 20_000
"""The first backoff while the previous transaction is being completed (KAFKA-5477)."""
INIT: Final = "init"
ADD: Final = "add"
COMMIT: Final = "commit"
ABORT: Final = "abort"
CONCURRENT: Final = "CONCURRENT_TRANSACTIONS"
ELSEWHERE: Final = ("NOT_COORDINATOR", "COORDINATOR_NOT_AVAILABLE", "NETWORK_EXCEPTION")
"""Errors after which the coordinator is looked up again."""
BY_LEADERS_SINCE: Final = 2
"""The transaction.version from which leaders add partitions to transactions."""


class TransactionManager:
    """The requests of transactional producers to their coordinators."""

    def __init__(
        self,
        context: ClientContext,
        connections: NetworkClient,
        *,
        added: Callable[[Producer, str], None],
    ) -> None:
        """Use ``context``; ``added`` is called with the error when partitions have been added."""
        self.context = context
        self.connections = connections
        self._added = added
        self.backoff_us = context.producer_defaults.retry_backoff_us

    @property
    def by_leaders(self) -> bool:
        """Whether leaders add partitions, so that producers need not."""
        return self.context.transaction_version() >= BY_LEADERS_SINCE

    # ---- statements

    def begin(self, producer: Producer, statement: BeginTransaction) -> int:
        """Begin a transaction; return the job, under which its end is recorded."""
        name = statement.transactional_id or producer.name
        job = self.context.new_id()
        transaction = producer.transaction
        if transaction is None or transaction.transactional_id != name or not transaction.is_ready:
            transaction = producer.transaction = TransactionState(name, statement.timeout_us)
        transaction.job, transaction.is_open, transaction.error, transaction.partitions = (
            job,
            True,
            NONE,
            {},
        )
        if transaction.is_ready:
            self._finish(transaction, NONE)
        else:
            self._call(producer, transaction, INIT)
        return job

    def end(self, producer: Producer, *, commit: bool) -> int:
        """Commit or abort once all batches are acknowledged or have failed; return the job."""
        transaction = producer.transaction
        assert transaction is not None
        job = transaction.job = self.context.new_id()
        transaction.ending = COMMIT if commit else ABORT
        self.look(producer)
        return job

    # ---- what a producer's batches need

    def covers(self, producer: Producer, tp: str) -> bool:
        """Whether a batch for a partition may be sent."""
        transaction = producer.transaction
        if transaction is None or self.by_leaders:
            if transaction is not None:
                transaction.partitions[tp] = None
            return True
        return tp in transaction.partitions

    def look(self, producer: Producer) -> None:
        """Add the partitions that batches wait for, or else end the transaction if it is due."""
        transaction = producer.transaction
        if transaction is None or transaction.call:
            return
        waiting = {flight.tp: None for flight in producer.flights if flight.phase == ADDING}
        if waiting:
            transaction.adding = list(waiting)
            self._call(producer, transaction, ADD)
        elif transaction.ending and not producer.jobs and not producer.flights:
            if transaction.ending == COMMIT and transaction.error != NONE:
                transaction.ending = ""
                self._finish(transaction, transaction.error)
            elif transaction.partitions:
                self._call(producer, transaction, transaction.ending)
            else:
                self._ended(transaction, NONE)

    # ---- requests

    def _call(self, producer: Producer, transaction: TransactionState, call: str) -> None:
        transaction.call, transaction.deadline_us = call, self.context.now + MAX_BLOCK_US
        self._ask(producer, transaction)

    def _ask(self, producer: Producer, transaction: TransactionState) -> None:
        if transaction.coordinator >= 0:
            self._send(
                producer, transaction, transaction.coordinator, self._request(producer, transaction)
            )
            return
        if not transaction.left:
            transaction.left = self.connections.candidates(producer.connections)
        request = FindCoordinatorRequest(transaction.transactional_id, is_transaction=True)
        self._send(producer, transaction, transaction.left.pop(0), request)

    def _request(self, producer: Producer, transaction: TransactionState) -> AnyMessage:
        name, identity = transaction.transactional_id, producer.identity
        if transaction.call == INIT:
            return InitProducerIdRequest(name, transaction.timeout_us)
        producer_id, epoch = identity.producer_id, identity.epoch
        if transaction.call == ADD:
            return AddPartitionsToTxnRequest(name, producer_id, epoch, transaction.adding)
        return EndTxnRequest(name, producer_id, epoch, transaction.call == COMMIT, self.by_leaders)

    def _send(
        self, producer: Producer, transaction: TransactionState, broker: int, request: AnyMessage
    ) -> None:
        transaction.target, transaction.request = broker, self.context.send(broker, request)
        self._limit(
            producer, transaction, REQUEST_US if transaction.coordinator >= 0 else RESPONSE_US
        )

    def _limit(self, producer: Producer, transaction: TransactionState, delay_us: int) -> None:
        transaction.token = self.context.new_id()
        self.context.later(TASK, producer.name, transaction.token, delay_us)

    # ---- responses

    def take(self, source: int, message: AnyMessage) -> bool:
        """Handle a response; return False if it answers no request of a transactional producer."""
        request = getattr(message, "request", 0)
        for producer in self.context.state.producers.values():
            transaction = producer.transaction
            if transaction is not None and request and transaction.request == request:
                transaction.request = 0
                self.connections.responded(producer.connections, source)
                self._take(producer, transaction, message)
                return True
        return False

    def _take(self, producer: Producer, transaction: TransactionState, message: AnyMessage) -> None:
        match message:
            case FindCoordinatorResponse(error="NONE"):
                transaction.coordinator, transaction.left = message.coordinator, []
                self._ask(producer, transaction)
            case FindCoordinatorResponse():
                self._again(producer, transaction, message.error)
            case AddPartitionsToTxnResponse():
                errors = [error for error in message.errors.values() if error != NONE]
                skipped = "OPERATION_NOT_ATTEMPTED"
                self._result(
                    producer, transaction, next((e for e in errors if e != skipped), NONE), message
                )
            case InitProducerIdResponse() | EndTxnResponse():
                self._result(producer, transaction, message.error, message)

    def _result(
        self, producer: Producer, transaction: TransactionState, error: str, message: AnyMessage
    ) -> None:
        if error == NONE:
            self._done(producer, transaction, message)
        elif error in (*ELSEWHERE, LOADING, CONCURRENT) or ERRORS[error].retriable:
            self._again(producer, transaction, error)
        else:
            self._failed(producer, transaction, error)

    def _again(self, producer: Producer, transaction: TransactionState, error: str) -> None:
        """Ask again after a backoff, until the time is over."""
        if error in ELSEWHERE:
            transaction.coordinator = -1
        if self.context.now >= transaction.deadline_us:
            self._failed(producer, transaction, error)
            return
        is_soon = error == CONCURRENT and transaction.call == ADD and not transaction.partitions
        transaction.target = -1
        self._limit(producer, transaction, SOON_US if is_soon else self.backoff_us)

    def _done(self, producer: Producer, transaction: TransactionState, message: AnyMessage) -> None:
        call, transaction.call = transaction.call, ""
        if isinstance(message, InitProducerIdResponse):
            producer.identity = Identity(message.producer_id, message.producer_epoch)
            transaction.is_ready = True
            self._finish(transaction, NONE)
        elif call == ADD:
            transaction.partitions |= dict.fromkeys(transaction.adding)
            self._added(producer, NONE)
        elif isinstance(message, EndTxnResponse):
            if self.by_leaders and message.producer_id >= 0:
                producer.identity.producer_id = message.producer_id
                producer.identity.epoch = message.producer_epoch
            self._ended(transaction, NONE)

    def _failed(self, producer: Producer, transaction: TransactionState, error: str) -> None:
        """Give up: the producer asks for a new epoch before its next transaction."""
        call, transaction.call, transaction.is_ready = transaction.call, "", False
        if call == ADD:
            transaction.error = error
            self._added(producer, error)
        else:
            self._ended(transaction, error)

    def _ended(self, transaction: TransactionState, error: str) -> None:
        if transaction.error != NONE:
            transaction.is_ready = False
        transaction.is_open, transaction.ending, transaction.partitions = False, "", {}
        self._finish(transaction, error)

    def _finish(self, transaction: TransactionState, error: str) -> None:
        self.context.state.finished[transaction.job] = error

    # ---- time and connections

    def timer(self, name: str, token: int) -> None:
        """Handle the end of a backoff, or a request timeout."""
        producer = self.context.state.producers[name]
        transaction = producer.transaction
        if transaction is None or transaction.token != token or not transaction.call:
            return
        if transaction.request:
            self.context.withdraw(transaction.target, transaction.request)
            self.connections.is_silent(producer.connections, transaction.target)
            self._lost(producer, transaction)
        else:
            self._ask(producer, transaction)

    def connection_lost(self, message: ConnectionLost) -> None:
        """Find the coordinator again if the connection to it broke."""
        for producer in self.context.state.producers.values():
            transaction = producer.transaction
            if transaction is None or not transaction.request or transaction.target != message.peer:
                continue
            if message.request in (0, transaction.request):
                self.connections.broke(producer.connections, message.peer)
                self._lost(producer, transaction)

    def _lost(self, producer: Producer, transaction: TransactionState) -> None:
        transaction.request = 0
        self._again(producer, transaction, "NETWORK_EXCEPTION")
