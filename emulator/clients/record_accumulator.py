"""Batching records: their partition, ids and size."""

from emulator import events
from emulator.clients.context import ClientContext
from emulator.clients.metadata import Leaders, ProducerMetadata
from emulator.clients.record_sizes import batch_bytes, request_bytes, stored_bytes
from emulator.clients.state import Flight, Producer
from emulator.inputs.statements import Produce
from emulator.protocol import RecordBatch
from emulator.protocol.record_batch import PLAIN, TRANSACTIONAL
from emulator.releases.config import ProducerDefaults


class RecordAccumulator:
    """Fills batches with the next records of a producer's statement."""

    def __init__(self, context: ClientContext, metadata: ProducerMetadata) -> None:
        """Choose partitions with ``metadata``, and register records in the ledger."""
        self.context = context
        self.metadata = metadata
        self.is_one_batch = context.profile.has("idempotence")

    def fill(self, producer: Producer, flight: Flight, leaders: Leaders) -> None:
        """Assign a batch one of the partitions in ``leaders``, and the next records."""
        statement = producer.jobs[0].input
        self.fill_for(producer, flight, self.metadata.partition(producer, statement, leaders))

    def fill_for(self, producer: Producer, flight: Flight, partition: int) -> None:
        """Assign a batch the next records, add them to the ledger and emit the event."""
        job, context = producer.jobs[0], self.context
        statement = job.input
        count = min(statement.batch, statement.count - job.sent)
        if statement.count == 1:
            values = [statement.value]
        else:
            prefix = f"{statement.value}-"  # adding a string is cheaper than formatting two
            values = [prefix + str(i) for i in range(job.sent, job.sent + count)]
        keys: list[str | None] = [] if statement.key is None else [statement.key] * count
        flight.partition, flight.tp = partition, f"{statement.topic}-{partition}"
        acks = acks_of(statement, context.producer_defaults)
        first = 0
        if count:
            now_us = context.kernel.state.now_us
            first = context.ledger.enter(
                producer.name, flight.tp, keys, values, acks=acks, now_us=now_us
            )
        job.sent += count
        if self.is_one_batch:
            size_bytes = flight.size = batch_bytes(keys, values)
        else:
            size_bytes = stored_bytes(context.profile, keys, values)
            flight.size = request_bytes(context.profile, keys, values)
        kind = TRANSACTIONAL if statement.transactional else PLAIN
        flight.batch = RecordBatch(0, count, -1, first, -1, -1, -1, size_bytes, kind)
        self.metadata.gave(producer, statement, flight.size)
        if count:
            context.emit(events.ProduceSent, producer.name, flight.tp, first, keys, values, acks)


def acks_of(statement: Produce, defaults: ProducerDefaults) -> int:
    """The acks setting, or the release's default; idempotence requires all."""
    if statement.idempotent:
        return -1
    return defaults.acks if statement.acks is None else statement.acks
