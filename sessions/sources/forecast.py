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

from emulator.events import Event, PartitionStateChanged
from emulator.inputs.statements import CreateCluster, Statement
from emulator.releases.config import resolve
from emulator.scenario.runner import Advance, Runner, Ticket
from sessions.model.cluster_view import ClusterView
from sessions.model.health import STATUSES, Counts
from sessions.sources.pacing import advance_for, run_for

BRIEF_US: Final = 100_000
"""Shorter conditions are not counted: an election in progress."""
BEYOND_US: Final = 5_000_000
"""How far a forecast runs beyond the longest timeout in the cluster's settings."""


class Change(Struct, frozen=True):
    """A partition whose final state differs: its state and its leader, without and with it."""

    tp: str
    without: str
    status: str
    leader_without: int | None
    leader: int | None

    @property
    def severity(self) -> int:
        """The place of its state in the table of states, 0 the worst."""
        return STATUSES.index(self.status)


class Effect(Struct, frozen=True):
    """What a statement changes, beside what would change without it.

    ``now`` are the counts before it; ``after`` those when ``seconds`` have passed; ``worst`` the
    highest of each in between, as far as it lasted. ``unserved`` partitions are leaderless
    right after it, and none of them is left after ``unserved_us`` (None: ``unserved_left`` are to
    the end). ``moved`` change their leader. ``lost``, ``duplicated`` and ``diverged`` are numbers
    of records. ``controller`` is the controller afterwards, None if it does not change.
    ``changes`` are the partitions that end otherwise, the worst first. ``refused`` is why the
    cluster would not do it at all.
    """

    now: Counts
    after: Counts
    worst: Counts
    seconds: int
    unserved: int = 0
    unserved_us: int | None = 0
    moved: int = 0
    lost: int = 0
    duplicated: int = 0
    diverged: int = 0
    controller: int | None = None
    changes: tuple[Change, ...] = ()
    refused: str = ""
    unserved_left: int = 0


class Copy:
    """A copy of a cluster with its own read model, which runs independently."""

    def __init__(self, runner: Runner, view: ClusterView) -> None:
        """Copy the cluster in its current state; ``view`` has seen all of its events."""
        self.runner = runner.fork()
        self.view = view.copy()
        self.view.history = []
        self._worst: Counts | None = None
        self.elected_us = self.runner.now_us
        self.runner.cluster.subscribe(self._note)

    def _note(self, event: Event) -> None:
        self.view.apply(event)
        if isinstance(event, PartitionStateChanged):
            self.elected_us = event.time_us

    def records(self) -> tuple[int, int, int]:
        """How many records are lost, duplicated, and diverged."""
        partitions = self.view.state.partitions.values()
        return (
            sum(len(each.lost) for each in partitions),
            sum(len(each.duplicated) for each in partitions),
            sum(len(each.diverged) for each in partitions),
        )

    def worst(self) -> Counts:
        """The highest of each count since the copy was made, as far as it lasted."""
        if self._worst is None:
            moves = self.view.settle_history()
            ends = [time_us for _, time_us, _ in moves[1:]]
            pairs = zip(moves, ends, strict=False)
            lasting = [each for (_, at, each), end in pairs if end - at >= BRIEF_US]
            seen = [*lasting, self.view.counts()]
            columns = zip(*(_numbers(counts) for counts in seen), strict=True)
            self._worst = Counts(*(max(column) for column in columns))
        return self._worst

    def leaders(self) -> dict[str, int | None]:
        """The leader of each partition, as its znode says."""
        return {tp: each.leader for tp, each in self.view.state.partitions.items()}

    def unserved(self) -> int:
        """How many partitions are leaderless, as :mod:`sessions.model.health` defines it."""
        return self.view.counts().leaderless


class Outlook:
    """A snapshot of a cluster, from which any number of forecasts start.

    What would happen anyway is computed once for all of them. Until it is copied the cluster must
    be paused: ``release`` is called when it may continue. Copying a large one takes seconds, and
    may be done in a thread.
    """

    def __init__(
        self, runner: Runner, view: ClusterView, release: Callable[[], None] | None = None
    ) -> None:
        """Look ahead from here; ``view`` has seen all events of the runner's cluster."""
        self.time_us = runner.now_us
        self.until_us = runner.now_us + horizon_us(runner.cluster.spec)
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

    @cached_property
    def plain(self) -> "Copy":
        """The copy without the statement."""
        return Copy(self.begin.runner, self.begin.view)

    def forecast(self, statements: Sequence[Statement]) -> "Forecast":
        """Return a forecast for these statements."""
        return Forecast(self, statements)


class Forecast:
    """One forecast: call :meth:`go_on` until it is done, then :attr:`effect` is available."""

    def __init__(self, outlook: Outlook, statements: Sequence[Statement]) -> None:
        """Run the first statement on a copy of the cluster; no time has passed yet.

        Each of the others is run when the previous one has ended.
        """
        self.effect: Effect | None = None
        self._tried = Copy(outlook.begin.runner, outlook.begin.view)
        self._plain = outlook.plain
        self._now = self._tried.view.counts()
        self._seq = self._tried.view.seq
        self._begin_us, self._until_us = outlook.time_us, outlook.until_us
        self._refused = ""
        self._left = deque(statements)
        self._given: Ticket | None = None
        self._unserved = 0
        self._give()

    def _give(self) -> None:
        """Run statements up to the first that takes time; a rejection ends the line."""
        while self._left and not self._refused and (self._given is None or self._given.done):
            self._given = self._tried.runner.submit(self._left.popleft())
            outcome = self._given.outcome
            if outcome is not None and outcome.refused:
                self._refused = outcome.message or outcome.error
        unserved = self._tried.unserved() - self._now.leaderless
        self._unserved = max(self._unserved, unserved)

    @property
    def share(self) -> float:
        """The fraction that is done, from 0 to 1."""
        gone = sum(copy.runner.now_us - self._begin_us for copy in (self._plain, self._tried))
        return min(1.0, gone / (2 * (self._until_us - self._begin_us)))

    def go_on(self, wall_seconds: float) -> bool:
        """Work for about this long; return whether the effect is known."""
        deadline = perf_counter() + wall_seconds
        while True:
            left = max(0.0, deadline - perf_counter())
            came = advance_for(self._tried.runner, self._until_us, left)
            if came is not Advance.ENDED:
                break
            self._give()
        left = max(0.0, deadline - perf_counter())
        if came is not Advance.REACHED or not run_for(self._plain.runner, self._until_us, left):
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
        controllers = plain.view.state.controller.broker, tried.view.state.controller.broker
        left = max(0, tried.unserved() - plain.unserved())
        return Effect(
            now=self._now,
            after=_shift(self._now, plain.view.counts(), tried.view.counts()),
            worst=_shift(self._now, plain.worst(), tried.worst()),
            seconds=(self._until_us - self._begin_us) // 1_000_000,
            unserved=self._unserved,
            unserved_us=None if left else tried.elected_us - self._begin_us,
            moved=sum(leader != before.get(tp) for tp, leader in after.items()),
            lost=lost,
            duplicated=duplicated,
            diverged=diverged,
            controller=None if controllers[0] == controllers[1] else controllers[1],
            changes=tuple(self._changes()),
            refused=self._refused,
            unserved_left=left,
        )

    def _changes(self) -> list[Change]:
        plain, tried = self._plain.view, self._tried.view
        found = []
        for tp, partition in tried.partitions.items():
            other = plain.partitions.get(tp)
            if other is None or not (partition.changed > self._seq or other.changed > self._seq):
                continue
            change = Change(
                tp, plain.status(other), tried.status(partition), other.leader, partition.leader
            )
            if change.status != change.without or change.leader != change.leader_without:
                found.append(change)
        return sorted(found, key=lambda change: (change.severity, change.tp))


def horizon_us(spec: CreateCluster) -> int:
    """How far to look ahead: until sessions have expired, and the ISR has been looked at."""
    config = resolve(spec.version, spec.config)
    lag_us = config.replica_lag_time_max_us
    return config.zookeeper_session_timeout_us + lag_us * 3 // 2 + BEYOND_US


def _shift(now: Counts, plain: Counts, tried: Counts) -> Counts:
    """The counts now, changed by what the statement makes different."""
    numbers = zip(_numbers(now), _numbers(plain), _numbers(tried), strict=True)
    return Counts(*(at + with_it - without for at, without, with_it in numbers))


def _numbers(counts: Counts) -> tuple[int, ...]:
    return tuple(getattr(counts, name) for name in Counts.__struct_fields__)
