"""The event kernel: what is due when, in which order, and for whom."""

from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st

from emulator import events
from emulator.events import Event
from emulator.protocol import AnyMessage, Timer
from emulator.simulation.kernel import Host, Kernel, KernelState
from tests.support.stepping import run_until


class Recording:
    """An actor that notes what it is given, and does what it is told to."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self.got: list[tuple[int, str]] = []
        self.causes: list[int] = []
        self.then: Callable[[], None] | None = None

    def handle(self, source: int, message: AnyMessage) -> None:
        assert isinstance(message, Timer)
        self.got.append((self.kernel.now, message.task))
        self.causes.append(self.kernel.cause)
        if self.then is not None:
            self.then()


def made(seed: int = 1, hosts: int = 1) -> tuple[Kernel, list[Recording]]:
    """A kernel whose hosts 0, 1, .. run and record."""
    state = KernelState(seed, hosts={number: Host(number) for number in range(hosts)})
    kernel = Kernel(state)
    actors = [Recording(kernel) for _ in range(hosts)]
    kernel.actors = dict(enumerate(actors))
    for number in range(hosts):
        kernel.start_host(number)
    return kernel, actors


def test_what_is_due_earlier_comes_first() -> None:
    kernel, (actor,) = made()
    kernel.timer(0, 20, "later")
    kernel.timer(0, 10, "sooner")
    assert kernel.step()
    assert kernel.step()
    assert actor.got == [(10, "sooner"), (20, "later")]


def test_ties_are_broken_by_the_order_of_scheduling() -> None:
    kernel, (actor,) = made()
    for name in ("first", "second", "third"):
        kernel.timer(0, 5, name)
    run_until(kernel, 5)
    assert actor.got == [(5, "first"), (5, "second"), (5, "third")]


def test_without_anything_due_there_is_no_step() -> None:
    kernel, _ = made()
    assert kernel.next_due_us() is None
    assert not kernel.step()


def test_steps_count_what_was_dispatched() -> None:
    kernel, _ = made()
    for _ in range(3):
        kernel.timer(0, 1, "tick")
    run_until(kernel, 1)
    assert kernel.state.steps == 3


def test_a_process_that_ended_gets_nothing_of_its_earlier_life() -> None:
    kernel, (actor,) = made()
    kernel.timer(0, 10, "old life")
    kernel.end_host(0)
    kernel.start_host(0)
    kernel.timer(0, 10, "new life")
    run_until(kernel, 10)
    assert actor.got == [(10, "new life")]


def test_a_frozen_process_finds_everything_in_order_when_it_thaws() -> None:
    kernel, (actor,) = made()
    kernel.freeze_host(0)
    for delay_us in (30, 10, 20):
        kernel.timer(0, delay_us, str(delay_us))
    run_until(kernel, 40)
    assert actor.got == []
    kernel.thaw_host(0)
    run_until(kernel, 40)
    assert actor.got == [(40, "10"), (40, "20"), (40, "30")]


def test_a_frozen_process_that_is_killed_finds_nothing() -> None:
    kernel, (actor,) = made()
    kernel.freeze_host(0)
    kernel.timer(0, 10, "lost")
    run_until(kernel, 10)
    kernel.end_host(0)
    kernel.start_host(0)
    run_until(kernel, 20)
    assert actor.got == []


def test_what_an_actor_schedules_at_once_comes_after_what_was_due() -> None:
    kernel, (actor, other) = made(hosts=2)
    actor.then = lambda: kernel.timer(1, 0, "from the first")
    kernel.timer(0, 5, "first")
    kernel.timer(1, 5, "second")
    run_until(kernel, 5)
    assert other.got == [(5, "second"), (5, "from the first")]


def test_the_same_seed_draws_the_same_numbers() -> None:
    first, _ = made(seed=7)
    again, _ = made(seed=7)
    other, _ = made(seed=8)
    drawn = [first.random() for _ in range(20)]
    assert drawn == [again.random() for _ in range(20)]
    assert drawn != [other.random() for _ in range(20)]


@given(seed=st.integers(0, 2**64 - 1), limit=st.integers(1, 1000))
def test_a_draw_stays_below_its_limit(seed: int, limit: int) -> None:
    kernel, _ = made(seed=seed)
    assert all(0 <= kernel.random_below(limit) < limit for _ in range(10))


def test_draws_are_spread_evenly() -> None:
    kernel, _ = made(seed=3)
    counts = [0] * 10
    for _ in range(10_000):
        counts[kernel.random_below(10)] += 1
    assert all(900 < count < 1100 for count in counts)


def test_events_are_numbered_without_gaps_and_name_their_cause() -> None:
    kernel, _ = made()
    seen: list[Event] = []
    kernel.subscribe(seen.append)
    kernel.cause = kernel.emit(events.BookmarkSet, "one", "")
    kernel.emit(events.BookmarkSet, "two", "")
    assert [(each.seq, each.cause) for each in seen] == [(1, 0), (2, 1)]


def test_an_event_counts_even_if_nobody_looks() -> None:
    kernel, _ = made()
    assert kernel.emit(events.BookmarkSet, "unseen", "") == 1
    assert kernel.emit(events.BookmarkSet, "unseen", "") == 2


def test_an_observer_of_one_kind_is_given_no_other() -> None:
    kernel, _ = made()
    seen: list[Event] = []
    kernel.subscribe(seen.append, [events.BookmarkSet])
    kernel.emit(events.BookmarkSet, "wanted", "")
    kernel.emit(events.TimerFired, 0, "isr-expiration")
    assert [type(each) for each in seen] == [events.BookmarkSet]


def test_an_observer_that_comes_late_sees_what_follows() -> None:
    kernel, _ = made()
    kernel.emit(events.BookmarkSet, "before", "")
    seen: list[Event] = []
    kernel.subscribe(seen.append)
    kernel.emit(events.BookmarkSet, "after", "")
    assert [each.seq for each in seen] == [2]


def test_only_changes_count_as_activity() -> None:
    kernel, _ = made()
    run_until(kernel, 100)
    kernel.emit(events.TimerFired, 0, "isr-expiration")
    assert kernel.state.activity_us == 0
    kernel.emit(events.BrokerStateChanged, 0, "running")
    assert kernel.state.activity_us == 100


def test_a_message_carries_its_cause_to_who_takes_it() -> None:
    kernel, (actor,) = made()
    cause = kernel.emit(events.BookmarkSet, "why", "")
    kernel.schedule(5, 0, Timer("told"), cause, 0)
    run_until(kernel, 5)
    assert actor.causes == [cause]
    assert kernel.cause == 0


def test_a_timer_that_had_an_effect_is_the_cause_of_it() -> None:
    kernel, _ = made()
    seen: list[Event] = []
    kernel.subscribe(seen.append)
    kernel.fired(0, "isr-expiration")
    kernel.emit(events.BookmarkSet, "effect", "")
    assert [type(each) for each in seen] == [events.TimerFired, events.BookmarkSet]
    assert seen[1].cause == seen[0].seq
