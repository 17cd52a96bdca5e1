"""Runs the cases of a rehearsal on copies of one emulated cluster.

The cluster starts from its image and settles; each case is run on a copy of it. Brokers that are
lost together die at the same time, but the cluster misses them one after another: in KRaft mode in
the order of their last heartbeats, with ZooKeeper in that of their sessions' ends. That order is
chance, so such a case is run in several, and what differs is reported as a race.
"""

from collections.abc import Callable, Sequence
from typing import Final

from msgspec import Struct

from emulator import events
from emulator.cluster import Cluster
from emulator.cluster_image.image import ClusterImage
from emulator.inputs.statements import (
    AnyInput,
    ChangeController,
    CrashBroker,
    CreateCluster,
    Statement,
)
from emulator.releases.config import resolve
from emulator.releases.config_names import BrokerConfig
from emulator.restore.metadata_log import controller_ids
from emulator.scenario.runner import Runner
from sessions.rehearsal.cases import Case
from sessions.rehearsal.outcome import Outcome, Requirements, outcome_of, partitions_of

SETTLES_US: Final = 5_000_000
"""How long a cluster that starts from an image runs before the cases begin."""
MARGIN_US: Final = 5_000_000
"""How long a case goes on after everything that times out must have done so."""
TICK_US: Final = 1_000_000
"""By how much ZooKeeper ends sessions late at most."""
PINGS_PER_SESSION: Final = 3
"""How often a client of ZooKeeper pings within its session timeout (``ClientCnxn``)."""
QUORUM_US: Final = 5_000_000
"""How long the quorum takes at most to elect another leader, beside its fetch timeout."""


class Trial(Struct, frozen=True):
    """A case to run: its brokers in the order in which they are missed, or ``at_once``."""

    case: Case
    brokers: tuple[int, ...]
    at_once: bool = False


class Order(Struct, frozen=True):
    """One run of a case: its brokers in the order in which they were missed, or ``at_once``.

    ``seconds`` is when the last partition changed, in virtual time after the loss.
    """

    brokers: tuple[int, ...]
    at_once: bool
    outcome: Outcome
    seconds: float


class CaseRun(Struct, frozen=True):
    """All runs of a case."""

    case: Case
    orders: tuple[Order, ...]

    @property
    def races(self) -> list[str]:
        """The partitions whose outcome depends on the order, sorted."""
        first = self.orders[0].outcome.changed
        differing: set[str] = set()
        for order in self.orders[1:]:
            changed = order.outcome.changed
            differing |= {tp for tp in (*first, *changed) if first.get(tp) != changed.get(tp)}
        return sorted(differing)


class Runs(Struct, frozen=True):
    """The runs of all cases, and what becomes of the cluster if ``nothing`` is lost."""

    nothing: Outcome
    cases: list[CaseRun]


NOTHING: Final = Trial(Case("nothing", ()), ())


def trials_of(case: Case, mode: str | None) -> list[Trial]:
    """Return a case in all its orders, and with ZooKeeper all at once: sessions end together."""
    trials = [Trial(case, brokers) for brokers in case.orders()]
    if case.is_race and mode == "zk":
        trials.append(Trial(case, case.brokers, at_once=True))
    return trials


class Rehearsal:
    """One cluster, ready to lose what the cases name.

    ``settled`` is what its partitions are like before anything is lost, ``requirements`` what its
    topics require then.
    """

    def __init__(self, spec: CreateCluster, image: ClusterImage) -> None:
        """Start the cluster of ``spec``, whose complete image is ``image``, and let it settle."""
        self.image = image
        self.runner = Runner(Cluster(spec))
        self.controllers = controller_ids(image) if image.quorum is not None else {}
        self.runner.run_until(self.runner.now_us + SETTLES_US)
        self.settled = partitions_of(self.cluster)
        self.requirements = Requirements(self.cluster)
        config = self._config()
        self.detected_us = _detected_us(config, in_kraft_mode=image.mode == "kraft")
        self.horizon_us = self.detected_us + config.replica_lag_time_max_us * 3 // 2 + MARGIN_US
        self.apart_us = config.broker_heartbeat_interval_us
        if image.mode == "zk":
            self.apart_us = config.zookeeper_session_timeout_us // PINGS_PER_SESSION + 2 * TICK_US

    @property
    def cluster(self) -> Cluster:
        return self.runner.cluster

    def _config(self) -> BrokerConfig:
        settings = self.cluster.settings
        return resolve(settings.version, settings.defaults)

    def run(self, trial: Trial) -> Order:
        """Run a case in one order, on a copy of the cluster."""
        return self._run(trial, self.runner.fork())

    def run_last(self, trial: Trial) -> Order:
        """Run a case on the cluster itself, which is of no use for other cases afterwards."""
        return self._run(trial, self.runner)

    def _run(self, trial: Trial, runner: Runner) -> Order:
        case, brokers = trial.case, trial.brokers
        changed_us: list[int] = []
        runner.cluster.kernel.subscribe(
            lambda event: changed_us.append(event.time_us), [events.PartitionStateChanged]
        )
        begun_us = runner.now_us
        for controller in case.controllers:
            which = str(self.controllers[controller])
            _lose(runner, ChangeController(action="crash", which=which))
        for broker in brokers:
            _lose(runner, CrashBroker(broker=broker))
            if broker != brokers[-1] and not trial.at_once:
                runner.run_until(runner.now_us + self._apart_us(brokers))
        runner.run_until(runner.now_us + self.horizon_us)
        outcome = outcome_of(runner.cluster, self.settled)
        seconds = (max(changed_us, default=begun_us) - begun_us) / 1_000_000
        return Order(brokers, trial.at_once, outcome, seconds)

    def _apart_us(self, brokers: Sequence[int]) -> int:
        """How far apart brokers die so that the cluster misses them in order, but all in time."""
        return min(self.apart_us, self.detected_us // (2 * len(brokers)))


def _lose(runner: Runner, statement_input: AnyInput) -> None:
    runner.execute(Statement(statement_input, "lose"))


def _detected_us(config: BrokerConfig, *, in_kraft_mode: bool) -> int:
    """How long the loss of a process goes unnoticed at most."""
    if in_kraft_mode:
        fenced_us = config.broker_session_timeout_us + config.broker_heartbeat_interval_us
        return fenced_us + config.quorum_fetch_timeout_us + QUORUM_US
    return 2 * (config.zookeeper_session_timeout_us + 2 * TICK_US)


# ---- many cases

Progress = Callable[[int], None]
"""Is called with the number of trials that are done."""
RunTrials = Callable[[Sequence[Trial], Progress], Sequence[Order]]
"""Runs trials, and returns what came of each, in their order."""


def all_trials(cases: Sequence[Case], image: ClusterImage) -> list[Trial]:
    """Return the trial in which nothing is lost, and those of all cases."""
    return [NOTHING, *(trial for case in cases for trial in trials_of(case, image.mode))]


def run_cases(
    cases: Sequence[Case], image: ClusterImage, run: RunTrials, progress: Progress = lambda _: None
) -> Runs:
    """Run the cases; return their runs in the order of ``cases``."""
    trials = all_trials(cases, image)
    nothing, *ordered = run(trials, progress)
    orders: dict[Case, list[Order]] = {case: [] for case in cases}
    for trial, order in zip(trials[1:], ordered, strict=True):
        orders[trial.case].append(order)
    return Runs(nothing.outcome, [CaseRun(case, tuple(runs)) for case, runs in orders.items()])
