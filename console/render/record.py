"""One record: its content, what its producer was told, and where its copies are and were.

What is so now comes from the read model at the time cursor; what was, from the events about the
record, as far as they have been found.
"""

from collections.abc import Iterable, Sequence
from typing import Final

from console.model.links import Link
from console.model.records import offset_of, places_of, record_at
from console.model.tape_window import EPOCH_ROLES
from console.model.workspace import Stage
from console.render.lines import BLANK, Line, Span, data, line
from console.render.rows import Row
from console.render.tapes import tape_order
from emulator.events import (
    AuditChanged,
    Event,
    HighWatermarkChanged,
    LogDeleted,
    LogTruncated,
    ProduceAcknowledged,
    ProduceFailed,
    ProduceRetried,
    ProduceSent,
    RecordsAppended,
    RecordsConsumed,
)
from sessions.model.states import Batch, PartitionState, ReplicaState
from sessions.text import clean, clock, number, plural

LABEL_WIDTH: Final = 12
RESPONSE: Final = "response"
ACKS: Final = {0: "0", 1: "1", -1: "all"}
AUDITED: Final = (
    ("lost", "lost", "acknowledged, and not in the leader's log"),
    ("duplicated", "duplicated", "is in the leader's log more than once"),
    ("diverged", "diverged", "another replica holds another record at this offset"),
    ("consumed_lost", "read and lost", "read by a consumer, and not in the leader's log"),
)
"""The audit's lists, and what it means for a record to be in them."""


def concerns(event: Event, record_id: int, places: set[int]) -> bool:
    """Whether an event of the record's partition is about it; appends tell where it stands."""
    match event:
        case LogTruncated(log_end_offset=end, previous=previous):
            return any(end <= place < previous for place in places)
        case HighWatermarkChanged(previous=previous, high_watermark=now):
            return any(previous <= place < now for place in places)
        case AuditChanged():
            return any(_is_in(getattr(event, name), record_id) for name, _, _ in AUDITED)
        case RecordsAppended(first_record=first, base_offset=base) if _names(event, record_id):
            places.add(base + record_id - first)
            return True
        case _:
            return _names(event, record_id)


def _names(event: Event, record_id: int) -> bool:
    """Whether an event carries or mentions this record."""
    runs: Iterable[tuple[int, int]] = ()
    match event:
        case ProduceSent(first_record=first, values=values):
            runs = [(first, len(values))]
        case ProduceAcknowledged() | ProduceFailed() | RecordsAppended():
            runs = [(event.first_record, event.count)]
        case ProduceRetried(first_record=first):
            runs = [(first, 1)]
        case RecordsConsumed():
            runs = event.runs
    return any(first <= record_id < first + count for first, count in runs)


def _is_in(entries: Iterable[tuple[int, int]], record_id: int) -> bool:
    return any(record == record_id for _, record in entries)


def story_rows(
    stage: Stage,
    partition: PartitionState | None,
    record_id: int,
    events: Sequence[Event],
    *,
    is_all: bool = True,
) -> list[Row]:
    """Everything about the record; ``events`` are those about it up to the time cursor.

    ``is_all``: all of them have been found.
    """
    batch = stage.view.batch(record_id)
    if batch is None:
        return [Row(line(Span(f"Record {record_id:,} has not been produced yet.", "muted")))]
    rows = [
        *_content(batch, record_id),
        *_fate(batch, events, is_all=is_all),
        *_audit(partition, record_id),
    ]
    rows += [Row(BLANK), Row(line(Span("COPIES", "title"), Span(" enter: the write", "muted")))]
    if partition is None:
        return [*rows, Row(line(Span(f"{batch.tp} does not exist at this time.", "muted")))]
    for broker in tape_order(partition):
        rows.append(_copy(stage, partition, broker, record_id, events))
    return rows


def _labelled(label: str, *parts: str | Span) -> Line:
    return line(Span(f"{label:<{LABEL_WIDTH}}", "muted"), *parts)


def _content(batch: Batch, record_id: int) -> list[Row]:
    place = record_id - batch.first_record
    key = batch.keys[place] if batch.keys else None
    summary = f"{clock(batch.sent_us)}  acks {ACKS.get(batch.acks, str(batch.acks))}"
    size = f"  {place + 1} of {plural(len(batch.values), 'record')}" if batch.values[1:] else ""
    return [
        Row(_labelled("value", data(batch.values[place], "strong")), data=batch.values[place]),
        Row(_labelled("key", Span("-", "muted") if key is None else data(key)), data=key),
        Row(_labelled("sent by", clean(batch.producer), Span(f"  {summary}{size}", "muted"))),
        Row(_labelled("to", data(batch.tp)), Link("partition", batch.tp)),
    ]


def _fate(batch: Batch, events: Sequence[Event], *, is_all: bool) -> list[Row]:
    """The producer's result, and the record's readers."""
    retries = [event for event in events if isinstance(event, ProduceRetried)]
    rows = []
    if retries:
        last = retries[-1]
        text = Span(f"{plural(len(retries), 'time')}, last after {clean(last.error)}", "warning")
        rows.append(Row(_labelled("sent again", text), Link("event", str(last.seq))))
    ends = [event for event in events if isinstance(event, ProduceAcknowledged | ProduceFailed)]
    if batch.acks == 0:  # what the producer counts as acknowledged, nobody has acknowledged
        rows.append(Row(_labelled(RESPONSE, Span("none: acks 0 asks for none", "muted"))))
    elif ends:
        rows.append(_response(ends[-1]))
    else:
        none = "none yet" if is_all else "searching"
        rows.append(Row(_labelled(RESPONSE, Span(none, "muted"))))
    for event in events:
        if isinstance(event, RecordsConsumed):
            when = Span(f"  {clock(event.time_us)}", "muted")
            rows.append(
                Row(
                    _labelled("read by", clean(event.consumer), when), Link("event", str(event.seq))
                )
            )
    return rows


def _response(event: ProduceAcknowledged | ProduceFailed) -> Row:
    when = Span(f"  {clock(event.time_us)}  #{number(event.seq)}", "muted")
    link = Link("event", str(event.seq))
    if isinstance(event, ProduceFailed):
        return Row(_labelled(RESPONSE, Span(f"failed: {clean(event.error)}", "error"), when), link)
    return Row(_labelled(RESPONSE, Span("acknowledged", "ok"), when), link)


def _audit(partition: PartitionState | None, record_id: int) -> list[Row]:
    if partition is None:
        return []
    return [
        Row(_labelled("audit", Span(word, "error"), Span(f"  {meaning}", "muted")))
        for name, word, meaning in AUDITED
        if _is_in(getattr(partition, name), record_id)
    ]


def _copy(
    stage: Stage,
    partition: PartitionState,
    broker: int,
    record_id: int,
    events: Sequence[Event],
) -> Row:
    """One replica: where it holds the record; or that it does not, and why not."""
    replica = partition.replica_states.get(broker)
    key = ("copy", broker)
    head = _who(stage, partition, broker, replica)
    offset = None if replica is None else offset_of(replica, record_id)
    if replica is None or offset is None:
        why, link = _absence(partition, broker, record_id, events)
        return Row(line(*head, Span(why, "muted")), link, key=key)
    epoch = next(run.leader_epoch for run in reversed(replica.log) if run.base_offset <= offset)
    committed = offset < replica.high_watermark
    written = stage.writes.find(partition.name, broker, offset, stage.source.seq)
    when = "" if written is None else f"  written {clock(written.time_us)}"
    shown = line(
        *head,
        "offset ",
        Span(number(offset), "strong"),
        Span("  epoch ", "muted"),
        Span(str(epoch) if epoch >= 0 else "-", f"epoch{max(0, epoch) % EPOCH_ROLES}"),
        Span(
            "  below its HW" if committed else "  not below its HW",
            "ok" if committed else "warning",
        ),
        Span(when, "muted"),
    )
    return Row(shown, None if written is None else Link("event", str(written.seq)), key=key)


def _who(
    stage: Stage, partition: PartitionState, broker: int, replica: ReplicaState | None
) -> Line:
    down = replica is None or replica.role == "offline"
    glyph = stage.glyphs.offline if down else stage.glyphs.up
    role = "-" if replica is None else "down" if down else replica.role
    place = "" if broker == partition.leader else "ISR" if broker in partition.isr else "OSR"
    return line(Span(f"{glyph}{broker:>4} {role:<9}{place:<5}", "error" if down else ""))


def _absence(
    partition: PartitionState, broker: int, record_id: int, events: Sequence[Event]
) -> tuple[str, Link | None]:
    """Why a replica does not hold the record: truncated, deleted, or never written there."""
    wrote = False
    gone: Event | None = None
    for event in events:
        match event:
            case RecordsAppended(broker=where) if where == broker:
                wrote, gone = True, None
            case LogTruncated(broker=where) | LogDeleted(broker=where) if where == broker and wrote:
                gone = event
    if gone is not None:
        how = "truncated" if isinstance(gone, LogTruncated) else "deleted"
        return f"had it until {clock(gone.time_us)}: {how}", Link("event", str(gone.seq))
    replica = partition.replica_states.get(broker)
    for offset in places_of(partition, record_id):
        other = None if replica is None else record_at(replica, offset)
        if other is not None:
            return f"holds another record at offset {number(offset)}", Link("record", str(other))
    return ("had it, and no longer has it" if wrote else "does not have it"), None
