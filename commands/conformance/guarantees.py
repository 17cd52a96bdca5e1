"""The guarantees that a scenario asks of a client, each judged by the history alone."""

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Final

from msgspec import Struct

from commands.conformance.history import History, Received
from commands.conformance.steps import COPIES, TOPIC

ALIKE_MAX: Final = 5
"""Violations of one guarantee that are told one by one."""


class Violation(Struct, frozen=True):
    """A violated guarantee in one sentence, and when the violation was noticed."""

    text: str
    at_us: int


class Guarantee(Struct, frozen=True):
    """A guarantee: its name, what it means, and who judges it."""

    name: str
    meaning: str
    violations: Callable[[History], Iterator[Violation]]


def _acknowledged(history: History) -> Iterator[Violation]:
    for sent in history.sent:
        if not sent.is_acknowledged and history.outcome_of(sent) == "committed":
            yield Violation(f"{sent.value} was refused: {sent.error}", sent.at_us)


def _refused(history: History) -> Iterator[Violation]:
    for sent in history.sent:
        if sent.is_acknowledged:
            yield Violation(f"{sent.value} was acknowledged", sent.at_us)


def _durable(history: History) -> Iterator[Violation]:
    offsets: dict[tuple[str, int, str], list[int]] = {}
    for tp, log in history.logs.items():
        topic, _, partition = tp.rpartition("-")
        for offset, value in log:
            offsets.setdefault((topic, int(partition), value), []).append(offset)
    for sent in history.sent:
        if not sent.is_acknowledged:
            continue
        stored = offsets.get((sent.topic, sent.partition, sent.value), [])
        where = f"{sent.topic}-{sent.partition}"
        if not stored:
            yield Violation(f"{sent.value} was acknowledged and is not in {where}", sent.at_us)
        elif sent.offset >= 0 and sent.offset not in stored:
            text = f"was acknowledged at {sent.offset} of {where} and is at {stored[0]}"
            yield Violation(f"{sent.value} {text}", sent.at_us)


def _in_order(history: History) -> Iterator[Violation]:
    for stream in history.of_producers():
        log = history.logs.get(f"{stream[0].topic}-{stream[0].partition}", [])
        first_offsets: dict[str, int] = {}
        for offset, value in log:
            first_offsets.setdefault(value, offset)
        last = -1
        for sent in stream:
            offset = first_offsets.get(sent.value, -1)
            if 0 <= offset < last:
                text = f"{sent.value} is at offset {offset}, before what was sent before it"
                yield Violation(text, sent.at_us)
            last = max(last, offset)


def _written_once(history: History) -> Iterator[Violation]:
    at = {sent.value: sent.at_us for sent in history.sent}
    for tp, log in history.logs.items():
        seen: dict[str, int] = {}
        for offset, value in log:
            if value in seen:
                text = f"{value} is twice in {tp}, at offsets {seen[value]} and {offset}"
                yield Violation(text, at.get(value, 0))
            seen.setdefault(value, offset)


def _readers(history: History) -> Iterator[tuple[str, str, list[Received]]]:
    """Yield each group, and each consumer without one: its name, topic and what it has read."""
    for reader, topic in history.readers.items():
        own = [record for record in history.received if reader == (record.group or record.client)]
        yield reader, topic, own


def visible(history: History, topic: str) -> tuple[set[str], set[str]]:
    """Return the values that a committed read must return, and those that it may return."""
    outcomes: dict[str, set[str]] = {}
    for sent in history.sent:
        if sent.topic == topic:
            outcomes.setdefault(sent.value, set()).add(history.outcome_of(sent))
    written_values = set(history.written(topic))
    must = {value for value in written_values if "committed" in outcomes[value]}
    return must, {value for value in written_values if outcomes[value] & {"committed", "unknown"}}


def _read_all(history: History) -> Iterator[Violation]:
    for reader, topic, received in _readers(history):
        must, _may = visible(history, topic)
        missing = sorted(must - {record.value for record in received})
        if missing:
            text = f"{reader} has not read {len(missing)} of {len(must)} records, as {missing[0]}"
            yield Violation(text, received[-1].at_us if received else history.ended_us)


def _read_once(history: History) -> Iterator[Violation]:
    for reader, _topic, received in _readers(history):
        seen = set()
        for record in received:
            if record.value in seen:
                yield Violation(f"{reader} has read {record.value} twice", record.at_us)
            seen.add(record.value)


def _read_in_order(history: History) -> Iterator[Violation]:
    last: dict[tuple[str, str, int], int] = {}
    for record in history.received:
        key = record.client, record.topic, record.partition
        if record.offset <= last.get(key, -1):
            text = f"{record.client} has read offset {record.offset} after {last[key]}"
            yield Violation(f"{text} of {record.topic}-{record.partition}", record.at_us)
        last[key] = max(record.offset, last.get(key, -1))


def _committed_only(history: History) -> Iterator[Violation]:
    for reader, topic, received in _readers(history):
        _must, may = visible(history, topic)
        for record in received:
            if record.value not in may:
                text = f"{reader} has read {record.value}, whose transaction is not committed"
                yield Violation(text, record.at_us)


def _atomic(history: History) -> Iterator[Violation]:
    for reader, _topic, received in _readers(history):
        read_values = {(record.topic, record.value) for record in received}
        for transaction in history.transactions:
            own = [
                (sent.topic, sent.value)
                for sent in history.sent
                if (sent.client, sent.transaction) == (transaction.client, transaction.number)
            ]
            count = sum(record in read_values for record in own)
            if 0 < count < len(own):
                text = f"{reader} has read {count} of {len(own)} records of one transaction"
                yield Violation(text, transaction.at_us)


def _settled_all(history: History) -> Iterator[Violation]:
    for group in {record.group for record in history.received if record.group}:
        must, _may = visible(history, history.readers[group])
        missing = sorted(must - settled(history, group))
        if missing:
            text = f"{len(missing)} of {len(must)} records were never settled, as {missing[0]}"
            yield Violation(text, history.ended_us)


def settled(history: History, group: str) -> set[str]:
    """Return the values that a share group's members accepted or rejected."""
    return {done.value for done in history.settled if done.group == group}


def _settled_once(history: History) -> Iterator[Violation]:
    for done in history.settled:
        if done.received is None:
            continue
        for record in history.received[done.received :]:
            if (record.group, record.value) == (done.group, done.value):
                text = f"{record.client} was given {done.value}, which was settled before"
                yield Violation(text, record.at_us)


def _copied_once(history: History) -> Iterator[Violation]:
    times = Counter(record.value for record in history.received if record.topic == COPIES)
    for value in history.written(TOPIC):
        if times[value] != 1:
            text = f"the copy of {value} was read {times[value]} times"
            yield Violation(text, history.ended_us)


GUARANTEES: Final = {
    guarantee.name: guarantee
    for guarantee in (
        Guarantee(
            "acknowledged", "every record is acknowledged: the client tries again", _acknowledged
        ),
        Guarantee("refused", "no record is acknowledged: the client reports an error", _refused),
        Guarantee(
            "nothing lost", "acknowledged records are in the log, where it was said", _durable
        ),
        Guarantee("in order", "a producer's records are in each log as they were sent", _in_order),
        Guarantee("written once", "no record is in a log twice", _written_once),
        Guarantee("read all", "at least once: consumers return every record", _read_all),
        Guarantee("read once", "at most once: consumers return no record twice", _read_once),
        Guarantee("read in order", "a consumer never goes back in a partition", _read_in_order),
        Guarantee("committed only", "no record of an aborted transaction is read", _committed_only),
        Guarantee("copied once", "exactly once: each record has one copy", _copied_once),
        Guarantee("settled all", "every record is accepted or rejected", _settled_all),
        Guarantee(
            "settled once", "what was accepted or rejected is not given out again", _settled_once
        ),
        Guarantee("atomic", "of a transaction all records are read, or none", _atomic),
    )
}
"""The guarantees by name. Each scenario also asks that every request is answered as it expects."""


def judge(history: History, guarantees: tuple[str, ...]) -> list[Violation]:
    """Return what a history violates, in the order of time; of many alike the first few."""
    violations = [Violation(surprise.text, surprise.at_us) for surprise in history.surprises]
    for name in guarantees:
        own = sorted(GUARANTEES[name].violations(history), key=_time)
        listed = [Violation(f"{name}: {violation.text}", violation.at_us) for violation in own]
        if len(listed) > ALIKE_MAX:
            rest = f"{name}: {len(listed) - ALIKE_MAX} more like these"
            listed[ALIKE_MAX:] = [Violation(rest, listed[ALIKE_MAX].at_us)]
        violations += listed
    return sorted(violations, key=_time)


def _time(violation: Violation) -> int:
    return violation.at_us
