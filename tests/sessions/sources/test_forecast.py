"""What a statement would do, found out on a copy: the cluster itself never notices."""

import pytest

from emulator.cluster import Cluster
from emulator.inputs.statements import (
    AnyInput,
    ChangeController,
    CrashBroker,
    CreateCluster,
    CreateTopic,
    CutLink,
    FreezeBroker,
    PauseReplica,
    Produce,
    Settle,
    StartBroker,
    Statement,
    StopBroker,
    Wait,
)
from emulator.scenario.runner import Runner
from sessions.model.authority import TROUBLES
from sessions.model.cluster_view import ClusterView
from sessions.sources.forecast import Effect, StartingPoint, horizon_us, longest

TOPICS = (
    CreateTopic(
        topic="t", assignment=[[1, 2], [2, 1], [1, 2]], config={"min.insync.replicas": "2"}
    ),
    CreateTopic(topic="alone", assignment=[[1]]),
)


def made(*inputs: AnyInput, version: str = "2.4") -> tuple[Runner, ClusterView]:
    view = ClusterView()
    runner = Runner(Cluster(CreateCluster(brokers=3, version=version), [view.apply]))
    for each in (*inputs, Settle()):
        runner.execute(Statement(each, type(each).__name__))
    return runner, view


def effect_of(runner: Runner, view: ClusterView, *inputs: AnyInput) -> Effect:
    forecast = StartingPoint(runner, view).forecast([Statement(each, "x") for each in inputs])
    assert forecast.share == 0
    for _ in range(1_000):
        if forecast.go_on(0.05):
            break
    assert forecast.effect is not None
    assert forecast.share == 1.0
    return forecast.effect


def test_a_crash_takes_partitions_below_their_min_isr_and_others_offline() -> None:
    effect = effect_of(*made(*TOPICS), CrashBroker(broker=1))
    assert effect.after.under_min_isr - effect.now.under_min_isr == 3
    assert effect.after.offline == 1
    assert effect.after.brokers_up == 2
    assert (effect.moved, effect.unserved) == (3, 3)
    assert {each.tp: (each.writes, each.writes_after) for each in effect.changes} == {
        "alone-0": ("nobody", "nobody"),
        "t-0": ("nobody", "refused"),
        "t-1": ("refused", "refused"),
        "t-2": ("nobody", "refused"),
    }
    assert len(effect.of_writes("refused")) == effect.after.under_min_isr - effect.now.under_min_isr
    assert effect.lost == effect.diverged == 0


def test_writes_over_a_cut_link_wait_until_one_makes_the_follower_lag() -> None:
    """While nobody writes, a follower that does not fetch stays in the ISR."""
    topic = CreateTopic(topic="t", assignment=[[1, 2]])
    cut = CutLink(source=1, destination=2)
    (idle,) = effect_of(*made(topic), cut).changes
    assert (idle.writes, idle.from_a_write) == ("waiting", True)
    (written,) = effect_of(
        *made(topic), cut, Produce(topic="t", acks=-1, value="x", background=True)
    ).changes
    assert (written.writes, written.writes_after, written.from_a_write) == ("waiting", "ok", False)
    assert idle.writes_us is not None
    assert written.writes_us is not None
    assert idle.writes_us / 3 < written.writes_us <= idle.writes_us + 1_000_000


def test_it_says_for_how_long_nobody_serves() -> None:
    effect = effect_of(*made(TOPICS[0]), CrashBroker(broker=1))
    assert effect.unserved == 2
    unserved_us = longest(effect.of_writes("nobody"))
    assert unserved_us is not None
    assert 2_000_000 < unserved_us < 7_000_000
    effect = effect_of(*made(TOPICS[0]), StopBroker(broker=1))
    stopped = longest(effect.of_writes("nobody"))
    assert stopped is not None
    assert stopped < 150_000, "an election takes no longer"


def test_a_follower_that_dies_moves_no_leader() -> None:
    topic = CreateTopic(topic="t", assignment=[[1, 2]])
    effect = effect_of(*made(topic), CrashBroker(broker=2))
    assert (effect.moved, effect.unserved, effect.after.under_replicated) == (0, 0, 1)


def test_the_controllers_end_is_told() -> None:
    assert effect_of(*made(), CrashBroker(broker=0)).controller in (1, 2)
    assert effect_of(*made(), CrashBroker(broker=2)).controller is None


def test_records_that_only_the_leader_has_are_lost_with_it() -> None:
    topic = CreateTopic(topic="t", assignment=[[1, 2]])
    runner, view = made(topic, Produce(topic="t", acks=1))
    runner.execute(Statement(PauseReplica(tp="t-0", broker=2), "pause"))
    runner.execute(Statement(Produce(topic="t", acks=1, value="x"), "produce"))
    effect = effect_of(runner, view, CrashBroker(broker=1))
    assert (effect.lost, effect.moved) == (1, 1)
    assert [(each.tp, each.lost) for each in effect.changes] == [("t-0", 1)]


def test_what_would_have_happened_anyway_is_not_blamed_on_the_statement() -> None:
    runner, view = made(TOPICS[0])
    runner.execute(Statement(CrashBroker(broker=1), "crash"))
    effect = effect_of(runner, view, FreezeBroker(broker=0))
    assert effect.after.under_min_isr == effect.now.under_min_isr
    assert effect.moved == 0


def test_the_partitions_that_end_otherwise_are_named_the_worst_first() -> None:
    effect = effect_of(*made(*TOPICS), CrashBroker(broker=1))
    told = [(each.tp, each.without, each.status, each.leader) for each in effect.changes]
    assert told == [
        ("alone-0", "healthy", "offline", -1),
        ("t-0", "healthy", "under_min_isr", 2),
        ("t-2", "healthy", "under_min_isr", 2),
        ("t-1", "healthy", "under_min_isr", 2),
    ]
    assert {each.leader_without for each in effect.changes} == {1, 2}


def test_of_several_statements_each_is_given_when_the_one_before_has_ended() -> None:
    both = effect_of(*made(*TOPICS), CrashBroker(broker=1), CrashBroker(broker=2))
    assert both.after.offline == 4
    assert both.unserved == 4
    runner, view = made(*TOPICS, CrashBroker(broker=1))
    healed = effect_of(runner, view, StartBroker(broker=1), StopBroker(broker=1))
    assert healed.refused == ""
    assert healed.changes == ()


def test_a_broker_that_comes_back_heals_its_partitions() -> None:
    runner, view = made(*TOPICS, CrashBroker(broker=1))
    runner.execute(Statement(Wait(duration_us=30_000_000), "wait"))
    effect = effect_of(runner, view, StartBroker(broker=1))
    assert effect.now.under_replicated - effect.after.under_replicated == 3
    assert {each.status for each in effect.changes} <= {"healthy", "non_preferred"}


def test_the_cluster_itself_stays_as_it_is() -> None:
    runner, view = made(*TOPICS)
    before, seq = runner.state_hash, view.seq
    effect_of(runner, view, CrashBroker(broker=1))
    assert runner.state_hash == before
    assert view.seq == seq


def test_what_the_cluster_would_refuse_says_why() -> None:
    runner, view = made(CrashBroker(broker=1))
    effect = effect_of(runner, view, FreezeBroker(broker=1))
    assert effect.refused
    assert effect.moved == 0


@pytest.mark.parametrize(("version", "seconds"), [("2.4", 26), ("3.9", 68)])
def test_it_looks_as_far_as_sessions_and_the_isr_take(version: str, seconds: int) -> None:
    assert horizon_us(CreateCluster(version=version)) == seconds * 1_000_000


def test_a_quorum_whose_only_controller_crashes_is_lost() -> None:
    view = ClusterView()
    cluster = Cluster(CreateCluster(brokers=3, version="3.9", mode="kraft"), [view.apply])
    runner = Runner(cluster)
    runner.execute(Statement(Settle(), "settle"))
    forecast = effect_of(runner, view, ChangeController(action="crash", which="active"))
    assert TROUBLES[forecast.after.trouble] == "quorum lost"
    assert not forecast.now.trouble
