"""ISRs, elections and reassignments, as single requests and as fencing brings them about."""

from typing import Any

import pytest

from emulator.quorum_controller import elections
from emulator.quorum_controller.alter_partition import AlterPartitionItem
from emulator.quorum_controller.configuration_control import ConfigResource
from emulator.quorum_controller.partition_change_builder import Election
from emulator.quorum_controller.result import ApiException
from tests.emulator.quorum_controller.quorum import Quorum

ELR = {"eligible.leader.replicas.version": 1}


@pytest.fixture
def quorum() -> Quorum:
    quorum = Quorum()
    quorum.start(0, 1, 2, 3)
    quorum.create("t", (0, 1, 2))
    return quorum


# ---- AlterPartition, as recorded in k08


@pytest.mark.parametrize(
    ("isr", "options", "error"),
    [
        ((0, 1, 2), {}, "NONE"),
        ((0, 1), {"leader_epoch": -1}, "FENCED_LEADER_EPOCH"),
        ((0, 1), {"leader_epoch": 1}, "NOT_CONTROLLER"),
        ((0, 1), {"partition_epoch": -1}, "INVALID_UPDATE_VERSION"),
        ((0, 1), {"partition_epoch": 1}, "NOT_CONTROLLER"),
        ((0, 1), {"broker": 1}, "INVALID_REQUEST"),
        ((1, 2), {}, "INVALID_REQUEST"),
        ((0, 1, 3), {}, "INVALID_REQUEST"),
        ((0, 1, 1), {}, "INVALID_REQUEST"),
        ((0,), {"recovery": 1}, "INVALID_REQUEST"),
        ((0, 1, 2), {"isr_epochs": {2: -1}}, "INELIGIBLE_REPLICA"),
        ((0, 1, 2), {"isr_epochs": {2: 0}}, "NONE"),
        ((0, 1), {}, "NONE"),
    ],
)
def test_what_a_leader_is_answered(
    quorum: Quorum, isr: tuple[int, ...], options: dict[str, Any], error: str
) -> None:
    before = quorum.partition("t")
    assert quorum.alter_partition("t", *isr, **options).error == error
    changed = error == "NONE" and isr != before.isr
    assert quorum.partition("t").partition_epoch == before.partition_epoch + changed


def test_a_stale_broker_epoch_refuses_the_whole_request(quorum: Quorum) -> None:
    with pytest.raises(ApiException) as refused:
        quorum.alter_partition("t", 0, 1, broker_epoch=-1)
    assert refused.value.error == "STALE_BROKER_EPOCH"


def test_neither_fenced_nor_departing_replicas_join_the_isr(quorum: Quorum) -> None:
    quorum.let_pass(5, 0, 1, 3)
    assert quorum.alter_partition("t", 0, 1, 2).error == "INELIGIBLE_REPLICA"
    quorum.start(2)
    quorum.create("u", (2, 0))
    quorum.heartbeat(2, want_shut_down=True)
    assert quorum.alter_partition("t", 0, 1, 2).error == "INELIGIBLE_REPLICA"


# ---- elections by hand, as recorded in k13


def elect(quorum: Quorum, election: Election, *partitions: tuple[str, int]) -> dict[Any, str]:
    result = quorum.controller.elect_leaders(election, partitions or None)
    return {key: response.error for key, response in quorum.append(result).items()}


def test_elections_that_change_nothing(quorum: Quorum) -> None:
    t = ("t", 0)
    assert elect(quorum, Election.PREFERRED, t) == {t: "ELECTION_NOT_NEEDED"}
    assert elect(quorum, Election.UNCLEAN, t) == {t: "ELECTION_NOT_NEEDED"}
    unknown = ("t", 7), ("none", 0)
    assert set(elect(quorum, Election.PREFERRED, *unknown).values()) == {
        "UNKNOWN_TOPIC_OR_PARTITION"
    }
    quorum.let_pass(5, 1, 2, 3)
    assert elect(quorum, Election.PREFERRED, t) == {t: "PREFERRED_LEADER_NOT_AVAILABLE"}
    assert elect(quorum, Election.PREFERRED) == {t: "PREFERRED_LEADER_NOT_AVAILABLE"}


def test_the_preferred_replica_leads_again_once_it_is_in_sync(quorum: Quorum) -> None:
    quorum.let_pass(5, 1, 2, 3)
    quorum.start(0)
    assert elect(quorum, Election.PREFERRED) == {("t", 0): "PREFERRED_LEADER_NOT_AVAILABLE"}
    quorum.alter_partition("t", 1, 2, 0)
    assert elect(quorum, Election.PREFERRED) == {("t", 0): "NONE"}
    assert (quorum.partition("t").leader, quorum.partition("t").leader_epoch) == (0, 2)
    assert elect(quorum, Election.PREFERRED) == {}


def test_the_periodic_check_gives_leaders_back(quorum: Quorum) -> None:
    quorum.let_pass(5, 1, 2, 3)
    quorum.start(0)
    assert quorum.controller.maybe_balance_partition_leaders().records == []
    quorum.alter_partition("t", 1, 2, 0)
    quorum.append(quorum.controller.maybe_balance_partition_leaders())
    assert quorum.partition("t").leader == 0
    assert not quorum.controller.state.partitions.imbalanced


@pytest.mark.parametrize(
    ("release", "features", "offline"),
    [("3.9.2", {}, ((0,), ())), ("4.0.2", {}, ((0,), ())), ("4.1.2", {}, ((), (0,)))],
)
def test_an_unclean_election_needs_a_request_or_the_configuration(
    release: str, features: dict[str, int], offline: tuple[Any, Any]
) -> None:
    quorum = Quorum(release, features=features)
    quorum.start(0, 1)
    quorum.create("t", (0, 1))
    quorum.create("u", (0, 1))
    quorum.let_pass(5, 0)
    quorum.let_pass(5)
    assert quorum.partition("t").leader == -1
    assert (quorum.partition("t").isr, quorum.partition("t").elr) == offline
    assert elect(quorum, Election.UNCLEAN, ("t", 0)) == {("t", 0): "ELIGIBLE_LEADERS_NOT_AVAILABLE"}
    quorum.start(1)
    assert quorum.partition("t").leader == -1
    # Turning the configuration on elects nobody; the periodic check does.
    change = {ConfigResource(2, "u"): {"unclean.leader.election.enable": "true"}}
    quorum.append(quorum.controller.incremental_alter_configs(change))
    assert quorum.partition("u").leader == -1
    quorum.append(quorum.controller.maybe_elect_unclean_leaders())
    assert (quorum.partition("u").leader, quorum.partition("t").leader) == (1, -1)
    assert elect(quorum, Election.UNCLEAN, ("t", 0)) == {("t", 0): "NONE"}
    for topic in ("t", "u"):
        partition = quorum.partition(topic)
        assert (partition.leader, partition.isr, partition.elr) == (1, (1,), ())
        assert partition.leader_recovery_state == 1
    # The leader says with its first change of the ISR that it has recovered (KIP-704).
    quorum.start(0)
    quorum.alter_partition("t", 1, 0)
    assert quorum.partition("t").leader_recovery_state == 0


@pytest.mark.parametrize(("release", "always"), [("3.9.2", False), ("4.0.2", True)])
def test_up_to_3_9_the_periodic_checks_wait_for_something_to_do(
    release: str, *, always: bool
) -> None:
    quorum = Quorum(release)
    quorum.start(0, 1)
    quorum.create("t", (0, 1))

    def wanted() -> tuple[bool, bool]:
        controller = quorum.controller
        return controller.wants_balance_check, controller.wants_unclean_election_check

    assert wanted() == (always, always)
    quorum.let_pass(5, 1)
    assert wanted() == (True, always)
    quorum.let_pass(5)
    assert wanted() == (True, True)


def test_before_3_9_the_configuration_elects_nobody() -> None:
    quorum = Quorum("3.8.1", unclean_leader_election_enable=True)
    quorum.start(0, 1)
    quorum.create("t", (0, 1))
    quorum.let_pass(5, 0)
    quorum.let_pass(5)
    quorum.start(1)
    assert quorum.controller.maybe_elect_unclean_leaders().records == []
    assert quorum.partition("t").leader == -1


# ---- what several requests, or many partitions, come to


def test_each_partition_of_a_request_is_answered_on_its_own(quorum: Quorum) -> None:
    quorum.create("u", (0, 1, 2))
    quorum.create("v", (0, 1, 2))
    image = quorum.controller.image

    def item(topic_id: str, epoch: int = 0) -> AlterPartitionItem:
        return AlterPartitionItem(topic_id, 0, epoch, 0, ((0, -1), (1, -1)))

    ids = [image.topic_ids[name] for name in "tuv"]
    items = [item("unknown"), item(ids[0]), item(ids[1], epoch=7), item(ids[2])]
    broker_epoch = image.brokers[0].epoch
    responses = quorum.append(quorum.controller.alter_partition(0, broker_epoch, items))
    assert [each.error for each in responses.values()] == [
        *("UNKNOWN_TOPIC_ID", "NONE", "NOT_CONTROLLER", "NONE")
    ]
    assert [quorum.partition(name).isr for name in "tuv"] == [(0, 1), (0, 1, 2), (0, 1)]


def uncleanly_led(*partitions: tuple[int, int]) -> Quorum:
    """The last member of each ISR is gone, and another replica is back: an election is due."""
    quorum = Quorum()
    quorum.start(0, 1)
    quorum.create("t", *partitions)
    quorum.let_pass(5, 0)
    quorum.let_pass(5)
    quorum.start(1)
    change = {ConfigResource(2, "t"): {"unclean.leader.election.enable": "true"}}
    quorum.append(quorum.controller.incremental_alter_configs(change))
    return quorum


@pytest.mark.parametrize(("isr", "error"), [((1,), "NONE"), ((1, 0), "INVALID_REQUEST")])
def test_a_leader_that_recovers_is_alone_in_its_isr(isr: tuple[int, ...], error: str) -> None:
    quorum = uncleanly_led((0, 1))
    quorum.append(quorum.controller.maybe_elect_unclean_leaders())
    assert quorum.partition("t").leader_recovery_state == 1
    quorum.start(0)
    assert quorum.alter_partition("t", *isr, recovery=1).error == error


@pytest.mark.parametrize("limit", [2, 3, 4])
def test_a_periodic_check_makes_so_many_elections_and_is_then_repeated(
    limit: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(elections, "MAX_ELECTIONS_PER_IMBALANCE", limit)
    quorum = Quorum()
    quorum.start(0, 1)
    quorum.create("t", (0, 1), (0, 1), (0, 1))
    quorum.let_pass(5, 1)
    quorum.start(0)
    for number in range(3):
        quorum.alter_partition("t", 1, 0, number=number)
    result = quorum.controller.maybe_balance_partition_leaders()
    assert (len(result.records), result.response) == (min(3, limit), limit <= 3)
    quorum.append(result)
    result = quorum.controller.maybe_balance_partition_leaders()
    assert (len(result.records), result.response) == (max(0, 3 - limit), False)


@pytest.mark.parametrize("limit", [2, 3, 4])
def test_as_many_unclean_elections_are_made_at_once(
    limit: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(elections, "MAX_ELECTIONS_PER_IMBALANCE", limit)
    quorum = uncleanly_led((0, 1), (0, 1), (0, 1))
    result = quorum.controller.maybe_elect_unclean_leaders()
    assert (len(result.records), result.response) == (min(3, limit), limit <= 3)
    quorum.append(result)
    result = quorum.controller.maybe_elect_unclean_leaders()
    assert (len(result.records), result.response) == (max(0, 3 - limit), False)


# ---- eligible leader replicas (KIP-966)


@pytest.fixture(params=["4.0.2", "4.1.2"])
def with_elr(request: pytest.FixtureRequest) -> Quorum:
    quorum = Quorum(request.param, features=ELR)
    quorum.start(0, 1, 2)
    quorum.create("t", (0, 1, 2), min_insync_replicas="2")
    return quorum


def test_members_become_eligible_once_the_isr_is_below_the_minimum(with_elr: Quorum) -> None:
    with_elr.let_pass(5, 0, 1)
    assert (with_elr.partition("t").isr, with_elr.partition("t").elr) == ((0, 1), ())
    with_elr.let_pass(5, 0)
    assert (with_elr.partition("t").isr, with_elr.partition("t").elr) == ((0,), (1,))
    with_elr.let_pass(5)
    partition = with_elr.partition("t")
    assert (partition.isr, partition.elr, partition.last_known_elr) == ((), (0, 1), (0,))


def test_an_eligible_replica_is_elected_cleanly_and_the_others_stay(with_elr: Quorum) -> None:
    for beating in ((0, 1), (0,), ()):
        with_elr.let_pass(5, *beating)
    with_elr.start(2, clean=True)
    assert with_elr.partition("t").leader == -1
    with_elr.start(1, clean=True)
    partition = with_elr.partition("t")
    assert (partition.leader, partition.isr, partition.elr) == (1, (1,), (0,))
    assert (partition.leader_recovery_state, partition.last_known_elr) == (0, ())
    with_elr.alter_partition("t", 1, 2)
    assert with_elr.partition("t").elr == ()


@pytest.mark.parametrize(("release", "leader"), [("4.0.2", 0), ("4.1.2", -1)])
def test_when_all_eligible_replicas_were_killed_the_last_leader_is_elected(
    release: str, leader: int
) -> None:
    quorum = Quorum(release, features=ELR)
    quorum.start(0, 1, 2)
    quorum.create("t", (0, 1, 2), min_insync_replicas="2")
    for beating in ((0, 1), (0,), ()):
        quorum.let_pass(5, *beating)
    quorum.register(1)
    assert quorum.partition("t").elr == (0,)
    quorum.register(0)
    # 4.0 elects it in the batch of its registration, while it is fenced (KAFKA-19522).
    assert quorum.partition("t").leader == leader
    quorum.heartbeat(0)
    partition = quorum.partition("t")
    assert (partition.leader, partition.isr, partition.leader_recovery_state) == (0, (0,), 1)


def test_another_minimum_empties_the_elr(with_elr: Quorum) -> None:
    with_elr.let_pass(5, 0, 1)
    with_elr.let_pass(5, 0)
    before = with_elr.partition("t")
    assert before.elr == (1,)
    change = {ConfigResource(4, ""): {"min.insync.replicas": "1"}}
    with_elr.append(with_elr.controller.incremental_alter_configs(change))
    after = with_elr.partition("t")
    assert (after.elr, after.partition_epoch) == ((), before.partition_epoch + 1)
    assert not with_elr.controller.state.partitions.in_elr


def test_another_minimum_leaves_an_offline_partition_to_an_unclean_election() -> None:
    quorum = Quorum("4.1.2")
    quorum.start(0, 1)
    quorum.create("t", (0, 1))
    quorum.let_pass(5, 0)
    quorum.let_pass(5)
    assert (quorum.partition("t").elr, quorum.partition("t").last_known_elr) == ((0,), (0,))
    change = {ConfigResource(2, "t"): {"min.insync.replicas": "2"}}
    quorum.append(quorum.controller.incremental_alter_configs(change))
    quorum.start(0, 1, clean=True)
    partition = quorum.partition("t")
    # Nobody is in sync, eligible, or known to have led, as recorded in c07.
    assert (partition.leader, partition.isr, partition.elr) == (-1, (), ())
    assert elect(quorum, Election.UNCLEAN, ("t", 0)) == {("t", 0): "NONE"}


# ---- reassignments, as recorded in k09


def reassign(quorum: Quorum, target: tuple[int, ...] | None, **options: bool) -> str:
    result = quorum.controller.alter_partition_reassignments({("t", 0): target}, **options)
    return quorum.append(result)["t", 0].error


def test_a_reassignment_completes_with_the_last_replica_that_catches_up(quorum: Quorum) -> None:
    quorum.create("v", (0, 1))
    assert reassign(quorum, (1, 2, 3)) == "NONE"
    moving = quorum.partition("t")
    assert moving.replicas == (1, 2, 3, 0)
    assert (moving.removing_replicas, moving.adding_replicas) == ((0,), (3,))
    assert list(quorum.controller.list_partition_reassignments()) == [("t", 0)]
    assert quorum.alter_partition("t", 0, 1, 2, 3).error == "NEW_LEADER_ELECTED"
    moved = quorum.partition("t")
    assert (moved.leader, moved.isr, moved.replicas) == (1, (1, 2, 3), (1, 2, 3))
    assert (moved.leader_epoch, moved.partition_epoch) == (1, 2)
    assert quorum.controller.list_partition_reassignments() == {}


def test_cancelling_leaves_the_order_of_the_target_and_raises_the_leader_epoch(
    quorum: Quorum,
) -> None:
    reassign(quorum, (2, 3))
    assert reassign(quorum, None) == "NONE"
    partition = quorum.partition("t")
    assert partition.replicas == (2, 0, 1)
    assert (partition.leader, partition.leader_epoch) == (0, 1)
    assert reassign(quorum, None) == "NO_REASSIGNMENT_IN_PROGRESS"


def test_another_order_or_fewer_replicas_take_one_record(quorum: Quorum) -> None:
    reassign(quorum, (1, 0, 2))
    assert (quorum.partition("t").leader, quorum.partition("t").leader_epoch) == (0, 0)
    reassign(quorum, (1,))
    partition = quorum.partition("t")
    assert (partition.replicas, partition.isr, partition.leader) == ((1,), (1,), 1)
    assert not partition.is_reassigning


@pytest.mark.parametrize(
    ("target", "error"),
    [
        ((1, 1), "INVALID_REPLICA_ASSIGNMENT"),
        ((7,), "INVALID_REPLICA_ASSIGNMENT"),
        ((), "INVALID_REPLICA_ASSIGNMENT"),
    ],
)
def test_reassignments_that_are_refused(
    quorum: Quorum, target: tuple[int, ...], error: str
) -> None:
    assert reassign(quorum, target) == error


def test_only_added_replicas_in_sync_cannot_be_cancelled_cleanly(quorum: Quorum) -> None:
    reassign(quorum, (3, 2))
    quorum.alter_partition("t", 0, 3)
    quorum.let_pass(5, 1, 2, 3)
    assert quorum.partition("t").isr == (3,)
    assert reassign(quorum, None) == "INVALID_REPLICA_ASSIGNMENT"


def test_from_4_1_a_request_may_insist_on_the_replication_factor(quorum: Quorum) -> None:
    insist = {"allow_replication_factor_change": False}
    assert reassign(quorum, (0, 1), **insist) == "INVALID_REPLICATION_FACTOR"
    assert reassign(quorum, (0, 1, 3), **insist) == "NONE"
    old = Quorum("4.0.2")
    old.start(0, 1, 2)
    old.create("t", (0, 1, 2))
    assert reassign(old, (0, 1), **insist) == "NONE"
