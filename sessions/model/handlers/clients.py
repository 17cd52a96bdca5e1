"""Producers, consumers and what they carried."""

from typing import Final

from emulator import events
from sessions.model.folding import Handlers, Model
from sessions.model.states import Batch, ConsumerState, ProducerState


def _producer(model: Model, name: str, seq: int) -> ProducerState:
    """Return the producer, to be changed by event ``seq``."""
    return model.changing(model.state.producers, name, seq, ProducerState)


def _consumer(model: Model, name: str, seq: int) -> ConsumerState:
    """Return the consumer, to be changed by event ``seq``."""
    return model.changing(model.state.consumers, name, seq, ConsumerState)


NAMING: Final = (
    events.ProduceSent,
    events.GroupRecordsWritten,
    events.TransactionRecordWritten,
    events.TransactionMarkerWritten,
)
"""The events that say what records are: keys and values are in them and nowhere else."""


NamingEvent = (
    events.ProduceSent
    | events.GroupRecordsWritten
    | events.TransactionRecordWritten
    | events.TransactionMarkerWritten
)


def batch_of(event: NamingEvent) -> Batch:
    """Return the batch of an event; a coordinator's sender is, for example, ``group NAME``."""
    acks = -1
    match event:
        case events.ProduceSent():
            sender, acks = event.producer, event.acks
        case events.GroupRecordsWritten():
            sender = f"group {event.group}"
        case events.TransactionRecordWritten():
            sender = f"transaction {event.transactional_id}"
        case events.TransactionMarkerWritten():
            sender = f"producer {event.producer_id}"
    return Batch(
        event.first_record, sender, event.tp, event.keys, event.values, acks, event.time_us
    )


def sent(model: Model, event: events.ProduceSent) -> None:
    """A batch is on its way."""
    producer = _producer(model, event.producer, event.seq)
    producer.pending += len(event.values)


def produce_sent(model: Model, event: events.ProduceSent) -> None:
    """Add a batch in flight; only this event has its values."""
    sent(model, event)
    model.state.batches.append(batch_of(event))


def records_written(
    model: Model,
    event: events.GroupRecordsWritten
    | events.TransactionRecordWritten
    | events.TransactionMarkerWritten,
) -> None:
    """Add a coordinator's records to those that producers sent."""
    model.state.batches.append(batch_of(event))


def produce_retried(model: Model, event: events.ProduceRetried) -> None:
    """Count a retry of a batch; waiting for a leader does not count."""
    producer = _producer(model, event.producer, event.seq)
    if event.counted:
        producer.retries += 1


def produce_acknowledged(model: Model, event: events.ProduceAcknowledged) -> None:
    """A batch is safe, says its leader."""
    producer = _producer(model, event.producer, event.seq)
    producer.acked += event.count
    producer.pending -= event.count
    model.state.acked += event.count


def produce_failed(model: Model, event: events.ProduceFailed) -> None:
    """A batch's producer gave it up."""
    producer = _producer(model, event.producer, event.seq)
    producer.failed += event.count
    producer.pending -= event.count
    producer.errors += [event.error] * event.count


def records_consumed(model: Model, event: events.RecordsConsumed) -> None:
    """A consumer was given records."""
    consumer = _consumer(model, event.consumer, event.seq)
    consumer.runs += event.runs
    consumer.position = consumer.positions[event.tp] = event.position


def consume_finished(model: Model, event: events.ConsumeFinished) -> None:
    """A read came to its end."""
    consumer = _consumer(model, event.consumer, event.seq)
    consumer.position = event.position
    consumer.error = event.error


HANDLERS: Final[Handlers] = {
    events.ProduceSent: produce_sent,
    events.GroupRecordsWritten: records_written,
    events.TransactionRecordWritten: records_written,
    events.TransactionMarkerWritten: records_written,
    events.ProduceRetried: produce_retried,
    events.ProduceAcknowledged: produce_acknowledged,
    events.ProduceFailed: produce_failed,
    events.RecordsConsumed: records_consumed,
    events.ConsumeFinished: consume_finished,
}
