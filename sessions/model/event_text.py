"""Every event as one line of text, in the past tense: its label, and what happened.

Each class of events has a sentence in :data:`SENTENCES`: most are templates, whose fields are
written as :data:`WRITTEN` says; the others are functions. User-supplied text (names, values,
statements) is made safe to print in :func:`in_words`, once.
"""

from collections.abc import Callable
from typing import Any, Final, TypeVar, get_type_hints

from msgspec import structs

from emulator import events
from emulator.events import CLIENTS, ZOOKEEPER, Event
from emulator.events.fields import meaning_of, type_of
from emulator.protocol.details import PARTITION_VALUES
from sessions.model.states import NO_SEED, UNKNOWN
from sessions.text import brackets, clean, hexadecimal, number, template_parts


def in_words(event: Event) -> tuple[str, str]:
    """An event's label and what happened, in words that are safe to print."""
    return event.label, clean(_TEXTS[type(event)](event))


def fields_of(event: Event) -> list[tuple[str, str]]:
    """Every field of the event by name, as text that is safe to print."""
    return [
        (field, clean(_value_text(event, field, value)))
        for field, value in structs.asdict(event).items()
        if field not in ("seq", "time_us", "cause")
    ]


def _value_text(event: Event, field: str, value: object) -> str:
    if isinstance(event, events.MessageSent) and field == "detail":
        return "; ".join(" ".join(item_words(event.name, item)) for item in event.detail if item)
    if isinstance(event, events.ElectionHeld) and field == "candidates":
        return ", ".join(f"{broker} {verdict}" for broker, verdict in event.candidates)
    return value if isinstance(value, str) else str(value)


# ---- how values are written

SHOWN_MAX = 4
"""How many items of a list a line names before it only counts them."""


def host(number: int) -> str:
    """A host's name in the command language: a broker id, ``zk`` or ``clients``."""
    return {ZOOKEEPER: "zk", CLIENTS: "clients"}.get(number, str(number))


def writer_name(number: int) -> str:
    """Return the writer of a znode: ``broker 1``, ``a tool``, or ``ZooKeeper`` itself."""
    return {ZOOKEEPER: "ZooKeeper", CLIENTS: "a tool"}.get(number, f"broker {number}")


def replica(tp: str, broker: int) -> str:
    """``orders-0@2``."""
    return f"{tp}@{broker}"


def records(count: int) -> str:
    """``1 record``, ``12 records``."""
    return f"{number(count)} record{'' if count == 1 else 's'}"


def first_few(items: list[str]) -> str:
    """The first few items, and how many more there are."""
    more = len(items) - SHOWN_MAX
    return " ".join(items[:SHOWN_MAX]) + (f" and {more} more" if more > 0 else "")


def _leader(broker: int) -> str:
    return "none" if broker < 0 else str(broker)


WRITTEN: Final[dict[str, Callable[[Any], str]]] = {
    "source": host,
    "destination": host,
    "host": host,
    "leader": _leader,
    "session": hexadecimal,
    "state": lambda state: state.replace("_", " "),
    "count": records,
    "values": first_few,
    "partitions": lambda partitions: first_few(partitions) or "nothing",
    "groups": lambda groups: first_few(groups) or "no groups",
    "transactional_ids": lambda ids: first_few(ids) or "no transactions",
    "errors": lambda errors: first_few(errors) or "done",
}
"""How a field is written, where that does not follow from its type and unit."""


def _written(kind: type[Event], field: str) -> Callable[[Any], str]:
    """How a field of a class of events is written; it may be a property of the class, too."""
    if field in WRITTEN:
        return WRITTEN[field]
    if type_of(kind, field) == list[int]:
        return brackets
    meaning = meaning_of(kind, field)
    return number if meaning is not None and meaning.unit == "offset" else str


NOTHING: Final[dict[str, object]] = {"line": 0, "session": 0, "error": "NONE"}
"""The values of fields that say that there is none, beyond those that say so in every field."""


def _is_unset(field: str, value: object) -> bool:
    return value in (None, "", UNKNOWN, []) or value == NOTHING.get(field)


def filled(kind: type[Event], template: str) -> Callable[[Event], str]:
    """Return what fills in a template; it fails if the class has no such field.

    What is in brackets is left out if its value says that there is none.
    """
    parts = template_parts(template)
    fields = [field for _, names, _ in parts for field in names]
    if missing := [field for field in fields if not hasattr(kind, field)]:
        raise TypeError(f"{kind.__name__} has no {missing[0]}, which its sentence names")
    write = {field: _written(kind, field) for field in fields}

    def text_of(event: Event) -> str:
        words = []
        for form, names, is_optional in parts:
            values = [getattr(event, name) for name in names]
            if not (is_optional and any(map(_is_unset, names, values))):
                texts = [write[name](value) for name, value in zip(names, values, strict=True)]
                words.append(form.format(*texts))
        return "".join(words).rstrip()

    return text_of


# ---- the sentences

SENTENCES: Final[dict[type[Event], str | Callable[[Any], str]]] = {
    events.TimerFired: "{host}: {task}",
    events.TopicDeleted: "topic {topic} deleted",
    events.BrokerStateChanged: "broker {broker} {state}",
    events.ControllerStateChanged: "controller {controller} {state}",
    events.MessageLost: "message #{message} lost: {reason}",
    events.MessageHeld: "message #{message} waits on its link",
    events.MessageReleased: "message #{message} goes on",
    events.LogCreated: "{tp}@{broker} log created",
    events.LogDeleted: "{tp}@{broker} log deleted",
    events.LogLoaded: "{tp}@{broker} loaded: LEO {log_end_offset} HW {high_watermark}",
    events.HighWatermarkChanged: "{tp}@{broker} HW {previous} > {high_watermark} ({occasion})",
    events.RecordsRead: "{tp}@{broker} read {count} from {offset} for {follower}",
    events.LogStartOffsetChanged: "{tp}@{broker} log start {log_start}",
    events.IsrChangeStarted: "{tp}@{broker} asks to {change} to {isr} for {replica}",
    events.ReplicaFetchPaused: "{tp}@{broker} fetching {condition}",
    events.SessionCreated: "session {session} for {host}, timeout {timeout_ms}ms",
    events.SessionEnded: "session {session} of {host} {reason}",
    events.WatchFired: "notified {host}: {kind} {path}",
    events.ZkConnectionChanged: "broker {broker} {state} (ZooKeeper)",
    events.PartitionStateRemoved: "{tp} no longer has a state",
    events.ControllerElected: "controller {broker} elected, epoch {epoch}",
    events.ControllerResigned: "controller {broker} resigned, epoch {epoch}: {reason}",
    events.ControllerStep: "{broker}: {procedure} {step} {name} {detail}",
    events.PartitionCached: "controller {broker} takes {tp} to have leader {leader}, epoch {leader_epoch}, ISR {isr}, v{zk_version}",
    events.MetadataUpdated: "broker {broker} took metadata from controller {controller}, alive {live_brokers}",
    events.LeaderElected: "{tp} leader {leader}, epoch {leader_epoch}, ISR {isr} ({strategy})",
    events.ElectionFailed: "{tp} no leader ({strategy}): {reason}",
    events.TransactionRecordWritten: "transaction {transactional_id} writes its state to {tp}@{broker}",
    events.TransactionMarkerWritten: "{tp}@{broker} {values} of producer {producer_id} epoch {producer_epoch}",
    events.MemberJoined: "{consumer} joined group {group} as {member}",
    events.MemberLeft: "{consumer} is out of group {group}: {reason}",
    events.GroupEpochBumped: "group {group} epoch {generation}: {reason} ({broker})",
    events.GroupConverted: "group {group} is of the protocol {protocol} now: {reason} ({broker})",
    events.TargetAssignmentComputed: "group {group} epoch {generation}: assigned by {strategy} ({broker})",
    events.MemberFenced: "{consumer} fenced in group {group}: {error}, epoch {member_epoch}",
    events.SharePartitionLoaded: "group {group} shares {tp} from {share_start} on ({broker})",
    events.SharePartitionForgotten: "{broker} shares {tp} in group {group} no more: {reason}",
    events.RecordsRestored: "group {group}: {tp} {first_offset}..{last_offset} {state} as before, not stored: {error}",
    events.RecordsReleased: "group {group}: {tp} {first_offset}..{last_offset} {state}, {reason}",
    events.RecordsArchived: "group {group}: {tp} {first_offset}..{last_offset} archived after {deliveries} deliveries",
    events.ShareStartMoved: "group {group} is done with {tp} up to {share_start}",
    events.OffsetCommitted: "group {group} committed {tp} {offset}",
    events.OffsetExpired: "group {group} forgot {tp} {offset}: committed too long ago",
    events.ClientIdentified: "client {connection} is {software} {software_version}",
    events.FaultPrepared: "fault {name}: {effect} for {times} of {api}",
    events.FaultInjected: "fault {name} comes over the request of client {connection}: {effect}",
    events.ClientDisconnected: "client {connection} disconnected from broker {broker}: {reason}",
    events.QuorumProgressChanged: "{controller} knows that {replica} has fetched to {end_offset}",
    events.MetadataRecordCommitted: "{kind} at offset {offset}, epoch {epoch}: {data}",
    events.LineLogged: "{source} {severity} {text}",
    events.EligibleReplicasChanged: "{tp} ELR {elr}, last known {last_known_elr}",
    events.MetadataApplied: "{host} applied the metadata log up to {end_offset}",
    events.MetadataLogStartChanged: "{host} has the metadata log from {start_offset} on",
    events.PartitionStateChanged: "{tp} leader {leader}[, epoch {leader_epoch}], ISR {isr}[, v{zk_version}]",
    events.IsrChanged: "{tp}@{broker} ISR {isr}[, v{zk_version}]",
    events.GroupStateChanged: "group {group} {state}[, generation {generation}] ({broker})",
    events.InputReceived: "{text}[  (line {line})]",
    events.BookmarkSet: "{name}[  {note}]",
    events.ReplicasAssigned: "{tp} assigned to {replicas}[ adding {adding}][ removing {removing}]",
    events.BrokerRegistered: "broker {broker} registered[, session {session}], epoch {broker_epoch}",
    events.ProduceFailed: "{producer} {tp} {count} failed: {error}",
    events.ConsumeFinished: "{consumer} at {tp} {position}[: {error}]",
    events.TransactionStateChanged: "transaction {transactional_id} {state}[ on {partitions}], producer {producer_id} epoch {producer_epoch}",
    events.TransactionsLoaded: "{tp}@{broker} coordinates {transactional_ids}",
    events.GroupsLoaded: "{tp}@{broker} coordinates {groups}",
    events.AssignmentChanged: "{consumer} reads {partitions} for group {group}, generation {generation}",
    events.ClientConnected: "client {connection} connected to broker {broker}[ from {address}]",
    events.ClientRequestReceived: "client {connection} ({client}) asks broker {broker}: {api} {api_version}[ of group {group}]",
    events.ClientResponseSent: "broker {broker} answers client {connection}: {api} {errors}",
}
"""The sentence of each class of events: a template, or a function of the event."""

Kind = TypeVar("Kind", bound=Event)


def sentence(text: Callable[[Kind], str]) -> Callable[[Kind], str]:
    """Add a function to :data:`SENTENCES`, for the class that its parameter has."""
    SENTENCES[get_type_hints(text)["event"]] = text
    return text


@sentence
def _(event: events.ClusterCreated) -> str:
    mode = ", stepwise" if event.stepwise else ""
    if not event.brokers:
        return f"history of a cluster, release {event.version}"
    if event.seed == NO_SEED:
        return f"cluster of {len(event.brokers)} brokers seen, release {event.version}"
    size = f"cluster of {len(event.brokers)} brokers made"
    return f"{size}, release {event.version}, seed {event.seed}{mode}"


@sentence
def _(event: events.ClientAuthenticated) -> str:
    if not event.principal:
        return (
            f"client {event.connection} fails to authenticate by {event.mechanism}: {event.error}"
        )
    return f"client {event.connection} authenticates as {event.principal} by {event.mechanism}"


@sentence
def _(event: events.InputFinished) -> str:
    return f"{event.text}: {'done' if event.error == 'NONE' else event.error}"


@sentence
def _(event: events.ExpectationChecked) -> str:
    return f"{event.text}: {'held' if event.passed else f'FAILED, was {event.actual}'}"


@sentence
def _(event: events.TopicCreated) -> str:
    settings = " ".join(f"{key}={value}" for key, value in event.config.items())
    factor = len(event.assignment[0]) if event.assignment else 0
    return f"topic {event.topic} created, {len(event.assignment)} x {factor} {settings}".rstrip()


@sentence
def _(event: events.PartitionsAdded) -> str:
    return f"topic {event.topic} grew to {event.first + len(event.assignment)} partitions"


@sentence
def _(event: events.ConfigChanged) -> str:
    change = f"{event.key}={event.value}" if event.value else f"{event.key} removed"
    return f"{event.entity} {event.name}: {change}"


@sentence
def _(event: events.LinkChanged) -> str:
    parts = ["cut"] if event.cut else []
    parts += [f"delayed {event.delay_us // 1000}ms"] if event.delay_us else []
    parts += [f"drops {event.drop_percent:g}%"] if event.drop_percent else []
    parts += [f"holds {' '.join(event.holding)}"] if event.holding else []
    return f"link {host(event.source)} > {host(event.destination)} {', '.join(parts) or 'whole'}"


@sentence
def _(event: events.MessageSent) -> str:
    items = first_few([" ".join(item_words(event.name, item)) for item in event.detail if item])
    return f"{host(event.source)} > {host(event.destination)} {event.name} {items}".rstrip()


WORDS: Final = {"high_watermark": "HW", "count": "records"}
"""What values are called in a sentence, where that is not their name in the dataset."""
UNSET: Final = (-1, "NONE")
"""Values without meaning, such as the base offset of a response without records."""


def item_words(message: str, item: list[str | int]) -> list[str]:
    """Format a message's values for one partition, each with its name: ``t-0``, ``HW=4``, .."""
    names = [WORDS.get(name, name) for name in PARTITION_VALUES.get(message, ())]
    if len(item) - 1 > len(names):
        return [str(item[0]), *map(str, item[1:])]
    return [
        str(item[0]),
        *(
            f"{name}={value}"
            for name, value in zip(names, item[1:], strict=False)
            if value not in UNSET
        ),
    ]


@sentence
def _(event: events.ReplicaRoleChanged) -> str:
    leader_text = f" of {event.leader}" if event.role == "follower" and event.leader >= 0 else ""
    return f"{replica(event.tp, event.broker)} became {event.role}{leader_text}, epoch {event.leader_epoch}"


@sentence
def _(event: events.RecordsAppended) -> str:
    end = event.base_offset + event.count
    epoch = f", epoch {event.leader_epoch}" if event.leader_epoch >= 0 else ""
    return (
        f"{replica(event.tp, event.broker)} +{number(event.count)} at {number(event.base_offset)}, "
        f"LEO {number(end)}{epoch}"
    )


@sentence
def _(event: events.RemoteLogEndOffsetChanged) -> str:
    end = "unknown" if event.log_end_offset < 0 else number(event.log_end_offset)
    return f"{replica(event.tp, event.broker)} remembers {event.follower} at LEO {end}"


@sentence
def _(event: events.LogTruncated) -> str:
    truncated = event.previous - event.log_end_offset
    first, last = event.log_end_offset, event.previous - 1
    offsets = (
        f"offset {number(first)}" if first == last else f"offsets {number(first)} to {number(last)}"
    )
    return (
        f"{replica(event.tp, event.broker)} truncated {records(truncated)} ({offsets}): "
        f"LEO {number(event.previous)} > {number(event.log_end_offset)} ({event.reason})"
    )


@sentence
def _(event: events.EpochCacheChanged) -> str:
    entries = " ".join(f"e{epoch}:{start}" for epoch, start in event.entries[-SHOWN_MAX:])
    return f"{replica(event.tp, event.broker)} epochs {entries or 'none'}"


@sentence
def _(event: events.RecoveryPointsCheckpointed) -> str:
    entries = first_few([f"{tp}:{offset}" for tp, offset in event.recovery_points.items()])
    return f"broker {event.broker} checkpointed recovery point {entries}"


@sentence
def _(event: events.HighWatermarksCheckpointed) -> str:
    entries = first_few([f"{tp}:{offset}" for tp, offset in event.high_watermarks.items()])
    return f"broker {event.broker} checkpointed HW {entries}"


@sentence
def _(event: events.ZnodeCreated) -> str:
    owner = f" (ephemeral {hexadecimal(event.session)})" if event.session else ""
    return f"created {event.path}{owner}{_writer(event.writer)}"


@sentence
def _(event: events.ZnodeChanged) -> str:
    data = event.data if event.data is not None else "null"
    return f"set {event.path} v{event.version}{_writer(event.writer)} {data}"


@sentence
def _(event: events.ZnodeDeleted) -> str:
    return f"deleted {event.path}{_writer(event.writer)}"


def _writer(writer: int | None) -> str:
    """Return the writer of a znode, if the recording names it."""
    return "" if writer is None else f" by {writer_name(writer)}"


@sentence
def _(event: events.ElectionHeld) -> str:
    leader = f"leader {event.leader}" if event.leader >= 0 else "no leader"
    order = ", ".join(f"{broker} {verdict}" for broker, verdict in event.candidates)
    return (
        f"{event.tp} {event.strategy} election by controller {event.controller}: {leader}; "
        f"considered {order or 'none'}; ISR {brackets(event.isr)}, live {brackets(event.live)}"
        f"{_would_help(event)}"
    )


def _would_help(event: events.ElectionHeld) -> str:
    """Return the remedy for a partition for which no leader was found."""
    if event.leader >= 0:
        return ""
    waiting = [broker for broker in event.isr if broker not in event.live]
    if not waiting:
        return ""
    names = " or ".join(map(str, waiting))
    return f"; broker {names} of the ISR would bring it back, or an unclean election"


@sentence
def _(event: events.RequestRefused) -> str:
    error, given, known = event.error, event.given, event.known
    name = _compared(event)
    if event.tp and error == "STALE_CONTROLLER_EPOCH" and given <= known:  # Kafka's name for it
        return (
            f"broker {event.broker} skipped {event.tp} of the request of broker {event.source}:"
            f" it has {name} {known} already, and was sent {given} ({error})"
        )
    subject = f"{event.tp} of the request" if event.tp else "the request"
    refused = f"broker {event.broker} refused {subject} of broker {event.source}: {error}"
    if given < 0 and known < 0:
        return refused
    if error == "INELIGIBLE_REPLICA":
        return f"{refused} ({name} {given})"
    return f"{refused} ({name} {given}, it has {known})"


def _compared(event: events.RequestRefused) -> str:
    """Return the name of the two numbers of a refusal."""
    match event.error:
        case "INELIGIBLE_REPLICA":
            return "replica"
        case "STALE_BROKER_EPOCH" | "NOT_LEADER_OR_FOLLOWER":
            return "broker epoch"
        case "INVALID_UPDATE_VERSION" | "NOT_CONTROLLER":
            return "partition epoch"
        case "STALE_CONTROLLER_EPOCH" if not event.tp:
            return "controller epoch"
        case _:
            return "leader epoch"


@sentence
def _(event: events.ZooKeeperRefused) -> str:
    versions = ""
    if event.expected >= 0:
        versions = f" (version {event.expected} expected, it is {event.actual})"
    return (
        f"{event.operation} {event.path} of broker {event.broker} refused: {event.error}{versions}"
    )


@sentence
def _(event: events.ProduceSent) -> str:
    acks = "all" if event.acks < 0 else str(event.acks)
    return f"{event.producer} sent {event.tp} {first_few(event.values)}, acks={acks}"


@sentence
def _(event: events.ProduceRetried) -> str:
    counted = "" if event.counted else " (not counted)"
    record = f"{event.tp} record {event.first_record}"
    return f"{event.producer} tries {record} again: {event.error}{counted}"


@sentence
def _(event: events.ProduceAcknowledged) -> str:
    where = f"at {number(event.base_offset)}" if event.base_offset >= 0 else "unconfirmed"
    return f"{event.producer} {event.tp} {records(event.count)} acknowledged {where}"


@sentence
def _(event: events.RecordsConsumed) -> str:
    count = sum(length for _, length in event.runs)
    return f"{event.consumer} read {event.tp} {records(count)} from {number(event.offset)}"


@sentence
def _(event: events.ConsumerTruncationDetected) -> str:
    ends = "is unknown" if event.end_offset < 0 else f"ends at {number(event.end_offset)}"
    return (
        f"{event.consumer} at {event.tp} {number(event.position)}:"
        f" epoch {event.epoch} {ends} in the leader's log"
    )


@sentence
def _(event: events.AuditChanged) -> str:
    counts = {
        "lost": len(event.lost),
        "duplicated": len(event.duplicated),
        "diverged": len(event.diverged),
        "read and lost": len(event.consumed_lost),
    }
    findings = [f"{count} {finding}" for finding, count in counts.items() if count]
    findings += [f"offsets {begin} to {end - 1} lost" for begin, end in event.lost_offsets]
    return f"{event.tp} {', '.join(findings) or 'clean again'}"


@sentence
def _(event: events.InvariantViolated) -> str:
    note = " (known to happen in this release)" if event.known else ""
    return f"{event.name} {event.tp}: {event.detail}{note}"


# ---- transactions


@sentence
def _(event: events.LastStableOffsetChanged) -> str:
    stable = event.last_stable_offset
    position = "at the HW" if stable < 0 else str(stable)
    return f"{replica(event.tp, event.broker)} LSO {position}"


# ---- consumer groups


@sentence
def _(event: events.GroupRecordsWritten) -> str:
    where = replica(event.tp, event.broker)
    return f"group {event.group} writes {records(len(event.values))} to {where}"


@sentence
def _(event: events.MemberAssignmentChanged) -> str:
    text = f"{event.consumer} in group {event.group}: epoch {event.member_epoch}"
    text += f", owns {first_few(event.partitions) or 'nothing'}"
    if event.revoking:
        return f"{text}, must revoke {first_few(event.revoking)}"
    return f"{text}, waits for {', '.join(event.awaited)}" if event.awaited else text


@sentence
def _(event: events.RecordsAcquired) -> str:
    batch = f"{event.tp} {event.first_offset}..{event.last_offset}"
    again = f", delivery {event.deliveries}" if event.deliveries > 1 else ""
    return f"{event.consumer} acquired {batch} in group {event.group}{again}"


@sentence
def _(event: events.RecordsAcknowledged) -> str:
    batch = f"{event.tp} {event.first_offset}..{event.last_offset}"
    return f"{event.consumer}: {event.acknowledgement} {batch} in group {event.group}"


@sentence
def _(event: events.QuorumRoleChanged) -> str:
    leader_text = f" of {event.leader}" if event.role == "follower" and event.leader >= 0 else ""
    return f"controller {event.controller} became {event.role}{leader_text}, epoch {event.epoch}"


@sentence
def _(event: events.MetadataSnapshotTaken) -> str:
    verb = "fetched" if event.reason == "fetched" else "wrote"
    reason = "" if event.reason == "fetched" else f", by {event.reason}"
    end, size = number(event.end_offset), number(event.size_bytes)
    return f"{event.host} {verb} a metadata snapshot up to {end}, {size} bytes{reason}"


@sentence
def _(event: events.ReplicaFolderMoved) -> str:
    done = f"renamed a folder to {event.name}" if event.exists else f"removed {event.name}"
    return f"broker {event.broker} {done}"


def _text(kind: type[Event]) -> Callable[[Any], str]:
    text = SENTENCES[kind]
    return filled(kind, text) if isinstance(text, str) else text


_TEXTS: Final = {kind: _text(kind) for kind in events.TYPES.values()}
