"""Consumers: reading up to the high watermark, never past it."""

from typing import TYPE_CHECKING

from emulator import events
from emulator.clients.state import Consumer, Reading
from emulator.events import CLIENTS
from emulator.inputs.statements import Consume
from emulator.protocol import (
    FetchPartition,
    FetchRequest,
    FetchResponse,
    MetadataResponse,
    RecordBatch,
)

if TYPE_CHECKING:
    from emulator.clients.client_host import Clients

RETRY_US = 100_000
PATIENCE_US = 3_000_000
ANSWER_US = 3_000_000
"""How long a consumer waits for an answer."""
ROUTING = frozenset(("NOT_LEADER_OR_FOLLOWER", "UNKNOWN_TOPIC_OR_PARTITION"))


class Consumers:
    """The consumers' behaviour."""

    def __init__(self, clients: "Clients") -> None:
        """Act among ``clients``."""
        self.clients = clients
        self.world = clients.world
        self.kernel = clients.world.kernel

    def start(self, wanted: Consume) -> int:
        """Begin a `consume`; returns its id, under which its end is noted."""
        state = self.clients.state
        consumer = state.consumers.setdefault(wanted.consumer, Consumer(wanted.consumer))
        token = self.clients.new_id()
        reading = Reading(token, wanted, token, self.kernel.now + PATIENCE_US)
        consumer.queue.append(reading)
        if consumer.reading is None:
            self._next(consumer)
        return reading.id

    def _next(self, consumer: Consumer) -> None:
        if consumer.queue:
            consumer.reading = consumer.queue.pop(0)
            consumer.runs = []
            consumer.error = "NONE"
            if consumer.reading.input.group is None:
                self._ask(consumer)
            else:
                self.clients.groups.positions.begin(consumer, consumer.reading)

    def read_positions(self, consumer: Consumer) -> None:
        """A group's statement knows where to begin: read its partitions one after another."""
        reading = consumer.reading
        assert reading is not None
        reading.left = sorted(reading.positions)
        if reading.left:
            self._next_partition(reading)
            self._ask(consumer)
        else:
            self._finish(consumer, "NONE")

    # ---- finding leaders

    def _ask(self, consumer: Consumer) -> None:
        reading = consumer.reading
        assert reading is not None
        reading.ask = self.clients.askable()
        self._ask_next(consumer)

    def _ask_next(self, consumer: Consumer) -> None:
        reading = consumer.reading
        assert reading is not None
        reading.target = -1
        if reading.ask:
            reading.asked = reading.ask.pop(0)
            reading.request = self.clients.ask(reading.asked, reading.input.topic)
            self._limit(consumer, ANSWER_US)
        elif self.kernel.now < reading.patience_us:
            reading.asked = -1
            self._limit(consumer, RETRY_US)
        else:
            self._finish(consumer, self.clients.no_leader_error(reading.input.topic))

    def _limit(self, consumer: Consumer, delay_us: int) -> None:
        reading = consumer.reading
        assert reading is not None
        reading.token = self.clients.new_id()
        self.clients.later("consumer", consumer.name, reading.token, delay_us)

    def told(self, source: int, message: MetadataResponse) -> None:
        """A broker answered a metadata question."""
        for consumer in self.clients.state.consumers.values():
            reading = consumer.reading
            if reading is not None and reading.request == message.request and reading.target < 0:
                self._told(consumer, reading, message)
                return

    def _told(self, consumer: Consumer, reading: Reading, message: MetadataResponse) -> None:
        if reading.left is None and message.leaders:
            named = reading.input.partition
            reading.left = sorted(message.leaders) if named is None else [named]
            self._next_partition(reading)
        if consumer.membership is not None:
            consumer.membership.counted(message.topic, len(message.leaders))
        leader = message.leaders.get(reading.partition, -1)
        if leader >= 0:
            reading.preferred = -1
            self._fetch(consumer, leader)
        else:
            self._ask_next(consumer)

    def _next_partition(self, reading: Reading) -> None:
        assert reading.left
        reading.partition = reading.left.pop(0)
        reading.offset = reading.positions.get(reading.partition, reading.input.offset or 0)
        reading.patience_us = self.kernel.now + PATIENCE_US

    # ---- reading

    def _fetch(self, consumer: Consumer, leader: int) -> None:
        reading = consumer.reading
        assert reading is not None
        reading.target = leader
        tp = f"{reading.input.topic}-{reading.partition}"
        asked = {tp: FetchPartition(reading.offset)}
        request = FetchRequest(-1, 0, asked, one_shot=True, rack=reading.input.rack)
        reading.request = self.world.network.send(CLIENTS, leader, request)
        self._limit(consumer, ANSWER_US)

    def fetched(self, message: FetchResponse) -> None:
        """Records came, or there are none left, or an error."""
        for consumer in self.clients.state.consumers.values():
            reading = consumer.reading
            if reading is not None and reading.request == message.request:
                self._take(consumer, reading, message)
                return

    def _take(self, consumer: Consumer, reading: Reading, message: FetchResponse) -> None:
        tp, row = next(iter(message.partitions.items()))
        if row.error in ROUTING or (row.error != "NONE" and reading.preferred >= 0):
            self._look_again(consumer, reading, row.error)
        elif row.error == "OFFSET_OUT_OF_RANGE" and self._resets(reading, row.log_start):
            self._fetch(consumer, reading.target)
        elif row.error != "NONE":
            self._finish(consumer, row.error)
        elif row.preferred_read_replica >= 0:
            reading.preferred = row.preferred_read_replica
            self._fetch(consumer, reading.preferred)
        elif not self._give(consumer, reading, tp, row.batches, row.high_watermark):
            if reading.left and not self._full(reading):
                self._next_partition(reading)
                self._ask(consumer)
            else:
                self._finish(consumer, "NONE")
        else:
            self._fetch(consumer, reading.target)

    @staticmethod
    def _resets(reading: Reading, log_start: int) -> bool:
        """Out of range, begin at the log's start if asked to (auto.offset.reset=earliest)."""
        if not reading.input.from_beginning or reading.offset == log_start:
            return False
        reading.offset = log_start
        return True

    def _look_again(self, consumer: Consumer, reading: Reading, error: str) -> None:
        """Nobody leads there: ask for the leader after a pause, or end after a few seconds."""
        reading.target, reading.asked = -1, -1
        if self.kernel.now < reading.patience_us:
            self._limit(consumer, RETRY_US)
        else:
            self._finish(consumer, error)

    def _full(self, reading: Reading) -> bool:
        limit = reading.input.max_records
        return limit is not None and reading.given >= limit

    def _give(
        self,
        consumer: Consumer,
        reading: Reading,
        tp: str,
        batches: list[RecordBatch],
        high_watermark: int,
    ) -> bool:
        """Hand out what lies between the position and the HW; False if that is nothing."""
        limit = reading.input.max_records
        runs: list[tuple[int, int]] = []
        offset = reading.offset
        for batch in batches:
            start = max(batch.base_offset, offset)
            end = min(batch.end_offset, high_watermark)
            if limit is not None:
                end = min(end, start + limit - reading.given)
            if end > start:
                runs.append((batch.first_record + start - batch.base_offset, end - start))
                reading.given += end - start
                offset = end
        if not runs:
            return False
        self.kernel.emit(events.RecordsConsumed, consumer.name, tp, reading.offset, runs, offset)
        consumer.runs += runs
        reading.offset = offset
        if reading.stage:
            reading.positions[reading.partition] = offset
        reading.patience_us = self.kernel.now + PATIENCE_US
        return True

    def _finish(self, consumer: Consumer, error: str) -> None:
        reading = consumer.reading
        assert reading is not None
        reading.target = reading.asked = -1
        if reading.stage:
            self.clients.groups.positions.finished(consumer, error)
        else:
            self.close(consumer, error)

    def close(self, consumer: Consumer, error: str) -> None:
        """The statement is over; the consumer goes on with its next one."""
        reading = consumer.reading
        assert reading is not None
        consumer.position, consumer.error = reading.offset, error
        if reading.partition < 0:
            consumer.position = reading.input.offset or 0
        tp = f"{reading.input.topic}-{max(0, reading.partition)}"
        self.kernel.emit(events.ConsumeFinished, consumer.name, tp, consumer.position, error)
        self.clients.state.finished[reading.id] = error
        consumer.reading = None
        self._next(consumer)

    def timer(self, name: str, token: int) -> None:
        """A pause is over, or an answer has not come in time."""
        consumer = self.clients.state.consumers[name]
        reading = consumer.reading
        if reading is None or reading.token != token:
            return
        if reading.target >= 0:
            self.world.network.withdraw(CLIENTS, reading.target, {reading.request})
            self._finish(consumer, "NETWORK_EXCEPTION")
        elif reading.asked >= 0:
            self._ask_next(consumer)
        else:
            self._ask(consumer)

    def connection_lost(self, peer: int, request: int) -> None:
        """A connection broke or was refused."""
        for consumer in self.clients.state.consumers.values():
            reading = consumer.reading
            if reading is None or request not in (0, reading.request):
                continue
            if reading.target == peer:
                self._look_again(consumer, reading, "NOT_LEADER_OR_FOLLOWER")
            elif reading.target < 0 and reading.asked == peer:
                self._ask_next(consumer)
