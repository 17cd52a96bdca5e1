"""The log of __transaction_state: the records that a coordinator writes and reads back.

A transaction's state takes effect once it is replicated. Source: ``TransactionStateManager`` 0.11
to 4.1 (``appendTransactionToLog``, ``loadTransactionMetadata``). Kafka writes keys and values in
binary formats of its own; here they are JSON, so that a log is readable.
"""

from collections.abc import Callable
from typing import Final

import msgspec

from emulator import events
from emulator.broker_context import BrokerContext
from emulator.coordinator import internal_topics
from emulator.coordinator.internal_topics import TRANSACTIONS
from emulator.coordinator.own_requests import OwnRequests
from emulator.coordinator.transaction_metadata import (
    DEAD,
    Transaction,
    TransactionCoordinatorState,
    TransactionStore,
)
from emulator.protocol import ProduceRequest, ProduceResponse, RecordBatch
from emulator.storage.log import Log

ASKER: Final = "transactions"
UNAVAILABLE: Final = "COORDINATOR_NOT_AVAILABLE"
STORING_ERRORS: Final = {
    "UNKNOWN_TOPIC_OR_PARTITION": UNAVAILABLE,
    "NOT_ENOUGH_REPLICAS": UNAVAILABLE,
    "NOT_ENOUGH_REPLICAS_AFTER_APPEND": UNAVAILABLE,
    "REQUEST_TIMED_OUT": UNAVAILABLE,
    "NOT_LEADER_OR_FOLLOWER": "NOT_COORDINATOR",
    "KAFKA_STORAGE_ERROR": "NOT_COORDINATOR",
    "MESSAGE_TOO_LARGE": "UNKNOWN_SERVER_ERROR",
}
"""The error returned to a producer for each error of the coordinator's own write."""
WRITE_TIMEOUT_US: Final = 5_000_000
"""The timeout of a write (``transaction.state.log`` is written with request.timeout.ms)."""


class TransactionRecord(msgspec.Struct, frozen=True, omit_defaults=True):
    """A transactional id's state as written to the log; ``Dead`` is a tombstone."""

    transactional_id: str
    producer_id: int
    epoch: int
    last_epoch: int
    last_producer_id: int
    timeout_us: int
    state: str
    partitions: list[str] = []
    start_us: int = -1
    updated_us: int = 0
    next_producer_id: int = -1


_decoder = msgspec.json.Decoder(TransactionRecord)


class TransactionLog:
    """Writes and reads the partitions of __transaction_state that a broker leads."""

    def __init__(
        self,
        context: BrokerContext,
        state: TransactionCoordinatorState,
        own: OwnRequests,
        *,
        append: Callable[[int, int, ProduceRequest], None],
        log_of: Callable[[str], tuple[Log, int]],
        stored: Callable[[TransactionStore, str], None],
    ) -> None:
        """Act in ``context``.

        ``append`` handles a ProduceRequest as if a client had sent it; ``log_of`` returns this
        broker's log of a partition and its high watermark. ``stored`` is called with a completed
        write and its error.
        """
        self.context = context
        self.state = state
        self.own = own
        self.kernel = context.kernel
        self._append = append
        self._log_of = log_of
        self.stored = stored
        own.on_response(ASKER, self._appended)

    def partition_of(self, transactional_id: str) -> str:
        """The partition of __transaction_state that a transactional id belongs to."""
        return internal_topics.partition_of(
            self.context, TRANSACTIONS, self.state, transactional_id
        )

    def write(self, store: TransactionStore) -> None:
        """Append a transaction's new state; ``stored`` is called with the outcome."""
        after = store.transaction
        tp = self.partition_of(after.id)
        value = msgspec.json.encode(
            TransactionRecord(
                after.id,
                after.producer_id,
                after.epoch,
                after.last_epoch,
                after.last_producer_id,
                after.timeout_us,
                after.state,
                after.partitions,
                after.start_us,
                after.updated_us,
                after.next_producer_id,
            )
        ).decode()
        keys: list[str | None] = [after.id]
        first = self.context.ledger.enter(
            f"transaction {after.id}", tp, keys, [value], acks=-1, now_us=self.kernel.now
        )
        self.kernel.emit(
            events.TransactionRecordWritten, tp, self.context.id, after.id, first, keys, [value]
        )
        number = self.own.number(ASKER)
        self.state.stores[number] = store
        batch = RecordBatch(0, 1, -1, first, size_bytes=len(value) + len(after.id))
        request = ProduceRequest(tp, batch, -1, WRITE_TIMEOUT_US)
        self._append(self.context.id, number, request)

    def _appended(self, number: int, response: ProduceResponse) -> None:
        """Handle the outcome of a record's replication."""
        store = self.state.stores.pop(number)
        self.stored(store, STORING_ERRORS.get(response.error, response.error))

    def load(self, tp: str) -> list[Transaction]:
        """Load and return a partition's transactions from its log."""
        log, _ = self._log_of(tp)
        transactions: dict[str, Transaction] = {}
        for batch in log.read(log.start, log.end):
            if batch.is_empty:
                continue
            for at in range(batch.count):
                text = self.context.ledger.value_of(batch.first_record + at)
                try:
                    record = _decoder.decode(text)
                except (msgspec.MsgspecError, UnicodeError, RecursionError):
                    continue  # another client wrote to the topic
                if record.state == DEAD:
                    transactions.pop(record.transactional_id, None)
                else:
                    transactions[record.transactional_id] = _transaction(record)
        self.state.transactions.update(transactions)
        self.kernel.emit(events.TransactionsLoaded, tp, self.context.id, list(transactions))
        return list(transactions.values())

    def announce(self, transaction: Transaction) -> None:
        """Emit a transaction's current state."""
        self.kernel.emit(
            events.TransactionStateChanged,
            transaction.id,
            self.context.id,
            transaction.state,
            transaction.producer_id,
            transaction.epoch,
            list(transaction.partitions),
        )


def _transaction(record: TransactionRecord) -> Transaction:
    return Transaction(
        record.transactional_id,
        record.producer_id,
        record.epoch,
        record.last_epoch,
        record.last_producer_id,
        record.timeout_us,
        record.state,
        list(record.partitions),
        record.start_us,
        record.updated_us,
        next_producer_id=record.next_producer_id,
    )
