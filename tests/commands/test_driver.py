import signal
from collections.abc import Callable

import pytest

from commands.driver import Driver, Pace, TimeLimitError
from commands.parser import parse_script
from emulator.cluster import Cluster
from emulator.inputs.statements import Settle, Statement, Wait

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


def driven(pace: Pace, look: Callable[[], None] = nothing) -> Cluster:
    script = parse_script(TEXT, "x.tide")
    cluster = Cluster(script.spec)
    with Driver(cluster, pace, look) as driver:
        for step in script.steps:
            assert isinstance(step, Statement)
            driver.execute(step)
    return cluster


def executed() -> Cluster:
    script = parse_script(TEXT, "x.tide")
    cluster = Cluster(script.spec)
    for step in script.steps:
        assert isinstance(step, Statement)
        cluster.execute(step)
    return cluster


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
    cluster = Cluster(parse_script("cluster", "x.tide").spec)
    driver = Driver(cluster, Pace(limit_us=1), nothing)
    with driver, pytest.raises(TimeLimitError):
        driver.execute(Statement(Wait(duration_us=10**15), "wait"))


def test_a_slow_speed_can_be_broken_off() -> None:
    cluster = Cluster(parse_script("cluster", "x.tide").spec)
    driver = Driver(cluster, Pace(speed=0.001, limit_us=1), nothing)
    with driver, pytest.raises(TimeLimitError):
        driver.execute(Statement(Settle(), "settle"))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_and_termination_break_off_between_two_events(number: signal.Signals) -> None:
    cluster = Cluster(parse_script("cluster", "x.tide").spec)
    before = signal.getsignal(number)
    driver = Driver(cluster, Pace(), lambda: signal.raise_signal(number))
    with driver, pytest.raises(KeyboardInterrupt):
        driver.execute(Statement(Wait(duration_us=10**15), "wait"))
    assert signal.getsignal(number) is before
    assert cluster.fork().state_hash == cluster.state_hash
