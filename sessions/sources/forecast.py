"""Forecast the effect of a statement by running it on a copy of the cluster, ahead of time.

A second copy runs without it for the same time, so that what would have happened anyway is not
attributed to the statement. None of this affects the cluster itself.
"""

from collections import deque
from collections.abc import Callable, Sequence
from functools import cached_property
from time import perf_counter
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from emulator.inputs.statements import CreateCluster, Statement
from emulator.releases.config import resolve
from emulator.scenario.runner import Advance, Runner, Ticket
from sessions.model.cluster_view import ClusterView
from sessions.model.health import STATUSES, WRITES, Counts, writes_of
from sessions.model.quorum import controller_of
from sessions.model.states import PartitionState
from sessions.model.waiting import config_of
from sessions.sources.pacing import advance_for, run_for

BRIEF_US: Final = 100_000
"""Shorter conditions are not counted: an election in progress."""
BEYOND_US: Final = 5_000_000
"""How far a forecast runs beyond the longest timeout in the cluster's settings."""


class Change(Struct, frozen=True):
    """A partition for which the statement makes a difference.

    Its final state and leader, without and with it; what becomes of its writes meanwhile at worst
    (:data:`sessions.model.health.WRITES`), for ``writes_us`` longer than without (None: to the
    end), and in the end if that differs; and how many more records it loses. ``from_a_write``:
    nobody writes, and the first write ends it, after ``writes_us`` at the latest.
    """

    tp: str
    without: str
    status: str
    leader_without: int | None
    leader: int | None
    writes: str = "ok"
    writes_us: int | None = 0
    lost: int = 0
    writes_after: str = "ok"
    from_a_write: bool = False

    @property
    def rank(self) -> tuple[int, int]:
        """The severity by the state of writes and of the partition; 0 is the worst."""
        return WRITES.index(self.writes), STATUSES.index(self.status)


class Effect(Struct, frozen=True):
    """The effect of a statement, compared with the course without it.

    ``now`` are the counts before it; ``after`` those when ``seconds`` have passed; ``worst`` the
    highest of each in between, as far as it lasted. ``moved`` change their leader. ``lost``,
    ``duplicated`` and ``diverged`` are numbers of records. ``controller`` is the controller
    afterwards, None if it does not change. ``changes`` are the partitions that end otherwise, or
    whose writes are held up meanwhile, the worst first: all numbers of partitions without a leader,
    and of those whose writes are refused or wait, are counted from these. ``refused`` is why the
    cluster would not do it at all.
    """

    now: Counts
    after: Counts
    worst: Counts
    seconds: int
    moved: int = 0
    lost: int = 0
    duplicated: int = 0
    diverged: int = 0
    controller: int | None = None
    changes: tuple[Change, ...] = ()
    refused: str = ""

    def of_writes(self, writes: str) -> list[Change]:
        """The partitions whose writes come to that at worst, or in the end."""
        return [change for change in self.changes if writes in (change.writes, change.writes_after)]

    @property
    def unserved(self) -> int:
        """How many partitions nobody serves for a while."""
        return len(self.of_writes("nobody"))


def longest(changes: Sequence[Change]) -> int | None:
    """For how long writes are held up at worst, at most; None: to the end."""
    times = [change.writes_us for change in changes]
    return None if None in times else max((us for us in times if us is not None), default=0)


class Copy:
    """A copy of a cluster with its own read model, which runs independently."""

    def __init__(self, runner: Runner, view: ClusterView) -> None:
        """Copy the cluster in its current state; ``view`` has seen all of its events."""
        self.runner = runner.fork()
        self.view = view.copy()
        self.view.history = []
        self.view.judged = self._judged
        self._worst: Counts | None = None
        self._begin_us = self.runner.now_us
        self._since_us: dict[str, int] = {}
        self._spent: dict[str, dict[str, int]] = {}
        self.runner.cluster.subscribe(self.view.apply)

    def _judged(self, tp: str, before: int, flags: int) -> None:
        writes = writes_of(before)
        if writes != writes_of(flags):
            self._spent[tp] = self._with(tp, writes, self.view.time_us)
            self._since_us[tp] = self.view.time_us

    def _with(self, tp: str, writes: str, until_us: int) -> dict[str, int]:
        """The times spent until then, if the last one came to ``writes``."""
        spent = self._spent.get(tp, {})
        last_us = until_us - self._since_us.get(tp, self._begin_us)
        return spent | {writes: spent.get(writes, 0) + last_us}

    def spent(self, tp: str) -> dict[str, int]:
        """For how long writes to a partition came to what."""
        return self._with(tp, writes_of(self.view.flags(tp)), self.runner.now_us)

    def records(self) -> tuple[int, int, int]:
        """How many records are lost, duplicated, and diverged."""
        partitions = self.view.state.partitions.values()
        return (
            sum(partition.lost_count for partition in partitions),
            sum(len(partition.duplicated) for partition in partitions),
            sum(len(partition.diverged) for partition in partitions),
        )

    def worst(self) -> Counts:
        """The highest of each count since the copy was made, as far as it lasted."""
        if self._worst is None:
            moves = self.view.settle_history()
            ends = [time_us for _, time_us, _ in moves[1:]]
            pairs = zip(moves, ends, strict=False)
            lasting_counts = [counts for (_, at, counts), end in pairs if end - at >= BRIEF_US]
            all_counts = [*lasting_counts, self.view.counts()]
            columns = zip(*(_numbers(counts) for counts in all_counts), strict=True)
            self._worst = Counts(*(max(column) for column in columns))
        return self._worst

    def leaders(self) -> dict[str, int | None]:
        """The leader of each partition, as its znode says."""
        return {tp: partition.leader for tp, partition in self.view.state.partitions.items()}


class StartingPoint:
    """A snapshot of a cluster, from which any number of forecasts start.

    What would happen anyway is computed once for all of them. Until it is copied the cluster must
    be paused: ``release`` is called when it may continue. Copying a large one takes seconds, and
    may be done in a thread. ``time_us`` is the time in the source from which it looks ahead.
    """

    def __init__(
        self, runner: Runner, view: ClusterView, release: Callable[[], None] | None = None
    ) -> None:
        """Look ahead from here; ``view`` has seen all events of the runner's cluster."""
        self.time_us = runner.now_us
        self._runner, self._view = runner, view.copy()
        self._release = release

    @cached_property
    def begin(self) -> "Copy":
        """The cluster in its current state; nothing happens to it."""
        try:
            return Copy(self._runner, self._view)
        finally:
            if self._release is not None:
                self._release()

    @property
    def until_us(self) -> int:
        """How far it looks, in the virtual time of the copy."""
        runner = self.begin.runner
        return runner.now_us + horizon_us(runner.cluster.spec)

    @cached_property
    def plain(self) -> "Copy":
        """The copy without the statement."""
        return Copy(self.begin.runner, self.begin.view)

    def forecast(self, statements: Sequence[Statement]) -> "Forecast":
        return Forecast(self, statements)


class Forecast:
    """One forecast: call :meth:`go_on` until it is done, then :attr:`effect` is available."""

    def __init__(self, start: StartingPoint, statements: Sequence[Statement]) -> None:
        """Run the first statement on a copy of the cluster; no time has passed yet.

        Each of the others is run when the previous one has ended.
        """
        self.effect: Effect | None = None
        self._tried = Copy(start.begin.runner, start.begin.view)
        self._plain = start.plain
        self._now = self._tried.view.counts()
        self._seq = self._tried.view.seq
        self._begin_us, self._until_us = start.begin.runner.now_us, start.until_us
        self._refused = ""
        self._remaining = deque(statements)
        self._ticket: Ticket | None = None
        self._give()

    def _give(self) -> None:
        """Run statements up to the first that takes time; a rejection ends the line."""
        while self._remaining and not self._refused and (self._ticket is None or self._ticket.done):
            self._ticket = self._tried.runner.submit(self._remaining.popleft())
            outcome = self._ticket.outcome
            if outcome is not None and outcome.refused:
                self._refused = outcome.message or outcome.error

    @property
    def share(self) -> float:
        """The fraction that is done, from 0 to 1."""
        elapsed_us = sum(copy.runner.now_us - self._begin_us for copy in (self._plain, self._tried))
        return min(1.0, elapsed_us / (2 * (self._until_us - self._begin_us)))

    def go_on(self, wall_seconds: float) -> bool:
        """Work for about this long; return whether the effect is known."""
        deadline = perf_counter() + wall_seconds
        while True:
            seconds = max(0.0, deadline - perf_counter())
            reached = advance_for(self._tried.runner, self._until_us, seconds)
            if reached is not Advance.ENDED:
                break
            self._give()
        seconds = max(0.0, deadline - perf_counter())
        if reached is not Advance.REACHED or not run_for(
            self._plain.runner, self._until_us, seconds
        ):
            return False
        if self.effect is None:
            self.effect = self._compared()
        return True

    def _compared(self) -> Effect:
        plain, tried = self._plain, self._tried
        before, after = plain.leaders(), tried.leaders()
        lost, duplicated, diverged = (
            max(0, with_it - without)
            for with_it, without in zip(tried.records(), plain.records(), strict=True)
        )
        controllers = controller_of(plain.view.state), controller_of(tried.view.state)
        return Effect(
            now=self._now,
            after=_shift(self._now, plain.view.counts(), tried.view.counts()),
            worst=_shift(self._now, plain.worst(), tried.worst()),
            seconds=(self._until_us - self._begin_us) // 1_000_000,
            moved=sum(leader != before.get(tp) for tp, leader in after.items()),
            lost=lost,
            duplicated=duplicated,
            diverged=diverged,
            controller=None if controllers[0] == controllers[1] else controllers[1],
            changes=tuple(self._changes()),
            refused=self._refused,
        )

    def _changes(self) -> list[Change]:
        plain, tried = self._plain.view, self._tried.view
        changes = []
        for tp, partition in tried.partitions.items():
            other = plain.partitions.get(tp)
            if other is None or not (partition.changed > self._seq or other.changed > self._seq):
                continue
            writes, writes_us = self._held_up(tp)
            lost = max(0, partition.lost_count - other.lost_count)
            ends = plain.status(other), tried.status(partition)
            leaders = other.leader, partition.leader
            if ends[0] != ends[1] or leaders[0] != leaders[1] or writes != "ok" or lost:
                after = writes_of(tried.flags(tp))
                after = "ok" if after == writes_of(plain.flags(tp)) else after
                change = Change(tp, *ends, *leaders, writes, writes_us, lost, after)
                changes.append(self._until_written(change, partition))
        return sorted(changes, key=lambda change: (change.rank, change.tp))

    def _until_written(self, change: Change, partition: PartitionState) -> Change:
        """Say when waiting ends once somebody writes: a follower in the ISR then lags."""
        is_idle = change.writes == "waiting" and not partition.has_uncommitted
        if change.writes_us is not None or not is_idle or self._tried.view.counts().trouble:
            return change
        lag_us = config_of(self._tried.view.state).replica_lag_time_max_us
        return replace(change, writes_us=lag_us * 3 // 2, from_a_write=True)

    def _held_up(self, tp: str) -> tuple[str, int | None]:
        """The worst state of a partition's writes, and how much longer it lasts than without."""
        spent, anyway = self._tried.spent(tp), self._plain.spent(tp)
        last = writes_of(self._tried.view.flags(tp))
        for writes in WRITES:
            more_us = spent.get(writes, 0) - anyway.get(writes, 0)
            if more_us >= BRIEF_US:
                return writes, None if writes == last else more_us
        return "ok", 0


def horizon_us(spec: CreateCluster) -> int:
    """How far to look ahead: until sessions have expired, and the ISR has been looked at."""
    config = resolve(spec.version, spec.config)
    lag_us = config.replica_lag_time_max_us
    return config.zookeeper_session_timeout_us + lag_us * 3 // 2 + BEYOND_US


def _shift(now: Counts, plain: Counts, tried: Counts) -> Counts:
    """The counts now, changed by what the statement makes different."""
    numbers = zip(_numbers(now), _numbers(plain), _numbers(tried), strict=True)
    shifted = Counts(*(at + with_it - without for at, without, with_it in numbers))
    return replace(shifted, trouble=tried.trouble)


def _numbers(counts: Counts) -> tuple[int, ...]:
    return tuple(getattr(counts, name) for name in Counts.__struct_fields__)
