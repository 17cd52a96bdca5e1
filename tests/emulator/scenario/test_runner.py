"""The runner: when statements end, what is remembered of them, and what copies go on with."""

import msgspec
import pytest

from emulator.cluster import Cluster
from emulator.events import Event, InputFinished, InputReceived
from emulator.inputs.conditions import Clause, Subject
from emulator.inputs.statements import (
    AnyInput,
    Consume,
    CrashBroker,
    CreateCluster,
    CreateTopic,
    DeleteTopic,
    ExpectError,
    FetchRound,
    HoldMessages,
    Mark,
    Produce,
    ReleaseMessages,
    Settle,
    StartBroker,
    Statement,
    StopBroker,
    Tick,
    Wait,
    WaitUntil,
)
from emulator.scenario.pending import NEVER_US, JobFinished
from emulator.scenario.runner import Advance, Runner, RunnerState
from tests.support.running import QUICK, until

SECOND_US = 1_000_000


def given(wanted: AnyInput, text: str = "") -> Statement:
    return Statement(wanted, text or type(wanted).__name__)


def made(*inputs: AnyInput, stepwise: bool = False) -> tuple[Runner, list[Event]]:
    """A cluster with topic ``t`` on brokers 1 and 2, to which this has happened."""
    seen: list[Event] = []
    spec = CreateCluster(brokers=3, config=QUICK, stepwise=stepwise)
    runner = Runner(Cluster(spec, [seen.append]))
    topic = CreateTopic(topic="t", assignment=[[1, 2]])
    for each in (topic, Wait(duration_us=3 * SECOND_US), *inputs):
        runner.execute(given(each))
    return runner, seen


def words(seen: list[Event]) -> list[str]:
    """What was given and what has ended, in order."""
    told = [each for each in seen if isinstance(each, InputReceived | InputFinished)]
    return [f"{'+' if isinstance(each, InputReceived) else '-'}{each.text}" for each in told]


# ---- when a statement ends


@pytest.mark.parametrize(
    "wanted",
    [
        Wait(duration_us=SECOND_US),
        WaitUntil(clauses=[Clause(Subject("cluster", "", "offline"), ">", 9)], within_us=SECOND_US),
    ],
    ids=["wait", "wait until"],
)
def test_time_that_was_asked_for_ends_after_all_that_is_due_at_its_end(wanted: AnyInput) -> None:
    runner, seen = made()
    begun_us = runner.now_us
    for order, host in ((1, 0), (2, 1), (3, 2)):
        runner.kernel.timer(host, SECOND_US, "nothing", number=order)
    ticket = runner.submit(given(wanted))
    steps = runner.steps
    while not ticket.done:
        runner.advance(begun_us + SECOND_US, budget=1)
    assert runner.now_us == begun_us + SECOND_US
    assert runner.steps >= steps + 3
    next_us = runner.cluster.next_time_us
    assert next_us is not None
    assert next_us > runner.now_us
    assert isinstance(seen[-1], InputFinished)


def test_a_condition_ends_its_statement_right_after_the_event_that_makes_it_hold() -> None:
    runner, _ = made(CrashBroker(broker=1))
    ticket = runner.submit(given(until("t-0", "leader", 2)))
    steps = runner.steps
    while not ticket.done:
        assert runner.cluster.state_of("t-0") is not None
        runner.advance(budget=1)
        steps += 1
    info = runner.cluster.state_of("t-0")
    assert info is not None
    assert info.leader == 2
    assert runner.steps == steps


def test_a_statement_that_ends_at_once_can_end_one_that_waits_for_it() -> None:
    runner, seen = made()
    gone = WaitUntil(
        clauses=[Clause(Subject("zk", "/admin/delete_topics/t", "exists"), "==", True)]
    )
    waiting = runner.submit(given(gone))
    runner.submit(given(DeleteTopic(topic="t")))
    assert waiting.done
    assert words(seen)[-4:] == ["+WaitUntil", "+DeleteTopic", "-DeleteTopic", "-WaitUntil"]


def test_statements_that_end_at_one_moment_have_all_ended_before_another_is_given() -> None:
    runner, seen = made()
    until_us = runner.now_us + SECOND_US
    runner.submit(given(Wait(duration_us=SECOND_US), "a"))
    runner.submit(
        given(
            WaitUntil(
                clauses=[Clause(Subject("cluster", "", "offline"), ">", 9)], within_us=SECOND_US
            ),
            "b",
        )
    )
    runner.submit(given(Settle(quiet_us=SECOND_US), "c"))
    runner.run_until(until_us)
    assert runner.advance(until_us) is Advance.REACHED
    runner.submit(given(Mark(name="here"), "d"))
    assert words(seen)[-8:] == ["+a", "+b", "+c", "-a", "-b", "-c", "+d", "-d"]


def test_a_wait_of_nothing_ends_when_the_moment_is_over() -> None:
    runner, _ = made()
    runner.kernel.timer(0, 0, "nothing", number=1)
    ticket = runner.submit(given(Wait(duration_us=0)))
    assert not ticket.done
    assert runner.advance() is Advance.ENDED
    assert ticket.done


def test_a_quiet_time_begins_again_with_whatever_happens_at_its_last_microsecond() -> None:
    runner, _ = made()
    runner.run_until(runner.now_us + 3 * SECOND_US)
    begun_us = runner.now_us
    ticket = runner.submit(given(Settle(quiet_us=SECOND_US)))
    runner.run_until(begun_us + SECOND_US // 2)
    runner.cluster.state.kernel.activity_us = runner.now_us
    runner.run_until(begun_us + SECOND_US)
    assert len(runner.state.open) == 1
    runner.run_until(begun_us + SECOND_US + SECOND_US // 2)
    assert ticket.done


# ---- letting time pass


def test_why_time_stopped_is_said() -> None:
    runner, _ = made()
    assert runner.advance(runner.now_us) is Advance.REACHED
    assert runner.advance(runner.now_us + 60 * SECOND_US, budget=3) is Advance.BUDGET
    runner.submit(given(Wait(duration_us=SECOND_US)))
    assert runner.advance() is Advance.ENDED
    runner.cluster.state.kernel.queue.clear()
    assert runner.advance() is Advance.IDLE


def test_what_comes_next_is_an_event_or_the_end_of_a_statements_time() -> None:
    runner, _ = made()
    assert runner.next_us == runner.cluster.next_time_us
    runner.submit(given(Wait(duration_us=1)))
    assert runner.next_us == runner.now_us + 1
    runner.cluster.state.kernel.queue.clear()
    runner.run_until(runner.now_us + 1)
    assert runner.next_us is None


def test_a_place_between_two_events_is_found_again() -> None:
    first, _ = made()
    again = first.fork()
    first.advance(budget=17)
    first.run_until(first.now_us)
    while not again.return_to(first.now_us, first.steps, budget=2):
        pass
    assert again.state_hash == first.state_hash


# ---- what is remembered


OPEN: tuple[AnyInput, ...] = (
    Wait(duration_us=5 * SECOND_US),
    Tick(task="isr"),
    Settle(quiet_us=5 * SECOND_US),
    until("t-0", "leo", 7),
    StartBroker(broker=0),
    StopBroker(broker=2),
    Produce(topic="t", value="v", acks=-1),
    Consume(topic="t"),
    FetchRound(tp="t-0", broker=2, times=2),
)


@pytest.mark.parametrize("wanted", OPEN, ids=lambda each: type(each).__name__)
def test_a_copy_goes_on_with_what_is_under_way(wanted: AnyInput) -> None:
    runner, seen = made(CrashBroker(broker=0))
    runner.submit(given(wanted))
    assert len(runner.state.open) == 1
    fork = runner.fork()
    later: list[Event] = []
    fork.cluster.subscribe(later.append)
    copied, before = len(seen), runner.state_hash
    fork.run_until(fork.now_us + 130 * SECOND_US)
    assert runner.state_hash == before
    assert len(runner.state.open) == 1
    runner.run_until(runner.now_us + 130 * SECOND_US)
    assert len(runner.state.open) == 0
    assert later == seen[copied:]
    assert fork.state_hash == runner.state_hash


def test_a_copy_remembers_the_last_error() -> None:
    runner, _ = made(CrashBroker(broker=9))
    outcome = runner.fork().execute(given(ExpectError(error="BROKER_NOT_AVAILABLE")))
    assert outcome.passed


def test_what_a_runner_remembers_is_plain_data() -> None:
    runner, _ = made(CrashBroker(broker=0))
    for wanted in OPEN:
        runner.submit(given(wanted))
    encoded = msgspec.msgpack.encode(runner.state)
    decoded = msgspec.msgpack.decode(encoded, type=RunnerState)
    assert msgspec.msgpack.encode(decoded) == encoded
    assert [each.pending for each in decoded.open] == [each.pending for each in runner.state.open]
    assert len(decoded.open) == len(OPEN)


def test_the_hash_covers_what_is_under_way_and_not_how_it_is_worded() -> None:
    runner, _ = made()
    hashes = []
    for text, seconds in (("a", 5), ("b", 5), ("b", 6)):
        fork = runner.fork()
        fork.submit(Statement(Wait(duration_us=seconds * SECOND_US), text))
        hashes.append(fork.state_hash)
    assert hashes[0] == hashes[1] != hashes[2]
    refused = runner.fork()
    refused.execute(given(CrashBroker(broker=9)))
    plain = runner.fork()
    plain.execute(given(Mark(name="x")))
    plain.execute(given(Wait(duration_us=0)))
    assert refused.state_hash != plain.state_hash


def test_nothing_is_kept_of_jobs_that_have_ended() -> None:
    runner, _ = made(
        Produce(topic="t", value="a", count=3, background=True),
        Wait(duration_us=SECOND_US),
        Produce(topic="t", value="b"),
        Consume(topic="t"),
    )
    assert runner.cluster.clients.state.producers["p1"].acked == 4
    assert runner.cluster.clients.state.finished == {}
    assert runner.state.open == []


def test_a_job_is_waited_for_without_a_time() -> None:
    runner, _ = made(HoldMessages(source=-2, destination=1))
    ticket = runner.submit(given(Consume(topic="t")))
    assert isinstance(ticket.pending, JobFinished)
    assert ticket.pending.wake_us == NEVER_US
    runner.execute(given(ReleaseMessages(source=-2, destination=1)))


def test_a_round_of_a_replica_that_is_gone_is_refused() -> None:
    runner, _ = made(stepwise=True)
    hold = HoldMessages(source=1, destination=2, api="FetchResponse")
    runner.execute(given(hold))
    ticket = runner.submit(given(FetchRound(tp="t-0", broker=2, times=2)))
    runner.cluster.brokers[2].state.core.fetchers.single_rounds.clear()
    del runner.cluster.brokers[2].state.replicas["t-0"]
    runner.run_until(runner.now_us + SECOND_US)
    assert ticket.outcome is not None
    assert (ticket.outcome.error, ticket.outcome.refused) == ("UNKNOWN_TOPIC_OR_PARTITION", True)


@pytest.mark.parametrize(
    ("setting", "error"), [("false", "TOPIC_DELETION_DISABLED"), ("true", "NONE")]
)
def test_a_deletion_that_is_disabled_is_not_told_as_done(setting: str, error: str) -> None:
    """kafka-topics warns of it; the controller removes the mark and keeps the topic."""
    spec = CreateCluster(version="0.9", config={"delete.topic.enable": setting})
    runner = Runner(Cluster(spec, []))
    runner.execute(given(CreateTopic(topic="t", partitions=1, replication_factor=1)))
    outcome = runner.execute(given(DeleteTopic(topic="t")))
    assert (outcome.error, outcome.refused) == (error, False)
    runner.execute(given(Wait(duration_us=2 * SECOND_US)))
    assert ("t" in runner.cluster.topics()) is (setting == "false")
