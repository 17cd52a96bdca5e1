"""Every event as one line of text, in the past tense: its kind, and what happened.

One function for each class of :mod:`emulator.events`, and one table that maps them; a test checks
that none is missing. User-supplied text (names, values, statements) is made safe to print in
:func:`in_words`, once.
"""

from collections.abc import Callable
from typing import Any, Final

from msgspec import Struct, structs

from emulator import events
from emulator.events import CLIENTS, ZOOKEEPER, Event
from sessions.text import brackets, clean, hexadecimal, number


class Kind(Struct, frozen=True):
    """How one class of events is described: a word of at most six letters, and its text."""

    word: str
    text: Callable[[Any], str]


def in_words(event: Event) -> tuple[str, str]:
    """An event's kind and what happened, in words that are safe to print."""
    kind = KINDS.get(type(event), UNKNOWN)
    return kind.word, clean(kind.text(event))


def fields_of(event: Event) -> list[tuple[str, str]]:
    """Every field of the event by name, as text that is safe to print."""
    return [
        (field, clean(_value_text(event, field, value)))
        for field, value in structs.asdict(event).items()
        if field not in ("seq", "time_us", "cause")
    ]


def _value_text(event: Event, field: str, value: object) -> str:
    if isinstance(event, events.MessageSent) and field == "detail":
        return "; ".join(" ".join(said(event.name, item)) for item in event.detail if item)
    if isinstance(event, events.ElectionHeld) and field == "candidates":
        return ", ".join(f"{broker} {verdict}" for broker, verdict in event.candidates)
    return value if isinstance(value, str) else str(value)


# ---- the text of each class

SHOWN_MAX = 4
"""How many items of a list a line names before it only counts them."""


def host(number: int) -> str:
    """A host's name in the command language: a broker id, ``zk`` or ``clients``."""
    return {ZOOKEEPER: "zk", CLIENTS: "clients"}.get(number, str(number))


def writer_name(number: int) -> str:
    """Who wrote a znode: ``broker 1``, ``a tool``, or ``ZooKeeper`` itself."""
    return {ZOOKEEPER: "ZooKeeper", CLIENTS: "a tool"}.get(number, f"broker {number}")


def replica(tp: str, broker: int) -> str:
    """``orders-0@2``."""
    return f"{tp}@{broker}"


def records(count: int) -> str:
    """``1 record``, ``12 records``."""
    return f"{number(count)} record{'' if count == 1 else 's'}"


def some(items: list[str]) -> str:
    """The first few items, and how many more there are."""
    rest = len(items) - SHOWN_MAX
    return " ".join(items[:SHOWN_MAX]) + (f" and {rest} more" if rest > 0 else "")


def cluster_created(event: events.ClusterCreated) -> str:
    """The cluster's own first event."""
    mode = ", stepwise" if event.stepwise else ""
    size = f"cluster of {len(event.brokers)} brokers made"
    return f"{size}, release {event.version}, seed {event.seed}{mode}"


def input_received(event: events.InputReceived) -> str:
    """A statement, as it was written."""
    return f"{event.text}  (line {event.line})" if event.line else event.text


def input_finished(event: events.InputFinished) -> str:
    """The outcome of a statement."""
    return f"{event.text}: {'done' if event.error == 'NONE' else event.error}"


def expectation_checked(event: events.ExpectationChecked) -> str:
    """An assertion."""
    return f"{event.text}: {'held' if event.passed else f'FAILED, was {event.actual}'}"


def bookmark_set(event: events.BookmarkSet) -> str:
    """A bookmark."""
    return f"{event.name}  {event.note}" if event.note else event.name


def timer_fired(event: events.TimerFired) -> str:
    """A periodic task."""
    return f"{host(event.host)}: {event.task}"


def topic_created(event: events.TopicCreated) -> str:
    """A new topic."""
    settings = " ".join(f"{key}={value}" for key, value in event.config.items())
    factor = len(event.assignment[0]) if event.assignment else 0
    return f"topic {event.topic} created, {len(event.assignment)} x {factor} {settings}".rstrip()


def partitions_added(event: events.PartitionsAdded) -> str:
    """A grown topic."""
    return f"topic {event.topic} grew to {event.first + len(event.assignment)} partitions"


def topic_deleted(event: events.TopicDeleted) -> str:
    """A deleted topic."""
    return f"topic {event.topic} deleted"


def replicas_assigned(event: events.ReplicasAssigned) -> str:
    """A reassignment's step."""
    moves = f" adding {brackets(event.adding)}" if event.adding else ""
    moves += f" removing {brackets(event.removing)}" if event.removing else ""
    return f"{event.tp} assigned to {brackets(event.replicas)}{moves}"


def config_changed(event: events.ConfigChanged) -> str:
    """A configuration value."""
    change = f"{event.key}={event.value}" if event.value else f"{event.key} removed"
    return f"{event.entity} {event.name}: {change}"


def broker_state_changed(event: events.BrokerStateChanged) -> str:
    """A broker process."""
    return f"broker {event.broker} {event.state.replace('_', ' ')}"


def broker_registered(event: events.BrokerRegistered) -> str:
    """A broker's registration; only with ZooKeeper it has a session."""
    session = f", session {hexadecimal(event.session)}" if event.session else ""
    return f"broker {event.broker} registered{session}, epoch {event.broker_epoch}"


def link_changed(event: events.LinkChanged) -> str:
    """A change of a link."""
    parts = ["cut"] if event.cut else []
    parts += [f"delayed {event.delay_us // 1000}ms"] if event.delay_us else []
    parts += [f"drops {event.drop_percent:g}%"] if event.drop_percent else []
    parts += [f"holds {' '.join(event.holding)}"] if event.holding else []
    return f"link {host(event.source)} > {host(event.destination)} {', '.join(parts) or 'whole'}"


def message_sent(event: events.MessageSent) -> str:
    """A message, with a shortened list of its partitions."""
    what = some([" ".join(said(event.name, item)) for item in event.detail if item])
    return f"{host(event.source)} > {host(event.destination)} {event.name} {what}".rstrip()


SAID: Final[dict[str, tuple[str, ...]]] = {
    "FetchRequest": ("offset", "leader_epoch"),
    "FetchResponse": ("HW", "base_offset", "records", "error"),
    "LeaderAndIsrRequest": ("leader", "leader_epoch"),
    "StopReplicaRequest": ("leader_epoch",),
    "UpdateMetadataRequest": ("leader", "leader_epoch", "zk_version"),
    "OffsetsForLeaderEpochRequest": ("leader_epoch",),
    "OffsetsForLeaderEpochResponse": ("error", "leader_epoch", "end_offset"),
    "ProduceRequest": (
        *("first_record", "records", "acks"),
        *("producer_id", "producer_epoch", "base_sequence"),
    ),
    "ProduceResponse": ("error", "base_offset"),
}
"""The meaning of the values after a partition's name in each message, by Kafka's names if any.

They are in the order of :meth:`emulator.protocol.message.Message.detail`.
"""
UNSET: Final = (-1, "NONE")
"""Values without meaning, such as the base offset of a response without records."""


def said(message: str, item: list[str | int]) -> list[str]:
    """Format a message's values for one partition, each with its name: ``t-0``, ``HW=4``, .."""
    names = SAID.get(message, ())
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


def message_lost(event: events.MessageLost) -> str:
    """A lost message."""
    return f"message #{event.message} lost: {event.reason}"


def message_held(event: events.MessageHeld) -> str:
    """A held message."""
    return f"message #{event.message} waits on its link"


def message_released(event: events.MessageReleased) -> str:
    """A released message."""
    return f"message #{event.message} goes on"


def log_created(event: events.LogCreated) -> str:
    """A new log folder."""
    return f"{replica(event.tp, event.broker)} log created"


def log_deleted(event: events.LogDeleted) -> str:
    """A removed log folder."""
    return f"{replica(event.tp, event.broker)} log deleted"


def log_loaded(event: events.LogLoaded) -> str:
    """What a starting broker found on disk."""
    return (
        f"{replica(event.tp, event.broker)} loaded: LEO {number(event.log_end_offset)} "
        f"HW {number(event.high_watermark)}"
    )


def replica_role_changed(event: events.ReplicaRoleChanged) -> str:
    """A replica's new role."""
    of = f" of {event.leader}" if event.role == "follower" else ""
    return f"{replica(event.tp, event.broker)} became {event.role}{of}, epoch {event.leader_epoch}"


def records_appended(event: events.RecordsAppended) -> str:
    """An append to a log."""
    end = event.base_offset + event.count
    epoch = f", epoch {event.leader_epoch}" if event.leader_epoch >= 0 else ""
    return (
        f"{replica(event.tp, event.broker)} +{number(event.count)} at {number(event.base_offset)}, "
        f"LEO {number(end)}{epoch}"
    )


def high_watermark_changed(event: events.HighWatermarkChanged) -> str:
    """An advance of the HW."""
    return (
        f"{replica(event.tp, event.broker)} HW {number(event.previous)} > "
        f"{number(event.high_watermark)} ({event.occasion})"
    )


def remote_leo_changed(event: events.RemoteLogEndOffsetChanged) -> str:
    """The leader's view of a follower."""
    known = "unknown" if event.log_end_offset < 0 else number(event.log_end_offset)
    return f"{replica(event.tp, event.broker)} remembers {event.follower} at LEO {known}"


def log_truncated(event: events.LogTruncated) -> str:
    """A truncated log."""
    gone = event.previous - event.log_end_offset
    first, last = event.log_end_offset, event.previous - 1
    offsets = (
        f"offset {number(first)}" if gone == 1 else f"offsets {number(first)} to {number(last)}"
    )
    return (
        f"{replica(event.tp, event.broker)} truncated {records(gone)} ({offsets}): "
        f"LEO {number(event.previous)} > {number(event.log_end_offset)} ({event.reason})"
    )


def log_start_changed(event: events.LogStartOffsetChanged) -> str:
    """A log's new start offset."""
    return f"{replica(event.tp, event.broker)} log start {number(event.log_start)}"


def epoch_cache_changed(event: events.EpochCacheChanged) -> str:
    """A leader epoch cache."""
    entries = " ".join(f"e{epoch}:{start}" for epoch, start in event.entries[-SHOWN_MAX:])
    return f"{replica(event.tp, event.broker)} epochs {entries or 'none'}"


def checkpointed(event: events.HighWatermarksCheckpointed) -> str:
    """A checkpoint file."""
    entries = some([f"{tp}:{offset}" for tp, offset in event.high_watermarks.items()])
    return f"broker {event.broker} checkpointed HW {entries}"


def recovery_points_checkpointed(event: events.RecoveryPointsCheckpointed) -> str:
    """A checkpoint file."""
    entries = some([f"{tp}:{offset}" for tp, offset in event.recovery_points.items()])
    return f"broker {event.broker} checkpointed recovery point {entries}"


def records_read(event: events.RecordsRead) -> str:
    """A leader's read for a follower."""
    return (
        f"{replica(event.tp, event.broker)} read {records(event.count)} from "
        f"{number(event.offset)} for {event.follower}"
    )


def isr_change_started(event: events.IsrChangeStarted) -> str:
    """A request to change the ISR."""
    return (
        f"{replica(event.tp, event.broker)} asks to {event.change} to {brackets(event.isr)} "
        f"for {event.replica}"
    )


def isr_changed(event: events.IsrChanged) -> str:
    """The ISR that a leader uses."""
    return f"{replica(event.tp, event.broker)} ISR {brackets(event.isr)}, v{event.zk_version}"


def fetch_paused(event: events.ReplicaFetchPaused) -> str:
    """A deliberately slowed follower."""
    return f"{replica(event.tp, event.broker)} fetching {'paused' if event.paused else 'resumed'}"


def znode_created(event: events.ZnodeCreated) -> str:
    """A new znode."""
    owner = f" (ephemeral {hexadecimal(event.session)})" if event.session else ""
    return f"created {event.path}{owner}{_writer(event.writer)}"


def znode_changed(event: events.ZnodeChanged) -> str:
    """A znode's new data."""
    data = event.data if event.data is not None else "null"
    return f"set {event.path} v{event.version}{_writer(event.writer)} {data}"


def znode_deleted(event: events.ZnodeDeleted) -> str:
    """A deleted znode."""
    return f"deleted {event.path}{_writer(event.writer)}"


def _writer(writer: int | None) -> str:
    """Who wrote a znode, as far as the recording says."""
    return "" if writer is None else f" by {writer_name(writer)}"


def session_created(event: events.SessionCreated) -> str:
    """A ZooKeeper session."""
    return (
        f"session {hexadecimal(event.session)} for {host(event.host)}, timeout {event.timeout_ms}ms"
    )


def session_ended(event: events.SessionEnded) -> str:
    """The end of a ZooKeeper session."""
    return f"session {hexadecimal(event.session)} of {host(event.host)} {event.reason}"


def watch_fired(event: events.WatchFired) -> str:
    """A watch."""
    return f"notified {host(event.host)}: {event.kind} {event.path}"


def zk_connection_changed(event: events.ZkConnectionChanged) -> str:
    """A broker's view of ZooKeeper."""
    return f"broker {event.broker} {event.state} (ZooKeeper)"


def partition_state_changed(event: events.PartitionStateChanged) -> str:
    """The state znode's new content."""
    leader = "none" if event.leader < 0 else str(event.leader)
    return (
        f"{event.tp} leader {leader}, epoch {event.leader_epoch}, ISR {brackets(event.isr)}, "
        f"v{event.zk_version}"
    )


def partition_state_removed(event: events.PartitionStateRemoved) -> str:
    """A deleted state znode."""
    return f"{event.tp} no longer has a state"


def controller_elected(event: events.ControllerElected) -> str:
    """A new controller."""
    return f"controller {event.broker} elected, epoch {event.epoch}"


def controller_resigned(event: events.ControllerResigned) -> str:
    """A controller that has resigned."""
    return f"controller {event.broker} resigned, epoch {event.epoch}: {event.reason}"


def controller_step(event: events.ControllerStep) -> str:
    """One step of a controller's procedure."""
    return f"{event.broker}: {event.procedure} {event.step} {event.name} {event.detail}".rstrip()


def partition_cached(event: events.PartitionCached) -> str:
    """A controller that has learned, or written, a new state."""
    leader = "none" if event.leader < 0 else str(event.leader)
    return (
        f"controller {event.broker} takes {event.tp} to have leader {leader}, "
        f"epoch {event.leader_epoch}, ISR {brackets(event.isr)}, v{event.zk_version}"
    )


def metadata_updated(event: events.MetadataUpdated) -> str:
    """A broker whose metadata responses to clients changed."""
    alive = brackets(event.live_brokers)
    return f"broker {event.broker} took metadata from controller {event.controller}, alive {alive}"


def leader_elected(event: events.LeaderElected) -> str:
    """An election's result."""
    return (
        f"{event.tp} leader {event.leader}, epoch {event.leader_epoch}, ISR {brackets(event.isr)} "
        f"({event.strategy})"
    )


def election_failed(event: events.ElectionFailed) -> str:
    """An election without a result."""
    return f"{event.tp} no leader ({event.strategy}): {event.reason}"


def election_held(event: events.ElectionHeld) -> str:
    """The course of an election: the candidates in order, and why each was rejected."""
    leader = f"leader {event.leader}" if event.leader >= 0 else "no leader"
    order = ", ".join(f"{broker} {verdict}" for broker, verdict in event.candidates)
    return (
        f"{event.tp} {event.strategy} election by controller {event.controller}: {leader}; "
        f"considered {order or 'none'}; ISR {brackets(event.isr)}, live {brackets(event.live)}"
        f"{_would_help(event)}"
    )


def _would_help(event: events.ElectionHeld) -> str:
    """What would restore a partition for which no leader was found."""
    if event.leader >= 0:
        return ""
    waiting = [broker for broker in event.isr if broker not in event.live]
    if not waiting:
        return ""
    names = " or ".join(map(str, waiting))
    return f"; broker {names} of the ISR would bring it back, or an unclean election"


def request_refused(event: events.RequestRefused) -> str:
    """A request, or one partition of it, that a broker refused."""
    error, given, known = event.error, event.given, event.known
    name = _compared(event)
    if event.tp and error == "STALE_CONTROLLER_EPOCH" and given <= known:  # Kafka's name for it
        return (
            f"broker {event.broker} skipped {event.tp} of the request of broker {event.source}:"
            f" it has {name} {known} already, and was sent {given} ({error})"
        )
    what = f"{event.tp} of the request" if event.tp else "the request"
    refused = f"broker {event.broker} refused {what} of broker {event.source}: {error}"
    if given < 0 and known < 0:
        return refused
    if error == "INELIGIBLE_REPLICA":
        return f"{refused} ({name} {given})"
    return f"{refused} ({name} {given}, it has {known})"


def _compared(event: events.RequestRefused) -> str:
    """What the two numbers of a refusal are."""
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


def zookeeper_refused(event: events.ZooKeeperRefused) -> str:
    """A write that ZooKeeper refused."""
    versions = ""
    if event.expected >= 0:
        versions = f" (version {event.expected} expected, it is {event.actual})"
    return (
        f"{event.operation} {event.path} of broker {event.broker} refused: {event.error}{versions}"
    )


def produce_sent(event: events.ProduceSent) -> str:
    """A batch that was sent."""
    acks = "all" if event.acks < 0 else str(event.acks)
    return f"{event.producer} sent {event.tp} {some(event.values)}, acks={acks}"


def produce_retried(event: events.ProduceRetried) -> str:
    """A retry."""
    counted = "" if event.counted else " (not counted)"
    record = f"{event.tp} record {event.first_record}"
    return f"{event.producer} tries {record} again: {event.error}{counted}"


def produce_acknowledged(event: events.ProduceAcknowledged) -> str:
    """A success, for the producer."""
    where = f"at {number(event.base_offset)}" if event.base_offset >= 0 else "unconfirmed"
    return f"{event.producer} {event.tp} {records(event.count)} acknowledged {where}"


def produce_failed(event: events.ProduceFailed) -> str:
    """A failure, for the producer."""
    return f"{event.producer} {event.tp} {records(event.count)} failed: {event.error}"


def records_consumed(event: events.RecordsConsumed) -> str:
    """Records returned to a consumer."""
    count = sum(length for _, length in event.runs)
    return f"{event.consumer} read {event.tp} {records(count)} from {number(event.offset)}"


def consume_finished(event: events.ConsumeFinished) -> str:
    """The end of a read."""
    ending = "" if event.error == "NONE" else f": {event.error}"
    return f"{event.consumer} at {event.tp} {number(event.position)}{ending}"


def consumer_truncation_detected(event: events.ConsumerTruncationDetected) -> str:
    """A position below which the log was truncated."""
    ends = "is unknown" if event.end_offset < 0 else f"ends at {number(event.end_offset)}"
    return (
        f"{event.consumer} at {event.tp} {number(event.position)}:"
        f" epoch {event.epoch} {ends} in the leader's log"
    )


def audit_changed(event: events.AuditChanged) -> str:
    """Ground truth about a partition."""
    counts = {
        "lost": len(event.lost),
        "duplicated": len(event.duplicated),
        "diverged": len(event.diverged),
        "read and lost": len(event.consumed_lost),
    }
    found = ", ".join(f"{count} {what}" for what, count in counts.items() if count)
    return f"{event.tp} {found or 'clean again'}"


def invariant_violated(event: events.InvariantViolated) -> str:
    """A broken invariant."""
    known = " (known to happen in this release)" if event.known else ""
    return f"{event.name} {event.tp}: {event.detail}{known}"


# ---- transactions


def transaction_record_written(event: events.TransactionRecordWritten) -> str:
    """A coordinator's own record."""
    where = replica(event.tp, event.broker)
    return f"transaction {event.transactional_id} writes its state to {where}"


def transaction_state_changed(event: events.TransactionStateChanged) -> str:
    """A step of a transaction's state machine."""
    producer = f"producer {event.producer_id} epoch {event.producer_epoch}"
    where = f" on {some(event.partitions)}" if event.partitions else ""
    return f"transaction {event.transactional_id} {event.state}{where}, {producer}"


def transactions_loaded(event: events.TransactionsLoaded) -> str:
    """A new coordinator."""
    found = some(event.transactional_ids) or "no transactions"
    return f"{replica(event.tp, event.broker)} coordinates {found}"


def transaction_marker_written(event: events.TransactionMarkerWritten) -> str:
    """The end of a transaction in one log."""
    how = " ".join(event.values)
    producer = f"producer {event.producer_id} epoch {event.producer_epoch}"
    return f"{replica(event.tp, event.broker)} {how} of {producer}"


def last_stable_offset_changed(event: events.LastStableOffsetChanged) -> str:
    """The last stable offset."""
    stable = event.last_stable_offset
    what = "at the HW" if stable < 0 else str(stable)
    return f"{replica(event.tp, event.broker)} LSO {what}"


# ---- consumer groups


def group_records_written(event: events.GroupRecordsWritten) -> str:
    """A coordinator's own records."""
    where = replica(event.tp, event.broker)
    return f"group {event.group} writes {records(len(event.values))} to {where}"


def groups_loaded(event: events.GroupsLoaded) -> str:
    """A new coordinator."""
    found = some(event.groups) or "no groups"
    return f"{replica(event.tp, event.broker)} coordinates {found}"


def group_state_changed(event: events.GroupStateChanged) -> str:
    """A step of the group's state machine."""
    return f"group {event.group} {event.state}, generation {event.generation} ({event.broker})"


def member_joined(event: events.MemberJoined) -> str:
    """A new member."""
    return f"{event.consumer} joined group {event.group} as {event.member}"


def member_left(event: events.MemberLeft) -> str:
    """A member that left, and how."""
    return f"{event.consumer} is out of group {event.group}: {event.reason}"


def assignment_changed(event: events.AssignmentChanged) -> str:
    """An assignment of partitions to members."""
    what = some(event.partitions) or "nothing"
    return f"{event.consumer} reads {what} for group {event.group}, generation {event.generation}"


def offset_committed(event: events.OffsetCommitted) -> str:
    """Committed offsets of a group."""
    return f"group {event.group} committed {event.tp} {number(event.offset)}"


def offset_expired(event: events.OffsetExpired) -> str:
    """Expired offsets."""
    return f"group {event.group} forgot {event.tp} {number(event.offset)}: committed too long ago"


def client_connected(event: events.ClientConnected) -> str:
    """A new connection of an external client."""
    source = f" from {event.address}" if event.address else ""
    return f"client {event.connection} connected to broker {event.broker}{source}"


def client_identified(event: events.ClientIdentified) -> str:
    """A client's library name and version."""
    return f"client {event.connection} is {event.software} {event.software_version}"


def client_request_received(event: events.ClientRequestReceived) -> str:
    """A client's request."""
    group = f" of group {event.group}" if event.group else ""
    asked = f"{event.api} {event.api_version}{group}"
    return f"client {event.connection} ({event.client}) asks broker {event.broker}: {asked}"


def client_response_sent(event: events.ClientResponseSent) -> str:
    """A response to a client."""
    outcome = some(event.errors) or "done"
    return f"broker {event.broker} answers client {event.connection}: {event.api} {outcome}"


def client_disconnected(event: events.ClientDisconnected) -> str:
    """A closed connection of an external client."""
    return f"client {event.connection} disconnected from broker {event.broker}: {event.reason}"


def controller_state_changed(event: events.ControllerStateChanged) -> str:
    """A controller's process, in KRaft."""
    return f"controller {event.controller} {event.state.replace('_', ' ')}"


def quorum_role_changed(event: events.QuorumRoleChanged) -> str:
    """A controller's role in the quorum."""
    of = f" of {event.leader}" if event.role == "follower" and event.leader >= 0 else ""
    return f"controller {event.controller} became {event.role}{of}, epoch {event.epoch}"


def quorum_progress_changed(event: events.QuorumProgressChanged) -> str:
    """A member's log end offset, as known by the leader."""
    return f"{event.controller} knows that {event.replica} has fetched to {event.end_offset}"


def metadata_record_committed(event: events.MetadataRecordCommitted) -> str:
    """A record of the metadata log."""
    return f"{event.kind} at offset {number(event.offset)}, epoch {event.epoch}: {event.data}"


def metadata_applied(event: events.MetadataApplied) -> str:
    """How far a host has applied the metadata log."""
    return f"{event.host} applied the metadata log up to {number(event.end_offset)}"


def metadata_snapshot_taken(event: events.MetadataSnapshotTaken) -> str:
    """A snapshot that a host has written or fetched."""
    done = "fetched" if event.reason == "fetched" else "wrote"
    why = "" if event.reason == "fetched" else f", by {event.reason}"
    end, size = number(event.end_offset), number(event.size_bytes)
    return f"{event.host} {done} a metadata snapshot up to {end}, {size} bytes{why}"


def metadata_log_start_changed(event: events.MetadataLogStartChanged) -> str:
    """A host's metadata log lost its beginning."""
    return f"{event.host} has the metadata log from {number(event.start_offset)} on"


def replica_folder_moved(event: events.ReplicaFolderMoved) -> str:
    """A folder that a broker should not have."""
    done = f"renamed a folder to {event.name}" if event.exists else f"removed {event.name}"
    return f"broker {event.broker} {done}"


KINDS: Final[dict[type[Event], Kind]] = {
    events.ControllerStateChanged: Kind("CTRL", controller_state_changed),
    events.QuorumRoleChanged: Kind("QUORUM", quorum_role_changed),
    events.QuorumProgressChanged: Kind("QUORUM", quorum_progress_changed),
    events.MetadataRecordCommitted: Kind("RECORD", metadata_record_committed),
    events.MetadataApplied: Kind("APPLY", metadata_applied),
    events.ReplicaFolderMoved: Kind("FOLDER", replica_folder_moved),
    events.MetadataSnapshotTaken: Kind("SNAP", metadata_snapshot_taken),
    events.MetadataLogStartChanged: Kind("START", metadata_log_start_changed),
    events.ClusterCreated: Kind("CLUSTR", cluster_created),
    events.InputReceived: Kind("INPUT", input_received),
    events.InputFinished: Kind("DONE", input_finished),
    events.ExpectationChecked: Kind("EXPECT", expectation_checked),
    events.BookmarkSet: Kind("MARK", bookmark_set),
    events.TimerFired: Kind("TIMER", timer_fired),
    events.TopicCreated: Kind("TOPIC", topic_created),
    events.PartitionsAdded: Kind("TOPIC", partitions_added),
    events.TopicDeleted: Kind("TOPIC", topic_deleted),
    events.ReplicasAssigned: Kind("ASSIGN", replicas_assigned),
    events.ConfigChanged: Kind("CONFIG", config_changed),
    events.BrokerStateChanged: Kind("BROKER", broker_state_changed),
    events.BrokerRegistered: Kind("BROKER", broker_registered),
    events.LinkChanged: Kind("LINK", link_changed),
    events.MessageSent: Kind("SEND", message_sent),
    events.MessageLost: Kind("LOST", message_lost),
    events.MessageHeld: Kind("HELD", message_held),
    events.MessageReleased: Kind("FREED", message_released),
    events.LogCreated: Kind("LOG", log_created),
    events.LogDeleted: Kind("LOG", log_deleted),
    events.LogLoaded: Kind("LOG", log_loaded),
    events.ReplicaRoleChanged: Kind("ROLE", replica_role_changed),
    events.RecordsAppended: Kind("APPEND", records_appended),
    events.HighWatermarkChanged: Kind("HW", high_watermark_changed),
    events.RemoteLogEndOffsetChanged: Kind("REMOTE", remote_leo_changed),
    events.LogTruncated: Kind("TRUNC", log_truncated),
    events.LogStartOffsetChanged: Kind("START", log_start_changed),
    events.EpochCacheChanged: Kind("EPOCHS", epoch_cache_changed),
    events.HighWatermarksCheckpointed: Kind("CHECK", checkpointed),
    events.RecoveryPointsCheckpointed: Kind("CHECK", recovery_points_checkpointed),
    events.RecordsRead: Kind("READ", records_read),
    events.IsrChangeStarted: Kind("ISR?", isr_change_started),
    events.IsrChanged: Kind("ISR", isr_changed),
    events.ReplicaFetchPaused: Kind("FETCH", fetch_paused),
    events.ZnodeCreated: Kind("ZK", znode_created),
    events.ZnodeChanged: Kind("ZK", znode_changed),
    events.ZnodeDeleted: Kind("ZK", znode_deleted),
    events.SessionCreated: Kind("SESS", session_created),
    events.SessionEnded: Kind("SESS", session_ended),
    events.ZooKeeperRefused: Kind("ZK", zookeeper_refused),
    events.WatchFired: Kind("WATCH", watch_fired),
    events.ZkConnectionChanged: Kind("CONN", zk_connection_changed),
    events.PartitionStateChanged: Kind("STATE", partition_state_changed),
    events.PartitionStateRemoved: Kind("STATE", partition_state_removed),
    events.ControllerElected: Kind("CTRL", controller_elected),
    events.ControllerResigned: Kind("CTRL", controller_resigned),
    events.ControllerStep: Kind("CTRL", controller_step),
    events.PartitionCached: Kind("CACHE", partition_cached),
    events.MetadataUpdated: Kind("META", metadata_updated),
    events.LeaderElected: Kind("ELECT", leader_elected),
    events.ElectionFailed: Kind("ELECT", election_failed),
    events.ElectionHeld: Kind("ELECT", election_held),
    events.RequestRefused: Kind("REFUSE", request_refused),
    events.ProduceSent: Kind("PROD", produce_sent),
    events.ProduceRetried: Kind("RETRY", produce_retried),
    events.ProduceAcknowledged: Kind("ACK", produce_acknowledged),
    events.ProduceFailed: Kind("FAIL", produce_failed),
    events.RecordsConsumed: Kind("READ", records_consumed),
    events.ConsumeFinished: Kind("READ", consume_finished),
    events.ConsumerTruncationDetected: Kind("CUT", consumer_truncation_detected),
    events.GroupRecordsWritten: Kind("GROUP", group_records_written),
    events.GroupsLoaded: Kind("GROUP", groups_loaded),
    events.GroupStateChanged: Kind("GROUP", group_state_changed),
    events.MemberJoined: Kind("GROUP", member_joined),
    events.MemberLeft: Kind("GROUP", member_left),
    events.AssignmentChanged: Kind("GROUP", assignment_changed),
    events.OffsetCommitted: Kind("COMMIT", offset_committed),
    events.OffsetExpired: Kind("EXPIRE", offset_expired),
    events.TransactionRecordWritten: Kind("TXN", transaction_record_written),
    events.TransactionStateChanged: Kind("TXN", transaction_state_changed),
    events.TransactionsLoaded: Kind("TXN", transactions_loaded),
    events.TransactionMarkerWritten: Kind("TXN", transaction_marker_written),
    events.LastStableOffsetChanged: Kind("LSO", last_stable_offset_changed),
    events.ClientConnected: Kind("CLIENT", client_connected),
    events.ClientIdentified: Kind("CLIENT", client_identified),
    events.ClientRequestReceived: Kind("REQ", client_request_received),
    events.ClientResponseSent: Kind("RESP", client_response_sent),
    events.ClientDisconnected: Kind("CLIENT", client_disconnected),
    events.AuditChanged: Kind("AUDIT", audit_changed),
    events.InvariantViolated: Kind("BROKEN", invariant_violated),
}
"""How each class of events is described."""

UNKNOWN: Final = Kind("?", lambda event: type(event).__name__)
