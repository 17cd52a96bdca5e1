"""The history behind the strips over time: partitions, brokers, the controller, rates.

The counts of :mod:`console.model.history` come with every source; this is read from the events
themselves, each of them once, in the background. The strips are then a function of the source and
the time cursor, like everything else that is shown.
"""

from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from time import perf_counter
from typing import Any, Final

from console.model.records import Losses
from console.model.severity import HEALTHY, RANKS
from emulator import events
from emulator.events import Event
from sessions.model.cluster_view import ClusterView
from sessions.model.health import BY_FLAG, BY_MILD_FLAG
from sessions.model.quorum import controller_of
from sessions.model.states import PartitionState
from sessions.sources.source import Source
from sessions.text import US_PER_SECOND

PARTITIONS_MAX: Final = 5_000
"""Larger clusters have no strips: reading all of their events would take too long."""
READ_BUDGET_MS: Final = 15.0
"""How long one frame may read events."""
SLICE: Final = 256
"""Events read between two looks at the clock."""
GONE: Final = -1
"""The rank of a partition that does not exist."""
NOBODY: Final = -1
"""The controller while there is none, and the leader of a partition that has none."""

MOVING_ENDS: Final = (events.RecordsAppended, events.HighWatermarkChanged, events.LogTruncated)
"""The events that change how far a log's end is from its high watermark."""
RATES: Final = ("acknowledged", "consumed", "latency", "elected", "isr", "truncated", "lost")
"""What is known of every second: records and events, but for ``latency``.

That is the longest time in microseconds from a producer's send to its acknowledgement.
"""


class Track:
    """One value over time: where it changed, and to what."""

    def __init__(self) -> None:
        self._times: list[int] = []
        self._values: list[Any] = []

    def put(self, time_us: int, value: object) -> None:
        """Set the value from a time on; times never go back."""
        if not self._values or self._values[-1] != value:
            self._times.append(time_us)
            self._values.append(value)

    def at(self, time_us: int) -> Any:  # noqa: ANN401 - a track of any values
        """The value at a time; None before the first."""
        place = bisect_right(self._times, time_us) - 1
        return self._values[place] if place >= 0 else None

    def during(self, begin_us: int, end_us: int) -> list[Any]:
        """The value at the beginning, and every value until the end."""
        first = max(0, bisect_right(self._times, begin_us) - 1)
        return self._values[first : bisect_right(self._times, end_us)]

    def is_steady(self, begin_us: int, end_us: int) -> bool:
        """Whether the value never changed during that time."""
        first = bisect_right(self._times, begin_us)
        return first > 0 and bisect_right(self._times, end_us) == first

    def changes(self, begin_us: int, end_us: int) -> list[Any]:
        """The values that it changed to from ``begin_us`` until the end."""
        first = bisect_left(self._times, begin_us)
        return self._values[max(1, first) : bisect_right(self._times, end_us)]


class Rate:
    """A rate: amounts of something by second, known to the microsecond."""

    def __init__(self, join: Callable[[Iterable[int]], int]) -> None:
        """``join`` makes one figure of several: their sum, or the highest."""
        self._join = join
        self._times: list[int] = []
        self._figures: list[int] = []
        self._seconds: dict[int, int] = {}

    def add(self, time_us: int, figure: int) -> None:
        """Add an amount at a time; times never go back."""
        self._times.append(time_us)
        self._figures.append(figure)
        second = time_us // US_PER_SECOND
        known = self._seconds.get(second)
        self._seconds[second] = figure if known is None else self._join((known, figure))

    def between(self, begin_us: int, end_us: int) -> int:
        """The figure from a time on and before another."""
        first, last = bisect_left(self._times, begin_us), bisect_left(self._times, end_us)
        return self._join((0, *self._figures[first:last]))

    def of(self, second: int, now_us: int) -> int:
        """The figure of a second; of the one in which it is ``now_us``, up to there."""
        if second != now_us // US_PER_SECOND:
            return self._seconds.get(second, 0)
        first = bisect_left(self._times, second * US_PER_SECOND)
        return self._join((0, *self._figures[first : bisect_right(self._times, now_us)]))


class Timeline:
    """Strips of one source, as far as its events have been read.

    ``partitions`` are severities (ranks of :mod:`console.model.severity`, without the one that
    depends on the time), ``topics`` the worst of each topic's, ``leaders`` the partitions' leaders,
    ``brokers`` the states of processes (KRaft's controllers among them), ``rates`` what happened
    how often, by :data:`RATES`; ``losses`` are the records that were ever lost. ``lag`` is the most
    records that any partition's leader has above its high watermark, with the partition.
    """

    def __init__(self, source: Source) -> None:
        self.source = source
        self.partitions: defaultdict[str, Track] = defaultdict(Track)
        self.topics: defaultdict[str, Track] = defaultdict(Track)
        self.leaders: defaultdict[str, Track] = defaultdict(Track)
        self.brokers: defaultdict[int, Track] = defaultdict(Track)
        self.controller = Track()
        self.losses = Losses()
        self.lag = Track()
        self._lags: dict[str, int] = {}
        self.rates = {name: Rate(max if name == "latency" else sum) for name in RATES}
        self._ranks: dict[str, int] = {}
        self._ranks_of: defaultdict[str, Counter[int]] = defaultdict(Counter)
        self._sent_us: dict[int, int] = {}
        self._view: _ReportingView | None = None
        self._takes: dict[type[Event], Callable[[Any], None]] = {
            events.ProduceSent: self._sent,
            events.ProduceAcknowledged: self._acknowledged,
            events.ProduceFailed: self._failed,
            events.RecordsConsumed: self._consumed,
            events.LeaderElected: lambda event: self._add("elected", event, 1),
            events.IsrChangeStarted: lambda event: self._add("isr", event, 1),
            events.LogTruncated: self._truncated,
            events.AuditChanged: self._audited,
            events.PartitionStateChanged: self._state_changed,
            events.BrokerStateChanged: lambda event: self.brokers[event.broker].put(
                event.time_us, event.state
            ),
            events.ControllerStateChanged: lambda event: self.brokers[event.controller].put(
                event.time_us, event.state
            ),
        }

    @property
    def is_kept(self) -> bool:
        """Whether the cluster is small enough to have strips."""
        return len(self.source.view.partitions) <= PARTITIONS_MAX

    @property
    def is_behind(self) -> bool:
        return self.is_kept and self._read_up_to < self.source.last_seq

    @property
    def share_read(self) -> float:
        """The share of all events that has been read, from 0 to 1."""
        return self._read_up_to / max(1, self.source.last_seq)

    @property
    def _read_up_to(self) -> int:
        return 0 if self._view is None else self._view.seq

    def read_on(self, budget_ms: float) -> None:
        """Read further, for a limited time."""
        if not self.is_kept:
            return
        view = self._view or self._begin()
        deadline = perf_counter() + budget_ms / 1_000
        while view.seq < self.source.last_seq and perf_counter() < deadline:
            events = self.source.events(view.seq + 1, view.seq + SLICE)
            for event in events:
                if (take := self._takes.get(type(event))) is not None:
                    take(event)  # before the view applies it: some handlers count what changes
                view.apply(event)
                if isinstance(event, MOVING_ENDS):
                    self._note_lag(event.tp, event.time_us)
                controller = controller_of(view.state)
                self.controller.put(event.time_us, NOBODY if controller is None else controller)
            if not events:
                return

    def _begin(self) -> "_ReportingView":
        """Begin with nothing; where the beginning was not kept, with what is at the cursor."""
        if self.source.first_seq <= 1:
            view = _ReportingView()
        else:
            view = _ReportingView.of(self.source.view.snapshot())
            for broker in view.state.brokers.values():
                self.brokers[broker.id].put(view.time_us, broker.state)
        view.report = self._note
        for partition in view.partitions.values():
            self._note(partition, view.flags(partition.name), view.time_us)
        self._view = view
        return view

    def _note(self, partition: PartitionState, flags: int | None, time_us: int) -> None:
        name, rank = partition.name, GONE if flags is None else rank_of(flags)
        self.partitions[name].put(time_us, rank)
        ranks = self._ranks_of[partition.topic]
        ranks[self._ranks.get(name, GONE)] -= 1
        ranks[rank] += 1
        self._ranks[name] = rank
        there = [rank for rank, count in ranks.items() if count > 0 and rank != GONE]
        self.topics[partition.topic].put(time_us, min(there, default=GONE))
        leader = NOBODY if partition.leader is None else partition.leader
        self.leaders[name].put(time_us, leader)

    # ---- rates

    def _note_lag(self, tp: str, time_us: int) -> None:
        """Keep the worst lag; a partition without a leader keeps what it had."""
        partition = None if self._view is None else self._view.partitions.get(tp)
        leader = None if partition is None else partition.leader_replica
        if leader is None:
            return
        lag = leader.log_end_offset - leader.high_watermark
        if lag > 0:
            self._lags[tp] = lag
        elif self._lags.pop(tp, None) is None:
            return
        worst = max(self._lags, key=self._lags.__getitem__, default="")
        self.lag.put(time_us, (self._lags.get(worst, 0), worst))

    def _add(self, name: str, event: Event, count: int) -> None:
        if count:
            self.rates[name].add(event.time_us, count)

    def _sent(self, event: events.ProduceSent) -> None:
        self._sent_us[event.first_record] = event.time_us

    def _acknowledged(self, event: events.ProduceAcknowledged) -> None:
        self._add("acknowledged", event, event.count)
        sent_us = self._sent_us.pop(event.first_record, None)
        if sent_us is not None:
            self._add("latency", event, event.time_us - sent_us)

    def _failed(self, event: events.ProduceFailed) -> None:
        self._sent_us.pop(event.first_record, None)

    def _consumed(self, event: events.RecordsConsumed) -> None:
        self._add("consumed", event, sum(count for _, count in event.runs))

    def _truncated(self, event: events.LogTruncated) -> None:
        self._add("truncated", event, event.previous - event.log_end_offset)
        view = self._view
        replica = None if view is None else view.replica_state(event.tp, event.broker)
        self.losses.truncated(event, replica)

    def _audited(self, event: events.AuditChanged) -> None:
        is_led = self._state_of(event.tp) != "offline"
        self._add("lost", event, self.losses.audited(event, is_led=is_led))

    def _state_changed(self, event: events.PartitionStateChanged) -> None:
        if event.leader >= 0 and self._state_of(event.tp) == "offline":
            view = self._view
            # Before schema 14 an audit found nothing lost while there was no leader.
            if view is not None and not view.partitions[event.tp].lost:
                self.losses.led_again(event.tp, event.seq)

    def _state_of(self, tp: str) -> str:
        partition = None if self._view is None else self._view.partitions.get(tp)
        return "" if partition is None else partition.state


class _ReportingView(ClusterView):
    """A read model that reports when the flags or the leader of a partition change."""

    report: Callable[[PartitionState, int | None, int], None]

    def judge(self, tp: str, partition: PartitionState) -> None:
        """Recompute the flags of a partition, and report them."""
        super().judge(tp, partition)
        self.report(partition, self.flags(tp), self.state.time_us)

    def remove_partition(self, tp: str) -> None:
        if (partition := self.partitions.get(tp)) is not None:
            self.report(partition, None, self.state.time_us)
        super().remove_partition(tp)


def rank_of(flags: int) -> int:
    """The severity of a partition with these flags."""
    if not flags:
        return HEALTHY
    return next(RANKS[name] for flag, name in (*BY_FLAG, *BY_MILD_FLAG) if flags & flag)
