"""KRaft: the links between a fact and its causes that no event names.

A leader is what a committed record says, and a broker is fenced because something did *not*
happen: no heartbeat came for a whole session. So a chain of causes leads from a leader to a fetch
that committed a batch, and from there to a timer. Here the record is added, what fenced the broker
in its batch, the last heartbeat that the controller answered, and what silenced the broker.
"""

from collections.abc import Iterator
from itertools import takewhile
from typing import Final

from console.model.lookback import last_match
from console.model.reader import EventReader
from console.model.silence import Silence, began
from emulator import events
from emulator.events import BROKEN_STATES, Event, MetadataRecordCommitted
from sessions.decoding import decode_object

FACTS: Final = (events.PartitionStateChanged, events.LeaderElected)
"""The values of a partition's record."""
BATCH_MAX: Final = 10_240
"""How many events after a record the rest of its batch is looked for in: a batch has 10,000."""
TOUCHES_MAX: Final = 64
"""How many events back a fact's record is looked for, among those of its partition."""
STEPS_MAX: Final = 512
"""How many events of a broker are searched for what silenced it."""
BUDGET_MS: Final = 250.0
"""How long one search for the last heartbeat may take."""
SESSION_TIMER: Final = "broker-session"
ISR_TIMER: Final = "isr-expiration"
MEMO_MAX: Final = 256


def led_to(reader: EventReader, seq: int) -> list[Event]:
    """The event and what led to it, the root first, with the records and heartbeats between."""
    chain = reader.memo.get(seq)
    if chain is None:
        if len(reader.memo) >= MEMO_MAX:
            reader.memo.clear()
        chain = reader.memo[seq] = _completed(reader, reader.causes(seq))
    return chain


def _completed(reader: EventReader, links: list[Event]) -> list[Event]:
    root = links[0] if links else None
    if isinstance(root, events.TimerFired) and root.task == ISR_TIMER:
        links = [*_not_fetching(reader, root, links), *links]
    return _with_records(reader, links)


def _not_fetching(
    reader: EventReader, timer: events.TimerFired, links: list[Event]
) -> Iterator[Event]:
    """What kept a follower from fetching until the leader removed it from the ISR."""
    shrunk = next((event for event in reversed(links) if hasattr(event, "isr")), None)
    if shrunk is None:
        return
    isr: list[int] = getattr(shrunk, "isr")  # noqa: B009 - several types of events have one
    others = frozenset(reader.source.view.state.brokers) - {*isr}
    silence = Silence(others, frozenset({timer.host}), getattr(shrunk, "tp", ""))
    event = began(reader, timer.seq, silence)
    if event is not None:
        yield from (cause for cause in reader.causes(event.seq) if cause.seq < timer.seq)


def _with_records(reader: EventReader, links: list[Event]) -> list[Event]:
    fact = next((event for event in reversed(links) if isinstance(event, FACTS)), None)
    record = links[-1] if links and isinstance(links[-1], MetadataRecordCommitted) else None
    if record is None and fact is not None:
        record = _record_of(reader, fact)
    if record is None:
        return links
    linked = {event.seq: event for event in (*links, record)}
    root = links[0]
    if isinstance(root, events.TimerFired) and root.task == SESSION_TIMER:
        for fenced in _fenced_in_batch(reader, record):
            linked[fenced.seq] = fenced
            broker = decode_object(fenced.data)["brokerId"]
            linked |= {event.seq: event for event in _silence(reader, root, broker)}
    return [linked[number] for number in sorted(linked)]


def _record_of(reader: EventReader, fact: Event) -> MetadataRecordCommitted | None:
    """The record about the same partition that was committed in the same moment."""
    name: str = getattr(fact, "tp", "")
    seq: int | None = fact.seq
    for _ in range(TOUCHES_MAX):
        seq = reader.touching([name], seq, -1) if seq is not None else None
        event = None if seq is None else reader.get(seq)
        if event is None or (event.time_us, event.cause) != (fact.time_us, fact.cause):
            return None
        if isinstance(event, MetadataRecordCommitted):
            return event
    return None


def _fenced_in_batch(
    reader: EventReader, record: MetadataRecordCommitted
) -> Iterator[MetadataRecordCommitted]:
    """The records of the same batch that fence a broker: partitions come before them."""
    for event in takewhile(
        lambda event: isinstance(event, MetadataRecordCommitted) and event.batch == record.batch,
        reader.page(record.seq, record.seq + BATCH_MAX),
    ):
        assert isinstance(event, MetadataRecordCommitted)
        if event.kind != "BrokerRegistrationChange":
            continue
        if decode_object(event.data).get("fenced") == 1:
            yield event


def _silence(reader: EventReader, timer: events.TimerFired, broker: int) -> Iterator[Event]:
    """The last heartbeat of a broker that was answered, and what happened to the broker then."""
    response = last_match(reader, timer.seq, lambda event: _is_response(event, broker), BUDGET_MS)
    if not isinstance(response, events.MessageSent):
        return
    heartbeat = reader.get(response.request)
    if heartbeat is not None:
        yield heartbeat
    seq: int | None = response.seq
    for _ in range(STEPS_MAX):
        seq = reader.touching([f"broker.{broker}"], seq, 1) if seq is not None else None
        event = None if seq is None else reader.get(seq)
        if event is None or event.seq > timer.seq:
            return
        if _silences(event):
            root = reader.causes(event.seq)[0]
            yield root if isinstance(root, events.InputReceived) else event
            return


def _silences(event: Event) -> bool:
    """Whether a broker's heartbeats come no longer; its replicas go before its process is gone."""
    match event:
        case events.BrokerStateChanged(state=state):
            return state in BROKEN_STATES
        case events.ReplicaRoleChanged(role=role):
            return role == "offline"
        case events.LinkChanged(cut=cut):
            return cut
        case _:
            return False


def _is_response(event: Event, broker: int) -> bool:
    return (
        isinstance(event, events.MessageSent)
        and event.name == "BrokerHeartbeatResponse"
        and event.destination == broker
    )
