"""Reading partitions in turn: finding each leader and fetching up to the high watermark.

After all partitions have been read, a statement may wait for more records. It then fetches from all
leaders at once, and the brokers hold the fetches until there is data or fetch.max.wait.ms expires.

Since 2.1 (KIP-320) a consumer knows the leader epoch of the record before its position. If the
partition's leader epoch has changed since the position was last validated, it asks the leader for
that epoch's end offset before reading on: an end offset below the position means that records
already consumed were truncated. Source: ``Fetcher``, ``OffsetsForLeaderEpochClient`` and
``SubscriptionState.maybeCompleteValidation`` of the Java client 2.1 to 3.9.
"""

from collections.abc import Callable
from typing import Final

from emulator import events
from emulator.clients.context import ClientContext
from emulator.clients.network_client import NO_LEADER, RESPONSE_US, NetworkClient, note_response
from emulator.clients.state import Consumer, Reading
from emulator.common.names import split
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
from emulator.protocol.fetch import EARLIEST, LATEST, NO_LIMIT
from emulator.protocol.record_batch import of_aborted

RETRY_US: Final = 100_000
PATIENCE_US: Final = 3_000_000
"""How long a statement looks for a partition's leader, unless its own timeout is longer."""
ROUTING: Final = frozenset(
    (
        "NOT_LEADER_OR_FOLLOWER",
        "UNKNOWN_TOPIC_OR_PARTITION",
        "FENCED_LEADER_EPOCH",
        "UNKNOWN_LEADER_EPOCH",
    )
)
"""Errors after which a consumer refreshes the leader and its epoch."""
UNDEFINED: Final = -1
CONSUMER: Final = -1
"""The replica id in requests of consumers."""


class Fetcher:
    """Reads the partitions of a consumer's statement."""

    def __init__(
        self,
        context: ClientContext,
        connections: NetworkClient,
        done: Callable[[Consumer, str], None],
    ) -> None:
        """Use ``context``; ``done`` is called with the error when a statement's reading ends."""
        self.context = context
        self.kernel = context.kernel
        self.connections = connections
        self.done = done
        defaults = context.consumer_defaults
        self.partition_max_bytes = defaults.max_partition_fetch_bytes
        self.min_bytes = defaults.fetch_min_bytes
        self.max_wait_us = defaults.fetch_max_wait_us
        is_limited = context.profile.has("fetch_response_max_bytes")
        self.max_bytes = defaults.fetch_max_bytes if is_limited else NO_LIMIT

    def start(self, consumer: Consumer) -> None:
        """Read the partitions named in the statement, or all partitions of its topic."""
        self._ask(consumer, _reading_of(consumer))

    def read_from(
        self, consumer: Consumer, positions: dict[int, int], epochs: dict[int, int]
    ) -> None:
        """Read these partitions from these offsets; ``epochs`` holds the known leader epochs."""
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
            self._limit(consumer, reading, RESPONSE_US)
        else:
            error = NO_LEADER if question.error == "NONE" else question.error
            self._look_again(consumer, reading, error)

    def _limit(self, consumer: Consumer, reading: Reading, delay_us: int) -> None:
        reading.token = self.context.new_id()
        self.context.later("consumer", consumer.name, reading.token, delay_us)

    def metadata_received(self, source: int, message: MetadataResponse) -> None:
        for consumer in self.context.state.consumers.values():
            reading = consumer.reading
            if reading is not None and reading.request == message.request and reading.target < 0:
                self.connections.responded(consumer.connections, source)
                self._use_metadata(consumer, reading, message)
                return

    def _use_metadata(
        self, consumer: Consumer, reading: Reading, message: MetadataResponse
    ) -> None:
        if reading.left is None and message.partitions:
            named = reading.input.partition
            reading.left = sorted(message.partitions) if named is None else [named]
            self._next_partition(reading)
        if consumer.membership is not None:
            consumer.membership.counted(message.topic, len(message.partitions))
        partition = message.partitions.get(reading.partition)
        if partition is not None and partition.leader >= 0:
            reading.preferred = -1
            is_new = partition.leader_epoch != reading.leader_epoch
            reading.leader_epoch = partition.leader_epoch
            is_first = reading.partition not in reading.sources
            reading.sources[reading.partition] = partition.leader, partition.leader_epoch
            from_us = reading.input.from_timestamp_us
            if is_first and from_us is not None:
                self._locate(consumer, reading, partition.leader, from_us // 1_000)
            elif is_new and reading.partition in reading.epochs:
                self._validate(consumer, reading, partition.leader)
            else:
                self._fetch(consumer, reading, partition.leader)
        else:
            note_response(reading.question, message, reading.partition)
            self._ask_next(consumer, reading)

    def _next_partition(self, reading: Reading) -> None:
        assert reading.left
        reading.partition = reading.left.pop(0)
        reading.offset = reading.positions.get(reading.partition, reading.input.offset or 0)
        patience_us = PATIENCE_US
        if reading.input.timeout_us is not None:
            reading.positions[reading.partition] = reading.offset
            patience_us = max(patience_us, reading.input.timeout_us)
        reading.patience_us = self.kernel.now + patience_us
        reading.leader_epoch = UNDEFINED

    # ---- validating positions

    def _validate(self, consumer: Consumer, reading: Reading, leader: int) -> None:
        """Request the end offset of the leader epoch of the record before the position."""
        reading.target, reading.validating = leader, True
        asked = {_tp(reading): (reading.leader_epoch, reading.epochs[reading.partition])}
        request = OffsetsForLeaderEpochRequest(CONSUMER, asked, one_shot=True)
        reading.request = self.context.send(leader, request)
        self._limit(consumer, reading, RESPONSE_US)

    def validated(self, source: int, message: OffsetsForLeaderEpochResponse) -> None:
        """Handle the end offset of a leader epoch."""
        for consumer in self.context.state.consumers.values():
            reading = consumer.reading
            if reading is not None and reading.validating and reading.request == message.request:
                self.connections.responded(consumer.connections, source)
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
        if reading.stage or reading.input.timeout_us is not None:
            reading.positions[reading.partition] = offset

    # ---- offsets by timestamp

    def _locate(self, consumer: Consumer, reading: Reading, leader: int, timestamp_ms: int) -> None:
        """Request the offset of a timestamp from the leader.

        This is the timestamp in the statement, or the log start if the position is out of range
        (auto.offset.reset=earliest). Source: ``OffsetFetcher.offsetsForTimes`` and
        ``resetPositionsIfNeeded`` (formerly ``Fetcher.resetOffset``).
        """
        reading.target, reading.located_by = leader, timestamp_ms
        request = ListOffsetsRequest(CONSUMER, _tp(reading), reading.leader_epoch, timestamp_ms)
        reading.request = self.context.send(leader, request)
        self._limit(consumer, reading, RESPONSE_US)

    def located(self, source: int, message: ListOffsetsResponse) -> None:
        """Handle the offset of a timestamp."""
        for consumer in self.context.state.consumers.values():
            reading = consumer.reading
            if reading is None or reading.request != message.request:
                continue
            asked_ms, reading.located_by = reading.located_by, None
            if asked_ms is not None:
                self.connections.responded(consumer.connections, source)
                self._located(consumer, reading, asked_ms, message)
                return

    def _located(
        self, consumer: Consumer, reading: Reading, asked_ms: int, message: ListOffsetsResponse
    ) -> None:
        if message.error != "NONE":
            if asked_ms != EARLIEST:
                del reading.sources[reading.partition]  # the timestamp still has to be looked up
            self._look_again(consumer, reading, message.error)
        elif message.offset < 0:  # no record is that recent: start at the next one
            self._locate(consumer, reading, reading.target, LATEST)
        elif asked_ms == EARLIEST and message.offset == reading.offset:
            self._end(consumer, reading, "OFFSET_OUT_OF_RANGE")
        else:
            self._move(reading, message.offset)
            reading.epochs.pop(reading.partition, None)
            self._fetch(consumer, reading, reading.target)

    # ---- reading

    def _fetch(self, consumer: Consumer, reading: Reading, broker: int) -> None:
        reading.target = broker
        partition = FetchPartition(
            reading.offset, reading.leader_epoch, max_bytes=self.partition_max_bytes
        )
        # Available records are read without waiting (fetch.max.wait.ms) for more in this partition;
        # the statement waits once it has read all partitions.
        request = FetchRequest(
            CONSUMER,
            0,
            {_tp(reading): partition},
            one_shot=True,
            rack=reading.input.rack,
            max_bytes=self.max_bytes,
            read_committed=_reads_committed(reading),
        )
        reading.request = self.context.send(broker, request)
        self._limit(consumer, reading, RESPONSE_US)

    def fetched(self, source: int, message: FetchResponse) -> None:
        """Handle a fetch response: records, the end of the partition, or an error."""
        for consumer in self.context.state.consumers.values():
            reading = consumer.reading
            if reading is not None and reading.request == message.request:
                self.connections.responded(consumer.connections, source)
                self._take(consumer, reading, message)
                return
            if reading is not None and message.request in reading.polls:
                self.connections.responded(consumer.connections, source)
                self._polled(consumer, reading, message)
                return

    def _take(self, consumer: Consumer, reading: Reading, message: FetchResponse) -> None:
        tp, row = next(iter(message.partitions.items()))
        # Whatever error a follower returns, the consumer goes back to the leader (KIP-392:
        # SubscriptionState.clearPreferredReadReplica).
        if row.error in ROUTING or (row.error != "NONE" and reading.preferred >= 0):
            self._look_again(consumer, reading, row.error)
        elif row.error == "OFFSET_OUT_OF_RANGE" and reading.input.from_beginning:
            self._locate(consumer, reading, reading.target, EARLIEST)
        elif row.error != "NONE":
            self._end(consumer, reading, row.error)
        elif row.preferred_read_replica >= 0:
            reading.preferred = row.preferred_read_replica
            reading.sources[reading.partition] = reading.preferred, reading.leader_epoch
            self._fetch(consumer, reading, reading.preferred)
        elif self._give(consumer, reading, tp, row):
            self._fetch(consumer, reading, reading.target)
        elif reading.left and not _is_full(reading):
            self._next_partition(reading)
            self._ask(consumer, reading)
        else:
            self._poll_all(consumer, reading)

    def _give(self, consumer: Consumer, reading: Reading, tp: str, row: FetchedPartition) -> bool:
        """Return the records between the position and the HW; return False if there are none.

        Transaction markers are no records, and read_committed skips those of aborted transactions.
        """
        limit = reading.input.max_records
        begun, offset, epoch = reading.offset, reading.offset, UNDEFINED
        runs: list[tuple[int, int]] = []
        aborted = {batch.base_offset for batch in of_aborted(row.batches, row.aborted or ())}
        for batch in row.batches:
            start = max(batch.base_offset, offset)
            end = min(batch.end_offset, row.high_watermark)
            is_hidden = batch.is_empty or batch.is_control or batch.base_offset in aborted
            if limit is not None and not is_hidden:
                end = min(end, start + limit - reading.given)
            if end <= start:
                continue
            if is_hidden:
                self._consumed(consumer, tp, begun, runs)
                begun, runs = end, []
            else:
                runs.append((batch.first_record + start - batch.base_offset, end - start))
                reading.given += end - start
            offset, epoch = end, batch.leader_epoch
        if offset == reading.offset:
            return False
        self._consumed(consumer, tp, begun, runs)
        self._move(reading, offset)
        if UNDEFINED not in (reading.leader_epoch, epoch):
            reading.epochs[reading.partition] = epoch
        now_us = self.kernel.now
        reading.patience_us = now_us + PATIENCE_US
        if reading.input.timeout_us is not None:
            reading.idle_us = now_us + reading.input.timeout_us
        return True

    def _consumed(
        self, consumer: Consumer, tp: str, offset: int, runs: list[tuple[int, int]]
    ) -> None:
        """Give the application consecutive records from ``offset`` on."""
        if runs:
            position = offset + sum(count for _, count in runs)
            self.kernel.emit(events.RecordsConsumed, consumer.name, tp, offset, runs, position)
            consumer.runs += runs

    # ---- waiting for more

    def _poll_all(self, consumer: Consumer, reading: Reading) -> None:
        """All available records are read: wait for more if the statement does."""
        timeout_us = reading.input.timeout_us
        if timeout_us is None or not reading.sources or _is_full(reading):
            self._end(consumer, reading, "NONE")
            return
        reading.target = reading.question.asked = -1
        reading.idle_us = reading.idle_us or self.kernel.now + timeout_us
        for broker in dict.fromkeys(broker for broker, _epoch in reading.sources.values()):
            self._poll(reading, broker)
        self._limit(consumer, reading, max(0, reading.idle_us - self.kernel.now))

    def _poll(self, reading: Reading, broker: int) -> None:
        """Send a fetch that may wait, with all partitions read from a broker."""
        statement, topic = reading.input, reading.input.topic
        partitions = {
            f"{topic}-{partition}": FetchPartition(
                reading.positions[partition], epoch, max_bytes=self.partition_max_bytes
            )
            for partition, (source, epoch) in reading.sources.items()
            if source == broker
        }
        request = FetchRequest(
            CONSUMER,
            self.max_wait_us if statement.max_wait_us is None else statement.max_wait_us,
            partitions,
            one_shot=True,
            rack=statement.rack,
            min_bytes=self.min_bytes if statement.min_bytes is None else statement.min_bytes,
            max_bytes=self.max_bytes,
            read_committed=_reads_committed(reading),
        )
        reading.polls[self.context.send(broker, request)] = broker

    def _polled(self, consumer: Consumer, reading: Reading, message: FetchResponse) -> None:
        """Handle the response to a waiting fetch and keep waiting."""
        broker = reading.polls.pop(message.request)
        gave, others = False, []
        for tp, row in message.partitions.items():
            reading.partition = split(tp)[1]
            reading.offset = reading.positions[reading.partition]
            reading.leader_epoch = reading.sources[reading.partition][1]
            if row.error != "NONE" or row.preferred_read_replica >= 0:
                others.append(reading.partition)
            else:
                gave = self._give(consumer, reading, tp, row) or gave
        if _is_full(reading):
            self._end(consumer, reading, "NONE")
        elif others:
            self._read_again(consumer, reading, others)
        else:
            self._poll(reading, broker)
            if gave:
                self._limit(consumer, reading, reading.idle_us - self.kernel.now)

    def _read_again(self, consumer: Consumer, reading: Reading, partitions: list[int]) -> None:
        """Recheck partitions in the same way as on the first read."""
        reading.polls, reading.left = {}, partitions
        self._next_partition(reading)
        self._ask(consumer, reading)

    def stop_waiting(self, consumer: Consumer) -> None:
        """Complete a statement that only waits for more records, as if it had timed out."""
        reading = consumer.reading
        if reading is not None and reading.polls:
            self._end(consumer, reading, "NONE")

    # ---- backoff and completion

    def _look_again(self, consumer: Consumer, reading: Reading, error: str) -> None:
        """Find the leader again after a backoff, or fail after a few seconds."""
        reading.target = reading.question.asked = -1
        reading.validating, reading.located_by = False, None
        if self.kernel.now < reading.patience_us:
            self._limit(consumer, reading, RETRY_US)
        else:
            self._end(consumer, reading, error)

    def _end(self, consumer: Consumer, reading: Reading, error: str) -> None:
        for request, broker in reading.polls.items():
            self.context.withdraw(broker, request)
        reading.validating, reading.located_by, reading.polls = False, None, {}
        reading.target = reading.question.asked = -1
        self.done(consumer, error)

    def timer(self, name: str, token: int) -> None:
        """Handle the end of a backoff, an idle timeout, or a request timeout."""
        consumer = self.context.state.consumers[name]
        reading = consumer.reading
        if reading is None or reading.token != token:
            return
        if reading.polls:
            self._end(consumer, reading, "NONE")
        elif reading.target >= 0:
            self.connections.is_silent(consumer.connections, reading.target)
            self.context.withdraw(reading.target, reading.request)
            self._end(consumer, reading, "NETWORK_EXCEPTION")
        elif reading.question.asked >= 0:
            self.connections.is_silent(consumer.connections, reading.question.asked)
            self._ask_next(consumer, reading)
        else:
            self._ask(consumer, reading)

    def connection_lost(self, message: ConnectionLost) -> None:
        """Handle a broken or refused connection."""
        peer, request = message.peer, message.request
        for consumer in self.context.state.consumers.values():
            reading = consumer.reading
            if not request and peer in consumer.connections.open:
                self.connections.broke(consumer.connections, peer)
            if reading is None:
                continue
            if reading.polls:
                self._poll_lost(consumer, reading, peer, request)
                continue
            if request not in (0, reading.request):
                continue
            if reading.target == peer:
                self.connections.broke(consumer.connections, peer)
                self._look_again(consumer, reading, "NOT_LEADER_OR_FOLLOWER")
            elif reading.target < 0 and reading.question.asked == peer:
                self.connections.broke(consumer.connections, peer)
                self._ask_next(consumer, reading)

    def _poll_lost(self, consumer: Consumer, reading: Reading, peer: int, request: int) -> None:
        """Find the leaders of the partitions read from a broker whose connection broke."""
        polls = reading.polls
        if request in polls or (not request and peer in polls.values()):
            self.connections.broke(consumer.connections, peer)
            mine = [number for number, (broker, _) in reading.sources.items() if broker == peer]
            self._read_again(consumer, reading, mine)


def _reading_of(consumer: Consumer) -> Reading:
    assert consumer.reading is not None
    return consumer.reading


def _reads_committed(reading: Reading) -> bool:
    return reading.input.isolation == "read_committed"


def _tp(reading: Reading) -> str:
    return f"{reading.input.topic}-{reading.partition}"


def _is_full(reading: Reading) -> bool:
    limit = reading.input.max_records
    return limit is not None and reading.given >= limit
