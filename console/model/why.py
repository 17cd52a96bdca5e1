"""Explain a partition's state: the event that caused it, and the chain that led to it."""

from collections.abc import Callable, Sequence
from typing import Any, Final

from msgspec import Struct

from console.model.event_log import FoundEvents, TouchScan
from console.model.fencing import led_to
from console.model.lookback import last_match
from console.model.partition_fields import leader_number, spokesman
from console.model.reader import EventReader
from console.model.silence import Silence, began, judges
from emulator import events
from emulator.events import AuditChanged, Event, PartitionStateChanged
from sessions.model.authority import severed_followers
from sessions.model.health import BY_FLAG, BY_MILD_FLAG, SERVING, flags_of
from sessions.model.states import PartitionState, ViewState
from sessions.model.waiting import is_stalled, wait_of
from sessions.text import clock

AUDIT_BUDGET_MS: Final = 5.0
"""Time limit of a search for the last audit, or the last record of the log."""
SEARCHES_KEPT_MAX: Final = 256
"""Searches, one for each kind of event and partition, whose findings are kept."""
CHAINS_KEPT_MAX: Final = 64
"""Explanations that are kept, of a partition at a moment."""
NEARBY: Final = 2
"""Maximum distance between a znode's write and the event that describes it."""
SHOWN_MAX: Final = 8
"""Maximum lines of the chain that are shown: the newest ones, and always the root."""


WRITTEN_BY: Final[dict[str, tuple[type[Event], ...]]] = {
    "hw": (events.HighWatermarkChanged,),
    "leo": (events.RecordsAppended, events.LogTruncated),
    "lag": (events.HighWatermarkChanged, events.RecordsAppended),
    "leader_isr": (events.IsrChanged,),
    "replicas": (events.ReplicasAssigned, events.TopicCreated, events.PartitionsAdded),
    "min": (events.ConfigChanged, events.TopicCreated),
    "lost": (AuditChanged,),
    "duplicated": (AuditChanged,),
    "diverged": (AuditChanged,),
    "leader": (PartitionStateChanged,),
    "epoch": (PartitionStateChanged,),
    "osr": (PartitionStateChanged,),
    "isr": (PartitionStateChanged,),
    "controller_epoch": (PartitionStateChanged,),
    "version": (PartitionStateChanged,),
}
"""The events that a column's cell comes from; those of replicas count on the leader's only."""
AUDITED: Final = frozenset({"lost", "diverged"})
"""The states that an audit finds."""
OF_SILENCE: Final = frozenset({"leaderless", "waiting", "hw_stalled"})
"""The states that a process or follower leads to that does not respond or fetch."""
_Holds = Callable[[PartitionStateChanged, PartitionState], bool]


def _lacks_the_same(event: PartitionStateChanged, partition: PartitionState) -> bool:
    return not {*event.isr} & {*partition.osr}


def _has_the_leader(event: PartitionStateChanged, partition: PartitionState) -> bool:
    return event.leader == partition.leader


HOLDS: Final[dict[str, _Holds]] = {
    "offline": _has_the_leader,
    "unclean": _has_the_leader,
    "non_preferred": _has_the_leader,
    "under_min_isr": lambda event, partition: len(event.isr) < partition.min_isr,
    "at_min_isr": _lacks_the_same,
    "under_replicated": _lacks_the_same,
}
"""Whether a partition was already in a state after a write of its znode."""
OF_LEADER: Final = (events.HighWatermarkChanged, events.RecordsAppended, events.LogTruncated)


def _speaks_of(event: Event, kinds: tuple[type[Event], ...], partition: PartitionState) -> bool:
    if not isinstance(event, kinds):
        return False
    if isinstance(event, OF_LEADER):
        replica = spokesman(partition)
        if replica is not None and event.broker != replica.broker:
            return False
    if isinstance(event, events.ConfigChanged):
        return (event.entity, event.name) == ("topic", partition.topic)
    if isinstance(event, events.TopicCreated | events.PartitionsAdded):
        return event.topic == partition.topic
    return getattr(event, "tp", None) == partition.name


def status_of(state: ViewState, partition: PartitionState) -> str:
    """Return the partition's most severe state."""
    serving = {broker.id for broker in state.brokers.values() if broker.state in SERVING}
    flags = flags_of(partition, serving, severed_followers(state))
    status = next((name for flag, name in BY_FLAG if flags & flag), "")
    if not status and is_stalled(state, partition):
        return "hw_stalled"
    return status or next((name for flag, name in BY_MILD_FLAG if flags & flag), "healthy")


def state_path(partition: PartitionState) -> str:
    """The partition's ``state`` znode."""
    return f"/brokers/topics/{partition.topic}/partitions/{partition.partition}/state"


class Explainer:
    """Finds the event that explains a partition's state: the one since which it is in that state.

    Lost and diverged records are found by an audit. A partition without an acting leader, or whose
    writes wait, is so because of a broker's process. Everything else is a write of its ``state``
    znode (in KRaft a record), since fetches and HW updates touch a partition all the time without
    changing its state; and before there is one, the last event that touched it.
    """

    def __init__(self, reader: EventReader) -> None:
        self.reader = reader
        self._scans: dict[tuple[type[Event], str], FoundEvents] = {}
        self._chains: dict[tuple[str, int], list[Event | Fold]] = {}
        self._is_partial = False

    def chain(self, state: ViewState, partition: PartitionState) -> "list[Event | Fold]":
        """Return the relevant causes of a partition's state at the time cursor, the root first.

        Raises:
            StillReadingError: there is no time to find them now.
        """
        key = (partition.name, state.seq)
        links = self._chains.get(key)
        if links is None:
            self._is_partial = False
            with self.reader.hurrying():
                links = chain(self.reader, self.seq(state, partition))
            if not self._is_partial:
                if len(self._chains) >= CHAINS_KEPT_MAX:
                    self._chains.clear()
                self._chains[key] = links
        return links

    def seq(self, state: ViewState, partition: PartitionState) -> int:
        """Return the number of that event, at the time cursor."""
        status = status_of(state, partition)
        since = None
        if status in AUDITED:
            since = self._since(
                AuditChanged,
                partition.name,
                state.seq,
                lambda event: getattr(event, status) or (status == "lost" and event.lost_offsets),
            )
        elif status in OF_SILENCE:
            since = self._silence(state, partition, status)
        if since is None and status in HOLDS:
            holds = HOLDS[status]
            since = self._since(
                PartitionStateChanged,
                partition.name,
                state.seq,
                lambda event: holds(event, partition),
            )
        if since is not None:
            return since
        if state.quorum is not None:
            written = self._last(PartitionStateChanged, partition.name, state.seq)
            return partition.changed if written is None else written
        znode = state.znodes.get(state_path(partition))
        if znode is None or not znode.changed:
            return partition.changed
        return self._described_by(partition, znode.changed)

    def _since(
        self, kind: type[Event], tp: str, seq: int, holds: Callable[[Any], object]
    ) -> int | None:
        """Return the event of a kind since which something holds without interruption."""
        events = self._events_of(kind, tp)
        since = None
        for index in range(events.index_of(seq), -1, -1):
            event = self.reader.get(events.seq_at(index))
            if event is None or not holds(event):
                return since
            since = event.seq
        self._needs(events)
        return since

    def _needs(self, events: FoundEvents) -> None:
        """Take notice that an answer depends on everything before the time cursor."""
        if not events.reaches_back:
            self._is_partial = True
            self.reader.wait_for_more()

    def _silence(self, state: ViewState, partition: PartitionState, status: str) -> int | None:
        """Return what keeps the leader, or a member of the ISR, from responding or fetching.

        If a HW stands still for no such reason, return when it moved last.
        """
        wait = wait_of(state, partition)
        brokers = set(() if wait is None else wait.brokers)
        leader = leader_number(partition)
        if status == "leaderless" and leader is not None:
            brokers.add(leader)
        hosts = judges(state) if leader is None else judges(state) | {leader}
        silence = Silence(frozenset(brokers), hosts, partition.name)
        event = began(self.reader, state.seq, silence) if brokers else None
        if event is not None:
            return event.seq
        moved = status == "hw_stalled"
        return self._last(events.HighWatermarkChanged, partition.name, state.seq) if moved else None

    def of_cell(self, state: ViewState, partition: PartitionState, column: str) -> int:
        """Return the event behind one column's cell, by default the one behind the state."""
        kinds = WRITTEN_BY.get(column)
        if kinds is not None:
            event = last_match(
                self.reader, state.seq, lambda event: _speaks_of(event, kinds, partition)
            )
            if event is not None:
                return event.seq
        return self.seq(state, partition)

    def _last(self, kind: type[Event], tp: str, seq: int) -> int | None:
        """Return the last event of a kind about a partition, unless the time limit is reached."""
        events = self._events_of(kind, tp)
        index = events.index_of(seq)
        if index < 0:
            self._needs(events)
            return None
        return events.seq_at(index)

    def _events_of(self, kind: type[Event], tp: str) -> FoundEvents:
        """Return the events of a kind about a partition, as far as the time limit allows."""
        events = self._scans.get((kind, tp))
        if events is None:
            if len(self._scans) >= SEARCHES_KEPT_MAX:
                self._scans.clear()
            scan = TouchScan(self.reader, [tp], kinds=frozenset({kind}))
            events = self._scans[kind, tp] = FoundEvents(self.reader, scan)
        events.work(AUDIT_BUDGET_MS)
        return events

    def _described_by(self, partition: PartitionState, written: int) -> int:
        """Return the event that describes the write of the znode; otherwise the write itself."""
        for event in self.reader.page(written - NEARBY, written + NEARBY):
            if isinstance(event, PartitionStateChanged) and event.tp == partition.name:
                return event.seq
        return written


class Fold(Struct, frozen=True):
    """Adjacent links of a chain that may be left out: at least two."""

    events: tuple[Event, ...]


def folded(links: Sequence[Event]) -> list[Event | Fold]:
    """Return a chain without routine messages, such as a follower's idle fetches.

    Of consecutive messages with the same name and ends, only the last one is kept, plus each that
    has an error. Anything that is not a message is an input or a decision, and is kept.
    """
    kept: list[Event | Fold] = []
    hidden: list[Event] = []
    for place, event in enumerate(links):
        if _comes_again(links, place):
            hidden.append(event)
            continue
        kept += _fold(hidden)
        hidden = []
        kept.append(event)
    return [*kept, *_fold(hidden)]


def _comes_again(links: Sequence[Event], place: int) -> bool:
    """Return whether a message adds nothing to a later one of the same sequence."""
    event = links[place]
    if not isinstance(event, events.MessageSent) or _names_an_error(event):
        return False
    kind = (event.name, event.source, event.destination)
    for later in links[place + 1 :]:
        if not isinstance(later, events.MessageSent):
            return False
        if (later.name, later.source, later.destination) == kind:
            return True
    return False


def _names_an_error(message: events.MessageSent) -> bool:
    values = [value for item in message.detail for value in item[1:]]
    return any(isinstance(value, str) and value != "NONE" for value in values)


def _fold(hidden: Sequence[Event]) -> list[Event | Fold]:
    return [Fold(tuple(hidden))] if len(hidden) > 1 else list(hidden)


def chain(reader: EventReader, seq: int) -> list[Event | Fold]:
    """Return the relevant causes of an event, the root first, up to a number of lines."""
    links = folded(led_to(reader, seq))
    if len(links) <= SHOWN_MAX:
        return links
    begin, between, end = links[:1], links[1 : 2 - SHOWN_MAX], links[2 - SHOWN_MAX :]
    inner = [one for link in between for one in (link.events if isinstance(link, Fold) else [link])]
    return [*begin, Fold(tuple(inner)), *end]


def moment(event: Event) -> str:
    """An event's time and number."""
    return f"{clock(event.time_us)} #{event.seq:,}"
