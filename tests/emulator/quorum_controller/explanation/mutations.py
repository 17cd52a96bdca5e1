"""Seeded mutations of one record of a metadata log: things that no controller writes.

A record that is added takes the place of a no-op, and a no-op that of one which is left out, so
that all offsets stay.
"""

from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import Any, NamedTuple

from msgspec.structs import replace

from emulator.wire.metadata import messages as wire
from emulator.wire.metadata.batches import MetadataBatch
from emulator.wire.types import Message

Partition = wire.PartitionRecord | wire.PartitionChangeRecord


class Place(NamedTuple):
    """A record in a log: its batch and its position there."""

    batch: int
    position: int


class Mutant(NamedTuple):
    """A log with one mutated record."""

    kind: str
    offset: int
    batches: list[MetadataBatch]
    before: Message
    after: Message


class Log:
    """The batches of a log and what a mutation needs to know of it."""

    def __init__(self, batches: Sequence[MetadataBatch], random: Random) -> None:
        self.batches = list(batches)
        self.random = random
        self.places = [
            Place(number, position)
            for number, batch in enumerate(batches)
            if not batch.is_control
            for position in range(len(batch.records))
        ]
        registered = (self.record(place) for place in self.places)
        self.brokers = sorted(
            {each.broker_id for each in registered if isinstance(each, wire.RegisterBrokerRecord)}
        )

    def record(self, place: Place) -> Message:
        """The record at a place."""
        return self.batches[place.batch].records[place.position]

    def offset(self, place: Place) -> int:
        """The offset of a place."""
        return self.batches[place.batch].base_offset + place.position

    def of(self, kind: type[Message], where: Callable[[Any], bool] = lambda _: True) -> list[Place]:
        """The places of records of a kind."""
        return [
            place
            for place in self.places
            if isinstance(self.record(place), kind) and where(self.record(place))
        ]

    def before(self, place: Place, kind: type[Message]) -> list[Any]:
        """The records of a kind before a place."""
        return [self.record(each) for each in self.of(kind) if each < place]

    def replicas(self, place: Place, change: Partition) -> tuple[int, ...]:
        """The replicas of the partition that a record before this place changes, or created."""
        found: tuple[int, ...] = ()
        for each in self.places:
            if each > place:
                break
            record = self.record(each)
            if not isinstance(record, Partition):
                continue
            if _key(record) == _key(change) and record.replicas:
                found = tuple(record.replicas)
        return found

    def with_record(self, kind: str, place: Place, after: Message) -> Mutant:
        """The log with another record at a place."""
        batch = self.batches[place.batch]
        records = list(batch.records)
        before, records[place.position] = records[place.position], after
        batches = list(self.batches)
        batches[place.batch] = replace(batch, records=tuple(records))
        return Mutant(kind, self.offset(place), batches, before, after)


Mutation = Callable[[Log], Mutant | None]


def _key(record: Partition) -> tuple[bytes, int]:
    return record.topic_id, record.partition_id


def _pick(log: Log, places: list[Place]) -> Place | None:
    return log.random.choice(places) if places else None


def leader_outside(log: Log) -> Mutant | None:
    """Another leader: one that is in neither the ISR nor the ELR."""
    place = _pick(log, log.of(wire.PartitionChangeRecord, lambda each: each.leader != -2))
    if place is None:
        return None
    record: Any = log.record(place)
    isr = record.isr or log.replicas(place, record)[:1]
    others = [each for each in log.brokers if each not in (*isr, record.leader)]
    if not others:
        return None
    leader = log.random.choice(others)
    return log.with_record("leader", place, replace(record, leader=leader))


def leader_of_nothing(log: Log) -> Mutant | None:
    """A change that left the leader alone names one."""
    place = _pick(log, log.of(wire.PartitionChangeRecord, lambda each: each.leader == -2))
    if place is None:
        return None
    leader = log.random.choice(log.brokers)
    record: Any = log.record(place)
    return log.with_record("new leader", place, replace(record, leader=leader))


def stranger_in_isr(log: Log) -> Mutant | None:
    """A member of the ISR that nobody added."""
    place = _pick(log, log.of(wire.PartitionChangeRecord, lambda each: each.isr))
    if place is None:
        return None
    record: Any = log.record(place)
    others = [each for each in (*log.brokers, 9) if each not in record.isr]
    isr = [*record.isr, log.random.choice(others)]
    return log.with_record("isr stranger", place, replace(record, isr=isr))


def member_lost(log: Log) -> Mutant | None:
    """A member of the ISR that nobody removed is missing."""
    place = _pick(log, log.of(wire.PartitionChangeRecord, lambda each: len(each.isr or ()) > 1))
    if place is None:
        return None
    record: Any = log.record(place)
    lost = log.random.choice(record.isr)
    isr = [each for each in record.isr if each != lost]
    return log.with_record("isr loss", place, replace(record, isr=isr))


def elr_stranger(log: Log) -> Mutant | None:
    """A member of the ELR that was never in sync."""
    place = _pick(log, log.of(wire.PartitionChangeRecord))
    if place is None:
        return None
    record: Any = log.record(place)
    elr = record.eligible_leader_replicas or []
    others = [each for each in log.brokers if each not in (*elr, *(record.isr or ()))]
    if not others:
        return None
    elr = [*elr, log.random.choice(others)]
    return log.with_record("elr", place, replace(record, eligible_leader_replicas=elr))


def epoch_back(log: Log) -> Mutant | None:
    """A batch of an epoch that is over."""
    place = _pick(log, [each for each in log.places if log.batches[each.batch].leader_epoch > 0])
    if place is None:
        return None
    batches = list(log.batches)
    batch = batches[place.batch]
    batches[place.batch] = replace(batch, leader_epoch=batch.leader_epoch - 1)
    record = log.record(place)
    return Mutant("epoch", batch.base_offset, batches, record, record)


def deleted_topic(log: Log) -> Mutant | None:
    """A change of a topic that is deleted, or does not exist."""
    place = _pick(log, log.of(wire.PartitionChangeRecord))
    if place is None:
        return None
    gone = [each.topic_id for each in log.before(place, wire.RemoveTopicRecord)]
    topic_id = log.random.choice([*gone, log.random.randbytes(16)])
    record: Any = log.record(place)
    return log.with_record("topic", place, replace(record, topic_id=topic_id))


def other_partition(log: Log) -> Mutant | None:
    """A change of another partition of the topic."""
    place = _pick(log, log.of(wire.PartitionChangeRecord))
    if place is None:
        return None
    record: Any = log.record(place)
    number = record.partition_id + log.random.choice([1, -1, 2, 7])
    return log.with_record("partition", place, replace(record, partition_id=number))


def fenced_without_cause(log: Log) -> Mutant | None:
    """A broker is fenced though it has just been heard of."""
    change = wire.BrokerRegistrationChangeRecord
    place = _pick(log, log.of(wire.NoOpRecord))
    if place is None:
        return None
    unfenced = [each for each in log.before(place, change) if each.fenced == -1]
    if not unfenced:
        return None
    last: Any = unfenced[-1]
    return log.with_record("fencing", place, replace(last, fenced=1))


def unfenced_without_cause(log: Log) -> Mutant | None:
    """A broker is unfenced that is not fenced, or not registered."""
    change = wire.BrokerRegistrationChangeRecord
    place = _pick(log, log.of(wire.NoOpRecord))
    if place is None:
        return None
    known = [each for each in log.before(place, change) if each.fenced == -1]
    if not known:
        return None
    last: Any = log.random.choice([known[-1], replace(known[-1], broker_id=9)])
    return log.with_record("unfencing", place, last)


def broker_epoch(log: Log) -> Mutant | None:
    """Another broker epoch."""
    kinds = (wire.RegisterBrokerRecord, wire.BrokerRegistrationChangeRecord)
    place = _pick(log, [each for kind in kinds for each in log.of(kind)])
    if place is None:
        return None
    record: Any = log.record(place)
    epoch = record.broker_epoch + log.random.choice([-1, 1, 5])
    return log.with_record("broker epoch", place, replace(record, broker_epoch=epoch))


def unassigned_replica(log: Log) -> Mutant | None:
    """A replica that nobody assigned, or that is not registered."""
    places = [
        *log.of(wire.PartitionChangeRecord, lambda each: each.replicas is not None),
        *log.of(wire.PartitionRecord),
    ]
    place = _pick(log, places)
    if place is None:
        return None
    record: Any = log.record(place)
    replicas = [*record.replicas, log.random.choice([9, record.replicas[0]])]
    return log.with_record("replica", place, replace(record, replicas=replicas))


def first_epochs(log: Log) -> Mutant | None:
    """A new partition whose epochs do not begin with 0."""
    place = _pick(log, log.of(wire.PartitionRecord))
    if place is None:
        return None
    record: Any = log.record(place)
    field = log.random.choice(["partition_epoch", "leader_epoch"])
    return log.with_record(
        "first epochs", place, replace(record, **{field: log.random.randint(1, 3)})
    )


def duplicate_topic(log: Log) -> Mutant | None:
    """A topic whose name or id exists already."""
    place = _pick(log, log.of(wire.TopicRecord)[1:])
    if place is None:
        return None
    record: Any = log.record(place)
    known = log.random.choice(log.before(place, wire.TopicRecord))
    changed = log.random.choice([{"name": known.name}, {"topic_id": known.topic_id}])
    return log.with_record("duplicate topic", place, replace(record, **changed))


def left_out(log: Log) -> Mutant | None:
    """A record is left out that has consequences."""
    kinds = (
        *(wire.PartitionChangeRecord, wire.RegisterBrokerRecord, wire.TopicRecord),
        *(wire.PartitionRecord, wire.BrokerRegistrationChangeRecord),
    )
    place = _pick(log, [each for kind in kinds for each in log.of(kind)])
    return None if place is None else log.with_record("left out", place, wire.NoOpRecord())


def repeated(log: Log) -> Mutant | None:
    """A change of a partition, or a topic, is written a second time."""
    place = _pick(log, log.of(wire.NoOpRecord))
    if place is None:
        return None
    known = [
        *log.before(place, wire.PartitionChangeRecord),
        *log.before(place, wire.TopicRecord),
        *log.before(place, wire.RemoveTopicRecord),
        *log.before(place, wire.PartitionRecord),
    ]
    return log.with_record("repeated", place, log.random.choice(known)) if known else None


def recovery_state(log: Log) -> Mutant | None:
    """A leader that has to recover though it was elected cleanly, or the reverse."""
    place = _pick(log, log.of(wire.PartitionChangeRecord))
    if place is None:
        return None
    record: Any = log.record(place)
    state = log.random.choice([each for each in (0, 1) if each != record.leader_recovery_state])
    return log.with_record("recovery", place, replace(record, leader_recovery_state=state))


def reassignment(log: Log) -> Mutant | None:
    """Replicas are added or removed by a change that was no reassignment."""
    place = _pick(log, log.of(wire.PartitionChangeRecord))
    if place is None:
        return None
    record: Any = log.record(place)
    field = log.random.choice(["adding_replicas", "removing_replicas"])
    changed = {field: [log.random.choice(log.brokers)]}
    return log.with_record("reassignment", place, replace(record, **changed))


def producer_ids(log: Log) -> Mutant | None:
    """A block of producer ids that is not the next one."""
    place = _pick(log, log.of(wire.ProducerIdsRecord))
    if place is None:
        return None
    record: Any = log.record(place)
    next_id = record.next_producer_id + log.random.choice([-1, 1, 1_000])
    return log.with_record("producer ids", place, replace(record, next_producer_id=next_id))


def other_broker(log: Log) -> Mutant | None:
    """A broker's change names another broker."""
    place = _pick(log, log.of(wire.BrokerRegistrationChangeRecord))
    if place is None:
        return None
    record: Any = log.record(place)
    others = [each for each in (*log.brokers, 9) if each != record.broker_id]
    changed = replace(record, broker_id=log.random.choice(others))
    return log.with_record("other broker", place, changed)


MUTATIONS: tuple[Mutation, ...] = (
    *(leader_outside, leader_of_nothing, stranger_in_isr, member_lost, elr_stranger, epoch_back),
    *(deleted_topic, other_partition, fenced_without_cause, unfenced_without_cause, broker_epoch),
    *(unassigned_replica, first_epochs, duplicate_topic, left_out, repeated, recovery_state),
    *(reassignment, producer_ids, other_broker),
)


def mutants(batches: Sequence[MetadataBatch], seed: int) -> Iterator[Mutant]:
    """Endless logs with one mutated record, of all kinds equally often."""
    random = Random(seed)
    log = Log(batches, random)
    while True:
        kinds = list(MUTATIONS)
        random.shuffle(kinds)
        for mutation in kinds:
            mutant = mutation(log)
            if mutant is not None:
                yield mutant
