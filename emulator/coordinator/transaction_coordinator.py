"""The transaction coordinator's request handling, state changes and timers.

A broker coordinates the transactional ids of those partitions of __transaction_state that it leads,
once it has loaded them. Source: ``TransactionCoordinator`` 0.11 to 4.1 (KIP-98, KIP-360, KIP-890).
"""

from collections.abc import Callable
from typing import Final

from msgspec.structs import replace

from emulator.broker_context import BrokerContext
from emulator.common.errors import LOADING, NONE
from emulator.coordinator import internal_topics
from emulator.coordinator.internal_topics import TRANSACTIONS, is_internal
from emulator.coordinator.own_requests import OwnRequests
from emulator.coordinator.transaction_log import TransactionLog
from emulator.coordinator.transaction_markers import TransactionMarkers
from emulator.coordinator.transaction_metadata import (
    COMPLETE_ABORT,
    COMPLETE_COMMIT,
    DEAD,
    EMPTY,
    ENDED,
    EPOCH_MAX,
    NONE_YET,
    ONGOING,
    PREPARE_ABORT,
    PREPARE_COMMIT,
    PREPARED,
    Reply,
    Transaction,
    TransactionCoordinatorState,
    TransactionStore,
)
from emulator.protocol import (
    AddOffsetsToTxnRequest,
    AddOffsetsToTxnResponse,
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    AnyMessage,
    ConnectionLost,
    DescribeTransactionsRequest,
    DescribeTransactionsResponse,
    EndTxnRequest,
    EndTxnResponse,
    FindCoordinatorRequest,
    FindCoordinatorResponse,
    InitProducerIdRequest,
    InitProducerIdResponse,
    ProduceRequest,
    TransactionDescription,
    WriteTxnMarkersRequest,
    WriteTxnMarkersResponse,
)
from emulator.storage.log import Log

TASK: Final = "transactions"
"""The broker's timer for all deadlines of the coordinator."""
IDS: Final = "producer ids"
"""The coordinator's name as the sender of requests for producer ids."""
LOADING_US: Final = 5_000
"""How long loading a partition of __transaction_state takes."""
LOOK: Final = "look"
"""The deadline for checking for timed-out transactions; those of loads are ``load TP``."""
EXPIRE: Final = "expire"
"""The deadline for checking for unused transactional ids."""
CONCURRENT: Final = "CONCURRENT_TRANSACTIONS"
FENCED: Final = "PRODUCER_FENCED"
INVALID_STATE: Final = "INVALID_TXN_STATE"


class TransactionCoordinator:
    """Handles transactional producers' requests, and aborts transactions that time out."""

    def __init__(  # noqa: PLR0913 - it involves logs, markers, ids and groups
        self,
        context: BrokerContext,
        state: TransactionCoordinatorState,
        own: OwnRequests,
        *,
        append: Callable[[int, int, ProduceRequest], None],
        log_of: Callable[[str], tuple[Log, int]],
        write_markers: Callable[[int, int, WriteTxnMarkersRequest], None],
        ask_producer_id: Callable[[int, int, InitProducerIdRequest], None],
        leader_epoch: Callable[[str], int],
        group_partition: Callable[[str], str],
    ) -> None:
        """Act in ``context``.

        ``append`` handles a ProduceRequest as if a client had sent it, ``log_of`` returns this
        broker's log of a partition and its high watermark, ``write_markers`` handles the markers
        that this broker writes itself. ``ask_producer_id`` handles a request for a producer id,
        ``leader_epoch`` returns the epoch of a partition led here, and ``group_partition`` a
        group's partition of __consumer_offsets.
        """
        self.context = context
        self.state = state
        self.own = own
        self.kernel = context.kernel
        self.timers = context.timers
        self.profile = context.profile
        self.log = TransactionLog(
            context, state, own, append=append, log_of=log_of, stored=self._stored
        )
        self.markers = TransactionMarkers(context, state, own, write_markers, self._complete)
        self._ask_producer_id = ask_producer_id
        self._leader_epoch = leader_epoch
        self._group_partition = group_partition
        own.on_response(IDS, self._identified)

    # ---- coordination of transactional ids

    def refusal(self, transactional_id: str) -> str:
        """The error for a request about an id that this broker does not coordinate (yet)."""
        due_us = self.state.partitions.get(self.log.partition_of(transactional_id))
        if due_us is None:
            return "NOT_COORDINATOR"
        return LOADING if due_us else NONE

    def find(self, client: int, request: int, message: FindCoordinatorRequest) -> None:
        """Return a transactional id's coordinator, creating __transaction_state if missing."""
        process, key = self.context.process, message.group
        info = process.metadata.get(self.log.partition_of(key))
        if info is None:
            internal_topics.create(self.context, TRANSACTIONS)
        if info is None or info.leader not in process.live_brokers:
            response = FindCoordinatorResponse(request, key, "COORDINATOR_NOT_AVAILABLE")
        else:
            response = FindCoordinatorResponse(request, key, NONE, info.leader)
        self.context.respond(client, request, response)

    # ---- becoming and resigning as coordinator

    def leads(self, tp: str) -> None:
        """Load a partition on becoming its leader, if it belongs to __transaction_state."""
        partitions = self.state.partitions
        if TRANSACTIONS.holds(tp) and tp not in partitions:
            partitions[tp] = self.kernel.now + LOADING_US
            self.timers.set_deadline(TASK, f"load {tp}", partitions[tp])

    def leads_no_more(self, tp: str) -> None:
        """Handle the loss of a partition's leadership: another broker coordinates its ids."""
        state = self.state
        if state.partitions.pop(tp, None) is None:
            return
        self.timers.clear_deadline(TASK, f"load {tp}")
        for name in [name for name in state.transactions if self.log.partition_of(name) == tp]:
            del state.transactions[name]
            self.markers.forget(name)

    def _loaded(self, tp: str) -> None:
        """Complete prepared transactions of a loaded partition; watch the timeouts of the rest."""
        self.state.partitions[tp] = 0
        for transaction in self.log.load(tp):
            self.log.announce(transaction)
            if transaction.state in PREPARED:
                self._send_markers(transaction)
        self._watch()

    # ---- producer ids (InitProducerId)

    def init_producer_id(self, client: int, request: int, message: InitProducerIdRequest) -> None:
        """Return a producer's id and next epoch, which fences its older instances."""
        name = message.transactional_id
        transaction = self.state.transactions.get(name)
        error = self.refusal(name)
        if not 0 < message.timeout_us <= self._longest_us:
            error = "INVALID_TRANSACTION_TIMEOUT"
        if error == NONE and transaction is not None:
            error = self._may_init(transaction, message)
        if error != NONE:
            self._respond(client, request, InitProducerIdResponse(request, error, -1, -1))
        elif transaction is None or self._is_exhausted(transaction, message):
            self._ask_id(transaction, client, request, message)
        elif transaction.state == ONGOING:
            fenced = InitProducerIdResponse(request, CONCURRENT, -1, -1)
            self._end(transaction, PREPARE_ABORT, client, fenced, epoch=transaction.epoch + 1)
        else:
            self._next_epoch(transaction, client, request, message)

    @property
    def _longest_us(self) -> int:
        return self.context.config.transaction_max_timeout_us

    @staticmethod
    def _may_init(transaction: Transaction, message: InitProducerIdRequest) -> str:
        """The error for a producer that continues with an id and epoch that are not its own.

        An ongoing transaction is aborted whatever the epoch is: whoever asks again has the next.
        Source: ``TransactionCoordinator.prepareInitProducerIdTransit``.
        """
        if transaction.pending:
            return CONCURRENT
        if message.producer_id < 0:
            return CONCURRENT if transaction.is_changing else NONE
        is_own = message.producer_id == transaction.producer_id
        is_exhausted = message.producer_epoch >= EPOCH_MAX
        if not is_own and not (
            message.producer_id == transaction.last_producer_id and is_exhausted
        ):
            return FENCED
        if transaction.is_changing:
            return CONCURRENT
        epochs = (transaction.epoch, transaction.last_epoch)
        is_known = message.producer_epoch in epochs or transaction.state == ONGOING
        return NONE if is_known else FENCED

    @staticmethod
    def _is_exhausted(transaction: Transaction, message: InitProducerIdRequest) -> bool:
        is_again = message.producer_epoch == transaction.last_epoch != NONE_YET
        return transaction.state != ONGOING and transaction.epoch >= EPOCH_MAX and not is_again

    def _ask_id(
        self,
        transaction: Transaction | None,
        client: int,
        request: int,
        message: InitProducerIdRequest | EndTxnRequest,
    ) -> None:
        """Ask for a new producer id; nothing else happens to the transactional id meanwhile."""
        number = self.own.number(IDS)
        self.state.unidentified[number] = (client, request, message)
        if transaction is not None:
            transaction.pending = EMPTY
        self._ask_producer_id(self.context.id, number, InitProducerIdRequest())

    def _next_epoch(
        self, transaction: Transaction, client: int, request: int, message: InitProducerIdRequest
    ) -> None:
        """Write the next epoch; a repeated request by the same producer gets the same epoch."""
        epoch, last = transaction.epoch + 1, NONE_YET
        if message.producer_id >= 0:
            is_again = message.producer_epoch != transaction.epoch
            epoch = transaction.epoch if is_again else transaction.epoch + 1
            last = transaction.last_epoch if is_again else transaction.epoch
        after = transaction.to(
            EMPTY,
            epoch=epoch,
            last_epoch=last,
            timeout_us=message.timeout_us,
            partitions=[],
            start_us=-1,
            updated_us=self.kernel.now,
        )
        reply = InitProducerIdResponse(request, NONE, after.producer_id, after.epoch)
        self._write(transaction, TransactionStore(after, client, reply))

    def _identified(self, number: int, given: InitProducerIdResponse) -> None:
        """Go on with a request that waited for a new producer id."""
        waiting = self.state.unidentified.pop(number, None)
        if waiting is None:
            return
        client, request, message = waiting
        name = message.transactional_id
        transaction = self.state.transactions.get(name)
        if transaction is not None:
            transaction.pending = ""
        error = given.error if given.error != NONE else self.refusal(name)
        if error == NONE and transaction is not None and transaction.epoch < EPOCH_MAX:
            error = CONCURRENT  # another request was processed in between
        if isinstance(message, EndTxnRequest):
            reply = EndTxnResponse(request, name, error, given.producer_id, 0)
            if error != NONE or transaction is None:
                self._respond(client, request, _refused(reply, error))
            else:
                self._decide(transaction, client, message, reply, given.producer_id)
        elif error != NONE:
            self._respond(client, request, InitProducerIdResponse(request, error, -1, -1))
        else:
            self._identify(transaction, client, request, message, given.producer_id)

    def _identify(
        self,
        transaction: Transaction | None,
        client: int,
        request: int,
        message: InitProducerIdRequest,
        producer_id: int,
    ) -> None:
        """Initialize a transactional id with a new producer id."""
        name = message.transactional_id
        last = NONE_YET if transaction is None else transaction.producer_id
        transaction = transaction or Transaction(name, producer_id)
        self.state.transactions[name] = transaction
        after = transaction.to(
            EMPTY,
            producer_id=producer_id,
            epoch=0,
            last_epoch=transaction.epoch if message.producer_id >= 0 else NONE_YET,
            last_producer_id=last,
            timeout_us=message.timeout_us,
            partitions=[],
            start_us=-1,
            updated_us=self.kernel.now,
        )
        reply = InitProducerIdResponse(request, NONE, after.producer_id, after.epoch)
        self._write(transaction, TransactionStore(after, client, reply))

    # ---- partitions and offsets

    def add_partitions(self, client: int, request: int, message: AddPartitionsToTxnRequest) -> None:
        """Add partitions to a transaction, which begins with the first; or verify them.

        If one of them cannot be added, the transaction is not looked at
        (``KafkaApis.handleAddPartitionsToTxnRequest``).
        """
        name, named = message.transactional_id, message.partitions
        faults = {tp: self._why_not_added(tp, is_clients=message.is_clients) for tp in named}
        if any(error != NONE for error in faults.values()):
            skipped = {NONE: "OPERATION_NOT_ATTEMPTED"}
            if not self.profile.has("internal_topics_not_in_transactions"):
                skipped["TOPIC_AUTHORIZATION_FAILED"] = "OPERATION_NOT_ATTEMPTED"
            errors = {tp: skipped.get(error, error) for tp, error in faults.items()}
            self._respond(client, request, AddPartitionsToTxnResponse(request, name, errors))
            return
        error, transaction = self._lookup(name, message.producer_id, message.producer_epoch)
        if error == NONE and transaction is not None and message.verify_only:
            self._verify(client, request, message, transaction)
            return
        self._add(client, named, transaction, AddPartitionsToTxnResponse(request, name, {}), error)

    def _why_not_added(self, tp: str, *, is_clients: bool) -> str:
        if is_clients and is_internal(tp):
            return "TOPIC_AUTHORIZATION_FAILED"
        return "UNKNOWN_TOPIC_OR_PARTITION" if self.context.metadata.leader(tp) is None else NONE

    def _verify(
        self,
        client: int,
        request: int,
        message: AddPartitionsToTxnRequest,
        transaction: Transaction,
    ) -> None:
        if transaction.state in PREPARED:
            errors = dict.fromkeys(message.partitions, CONCURRENT)
        else:
            unknown = "INVALID_TXN_STATE"
            if self.profile.has("transaction_abortable_error"):
                unknown = "TRANSACTION_ABORTABLE"
            errors = {
                tp: NONE if tp in transaction.partitions else unknown for tp in message.partitions
            }
        response = AddPartitionsToTxnResponse(request, message.transactional_id, errors)
        self._respond(client, request, response)

    def add_offsets(self, client: int, request: int, message: AddOffsetsToTxnRequest) -> None:
        """Add a group's partition of __consumer_offsets to a transaction."""
        name = message.transactional_id
        error, transaction = self._lookup(name, message.producer_id, message.producer_epoch)
        reply = AddOffsetsToTxnResponse(request, name, NONE)
        self._add(client, [self._group_partition(message.group)], transaction, reply, error)

    def _add(
        self,
        client: int,
        partitions: list[str],
        transaction: Transaction | None,
        reply: AddPartitionsToTxnResponse | AddOffsetsToTxnResponse,
        error: str,
    ) -> None:
        if isinstance(reply, AddPartitionsToTxnResponse):
            reply = replace(reply, errors=dict.fromkeys(partitions, NONE))
        if error == NONE and transaction is not None:
            if transaction.is_changing:
                error = CONCURRENT
            elif transaction.state == ONGOING and all(
                tp in transaction.partitions for tp in partitions
            ):
                self._respond(client, reply.request, reply)
                return
        if error != NONE or transaction is None:
            self._respond(client, reply.request, _refused(reply, error))
            return
        before = transaction.partitions if transaction.state == ONGOING else []
        after = transaction.to(
            ONGOING,
            partitions=[*before, *(tp for tp in partitions if tp not in before)],
            start_us=transaction.start_us if transaction.state == ONGOING else self.kernel.now,
            updated_us=self.kernel.now,
        )
        self._write(transaction, TransactionStore(after, client, reply))

    def _lookup(
        self, name: str, producer_id: int, producer_epoch: int
    ) -> tuple[str, Transaction | None]:
        """A producer's transaction, or the error for a producer that has been replaced."""
        error, transaction = self.refusal(name), self.state.transactions.get(name)
        if not name:
            error = "INVALID_REQUEST"
        elif error == NONE and (transaction is None or transaction.producer_id != producer_id):
            error = "INVALID_PRODUCER_ID_MAPPING"
        elif error == NONE and transaction is not None and transaction.epoch != producer_epoch:
            error = FENCED
        return error, transaction

    # ---- the end

    def end(self, client: int, request: int, message: EndTxnRequest) -> None:
        """Commit or abort a transaction: respond when the decision is written."""
        name = message.transactional_id
        if message.bumps_epoch:
            self._end_and_bump(client, request, message)
            return
        error, transaction = self._lookup(name, message.producer_id, message.producer_epoch)
        if error == NONE and transaction is not None:
            error = self._may_end(transaction, message)
        if error != NONE or transaction is None or transaction.state != ONGOING:
            self._respond(client, request, EndTxnResponse(request, name, error))
            return
        reply = EndTxnResponse(request, name, NONE, transaction.producer_id, transaction.epoch)
        to = PREPARE_COMMIT if message.commit else PREPARE_ABORT
        self._end(transaction, to, client, reply, epoch=transaction.epoch)

    @staticmethod
    def _may_end(transaction: Transaction, message: EndTxnRequest) -> str:
        if transaction.is_changing:
            return CONCURRENT
        ended_so = COMPLETE_COMMIT if message.commit else COMPLETE_ABORT
        return NONE if transaction.state in (ONGOING, ended_so) else INVALID_STATE

    def _end_and_bump(self, client: int, request: int, message: EndTxnRequest) -> None:
        """End a transaction and give its producer the next epoch (KIP-890).

        Source: ``TransactionCoordinator.endTransaction`` 4.0 to 4.4. A producer may abort without
        having written anything: it then only gets the next epoch.
        """
        name = message.transactional_id
        error, transaction = self.refusal(name), self.state.transactions.get(name)
        if not name:
            error = "INVALID_REQUEST"
        elif error == NONE and (transaction is None or not _is_of(transaction, message)):
            error = "INVALID_PRODUCER_ID_MAPPING"
        if error == NONE and transaction is not None:
            error = _may_end_and_bump(transaction, message)
        if error != NONE or transaction is None:
            self._respond(client, request, EndTxnResponse(request, name, error))
        elif _is_retried(transaction, message):
            reply = EndTxnResponse(request, name, NONE, transaction.producer_id, transaction.epoch)
            self._respond(client, request, reply)
        elif transaction.epoch >= EPOCH_MAX:
            self._ask_id(transaction, client, request, message)
        else:
            reply = EndTxnResponse(
                request, name, NONE, transaction.producer_id, transaction.epoch + 1
            )
            self._decide(transaction, client, message, reply)

    def _decide(
        self,
        transaction: Transaction,
        client: int,
        message: EndTxnRequest,
        reply: EndTxnResponse,
        next_producer_id: int = NONE_YET,
    ) -> None:
        to = PREPARE_COMMIT if message.commit else PREPARE_ABORT
        start_us = transaction.start_us if transaction.state == ONGOING else self.kernel.now
        self._end(
            transaction,
            to,
            client,
            reply,
            epoch=transaction.epoch + 1,
            start_us=start_us,
            next_producer_id=next_producer_id,
        )

    def _end(
        self,
        transaction: Transaction,
        to: str,
        client: int,
        reply: Reply | None,
        *,
        epoch: int,
        **changes: int,
    ) -> None:
        """Write the decision to commit or abort; a higher ``epoch`` fences the producer."""
        last = transaction.epoch if epoch > transaction.epoch else transaction.last_epoch
        after = transaction.to(
            to, epoch=epoch, last_epoch=last, updated_us=self.kernel.now, **changes
        )
        self._write(transaction, TransactionStore(after, client, reply))

    def _send_markers(self, transaction: Transaction) -> None:
        epoch = self._leader_epoch(self.log.partition_of(transaction.id))
        self.markers.send(transaction, epoch)

    def _complete(self, name: str) -> None:
        """Complete a transaction whose markers are all written."""
        transaction = self.state.transactions.get(name)
        if transaction is None or transaction.pending or transaction.state not in PREPARED:
            return
        to = COMPLETE_COMMIT if transaction.state == PREPARE_COMMIT else COMPLETE_ABORT
        after = transaction.to(to, partitions=[], updated_us=self.kernel.now)
        if transaction.next_producer_id != NONE_YET:
            after.producer_id, after.epoch = transaction.next_producer_id, 0
            after.last_producer_id, after.next_producer_id = transaction.producer_id, NONE_YET
        self._write(transaction, TransactionStore(after))

    # ---- the log

    def _write(self, transaction: Transaction, store: TransactionStore) -> None:
        transaction.pending = store.transaction.state
        self.log.write(store)

    def _stored(self, store: TransactionStore, error: str) -> None:
        """Apply a new state once it is replicated, or handle the error."""
        after, reply = store.transaction, store.reply
        transaction = self.state.transactions.get(after.id)
        if error == NONE and transaction is None:
            error = "NOT_COORDINATOR"
        if error != NONE:
            if transaction is not None:
                transaction.pending = ""
                if after.state in (COMPLETE_COMMIT, COMPLETE_ABORT):
                    self.markers.later(after.id)  # markers are written: only this write is retried
                if transaction.epoch == NONE_YET:
                    del self.state.transactions[after.id]
            if reply is not None:
                self._respond(store.client, reply.request, _refused(reply, error))
            return
        self._apply(after)
        self.log.announce(after)
        if reply is not None:
            self._respond(store.client, reply.request, reply)
        if after.state in PREPARED:
            self._send_markers(after)
        self._watch()

    def _apply(self, after: Transaction) -> None:
        """Keep a new state; up to 4.0 also when the last transaction began, which no log tells."""
        transactions = self.state.transactions
        if after.state == DEAD:
            del transactions[after.id]
            return
        if after.state == EMPTY and self.profile.has("transaction_start_kept"):
            after.start_us = transactions[after.id].start_us
        transactions[after.id] = after

    def _respond(self, client: int, request: int, message: AnyMessage) -> None:
        self.context.respond(client, request, message)

    # ---- administrative requests

    def describe(self, client: int, request: int, message: DescribeTransactionsRequest) -> None:
        """Describe transactions, or list those coordinated here if no ids are given (KIP-664)."""
        transactions = self.state.transactions
        names = (
            list(transactions) if message.transactional_ids is None else message.transactional_ids
        )
        descriptions = {name: self._description(name) for name in names}
        loading = message.transactional_ids is None and any(self.state.partitions.values())
        error = LOADING if loading else NONE
        self._respond(client, request, DescribeTransactionsResponse(request, error, descriptions))

    def _description(self, name: str) -> TransactionDescription:
        error, transaction = self.refusal(name), self.state.transactions.get(name)
        if not name:
            error = "INVALID_REQUEST"
        elif error == NONE and transaction is None:
            error = "TRANSACTIONAL_ID_NOT_FOUND"
        if error != NONE or transaction is None:
            return TransactionDescription(error)
        return TransactionDescription(
            NONE,
            transaction.state,
            transaction.timeout_us,
            transaction.start_us,
            transaction.producer_id,
            transaction.epoch,
            transaction.partitions,
        )

    # ---- messages and time

    def marked(self, request: int, message: WriteTxnMarkersResponse) -> None:
        """Handle a leader's response to written markers."""
        self.markers.on_response(request, message)

    def connection_lost(self, message: ConnectionLost) -> None:
        """Retry markers that may have been lost with a connection."""
        self.markers.connection_lost(message)

    def tick(self) -> None:
        """Run what is due: load partitions, resend markers, abort timed-out transactions."""
        due = [str(of) for of in self.timers.overdue(TASK)]
        for tp in [of.removeprefix("load ") for of in due if of.startswith("load ")]:
            self._loaded(tp)
        for name in self.markers.due(due):
            transaction = self.state.transactions.get(name)
            if (
                transaction is not None
                and transaction.state in PREPARED
                and not transaction.pending
            ):
                self._send_markers(transaction)
        if LOOK in due:
            self._abort_overdue()
        if EXPIRE in due:
            self._expire_unused()
        self._watch()

    def _abort_overdue(self) -> None:
        """Abort the transactions that have timed out, and fence their producers."""
        now_us = self.kernel.now
        for transaction in list(self.state.transactions.values()):
            is_over = transaction.start_us + transaction.timeout_us < now_us
            if transaction.state == ONGOING and is_over and not transaction.pending:
                self._end(transaction, PREPARE_ABORT, 0, None, epoch=transaction.epoch + 1)

    def _expire_unused(self) -> None:
        """Forget the ids without a transaction that nobody has used for long.

        Source: ``TransactionStateManager.removeExpiredTransactionalIds``.
        """
        limit_us = self.kernel.now - self.context.config.transactional_id_expiration_us
        for transaction in list(self.state.transactions.values()):
            if (
                transaction.state in ENDED
                and transaction.updated_us <= limit_us
                and not transaction.pending
            ):
                self._write(
                    transaction, TransactionStore(replace(transaction, state=DEAD, partitions=[]))
                )

    def _watch(self) -> None:
        """Schedule the checks for timed-out transactions, and for ids to be forgotten."""
        if self.state.transactions and self.timers.deadline_of(TASK, EXPIRE) is None:
            interval_us = self.context.config.transaction_expiry_interval_us
            self.timers.set_deadline(TASK, EXPIRE, self.kernel.now + interval_us)
        if self.timers.deadline_of(TASK, LOOK) is None and any(
            transaction.state not in ENDED for transaction in self.state.transactions.values()
        ):
            interval_us = self.context.config.transaction_abort_interval_us
            self.timers.set_deadline(TASK, LOOK, self.kernel.now + interval_us)


def _is_of(transaction: Transaction, message: EndTxnRequest) -> bool:
    """Whether the message names the producer, or its last id if that was just replaced."""
    return message.producer_id == transaction.producer_id or _has_overflowed(transaction, message)


def _has_overflowed(transaction: Transaction, message: EndTxnRequest) -> bool:
    return (
        message.producer_id == transaction.last_producer_id
        and message.producer_epoch == EPOCH_MAX
        and transaction.epoch == 0
    )


def _is_retried(transaction: Transaction, message: EndTxnRequest) -> bool:
    """Whether a producer missed the response that bumped its epoch."""
    return message.producer_epoch == transaction.epoch - 1 or _has_overflowed(transaction, message)


def _may_end_and_bump(transaction: Transaction, message: EndTxnRequest) -> str:
    """The error for a producer that ends its transaction and asks for the next epoch."""
    state = transaction.state
    is_current = message.producer_epoch == transaction.epoch and state not in PREPARED
    is_retried = _is_retried(transaction, message) and state not in (EMPTY, ONGOING)
    if not (is_current or is_retried):
        return FENCED
    if transaction.pending:
        return CONCURRENT
    if state in PREPARED:
        return CONCURRENT if message.commit == (state == PREPARE_COMMIT) else INVALID_STATE
    if is_retried:
        return NONE if message.commit == (state == COMPLETE_COMMIT) else INVALID_STATE
    return INVALID_STATE if message.commit and state != ONGOING else NONE


def _refused(reply: Reply, error: str) -> Reply:
    """The response with an error instead of a result."""
    if isinstance(reply, AddPartitionsToTxnResponse):
        return replace(reply, errors=dict.fromkeys(reply.errors, error))
    if isinstance(reply, AddOffsetsToTxnResponse):
        return replace(reply, error=error)
    return replace(reply, error=error, producer_id=-1, producer_epoch=-1)
