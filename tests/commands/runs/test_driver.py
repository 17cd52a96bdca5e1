import signal
from collections.abc import Callable

import pytest

from commands.language.parser import parse_script
from commands.runs.driver import Driver, Pace, TimeLimitError
from emulator.cluster import Cluster
from emulator.inputs.statements import Settle, Statement, Wait
from emulator.scenario.runner import Runner

TEXT = """
cluster --seed 5
topic create t --partitions 2 --replication-factor 3
wait until t-0.leader == 0
produce t --count 5 --value v --acks all
broker crash 0
wait 9s
produce t --count 5 --value w --acks all --retries 3
settle
"""


def nothing() -> None:
    """Look at nothing."""


def runner_of(text: str) -> Runner:
    return Runner(Cluster(parse_script(text, "x.tide").spec))


def driven(pace: Pace, look: Callable[[], None] = nothing) -> Runner:
    script, runner = parse_script(TEXT, "x.tide"), runner_of(TEXT)
    with Driver(runner, pace, look) as driver:
        for step in script.steps:
            assert isinstance(step, Statement)
            driver.execute(step)
    return runner


def executed() -> Runner:
    script, runner = parse_script(TEXT, "x.tide"), runner_of(TEXT)
    for step in script.steps:
        assert isinstance(step, Statement)
        runner.execute(step)
    return runner


def test_a_driven_cluster_is_the_one_that_executes_by_itself() -> None:
    driven_one, executed_one = driven(Pace()), executed()
    assert driven_one.state_hash == executed_one.state_hash
    assert driven_one.steps == executed_one.steps


def test_speed_changes_nothing_but_the_wall_clock() -> None:
    looks = 0

    def look() -> None:
        nonlocal looks
        looks += 1

    assert driven(Pace(speed=1_000), look).state_hash == executed().state_hash
    assert looks > 0


def test_a_time_limit_breaks_off_a_long_wait() -> None:
    runner = runner_of("cluster")
    driver = Driver(runner, Pace(limit_us=1), nothing)
    with driver, pytest.raises(TimeLimitError):
        driver.execute(Statement(Wait(duration_us=10**15), "wait"))


def test_a_slow_speed_can_be_broken_off() -> None:
    runner = runner_of("cluster")
    driver = Driver(runner, Pace(speed=0.001, limit_us=1), nothing)
    with driver, pytest.raises(TimeLimitError):
        driver.execute(Statement(Settle(), "settle"))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_and_termination_break_off_between_two_events(number: signal.Signals) -> None:
    runner = runner_of("cluster")
    before = signal.getsignal(number)
    driver = Driver(runner, Pace(), lambda: signal.raise_signal(number))
    with driver, pytest.raises(KeyboardInterrupt):
        driver.execute(Statement(Wait(duration_us=10**15), "wait"))
    assert signal.getsignal(number) is before
    assert runner.fork().state_hash == runner.state_hash
