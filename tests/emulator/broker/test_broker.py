"""A broker as a process: what ends with it, what stays, and its timers."""

from emulator import events
from emulator.broker.broker import Broker, BrokerState
from emulator.broker_context import ProcessState
from emulator.inputs.statements import CrashBroker, Settle, StartBroker, Wait
from emulator.scenario.conditions import value_of
from tests.support.running import do, produce, replica, with_topic


def test_only_the_disk_outlives_the_process() -> None:
    cluster, _ = with_topic(1, 2)
    do(cluster, produce("a", count=2), Settle(), CrashBroker(broker=2))
    state = cluster.brokers[2].state
    fresh = BrokerState(ProcessState(2, "crashed"), state.replicas, clean_shutdown=False)
    assert state == fresh
    assert state.replicas["t-0"].log.end == 2
    assert not state.replicas["t-0"].is_known


def test_the_high_watermark_on_disk_is_as_old_as_the_last_checkpoint() -> None:
    cluster, _ = with_topic(1, 2)
    do(cluster, produce("a", count=2), Settle(quiet_us=6_000_000))
    assert cluster.brokers[2].state.replicas["t-0"].checkpointed_hw == 2
    do(cluster, produce("b"), CrashBroker(broker=2))
    assert value_of(cluster, replica("t-0", 2, "hw")) == 2
    assert value_of(cluster, replica("t-0", 2, "leo")) == 3


def test_a_checkpoint_states_only_what_changed() -> None:
    cluster, seen = with_topic(1, 2)
    do(cluster, produce("a"), Settle(quiet_us=6_000_000))
    seen.clear()
    do(cluster, Wait(duration_us=30_000_000))
    assert not any(isinstance(each, events.HighWatermarksCheckpointed) for each in seen)


def test_of_each_task_one_timer_is_pending() -> None:
    cluster, _ = with_topic(1, 2)
    broker = cluster.brokers[2]
    assert isinstance(broker, Broker)
    before = len(cluster.state.kernel.queue)
    broker.context.arm("fetch-backoff", cluster.now_us + 5_000)
    broker.context.arm("fetch-backoff", cluster.now_us + 9_000)
    assert len(cluster.state.kernel.queue) == before + 1
    broker.context.arm("fetch-backoff", cluster.now_us + 1_000)
    assert broker.state.process.timers.armed["fetch-backoff"] == cluster.now_us + 1_000


def test_a_restart_is_a_new_life() -> None:
    cluster, _ = with_topic(1, 2)
    before = cluster.state.kernel.hosts[2].incarnation
    do(cluster, CrashBroker(broker=2), StartBroker(broker=2), Settle())
    assert cluster.state.kernel.hosts[2].incarnation == before + 1
    assert cluster.broker_state(2) == "running"
