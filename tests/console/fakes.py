"""A source made of a hand-written list of events, and ways to write such a list."""

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any

from emulator import events
from emulator.events import Event
from emulator.inputs.statements import Statement
from emulator.zookeeper.watches import Watches
from sessions.format.allowance import Allowance
from sessions.format.bookmarks import bookmark, merged
from sessions.format.chunks import Kinds
from sessions.model.cluster_view import ClusterView
from sessions.model.health import Counts
from sessions.model.states import Bookmark, PartitionState, ReplicaState, ViewState
from sessions.model.touches import objects_of
from sessions.playback.cursor import Reply


@dataclass
class Script:
    """Events written one after another: numbers and times are counted along."""

    events: list[Event] = field(default_factory=list)
    time_us: int = 0

    def add(self, kind: type[Event], *fields: Any, cause: int = 0, after_us: int = 1_000) -> int:
        """Append an event; returns its number."""
        self.time_us += after_us
        seq = len(self.events) + 1
        self.events.append(kind(seq, self.time_us, cause, *fields))
        return seq


class ListSource:
    """Events in a list, with a cursor; LIVE ones may be fed more."""

    def __init__(
        self, history: Sequence[Event], kind: str = "REPLAY", *, at: int | None = None
    ) -> None:
        self.kind = kind
        self.name = "hand-made"
        self.read_only = kind == "REPLAY"
        self.goes_on = kind == "LIVE"
        self.can_forecast = False
        self.first_time_us = 0
        self.image = None
        self.recorder = None
        self.bootstrap_servers = ""
        self.notes: Sequence[str] = ()
        self.stale_us: int | None = None
        self.heading_for: int | None = None
        self.wall_clock_us: int | None = None
        self.history = list(history)
        self.view = ClusterView()
        self.by_hand: dict[int, Bookmark | None] = {}
        self.submitted: list[str] = []
        self.trouble = ""
        self.flushed = 0
        self.reply = Reply()
        self._time_us = 0
        self.seek_seq(len(self.history) if at is None else at)

    @property
    def seq(self) -> int:
        return self.view.seq

    @property
    def present(self) -> ClusterView:
        return self.view

    def keep_up(self) -> None:
        """Nothing happens meanwhile."""

    def stand_still(self) -> None:
        """It stands still anyway."""

    def starting_point(self) -> None:
        """There is nothing to look ahead from."""

    def statements_of(self, text: str) -> Sequence[Statement]:
        return ()

    @property
    def time_us(self) -> int:
        return self._time_us

    @property
    def first_seq(self) -> int:
        return self.history[0].seq if self.history else 1

    @property
    def last_seq(self) -> int:
        return len(self.history)

    @property
    def last_time_us(self) -> int:
        return self.history[-1].time_us if self.history else 0

    @property
    def at_tail(self) -> bool:
        return self.seq >= self.last_seq

    def feed(self, event: Event) -> None:
        self.history.append(event)

    def advance(self, wall_seconds: float, speed: float, budget_ms: float) -> int:
        before = self.seq
        wanted = self._time_us + int(wall_seconds * speed * 1_000_000)
        while not self.at_tail and self.history[self.seq].time_us <= wanted:
            self.view.apply(self.history[self.seq])
        self._time_us = wanted if self.kind == "LIVE" else min(wanted, self.last_time_us)
        return self.seq - before

    def step(self, n: int) -> None:
        self.seek_seq(self.seq + n)

    def seek_seq(self, seq: int) -> None:
        seq = max(0, min(seq, self.last_seq))
        if seq < self.seq:
            self.view = ClusterView()
        self.view.apply_all(self.history[self.seq : seq])
        self._time_us = self.view.time_us

    def seek_time(self, time_us: int) -> None:
        self.seek_seq(sum(event.time_us <= time_us for event in self.history))
        self._time_us = time_us

    def to_tail(self) -> None:
        self.seek_seq(self.last_seq)

    def events(self, first: int, last: int) -> Sequence[Event]:
        return self.history[first - 1 : last]

    def reading_at_most(self, allowance: Allowance) -> AbstractContextManager[None]:
        return nullcontext()

    def touching(
        self, objects: Iterable[int | str], seq: int, direction: int, kinds: Kinds = None
    ) -> int | None:
        wanted = set(objects)
        later = range(seq + 1, self.last_seq + 1)
        numbers = later if direction > 0 else range(min(seq - 1, self.last_seq), 0, -1)
        events = (self.history[number - 1] for number in numbers)
        chosen = (event for event in events if kinds is None or type(event) in kinds)
        return next((event.seq for event in chosen if objects_of(event) & wanted), None)

    def bookmarks(self) -> Sequence[Bookmark]:
        marked = (
            Bookmark(event.name, event.note, event.seq, event.time_us)
            for event in self.history
            if isinstance(event, events.BookmarkSet)
        )
        return merged(marked, self.by_hand)

    def put_bookmark(self, name: str, note: str = "", seq: int | None = None) -> Bookmark:
        place = self.seq if seq is None else seq
        mark = bookmark(name, note, place, self.history[place - 1].time_us if place else 0)
        self.by_hand[place] = mark
        return mark

    def remove_bookmark(self, seq: int) -> bool:
        if all(mark.seq != seq for mark in self.bookmarks()):
            return False
        self.by_hand[seq] = None
        return True

    def flush(self) -> None:
        self.flushed += 1

    def samples(self) -> Sequence[tuple[int, int, Counts]]:
        view = ClusterView()
        found: list[tuple[int, int, Counts]] = []
        for event in self.history:
            view.apply(event)
            if not found or view.counts() != found[-1][2]:
                found.append((event.seq, event.time_us, view.counts()))
        return found

    def watches(self, seq: int, observer: Callable[[Event], None]) -> Watches:
        found = Watches()
        found.watch_data(2, "/controller")
        for event in self.history[:seq]:
            observer(event)
        return found

    def submit(self, text: str) -> Reply:
        self.submitted.append(text)
        return self.reply

    def replies(self) -> Sequence[tuple[str, Reply]]:
        return ()


def partition_path(tp: str) -> str:
    topic, _, number = tp.rpartition("-")
    return f"/brokers/topics/{topic}/partitions/{number}/state"


def failover(partitions: int = 6, min_isr: int = 2) -> list[Event]:
    """Broker 1 of three crashes: its partitions move, and one is left without a leader."""
    script = Script()
    add = script.add
    add(events.ClusterCreated, "3.9", 43, [1, 2, 3], [], {}, False)
    for broker in (1, 2, 3):
        add(events.BrokerStateChanged, broker, "running")
        add(events.SessionCreated, 0x10 + broker, broker, 18_000, broker)
        add(
            events.ZnodeCreated,
            f"/brokers/ids/{broker}" if broker > 1 else "/brokers",
            None,
            0,
            broker,
        )
        add(events.BrokerRegistered, broker, 20 + broker, 0x10 + broker)
    add(events.ZnodeCreated, "/controller", '{"version":2,"brokerid":1}', 0x11, 9)
    add(events.ControllerElected, 1, 1, 1)
    assignment = [[1 + (i + j) % 3 for j in range(3)] for i in range(partitions)]
    assignment[-1] = [1]
    created = add(events.TopicCreated, "orders", assignment, {"min.insync.replicas": str(min_isr)})
    for number, replicas in enumerate(assignment):
        _create_partition(script, f"orders-{number}", replicas, created)
    for number, replicas in enumerate(assignment):
        _produce(script, f"orders-{number}", replicas, 10 + number, lag=number == 1)
    add(events.BookmarkSet, "b1", "before the crash")
    crash = add(events.InputReceived, "broker crash 1", 7, 100)
    down = add(events.BrokerStateChanged, 1, "crashed", cause=crash)
    for number, replicas in enumerate(assignment):
        if 1 in replicas:
            add(events.ReplicaRoleChanged, f"orders-{number}", 1, "offline", -1, 0, cause=down)
    ended = add(events.SessionEnded, 0x11, 1, "expired", 30, cause=down, after_us=6_000_000)
    gone = add(events.ZnodeDeleted, "/controller", 31, cause=ended)
    elected = add(events.ControllerElected, 2, 2, 2, cause=gone)
    for number, replicas in enumerate(assignment):
        if 1 in replicas:
            _fail_over(script, f"orders-{number}", replicas, elected)
    return script.events


def _create_partition(script: Script, tp: str, replicas: list[int], cause: int) -> None:
    leader = replicas[0]
    isr = ",".join(map(str, replicas))
    data = f'{{"controller_epoch":1,"leader":{leader},"version":1,"leader_epoch":0,"isr":[{isr}]}}'
    made = script.add(events.ZnodeCreated, partition_path(tp), data, 0, 12, cause=cause)
    script.add(events.PartitionStateChanged, tp, leader, 0, replicas, 1, 0, cause=made)
    for broker in replicas:
        script.add(events.LogCreated, tp, broker, cause=made)
        role = "leader" if broker == leader else "follower"
        script.add(events.ReplicaRoleChanged, tp, broker, role, leader, 0, cause=made)
    script.add(events.IsrChanged, tp, leader, replicas, 0, cause=made)
    script.add(events.EpochCacheChanged, tp, leader, [(0, 0)], cause=made)


def _produce(script: Script, tp: str, replicas: list[int], count: int, *, lag: bool) -> None:
    first = len(script.events) * 1_000
    leader = replicas[0]
    values = [f"m{n}" for n in range(count)]
    sent = script.add(events.ProduceSent, "p1", tp, first, [], values, -1)
    script.add(events.RecordsAppended, tp, leader, 0, count, 0, first, cause=sent)
    followers = replicas[1:-1] if lag else replicas[1:]
    for follower in followers:
        script.add(events.RecordsAppended, tp, follower, 0, count, 0, first, cause=sent)
        script.add(events.RemoteLogEndOffsetChanged, tp, leader, follower, count, cause=sent)
    if lag:
        script.add(events.RecordsAppended, tp, replicas[-1], 0, count - 4, 0, first, cause=sent)
    hw = count - 4 if lag else count
    for broker in replicas:
        script.add(events.HighWatermarkChanged, tp, broker, hw, 0, "fetch", cause=sent)
    script.add(events.ProduceAcknowledged, "p1", tp, first, count, 0, cause=sent)


def _fail_over(script: Script, tp: str, replicas: list[int], cause: int) -> None:
    isr = [broker for broker in replicas if broker != 1]
    leader = isr[0] if isr else -1
    if isr:
        script.add(events.LeaderElected, tp, 2, leader, 1, isr, "Offline", cause=cause)
    else:
        script.add(
            events.ElectionFailed, tp, 2, "Offline", "no live replica in ISR [1]", cause=cause
        )
        isr = [1]
    text = ",".join(map(str, isr))
    data = f'{{"controller_epoch":2,"leader":{leader},"version":1,"leader_epoch":1,"isr":[{text}]}}'
    change = script.add(events.ZnodeChanged, partition_path(tp), data, 1, 40, cause=cause)
    script.add(events.PartitionStateChanged, tp, leader, 1, isr, 2, 1, cause=change)
    for broker in isr:
        if leader >= 0:
            role = "leader" if broker == leader else "follower"
            script.add(events.ReplicaRoleChanged, tp, broker, role, leader, 1, cause=change)
    if leader >= 0:
        script.add(events.IsrChanged, tp, leader, isr, 1, cause=change)


def large_view(partitions: int, brokers: int = 12) -> ClusterView:
    """A view of very many partitions in topics of a hundred, a few of them not healthy."""
    state = ViewState(version="3.9", seed=1, seq=partitions, time_us=60_000_000)
    for number in range(partitions):
        topic, partition = f"topic{number // 100:04}", number % 100
        replicas = [(number + j) % brokers for j in range(3)]
        isr = replicas if number % 97 else replicas[:2]
        leader = -1 if number % 5_003 == 7 else replicas[0]
        state.partitions[f"{topic}-{partition}"] = PartitionState(
            topic,
            partition,
            replicas,
            state="offline" if leader < 0 else "online",
            leader=leader,
            leader_epoch=3,
            controller_epoch=1,
            zk_version=4,
            isr=isr,
            leader_isr=isr,
            replica_states={
                broker: ReplicaState(
                    broker,
                    "leader" if broker == leader else "follower",
                    1_000 + number,
                    1_000 + number,
                )
                for broker in replicas
            },
            min_isr=2,
            changed=number + 1,
        )
    return ClusterView(state)
