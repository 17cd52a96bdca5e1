"""Controller failover: the steps in the order of the release, and what a new controller repairs."""

import pytest

from emulator.controller.failover import REBALANCE_FIRST_US
from emulator.events import ControllerElected, ControllerStep, ZnodeCreated
from emulator.inputs.statements import CrashBroker, FreezeBroker, StartBroker, ZkCommand
from emulator.releases.profiles import VERSIONS
from tests.support.generations import since
from tests.support.lab import Lab
from tests.support.memberships import zookeeper_membership

BOTH_DEAD_MS = 21_000


BEFORE_0_11 = [
    "isRunning",
    "readControllerEpochFromZookeeper",
    "incrementControllerEpoch",
    "registerReassignedPartitionsListener",
    "registerIsrChangeNotificationListener",
    "registerPreferredReplicaElectionListener",
    "partitionStateMachine.registerListeners",
    "replicaStateMachine.registerListeners",
    "initializeControllerContext",
    "replicaStateMachine.startup",
    "partitionStateMachine.startup",
    "partitionStateMachine.registerPartitionChangeListener",
    "brokerState.newState(RunningAsController)",
    "maybeTriggerPartitionReassignment",
    "maybeTriggerPreferredReplicaElection",
    "sendUpdateMetadataRequest",
    "autoRebalanceScheduler.startup",
    "deleteTopicManager.start",
]
"""As the documents have it, and 0.9 and 0.10.0; broker states came with 0.8.2 (KAFKA-1384)."""
SINCE_0_11 = [
    "readControllerEpochFromZookeeper",
    "incrementControllerEpoch",
    "registerZNodeChildChangeHandlers",
    "registerZNodeChangeHandlers",
    "deleteLogDirEventNotifications",
    "deleteIsrChangeNotifications",
    "initializeControllerContext",
    "topicDeletionManager.init",
    "sendUpdateMetadataRequest",
    "replicaStateMachine.startup",
    "partitionStateMachine.startup",
    "initializePartitionReassignments",
    "topicDeletionManager.tryTopicDeletion",
    "onPreferredReplicaElection",
    "kafkaScheduler.startup",
    "scheduleAutoLeaderRebalanceTask",
]
"""As 1.1 to 2.0 have it."""
EPOCH_STEPS = SINCE_0_11[:2]


def expected_steps(version: str) -> list[str]:
    """The order of the release."""
    if version in since("0.11"):
        gone = EPOCH_STEPS if version in since("2.1") else []
        gone = gone if version in since("1.1") else [*gone, *SINCE_0_11[4:6]]
        return [name for name in SINCE_0_11 if name not in gone]
    order = list(BEFORE_0_11)
    if version not in ("documents", *since("0.9")):
        order.remove("registerIsrChangeNotificationListener")
    if version == "0.8.1" or version in since("0.10.2"):
        order.remove("brokerState.newState(RunningAsController)")
    if version == "0.8.1":  # where leaders are not rebalanced by default
        order.remove("autoRebalanceScheduler.startup")
    if version in since("0.10.2"):
        order.remove("sendUpdateMetadataRequest")
        order.insert(order.index("replicaStateMachine.startup"), "sendUpdateMetadataRequest")
    return order


def steps(lab: Lab) -> list[ControllerStep]:
    """What the latest controller did after its election."""
    elected = lab.seen.of(ControllerElected)[-1]
    return lab.seen.of(ControllerStep, procedure="onControllerFailover", broker=elected.broker)


@pytest.mark.parametrize("version", VERSIONS)
def test_each_step_of_a_failover_is_an_event_in_the_order_of_the_release(version: str) -> None:
    """Row E10 of the documents."""
    found = steps(Lab(version))
    assert [each.name for each in found] == expected_steps(version)
    assert [each.step for each in found] == list(range(1, len(found) + 1))


@pytest.mark.parametrize("version", VERSIONS)
def test_metadata_is_sent_before_the_state_machines_start_from_0_10_2(version: str) -> None:
    order = [each.name for each in steps(Lab(version))]
    metadata = order.index("sendUpdateMetadataRequest")
    machines = order.index("replicaStateMachine.startup")
    assert (metadata < machines) == (version in since("0.10.2"))


@pytest.mark.parametrize("version", ["documents", "0.10.2", "2.0.1"])
def test_the_epoch_is_read_and_incremented_before_all_else(version: str) -> None:
    lab = Lab(version)
    elected = lab.seen.of(ControllerElected)[0]
    before = [each.name for each in steps(lab) if each.seq < elected.seq]
    assert before[-2:] == EPOCH_STEPS
    set_at = lab.seen.of(ZnodeCreated, path="/controller_epoch")[0]
    assert steps(lab)[len(before) - 1].seq < set_at.seq < elected.seq


@pytest.mark.parametrize("version", ["documents", "0.10.2"])
def test_a_broker_that_is_not_running_any_more_takes_no_office(version: str) -> None:
    lab = Lab(version)
    controller = zookeeper_membership(lab.cluster, 0).controller
    before = lab.cluster.controller_epoch()
    controller.shut_down()
    assert controller.failover.next_epoch() is None
    last = lab.seen.of(ControllerStep)[-1]
    logged = "Controller has been shut down, aborting startup/failover"
    assert (last.name, last.detail) == ("isRunning", logged)
    assert lab.cluster.controller_epoch() == before


@pytest.mark.parametrize("version", ["0.9", "0.11", "1.1", "2.5", "3.9"])
def test_notifications_for_the_former_controller_are_deleted_from_1_1(version: str) -> None:
    lab = Lab(version, brokers=3)
    lab.do(FreezeBroker(broker=0))
    data = '{"version":1,"partitions":[]}'
    path = "/isr_change_notification/isr_change_"
    lab.do(ZkCommand(command="create", path=path, data=data, sequential=True))
    lab.wait(BOTH_DEAD_MS)
    assert lab.cluster.controller_id() != 0
    left = lab.cluster.zookeeper.children("/isr_change_notification")
    assert (left == []) == (version in since("1.1"))


@pytest.mark.parametrize("version", VERSIONS)
def test_a_new_controller_watches_what_it_has_to_react_to(version: str) -> None:
    lab = Lab(version)
    watches = lab.cluster.zookeeper.watches
    children = {path for path, hosts in watches.children.items() if 0 in hosts}
    assert {"/brokers/ids", "/brokers/topics", "/admin/delete_topics"} <= children
    assert ("/isr_change_notification" in children) == (version in ("documents", *since("0.9")))
    data = {path for path, hosts in watches.data.items() if 0 in hosts}
    admin = {"/admin/preferred_replica_election", "/admin/reassign_partitions"}
    assert {"/controller", *admin} <= data


@pytest.mark.parametrize("version", VERSIONS)
def test_it_knows_all_partitions_and_elects_for_those_without_a_leader(version: str) -> None:
    lab = Lab(version, brokers=3)
    lab.topic(0, 1)
    lab.do(CrashBroker(broker=0))
    lab.wait(BOTH_DEAD_MS)
    holder = lab.cluster.controller_id()
    assert holder in (1, 2)
    office = lab.cluster.controller_cache(holder)
    assert office is not None
    assert office.assignments == {"t-0": [0, 1]}
    assert office.infos["t-0"].leader == 1
    assert lab.state().startswith("leader 1")


@pytest.mark.parametrize("version", VERSIONS)
def test_followers_that_died_with_the_controller_leave_the_isr_from_2_3(version: str) -> None:
    """KAFKA-3143: the new controller looks at replicas, not only at leaders."""
    lab = Lab(version, brokers=4, stepwise=True)
    lab.topic(1, 2)
    lab.do(CrashBroker(broker=0))
    lab.do(CrashBroker(broker=2))
    lab.wait(BOTH_DEAD_MS)
    leaves = version in since("2.4")
    assert lab.state() == ("leader 1 e1 isr [1] v1" if leaves else "leader 1 e0 isr [1, 2] v0")


def test_leftover_topics_that_nobody_made_partitions_of_are_finished() -> None:
    lab = Lab("3.9", brokers=2)
    lab.do(CrashBroker(broker=0))
    data = '{"version":1,"partitions":{"0":[1]}}'
    lab.do(ZkCommand(command="create", path="/brokers/topics/late", data=data))
    lab.wait(BOTH_DEAD_MS)
    assert lab.state("late-0") == "leader 1 e0 isr [1] v0"


def test_the_first_rebalance_comes_five_seconds_after_taking_office() -> None:
    lab = Lab("3.9", brokers=3)
    elected = lab.seen.of(ControllerElected)[0]
    armed = lab.cluster.brokers[0].state.process.timers.armed["rebalance"]
    assert armed == elected.time_us + REBALANCE_FIRST_US


def test_a_controller_that_returns_is_no_controller() -> None:
    lab = Lab("3.9", brokers=2)
    lab.do(CrashBroker(broker=0))
    lab.wait(BOTH_DEAD_MS)
    lab.do(StartBroker(broker=0))
    lab.wait(1000)
    assert lab.cluster.controller_id() == 1
    assert lab.cluster.controller_cache(0) is None
