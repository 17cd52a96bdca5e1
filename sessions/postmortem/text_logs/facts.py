"""What a line of Kafka's text logs says, as values.

A fact's fields have the names and the types of the groups of the regular expressions in
:mod:`sessions.postmortem.text_logs.patterns`. A field is None if the line, or the release that
wrote it, does not say it. ``tp`` is ``TOPIC-PARTITION``; epochs and offsets are as Kafka prints
them; ``*_ms`` are milliseconds. ``node``, where a fact has it, is the node that the line says it is
about, which may be another than the one that wrote the line.
"""

from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, ClassVar, Final

from msgspec import Struct

from sessions.text import brackets, template_parts

Brokers = tuple[int, ...]


class OutOfSync(Struct, frozen=True):
    """A replica that left an ISR: its end offset, and when it last had all of the leader's log.

    ``last_caught_up_ms`` is wall-clock time in milliseconds since 1970.
    """

    broker: int
    end_offset: int
    last_caught_up_ms: int | None = None


class Fact(Struct, frozen=True, kw_only=True, tag_field="fact", omit_defaults=True):
    """One thing that a line says.

    ``says`` is its sentence, with fields in braces; what is in brackets is left out if its field is
    None.
    """

    says: ClassVar[str] = ""

    @property
    def sentence(self) -> str:
        """The fact in words, for a timeline."""
        words = []
        for form, names, is_optional in template_parts(self.says):
            values = [getattr(self, name) for name in names]
            if not (is_optional and None in values):
                words.append(form.format(*map(_word, names, values)))
        return "".join(words)


class IsrShrunk(Fact, frozen=True, kw_only=True, tag="isr_shrunk"):
    """A leader removes replicas from an ISR that are too far behind."""

    tp: str
    isr_before: Brokers
    isr: Brokers
    high_watermark: int | None = None
    end_offset: int | None = None
    out_of_sync: tuple[OutOfSync, ...] = ()

    @property
    def sentence(self) -> str:
        behind = "; ".join(
            f"broker {replica.broker} was at {replica.end_offset}" for replica in self.out_of_sync
        )
        leader = f", the leader's end at {self.end_offset}" if self.end_offset is not None else ""
        detail = f" (HW {self.high_watermark}{leader}; {behind})" if behind else ""
        return (
            f"the leader shrank the ISR of {self.tp} from {brackets(self.isr_before)} to "
            f"{brackets(self.isr)}{detail}"
        )


class IsrExpanded(Fact, frozen=True, kw_only=True, tag="isr_expanded"):
    """A leader adds a replica to an ISR that has caught up."""

    says: ClassVar[str] = "the leader expanded the ISR of {tp} from {isr_before} to {isr}"
    tp: str
    isr_before: Brokers
    isr: Brokers


class IsrStored(Fact, frozen=True, kw_only=True, tag="isr_stored"):
    """A leader's change of an ISR was accepted; ``version`` is the partition epoch it has now."""

    says: ClassVar[str] = "the ISR of {tp} is {isr} at version {version}"
    tp: str
    isr: Brokers
    version: int


class IsrRefused(Fact, frozen=True, kw_only=True, tag="isr_refused"):
    """A leader's change of an ISR was refused, usually because it no longer leads."""

    tp: str
    version: int | None = None
    error: str | None = None

    @property
    def sentence(self) -> str:
        why = self.error or f"version {self.version} is no longer the newest"
        return f"a change of the ISR of {self.tp} was refused: {why}"


class LeaderStarted(Fact, frozen=True, kw_only=True, tag="leader_started"):
    """A broker became leader: the epoch, its end offset and high watermark at that moment."""

    tp: str
    epoch: int | None = None
    offset: int | None = None
    high_watermark: int | None = None
    isr: Brokers | None = None
    node: int | None = None

    @property
    def sentence(self) -> str:
        return (
            f"became leader of {self.tp}{_position(self.epoch, self.offset, self.high_watermark)}"
        )


class FollowerStarted(Fact, frozen=True, kw_only=True, tag="follower_started"):
    """A broker became follower of a leader (-1: there is none)."""

    tp: str
    epoch: int | None = None
    leader: int | None = None
    offset: int | None = None
    high_watermark: int | None = None
    node: int | None = None

    @property
    def sentence(self) -> str:
        led = "" if self.leader is None else f", led by {_broker(self.leader)},"
        place = _position(self.epoch, self.offset, self.high_watermark)
        return f"became follower of {self.tp}{led}{place}"


class PartitionChanged(Fact, frozen=True, kw_only=True, tag="partition_changed"):
    """A controller changed a partition's state; ``state`` is a name such as OnlinePartition.

    ``recovery`` is RECOVERING after an unclean election, from 3.2 on.
    """

    tp: str
    state_before: str | None = None
    state: str | None = None
    leader: int | None = None
    epoch: int | None = None
    isr: Brokers | None = None
    version: int | None = None
    controller_epoch: int | None = None
    recovery: str | None = None

    @property
    def sentence(self) -> str:
        parts = []
        if self.state:
            parts.append(f"is {self.state.removesuffix('Partition').lower()}")
        if self.leader is not None:
            parts.append(f"has the leader {_broker(self.leader)}")
        if self.epoch is not None:
            parts.append(f"leader epoch {self.epoch}")
        if self.isr is not None:
            parts.append(f"ISR {brackets(self.isr)}")
        return f"{self.tp} {', '.join(parts)}"


class LeaderAndIsrReceived(Fact, frozen=True, kw_only=True, tag="leader_and_isr_received"):
    """What a controller told a broker about a partition, where the log has TRACE."""

    says: ClassVar[str] = "was told the leader {leader}, leader epoch {epoch} and ISR {isr} of {tp}"
    tp: str
    leader: int
    epoch: int
    isr: Brokers
    version: int | None = None
    controller_epoch: int | None = None
    node: int | None = None


class LeftIsr(Fact, frozen=True, kw_only=True, tag="left_isr"):
    """A controller removed a replica from an ISR because it went offline."""

    says: ClassVar[str] = (
        "the controller took broker {replica} out of the ISR of {tp}: leader {leader}, ISR {isr}"
    )
    tp: str
    replica: int
    leader: int
    isr: Brokers
    epoch: int | None = None
    version: int | None = None


class PartitionRecordChanged(Fact, frozen=True, kw_only=True, tag="partition_record_changed"):
    """A KRaft controller's change of a partition, as it writes it; ``unclean`` if marked so."""

    tp: str
    changes: str
    unclean: bool = False

    @property
    def sentence(self) -> str:
        kind = "unclean change" if self.unclean else "change"
        return f"{kind} of {self.tp}: {self.changes}"


class UncleanLeaderElected(Fact, frozen=True, kw_only=True, tag="unclean_leader_elected"):
    """A replica outside the ISR became leader: records that it lacks are lost."""

    tp: str | None = None
    topic_id: str | None = None
    partition: int | None = None
    leader: int

    @property
    def sentence(self) -> str:
        partition = self.tp or f"partition {self.partition} of topic id {self.topic_id}"
        return f"broker {self.leader} was elected leader of {partition} uncleanly"


class ElectionFailed(Fact, frozen=True, kw_only=True, tag="election_failed"):
    """No leader could be elected for a partition, which stays in its ``state``."""

    says: ClassVar[str] = "no leader could be elected for {tp}"
    tp: str
    state: str | None = None


class ControllerElected(Fact, frozen=True, kw_only=True, tag="controller_elected"):
    """A broker became the controller, or a controller the active one."""

    says: ClassVar[str] = "became the controller[ at epoch {epoch}]"
    node: int | None = None
    epoch: int | None = None


class ControllerResigned(Fact, frozen=True, kw_only=True, tag="controller_resigned"):
    """A node is no longer the controller."""

    says: ClassVar[str] = "is no longer the controller"
    node: int | None = None
    epoch: int | None = None


class BrokersChanged(Fact, frozen=True, kw_only=True, tag="brokers_changed"):
    """A controller saw registrations in ZooKeeper come and go.

    ``at_start``: it was just elected, and may not have seen who came and went before.
    """

    added: Brokers = ()
    deleted: Brokers = ()
    bounced: Brokers = ()
    live: Brokers = ()
    at_start: bool = False

    @property
    def sentence(self) -> str:
        parts = [
            f"{word} {brackets(brokers)}"
            for word, brokers in (
                ("new", self.added),
                ("gone", self.deleted),
                ("restarted", self.bounced),
            )
            if brokers
        ]
        changed = f" ({'; '.join(parts)})" if parts else ""
        return f"the controller sees the brokers {brackets(self.live)} alive{changed}"


class BrokerFailed(Fact, frozen=True, kw_only=True, tag="broker_failed"):
    """A controller begins to take what failed brokers led elsewhere."""

    brokers: Brokers

    @property
    def sentence(self) -> str:
        return f"the controller handles the failure of {_brokers(self.brokers)}"


class BrokerRegistered(Fact, frozen=True, kw_only=True, tag="broker_registered"):
    """A broker registered; its epoch is the registration's zxid or offset."""

    says: ClassVar[str] = "broker {broker} registered[ with epoch {broker_epoch}]"
    broker: int
    broker_epoch: int | None = None


class BrokerFenced(Fact, frozen=True, kw_only=True, tag="broker_fenced"):
    """A KRaft controller fences a broker whose heartbeats stopped."""

    says: ClassVar[str] = "broker {broker} was fenced: no heartbeat came within its session timeout"
    broker: int
    broker_epoch: int | None = None


class BrokerUnfenced(Fact, frozen=True, kw_only=True, tag="broker_unfenced"):
    """A broker may lead and follow again."""

    broker: int | None = None

    @property
    def sentence(self) -> str:
        return "the broker was unfenced" if self.broker is None else f"unfenced {self.broker}"


class HeartbeatFailed(Fact, frozen=True, kw_only=True, tag="heartbeat_failed"):
    """A broker could not send a heartbeat, or none was answered."""

    says: ClassVar[str] = "a heartbeat to the controller failed: {reason}"
    reason: str


class SessionTimedOut(Fact, frozen=True, kw_only=True, tag="session_timed_out"):
    """A client of ZooKeeper has not heard from the server for a while."""

    says: ClassVar[str] = "has not heard from ZooKeeper for {silent_ms} ms (session {session})"
    session: str
    silent_ms: int


class SessionExpired(Fact, frozen=True, kw_only=True, tag="session_expired"):
    """A session of ZooKeeper ended without being closed; its ephemeral znodes are gone."""

    says: ClassVar[str] = "the ZooKeeper session[ {session}] expired[ after {timeout_ms} ms]"
    session: str | None = None
    timeout_ms: int | None = None


class ZooKeeperState(Fact, frozen=True, kw_only=True, tag="zookeeper_state"):
    """A broker's connection to ZooKeeper changed."""

    says: ClassVar[str] = "the connection to ZooKeeper is {state}"
    state: str


class ControlledShutdown(Fact, frozen=True, kw_only=True, tag="controlled_shutdown"):
    """A broker hands its leaderships over before it stops: how far that is."""

    says: ClassVar[str] = (
        "controlled shutdown[ of broker {node}]: {stage}[, {remaining} partitions to move]"
    )
    stage: str
    node: int | None = None
    remaining: int | None = None


class ProcessState(Fact, frozen=True, kw_only=True, tag="process_state"):
    """A process starts, has started, shuts down, or has shut down."""

    state: str
    node: int | None = None

    @property
    def sentence(self) -> str:
        return f"the process {_STATES.get(self.state.lower(), self.state)}"


class KafkaVersion(Fact, frozen=True, kw_only=True, tag="kafka_version"):
    """The release that a process runs."""

    says: ClassVar[str] = "runs Kafka {version}"
    version: str


class Configured(Fact, frozen=True, kw_only=True, tag="configured"):
    """The configuration with which a process starts: names and values, as they are printed."""

    settings: tuple[tuple[str, str], ...] = ()

    @property
    def sentence(self) -> str:
        return f"starts with {', '.join(f'{name}={value}' for name, value in self.settings)}"


class Terminating(Fact, frozen=True, kw_only=True, tag="terminating"):
    """A process was told to end by a signal, or ends because of an error."""

    says: ClassVar[str] = "the process ends: {reason}"
    reason: str


class LogDirFailed(Fact, frozen=True, kw_only=True, tag="log_dir_failed"):
    """A broker stops serving what is in a log directory, after an error of the disk."""

    says: ClassVar[str] = "the log directory {path} failed"
    path: str


class UncleanShutdownFound(Fact, frozen=True, kw_only=True, tag="unclean_shutdown_found"):
    """A broker that starts finds that it was not shut down: logs are recovered."""

    says: ClassVar[str] = "recovers its logs in {path}: it had not been shut down cleanly"
    path: str
    logs: int | None = None


class IndexCorrupt(Fact, frozen=True, kw_only=True, tag="index_corrupt"):
    """An index of a log is damaged or missing, and is built again."""

    says: ClassVar[str] = "the index {path} is damaged or missing, and is built again"
    path: str


class SegmentRecovered(Fact, frozen=True, kw_only=True, tag="segment_recovered"):
    """A segment was read again after an unclean stop."""

    says: ClassVar[str] = "recovered the segment of {tp} from offset {offset}"
    tp: str
    offset: int


class Truncated(Fact, frozen=True, kw_only=True, tag="truncated"):
    """A log was cut to an offset; ``high_watermark`` if that was the reason."""

    tp: str
    offset: int
    high_watermark: int | None = None

    @property
    def sentence(self) -> str:
        because = "" if self.high_watermark is None else " because of its high watermark"
        return f"cut its log of {self.tp} to offset {self.offset}{because}"


class CommittedTruncated(Fact, frozen=True, kw_only=True, tag="committed_truncated"):
    """A follower cuts its log below its high watermark: records are removed that were committed."""

    says: ClassVar[str] = (
        "cuts its log of {tp} to offset {offset}, below its high watermark {high_watermark}"
    )
    tp: str
    offset: int
    high_watermark: int


class HighWatermarkWentBack(Fact, frozen=True, kw_only=True, tag="high_watermark_went_back"):
    """A high watermark became smaller: records that consumers had seen may be gone."""

    says: ClassVar[str] = "the high watermark of {tp} went back from {before} to {after}"
    tp: str
    before: int
    after: int


class FetchFailed(Fact, frozen=True, kw_only=True, tag="fetch_failed"):
    """A follower's fetch request failed or timed out."""

    says: ClassVar[str] = "a fetch from broker {leader} failed"
    leader: int
    node: int | None = None


class NodeUnreachable(Fact, frozen=True, kw_only=True, tag="node_unreachable"):
    """A connection to a node could not be opened, or broke."""

    says: ClassVar[str] = "cannot connect to node {peer}"
    peer: int
    address: str | None = None


class OffsetOutOfRange(Fact, frozen=True, kw_only=True, tag="offset_out_of_range"):
    """A follower's next offset is not in the leader's log."""

    says: ClassVar[str] = (
        "offset {offset} of {tp} is not in the leader's log[; it continues at {new_offset}]"
    )
    tp: str
    offset: int
    new_offset: int | None = None


class EpochRefused(Fact, frozen=True, kw_only=True, tag="epoch_refused"):
    """A leader refused a fetch: the follower's leader epoch is ``older`` or ``newer`` than its."""

    says: ClassVar[str] = "a fetch of {tp} was refused: epoch {epoch} is {age}"
    tp: str
    age: str
    epoch: int


class PartitionFailed(Fact, frozen=True, kw_only=True, tag="partition_failed"):
    """A follower gave a partition up; it fetches again only after the next change of leader."""

    says: ClassVar[str] = "gave up fetching {tp}"
    tp: str


class LogDeleted(Fact, frozen=True, kw_only=True, tag="log_deleted"):
    """A replica was deleted."""

    says: ClassVar[str] = "deleted its log of {tp}"
    tp: str


class TopicDeleted(Fact, frozen=True, kw_only=True, tag="topic_deleted"):
    """A controller has deleted a topic, after all replicas."""

    says: ClassVar[str] = "the controller has deleted topic {topic}"
    topic: str


class Recovered(Fact, frozen=True, kw_only=True, tag="recovered"):
    """A leader elected uncleanly has finished its recovery."""

    says: ClassVar[str] = "{tp} has recovered from an unclean election"
    tp: str


class SlowRequest(Fact, frozen=True, kw_only=True, tag="slow_request"):
    """A request that took a second or longer."""

    says: ClassVar[str] = "a {api} request[ of {client}] took {total_ms:.0f} ms"
    api: str
    total_ms: float
    client: str | None = None


class QuorumRole(Fact, frozen=True, kw_only=True, tag="quorum_role"):
    """A node's role in the controller quorum (Leader, Candidate, ..) changed."""

    role: str
    epoch: int
    leader: int | None = None

    @property
    def sentence(self) -> str:
        leader = "" if self.leader is None else f" of {self.leader}"
        return f"is {self.role.lower()}{leader} in the controller quorum at epoch {self.epoch}"


class QuorumHighWatermark(Fact, frozen=True, kw_only=True, tag="quorum_high_watermark"):
    """The first offset that a quorum committed in an epoch: it works again."""

    says: ClassVar[str] = "the quorum commits again: high watermark {offset} at epoch {epoch}"
    offset: int
    epoch: int


class QuorumFetchTimedOut(Fact, frozen=True, kw_only=True, tag="quorum_fetch_timed_out"):
    """A voter has not heard from the quorum's leader, and stands for election."""

    says: ClassVar[str] = "has not heard from the quorum's leader in time"


class SnapshotWritten(Fact, frozen=True, kw_only=True, tag="snapshot_written"):
    """A node wrote a snapshot of the metadata."""

    says: ClassVar[str] = "wrote a snapshot of the metadata at offset {offset}"
    offset: int


if TYPE_CHECKING:
    AnyFact = Fact
else:
    AnyFact = reduce(or_, Fact.__subclasses__())
    """Any of them, by its tag."""

_STATES: Final = {
    "starting": "starts",
    "started": "has started",
    "shutting down": "shuts down",
    "shutting_down": "shuts down",
    "shut down completed": "has shut down",
    "shutdown": "has shut down",
}


def _word(name: str, value: object) -> object:
    if isinstance(value, tuple):
        return brackets(value)
    return _broker(value) if name == "leader" and isinstance(value, int) else value


def _brokers(brokers: Brokers) -> str:
    return ("broker " if len(brokers) == 1 else "brokers ") + ", ".join(map(str, brokers))


def _broker(broker: int) -> str:
    return "none" if broker < 0 else str(broker)


def _position(epoch: int | None, offset: int | None, high_watermark: int | None) -> str:
    parts = [
        f"{name} {value}"
        for name, value in (("epoch", epoch), ("offset", offset), ("HW", high_watermark))
        if value is not None
    ]
    return f" at {', '.join(parts)}" if parts else ""
