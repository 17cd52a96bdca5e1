"""Producers: batching records, and resolving what a batch needs before it can be sent.

A producer has one batch in flight, each sent after the previous response, or up to ``in_flight``
batches. A new batch is started only while none waits for a retry, so that it cannot overtake one
(records of a partition can then be reordered only among batches that were in flight together). The
producer keeps sending to the leader it knows until an error or metadata.max.age.ms makes it refresh
its metadata.
"""

from typing import Final

from emulator.clients.context import ClientContext
from emulator.clients.idempotence import Sequencer
from emulator.clients.metadata import ProducerMetadata
from emulator.clients.network_client import RESPONSE_US, NetworkClient, note_response
from emulator.clients.record_accumulator import RecordAccumulator, acks_of
from emulator.clients.sender import GIVE_UP_US, Sender
from emulator.clients.state import (
    ADDING,
    ASKING,
    IDENTIFYING,
    NEVER_US,
    SENT,
    WAITING,
    Flight,
    Job,
    Producer,
)
from emulator.clients.transaction_manager import TransactionManager
from emulator.common.errors import ERRORS, LOADING, NONE
from emulator.inputs.statements import Produce
from emulator.protocol import (
    ConnectionLost,
    InitProducerIdRequest,
    InitProducerIdResponse,
    MetadataRequest,
    MetadataResponse,
    ProduceResponse,
)
from emulator.releases.config_names import INT_MAX

PATIENCE_US: Final = 3_000_000
"""How long routing errors, which only show that the leader is elsewhere, cost no retry.

Kafka's producer uses up a retry for each batch that it sends again, however short the election.
Scripts that demonstrate something else would fail because of that, so it is opt-in for them.
"""
MAX_BLOCK_US: Final = 60_000_000
"""How long looking up the leader costs no retry in that case (max.block.ms)."""


class Producers:
    """The behaviour of producers."""

    def __init__(self, context: ClientContext, connections: NetworkClient) -> None:
        """Use ``context``, and query brokers over ``connections``."""
        self.context = context
        self.kernel = context.kernel
        self.defaults = context.producer_defaults
        self.connections = connections
        self.metadata = ProducerMetadata(context)
        self.sequencer = Sequencer(context.profile)
        self.accumulator = RecordAccumulator(context, self.metadata)
        self.transactions = TransactionManager(context, connections, added=self._added)
        self.sender = Sender(
            context,
            metadata=self.metadata,
            accumulator=self.accumulator,
            connections=connections,
            sequencer=self.sequencer,
        )

    # ---- statements

    def named(self, name: str) -> Producer:
        """The producer of that name, which begins to exist with its first statement."""
        return self.context.state.producers.setdefault(name, Producer(name))

    def start(self, statement: Produce) -> int:
        """Start a `produce` statement; return its job id, under which its end is recorded."""
        producer = self.named(statement.producer)
        job = Job(self.context.new_id(), statement, next_us=self.kernel.state.now_us)
        producer.jobs.append(job)
        if len(producer.jobs) == 1:
            self._pump(producer)
        return job.id

    def _pump(self, producer: Producer, *, resumed: bool = False) -> None:
        """Send due retries, start new batches and record finished jobs.

        ``resumed``: the interval before the next batch has elapsed.
        """
        if producer.identity.in_doubt:
            self.sequencer.resolve(producer)
        if producer.flights:
            self._send_again(producer)
        self._take_up(producer, resumed=resumed)
        if producer.transaction is not None:
            self.transactions.look(producer)

    def _take_up(self, producer: Producer, *, resumed: bool) -> None:
        """Start batches as far as may be, and record the jobs that are finished."""
        while producer.jobs:
            job = producer.jobs[0]
            if _is_sent(job):
                if producer.flights:
                    return
                producer.jobs.pop(0)
                if not job.input.background:  # nothing waits for background jobs
                    self.context.state.finished[job.id] = job.error
            elif not _has_room(producer, job) or not (resumed or self._is_time(producer, job)):
                return
            else:
                resumed = False
                self._begin(producer, job)

    def _is_time(self, producer: Producer, job: Job) -> bool:
        """Whether the next batch may start; if not, schedule it.

        With acks=0 no response separates two batches, but other clients get their turn.
        """
        wait_us = job.next_us - self.kernel.state.now_us
        handed_over = job.sent > 0 and acks_of(job.input, self.defaults) == 0
        if wait_us <= 0 and not handed_over:
            return True
        if not job.token:
            job.token = self.context.new_id()
            self.context.later("producer", producer.name, job.token, max(0, wait_us))
        return False

    def _send_again(self, producer: Producer) -> None:
        """Retry waiting batches in order; each one blocks those behind it."""
        held_back: dict[str, None] = {}
        for flight in list(producer.flights):
            if flight.phase == WAITING and self.kernel.now >= flight.deadline_us:
                self.sender.expired(producer, flight)
                continue
            if flight.phase == WAITING and flight.tp not in held_back:
                if self.kernel.now >= flight.resume_us:
                    self._go_on(producer, flight)
                if flight.phase == WAITING:
                    held_back[flight.tp] = None
            if flight.phase in (ASKING, IDENTIFYING, ADDING):
                return

    def _begin(self, producer: Producer, job: Job) -> None:
        """Start a batch with the job's next records."""
        now, statement = self.kernel.state.now_us, job.input
        job.next_us, job.begun = now + statement.every_us, True
        retries = statement.retries
        if retries is None:
            retries = INT_MAX if statement.idempotent else self.defaults.retries
        patience_us = MAX_BLOCK_US if statement.strict_retries else PATIENCE_US
        flight = Flight(0, now + patience_us, retries, self._deadline_us(statement))
        producer.flights.append(flight)
        self._go_on(producer, flight)

    def _deadline_us(self, statement: Produce) -> int:
        whole_us = self.defaults.delivery_timeout_us
        if whole_us is None:
            return NEVER_US
        return self.kernel.state.now_us + max(whole_us, statement.timeout_us + GIVE_UP_US)

    # ---- prerequisites of a batch: partition, leader, producer id, ordering

    def _go_on(self, producer: Producer, flight: Flight) -> None:
        """Resolve the next prerequisite of a batch, or send it."""
        statement = producer.jobs[0].input
        leaders = self.metadata.leaders_of(producer, statement.topic)
        if flight.batch is None and (leaders is not None or statement.partition is not None):
            self.accumulator.fill(producer, flight, leaders or {})
        leader = -1 if leaders is None else leaders.get(flight.partition, -1)
        if leader < 0:
            self._ask(producer, flight)
        elif not statement.idempotent:
            self.sender.send(producer, flight, leader)
        elif statement.transactional and not self.transactions.covers(producer, flight.tp):
            flight.phase = ADDING
        elif producer.identity.producer_id < 0:
            self._identify(producer, flight)
        elif self.sequencer.may_send(producer, flight):
            self.sequencer.number(producer, flight)
            self.sender.send(producer, flight, leader)
        else:
            flight.phase, flight.resume_us = WAITING, self.kernel.now

    # ---- transactions

    def _added(self, producer: Producer, error: str) -> None:
        """Go on with the batches whose partitions are part of the transaction now."""
        for flight in [flight for flight in producer.flights if flight.phase == ADDING]:
            if error != NONE:
                self.sender.give_up(producer, flight, error)
            elif self.transactions.covers(producer, flight.tp):
                self._go_on(producer, flight)
        self._pump(producer)

    # ---- finding the leader

    def _ask(self, producer: Producer, flight: Flight) -> None:
        flight.phase = ASKING
        self.connections.begin(producer.connections, flight.question)
        self._ask_next(producer, flight)

    def _ask_next(self, producer: Producer, flight: Flight) -> None:
        question = flight.question
        if question.left:
            question.asked = question.left.pop(0)
            request = MetadataRequest(producer.jobs[0].input.topic)
            flight.request = self.context.send(question.asked, request)
            self.sender.limit(producer, flight, RESPONSE_US)
        else:
            self.sender.failed(producer, flight, self.sender.missing(flight))

    def metadata_received(self, source: int, message: MetadataResponse) -> bool:
        """Handle a metadata response; return False if no producer requested it."""
        waiting = self._waiting_for(source, message.request, ASKING)
        if waiting is None:
            return False
        producer, flight = waiting
        self._use_metadata(producer, flight, message)
        self._pump(producer)
        return True

    def _use_metadata(self, producer: Producer, flight: Flight, message: MetadataResponse) -> None:
        if message.error == "INVALID_TOPIC_EXCEPTION":
            self.sender.failed(producer, flight, message.error)
            return
        if message.error == "NONE":
            leaders = {number: partition.leader for number, partition in message.partitions.items()}
            if flight.batch is None:
                self.accumulator.fill(producer, flight, leaders)
            if leaders.get(flight.partition, -1) >= 0:
                self.metadata.learn(producer, message.topic, leaders)
                self._go_on(producer, flight)
                return
        note_response(flight.question, message, flight.partition)
        self._ask_next(producer, flight)

    # ---- finding a producer id

    def _identify(self, producer: Producer, flight: Flight) -> None:
        flight.phase = IDENTIFYING
        self.connections.begin(producer.connections, flight.question)
        self._identify_next(producer, flight)

    def _identify_next(self, producer: Producer, flight: Flight) -> None:
        question = flight.question
        if not question.left:
            self.sender.failed(producer, flight, "NETWORK_EXCEPTION")
            return
        question.asked = question.left.pop(0)
        flight.request = self.context.send(question.asked, InitProducerIdRequest())
        self.sender.limit(producer, flight, RESPONSE_US)

    def identified(self, source: int, message: InitProducerIdResponse) -> None:
        """Handle an InitProducerId response."""
        waiting = self._waiting_for(source, message.request, IDENTIFYING)
        if waiting is None:
            return
        producer, flight = waiting
        if message.error == "NONE":
            producer.identity.producer_id = message.producer_id
            producer.identity.epoch = message.producer_epoch
            self._go_on(producer, flight)
        elif message.error == LOADING:
            self.sender.back_off(producer, flight)
        elif ERRORS[message.error].retriable:
            self._identify_next(producer, flight)
        else:
            self.sender.failed(producer, flight, message.error)
        self._pump(producer)

    # ---- responses, timeouts, connections

    def _waiting_for(self, source: int, request: int, phase: str) -> tuple[Producer, Flight] | None:
        """The batch that waits for a response, which shows that the connection is open."""
        for producer in self.context.state.producers.values():
            for flight in producer.flights:
                if flight.request == request and flight.phase == phase:
                    if source not in producer.connections.open:
                        self.connections.responded(producer.connections, source)
                    return producer, flight
        return None

    def on_response(self, source: int, message: ProduceResponse) -> None:
        waiting = self._waiting_for(source, message.request, SENT)
        if waiting is not None:
            producer, flight = waiting
            self.sender.on_response(producer, flight, message)
            self._pump(producer)

    def timer(self, name: str, token: int) -> None:
        """Handle the end of a backoff, a request timeout, or the delivery timeout."""
        producer = self.context.state.producers[name]
        resumed = bool(producer.jobs) and producer.jobs[0].token == token
        if resumed:
            producer.jobs[0].token = 0
        for flight in [flight for flight in producer.flights if flight.token == token]:
            if self.kernel.now >= flight.deadline_us:
                self.sender.expired(producer, flight)
            elif flight.phase in (ASKING, IDENTIFYING):
                self.connections.is_silent(producer.connections, flight.question.asked)
                self._next_broker(producer, flight)
            elif flight.phase == SENT:
                self.sender.unanswered(producer, flight)
        self._pump(producer, resumed=resumed)

    def _next_broker(self, producer: Producer, flight: Flight) -> None:
        """Repeat an unanswered request with the next broker."""
        if flight.phase == ASKING:
            self._ask_next(producer, flight)
        else:
            self._identify_next(producer, flight)

    def connection_lost(self, message: ConnectionLost) -> None:
        """Handle lost connections to a broker.

        Either the broker's process ended and all connections closed, or the connection of a single
        request broke or was refused.
        """
        producers, peer, request = self.context.state.producers, message.peer, message.request
        if not request:
            for producer in producers.values():
                if peer in producer.connections.open or _waits_for(producer, peer):
                    self._connection_broke(producer, message)
            return
        for producer in producers.values():
            if any(flight.request == request for flight in producer.flights):
                self._connection_broke(producer, message)
                return
        owner = self.context.state.unacknowledged.pop(request, None)
        if owner is not None:
            self._connection_broke(producers[owner], message)

    def _connection_broke(self, producer: Producer, message: ConnectionLost) -> None:
        """Handle one producer's broken connection; if it was refused, nothing was appended."""
        peer, request = message.peer, message.request
        refused = bool(request) and not message.lost
        self.connections.broke(producer.connections, peer)
        for flight in list(producer.flights):
            if refused and request != flight.request:
                continue
            if flight.phase in (ASKING, IDENTIFYING) and flight.question.asked == peer:
                self._next_broker(producer, flight)
            elif flight.phase == SENT and flight.target == peer:
                error = "NOT_LEADER_OR_FOLLOWER" if refused else "NETWORK_EXCEPTION"
                self.sender.failed(producer, flight, error)
        self.metadata.forget_broker(producer, peer)
        self._pump(producer)


def _waits_for(producer: Producer, broker: int) -> bool:
    """Whether a request to a broker is awaiting its response."""
    return any(
        flight.target == broker if flight.phase == SENT else flight.question.asked == broker
        for flight in producer.flights
        if flight.phase not in (WAITING, ADDING)
    )


def _is_sent(job: Job) -> bool:
    """Whether nothing is left to be sent: a request without records is sent once."""
    return job.sent >= job.input.count and (job.begun or job.input.count > 0)


def _has_room(producer: Producer, job: Job) -> bool:
    """Whether another batch may start: none is waiting or unresolved, and there is room."""
    under_way = producer.flights
    if not under_way:
        return True
    return len(under_way) < job.input.in_flight and all(f.phase == SENT for f in under_way)
