"""Reading partitions one after another: finding each leader, fetching up to the high watermark.

Since 2.1 (KIP-320) a consumer knows the epoch of the record before its position. When it finds the
partition in another epoch than that in which it last saw the position to be good, it asks the
leader where the epoch ends before it reads on: an end below the position means that records which
it has been given were truncated. Source: ``Fetcher``, ``OffsetsForLeaderEpochClient`` and
``SubscriptionState.maybeCompleteValidation`` of the Java client 2.1 to 3.9.
"""

from collections.abc import Callable
from typing import Final

from emulator import events
from emulator.clients.context import ClientContext
from emulator.clients.network_client import ANSWER_US, NO_LEADER, NetworkClient, note_answer
from emulator.clients.state import Consumer, Reading
from emulator.protocol import (
    ConnectionLost,
    FetchedPartition,
    FetchPartition,
    FetchRequest,
    FetchResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    MetadataRequest,
    MetadataResponse,
    OffsetsForLeaderEpochRequest,
    OffsetsForLeaderEpochResponse,
)
from emulator.protocol.fetch import EARLIEST, NO_LIMIT

RETRY_US: Final = 100_000
PATIENCE_US: Final = 3_000_000
"""How long a statement looks for a partition's leader."""
ROUTING: Final = frozenset(
    (
        "NOT_LEADER_OR_FOLLOWER",
        "UNKNOWN_TOPIC_OR_PARTITION",
        "FENCED_LEADER_EPOCH",
        "UNKNOWN_LEADER_EPOCH",
    )
)
"""Errors after which a consumer asks for the leader, and the epoch, again."""
UNDEFINED: Final = -1
CONSUMER: Final = -1
"""The replica id in requests of consumers, which are no replica."""


class Fetcher:
    """Reads the partitions of a consumer's statement."""

    def __init__(
        self,
        context: ClientContext,
        connections: NetworkClient,
        done: Callable[[Consumer, str], None],
    ) -> None:
        """Act in ``context``; ``done`` is told with what error a statement's reading ended."""
        self.context = context
        self.kernel = context.kernel
        self.connections = connections
        self.done = done
        defaults = context.consumer_defaults
        self.partition_max_bytes = defaults.max_partition_fetch_bytes
        is_limited = context.profile.has("fetch_response_max_bytes")
        self.max_bytes = defaults.fetch_max_bytes if is_limited else NO_LIMIT

    def start(self, consumer: Consumer) -> None:
        """Read the partitions that the statement names, or all of its topic."""
        self._ask(consumer, _reading_of(consumer))

    def read_from(
        self, consumer: Consumer, positions: dict[int, int], epochs: dict[int, int]
    ) -> None:
        """Read these partitions from these offsets; ``epochs`` as far as they are known."""
        reading = _reading_of(consumer)
        reading.positions, reading.left = positions, sorted(positions)
        reading.epochs = epochs
        if reading.left:
            self._next_partition(reading)
            self._ask(consumer, reading)
        else:
            self.done(consumer, "NONE")

    # ---- finding leaders

    def _ask(self, consumer: Consumer, reading: Reading) -> None:
        reading.target = -1
        self.connections.begin(consumer.connections, reading.question)
        self._ask_next(consumer, reading)

    def _ask_next(self, consumer: Consumer, reading: Reading) -> None:
        question = reading.question
        if question.left:
            question.asked = question.left.pop(0)
            request = MetadataRequest(reading.input.topic)
            reading.request = self.context.send(question.asked, request)
            self._limit(consumer, reading, ANSWER_US)
        else:
            error = NO_LEADER if question.error == "NONE" else question.error
            self._look_again(consumer, reading, error)

    def _limit(self, consumer: Consumer, reading: Reading, delay_us: int) -> None:
        reading.token = self.context.new_id()
        self.context.later("consumer", consumer.name, reading.token, delay_us)

    def told(self, source: int, message: MetadataResponse) -> None:
        """A broker answered a metadata question."""
        for consumer in self.context.state.consumers.values():
            reading = consumer.reading
            if reading is not None and reading.request == message.request and reading.target < 0:
                self.connections.answered(consumer.connections, source)
                self._told(consumer, reading, message)
                return

    def _told(self, consumer: Consumer, reading: Reading, message: MetadataResponse) -> None:
        if reading.left is None and message.partitions:
            named = reading.input.partition
            reading.left = sorted(message.partitions) if named is None else [named]
            self._next_partition(reading)
        if consumer.membership is not None:
            consumer.membership.counted(message.topic, len(message.partitions))
        found = message.partitions.get(reading.partition)
        if found is not None and found.leader >= 0:
            reading.preferred = -1
            is_new = found.leader_epoch != reading.leader_epoch
            reading.leader_epoch = found.leader_epoch
            if is_new and reading.partition in reading.epochs:
                self._validate(consumer, reading, found.leader)
            else:
                self._fetch(consumer, reading, found.leader)
        else:
            note_answer(reading.question, message, reading.partition)
            self._ask_next(consumer, reading)

    def _next_partition(self, reading: Reading) -> None:
        assert reading.left
        reading.partition = reading.left.pop(0)
        reading.offset = reading.positions.get(reading.partition, reading.input.offset or 0)
        reading.patience_us = self.kernel.now + PATIENCE_US
        reading.leader_epoch = UNDEFINED

    # ---- is the position still good?

    def _validate(self, consumer: Consumer, reading: Reading, leader: int) -> None:
        """Ask the leader where the epoch of the record before the position ends."""
        reading.target, reading.validating = leader, True
        asked = {_tp(reading): (reading.leader_epoch, reading.epochs[reading.partition])}
        request = OffsetsForLeaderEpochRequest(CONSUMER, asked, one_shot=True)
        reading.request = self.context.send(leader, request)
        self._limit(consumer, reading, ANSWER_US)

    def validated(self, source: int, message: OffsetsForLeaderEpochResponse) -> None:
        """A leader told where an epoch ends."""
        for consumer in self.context.state.consumers.values():
            reading = consumer.reading
            if reading is not None and reading.validating and reading.request == message.request:
                self.connections.answered(consumer.connections, source)
                reading.validating = False
                self._compare(consumer, reading, *message.partitions[_tp(reading)])
                return

    def _compare(
        self, consumer: Consumer, reading: Reading, error: str, epoch: int, end_offset: int
    ) -> None:
        if error != "NONE":
            reading.leader_epoch = UNDEFINED
            self._look_again(consumer, reading, error)
            return
        diverges = UNDEFINED in (epoch, end_offset)
        if diverges or end_offset < reading.offset:
            known = UNDEFINED if diverges else end_offset
            position_epoch = reading.epochs.pop(reading.partition)
            self.kernel.emit(
                events.ConsumerTruncationDetected,
                consumer.name,
                _tp(reading),
                reading.offset,
                position_epoch,
                known,
            )
            if not reading.input.from_beginning:
                self._end(consumer, reading, "OFFSET_OUT_OF_RANGE")
                return
            if diverges:
                self._move(reading, 0)
            else:
                self._move(reading, end_offset)
                reading.epochs[reading.partition] = epoch
        self._fetch(consumer, reading, reading.target)

    @staticmethod
    def _move(reading: Reading, offset: int) -> None:
        reading.offset = offset
        if reading.stage:
            reading.positions[reading.partition] = offset

    # ---- where does the log begin?

    def _reset(self, consumer: Consumer, reading: Reading) -> None:
        """Out of range, ask where the log begins (auto.offset.reset=earliest).

        Source: ``OffsetFetcher.resetPositionsIfNeeded`` (``Fetcher.resetOffset`` before).
        """
        reading.resetting = True
        request = ListOffsetsRequest(CONSUMER, _tp(reading), reading.leader_epoch, EARLIEST)
        reading.request = self.context.send(reading.target, request)
        self._limit(consumer, reading, ANSWER_US)

    def located(self, source: int, message: ListOffsetsResponse) -> None:
        """A leader told where its log begins."""
        for consumer in self.context.state.consumers.values():
            reading = consumer.reading
            if reading is not None and reading.resetting and reading.request == message.request:
                self.connections.answered(consumer.connections, source)
                reading.resetting = False
                if message.error != "NONE":
                    self._look_again(consumer, reading, message.error)
                elif message.offset == reading.offset:
                    self._end(consumer, reading, "OFFSET_OUT_OF_RANGE")
                else:
                    self._move(reading, message.offset)
                    reading.epochs.pop(reading.partition, None)
                    self._fetch(consumer, reading, reading.target)
                return

    # ---- reading

    def _fetch(self, consumer: Consumer, reading: Reading, broker: int) -> None:
        reading.target = broker
        wanted = FetchPartition(
            reading.offset, reading.leader_epoch, max_bytes=self.partition_max_bytes
        )
        # A statement reads what there is: its fetches do not wait for more (fetch.max.wait.ms).
        request = FetchRequest(
            CONSUMER,
            0,
            {_tp(reading): wanted},
            one_shot=True,
            rack=reading.input.rack,
            max_bytes=self.max_bytes,
        )
        reading.request = self.context.send(broker, request)
        self._limit(consumer, reading, ANSWER_US)

    def fetched(self, source: int, message: FetchResponse) -> None:
        """Records came, or there are none left, or an error."""
        for consumer in self.context.state.consumers.values():
            reading = consumer.reading
            if reading is not None and reading.request == message.request:
                self.connections.answered(consumer.connections, source)
                self._take(consumer, reading, message)
                return

    def _take(self, consumer: Consumer, reading: Reading, message: FetchResponse) -> None:
        tp, row = next(iter(message.partitions.items()))
        if row.error in ROUTING or (row.error != "NONE" and reading.preferred >= 0):
            self._look_again(consumer, reading, row.error)
        elif row.error == "OFFSET_OUT_OF_RANGE" and reading.input.from_beginning:
            self._reset(consumer, reading)
        elif row.error != "NONE":
            self._end(consumer, reading, row.error)
        elif row.preferred_read_replica >= 0:
            reading.preferred = row.preferred_read_replica
            self._fetch(consumer, reading, reading.preferred)
        elif self._give(consumer, reading, tp, row):
            self._fetch(consumer, reading, reading.target)
        elif reading.left and not _is_full(reading):
            self._next_partition(reading)
            self._ask(consumer, reading)
        else:
            self._end(consumer, reading, "NONE")

    def _give(self, consumer: Consumer, reading: Reading, tp: str, row: FetchedPartition) -> bool:
        """Hand out what lies between the position and the HW; False if that is nothing."""
        limit = reading.input.max_records
        runs: list[tuple[int, int]] = []
        offset, epoch = reading.offset, UNDEFINED
        for batch in row.batches:
            start = max(batch.base_offset, offset)
            end = min(batch.end_offset, row.high_watermark)
            if limit is not None:
                end = min(end, start + limit - reading.given)
            if end > start:
                runs.append((batch.first_record + start - batch.base_offset, end - start))
                reading.given += end - start
                offset, epoch = end, batch.leader_epoch
        if not runs:
            return False
        self.kernel.emit(events.RecordsConsumed, consumer.name, tp, reading.offset, runs, offset)
        consumer.runs += runs
        self._move(reading, offset)
        if UNDEFINED not in (reading.leader_epoch, epoch):
            reading.epochs[reading.partition] = epoch
        reading.patience_us = self.kernel.now + PATIENCE_US
        return True

    # ---- pauses and ends

    def _look_again(self, consumer: Consumer, reading: Reading, error: str) -> None:
        """Nobody leads there: ask for the leader after a pause, or end after a few seconds."""
        reading.target = reading.question.asked = -1
        reading.validating = reading.resetting = False
        if self.kernel.now < reading.patience_us:
            self._limit(consumer, reading, RETRY_US)
        else:
            self._end(consumer, reading, error)

    def _end(self, consumer: Consumer, reading: Reading, error: str) -> None:
        reading.validating = reading.resetting = False
        reading.target = reading.question.asked = -1
        self.done(consumer, error)

    def timer(self, name: str, token: int) -> None:
        """A pause is over, or an answer has not come in time."""
        consumer = self.context.state.consumers[name]
        reading = consumer.reading
        if reading is None or reading.token != token:
            return
        if reading.target >= 0:
            self.connections.is_silent(consumer.connections, reading.target)
            self.context.withdraw(reading.target, reading.request)
            self._end(consumer, reading, "NETWORK_EXCEPTION")
        elif reading.question.asked >= 0:
            self.connections.is_silent(consumer.connections, reading.question.asked)
            self._ask_next(consumer, reading)
        else:
            self._ask(consumer, reading)

    def connection_lost(self, message: ConnectionLost) -> None:
        """A connection broke or was refused."""
        peer, request = message.peer, message.request
        for consumer in self.context.state.consumers.values():
            reading = consumer.reading
            if not request and peer in consumer.connections.open:
                self.connections.broke(consumer.connections, peer)
            if reading is None or request not in (0, reading.request):
                continue
            if reading.target == peer:
                self.connections.broke(consumer.connections, peer)
                self._look_again(consumer, reading, "NOT_LEADER_OR_FOLLOWER")
            elif reading.target < 0 and reading.question.asked == peer:
                self.connections.broke(consumer.connections, peer)
                self._ask_next(consumer, reading)


def _reading_of(consumer: Consumer) -> Reading:
    assert consumer.reading is not None
    return consumer.reading


def _tp(reading: Reading) -> str:
    return f"{reading.input.topic}-{reading.partition}"


def _is_full(reading: Reading) -> bool:
    limit = reading.input.max_records
    return limit is not None and reading.given >= limit
