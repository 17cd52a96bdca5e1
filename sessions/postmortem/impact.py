"""What the history meant for the cluster's users: what was unavailable, unwritable, or lost.

Times are wall-clock times in microseconds since 1970 UTC. The log says when the controller acted,
not when a broker died: until it fences the broker, the metadata names a leader that is dead.
"""

from collections.abc import Iterable, Mapping
from typing import Final

from msgspec import Struct, field

from emulator.metadata_log.changes import Change, TopicIdPartition
from emulator.metadata_log.image import MetadataImage
from emulator.metadata_log.records import (
    FENCE,
    UNFENCE,
    BrokerRegistrationChangeRecord,
    RegisterBrokerRecord,
)
from emulator.metadata_log.registrations import PartitionRegistration
from sessions.postmortem.events import Applied
from sessions.postmortem.reasons import Causes
from sessions.postmortem.text_logs.facts import (
    Configured,
    ControlledShutdown,
    FetchFailed,
    FollowerStarted,
    NodeUnreachable,
    ProcessState,
    Truncated,
)
from sessions.postmortem.text_logs.log_line import LogLine

KEPT_MAX: Final = 100_000
"""How many of each kind are kept."""
SHORTLY_US: Final = 2_000_000
"""No session ends so soon after the last heartbeat."""
STARTING: Final = "starting"
MIN_ISR: Final = "min.insync.replicas"
NOBODY: Final = -1


class Window(Struct):
    """A partition was without a leader, or not writable with acks=all.

    From ``begin_us``, the batch at ``offset``, to ``end_us`` (None: to the end of the history).
    ``leader`` led before, ``successor`` afterwards; ``isr`` is the smallest ISR meanwhile.
    """

    tp: str
    begin_us: int
    offset: int
    leader: int
    isr: tuple[int, ...]
    because: str
    end_us: int | None = None
    successor: int | None = None

    def lasts_us(self, end_us: int) -> int:
        """How long it lasts in a history that ends at ``end_us``."""
        return (end_us if self.end_us is None else self.end_us) - self.begin_us


class Risk(Struct, frozen=True):
    """Records of ``tp`` that may be lost, because ``leader`` followed ``former``.

    ``is_unclean``: it was not in sync, so that even what was acknowledged with acks=all may be
    lost; ``isr`` had all records. Otherwise only what was acknowledged with acks=1, and not copied.
    """

    time_us: int
    tp: str
    former: int
    leader: int
    isr: tuple[int, ...]
    offset: int
    is_unclean: bool


class Truncation(Struct, frozen=True):
    """A replica that removed records from the end of its log, by a line of a text log.

    Those from ``offset`` to before ``end``; None if no line says where its log ended.
    """

    time_us: int
    node: int | None
    tp: str
    offset: int
    end: int | None
    sentence: str
    source: str


class Reign(Struct):
    """``leader`` (-1: nobody) leads a partition from ``begin_us`` in ``epoch``.

    None: the topic is deleted then.
    """

    leader: int | None
    epoch: int
    begin_us: int


class BrokerLoss(Struct):
    """A broker that was fenced, or shut down, and what that did.

    ``fenced_us`` is None while it shuts down. ``elected`` partitions got another leader,
    ``offline`` ones got none. It registered again at ``registered_us``, was unfenced at
    ``unfenced_us``, and was back in all ISRs at ``in_sync_us``; None: not in this history.
    ``lived`` is the line of its own text log that shows it running while nobody heard of it, and
    ``has_log`` tells whether there is such a log. At ``missed_us`` another node could no longer
    reach it, and it has written nothing since.
    """

    broker: int
    begin_us: int
    offset: int
    is_controlled: bool
    fenced_us: int | None = None
    elected: int = 0
    offline: list[str] = field(default_factory=list)
    registered_us: int | None = None
    unfenced_us: int | None = None
    in_sync_us: int | None = None
    lived: str | None = None
    has_log: bool = False
    missed_us: int | None = None

    @property
    def is_same_process(self) -> bool:
        """Whether it came back without registering again: it had hung, or was cut off."""
        return self.unfenced_us is not None and self.registered_us is None


class Lag(Struct):
    """A follower that was removed from ISRs because it did not catch up with their leader.

    From ``begin_us``, the batch at ``offset``, to ``end_us``, when it was back in an ISR or one of
    both was lost; None: to the end of the history.
    """

    leader: int
    follower: int
    begin_us: int
    offset: int
    end_us: int | None = None


class Impact:
    """Collects all of these; ``left_out`` counts what was too much to be kept."""

    def __init__(self) -> None:
        self.offline: list[Window] = []
        self.unwritable: list[Window] = []
        self.risks: list[Risk] = []
        self.losses: list[BrokerLoss] = []
        self.lags: list[Lag] = []
        self.truncations: list[Truncation] = []
        self.reigns: dict[str, list[Reign]] = {}
        self.left_out = 0
        self._without_leader: dict[str, Window] = {}
        self._below_min_isr: dict[str, Window] = {}
        self._lost: dict[int, BrokerLoss] = {}
        self._missing: dict[int, set[str]] = {}
        self._min_isrs: dict[int, int] = {}
        self._ends: dict[tuple[int | None, str], int] = {}
        self._lags: dict[tuple[int, int], Lag] = {}
        self._last_lines: dict[int, LogLine] = {}
        self._starting: set[int] = set()
        self._stopping: set[int] = set()
        self._missed: dict[int, int] = {}

    def take(
        self, applied: Applied, image: MetadataImage, because: Mapping[int, str] | None = None
    ) -> None:
        """Add what a batch did; ``image`` is the metadata after it.

        ``because`` is what the rules say of records, by offset.
        """
        if applied.is_snapshot:
            for key, change in applied.delta.partitions.items():
                if change.after is not None:
                    tp = f"{change.topic}-{key.partition}"
                    self._rule(tp, change.after, applied.time_us)
            return
        causes = Causes(applied, because or {})
        self._nodes(applied)
        for key, change in applied.delta.partitions.items():
            self._partition(key, change, applied, causes, image)
        if applied.delta.configs:
            self._judge_all(applied, image)

    def note(self, line: LogLine) -> None:
        """Add what a line of a text log says; a new replica's log is cut to offset 0."""
        self._note_node(line)
        match line.fact:
            case Truncated(tp=tp, offset=offset) if offset > 0:
                end = self._ends.pop((line.node, tp), None)
                end = end if end is not None and end > offset else None
                fields = (line.time_us, line.node, tp, offset, end, line.fact.sentence, line.source)
                self._keep(self.truncations, Truncation(*fields))
            case FollowerStarted(tp=tp, offset=end) if end is not None:
                if len(self._ends) < KEPT_MAX:
                    self._ends[line.node, tp] = end
            case Configured(settings=settings) if line.node is not None:
                value = dict(settings).get(MIN_ISR, "")
                if value.isdecimal():
                    self._min_isrs[line.node] = int(value)
            case _:
                pass

    # ---- brokers

    def _note_node(self, line: LogLine) -> None:
        """Note which nodes start, shut down or can no longer be reached."""
        if line.node is not None:
            self._last_lines[line.node] = line
            self._missed.pop(line.node, None)
        match line.fact:
            case ProcessState(state=state) if line.node is not None and state.lower() == STARTING:
                self._starting.add(line.node)
            case ControlledShutdown(node=node):
                broker = line.node if node is None else node
                if broker is not None:
                    self._stopping.add(broker)
            case FetchFailed(leader=int(broker)) | NodeUnreachable(peer=broker):
                self._missed.setdefault(broker, line.time_us)
            case _:
                pass

    def _nodes(self, applied: Applied) -> None:
        now_us = applied.time_us
        for record in applied.records:
            if isinstance(record, RegisterBrokerRecord):
                self._starting.discard(record.broker_id)
                self._stopping.discard(record.broker_id)
                loss = self._lost.get(record.broker_id)
                if loss is not None and loss.registered_us is None:
                    loss.registered_us = now_us
            elif isinstance(record, BrokerRegistrationChangeRecord):
                self._registration(record, applied)

    def _registration(self, record: BrokerRegistrationChangeRecord, applied: Applied) -> None:
        broker, now_us = record.broker_id, applied.time_us
        loss = self._lost.get(broker)
        if record.fenced == UNFENCE:
            if loss is not None:
                loss.unfenced_us = now_us
                self._back_in_sync(broker, now_us)
        elif record.fenced == FENCE:
            if loss is not None and loss.fenced_us is None:
                loss.fenced_us = now_us
            elif loss is None or loss.unfenced_us is not None:
                # A broker that leads nothing is fenced at once if it asks to shut down.
                loss = self._lose(broker, applied, is_controlled=broker in self._stopping)
                loss.fenced_us, loss.has_log = now_us, broker in self._last_lines
                if not loss.is_controlled:
                    loss.lived = self._sign_of_life(broker, now_us)
                    loss.missed_us = self._missed.get(broker) if loss.has_log else None
        elif record.in_controlled_shutdown:
            self._lose(broker, applied, is_controlled=True)

    def _lose(self, broker: int, applied: Applied, *, is_controlled: bool) -> BrokerLoss:
        loss = BrokerLoss(broker, applied.time_us, applied.batch.base_offset, is_controlled)
        self._lost[broker] = loss
        self._missing[broker] = set()
        for pair in [pair for pair in self._lags if broker in pair]:
            self._lags.pop(pair).end_us = applied.time_us
        self._keep(self.losses, loss)
        return loss

    def _sign_of_life(self, broker: int, fenced_us: int) -> str | None:
        """The line that a broker wrote when the controller had not heard of it for long."""
        line = self._last_lines.get(broker)
        if line is None or broker in self._starting or line.time_us < fenced_us - SHORTLY_US:
            return None
        return line.source

    def _back_in_sync(self, broker: int, now_us: int) -> None:
        loss = self._lost.get(broker)
        if loss is not None and loss.unfenced_us is not None and not self._missing[broker]:
            loss.in_sync_us = now_us
            del self._lost[broker]

    def _settle(self, tp: str, brokers: Iterable[int], now_us: int) -> None:
        """Brokers are back in the ISR of a partition, or have no replica of it any more."""
        for broker in brokers:
            if broker in self._missing and tp in self._missing[broker]:
                self._missing[broker].discard(tp)
                self._back_in_sync(broker, now_us)

    # ---- partitions

    def _partition(
        self,
        key: TopicIdPartition,
        change: Change,
        applied: Applied,
        causes: Causes,
        image: MetadataImage,
    ) -> None:
        tp = f"{change.topic}-{key.partition}"
        before, after, now_us = change.before, change.after, applied.time_us
        if after is None:
            self._end(tp, now_us)
            return
        if before is None:
            self._rule(tp, after, now_us)
            return
        because = causes.of_partition(key, change)
        if before.leader != after.leader:
            self._rule(tp, after, now_us)
            self._leader(tp, before, after, applied, because)
        self._lagging(before, after, applied)
        for broker in before.isr:
            if broker in self._missing and broker not in after.isr:
                self._missing[broker].add(tp)
        settled = after.isr
        if after.replicas != before.replicas:
            settled += tuple(broker for broker in before.replicas if broker not in after.replicas)
        self._settle(tp, settled, now_us)
        self._writable(tp, after, applied, because, image)

    def _lagging(
        self, before: PartitionRegistration, after: PartitionRegistration, applied: Applied
    ) -> None:
        """Begin and end the lags of the followers that leave the ISR and that come back."""
        leader = after.leader
        if before.leader == leader >= 0:
            for follower in before.isr:
                pair = leader, follower
                is_known = follower in after.isr or follower in self._lost or pair in self._lags
                if not is_known and not after.is_reassigning and follower in after.replicas:
                    lag = Lag(leader, follower, applied.time_us, applied.batch.base_offset)
                    self._lags[pair] = lag
                    self._keep(self.lags, lag)
        for follower in after.isr:
            lag_or_none = self._lags.pop((leader, follower), None)
            if lag_or_none is not None:
                lag_or_none.end_us = applied.time_us

    def _leader(
        self,
        tp: str,
        before: PartitionRegistration,
        after: PartitionRegistration,
        applied: Applied,
        because: str,
    ) -> None:
        now_us, offset = applied.time_us, applied.batch.base_offset
        loss = self._lost.get(before.leader)
        if after.leader < 0:
            window = Window(tp, now_us, offset, before.leader, after.isr, because)
            self._without_leader[tp] = window
            self._keep(self.offline, window)
            if loss is not None:
                loss.offline.append(tp)
            return
        window_or_none = self._without_leader.pop(tp, None)
        if window_or_none is not None:
            window_or_none.end_us, window_or_none.successor = now_us, after.leader
        elif loss is not None:
            loss.elected += 1
        former = before.leader if window_or_none is None else window_or_none.leader
        is_unclean = bool(after.leader_recovery_state) and after.leader not in before.isr
        loss = self._lost.get(former)
        has_died = loss is not None and not loss.is_controlled and former not in after.isr
        if is_unclean or has_died:
            had_all = before.isr or before.elr or before.last_known_elr
            risk = Risk(now_us, tp, former, after.leader, had_all, offset, is_unclean)
            self._keep(self.risks, risk)

    def _writable(
        self,
        tp: str,
        after: PartitionRegistration,
        applied: Applied,
        because: str,
        image: MetadataImage,
    ) -> None:
        """Open or close a window in which writes with acks=all are refused."""
        window = self._below_min_isr.get(tp)
        is_below = after.leader >= 0 and len(after.isr) < self._min_isr(tp, after.leader, image)
        if window is None and is_below:
            offset = applied.batch.base_offset
            window = Window(tp, applied.time_us, offset, after.leader, after.isr, because)
            self._below_min_isr[tp] = window
            self._keep(self.unwritable, window)
        elif window is not None and not is_below:
            window.end_us, window.successor = applied.time_us, after.leader
            del self._below_min_isr[tp]
        elif window is not None and len(after.isr) < len(window.isr):
            window.isr = after.isr

    def _min_isr(self, tp: str, leader: int, image: MetadataImage) -> int:
        topic = tp.rpartition("-")[0]
        value = image.topic_config(topic, MIN_ISR) or image.broker_config(None, MIN_ISR) or ""
        return int(value) if value.isdecimal() else self._min_isrs.get(leader, 1)

    def _judge_all(self, applied: Applied, image: MetadataImage) -> None:
        """A configuration may have changed which partitions are writable."""
        changed = {
            key.partition(":")[2] for key in applied.delta.configs if key.startswith("topic")
        }
        is_default = any(key.startswith("broker") for key in applied.delta.configs)
        topics = image.topics.values() if is_default else map(image.topic, sorted(changed))
        for topic in topics:
            if topic is not None:
                for number, partition in topic.partitions.items():
                    because = "min.insync.replicas was changed"
                    self._writable(f"{topic.name}-{number}", partition, applied, because, image)

    def _rule(self, tp: str, after: PartitionRegistration, now_us: int) -> None:
        reigns = self.reigns.setdefault(tp, [])
        if not reigns or reigns[-1].leader != after.leader:
            self._keep(reigns, Reign(after.leader, after.leader_epoch, now_us))

    def _end(self, tp: str, now_us: int) -> None:
        for windows in (self._without_leader, self._below_min_isr):
            window = windows.pop(tp, None)
            if window is not None:
                window.end_us = now_us
        self._settle(tp, self._missing, now_us)
        reigns = self.reigns.get(tp, [])
        if len(reigns) > 1 and len(self.reigns) < KEPT_MAX:
            self._keep(reigns, Reign(None, NOBODY, now_us))
        else:
            self.reigns.pop(tp, None)

    def _keep(self, entries: list, entry: object) -> None:  # type: ignore[type-arg]
        if len(entries) < KEPT_MAX:
            entries.append(entry)
        else:
            self.left_out += 1
