"""What a broker does at the controller's word, request by request."""

import pytest

from emulator.broker_context import BrokerContext
from emulator.events import IsrChanged, LogCreated, LogDeleted, MessageSent, ReplicaRoleChanged
from emulator.inputs.statements import CrashBroker
from emulator.protocol import (
    LeaderAndIsrRequest,
    MetadataRequest,
    PartitionInfo,
    StopReplicaRequest,
    UpdateMetadataRequest,
)
from emulator.protocol.controller import DURING_DELETE
from emulator.releases.profiles import VERSIONS
from tests.support.generations import since
from tests.support.lab import TP, Lab
from tests.support.memberships import zookeeper_membership

NEW = "n-0"


def info(leader: int, epoch: int = 0, replicas: tuple[int, ...] = (1, 2)) -> PartitionInfo:
    return PartitionInfo(leader, epoch, list(replicas), epoch, list(replicas), 1)


class Told:
    """A lab in which 0, the controller, says what the test wants it to say."""

    def __init__(self, version: str = "3.9") -> None:
        self.lab = Lab(version, brokers=3, stepwise=True)
        self.lab.topic(1, 2)

    def epoch_of(self, broker: int) -> int:
        return self.lab.cluster.brokers[broker].state.broker_epoch

    def order(
        self,
        broker: int,
        partitions: dict[str, PartitionInfo],
        *,
        controller_epoch: int = 1,
        broker_epoch: int | None = None,
        live: tuple[int, ...] = (0, 1, 2),
    ) -> str:
        """LeaderAndIsr; returns the error of the whole."""
        epoch = self.epoch_of(broker) if broker_epoch is None else broker_epoch
        request = LeaderAndIsrRequest(0, controller_epoch, epoch, partitions, list(live))
        return self._give(broker, request)

    def stop(self, broker: int, tp: str, *, delete: bool = False, epoch: int = 9) -> str:
        request = StopReplicaRequest(0, 1, self.epoch_of(broker), {tp: epoch}, delete)
        return self._give(broker, request)

    def inform(
        self, broker: int, partitions: dict[str, PartitionInfo], live: tuple[int, ...] = (0, 1, 2)
    ) -> str:
        deleted = any(info.leader == DURING_DELETE for info in partitions.values())
        request = UpdateMetadataRequest(
            0, 1, self.epoch_of(broker), list(live), partitions, names_deleted=deleted
        )
        return self._give(broker, request)

    def _give(
        self,
        broker: int,
        request: LeaderAndIsrRequest | StopReplicaRequest | UpdateMetadataRequest,
    ) -> str:
        errors: list[str] = []
        context: BrokerContext = self.lab.cluster.brokers[broker].context
        original = context.respond

        def noted(destination: int, number: int, response: object) -> None:
            errors.append(response.error)  # type: ignore[attr-defined]
            original(destination, number, response)  # type: ignore[arg-type]

        context.respond = noted  # type: ignore[method-assign, assignment]
        self.lab.cluster.network.send(0, broker, request)
        self.lab.wait(1)
        context.respond = original  # type: ignore[method-assign]
        return errors[0]


# ---- LeaderAndIsr


def test_an_unknown_partition_is_made() -> None:
    told = Told()
    assert told.order(1, {NEW: info(1)}) == "NONE"
    assert told.lab.replica(1, NEW).role == "leader"
    assert told.lab.seen.of(LogCreated, tp=NEW, broker=1) != []


def test_leading_means_an_isr_and_remotes_and_following_means_none() -> None:
    told = Told()
    told.order(1, {NEW: info(1)})
    told.order(2, {NEW: info(1)})
    leader, follower = told.lab.replica(1, NEW), told.lab.replica(2, NEW)
    assert (leader.isr, list(leader.remotes)) == ([1, 2], [2])
    assert (follower.role, follower.leader, follower.isr, follower.remotes) == (
        "follower",
        1,
        [],
        {},
    )
    assert told.lab.seen.of(IsrChanged, tp=NEW)[0].isr == [1, 2]


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("epoch", [2, 1])
def test_an_epoch_that_is_not_newer_changes_nothing(version: str, epoch: int) -> None:
    told = Told(version)
    told.order(1, {NEW: info(1, epoch=2)})
    told.order(1, {NEW: info(2, epoch=epoch)})
    replica = told.lab.replica(1, NEW)
    assert (replica.role, replica.leader_epoch) == ("leader", 2)


def test_a_partition_that_is_not_assigned_here_is_not_made() -> None:
    told = Told()
    assert told.order(1, {NEW: info(2, replicas=(2, 0))}) == "NONE"
    assert told.lab.cluster.replica(NEW, 1) is None


def test_an_older_controller_is_refused_whole() -> None:
    told = Told()
    assert told.order(1, {NEW: info(1)}, controller_epoch=5) == "NONE"
    later = {NEW: info(1, epoch=7)}
    assert told.order(1, later, controller_epoch=4) == "STALE_CONTROLLER_EPOCH"
    assert told.lab.replica(1, NEW).leader_epoch == 0


@pytest.mark.parametrize("version", VERSIONS)
def test_an_order_for_an_earlier_life_is_refused_from_2_2(version: str) -> None:
    told = Told(version)
    stale = told.order(1, {NEW: info(1)}, broker_epoch=1)
    assert stale == ("STALE_BROKER_EPOCH" if version in since("2.2") else "NONE")


def test_without_a_live_leader_only_the_log_is_made() -> None:
    told = Told()
    told.inform(2, {}, live=(0, 2))
    told.order(2, {NEW: info(1, epoch=3)}, live=(0, 2))
    replica = told.lab.replica(2, NEW)
    assert (replica.leader, replica.leader_epoch) == (-1, -1)
    assert told.lab.cluster.brokers[2].state.core.fetchers.by_source.get(1) is None or (
        NEW not in told.lab.cluster.brokers[2].state.core.fetchers.by_source[1].partitions
    )


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("leader", [1, -1])
def test_a_leader_that_is_told_of_nobody_who_lives_goes_on_leading(
    version: str, leader: int
) -> None:
    """``ReplicaManager.makeFollowers``: only a live leader changes a partition's state."""
    told = Told(version)
    told.inform(2, {}, live=(0, 2))
    told.order(2, {NEW: info(2, replicas=(2, 1))}, live=(0, 2))
    replica = told.lab.replica(2, NEW)
    assert replica.role == "leader"
    known = replica.leader_epoch
    before = len(told.lab.seen.of(ReplicaRoleChanged, tp=NEW, broker=2))
    told.order(2, {NEW: info(leader, epoch=3, replicas=(2, 1))}, live=(0, 2))
    assert (replica.role, replica.leader, replica.leader_epoch) == ("leader", 2, known)
    assert len(told.lab.seen.of(ReplicaRoleChanged, tp=NEW, broker=2)) == before


def test_roles_are_stated_with_leader_and_epoch() -> None:
    told = Told()
    told.order(1, {NEW: info(2, epoch=4)})
    stated = told.lab.seen.of(ReplicaRoleChanged, tp=NEW, broker=1)[0]
    assert (stated.role, stated.leader, stated.leader_epoch) == ("follower", 2, 4)


# ---- StopReplica


def test_a_stopped_replica_keeps_its_log() -> None:
    told = Told()
    assert told.stop(2, TP) == "NONE"
    assert told.lab.replica(2).role == "offline"


def test_a_deleted_replica_is_gone() -> None:
    told = Told()
    assert told.stop(2, TP, delete=True) == "NONE"
    assert told.lab.cluster.replica(TP, 2) is None
    assert told.lab.seen.of(LogDeleted, tp=TP, broker=2) != []


def test_stopping_what_is_not_there_is_no_error() -> None:
    assert Told().stop(0, TP, delete=True) == "NONE"


def test_a_leader_can_be_stopped_too() -> None:
    told = Told()
    told.stop(1, TP)
    assert told.lab.replica(1).role == "offline"
    assert told.lab.replica(1).remotes == {}


# ---- UpdateMetadata, and what clients are told of it


def leaders_told(told: Told, broker: int, topic: str = "t") -> str:
    told.lab.cluster.network.send(-2, broker, MetadataRequest(topic))
    told.lab.wait(15)
    sent: MessageSent = told.lab.seen.of(MessageSent, name="MetadataResponse", source=broker)[-1]
    assert sent.destination == -2
    process = told.lab.cluster.brokers[broker].state.process
    found: dict[int, int] = {}
    number = 0
    while (row := process.metadata.get(f"{topic}-{number}")) is not None:
        alive = row.leader in process.live_brokers
        found[number] = row.leader if alive else -1
        number += 1
    return str(found)


def test_every_broker_can_say_who_leads() -> None:
    told = Told()
    assert [leaders_told(told, broker) for broker in (0, 1, 2)] == ["{0: 1}"] * 3


def test_a_leader_that_is_not_alive_is_not_named() -> None:
    told = Told()
    told.inform(2, {}, live=(0, 2))
    assert leaders_told(told, 2) == "{0: -1}"


def test_a_partition_that_is_being_deleted_is_not_known_any_longer() -> None:
    told = Told()
    told.inform(2, {TP: info(DURING_DELETE, epoch=1)})
    assert leaders_told(told, 2) == "{}"


def test_an_old_controllers_news_are_refused() -> None:
    told = Told()
    told.order(2, {}, controller_epoch=5)
    assert told.inform(2, {TP: info(2, epoch=9)}) == "STALE_CONTROLLER_EPOCH"
    assert leaders_told(told, 2) == "{0: 1}"


def test_a_broker_that_has_not_registered_takes_no_orders() -> None:
    told = Told("2.0.1")
    lab = told.lab
    lab.do(CrashBroker(broker=2))
    zookeeper_membership(lab.cluster, 2).lifecycle.start()
    lab.cluster.network.send(0, 2, LeaderAndIsrRequest(0, 1, 0, {NEW: info(2)}, [0, 1, 2]))
    lab.wait(10)
    assert lab.cluster.replica(NEW, 2) is None
