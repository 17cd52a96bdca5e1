"""What one change of a partition comes to: who leads, who is eligible, which epoch rises."""

from typing import Any

import pytest

from emulator.metadata_log.changes import TopicIdPartition
from emulator.metadata_log.records import NO_LEADER, RECOVERED, RECOVERING, PartitionChangeRecord
from emulator.metadata_log.registrations import BrokerRegistration, PartitionRegistration
from emulator.quorum_controller.partition_change_builder import (
    Election,
    ElectionRules,
    PartitionChangeBuilder,
)

KEY = TopicIdPartition("id", 5)
ALL = (0, 1, 2)
BROKERS = {broker: BrokerRegistration(broker, 1, "", 0) for broker in range(5)}
PLAIN = ElectionRules()
ELR = ElectionRules(min_isr=2, elr_enabled=True)
OLD_ELR = ElectionRules(min_isr=2, elr_enabled=True, notes_last_leader_of_empty_isr=True)


def partition(isr: tuple[int, ...] = ALL, leader: int = 0, **more: Any) -> PartitionRegistration:
    return PartitionRegistration(more.pop("replicas", ALL), isr, leader, **more)


def changed(
    before: PartitionRegistration,
    live: tuple[int, ...] = ALL,
    rules: ElectionRules = PLAIN,
    **wanted: Any,
) -> dict[str, Any] | None:
    """What the record says of the partition, without what stays; None: there is no record."""
    brokers = wanted.pop("brokers", BROKERS)
    record = PartitionChangeBuilder(before, live, brokers, rules, **wanted).build(KEY)
    if record is None:
        return None
    assert (record.partition_id, record.topic_id) == (5, "id")
    stays = PartitionChangeRecord(5, "id")
    fields = PartitionChangeRecord.__struct_fields__
    return {f: getattr(record, f) for f in fields if getattr(record, f) != getattr(stays, f)}


# ---- who leads


@pytest.mark.parametrize(
    ("election", "isr", "live", "says"),
    [
        (Election.ONLINE, ALL, ALL, None),
        (Election.ONLINE, ALL, (2, 0), {"leader": 0}),  # the leader, else in order of the replicas
        (Election.ONLINE, ALL, (2,), {"leader": 2}),
        (Election.ONLINE, (0, 1), (0, 2), {"leader": 0}),
        (Election.PREFERRED, ALL, ALL, {"leader": 0}),
        (Election.PREFERRED, (1, 2), ALL, None),
        (Election.PREFERRED, ALL, (1, 2), None),
        (Election.ONLINE, (1,), (0, 2), {"leader": NO_LEADER}),
        (Election.PREFERRED, (1,), (0, 2), {"leader": NO_LEADER}),
        (
            Election.UNCLEAN,
            (1,),
            (2,),
            {"leader": 2, "isr": (2,), "leader_recovery_state": RECOVERING},
        ),
        (Election.UNCLEAN, (1, 2), (0, 2), {"leader": 2}),
        (Election.UNCLEAN, (1,), (7,), {"leader": NO_LEADER}),
    ],
)
def test_who_leads_instead_of_1(
    election: Election, isr: tuple[int, ...], live: tuple[int, ...], says: dict[str, Any] | None
) -> None:
    assert changed(partition(isr, leader=1), live, election=election) == says


def test_a_leader_that_was_elected_uncleanly_again_is_recovering_already() -> None:
    before = partition((1,), NO_LEADER, leader_recovery_state=RECOVERING)
    assert changed(before, (2,), election=Election.UNCLEAN) == {"leader": 2, "isr": (2,)}
    assert changed(before, (1,), target_leader_recovery_state=RECOVERED) == {
        "leader": 1,
        "leader_recovery_state": RECOVERED,
    }


# ---- which epoch


@pytest.mark.parametrize(
    ("bumps", "isr", "says"),
    [
        (False, (0, 1), {"isr": (0, 1)}),
        (True, (0, 1), {"isr": (0, 1), "leader": 0}),
        (True, (0, 2, 1), {"isr": (0, 2, 1)}),  # another order is no shrinking
        (False, ALL, None),
    ],
)
def test_the_epoch_rises_as_the_isr_shrinks_before_3_6(
    bumps: bool, isr: tuple[int, ...], says: dict[str, Any] | None
) -> None:
    rules = ElectionRules(bumps_epoch_on_shrink=bumps)
    assert changed(partition(), rules=rules, target_isr=isr) == says


def test_growing_costs_no_epoch_and_a_removed_replica_does() -> None:
    rules = ElectionRules(bumps_epoch_on_shrink=True)
    assert changed(partition((0, 1)), rules=rules, target_isr=ALL) == {"isr": ALL}
    assert changed(partition((0, 1)), target_replicas=(0, 1)) == {"leader": 0, "replicas": (0, 1)}
    assert changed(partition((0, 1)), target_replicas=(0, 1, 2, 3)) == {"replicas": (0, 1, 2, 3)}


# ---- who is eligible (KIP-966)


@pytest.mark.parametrize(
    ("elr", "isr", "killed", "left"),
    [
        ((), (0, 1), None, None),
        ((), (0,), None, (1, 2)),
        ((2,), (0,), None, (1, 2)),
        ((1, 2), (0,), 2, (1,)),
        ((2,), (0, 1), None, ()),  # the minimum is met: nobody else is needed
    ],
)
def test_who_leaves_an_isr_below_the_minimum_stays_eligible(
    elr: tuple[int, ...], isr: tuple[int, ...], killed: int | None, left: tuple[int, ...] | None
) -> None:
    found = changed(partition(elr=elr), rules=ELR, target_isr=isr, unclean_shutdown=killed)
    assert found is not None
    assert found.get("eligible_leader_replicas") == left


def test_an_eligible_replica_becomes_the_only_member() -> None:
    before = partition((), NO_LEADER, elr=(0, 1, 2), last_known_elr=(0,))
    assert changed(before, (1, 2), ELR) == {
        "isr": (1,),
        "leader": 1,
        "eligible_leader_replicas": (0, 2),
        "last_known_elr": (),
    }


@pytest.mark.parametrize(
    ("last_known", "isr", "elr", "live", "dead_too", "leader"),
    [
        ((2,), (), (), (2,), False, 2),
        ((2,), (), (), (1,), False, None),
        ((2,), (), (), (1,), True, 2),
        ((2, 1), (), (), (1, 2), True, None),
        ((), (), (), (1, 2), True, None),
        ((2,), (0,), (), (2,), True, None),
        ((2,), (), (0,), (2,), True, None),
    ],
)
def test_the_last_known_leader_is_elected_when_nobody_else_can_be(
    last_known: tuple[int, ...],
    isr: tuple[int, ...],
    elr: tuple[int, ...],
    live: tuple[int, ...],
    dead_too: bool,
    leader: int | None,
) -> None:
    rules = ElectionRules(min_isr=2, elr_enabled=True, elects_dead_last_known_leader=dead_too)
    found = changed(partition(isr, NO_LEADER, elr=elr, last_known_elr=last_known), live, rules)
    assert (found or {}).get("leader") == leader
    if leader is not None:
        assert found is not None
        assert (found["isr"], found["leader_recovery_state"]) == ((leader,), RECOVERING)
        assert found["last_known_elr"] == ()


def test_without_elr_nobody_is_elected_for_having_led() -> None:
    assert changed(partition((), NO_LEADER, last_known_elr=(2,)), (2,)) is None


def test_the_last_leader_is_noted_as_it_goes_and_up_to_4_1_0_as_the_isr_empties() -> None:
    before = partition((0,), 0)
    assert changed(before, (1,), ELR) == {"leader": NO_LEADER, "last_known_elr": (0,)}
    assert changed(before, (1,), OLD_ELR) == {"leader": NO_LEADER}
    assert changed(before, (1,), OLD_ELR, target_isr=()) == {
        "isr": (),
        "leader": NO_LEADER,
        "eligible_leader_replicas": (0,),
        "last_known_elr": (0,),
    }


@pytest.mark.parametrize("rules", [ELR, OLD_ELR])
def test_who_leads_again_is_no_longer_remembered_as_the_last(rules: ElectionRules) -> None:
    before = partition((0,), NO_LEADER, last_known_elr=(2,))
    assert changed(before, (0,), rules) == {"leader": 0, "last_known_elr": ()}


def test_up_to_4_1_0_any_change_under_a_leader_forgets_the_last_one() -> None:
    before = partition((0, 1), 0, last_known_elr=(2,))
    assert changed(before, rules=OLD_ELR, target_isr=ALL) == {"isr": ALL, "last_known_elr": ()}
    assert changed(before, rules=ELR, target_isr=ALL) == {"isr": ALL}
    offline = partition((0,), NO_LEADER, last_known_elr=(2,))
    assert changed(offline, (1,), OLD_ELR, target_replicas=(0, 1, 2, 3)) == {
        "replicas": (0, 1, 2, 3)
    }


# ---- reassignments


def test_a_reassignment_ends_with_the_change_that_completes_it() -> None:
    before = partition((0, 1), replicas=(1, 2, 0), removing_replicas=(0,), adding_replicas=(2,))
    assert changed(before, target_isr=(0, 1)) is None
    assert changed(before, target_isr=(0, 1, 2)) == {
        "isr": (1, 2),
        "leader": 1,
        "replicas": (1, 2),
        "removing_replicas": (),
        "adding_replicas": (),
    }
