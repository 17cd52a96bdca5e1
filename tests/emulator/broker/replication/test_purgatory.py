"""The purgatory alone: what is watched, completed once, and expired in order."""

from types import SimpleNamespace
from typing import cast

from emulator.broker.replication.purgatory import (
    DelayedOperation,
    DelayedOperationPurgatory,
    PurgatoryState,
)
from emulator.broker_context import BrokerContext
from emulator.protocol import AnyMessage, Timer
from emulator.simulation.kernel import Host, Kernel, KernelState
from emulator.simulation.timers import Timers, TimerState

TASK = "timeout"


class Waiting(DelayedOperation, frozen=True):
    """An operation that is watched under ``partitions``."""

    partitions: tuple[str, ...]


class Room:
    """A purgatory whose operations are complete once their client stands in ``ready``."""

    def __init__(self) -> None:
        self.kernel = Kernel(KernelState(random_state=1, hosts={0: Host(0, up=True)}))
        self.kernel.actors = {0: self}
        self.timers = Timers(self.kernel, 0, TimerState())
        self.state = PurgatoryState()
        self.ready: set[int] = set()
        self.responses: list[tuple[int, str]] = []
        context = cast(BrokerContext, SimpleNamespace(timers=self.timers, kernel=self.kernel))
        self.purgatory = DelayedOperationPurgatory[Waiting, str](
            context,
            self.state,
            TASK,
            partitions=lambda waiting: waiting.partitions,
            try_complete=lambda waiting: "done" if waiting.client in self.ready else None,
            on_expiration=lambda _waiting: "too late",
            on_complete=self._on_response,
        )

    def _on_response(self, waiting: Waiting, response: str) -> None:
        self.responses.append((waiting.request, response))
        for tp in waiting.partitions:  # a response may change what others wait for
            self.purgatory.check_and_complete(tp)

    def handle(self, _source: int, message: AnyMessage) -> None:
        assert isinstance(message, Timer)
        if self.timers.is_due(message):
            self.purgatory.expire()

    def wait(self, request: int, *tps: str, client: int = 7, timeout_us: int = 100) -> None:
        self.purgatory.try_complete_else_watch(Waiting(request, client, tps), timeout_us)

    def run(self) -> None:
        while self.kernel.step():
            pass


def test_an_operation_that_is_complete_at_once_is_never_watched() -> None:
    room = Room()
    room.ready.add(7)
    room.wait(1, "t-0")
    assert room.responses == [(1, "done")]
    assert room.state == PurgatoryState()


def test_an_operation_without_time_is_tried_and_then_expires_at_once() -> None:
    room = Room()
    room.wait(1, "t-0", timeout_us=0)
    room.ready.add(7)
    room.wait(2, "t-0", timeout_us=0)
    assert room.responses == [(1, "too late"), (2, "done")]
    assert room.state == PurgatoryState()


def test_any_of_its_partitions_completes_an_operation_and_only_once() -> None:
    room = Room()
    room.wait(1, "t-0", "t-1")
    room.wait(2, "t-1")
    room.purgatory.check_and_complete("t-1")
    assert room.responses == []
    room.ready.add(7)
    room.purgatory.check_and_complete("t-9")
    assert room.responses == []
    room.purgatory.check_and_complete("t-0")
    assert room.responses == [(1, "done"), (2, "done")]
    room.run()
    assert room.responses == [(1, "done"), (2, "done")]
    assert room.state == PurgatoryState()


def test_operations_expire_at_their_time_and_at_the_same_time_in_the_order_they_came() -> None:
    room = Room()
    room.wait(1, "t-1", timeout_us=200)
    room.wait(2, "t-0", timeout_us=100)
    room.wait(3, "t-1", timeout_us=100)
    room.run()
    assert room.responses == [(2, "too late"), (3, "too late"), (1, "too late")]
    assert room.kernel.now == 200


def test_an_operation_without_partitions_is_checked_by_its_request() -> None:
    room = Room()
    room.wait(1)
    room.wait(2)
    room.purgatory.check(1)
    assert room.responses == []
    room.ready.add(7)
    room.purgatory.check(2)
    room.purgatory.check(9)
    assert room.responses == [(2, "done")]
    assert list(room.state.operations) == [1]
