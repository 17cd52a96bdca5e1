"""Let time pass in a kernel alone; of a cluster, :class:`emulator.scenario.runner.Runner` does."""

from emulator.simulation.kernel import Kernel


def run_until(kernel: Kernel, time_us: int) -> None:
    """Dispatch all that is due up to and including ``time_us``, and let it be that time."""
    while (due_us := kernel.next_due_us()) is not None and due_us <= time_us:
        kernel.step()
    kernel.state.now_us = max(kernel.now, time_us)
