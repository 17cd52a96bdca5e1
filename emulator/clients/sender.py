"""Sending a batch and handling the result: acknowledge, retry or fail.

Routing errors, which show that the leader is elsewhere and nothing was appended, cost no retry for
three seconds; all other retriable errors do. A batch fails with the error of its last attempt, also
if its delivery timeout expires (delivery.timeout.ms, since 2.1): 120 seconds, or the request
timeout if that is longer.
"""

from typing import Final

from emulator import events
from emulator.clients.context import ClientContext
from emulator.clients.idempotence import Sequencer
from emulator.clients.metadata import ProducerMetadata
from emulator.clients.network_client import NO_LEADER, UNKNOWN, NetworkClient
from emulator.clients.record_accumulator import RecordAccumulator, acks_of
from emulator.clients.state import SENT, WAITING, Flight, Producer
from emulator.clients.transaction_manager import BY_LEADERS_SINCE
from emulator.common.errors import ERRORS
from emulator.events import CLIENTS
from emulator.protocol import AnyMessage, ProduceRequest, ProduceResponse

GIVE_UP_US: Final = 2_000_000
"""How much longer than the leader's timeout a client waits for the response."""
ROUTING: Final = (UNKNOWN, NO_LEADER, "NOT_LEADER_OR_FOLLOWER")
"""Errors which only show that the leader is elsewhere."""
FORGETS_LEADER: Final = (*ROUTING, "NETWORK_EXCEPTION", "KAFKA_STORAGE_ERROR")
"""Errors after which a producer refreshes the leader."""
DUPLICATE: Final = "DUPLICATE_SEQUENCE_NUMBER"
OUT_OF_ORDER: Final = "OUT_OF_ORDER_SEQUENCE_NUMBER"
UNACKNOWLEDGED: Final = 1_000
"""The number of acks=0 requests that are remembered; older ones have long arrived."""


class Sender:
    """Sends batches whose partition has been chosen."""

    def __init__(
        self,
        context: ClientContext,
        *,
        metadata: ProducerMetadata,
        accumulator: RecordAccumulator,
        connections: NetworkClient,
        sequencer: Sequencer,
    ) -> None:
        self.context = context
        self.kernel = context.kernel
        self.network = context.network
        self.defaults = context.producer_defaults
        self.metadata = metadata
        self.accumulator = accumulator
        self.connections = connections
        self.sequencer = sequencer

    def limit(self, producer: Producer, flight: Flight, delay_us: int) -> None:
        """Check a batch again after ``delay_us``, or at its delivery timeout."""
        flight.token = self.context.new_id()
        left_us = flight.deadline_us - self.kernel.state.now_us
        wait_us = delay_us if delay_us < left_us else max(0, left_us)
        self.context.later("producer", producer.name, flight.token, wait_us)

    # ---- sending

    def send(self, producer: Producer, flight: Flight, leader: int) -> None:
        """Send a batch to the leader; with acks=0 it is complete at once."""
        assert flight.batch is not None
        statement = producer.jobs[0].input
        acks = acks_of(statement, self.defaults)
        flight.phase, flight.target = SENT, leader
        flight.attempts += 1
        flight.renumbered = False
        transaction = producer.transaction if statement.transactional else None
        by_leader = (
            transaction is not None and self.context.transaction_version() >= BY_LEADERS_SINCE
        )
        request = ProduceRequest(
            flight.tp,
            flight.batch,
            acks,
            statement.timeout_us,
            flight.size,
            "" if transaction is None else transaction.transactional_id,
            by_leader,
            by_leader,
        )
        flight.request = self.network.send(CLIENTS, leader, request)
        if acks == 0:
            self._note_unacknowledged(producer, flight.request)
            self.acknowledged(producer, flight, -1)
        else:
            self.limit(producer, flight, statement.timeout_us + GIVE_UP_US)

    def _note_unacknowledged(self, producer: Producer, request: int) -> None:
        """Remember whose connection the leader closes if it rejects the batch (its only signal)."""
        sent = self.context.state.unacknowledged
        sent[request] = producer.name
        if len(sent) > UNACKNOWLEDGED:
            del sent[next(iter(sent))]

    # ---- results of an attempt

    def on_response(self, producer: Producer, flight: Flight, message: ProduceResponse) -> None:
        """Handle the leader's response; a duplicate without a known offset is a success."""
        if message.error == "NONE":
            self.acknowledged(producer, flight, message.base_offset)
        elif message.error == DUPLICATE:
            self.acknowledged(producer, flight, -1)
        else:
            self.failed(producer, flight, message.error, message.log_start)

    def unanswered(self, producer: Producer, flight: Flight) -> None:
        """Handle a request timeout: the connection and all requests on it are closed."""
        target = flight.target
        self._hang_up(producer, target)
        self.connections.is_silent(producer.connections, target)
        for other in list(producer.flights):
            if other.phase == SENT and other.target == target:
                self.failed(producer, other, "NETWORK_EXCEPTION")

    def _hang_up(self, producer: Producer, target: int) -> None:
        """Close a producer's connection: messages waiting on a partitioned link are lost."""
        waiting = self.network.waiting(CLIENTS, target)
        unanswered = {seq for seq, message in waiting if self._is_unanswered(producer, message)}
        sent = {f.request for f in producer.flights if f.phase == SENT and f.target == target}
        self.network.withdraw(CLIENTS, target, sent | unanswered)

    def _is_unanswered(self, producer: Producer, message: AnyMessage) -> bool:
        """Whether it is one of this producer's requests without a response (acks=0)."""
        if not isinstance(message, ProduceRequest) or message.acks:
            return False
        return self.context.ledger.entry_of(message.batch.first_record).producer == producer.name

    def expired(self, producer: Producer, flight: Flight) -> None:
        error = flight.error
        if error == "NONE":
            error = "NETWORK_EXCEPTION" if flight.phase == SENT else self.missing(flight)
        # What is still under way for the first time is not in doubt for Kafka either: of an expired
        # batch it asks only whether it is being retried (Sender.sendProducerData, inRetry).
        in_doubt = flight.attempts > 1 or (flight.attempts == 1 and flight.phase != SENT)
        self._remove(producer, flight, error)
        if in_doubt and self._numbers_alone(producer):
            self.sequencer.expired(producer, flight)

    def acknowledged(self, producer: Producer, flight: Flight, base_offset: int) -> None:
        """Complete a batch that is acknowledged according to its acks setting."""
        batch = flight.batch
        assert batch is not None
        producer.flights.remove(flight)
        if producer.jobs[0].input.idempotent:
            self.sequencer.acknowledged(producer, flight, base_offset)
        producer.acked += batch.count
        if not batch.count:
            return
        self.kernel.emit(
            events.ProduceAcknowledged,
            producer.name,
            flight.tp,
            batch.first_record,
            batch.count,
            base_offset,
        )

    def failed(self, producer: Producer, flight: Flight, error: str, log_start: int = -1) -> None:
        """Handle a failed attempt: retry it if possible."""
        statement = producer.jobs[0].input
        was_sent = flight.phase == SENT
        flight.error = error
        if error in FORGETS_LEADER:
            self.metadata.forget(producer, statement.topic)
        free = error in ROUTING and self.kernel.now < flight.patience_us
        if statement.strict_retries and was_sent:
            # Kafka's Sender counts each attempt that was sent; looking up a leader is none.
            free = False
        if self._lost_identity(producer, flight, error):
            self.give_up(producer, flight, OUT_OF_ORDER)
        elif free or self._is_worth_it(producer, flight, error, log_start):
            self._try_again(producer, flight, free=free, was_sent=was_sent)
        else:
            self.give_up(producer, flight, error)

    def _lost_identity(self, producer: Producer, flight: Flight, error: str) -> bool:
        idempotent = producer.jobs[0].input.idempotent and ERRORS[error].retriable
        return idempotent and self.sequencer.has_lost_identity(producer, flight)

    def _is_worth_it(self, producer: Producer, flight: Flight, error: str, log_start: int) -> bool:
        if flight.retries_left <= 0 or self.kernel.now >= flight.deadline_us:
            return False
        statement = producer.jobs[0].input
        if statement.idempotent and not statement.transactional:
            return self.sequencer.may_retry(producer, flight, error, log_start)
        return ERRORS[error].retriable

    def _try_again(self, producer: Producer, flight: Flight, *, free: bool, was_sent: bool) -> None:
        """Schedule the next attempt.

        Without idempotence the batch is placed before those that failed earlier
        (RecordAccumulator.reenqueue), so batches may be reordered.
        """
        if not free:
            flight.retries_left -= 1
            producer.retries += 1
        if flight.batch is not None and flight.batch.count and (was_sent or not free):
            self.kernel.emit(
                events.ProduceRetried,
                producer.name,
                flight.tp,
                flight.batch.first_record,
                flight.error,
                not free,
            )
        if was_sent and not producer.jobs[0].input.idempotent:
            producer.flights.remove(flight)
            producer.flights.insert(0, flight)
        self.back_off(producer, flight)

    def back_off(self, producer: Producer, flight: Flight) -> None:
        """Let the batch wait for retry.backoff.ms."""
        flight.phase = WAITING
        flight.resume_us = self.kernel.now + self.defaults.retry_backoff_us
        self.limit(producer, flight, self.defaults.retry_backoff_us)

    def give_up(self, producer: Producer, flight: Flight, error: str) -> None:
        """Fail the batch; it may still be in the log."""
        self._remove(producer, flight, error)
        if self._numbers_alone(producer):
            exhausted = flight.retries_left <= 0
            self.sequencer.failed(producer, flight, error, exhausted=exhausted)

    @staticmethod
    def _numbers_alone(producer: Producer) -> bool:
        """Whether the producer recovers its sequence numbers itself, without a coordinator."""
        statement = producer.jobs[0].input
        return statement.idempotent and not statement.transactional

    def _remove(self, producer: Producer, flight: Flight, error: str) -> None:
        job = producer.jobs[0]
        if flight.batch is None:
            self.accumulator.fill_for(producer, flight, 0)
        batch = flight.batch
        assert batch is not None
        producer.flights.remove(flight)
        if producer.transaction is not None and job.input.transactional:
            producer.transaction.error = error
        producer.failed += batch.count
        job.error = error
        if not batch.count:
            return
        self.kernel.emit(
            events.ProduceFailed,
            producer.name,
            flight.tp,
            batch.first_record,
            batch.count,
            error,
        )

    def missing(self, flight: Flight) -> str:
        """What the batch lacks according to the latest metadata responses; a leader by default."""
        error = flight.question.error
        return NO_LEADER if error == "NONE" or self.context.in_kraft_mode else error
