"""The controller's office: who holds it, and what reaches its holder."""

import json

import pytest

from emulator.events import (
    ZOOKEEPER,
    ControllerElected,
    ControllerResigned,
    ControllerStep,
    MessageSent,
)
from emulator.inputs.statements import (
    CrashBroker,
    CutLink,
    ExpireSession,
    HealLinks,
    HoldMessages,
    ReleaseMessages,
    StartBroker,
    Tick,
    ZkCommand,
)
from emulator.protocol import AlterIsrItem, AlterPartitionRequest, ControlledShutdownRequest
from emulator.releases.profiles import VERSIONS
from emulator.zookeeper.data import CONTROLLER, CONTROLLER_EPOCH
from tests.support.generations import since
from tests.support.lab import Lab
from tests.support.memberships import zookeeper_membership, zookeeper_state


@pytest.mark.parametrize("version", VERSIONS)
def test_the_first_broker_becomes_controller_with_epoch_1(version: str) -> None:
    lab = Lab(version, brokers=3)
    elected = lab.seen.of(ControllerElected)
    multi = version in since("2.1")
    assert [(e.broker, e.epoch, e.epoch_zk_version) for e in elected] == [(0, 1, int(multi))]


@pytest.mark.parametrize("version", VERSIONS)
def test_who_holds_the_office_stands_in_its_znode(version: str) -> None:
    lab = Lab(version)
    node = lab.cluster.zookeeper.get(CONTROLLER)
    assert json.loads(node.data or "")["brokerid"] == 0
    assert node.ephemeral_owner == zookeeper_state(lab.cluster, 0).zk.session


@pytest.mark.parametrize("version", VERSIONS)
def test_when_its_znode_goes_all_race_and_one_wins(version: str) -> None:
    lab = Lab(version, brokers=3)
    lab.do(ZkCommand(command="delete", path=CONTROLLER))
    lab.wait(100)
    elected = lab.seen.of(ControllerElected)
    assert [each.epoch for each in elected] == [1, 2]
    cluster = lab.cluster
    believers = [b for b in cluster.brokers if cluster.controller_cache(b) is not None]
    assert believers == [elected[-1].broker]
    assert lab.cluster.zookeeper.get(CONTROLLER_EPOCH).data == "2"


@pytest.mark.parametrize("version", VERSIONS)
def test_every_broker_knows_who_is_controller(version: str) -> None:
    lab = Lab(version, brokers=3)
    lab.do(ZkCommand(command="delete", path=CONTROLLER))
    lab.wait(100)
    holder = lab.cluster.controller_id()
    assert [b.state.process.known_controller for b in lab.cluster.brokers.values()] == [holder] * 3


@pytest.mark.parametrize("version", VERSIONS)
def test_each_holder_adds_one_to_the_epoch(version: str) -> None:
    lab = Lab(version, brokers=3)
    for _ in range(4):
        lab.do(ZkCommand(command="delete", path=CONTROLLER))
        lab.wait(100)
    assert lab.cluster.controller_epoch() == 5


def test_a_broken_znode_names_nobody() -> None:
    lab = Lab("3.9")
    lab.do(ZkCommand(command="set", path=CONTROLLER, data="no json"))
    lab.wait(10)
    assert lab.cluster.brokers[1].state.process.known_controller == -1


def test_an_expired_controller_resigns_before_it_stands_again() -> None:
    lab = Lab("3.9", brokers=3)
    lab.do(ExpireSession(broker=0))
    lab.wait(8000)
    resigned = lab.seen.of(ControllerResigned)
    assert [each.broker for each in resigned] == [0]
    assert lab.cluster.controller_id() != 0
    assert lab.cluster.controller_cache(0) is None


def test_without_zookeeper_nobody_stands_and_the_candidate_waits() -> None:
    lab = Lab("3.9", brokers=2)
    lab.do(CutLink(source=1, destination=-1))
    lab.do(CrashBroker(broker=0))
    lab.wait(21_000)
    assert lab.cluster.controller_id() is None
    lab.do(HealLinks())
    lab.wait(5000)
    assert lab.cluster.controller_id() == 1


@pytest.mark.parametrize("source", [0, ZOOKEEPER])
def test_leaders_move_home_once_zookeeper_answers_again(source: int) -> None:
    """A request may be lost on its way, or its response; either way the work is done later."""
    lab = Lab("3.9", brokers=2)
    lab.topic(1, 0)
    lab.do(CrashBroker(broker=1))
    lab.wait(21_000)
    lab.do(StartBroker(broker=1))
    lab.wait(5_000)
    assert lab.replica(0).isr == [0, 1]
    destination = ZOOKEEPER if source == 0 else 0
    lab.do(CutLink(source=source, destination=destination, one_way=True))
    lab.do(Tick(task="rebalance", broker=0))
    assert zookeeper_membership(lab.cluster, 0).zk.state.unanswered
    assert lab.state().startswith("leader 0")
    lab.do(HealLinks())
    lab.wait(2_000)
    lab.do(Tick(task="rebalance", broker=0))
    lab.wait(500)
    assert lab.state().startswith("leader 1")


# ---- brokers that come and go


def procedures(lab: Lab) -> list[str]:
    return [
        each.detail.partition(":")[0] + " " + each.name
        for each in lab.seen.of(ControllerStep)
        if each.name.startswith("onBroker")
    ]


def test_a_death_and_a_return_are_two_procedures() -> None:
    lab = Lab("3.9", brokers=3)
    before = len(procedures(lab))
    lab.do(CrashBroker(broker=2))
    lab.wait(21_000)
    lab.do(StartBroker(broker=2))
    lab.wait(100)
    assert procedures(lab)[before:] == ["broker 2 onBrokerFailure", "broker 2 onBrokerStartup"]


@pytest.mark.parametrize("version", since("2.0.1", "2.4"))
def test_a_bounce_between_two_looks_is_noticed_from_2_2(version: str) -> None:
    """KIP-380: the registration's epoch tells a broker's new life from its old one."""
    lab = Lab(version, brokers=3, stepwise=True)
    lab.topic(1, 2)
    lab.do(CutLink(source=0, destination=-1))
    lab.do(ExpireSession(broker=2))
    lab.wait(2500)
    lab.do(HealLinks())
    lab.wait(3000)
    noticed = version in since("2.2")
    assert lab.state() == ("leader 1 e1 isr [1] v1" if noticed else "leader 1 e0 isr [1, 2] v0")


# ---- requests to the controller


def response_to(lab: Lab, name: str) -> MessageSent:
    return lab.seen.of(MessageSent, name=name)[-1]


def test_a_broker_that_is_no_controller_says_so() -> None:
    lab = Lab("3.9", brokers=3)
    lab.cluster.network.send(2, 1, ControlledShutdownRequest(2, 0))
    lab.wait(10)
    assert lab.cluster.brokers[2].state.state == "running"
    lab.cluster.network.send(2, 1, AlterPartitionRequest(2, 0, {}))
    lab.wait(10)
    assert response_to(lab, "AlterPartitionResponse").source == 1


def alter(
    lab: Lab, item: AlterIsrItem, *, tp: str = "t-0", epoch: int | None = None
) -> tuple[str, dict[str, str]]:
    """Broker 1 asks for an ISR; returns the whole's error and the partitions'."""
    broker = lab.cluster.brokers[1]
    mine = broker.state.broker_epoch if epoch is None else epoch
    responses: list[tuple[str, dict[str, str]]] = []

    def taken(_source: int, _request: int, message: object) -> None:
        errors = {p: error for p, (error, _) in message.partitions.items()}  # type: ignore[attr-defined]
        responses.append((message.error, errors))  # type: ignore[attr-defined]

    kind = AlterPartitionRequest.__name__.replace("Request", "Response")
    handlers = broker._handlers
    (found,) = [each for each in handlers if each.__name__ == kind]
    handlers[found] = taken
    lab.cluster.network.send(1, 0, AlterPartitionRequest(1, mine, {tp: item}))
    lab.wait(10)
    return responses[-1]


@pytest.mark.parametrize(
    ("item", "error"),
    [
        (AlterIsrItem(0, [1], 0), "NONE"),
        (AlterIsrItem(0, [1, 2], 0), "NONE"),
        (AlterIsrItem(-1, [1], 0), "FENCED_LEADER_EPOCH"),
        (AlterIsrItem(0, [1], -1), "INVALID_UPDATE_VERSION"),
        (AlterIsrItem(0, [1], 7), "NOT_CONTROLLER"),
        (AlterIsrItem(0, [1, 3], 0), "INELIGIBLE_REPLICA"),
    ],
    ids=["granted", "as it is", "old epoch", "old version", "ahead", "dead replica"],
)
def test_what_a_leader_that_asks_for_an_isr_is_told(item: AlterIsrItem, error: str) -> None:
    lab = Lab("3.9", brokers=4, stepwise=True)
    lab.do(CrashBroker(broker=3))
    lab.wait(21_000)
    lab.topic(1, 2)
    assert alter(lab, item) == ("NONE", {"t-0": error})


def test_an_unknown_partition_is_told_apart() -> None:
    lab = Lab("3.9", brokers=3, stepwise=True)
    lab.topic(1, 2)
    assert alter(lab, AlterIsrItem(0, [1], 0), tp="u-0") == (
        "NONE",
        {"u-0": "UNKNOWN_TOPIC_OR_PARTITION"},
    )


def test_a_request_of_an_earlier_life_is_refused_whole() -> None:
    lab = Lab("3.9", brokers=3, stepwise=True)
    lab.topic(1, 2)
    assert alter(lab, AlterIsrItem(0, [1], 0), epoch=1) == ("STALE_BROKER_EPOCH", {})


@pytest.mark.parametrize("version", VERSIONS)
def test_a_controller_that_missed_the_end_of_its_office_finds_out(version: str) -> None:
    """The news was lost with the connection; it looks again once it has a new one."""
    lab = Lab(version, brokers=2)
    lab.do(HoldMessages(source=ZOOKEEPER, destination=0))
    lab.do(ZkCommand(command="delete", path=CONTROLLER))
    lab.wait(100)
    assert lab.cluster.controller_id() == 1
    believes = [lab.cluster.controller_cache(0) is not None]
    lab.do(ReleaseMessages(source=ZOOKEEPER, destination=0, lose=True))
    lab.wait(3_000)
    believes.append(lab.cluster.controller_cache(0) is not None)
    assert believes == [True, False]
    assert lab.cluster.state.brokers[0].process.known_controller == 1


@pytest.mark.parametrize(
    ("version", "error"),
    [
        ("2.7", "INVALID_UPDATE_VERSION"),
        ("3.2", "INVALID_UPDATE_VERSION"),
        ("3.3", "NOT_CONTROLLER"),
    ],
)
def test_from_3_3_a_leader_that_knows_more_is_told_that_this_is_not_the_controller(
    version: str, error: str
) -> None:
    lab = Lab(version, brokers=3, stepwise=True)
    lab.topic(1, 2)
    assert alter(lab, AlterIsrItem(0, [1], 7)) == ("NONE", {"t-0": error})
