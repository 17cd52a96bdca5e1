"""What becomes of partitions while something is done to their cluster."""

from emulator import events
from emulator.scenario.runner import Runner
from sessions.rehearsal.outcome import Requirements, partitions_of


class Watch:
    """Follows a runner's partitions from now on.

    ``least`` is the smallest ISR that each had, if that was smaller than before.
    """

    def __init__(self, runner: Runner, requirements: Requirements) -> None:
        """Follow ``runner``; ``requirements`` are those of its cluster."""
        self.runner = runner
        self.requirements = requirements
        self.least: dict[str, int] = {}
        self.since_us: dict[str, int] = {}
        self.unwritable_us: dict[str, int] = {}
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
        if tp in self.ignored:
            return
        if event.leader < 0 or size < self.requirements.min_isr(tp):
            self.since_us.setdefault(tp, event.time_us)
        else:
            self._ends(tp, event.time_us)

    def _ends(self, tp: str, now_us: int) -> None:
        since_us = self.since_us.pop(tp, None)
        if since_us is not None:
            self.unwritable_us[tp] = self.unwritable_us.get(tp, 0) + now_us - since_us

    def finish(self) -> dict[str, float]:
        """Return how long each partition was unwritable, in seconds."""
        for tp in list(self.since_us):
            self._ends(tp, self.runner.now_us)
        return {tp: us / 1_000_000 for tp, us in self.unwritable_us.items()}
