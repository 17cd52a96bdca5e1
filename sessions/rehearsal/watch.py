"""What becomes of partitions while something is done to their cluster."""

from emulator import events
from emulator.scenario.runner import Runner
from sessions.rehearsal.outcome import Requirements, partitions_of


class Watch:
    """Follows a runner's partitions from now on.

    ``least`` is the smallest ISR that each had, if that was smaller than before. ``still`` has
    those that cannot be written at the end.
    """

    def __init__(self, runner: Runner, requirements: Requirements) -> None:
        """Follow ``runner``; ``requirements`` are those of its cluster."""
        self.runner = runner
        self.requirements = requirements
        self.least: dict[str, int] = {}
        self.since_us: dict[str, int] = {}
        self.unwritable_us: dict[str, int] = {}
        self.still: list[str] = []
        partitions = partitions_of(runner.cluster)
        self.before = {tp: len(partition.isr) for tp, partition in partitions.items()}
        self.ignored = {
            tp
            for tp, partition in partitions.items()
            if not partition.online or len(partition.isr) < requirements.min_isr(tp)
        }
        runner.cluster.kernel.subscribe(self._changed, [events.PartitionStateChanged])

    def _changed(self, event: events.PartitionStateChanged) -> None:
        tp, size = event.tp, len(event.isr)
        if size < self.before.get(tp, 0):
            self.least[tp] = min(size, self.least.get(tp, size))
        self._look(tp, event.leader, size, event.time_us)

    def _look(self, tp: str, leader: int, size: int, now_us: int) -> None:
        if tp in self.ignored:
            return
        if leader < 0 or size < self.requirements.min_isr(tp):
            self.since_us.setdefault(tp, now_us)
        else:
            self._ends(tp, now_us)

    def require(self, requirements: Requirements) -> None:
        """Judge by other requirements from now on: configurations have changed."""
        self.requirements = requirements
        for tp, state in self.runner.cluster.state.states.items():
            self._look(tp, state.leader, len(state.isr), self.runner.now_us)

    def _ends(self, tp: str, now_us: int) -> None:
        since_us = self.since_us.pop(tp, None)
        if since_us is not None:
            self.unwritable_us[tp] = self.unwritable_us.get(tp, 0) + now_us - since_us

    def finish(self) -> dict[str, float]:
        """Return how long each partition was unwritable, in seconds."""
        self.still = list(self.since_us)
        for tp in self.still:
            self._ends(tp, self.runner.now_us)
        return {tp: us / 1_000_000 for tp, us in self.unwritable_us.items()}
