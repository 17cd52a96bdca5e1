"""Producers: taking records into batches, and finding out what each lacks before it can be sent.

A producer has one batch under way, each after the last one's answer, or up to ``in_flight`` of
them. A new batch begins only while none waits to be sent again, so that it cannot overtake one
(the order within a partition can then change only among batches that were under way together). It
goes on writing to the leader it knows until an error or the metadata's age tells it otherwise.
"""

from typing import TYPE_CHECKING, Final

from emulator import events
from emulator.clients.idempotence import Sequencer
from emulator.clients.metadata import Leaders, Routing
from emulator.clients.record_sizes import request_bytes
from emulator.clients.sender import GIVE_UP_US, Delivery
from emulator.clients.state import (
    ASKING,
    IDENTIFYING,
    NEVER_US,
    SENT,
    WAITING,
    Flight,
    Job,
    Producer,
)
from emulator.events import CLIENTS
from emulator.inputs.statements import Produce
from emulator.protocol import (
    ConnectionLost,
    InitProducerIdRequest,
    InitProducerIdResponse,
    MetadataResponse,
    ProduceResponse,
    RecordBatch,
)
from emulator.protocol.errors import ERRORS
from emulator.releases.config import producer_defaults
from emulator.releases.config_names import INT_MAX
from emulator.storage.record_ledger import LedgerEntry

if TYPE_CHECKING:
    from emulator.clients.client_host import Clients

PATIENCE_US: Final = 3_000_000
"""How long errors that only say where the leader is not cost no retry, and questions may take."""


class Producers:
    """The producers' behaviour."""

    def __init__(self, clients: "Clients") -> None:
        """Act among ``clients``."""
        self.clients = clients
        self.kernel = clients.kernel
        self.network = clients.world.network
        self.profile = clients.world.profile
        self.defaults = producer_defaults(self.profile.version)
        self.routing = Routing(clients, self.defaults)
        self.sequencer = Sequencer(self.profile)
        self.delivery = Delivery(clients, self.routing, self.sequencer, self.defaults)

    # ---- statements

    def start(self, wanted: Produce) -> int:
        """Begin a `produce`; returns its id, under which its end is noted."""
        producers = self.clients.state.producers
        producer = producers.setdefault(wanted.producer, Producer(wanted.producer))
        job = Job(self.clients.new_id(), wanted, next_us=self.kernel.now)
        producer.jobs.append(job)
        if len(producer.jobs) == 1:
            self._pump(producer)
        return job.id

    def _pump(self, producer: Producer, *, resumed: bool = False) -> None:
        """Send what may be sent again, begin new batches, and note the ends of jobs.

        ``resumed``: the pause before the next batch is over.
        """
        if producer.identity.in_doubt:
            self.sequencer.resolve(producer)
        self._send_again(producer)
        while producer.jobs:
            job = producer.jobs[0]
            if job.sent >= job.input.count:
                if producer.flights:
                    return
                producer.jobs.pop(0)
                if not job.input.background:  # nobody waits for the end of those
                    self.clients.state.finished[job.id] = job.error
            elif not _has_room(producer, job) or not (resumed or self._is_time(producer, job)):
                return
            else:
                resumed = False
                self._begin(producer, job)

    def _is_time(self, producer: Producer, job: Job) -> bool:
        """Whether the next batch may begin; if not, come back then.

        With acks=0 no answer comes between two batches, but others have their turn.
        """
        wait_us = max(0, job.next_us - self.kernel.now)
        handed_over = job.sent > 0 and self.delivery.acks_of(job.input) == 0
        if not (wait_us or handed_over):
            return True
        if not job.token:
            job.token = self.clients.new_id()
            self.clients.later("producer", producer.name, job.token, wait_us)
        return False

    def _send_again(self, producer: Producer) -> None:
        """Go on with the batches that have waited, in order; each holds back those behind it."""
        held_back: dict[str, None] = {}
        for flight in list(producer.flights):
            if flight.phase == WAITING and self.kernel.now >= flight.deadline_us:
                self.delivery.expired(producer, flight)
                continue
            if flight.phase == WAITING and flight.tp not in held_back:
                if self.kernel.now >= flight.resume_us:
                    self._go_on(producer, flight)
                if flight.phase == WAITING:
                    held_back[flight.tp] = None
            if flight.phase in (ASKING, IDENTIFYING):
                return

    def _begin(self, producer: Producer, job: Job) -> None:
        """Begin a batch with the next records of the job."""
        now, wanted = self.kernel.now, job.input
        job.next_us = now + wanted.every_us
        retries = wanted.retries
        if retries is None:
            retries = INT_MAX if wanted.idempotent else self.defaults.retries
        flight = Flight(0, now + PATIENCE_US, retries, self._deadline_us(wanted))
        producer.flights.append(flight)
        self._go_on(producer, flight)

    def _deadline_us(self, wanted: Produce) -> int:
        whole_us = self.defaults.delivery_timeout_us
        if whole_us is None:
            return NEVER_US
        return self.kernel.now + max(whole_us, wanted.timeout_us + GIVE_UP_US)

    # ---- what a batch lacks: a partition, a leader, an id, its turn

    def _go_on(self, producer: Producer, flight: Flight) -> None:
        """Find out what a batch lacks, or send it."""
        wanted = producer.jobs[0].input
        leaders = self.routing.known(producer, wanted.topic)
        if flight.batch is None and (leaders is not None or wanted.partition is not None):
            partition = self.routing.partition(producer, wanted, leaders or {})
            self.name_records(producer, flight, partition)
        leader = -1 if leaders is None else leaders.get(flight.partition, -1)
        if leader < 0:
            self._ask(producer, flight)
        elif not wanted.idempotent:
            self.delivery.send(producer, flight, leader)
        elif producer.identity.producer_id < 0:
            self._identify(producer, flight)
        elif self.sequencer.may_send(producer, flight):
            self.sequencer.number(producer, flight)
            self.delivery.send(producer, flight, leader)
        else:
            flight.phase, flight.resume_us = WAITING, self.kernel.now

    def name_records(self, producer: Producer, flight: Flight, partition: int) -> None:
        """Give the batch's records a partition and their ids, and write them into the ledger."""
        job, state = producer.jobs[0], self.clients.state
        wanted = job.input
        count = min(wanted.batch, wanted.count - job.sent)
        if wanted.count == 1:
            values = [wanted.value]
        else:
            values = [f"{wanted.value}-{i}" for i in range(job.sent, job.sent + count)]
        keys: list[str | None] = [] if wanted.key is None else [wanted.key] * count
        first, state.next_record = state.next_record, state.next_record + count
        job.sent += count
        flight.partition, flight.tp = partition, f"{wanted.topic}-{partition}"
        flight.batch = RecordBatch(0, count, -1, first)
        flight.size = request_bytes(self.profile, keys, values)
        self.routing.gave(producer, wanted, flight.size)
        acks = self.delivery.acks_of(wanted)
        state.ledger.append(LedgerEntry(first, producer.name, flight.tp, keys, values, acks))
        self.kernel.emit(events.ProduceSent, producer.name, flight.tp, first, keys, values, acks)

    # ---- asking for the leader

    def _ask(self, producer: Producer, flight: Flight) -> None:
        flight.phase, flight.ask = ASKING, self.clients.askable()
        flight.is_unknown = False
        self._ask_next(producer, flight)

    def _ask_next(self, producer: Producer, flight: Flight) -> None:
        topic = producer.jobs[0].input.topic
        if flight.ask:
            flight.asked = flight.ask.pop(0)
            flight.request = self.clients.ask(flight.asked, topic)
            self.delivery.limit(producer, flight, PATIENCE_US)
        elif flight.is_unknown:
            self.delivery.failed(producer, flight, "UNKNOWN_TOPIC_OR_PARTITION")
        else:
            self.delivery.failed(producer, flight, self.clients.no_leader_error(topic))

    def told(self, source: int, message: MetadataResponse) -> bool:
        """A broker answered a metadata question; False if no producer asked it."""
        found = self._waiting_for(message.request, ASKING)
        if found is None:
            return False
        producer, flight = found
        self._told(producer, flight, message)
        self._pump(producer)
        return True

    def _told(self, producer: Producer, flight: Flight, message: MetadataResponse) -> None:
        if message.error == "INVALID_TOPIC_EXCEPTION":
            self.delivery.failed(producer, flight, message.error)
            return
        if message.error == "NONE":
            leaders: Leaders = message.leaders
            if flight.batch is None:
                wanted = producer.jobs[0].input
                self.name_records(
                    producer, flight, self.routing.partition(producer, wanted, leaders)
                )
            if leaders.get(flight.partition, -1) >= 0:
                self.routing.learn(producer, message.topic, leaders)
                self._go_on(producer, flight)
                return
            flight.is_unknown = flight.partition not in leaders
        self._ask_next(producer, flight)

    # ---- asking for a producer id

    def _identify(self, producer: Producer, flight: Flight) -> None:
        flight.phase, flight.ask = IDENTIFYING, self.clients.askable()
        self._identify_next(producer, flight)

    def _identify_next(self, producer: Producer, flight: Flight) -> None:
        if not flight.ask:
            self.delivery.failed(producer, flight, "NETWORK_EXCEPTION")
            return
        flight.asked = flight.ask.pop(0)
        flight.request = self.network.send(CLIENTS, flight.asked, InitProducerIdRequest())
        self.delivery.limit(producer, flight, PATIENCE_US)

    def identified(self, message: InitProducerIdResponse) -> None:
        """A broker gave out a producer id, or could not."""
        found = self._waiting_for(message.request, IDENTIFYING)
        if found is None:
            return
        producer, flight = found
        if message.error == "NONE":
            producer.identity.producer_id = message.producer_id
            producer.identity.epoch = message.producer_epoch
            self._go_on(producer, flight)
        elif ERRORS[message.error].retriable:
            self._identify_next(producer, flight)
        else:
            self.delivery.failed(producer, flight, message.error)
        self._pump(producer)

    # ---- answers, time limits, connections

    def _waiting_for(self, request: int, phase: str) -> tuple[Producer, Flight] | None:
        """The batch that waits for the answer to a request."""
        for producer in self.clients.state.producers.values():
            for flight in producer.flights:
                if flight.request == request and flight.phase == phase:
                    return producer, flight
        return None

    def answered(self, message: ProduceResponse) -> None:
        """A leader answered."""
        found = self._waiting_for(message.request, SENT)
        if found is not None:
            producer, flight = found
            self.delivery.answered(producer, flight, message)
            self._pump(producer)

    def timer(self, name: str, token: int) -> None:
        """A pause is over, an answer has not come in time, or a batch's whole time is over."""
        producer = self.clients.state.producers[name]
        resumed = bool(producer.jobs) and producer.jobs[0].token == token
        if resumed:
            producer.jobs[0].token = 0
        for flight in [each for each in producer.flights if each.token == token]:
            if self.kernel.now >= flight.deadline_us:
                self.delivery.expired(producer, flight)
            elif flight.phase == ASKING:
                self._ask_next(producer, flight)
            elif flight.phase == IDENTIFYING:
                self._identify_next(producer, flight)
            elif flight.phase == SENT:
                self.delivery.unanswered(producer, flight)
        self._pump(producer, resumed=resumed)

    def connection_lost(self, message: ConnectionLost) -> None:
        """All connections broke, or that of one request; or one was refused: nothing appended."""
        peer, request = message.peer, message.request
        refused = request and not message.lost
        for producer in self.clients.state.producers.values():
            under_way = {flight.request for flight in producer.flights}
            broken = not request or (message.lost and request in under_way)
            for flight in list(producer.flights):
                if not broken and request != flight.request:
                    continue
                if flight.phase == ASKING and flight.asked == peer:
                    self._ask_next(producer, flight)
                elif flight.phase == IDENTIFYING and flight.asked == peer:
                    self._identify_next(producer, flight)
                elif flight.phase == SENT and flight.target == peer:
                    error = "NOT_LEADER_OR_FOLLOWER" if refused else "NETWORK_EXCEPTION"
                    self.delivery.failed(producer, flight, error)
            if broken or request <= producer.unanswered:
                self.routing.forget_broker(producer, peer)
            self._pump(producer)


def _has_room(producer: Producer, job: Job) -> bool:
    """Whether another batch may be under way: none waits or asks, and there are not too many."""
    under_way = producer.flights
    return len(under_way) < job.input.in_flight and all(f.phase == SENT for f in under_way)
