"""Every event in one line of words, past tense: its kind, how much it matters, and what happened.

One table maps each class of :mod:`emulator.events` to its words; a test holds that none is missing.
Text that came from people (names, values, statements) is made safe to print here, once.
"""

from collections.abc import Callable
from typing import Any, Final

from msgspec import Struct, structs

from console.render import event_words as words
from console.render import group_words
from emulator import events
from emulator.events import Event
from sessions.text import clean

TRAFFIC: Final = 0
"""Level of what goes on all the time: messages, fetches, appends."""
CHANGE: Final = 1
"""Level of what changes the cluster's state."""
FAULT: Final = 2
"""Level of what goes wrong, or is broken on purpose."""


class Kind(Struct, frozen=True):
    """How one class of events is told: a word of at most six letters, its usual level, its text."""

    word: str
    level: int
    text: Callable[[Any], str]


class Description(Struct, frozen=True):
    """One event in words; ``role`` is the colour role of its kind."""

    word: str
    text: str
    level: int
    role: str


ROLES: Final = {TRAFFIC: "muted", CHANGE: "kind", FAULT: "error"}

KINDS: Final[dict[type[Event], Kind]] = {
    events.ClusterCreated: Kind("CLUSTR", CHANGE, words.cluster_created),
    events.InputReceived: Kind("INPUT", CHANGE, words.input_received),
    events.InputFinished: Kind("DONE", TRAFFIC, words.input_finished),
    events.ExpectationChecked: Kind("EXPECT", CHANGE, words.expectation_checked),
    events.BookmarkSet: Kind("MARK", CHANGE, words.bookmark_set),
    events.TimerFired: Kind("TIMER", CHANGE, words.timer_fired),
    events.TopicCreated: Kind("TOPIC", CHANGE, words.topic_created),
    events.PartitionsAdded: Kind("TOPIC", CHANGE, words.partitions_added),
    events.TopicDeleted: Kind("TOPIC", CHANGE, words.topic_deleted),
    events.ReplicasAssigned: Kind("ASSIGN", CHANGE, words.replicas_assigned),
    events.ConfigChanged: Kind("CONFIG", CHANGE, words.config_changed),
    events.BrokerStateChanged: Kind("BROKER", CHANGE, words.broker_state_changed),
    events.BrokerRegistered: Kind("BROKER", CHANGE, words.broker_registered),
    events.LinkChanged: Kind("LINK", CHANGE, words.link_changed),
    events.MessageSent: Kind("SEND", TRAFFIC, words.message_sent),
    events.MessageLost: Kind("LOST", TRAFFIC, words.message_lost),
    events.MessageHeld: Kind("HELD", CHANGE, words.message_held),
    events.MessageReleased: Kind("FREED", CHANGE, words.message_released),
    events.LogCreated: Kind("LOG", CHANGE, words.log_created),
    events.LogDeleted: Kind("LOG", CHANGE, words.log_deleted),
    events.LogLoaded: Kind("LOG", CHANGE, words.log_loaded),
    events.ReplicaRoleChanged: Kind("ROLE", CHANGE, words.replica_role_changed),
    events.RecordsAppended: Kind("APPEND", TRAFFIC, words.records_appended),
    events.HighWatermarkChanged: Kind("HW", TRAFFIC, words.high_watermark_changed),
    events.RemoteLogEndOffsetChanged: Kind("REMOTE", TRAFFIC, words.remote_leo_changed),
    events.LogTruncated: Kind("TRUNC", FAULT, words.log_truncated),
    events.LogStartOffsetChanged: Kind("START", CHANGE, words.log_start_changed),
    events.EpochCacheChanged: Kind("EPOCHS", CHANGE, words.epoch_cache_changed),
    events.HighWatermarksCheckpointed: Kind("CHECK", TRAFFIC, words.checkpointed),
    events.IsrChangeStarted: Kind("ISR?", CHANGE, words.isr_change_started),
    events.IsrChanged: Kind("ISR", CHANGE, words.isr_changed),
    events.ReplicaFetchPaused: Kind("FETCH", CHANGE, words.fetch_paused),
    events.ZnodeCreated: Kind("ZK", CHANGE, words.znode_created),
    events.ZnodeChanged: Kind("ZK", CHANGE, words.znode_changed),
    events.ZnodeDeleted: Kind("ZK", CHANGE, words.znode_deleted),
    events.SessionCreated: Kind("SESS", CHANGE, words.session_created),
    events.SessionEnded: Kind("SESS", CHANGE, words.session_ended),
    events.ZooKeeperRefused: Kind("ZK", CHANGE, words.zookeeper_refused),
    events.WatchFired: Kind("WATCH", CHANGE, words.watch_fired),
    events.ZkConnectionChanged: Kind("CONN", CHANGE, words.zk_connection_changed),
    events.PartitionStateChanged: Kind("STATE", CHANGE, words.partition_state_changed),
    events.PartitionStateRemoved: Kind("STATE", CHANGE, words.partition_state_removed),
    events.ControllerElected: Kind("CTRL", CHANGE, words.controller_elected),
    events.ControllerResigned: Kind("CTRL", CHANGE, words.controller_resigned),
    events.ControllerStep: Kind("CTRL", CHANGE, words.controller_step),
    events.PartitionCached: Kind("CACHE", TRAFFIC, words.partition_cached),
    events.MetadataUpdated: Kind("META", TRAFFIC, words.metadata_updated),
    events.LeaderElected: Kind("ELECT", CHANGE, words.leader_elected),
    events.ElectionFailed: Kind("ELECT", FAULT, words.election_failed),
    events.ElectionHeld: Kind("ELECT", CHANGE, words.election_held),
    events.RequestRefused: Kind("REFUSE", CHANGE, words.request_refused),
    events.ProduceSent: Kind("PROD", TRAFFIC, words.produce_sent),
    events.ProduceRetried: Kind("RETRY", CHANGE, words.produce_retried),
    events.ProduceAcknowledged: Kind("ACK", TRAFFIC, words.produce_acknowledged),
    events.ProduceFailed: Kind("FAIL", FAULT, words.produce_failed),
    events.RecordsConsumed: Kind("READ", TRAFFIC, words.records_consumed),
    events.ConsumeFinished: Kind("READ", CHANGE, words.consume_finished),
    events.ConsumerTruncationDetected: Kind("CUT", FAULT, words.consumer_truncation_detected),
    events.GroupRecordsWritten: Kind("GROUP", TRAFFIC, group_words.group_records_written),
    events.GroupsLoaded: Kind("GROUP", CHANGE, group_words.groups_loaded),
    events.GroupStateChanged: Kind("GROUP", CHANGE, group_words.group_state_changed),
    events.MemberJoined: Kind("GROUP", CHANGE, group_words.member_joined),
    events.MemberLeft: Kind("GROUP", CHANGE, group_words.member_left),
    events.AssignmentChanged: Kind("GROUP", CHANGE, group_words.assignment_changed),
    events.OffsetCommitted: Kind("COMMIT", TRAFFIC, group_words.offset_committed),
    events.OffsetExpired: Kind("EXPIRE", CHANGE, group_words.offset_expired),
    events.AuditChanged: Kind("AUDIT", FAULT, words.audit_changed),
    events.InvariantViolated: Kind("BROKEN", FAULT, words.invariant_violated),
}
"""The words of every class of events."""

UNKNOWN: Final = Kind("?", CHANGE, lambda event: type(event).__name__)
BROKEN_STATES: Final = frozenset({"crashed", "frozen", "stopped"})


def describe(event: Event) -> Description:
    """One event in words."""
    kind = KINDS.get(type(event), UNKNOWN)
    level = _level(event, kind.level)
    return Description(kind.word, clean(kind.text(event)), level, ROLES[level])


def level_of(event: Event) -> int:
    """How much the event matters: :data:`TRAFFIC`, :data:`CHANGE` or :data:`FAULT`."""
    return _level(event, KINDS.get(type(event), UNKNOWN).level)


def _level(event: Event, usual: int) -> int:
    """Some classes tell of both good and bad news."""
    match event:
        case events.BrokerStateChanged(state=state):
            return FAULT if state in BROKEN_STATES else CHANGE
        case events.ExpectationChecked(passed=False):
            return FAULT
        case events.SessionEnded(reason="expired"):
            return FAULT
        case events.LinkChanged(cut=cut, drop_percent=percent, holding=holding):
            return FAULT if cut or percent or holding else CHANGE
        case events.PartitionStateChanged(leader=-1) | events.LeaderElected(strategy="Unclean"):
            return FAULT
        case events.InputFinished(error=error) if error != "NONE":
            return CHANGE
        case events.AuditChanged(lost=[], duplicated=[], diverged=[], consumed_lost=[]):
            return CHANGE
        case _:
            return usual


def fields_of(event: Event) -> list[tuple[str, str]]:
    """Every field of the event by name, as text that is safe to print."""
    return [
        (field, clean(_value_text(value)))
        for field, value in structs.asdict(event).items()
        if field not in ("seq", "time_us", "cause")
    ]


def _value_text(value: object) -> str:
    return value if isinstance(value, str) else str(value)
