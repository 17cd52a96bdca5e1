"""How a leader verifies that a partition is part of a producer's transaction (KIP-890).

Before the first records of a transaction are appended, the leader asks the coordinator; what comes
late, after the transaction has ended, is refused, so that no transaction hangs. Producers that use
Produce 12 leave it to the leader to add the partition. If their previous transaction is not yet
complete, the leader asks again for a while. Source: ``AddPartitionsToTxnManager``,
``ReplicaManager.handleProduceAppend`` 3.6 to 4.1.
"""

from collections.abc import Callable
from typing import Final

from msgspec import Struct, field

from emulator.broker.replication.replica import LEADER, Replicas
from emulator.broker_context import BrokerContext
from emulator.broker_effects import CoordinatorAsked
from emulator.common.errors import NONE
from emulator.coordinator.own_requests import OwnRequests
from emulator.protocol import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    ConnectionLost,
    ProduceRequest,
    ProduceResponse,
)
from emulator.protocol.record_batch import TRANSACTIONAL

ASKER: Final = "transaction verification"
TIMEOUT: Final = "transaction-verification"
"""The broker's timer for requests to coordinators."""
TIMEOUT_US: Final = 30_000_000
"""How long a coordinator may take (request.timeout.ms)."""
RETRY_US: Final = 20_000
RETRY_MAX_US: Final = 100_000
"""How long after a refused request a leader asks again, and for how long it does so.

The settings add.partitions.to.txn.retry.backoff.ms and add.partitions.to.txn.retry.backoff.max.ms.
"""
CONCURRENT: Final = "CONCURRENT_TRANSACTIONS"
LOST: Final = "NETWORK_EXCEPTION"
RETRIED: Final = frozenset(
    (
        CONCURRENT,
        "COORDINATOR_LOAD_IN_PROGRESS",
        "COORDINATOR_NOT_AVAILABLE",
        LOST,
        "NOT_COORDINATOR",
    )
)
"""Errors that producers are told as NOT_ENOUGH_REPLICAS, which all of them retry."""
ABORTABLE: Final = "TRANSACTION_ABORTABLE"
INVALID_STATE: Final = "INVALID_TXN_STATE"

Produce = Callable[[int, int, ProduceRequest], None]


class Verification(Struct, array_like=True):
    """A produce request that waits for a coordinator.

    ``marker`` is the producer's last end marker when it began to wait, at ``began_us``.
    """

    client: int
    request: int
    message: ProduceRequest
    coordinator: int
    marker: int
    began_us: int


class VerificationState(Struct, array_like=True):
    """The waiting requests by message numbers, negative where this broker is the coordinator.

    Those in ``retried`` wait for their coordinator to be asked again; they are by their own number.
    """

    waiting: dict[int, Verification] = field(default_factory=dict)
    retried: dict[int, Verification] = field(default_factory=dict)


class AddPartitionsToTxnManager:
    """Appends a producer's records, after verification if they begin a transaction here."""

    def __init__(
        self,
        context: BrokerContext,
        state: VerificationState,
        own: OwnRequests,
        replicas: Replicas,
        append: Produce,
        partition_of: Callable[[str], str],
    ) -> None:
        """Act in ``context`` for ``replicas``; ``append`` handles a verified ProduceRequest.

        ``partition_of`` returns a transactional id's partition of __transaction_state.
        """
        self.context = context
        self.state = state
        self.own = own
        self.replicas = replicas
        self.is_on = context.profile.has("transaction_partition_verification")
        self.knows_epochs = context.profile.has("ongoing_transactions_known_by_epoch")
        self.translates_for_produce = context.profile.has("verification_translated_for_produce")
        self._append = append
        self._partition_of = partition_of
        own.on_response(ASKER, lambda number, response: self.on_response(-number, response))

    def produce(self, client: int, request: int, message: ProduceRequest) -> None:
        """Append records, verifying first that they belong to an ongoing transaction."""
        if not self._is_unverified(message):
            self._go_on(client, request, message)
            return
        began_us = self.context.kernel.now
        marker = self._marker(message)
        self._verify(Verification(client, request, message, -1, marker, began_us))

    def _verify(self, verification: Verification) -> None:
        """Ask the coordinator to verify the partition, or to add it."""
        message = verification.message
        coordinator = verification.coordinator = self._coordinator(message.transactional_id)
        if coordinator < 0:
            self._refuse(verification, "COORDINATOR_NOT_AVAILABLE")
            return
        verify = AddPartitionsToTxnRequest(
            message.transactional_id,
            message.batch.producer_id,
            message.batch.producer_epoch,
            [message.tp],
            verify_only=not message.adds_partition,
        )
        context = self.context
        if coordinator == context.id:
            number = self.own.number(ASKER)
            self.state.waiting[-number] = verification
            context.carry_out(CoordinatorAsked(number, verify))
            return
        seq = context.network.send(context.id, coordinator, verify)
        self.state.waiting[seq] = verification
        context.timers.set_deadline(TIMEOUT, seq, context.kernel.now + TIMEOUT_US)

    def _go_on(self, client: int, request: int, message: ProduceRequest) -> None:
        if message.only_verifies:
            response = ProduceResponse(request, message.tp, NONE, -1)
            self.context.respond(client, request, response)
        else:
            self._append(client, request, message)

    def _is_unverified(self, message: ProduceRequest) -> bool:
        batch = message.batch
        is_transactional = message.transactional_id and batch.kind == TRANSACTIONAL
        if not (self.is_on and is_transactional) or message.is_verified:
            return False
        replica = self.replicas.get(message.tp)
        if replica is None or replica.role != LEADER:
            return False
        if not (self.context.config.transaction_verification or message.adds_partition):
            return False
        states = replica.producers
        producer = states.producers.get(batch.producer_id)
        is_ongoing = batch.producer_id in states.transactions.ongoing
        if is_ongoing and not self.knows_epochs:
            return False
        return not (is_ongoing and producer is not None and producer.epoch == batch.producer_epoch)

    def _marker(self, message: ProduceRequest) -> int:
        replica = self.replicas.get(message.tp)
        producer = None
        if replica is not None:
            producer = replica.producers.producers.get(message.batch.producer_id)
        return -1 if producer is None else producer.marker

    def _coordinator(self, transactional_id: str) -> int:
        """The coordinator's id, or -1 if there is none now."""
        leader = self.context.metadata.leader(self._partition_of(transactional_id))
        return -1 if leader is None else leader

    # ---- responses

    def on_response(self, request: int, response: AddPartitionsToTxnResponse) -> None:
        """Append the records if the coordinator knows the partition, or refuse them."""
        verification = self._ended(request)
        if verification is None:
            return
        message = verification.message
        error = response.errors[message.tp]
        now_us = self.context.kernel.now
        is_retried = error == CONCURRENT and message.adds_partition
        if is_retried and now_us - verification.began_us < RETRY_MAX_US:
            self.state.retried[verification.request] = verification
            deadline_us = now_us + RETRY_US
            self.context.timers.set_deadline(TIMEOUT, f"retry {verification.request}", deadline_us)
            return
        if error == NONE and self._marker(message) != verification.marker:
            error = INVALID_STATE  # the transaction has ended in the meantime
        if error == NONE:
            self.context.kernel.cause = verification.request
            self._go_on(verification.client, verification.request, message)
        else:
            self._refuse(verification, error)

    def _refuse(self, verification: Verification, error: str) -> None:
        """Tell a producer an error that it knows.

        Who only verifies translates it on its own (``maybeConvertOffsetCommitError``).
        """
        message = verification.message
        is_known = error == CONCURRENT and message.adds_partition
        if message.only_verifies:
            is_known |= self.translates_for_produce or error == LOST
        if error in RETRIED and not is_known:
            error = "NOT_ENOUGH_REPLICAS"
        elif error == "PRODUCER_FENCED":
            error = "INVALID_PRODUCER_EPOCH"
        elif error == ABORTABLE and not message.knows_abortable:
            error = INVALID_STATE
        if message.acks == 0:
            self.context.close_connection(verification.client, verification.request)
            return
        response = ProduceResponse(verification.request, message.tp, error, -1)
        self.context.respond(verification.client, verification.request, response)

    def _ended(self, request: int) -> Verification | None:
        self.context.timers.clear_deadline(TIMEOUT, request)
        return self.state.waiting.pop(request, None)

    def connection_lost(self, message: ConnectionLost) -> None:
        """Refuse the requests that wait for a coordinator whose connection broke."""
        for seq, verification in list(self.state.waiting.items()):
            if verification.coordinator == message.peer and message.request in (0, seq):
                self._ended(seq)
                self._refuse(verification, LOST)

    def expire(self) -> None:
        """Refuse what a coordinator has not answered in time, and ask again what is due."""
        for key in self.context.timers.overdue(TIMEOUT):
            kind, _, number = str(key).rpartition(" ")
            if kind:
                self._verify(self.state.retried.pop(int(number)))
                continue
            verification = self._ended(int(number))
            if verification is not None:
                self.context.network.give_up(self.context.id, verification.coordinator)
                self._refuse(verification, LOST)
