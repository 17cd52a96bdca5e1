"""What the controller writes about brokers, with all the partitions that it changes for that."""

from collections.abc import Iterator
from itertools import takewhile
from typing import Final, TypeGuard

from msgspec.structs import replace

from emulator.metadata_log.changes import TopicIdPartition
from emulator.metadata_log.records import (
    FENCE,
    IN_CONTROLLED_SHUTDOWN,
    UNFENCE,
    AnyRecord,
    BrokerRegistrationChangeRecord,
    PartitionChangeRecord,
    RegisterBrokerRecord,
    UnregisterBrokerRecord,
)
from emulator.metadata_log.registrations import BrokerRegistration, PartitionRegistration
from emulator.quorum_controller.cluster_control import BrokerRegistrationRequest, registration
from emulator.quorum_controller.explanation.match import (
    Attempt,
    Match,
    NoRule,
    Outcome,
    in_any_order,
)
from emulator.quorum_controller.explanation.rules import Rule
from emulator.quorum_controller.explanation.text import listed
from emulator.quorum_controller.isr_changes import (
    broker_fenced,
    broker_in_controlled_shutdown,
    broker_unfenced,
    broker_unregistered,
    partitions_without,
)
from emulator.wire.metadata import messages as wire

SHORTEST_SESSION_MS: Final = 2_000
"""No broker.session.timeout.ms is assumed to be shorter than the default heartbeat interval."""

ABOUT_BROKERS: Final = (
    BrokerRegistrationChangeRecord,
    RegisterBrokerRecord,
    UnregisterBrokerRecord,
)


_CAUSES: Final = {
    Rule.FENCING: "fencing",
    Rule.UNFENCING: "unfencing",
    Rule.CONTROLLED_SHUTDOWN: "controlled shutdown",
    Rule.BROKER_REGISTRATION: "registration",
    Rule.BROKER_SHUTDOWN: "registration",
    Rule.BROKER_UNREGISTRATION: "unregistration",
    Rule.OFFLINE_DIRECTORIES: "failed directory",
    Rule.CORDONED_DIRECTORIES: "cordoned directory",
}


def match_closing(attempt: Attempt, index: int) -> Match | None:
    """Return the rule whose outcome are the records up to ``index``, which is about a broker.

    The changes of partitions come before it: a fencing, for example.
    """
    for outcome in _closings(attempt, index):
        if len(outcome.records) == index + 1 and attempt.begins_with(outcome.records):
            return Match(index + 1, outcome.rule, outcome.because)
    return None


def next_chance(attempt: Attempt, index: int) -> int:
    """Return how many records must be explained alone before a rule may explain the rest.

    These are the last one that the rule about the broker at ``index`` does not write, and all
    before it. So a fencing with thousands of partitions is not compared again after each of them.
    """
    outcomes = _closings(attempt, index)
    return min((_chance(attempt, index, outcome) for outcome in outcomes), default=index)


def _chance(attempt: Attempt, index: int, outcome: Outcome) -> int:
    expected = {
        (record.topic_id, record.partition_id): in_any_order(record)
        for record in outcome.records
        if isinstance(record, PartitionChangeRecord)
    }
    changes = [entry.record for entry in attempt.entries[:index]]
    keys = [(change.topic_id, change.partition_id) for change in changes if _is_change(change)]
    last = {key: number for number, key in enumerate(keys)}
    chance, seen = 0, set()
    for number, (key, change) in enumerate(zip(keys, changes, strict=True)):
        assert isinstance(change, PartitionChangeRecord)
        is_strange = key not in seen and expected.get(key) != in_any_order(change)
        if last[key] > number or is_strange:
            chance = number + 1
        seen.add(key)
    return chance


def _is_change(record: AnyRecord | None) -> TypeGuard[PartitionChangeRecord]:
    return isinstance(record, PartitionChangeRecord)


def match_opening(attempt: Attempt) -> Match | None:
    """Return the rule whose outcome begins with the first record, which is about a broker.

    The changes of partitions come after it. None: it is of no such rule.

    Raises:
        NoRule: what the broker does is impossible.
    """
    for outcome in _openings(attempt):
        if attempt.begins_with(outcome.records):
            return Match(len(outcome.records), outcome.rule, outcome.because)
    return None


def match_partly(attempt: Attempt, index: int) -> Match | None:
    """Return the rule of which most records up to ``index`` are the outcome, with the others.

    ``index`` is that of the next record about a broker, or 0 if the first one is. None: no rule is
    near.

    Raises:
        NoRule: what the broker does is impossible.
    """
    if index == 0:
        opening = next(_openings(attempt), None)
        if opening is not None:
            changed = _following(attempt, len(opening.records) - 1)
            return _compared(attempt, opening, changed + 1, 0)
    closing = next(_closings(attempt, index), None)
    if closing is not None:
        match = _compared(attempt, closing, index + 1, index)
        if index == 0 or len(match.faults) <= index // 2:
            return match
    early = _too_early(attempt, index)
    if early is None and index == 0:
        raise NoRule(_why_not(attempt))
    return early


def _openings(attempt: Attempt) -> Iterator[Outcome]:
    record = attempt.entry.record
    if not isinstance(record, BrokerRegistrationChangeRecord):
        return
    broker, context = record.broker_id, attempt.context
    if record.fenced == UNFENCE:
        registration = _registered(attempt, broker, record.broker_epoch)
        if not registration.fenced:
            raise NoRule(f"broker {broker} is unfenced, and it was not fenced")
        records = broker_unfenced(context, broker, registration.epoch)
        because = f"broker {broker} is back: it has caught up with the metadata log"
        yield Outcome(records, Rule.UNFENCING, because)
    elif record.in_controlled_shutdown == IN_CONTROLLED_SHUTDOWN:
        registration = _registered(attempt, broker, record.broker_epoch)
        if registration.fenced or registration.in_controlled_shutdown:
            state = "fenced" if registration.fenced else "shutting down already"
            raise NoRule(f"broker {broker} begins a controlled shutdown, and it is {state}")
        if not context.state.partitions.has_leaderships(broker):
            raise NoRule(
                f"broker {broker} begins a controlled shutdown, and it leads no partition: the"
                " controller fences such a broker at once"
            )
        records = broker_in_controlled_shutdown(context, broker, registration.epoch)
        because = f"broker {broker} asked to shut down, and led partitions"
        yield Outcome(records, Rule.CONTROLLED_SHUTDOWN, because)


def _following(attempt: Attempt, count: int) -> int:
    """How many of the next ``count`` records change partitions, up to the first that does not."""
    changes = takewhile(
        lambda entry: isinstance(entry.record, PartitionChangeRecord),
        attempt.entries[1 : 1 + count],
    )
    return sum(1 for _ in changes)


def _compared(attempt: Attempt, outcome: Outcome, count: int, index: int) -> Match:
    """Compare the first ``count`` records with an outcome; the one at ``index`` is the broker's."""
    expected = {
        (record.topic_id, record.partition_id): in_any_order(record)
        for record in outcome.records
        if isinstance(record, PartitionChangeRecord)
    }
    closing = attempt.entries[index].record
    assert isinstance(closing, ABOUT_BROKERS)
    cause = f"the {_CAUSES[outcome.rule]} of broker {closing.broker_id}"
    faults: dict[int, str] = {}
    for number, entry in enumerate(attempt.entries[:count]):
        record = entry.record
        if not isinstance(record, PartitionChangeRecord):
            if record not in outcome.records:
                faults[number] = _why_not(attempt, number)
            continue
        rightly = expected.pop((record.topic_id, record.partition_id), None)
        if rightly is None:
            faults[number] = f"{cause} does not change this partition"
        elif in_any_order(record) != rightly:
            name, before = _partition(attempt, record)
            right, wrong = _shown(before.merge(rightly)), _shown(before.merge(record))
            faults[number] = f"{cause} changes {name} to {right}, and here it goes to {wrong}"
    for record in expected.values():
        name, before = _partition(attempt, record)
        state = _shown(before.merge(record))
        faults.setdefault(index, f"{cause} also changes {name} to {state}")
    return Match(count, outcome.rule, outcome.because, faults)


def _partition(
    attempt: Attempt, record: PartitionChangeRecord
) -> tuple[str, PartitionRegistration]:
    topic = attempt.context.image.topics[record.topic_id]
    return f"{topic.name}-{record.partition_id}", topic.partitions[record.partition_id]


def _closings(attempt: Attempt, index: int) -> Iterator[Outcome]:
    context = attempt.context
    record = attempt.entries[index].record
    message = attempt.entries[index].message
    match record:
        case BrokerRegistrationChangeRecord(broker_id=broker, fenced=fenced) if fenced == FENCE:
            registration = context.image.brokers.get(broker)
            if registration is not None and not _has_session(attempt, registration, index):
                yield _fencing(attempt, registration)
        case UnregisterBrokerRecord(broker_id=broker) if broker in context.image.brokers:
            records = broker_unregistered(context, broker)
            because = f"an administrator unregistered broker {broker}"
            yield Outcome(records, Rule.BROKER_UNREGISTRATION, because)
        case RegisterBrokerRecord():
            yield from _registrations(attempt, record, index)
        case BrokerRegistrationChangeRecord(broker_id=broker):
            registration = context.image.brokers.get(broker)
            if registration is None:
                return
            assert isinstance(message, wire.BrokerRegistrationChangeRecord)
            if message.log_dirs:
                yield from _offline(attempt, record, message)
            if record.cordoned_log_dirs not in (None, registration.cordoned_log_dirs):
                change = BrokerRegistrationChangeRecord(
                    broker, registration.epoch, cordoned_log_dirs=record.cordoned_log_dirs
                )
                because = f"broker {broker} told so with a heartbeat"
                yield Outcome([change], Rule.CORDONED_DIRECTORIES, because)
        case _:
            return


# ---- registrations


def _registrations(attempt: Attempt, record: RegisterBrokerRecord, index: int) -> Iterator[Outcome]:
    context, broker = attempt.context, record.broker_id
    earlier = context.image.brokers.get(broker)
    is_new = earlier is not None and earlier.incarnation_id != record.incarnation_id
    if _why_not_register(attempt, index) is not None:
        return
    previous_epochs = (-1,) if earlier is None else (-1, earlier.epoch)
    for previous in previous_epochs:
        request = BrokerRegistrationRequest(
            broker, record.incarnation_id, record.rack, previous, record.directory
        )
        records = registration(context, request, attempt.entry.offset)
        if earlier is None:
            because = f"broker {broker} started for the first time"
        elif not is_new:
            because = f"broker {broker} registered again without a restart"
        else:
            because = f"broker {broker} has been restarted"
        rule = Rule.BROKER_SHUTDOWN if len(records) > 1 else Rule.BROKER_REGISTRATION
        yield Outcome(records, rule, because)


def _why_not_register(attempt: Attempt, index: int) -> str | None:
    context, entry = attempt.context, attempt.entries[index]
    message = entry.message
    assert isinstance(message, wire.RegisterBrokerRecord)
    broker = message.broker_id
    earlier = context.image.brokers.get(broker)
    is_same = earlier is None or earlier.incarnation_id == _incarnation(entry.record)
    if not (earlier is None or is_same or earlier.fenced) and _has_session(attempt, earlier, index):
        return (
            f"broker {broker} registers anew while its session lasts:"
            f" {attempt.observed.heard.get(broker, 'it is unfenced')}"
        )
    for feature in message.features:
        level = context.image.features.get(feature.name, 0)
        is_off = level == 0 and feature.name != "metadata.version"
        if (
            not is_off
            and not feature.min_supported_version <= level <= feature.max_supported_version
        ):
            return (
                f"broker {broker} supports {feature.name} {feature.min_supported_version} to"
                f" {feature.max_supported_version}, and it is {level}"
            )
    numbers = {attempt.observed.directories.number_of(log_dir) for log_dir in message.log_dirs}
    for other, directories in attempt.observed.broker_directories.items():
        if other != broker and numbers & set(directories):
            return f"broker {broker} has a log directory that broker {other} has registered"
    return None


def _incarnation(record: AnyRecord | None) -> str:
    assert isinstance(record, RegisterBrokerRecord)
    return record.incarnation_id


# ---- fencing


def _fencing(attempt: Attempt, registration: BrokerRegistration) -> Outcome:
    records = broker_fenced(attempt.context, registration.id)
    return Outcome(records, Rule.FENCING, _cause_of_fencing(attempt, registration))


def _too_early(attempt: Attempt, index: int) -> Match | None:
    """A fencing of a broker that was heard of: only its changes of partitions are explained."""
    record = attempt.entries[index].record
    if not isinstance(record, BrokerRegistrationChangeRecord) or record.fenced != FENCE:
        return None
    broker = attempt.context.image.brokers.get(record.broker_id)
    if broker is None or not _has_session(attempt, broker, index):
        return None
    match = _compared(attempt, _fencing(attempt, broker), index + 1, index)
    if index and len(match.faults) > index // 2:
        return None
    return replace(match, faults={**match.faults, index: _why_not(attempt, index)})


def _has_session(attempt: Attempt, registration: BrokerRegistration, index: int) -> bool:
    """Whether the broker has leaders to lose, and was heard of too recently to be fenced."""
    if registration.fenced or registration.in_controlled_shutdown:
        return False
    is_registration = isinstance(attempt.entries[index].record, RegisterBrokerRecord)
    if not is_registration and not attempt.context.state.partitions.has_leaderships(
        registration.id
    ):
        return False  # it may shut down
    heard_ms = attempt.observed.last_contact_ms(registration.id)
    now_ms = attempt.entries[index].timestamp_ms
    return heard_ms is not None and now_ms - heard_ms < SHORTEST_SESSION_MS


def _cause_of_fencing(attempt: Attempt, registration: BrokerRegistration) -> str:
    broker = registration.id
    heard = attempt.observed.heard.get(broker)
    last = f"; {heard}" if heard else ""
    if registration.fenced:
        return f"broker {broker} was fenced already: it shut down, or its session ended later{last}"
    if registration.in_controlled_shutdown:
        return f"the controlled shutdown of broker {broker} is complete{last}"
    if attempt.context.state.partitions.has_leaderships(broker):
        return f"no heartbeat of broker {broker} came for broker.session.timeout.ms{last}"
    return (
        f"no heartbeat of broker {broker} came for broker.session.timeout.ms, or it shut down and"
        f" led nothing{last}"
    )


# ---- log directories


def _offline(
    attempt: Attempt,
    record: BrokerRegistrationChangeRecord,
    message: wire.BrokerRegistrationChangeRecord,
) -> Iterator[Outcome]:
    observed, context, broker = attempt.observed, attempt.context, record.broker_id
    before = observed.broker_directories.get(broker, ())
    online = {observed.directories.number_of(log_dir) for log_dir in message.log_dirs}
    if not online < set(before):
        return
    failed = set(before) - online
    keys = [
        TopicIdPartition(topic.id, number)
        for topic, number, partition in context.image.partitions()
        if broker in partition.replicas and partition.directory(broker) in failed
    ]
    change = BrokerRegistrationChangeRecord(broker, context.image.brokers[broker].epoch)
    records = [*partitions_without(context, broker, keys), change]
    count = "a log directory" if len(failed) == 1 else f"{len(failed)} log directories"
    because = f"{count} of broker {broker} failed"
    yield Outcome(records, Rule.OFFLINE_DIRECTORIES, because)


# ---- why not


def _registered(attempt: Attempt, broker: int, epoch: int) -> BrokerRegistration:
    registration = attempt.context.image.brokers.get(broker)
    if registration is None:
        raise NoRule(f"broker {broker} is not registered")
    if registration.epoch != epoch:
        raise NoRule(f"broker {broker} has the broker epoch {registration.epoch}, not {epoch}")
    return registration


def _why_not(attempt: Attempt, index: int = 0) -> str:
    """Why no rule permits the record at a place, which is about a broker."""
    entry, first = attempt.entries[index], attempt.entry
    record = entry.record
    match record:
        case RegisterBrokerRecord(broker_id=broker, broker_epoch=epoch):
            reason = _why_not_register(attempt, index)
            if reason is not None:
                return reason
            if epoch != first.offset and not _keeps_epoch(attempt, record):
                return (
                    f"broker {broker} registers with the broker epoch {epoch}, and the offset of"
                    f" its registration is {first.offset}"
                )
            if not record.fenced:
                return f"broker {broker} registers unfenced"
        case BrokerRegistrationChangeRecord(broker_id=broker, broker_epoch=epoch):
            registration = _registered(attempt, broker, epoch)
            if record.fenced == FENCE and _has_session(attempt, registration, index):
                heard_ms = attempt.observed.last_contact_ms(broker) or 0
                return (
                    f"broker {broker} is fenced {(entry.timestamp_ms - heard_ms) / 1_000:.3f} s"
                    f" after the controller heard of it"
                    f" ({attempt.observed.heard.get(broker, 'it is unfenced')}), while it led"
                    " partitions and did not shut down"
                )
        case UnregisterBrokerRecord(broker_id=broker, broker_epoch=epoch):
            _registered(attempt, broker, epoch)
        case _:
            pass
    return "nothing that a broker does causes this"


def _keeps_epoch(attempt: Attempt, record: RegisterBrokerRecord) -> bool:
    registration = attempt.context.image.brokers.get(record.broker_id)
    return (
        registration is not None
        and registration.incarnation_id == record.incarnation_id
        and registration.epoch == record.broker_epoch
    )


def _shown(partition: PartitionRegistration) -> str:
    parts = [
        f"leader {partition.leader}",
        f"ISR {listed(partition.isr)}",
        f"leader epoch {partition.leader_epoch}",
    ]
    for word, brokers in (
        ("ELR", partition.elr),
        ("last known leader", partition.last_known_elr),
        ("adding", partition.adding_replicas),
        ("removing", partition.removing_replicas),
    ):
        if brokers:
            parts.append(f"{word} {listed(brokers)}")
    return ", ".join([*parts, *(["recovering"] if partition.leader_recovery_state else [])])
