"""A host's timers: few kernel events for many deadlines, and none of them missed."""

from emulator.protocol import AnyMessage, Timer
from emulator.simulation.kernel import Host, Kernel, KernelState
from emulator.simulation.timers import Timers, TimerState
from tests.support.stepping import run_until

TASK = "request-timeout"


class Process:
    """An actor that notes what of its only task is overdue, and when."""

    def __init__(self) -> None:
        self.kernel = Kernel(KernelState(1, hosts={0: Host(0)}))
        self.kernel.actors = {0: self}
        self.kernel.start_host(0)
        self.timers = Timers(self.kernel, 0, TimerState())
        self.overdue: list[tuple[int, list[str | int]]] = []

    def handle(self, source: int, message: AnyMessage) -> None:
        assert isinstance(message, Timer)
        if self.timers.is_due(message):
            self.overdue.append((self.kernel.now, self.timers.overdue(message.task)))


def test_deadlines_share_one_kernel_event_and_are_all_met() -> None:
    process = Process()
    for number in range(3):
        process.timers.set_deadline(TASK, number, 10 + 5 * number)
    assert len(process.kernel.state.queue) == 1
    run_until(process.kernel, 100)
    assert process.overdue == [(10, [0]), (15, [1]), (20, [2])]


def test_what_is_due_together_comes_in_the_order_in_which_it_was_set() -> None:
    process = Process()
    for of in ("b", "a", "c"):
        process.timers.set_deadline(TASK, of, 10)
    run_until(process.kernel, 100)
    assert process.overdue == [(10, ["b", "a", "c"])]


def test_an_earlier_deadline_takes_the_place_of_the_pending_event() -> None:
    process = Process()
    process.timers.set_deadline(TASK, "late", 20)
    process.timers.set_deadline(TASK, "early", 10)
    run_until(process.kernel, 100)
    assert process.overdue == [(10, ["early"]), (20, ["late"])]


def test_a_deadline_put_off_is_met_at_its_later_time() -> None:
    process = Process()
    process.timers.set_deadline(TASK, "", 10)
    process.timers.set_deadline(TASK, "", 30)
    assert process.timers.deadline_of(TASK, "") == 30
    run_until(process.kernel, 100)
    assert process.overdue == [(10, []), (30, [""])]


def test_a_cleared_deadline_is_not_overdue() -> None:
    process = Process()
    process.timers.set_deadline(TASK, "a", 10)
    process.timers.set_deadline(TASK, "b", 20)
    process.timers.clear_deadline(TASK, "a")
    assert process.timers.deadline_of(TASK, "a") is None
    run_until(process.kernel, 100)
    assert process.overdue == [(10, []), (20, ["b"])]
