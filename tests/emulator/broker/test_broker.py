"""A broker as a process: what ends with it, what stays, and its timers."""

from emulator import events
from emulator.broker.broker import Broker, BrokerState
from emulator.broker.core import CoreState
from emulator.broker.zookeeper_membership.membership import ZooKeeperMembershipState
from emulator.broker_context import ProcessState
from emulator.inputs.statements import CrashBroker, Settle, StartBroker, StopBroker, Wait
from emulator.scenario.conditions import value_of
from tests.support.running import do, produce, replica, with_topic


def test_only_the_disk_outlives_the_process() -> None:
    cluster, _ = with_topic(1, 2)
    do(cluster, produce("a", count=2), Settle(), CrashBroker(broker=2))
    state = cluster.brokers[2].state
    fresh = BrokerState(
        ProcessState(2, "crashed"),
        ZooKeeperMembershipState(),
        CoreState(state.replicas, clean_shutdown=False),
    )
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


def test_a_broker_writes_its_recovery_points_after_30_s_at_a_truncation_and_when_it_stops() -> None:
    cluster, seen = with_topic(1, 2)
    do(cluster, produce("a", count=2), Wait(duration_us=28_000_000))
    stored = cluster.brokers[2].state.replicas["t-0"]
    assert stored.recovery_point == -1
    do(cluster, Wait(duration_us=4_000_000))
    assert stored.recovery_point == 0
    do(cluster, StopBroker(broker=2))
    assert stored.recovery_point == 2
    do(cluster, StartBroker(broker=2), Settle(), CrashBroker(broker=2), StartBroker(broker=2))
    assert stored.recovery_point == 2
    written = [each for each in seen if isinstance(each, events.RecoveryPointsCheckpointed)]
    assert [each.recovery_points for each in written if each.broker == 2] == [
        {"t-0": 0},
        {"t-0": 2},
    ]


def test_a_checkpoint_has_the_entries_of_replicas_without_a_record() -> None:
    cluster, seen = with_topic(1, 2)
    do(cluster, Wait(duration_us=6_000_000))
    written = [each for each in seen if isinstance(each, events.HighWatermarksCheckpointed)]
    assert [each.high_watermarks for each in written if each.broker == 1] == [{"t-0": 0}]


def test_a_leader_reads_then_notes_the_followers_position_then_moves_its_hw() -> None:
    cluster, seen = with_topic(1, 2)
    do(cluster, produce("a"), Settle())
    seen.clear()
    do(cluster, produce("b", count=2, acks=1), Settle())
    kinds = (events.RecordsRead, events.RemoteLogEndOffsetChanged, events.HighWatermarkChanged)
    told = [each for each in seen if isinstance(each, kinds) and each.broker == 1]
    assert isinstance(told[0], events.RecordsRead)
    assert (told[0].follower, told[0].offset) == (2, 1)
    assert sum(each.count for each in told if isinstance(each, events.RecordsRead)) == 2
