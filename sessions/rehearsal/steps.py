"""The steps of a change: each partition's replicas, leader and ISR whenever they change."""

from msgspec import Struct

from emulator import events
from emulator.scenario.runner import Runner
from sessions.rehearsal.outcome import Requirements


class Step(Struct, frozen=True):
    """A partition at one moment of a change, ``seconds`` of virtual time after it began.

    ``leader`` is -1 if there is none. ``writable``: it has a leader, and min.insync.replicas in
    sync.
    """

    seconds: float
    tp: str
    replicas: tuple[int, ...]
    leader: int
    isr: tuple[int, ...]
    writable: bool


class Steps:
    """Follows a runner's partitions from now on; ``made`` are their steps, in order."""

    def __init__(self, runner: Runner, requirements: Requirements) -> None:
        """Follow ``runner``; ``requirements`` are those of its cluster."""
        self.runner = runner
        self.requirements = requirements
        self.begun_us = runner.now_us
        self.made: list[Step] = []
        kinds: list[type[events.Event]] = [events.PartitionStateChanged, events.ReplicasAssigned]
        runner.cluster.kernel.subscribe(self._changed, kinds)

    def _changed(self, event: events.PartitionStateChanged | events.ReplicasAssigned) -> None:
        tp, state = event.tp, self.runner.cluster.state.states.get(event.tp)
        if state is None:
            return
        replicas = self.runner.cluster.assigned(tp) or []
        leader, isr = state.leader, state.isr
        if isinstance(event, events.ReplicasAssigned):
            replicas = event.replicas
        else:
            leader, isr = event.leader, event.isr
        step = Step(
            round((event.time_us - self.begun_us) / 1_000_000, 3),
            tp,
            tuple(replicas),
            leader,
            tuple(isr),
            leader >= 0 and len(isr) >= self.requirements.min_isr(tp),
        )
        last = self.made[-1] if self.made else None
        if last is not None and (last.tp, last.seconds) == (tp, step.seconds):
            self.made.pop()  # what changes at once is one step
        self.made.append(step)
