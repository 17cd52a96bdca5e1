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

    def begin(self, producer: Producer, wanted: BeginTransaction) -> int:
        """Begin a transaction; return the job, under which its end is recorded."""
        name = wanted.transactional_id or producer.name
        job = self.context.new_id()
        found = producer.transaction
        if found is None or found.transactional_id != name or not found.is_ready:
            found = producer.transaction = TransactionState(name, wanted.timeout_us)
        found.job, found.is_open, found.error, found.partitions = job, True, NONE, {}
        if found.is_ready:
            self._finish(found, NONE)
        else:
            self._call(producer, found, INIT)
        return job

    def end(self, producer: Producer, *, commit: bool) -> int:
        """Commit or abort once all batches are acknowledged or have failed; return the job."""
        found = producer.transaction
        assert found is not None
        job = found.job = self.context.new_id()
        found.ending = COMMIT if commit else ABORT
        self.look(producer)
        return job

    # ---- what a producer's batches need

    def covers(self, producer: Producer, tp: str) -> bool:
        """Whether a batch for a partition may be sent."""
        found = producer.transaction
        if found is None or self.by_leaders:
            if found is not None:
                found.partitions[tp] = None
            return True
        return tp in found.partitions

    def look(self, producer: Producer) -> None:
        """Add the partitions that batches wait for, or else end the transaction if it is due."""
        found = producer.transaction
        if found is None or found.call:
            return
        waiting = {flight.tp: None for flight in producer.flights if flight.phase == ADDING}
        if waiting:
            found.adding = list(waiting)
            self._call(producer, found, ADD)
        elif found.ending and not producer.jobs and not producer.flights:
            if found.ending == COMMIT and found.error != NONE:
                found.ending = ""
                self._finish(found, found.error)
            elif found.partitions:
                self._call(producer, found, found.ending)
            else:
                self._ended(found, NONE)

    # ---- requests

    def _call(self, producer: Producer, found: TransactionState, call: str) -> None:
        found.call, found.deadline_us = call, self.context.now + MAX_BLOCK_US
        self._ask(producer, found)

    def _ask(self, producer: Producer, found: TransactionState) -> None:
        if found.coordinator >= 0:
            self._send(producer, found, found.coordinator, self._request(producer, found))
            return
        if not found.left:
            found.left = self.connections.candidates(producer.connections)
        request = FindCoordinatorRequest(found.transactional_id, is_transaction=True)
        self._send(producer, found, found.left.pop(0), request)

    def _request(self, producer: Producer, found: TransactionState) -> AnyMessage:
        name, identity = found.transactional_id, producer.identity
        if found.call == INIT:
            return InitProducerIdRequest(name, found.timeout_us)
        producer_id, epoch = identity.producer_id, identity.epoch
        if found.call == ADD:
            return AddPartitionsToTxnRequest(name, producer_id, epoch, found.adding)
        return EndTxnRequest(name, producer_id, epoch, found.call == COMMIT, self.by_leaders)

    def _send(
        self, producer: Producer, found: TransactionState, broker: int, request: AnyMessage
    ) -> None:
        found.target, found.request = broker, self.context.send(broker, request)
        self._limit(producer, found, REQUEST_US if found.coordinator >= 0 else RESPONSE_US)

    def _limit(self, producer: Producer, found: TransactionState, delay_us: int) -> None:
        found.token = self.context.new_id()
        self.context.later(TASK, producer.name, found.token, delay_us)

    # ---- responses

    def take(self, source: int, message: AnyMessage) -> bool:
        """Handle a response; return False if it answers no request of a transactional producer."""
        request = getattr(message, "request", 0)
        for producer in self.context.state.producers.values():
            found = producer.transaction
            if found is not None and request and found.request == request:
                found.request = 0
                self.connections.responded(producer.connections, source)
                self._take(producer, found, message)
                return True
        return False

    def _take(self, producer: Producer, found: TransactionState, message: AnyMessage) -> None:
        match message:
            case FindCoordinatorResponse(error="NONE"):
                found.coordinator, found.left = message.coordinator, []
                self._ask(producer, found)
            case FindCoordinatorResponse():
                self._again(producer, found, message.error)
            case AddPartitionsToTxnResponse():
                errors = [error for error in message.errors.values() if error != NONE]
                skipped = "OPERATION_NOT_ATTEMPTED"
                self._result(
                    producer, found, next((e for e in errors if e != skipped), NONE), message
                )
            case InitProducerIdResponse() | EndTxnResponse():
                self._result(producer, found, message.error, message)

    def _result(
        self, producer: Producer, found: TransactionState, error: str, message: AnyMessage
    ) -> None:
        if error == NONE:
            self._done(producer, found, message)
        elif error in (*ELSEWHERE, LOADING, CONCURRENT) or ERRORS[error].retriable:
            self._again(producer, found, error)
        else:
            self._failed(producer, found, error)

    def _again(self, producer: Producer, found: TransactionState, error: str) -> None:
        """Ask again after a backoff, until the time is over."""
        if error in ELSEWHERE:
            found.coordinator = -1
        if self.context.now >= found.deadline_us:
            self._failed(producer, found, error)
            return
        is_soon = error == CONCURRENT and found.call == ADD and not found.partitions
        found.target = -1
        self._limit(producer, found, SOON_US if is_soon else self.backoff_us)

    def _done(self, producer: Producer, found: TransactionState, message: AnyMessage) -> None:
        call, found.call = found.call, ""
        if isinstance(message, InitProducerIdResponse):
            producer.identity = Identity(message.producer_id, message.producer_epoch)
            found.is_ready = True
            self._finish(found, NONE)
        elif call == ADD:
            found.partitions |= dict.fromkeys(found.adding)
            self._added(producer, NONE)
        elif isinstance(message, EndTxnResponse):
            if self.by_leaders and message.producer_id >= 0:
                producer.identity.producer_id = message.producer_id
                producer.identity.epoch = message.producer_epoch
            self._ended(found, NONE)

    def _failed(self, producer: Producer, found: TransactionState, error: str) -> None:
        """Give up: the producer asks for a new epoch before its next transaction."""
        call, found.call, found.is_ready = found.call, "", False
        if call == ADD:
            found.error = error
            self._added(producer, error)
        else:
            self._ended(found, error)

    def _ended(self, found: TransactionState, error: str) -> None:
        if found.error != NONE:
            found.is_ready = False
        found.is_open, found.ending, found.partitions = False, "", {}
        self._finish(found, error)

    def _finish(self, found: TransactionState, error: str) -> None:
        self.context.state.finished[found.job] = error

    # ---- time and connections

    def timer(self, name: str, token: int) -> None:
        """Handle the end of a backoff, or a request timeout."""
        producer = self.context.state.producers[name]
        found = producer.transaction
        if found is None or found.token != token or not found.call:
            return
        if found.request:
            self.context.withdraw(found.target, found.request)
            self.connections.is_silent(producer.connections, found.target)
            self._lost(producer, found)
        else:
            self._ask(producer, found)

    def connection_lost(self, message: ConnectionLost) -> None:
        """Find the coordinator again if the connection to it broke."""
        for producer in self.context.state.producers.values():
            found = producer.transaction
            if found is None or not found.request or found.target != message.peer:
                continue
            if message.request in (0, found.request):
                self.connections.broke(producer.connections, message.peer)
                self._lost(producer, found)

    def _lost(self, producer: Producer, found: TransactionState) -> None:
        found.request = 0
        self._again(producer, found, "NETWORK_EXCEPTION")
