"""How leaders change the ISR, release by release."""

import json

import pytest

from emulator import events
from emulator.broker.replication.alter_partition_manager import ALTER_RETRY_US
from emulator.inputs.statements import (
    FreezeBroker,
    HoldMessages,
    PauseReplica,
    ResumeReplica,
    Settle,
    ThawBroker,
    Wait,
)
from emulator.protocol import AlterPartitionRequest
from emulator.releases.profiles import VERSIONS
from emulator.scenario.conditions import value_of
from emulator.zookeeper.data import state_json, state_path
from tests.support.memberships import zookeeper_membership, zookeeper_state
from tests.support.running import do, partition, produce, until, with_topic

SECOND_US = 1_000_000


def test_a_state_znode_has_kafkas_order_and_no_spaces() -> None:
    text = state_json(0, 8, [0], 21)
    assert text == '{"controller_epoch":21,"leader":0,"version":1,"leader_epoch":8,"isr":[0]}'
    assert len(text) == 73
    assert json.loads(text)["leader_epoch"] == 8


def test_a_partitions_state_has_its_place() -> None:
    assert state_path("a-b-3") == "/brokers/topics/a-b/partitions/3/state"


@pytest.mark.parametrize("version", VERSIONS)
def test_a_follower_that_stops_fetching_leaves_the_isr_and_comes_back(version: str) -> None:
    cluster, _ = with_topic(1, 2, 3, version=version)
    do(cluster, PauseReplica(tp="t-0", broker=3), produce("a", acks=1))
    do(cluster, until("t-0", "isr", [1, 2]))
    do(cluster, ResumeReplica(tp="t-0", broker=3), until("t-0", "isr", [1, 2, 3]), Settle())
    assert value_of(cluster, partition("t-0", "version")) == 2
    assert value_of(cluster, partition("t-0", "epoch")) == 0


@pytest.mark.parametrize(("version", "asks"), [("2.5", False), ("2.7", True), ("3.9", True)])
def test_from_2_7_leaders_ask_the_controller(version: str, *, asks: bool) -> None:
    cluster, seen = with_topic(1, 2, version=version)
    do(cluster, PauseReplica(tp="t-0", broker=2), produce("a", acks=1), until("t-0", "isr", [1]))
    asked = [e for e in seen if isinstance(e, events.MessageSent) and "AlterPartition" in e.name]
    assert bool(asked) is asks


@pytest.mark.parametrize(("version", "leaves"), [("2.0.1", True), ("2.1", False), ("3.9", False)])
def test_from_2_1_a_silent_follower_that_has_everything_stays(
    version: str, *, leaves: bool
) -> None:
    cluster, _ = with_topic(1, 2, version=version)
    do(cluster, produce("a"), Settle(), PauseReplica(tp="t-0", broker=2))
    do(cluster, Wait(duration_us=60 * SECOND_US))
    assert (value_of(cluster, partition("t-0", "isr")) == [1]) is leaves


def test_a_change_waits_for_a_controller_that_does_not_answer() -> None:
    cluster, _ = with_topic(1, 2)
    config = cluster.brokers[1].context.config
    do(cluster, PauseReplica(tp="t-0", broker=2), produce("a", acks=1), FreezeBroker(broker=0))
    do(cluster, Wait(duration_us=2 * config.replica_lag_time_max_us))
    do(cluster, ThawBroker(broker=0), until("t-0", "isr", [1]), Wait(duration_us=SECOND_US))
    assert zookeeper_state(cluster, 1).alter_partition.pending == {}
    assert ALTER_RETRY_US == 50_000


def test_a_request_without_a_response_is_made_again_even_soon_after_one_that_had_one() -> None:
    cluster, seen = with_topic(1, 2, 3)

    def requests() -> int:
        return sum(
            isinstance(e, events.MessageSent) and e.name == "AlterPartitionRequest" for e in seen
        )

    do(cluster, PauseReplica(tp="t-0", broker=3), produce("a", acks=1))
    do(cluster, until("t-0", "isr", [1, 2]), Wait(duration_us=SECOND_US))
    answered = requests()
    do(cluster, HoldMessages(source=0, destination=1, api="AlterPartitionResponse"))
    do(cluster, ResumeReplica(tp="t-0", broker=3), Wait(duration_us=SECOND_US))
    assert requests() == answered + 1
    timeout_us = cluster.brokers[1].context.config.controller_socket_timeout_us
    do(cluster, Wait(duration_us=timeout_us))
    assert requests() == answered + 2


@pytest.mark.parametrize("version", ["0.8.2", "2.5", "2.7", "3.9"])
def test_a_removal_is_caused_by_the_periodic_task_and_an_addition_by_a_fetch(version: str) -> None:
    cluster, seen = with_topic(1, 2, 3, version=version)
    do(cluster, PauseReplica(tp="t-0", broker=3), produce("a", acks=1))
    do(cluster, until("t-0", "isr", [1, 2]))
    do(cluster, ResumeReplica(tp="t-0", broker=3), until("t-0", "isr", [1, 2, 3]))
    by_seq = {each.seq: each for each in seen}
    causes = {
        each.change: by_seq[each.cause]
        for each in seen
        if isinstance(each, events.IsrChangeStarted)
    }
    expired, fetched = causes["shrink"], causes["expand"]
    assert isinstance(expired, events.TimerFired)
    assert (expired.host, expired.task) == (1, "isr-expiration")
    assert isinstance(fetched, events.MessageSent)
    assert "Fetch" in fetched.name


# ---- notifications of the controller, from 0.9 to 2.6


def notified(seen: list[events.Event]) -> int:
    """How many notifications leaders have written."""
    return sum(
        isinstance(each, events.ZnodeCreated) and each.path.startswith("/isr_change_notification/")
        for each in seen
    )


@pytest.mark.parametrize(("version", "count"), [("0.8.2", 0), ("0.9", 1), ("2.5", 1), ("2.7", 0)])
def test_the_controller_is_notified_of_a_change_once_nothing_changed_for_5_s(
    version: str, count: int
) -> None:
    cluster, seen = with_topic(1, 2, 3, version=version)
    do(cluster, PauseReplica(tp="t-0", broker=3), produce("a", acks=1))
    do(cluster, until("t-0", "isr", [1, 2]))
    do(cluster, Wait(duration_us=4_900_000))
    assert notified(seen) == 0
    do(cluster, Wait(duration_us=200_000))
    assert notified(seen) == count
    do(cluster, Wait(duration_us=20 * SECOND_US))
    assert notified(seen) == count


@pytest.mark.parametrize(
    ("quiet_us", "since_told_us", "expected"),
    [
        (0, 59_999_999, 0),
        (0, 60_000_000, 1),
        (0, 60_000_001, 1),
        (4_999_999, 0, 0),
        (5_000_000, 0, 1),
        (5_000_001, 0, 1),
    ],
)
def test_notifications_wait_for_5_quiet_seconds_but_not_longer_than_a_minute(
    quiet_us: int, since_told_us: int, expected: int
) -> None:
    cluster, seen = with_topic(1, 2, 3, version="2.5")
    do(cluster, Wait(duration_us=70 * SECOND_US))
    manager, now_us = zookeeper_membership(cluster, 1).zk_isr, cluster.now_us
    assert manager is not None
    manager.state.changes["t-0"] = None
    manager.state.changed_us = now_us - quiet_us
    manager.state.told_us = now_us - since_told_us
    manager.propagate_changes()
    assert notified(seen) == expected
    assert bool(manager.state.changes) is not bool(expected)
    assert (manager.state.told_us == now_us) is (bool(expected) or since_told_us == 0)


def test_without_a_change_nobody_is_notified() -> None:
    cluster, seen = with_topic(1, 2, 3, version="2.5")
    manager = zookeeper_membership(cluster, 1).zk_isr
    assert manager is not None
    manager.propagate_changes()
    do(cluster, Wait(duration_us=20 * SECOND_US))
    assert notified(seen) == 0


@pytest.mark.parametrize(("version", "share"), [("0.9", 1), ("0.10.2", 2), ("3.9", 2)])
def test_members_are_checked_after_half_the_lag_time_from_0_10_2(version: str, share: int) -> None:
    cluster, _ = with_topic(1, 2, version=version)
    lag_us = cluster.brokers[1].context.config.replica_lag_time_max_us
    assert cluster.brokers[1].core.isr.period_us() == lag_us // share


def test_up_to_2_6_a_change_under_an_old_version_is_skipped() -> None:
    """The controller has written, and its LeaderAndIsr is on the way (Partition.updateIsr)."""
    cluster, seen = with_topic(1, 2, version="2.5")
    replica = cluster.brokers[1].core.replicas.by_name["t-0"]
    replica.zk_version = 7
    do(cluster, PauseReplica(tp="t-0", broker=2), produce("a", acks=1))
    do(cluster, Wait(duration_us=60 * SECOND_US))
    assert any(isinstance(each, events.IsrChangeStarted) for each in seen)
    assert (replica.isr, replica.zk_version) == ([1, 2], 7)
    assert value_of(cluster, partition("t-0", "isr")) == [1, 2]


@pytest.mark.parametrize(("known", "asks_at_once"), [(3, True), (1, False), (-1, False)])
def test_a_controller_that_failed_is_not_asked_again_at_once(
    known: int, *, asks_at_once: bool
) -> None:
    cluster, _ = with_topic(1, 2, 3, version="3.9")
    leader = cluster.brokers[2]
    manager = zookeeper_membership(cluster, 2).alter_partition
    assert manager is not None
    state = manager.state
    asked = AlterPartitionRequest(2, 1, {})
    state.controller, state.request, state.unanswered = 1, 4711, asked
    leader.context.process.known_controller = known
    manager.look_again()
    assert (state.request > 0, state.controller) == (asks_at_once, known if asks_at_once else -1)
