"""The election strategies, as functions of plain values."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emulator.replication import election as elections
from emulator.replication.election import Choice

# ---- a new partition


def test_the_first_live_replica_leads_a_new_partition_and_all_live_ones_are_in_sync() -> None:
    assert elections.initial([3, 1, 2], live=[1, 2, 3]) == Choice(3, [3, 1, 2])
    assert elections.initial([3, 1, 2], live=[2, 1]) == Choice(1, [1, 2])


def test_without_a_live_replica_a_new_partition_has_no_leader() -> None:
    assert elections.initial([3, 1], live=[2]) is None


# ---- the leader is gone


def offline(isr: list[int], live: list[int], **options: bool) -> Choice | None:
    given_options = {"unclean": False, "isr_order": False, **options}
    return elections.offline([1, 2, 3], isr, live, **given_options)


def test_the_first_assigned_replica_in_sync_leads() -> None:
    assert offline([3, 2, 1], live=[2, 3]) == Choice(2, [3, 2])


def test_up_to_0_8_1_the_order_of_the_isr_decides() -> None:
    assert offline([3, 2, 1], live=[2, 3], isr_order=True) == Choice(3, [3, 2])


def test_members_that_are_dead_leave_the_isr() -> None:
    assert offline([1, 2, 3], live=[1, 3]) == Choice(1, [1, 3])


def test_nobody_leads_if_no_member_is_alive() -> None:
    assert offline([1], live=[2, 3]) is None


def test_an_unclean_election_takes_the_first_live_replica_alone() -> None:
    assert offline([1], live=[2, 3], unclean=True) == Choice(2, [2])
    assert offline([1], live=[], unclean=True) is None


def test_an_unclean_election_still_prefers_a_member() -> None:
    assert offline([3], live=[2, 3], unclean=True) == Choice(3, [3])


# ---- the preferred replica, and replicas that take over in a reassignment


@pytest.mark.parametrize(
    ("isr", "live", "choice"),
    [
        ([2, 3, 1], [1, 2, 3], Choice(1, [2, 3, 1])),
        ([2, 3], [1, 2, 3], None),
        ([2, 3, 1], [2, 3], None),
    ],
    ids=["live and in sync", "not in sync", "not alive"],
)
def test_the_head_of_the_replicas_leads_if_it_can(
    isr: list[int], live: list[int], choice: Choice | None
) -> None:
    assert elections.preferred([1, 2, 3], isr, live) == choice


def test_the_first_target_in_sync_takes_over_and_the_isr_stays() -> None:
    isr = [1, 2, 3, 4, 5]
    assert elections.reassigned([4, 5, 6], isr, live=[1, 2, 5, 6]) == Choice(5, isr)
    assert elections.reassigned([6], isr, live=[6]) is None


# ---- controlled shutdown


@pytest.mark.parametrize(
    ("assigned", "isr", "choice"),
    [
        ([1, 2, 3], [1, 2, 3], Choice(2, [2, 3])),
        ([2, 1, 3], [2, 1, 3], Choice(2, [2, 3])),
        ([1, 2], [1], None),
    ],
    ids=["led by it", "led by another", "no other in sync"],
)
def test_those_that_go_leave_the_isr_and_the_first_that_stays_leads(
    assigned: list[int], isr: list[int], choice: Choice | None
) -> None:
    live = [1, 2, 3]
    assert elections.controlled_shutdown(assigned, isr, live, shutting_down=[1]) == choice


def test_up_to_0_9_the_order_of_the_isr_says_who_takes_over() -> None:
    args = ([1, 2, 3], [3, 2, 1], [1, 2, 3], [1])
    assert elections.controlled_shutdown(*args) == Choice(2, [3, 2])
    assert elections.controlled_shutdown(*args, isr_order=True) == Choice(3, [3, 2])


BROKERS = st.lists(st.integers(0, 5), max_size=6, unique=True)


@given(assigned=BROKERS, isr=BROKERS, live=BROKERS, going=BROKERS, unclean=st.booleans())
def test_whoever_is_chosen_is_assigned_alive_and_in_the_new_isr(
    assigned: list[int], isr: list[int], live: list[int], going: list[int], unclean: bool
) -> None:
    isr = [broker for broker in isr if broker in assigned]
    choices = [
        elections.initial(assigned, live),
        elections.offline(assigned, isr, live, unclean=unclean, isr_order=False),
        elections.offline(assigned, isr, live, unclean=unclean, isr_order=True),
        elections.reassigned(assigned, isr, live),
        elections.controlled_shutdown(assigned, isr, live, going),
        elections.preferred(assigned, isr, live) if assigned else None,
    ]
    for choice in choices:
        if choice is not None:
            assert choice.leader in assigned
            assert choice.leader in live
            assert choice.leader in choice.isr
            assert set(choice.isr) <= set(assigned)
