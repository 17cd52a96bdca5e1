"""Taking office: the steps in the order of the release, and what a new controller puts right."""

import pytest

from emulator.controller.failover import REBALANCE_FIRST_US
from emulator.events import ControllerElected, ControllerStep
from emulator.inputs import CrashBroker, StartBroker, ZkCommand
from emulator.profiles import VERSIONS
from tests.emulator.generations import since
from tests.emulator.lab import Lab

BOTH_DEAD_MS = 21_000


def steps(lab: Lab) -> list[str]:
    """What the latest controller did when it took office."""
    elected = lab.seen.of(ControllerElected)[-1]
    return [
        each.name
        for each in lab.seen.of(ControllerStep, procedure="onControllerFailover")
        if each.seq > elected.seq
    ]


@pytest.mark.parametrize("version", VERSIONS)
def test_metadata_is_sent_before_the_state_machines_start_from_0_10_2(version: str) -> None:
    order = steps(Lab(version))
    metadata = order.index("sendUpdateMetadataRequest")
    machines = order.index("replicaStateMachine.startup")
    assert (metadata < machines) == (version in since("0.10.2"))


@pytest.mark.parametrize("version", VERSIONS)
def test_the_other_steps_keep_their_order(version: str) -> None:
    order = [name for name in steps(Lab(version)) if name != "sendUpdateMetadataRequest"]
    assert order == [
        "registerListeners",
        "initializeControllerContext",
        "replicaStateMachine.startup",
        "partitionStateMachine.startup",
        "maybeTriggerPartitionReassignment",
        "maybeTriggerPreferredReplicaElection",
        "topicDeletionManager.start",
        "startAutoLeaderRebalance",
    ]


def test_steps_are_numbered_from_1() -> None:
    lab = Lab("3.9")
    numbers = [each.step for each in lab.seen.of(ControllerStep, procedure="onControllerFailover")]
    assert numbers == list(range(1, 10))


@pytest.mark.parametrize("version", VERSIONS)
def test_a_new_controller_watches_what_it_has_to_react_to(version: str) -> None:
    lab = Lab(version)
    watches = lab.cluster.zookeeper.watches
    children = {path for path, hosts in watches.children.items() if 0 in hosts}
    assert {"/brokers/ids", "/brokers/topics", "/admin/delete_topics"} <= children
    assert ("/isr_change_notification" in children) == (version in since("0.9"))
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
    office = lab.cluster.brokers[holder].state.controller
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
    armed = lab.cluster.brokers[0].state.armed["rebalance"]
    assert armed == elected.time_us + REBALANCE_FIRST_US


def test_a_controller_that_returns_is_no_controller() -> None:
    lab = Lab("3.9", brokers=2)
    lab.do(CrashBroker(broker=0))
    lab.wait(BOTH_DEAD_MS)
    lab.do(StartBroker(broker=0))
    lab.wait(1000)
    assert lab.cluster.controller_id() == 1
    assert lab.cluster.brokers[0].state.controller is None
