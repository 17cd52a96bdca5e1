"""The same cluster under other conditions: what would the same fault do there?

A setting is changed on a copy of the cluster, which then goes on for a while. Other clients or
another release have another past: there all statements since the beginning are given again, each at
its time.
"""

from collections import deque
from collections.abc import Sequence
from time import perf_counter
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from emulator.cluster import Cluster
from emulator.inputs.statements import AnyInput, CreateCluster, Produce, Statement
from emulator.releases.profiles import PROFILES
from emulator.scenario.runner import Advance, Runner
from sessions.model.cluster_view import ClusterView
from sessions.sources.forecast import Forecast, StartingPoint
from sessions.sources.pacing import advance_for

SETTLING_US: Final = 2_000_000
"""How long a changed setting is left alone before the fault."""
OLDER: Final = {False: "0.10.2", True: "3.9"}
"""The release to compare with, with and without ZooKeeper; or the one below."""
NEWER: Final = {False: "3.9", True: "4.1"}
UNCLEAN: Final = "unclean.leader.election.enable"
UNCLEANS: Final = (("on", "true"), ("off", "false"))
MIN_ISR: Final = "min.insync.replicas"


class Variant(Struct, frozen=True):
    """One set of conditions.

    ``settings`` are topics' configurations, ``acks`` those of all producers (-1: all), ``version``
    another release; None or empty: as they are.
    """

    title: str
    settings: dict[str, str] = {}
    acks: int | None = None
    version: str = ""

    @property
    def has_another_past(self) -> bool:
        """Whether the cluster has to be run again from its beginning."""
        return self.acks is not None or bool(self.version)


def variants_of(version: str, *, kraft: bool) -> list[Variant]:
    """The conditions under which a fault is compared, for a cluster of this release."""
    newer = NEWER[kraft]
    is_newest = version not in PROFILES or PROFILES[version].numbers >= PROFILES[newer].numbers
    other = OLDER[kraft] if is_newest else newer
    return [
        Variant("as it is"),
        *(Variant(f"unclean {word}", {UNCLEAN: value}) for word, value in UNCLEANS),
        *(Variant(f"min ISR {number}", {MIN_ISR: str(number)}) for number in (1, 2)),
        Variant("acks 1", acks=1),
        Variant("acks all", acks=-1),
        Variant(other, version=other),
    ]


class Trial:
    """One variant of a cluster, and the forecast of a fault in it, computed in steps.

    :attr:`forecast` is there once the variant is at the time at which the fault is given.
    """

    def __init__(
        self,
        variant: Variant,
        starting_point: StartingPoint,
        past: Sequence[tuple[int, Statement]],
        settings: Sequence[Statement],
        fault: Sequence[Statement],
    ) -> None:
        """Prepare the variant: ``past`` are all statements so far with their times.

        ``settings`` are the statements that make the settings.
        """
        self.variant = variant
        self.forecast: Forecast | None = None
        self._fault = fault
        self._view = ClusterView()
        self._queue: deque[tuple[int, Statement]] = deque()
        if variant.has_another_past:
            (_, first), *rest = past
            spec = input_under(variant, first.input)
            assert isinstance(spec, CreateCluster)
            self._runner = Runner(Cluster(spec, (self._view.apply,)))
            self._queue.extend(
                (time_us, _varied(variant, statement)) for time_us, statement in rest
            )
            self._until_us = max(starting_point.time_us, self._runner.now_us)
        else:
            begin = starting_point.begin
            self._runner, self._view = begin.runner.fork(), begin.view.copy()
            self._runner.cluster.subscribe(self._view.apply)
            self._queue.extend((self._runner.now_us, statement) for statement in settings)
            self._until_us = starting_point.time_us + SETTLING_US * bool(settings)

    def go_on(self, wall_seconds: float) -> bool:
        """Work for about this long; return whether the effect is known."""
        deadline = perf_counter() + wall_seconds
        if self.forecast is None and self._arrive(deadline):
            starting_point = StartingPoint(self._runner, self._view)
            self.forecast = starting_point.forecast(self._fault)
        seconds = deadline - perf_counter()
        return self.forecast is not None and self.forecast.go_on(max(0.0, seconds))

    def _arrive(self, deadline: float) -> bool:
        """Give what is due, and let time pass until the fault; False: there was not enough time."""
        while True:
            due_us = self._queue[0][0] if self._queue else self._until_us
            while self._runner.now_us < due_us:
                reached = advance_for(self._runner, due_us, max(0.0, deadline - perf_counter()))
                if reached is Advance.REACHED:
                    break
                if reached is not Advance.ENDED:
                    return False
            if not self._queue:
                return True
            self._runner.submit(self._queue.popleft()[1])


def input_under(variant: Variant, statement_input: AnyInput) -> AnyInput:
    """Return a statement as it is under other conditions."""
    if isinstance(statement_input, CreateCluster) and variant.version:
        return replace(statement_input, version=variant.version)
    if isinstance(statement_input, Produce) and variant.acks is not None:
        return replace(statement_input, acks=variant.acks)
    return statement_input


def _varied(variant: Variant, given: Statement) -> Statement:
    return Statement(input_under(variant, given.input), given.text)
