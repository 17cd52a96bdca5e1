"""Consumers: their statements in sequence, standalone or as group members."""

from emulator import events
from emulator.clients.context import ClientContext
from emulator.clients.fetcher import PATIENCE_US, Fetcher
from emulator.clients.group_offsets import GroupOffsets
from emulator.clients.network_client import NetworkClient
from emulator.clients.state import Consumer, Reading
from emulator.inputs.statements import Consume


class Consumers:
    """The behaviour of consumers."""

    def __init__(self, context: ClientContext, connections: NetworkClient) -> None:
        """Use ``context``, and query brokers over ``connections``."""
        self.context = context
        self.kernel = context.kernel
        self.fetcher = Fetcher(context, connections, done=self._read)
        self.group = GroupOffsets(
            context,
            connections,
            read=self.fetcher.read_from,
            stop_waiting=self.fetcher.stop_waiting,
            close=self._close,
        )

    def start(self, statement: Consume) -> int:
        """Start a `consume` statement; return its job id, under which its end is recorded."""
        consumers = self.context.state.consumers
        consumer = consumers.setdefault(statement.consumer, Consumer(statement.consumer))
        token = self.context.new_id()
        reading = Reading(token, statement, token, self.kernel.now + PATIENCE_US)
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
                self.fetcher.start(consumer)
            else:
                self.group.begin(consumer, consumer.reading)

    def _read(self, consumer: Consumer, error: str) -> None:
        """Continue after the partitions are read; a group member commits next."""
        assert consumer.reading is not None
        if consumer.reading.stage:
            self.group.finished(consumer, error)
        else:
            self._close(consumer, error)

    def _close(self, consumer: Consumer, error: str) -> None:
        """End the statement; the consumer continues with its next one."""
        reading = consumer.reading
        assert reading is not None
        consumer.position, consumer.error = reading.offset, error
        if reading.partition < 0:
            consumer.position = reading.input.offset or 0
        tp = f"{reading.input.topic}-{max(0, reading.partition)}"
        self.kernel.emit(events.ConsumeFinished, consumer.name, tp, consumer.position, error)
        self.context.state.finished[reading.id] = error
        consumer.reading = None
        self._next(consumer)
