"""Producers: choosing partitions, finding leaders, sending, retrying.

A producer sends one batch at a time, each after the last one's answer. It goes on writing to the
leader it knows until an error tells it otherwise. Errors that only say where the leader is not
(nothing was appended) cost no retry for a while.
"""

from typing import TYPE_CHECKING

from emulator import events
from emulator.clients import partitioner
from emulator.clients.state import (
    ASKING,
    SENT,
    WAITING,
    Flight,
    Job,
    LedgerEntry,
    Producer,
)
from emulator.config import producer_defaults
from emulator.errors import ERRORS
from emulator.events import CLIENTS
from emulator.inputs import Produce
from emulator.messages import (
    MetadataResponse,
    ProduceRequest,
    ProduceResponse,
    RecordBatch,
)

if TYPE_CHECKING:
    from emulator.clients.clients import Clients

RETRY_US = 100_000
PATIENCE_US = 3_000_000
GIVE_UP_US = 2_000_000
"""How much longer than the leader's time limit a client waits for an answer."""
ROUTING = frozenset(
    ("UNKNOWN_TOPIC_OR_PARTITION", "LEADER_NOT_AVAILABLE", "NOT_LEADER_OR_FOLLOWER")
)
KEEPS_LEADER = frozenset(
    ("NONE", "REQUEST_TIMED_OUT", "NOT_ENOUGH_REPLICAS", "NOT_ENOUGH_REPLICAS_AFTER_APPEND")
)
NEVER_US = (1 << 63) - 1
"""Up to 2.0 there is no delivery.timeout.ms: only the retries run out."""


class Producers:
    """The producers' behaviour."""

    def __init__(self, clients: "Clients") -> None:
        """Act among ``clients``."""
        self.clients = clients
        self.world = clients.world
        self.kernel = clients.world.kernel

    # ---- statements

    def start(self, wanted: Produce) -> int:
        """Begin a `produce`; returns its id, under which its end is noted."""
        state = self.clients.state
        producer = state.producers.setdefault(wanted.producer, Producer(wanted.producer))
        job = Job(self.clients.new_id(), wanted, next_us=self.kernel.now)
        producer.jobs.append(job)
        if len(producer.jobs) == 1:
            self._next_batch(producer)
        return job.id

    def _next_batch(self, producer: Producer) -> None:
        """Go on with the producer's first job, or note its end."""
        while producer.jobs and producer.jobs[0].sent >= producer.jobs[0].input.count:
            job = producer.jobs.pop(0)
            self.clients.state.finished[job.id] = job.error
        if not producer.jobs:
            return
        job = producer.jobs[0]
        token = self.clients.new_id()
        wait_us = job.next_us - self.kernel.now
        retries = job.input.retries
        if retries is None:
            retries = producer_defaults(self.world.settings.version).retries
        producer.flight = Flight(token, 0, retries)
        handed_over = job.sent > 0 and self.acks_of(job.input) == 0  # no answer comes between
        if wait_us > 0 or handed_over:
            producer.flight.phase = WAITING
            self.clients.later("producer", producer.name, token, max(0, wait_us))
        else:
            self._begin(producer)

    def _begin(self, producer: Producer) -> None:
        """Take the next records of the job into a batch, and find out where it goes."""
        job, flight = producer.jobs[0], producer.flight
        assert flight is not None
        job.next_us = self.kernel.now + job.input.every_us
        flight.patience_us = self.kernel.now + PATIENCE_US
        delivery_us = producer_defaults(self.world.settings.version).delivery_timeout_us
        flight.deadline_us = NEVER_US if delivery_us is None else self.kernel.now + delivery_us
        flight.phase = ASKING
        known = producer.leaders.get(job.input.topic)
        if known is not None or job.input.partition is not None:
            self._choose(producer, known or {})
        self._route(producer)

    # ---- the partition

    def _choose(self, producer: Producer, leaders: dict[int, int]) -> None:
        job, flight = producer.jobs[0], producer.flight
        assert flight is not None
        flight.partition = self._partition(producer, job.input, leaders)
        flight.tp = f"{job.input.topic}-{flight.partition}"
        self._name_records(producer, job, flight)

    def _partition(self, producer: Producer, wanted: Produce, leaders: dict[int, int]) -> int:
        if wanted.partition is not None:
            return wanted.partition
        count = max(1, len(leaders))
        if wanted.key is not None and wanted.partitioner != "roundrobin":
            return partitioner.partition_for_key(wanted.key.encode(), count)
        available = [p for p, leader in sorted(leaders.items()) if leader >= 0]
        topic = wanted.topic
        rotates = wanted.partitioner == "roundrobin"
        sticks = self.world.profile.has("sticky_partitioner")
        if rotates or (wanted.partitioner == "default" and not sticks):
            turn = producer.round_robin.get(topic)
            if turn is None:
                turn = 0 if rotates else self.kernel.random_below(1 << 30)
            producer.round_robin[topic] = turn + 1
            return partitioner.round_robin(turn, available, count)
        chosen = partitioner.sticky(
            producer.sticky.get(topic), available, count, self.kernel.random()
        )
        producer.sticky[topic] = chosen
        return chosen

    def _name_records(self, producer: Producer, job: Job, flight: Flight) -> None:
        """Give the batch's records their ids, and write them into the ledger."""
        wanted = job.input
        count = min(wanted.batch, wanted.count - job.sent)
        if wanted.count == 1:
            values = [wanted.value]
        else:
            values = [f"{wanted.value}-{i}" for i in range(job.sent, job.sent + count)]
        keys: list[str | None] = [] if wanted.key is None else [wanted.key] * count
        state = self.clients.state
        first, state.next_record = state.next_record, state.next_record + count
        acks = self.acks_of(wanted)
        state.ledger.append(LedgerEntry(first, producer.name, flight.tp, keys, values, acks))
        job.sent += count
        flight.batch = RecordBatch(0, count, -1, first)
        self.kernel.emit(events.ProduceSent, producer.name, flight.tp, first, keys, values, acks)

    def acks_of(self, wanted: Produce) -> int:
        """The acks asked for, or the release's default."""
        if wanted.acks is not None:
            return wanted.acks
        return -1 if self.world.profile.has("acks_all_by_default") else 1

    # ---- the leader

    def _route(self, producer: Producer) -> None:
        """Send to the leader that is known, or ask for it."""
        job, flight = producer.jobs[0], producer.flight
        assert flight is not None
        leader = producer.leaders.get(job.input.topic, {}).get(flight.partition, -1)
        if leader >= 0:
            self._send(producer, leader)
        else:
            flight.phase = ASKING
            flight.ask = self.clients.askable()
            self._ask_next(producer)

    def _ask_next(self, producer: Producer) -> None:
        job, flight = producer.jobs[0], producer.flight
        assert flight is not None
        if not flight.ask:
            self._failed(producer, self.clients.no_leader_error(job.input.topic))
            return
        flight.asked = flight.ask.pop(0)
        flight.request = self.clients.ask(flight.asked, job.input.topic)
        flight.token = self.clients.new_id()
        self.clients.later("producer", producer.name, flight.token, PATIENCE_US)

    def told(self, source: int, message: MetadataResponse) -> bool:
        """A broker answered a metadata question; False if no producer asked it."""
        for producer in self.clients.state.producers.values():
            flight = producer.flight
            if flight is not None and flight.phase == ASKING and flight.request == message.request:
                self._told(producer, flight, message)
                return True
        return False

    def _told(self, producer: Producer, flight: Flight, message: MetadataResponse) -> None:
        if message.error == "NONE":
            if not flight.tp:
                self._choose(producer, message.leaders)
            if message.leaders.get(flight.partition, -1) >= 0:
                producer.leaders[message.topic] = dict(message.leaders)
                self._send(producer, message.leaders[flight.partition])
                return
        self._ask_next(producer)

    # ---- sending and its end

    def _send(self, producer: Producer, leader: int) -> None:
        job, flight = producer.jobs[0], producer.flight
        assert flight is not None
        assert flight.batch is not None
        wanted = job.input
        acks = self.acks_of(wanted)
        flight.phase, flight.target = SENT, leader
        request = ProduceRequest(flight.tp, flight.batch, acks, wanted.timeout_us)
        flight.request = self.world.network.send(CLIENTS, leader, request)
        if acks == 0:
            self._acknowledged(producer, -1)
            return
        flight.token = self.clients.new_id()
        limit_us = wanted.timeout_us + GIVE_UP_US
        self.clients.later("producer", producer.name, flight.token, limit_us)

    def answered(self, message: ProduceResponse) -> None:
        """The leader answered."""
        for producer in self.clients.state.producers.values():
            flight = producer.flight
            if flight is not None and flight.phase == SENT and flight.request == message.request:
                if message.error == "NONE":
                    self._acknowledged(producer, message.base_offset)
                else:
                    self._failed(producer, message.error)
                return

    def _acknowledged(self, producer: Producer, base_offset: int) -> None:
        flight = producer.flight
        assert flight is not None
        assert flight.batch is not None
        batch = flight.batch
        producer.acked += batch.count
        self.kernel.emit(
            events.ProduceAcknowledged,
            producer.name,
            flight.tp,
            batch.first_record,
            batch.count,
            base_offset,
        )
        producer.flight = None
        self._next_batch(producer)

    def _failed(self, producer: Producer, error: str) -> None:
        """An attempt ended in an error.

        Try again if that is worth it, otherwise give the batch up.
        """
        job, flight = producer.jobs[0], producer.flight
        assert flight is not None
        if error not in KEEPS_LEADER:
            producer.leaders.pop(job.input.topic, None)
        free = error in ROUTING and self.kernel.now < flight.patience_us
        worth_it = ERRORS[error].retriable and flight.retries_left > 0
        if free or (worth_it and self.kernel.now < flight.deadline_us):
            if not free:
                flight.retries_left -= 1
                producer.retries += 1
            if flight.batch is not None and not free:
                self.kernel.emit(
                    events.ProduceRetried,
                    producer.name,
                    flight.tp,
                    flight.batch.first_record,
                    error,
                    not free,
                )
            flight.phase = WAITING
            flight.token = self.clients.new_id()
            self.clients.later("producer", producer.name, flight.token, RETRY_US)
            return
        self._give_up(producer, error)

    def _give_up(self, producer: Producer, error: str) -> None:
        job, flight = producer.jobs[0], producer.flight
        assert flight is not None
        if flight.batch is None:
            flight.partition = 0
            flight.tp = f"{job.input.topic}-0"
            self._name_records(producer, job, flight)
        batch = flight.batch
        assert batch is not None
        producer.failed += batch.count
        producer.errors += [error] * batch.count
        self.kernel.emit(
            events.ProduceFailed,
            producer.name,
            flight.tp,
            batch.first_record,
            batch.count,
            error,
        )
        job.error = error
        producer.flight = None
        self._next_batch(producer)

    def timer(self, name: str, token: int) -> None:
        """A pause is over, or an answer has not come in time."""
        producer = self.clients.state.producers[name]
        flight = producer.flight
        if flight is None or flight.token != token:
            return
        if flight.phase == WAITING:
            if flight.batch is None and flight.patience_us == 0:
                self._begin(producer)
            else:
                self._route(producer)
        elif flight.phase == ASKING:
            self._ask_next(producer)
        else:
            self.world.network.give_up(CLIENTS, flight.target)
            self._failed(producer, "NETWORK_EXCEPTION")

    def connection_lost(self, peer: int, request: int) -> None:
        """A connection broke or was refused (then nothing was appended)."""
        for producer in self.clients.state.producers.values():
            flight = producer.flight
            if flight is None:
                if request == 0:
                    _forget_leader(producer, peer)
            elif flight.phase == ASKING and flight.asked == peer and request in (0, flight.request):
                self._ask_next(producer)
            elif flight.phase == SENT and flight.target == peer:
                if request == flight.request:
                    self._failed(producer, "NOT_LEADER_OR_FOLLOWER")
                elif request == 0:
                    self._failed(producer, "NETWORK_EXCEPTION")
            elif request == 0:
                _forget_leader(producer, peer)


def _forget_leader(producer: Producer, broker: int) -> None:
    """An idle connection closed: the next record begins with a question."""
    for topic in [t for t, leaders in producer.leaders.items() if broker in leaders.values()]:
        del producer.leaders[topic]
