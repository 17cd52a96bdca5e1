"""Who is in a group: joining, the rebalance, leaving, and sessions that run out."""

import pytest

from emulator.coordinator.members import NEW_MEMBER_JOIN_US, GroupMembership
from emulator.events import MemberJoined, MemberLeft
from emulator.protocol import Subscription
from tests.emulator.coordinator.bench import REBALANCE_MS, SESSION_MS, Bench

REBALANCE = ["PreparingRebalance", "CompletingRebalance", "Stable"]


# ---- joining


def test_a_lone_member_leads_and_learns_who_is_there() -> None:
    bench = Bench()
    joined = bench.response_to(bench.join("a"))
    assert (joined.error, joined.generation, joined.leader) == ("NONE", 1, joined.member_id)
    assert joined.members == {joined.member_id: Subscription(["t"])}
    assert joined.member_id.startswith("a-")
    assert isinstance(bench.lab.cluster.brokers[0].core.coordinator.members, GroupMembership)


def test_a_follower_does_not_learn_who_is_there() -> None:
    bench = Bench()
    leader, follower = bench.stable("a", "b")
    assert follower.members == {}
    assert list(leader.members) == [leader.member_id, follower.member_id]
    assert leader.leader == follower.leader == leader.member_id


def test_a_rebalance_goes_through_its_states() -> None:
    bench = Bench()
    bench.stable("a")
    assert bench.states() == REBALANCE
    assert [event.consumer for event in bench.lab.seen.of(MemberJoined)] == ["a"]


def test_from_2_2_a_new_member_is_told_its_id_first() -> None:
    bench = Bench("2.2")
    refused = bench.response_to(bench.join("a"))
    assert refused.error == "MEMBER_ID_REQUIRED"
    joined = bench.response_to(bench.join("a", refused.member_id))
    assert (joined.error, joined.member_id) == ("NONE", refused.member_id)


def test_an_id_that_nobody_joins_with_is_forgotten() -> None:
    bench = Bench("2.2")
    first = bench.response_to(bench.join("a", bench.response_to(bench.join("a")).member_id))
    bench.sync(first)
    refused = bench.response_to(bench.join("b"))
    again = bench.join("a", first.member_id)
    assert bench.response_to(again) is None
    bench.lab.wait(SESSION_MS)
    assert bench.response_to(again).error == "NONE"
    assert bench.response_to(bench.join("b", refused.member_id)).error == "UNKNOWN_MEMBER_ID"


def test_an_unknown_member_is_refused() -> None:
    bench = Bench()
    assert bench.response_to(bench.join("a", "a-0000")).error == "UNKNOWN_MEMBER_ID"


def test_another_assignor_than_the_groups_is_refused() -> None:
    bench = Bench()
    bench.stable("a")
    refused = bench.response_to(bench.join("b", assignor="roundrobin"))
    assert refused.error == "INCONSISTENT_GROUP_PROTOCOL"


def test_a_member_that_wants_the_same_again_changes_nothing() -> None:
    bench = Bench()
    _, follower = bench.stable("a", "b")
    again = bench.response_to(bench.join("b", follower.member_id))
    assert (again.error, again.generation) == ("NONE", follower.generation)
    assert bench.group().state == "Stable"


def test_a_member_that_wants_something_else_makes_all_join_again() -> None:
    bench = Bench()
    leader, follower = bench.stable("a", "b")
    waiting = bench.join("b", follower.member_id, subscription=Subscription(["u"]))
    assert bench.response_to(waiting) is None
    assert bench.beat(leader) == "REBALANCE_IN_PROGRESS"
    assert bench.response_to(bench.join("a", leader.member_id)).generation == 3
    assert bench.response_to(waiting).generation == 3


def test_a_leader_that_joins_makes_all_join_again() -> None:
    bench = Bench()
    leader, follower = bench.stable("a", "b")
    assert bench.response_to(bench.join("a", leader.member_id)) is None
    assert bench.beat(follower) == "REBALANCE_IN_PROGRESS"


# ---- the wait for members


def test_an_empty_group_waits_for_more_than_its_first_member() -> None:
    bench = Bench(delay_ms=3_000)
    first = bench.join("a")
    bench.lab.wait(2_000)
    second = bench.join("b")
    bench.lab.wait(2_000)
    assert bench.response_to(first) is None
    bench.lab.wait(2_100)
    assert bench.response_to(first).generation == bench.response_to(second).generation == 1
    assert len(bench.response_to(first).members) == 2


def test_before_0_11_the_first_member_is_alone_at_once() -> None:
    bench = Bench("0.10.2")
    assert bench.response_to(bench.join("a")).generation == 1


def test_whoever_does_not_join_again_is_out() -> None:
    bench = Bench()
    leader, follower = bench.stable("a", "b")
    waiting = bench.join("c")
    bench.join("a", leader.member_id)
    for _ in range(REBALANCE_MS // 1000):
        bench.lab.wait(1_000)
        bench.beat(follower)
    assert bench.response_to(waiting).generation == 3
    (left,) = bench.lab.seen.of(MemberLeft)
    assert (left.consumer, left.reason) == ("b", "did not join again")
    assert bench.beat(follower) == "UNKNOWN_MEMBER_ID"


# ---- the assignment


def test_members_wait_for_the_leaders_assignment() -> None:
    bench = Bench()
    first = bench.response_to(bench.join("a"))
    bench.sync(first)
    waiting = bench.join("b")
    leader = bench.response_to(bench.join("a", first.member_id))
    follower = bench.response_to(waiting)
    asked = bench.sync(follower)
    assert bench.response_to(asked) is None
    told = bench.sync(leader, a=["t-0"], b=["t-1"])
    assert bench.response_to(asked).partitions == ["t-1"]
    assert bench.response_to(told).partitions == ["t-0"]


def test_a_stable_group_tells_a_member_again_what_it_has() -> None:
    bench = Bench()
    leader, follower = bench.stable("a", "b")
    assert bench.response_to(bench.sync(leader)).partitions == ["t-0"]
    assert bench.response_to(bench.sync(follower)).partitions == []


def test_who_comes_while_the_leader_assigns_begins_it_all_again() -> None:
    bench = Bench()
    bench.stable("a", "b")
    leader, follower = bench.group().members.values()
    third = bench.join("c")
    again = bench.join("a", leader.id), bench.join("b", follower.id)
    asked = bench.sync(bench.response_to(third))
    bench.join("d")
    assert bench.response_to(asked).error == "REBALANCE_IN_PROGRESS"
    late = bench.response_to(bench.sync(bench.response_to(again[0]), a=["t-0"]))
    assert late.error == "REBALANCE_IN_PROGRESS"


@pytest.mark.parametrize("changes", [{"generation": 7}, {"member_id": "a-0000"}])
def test_who_is_not_in_the_generation_gets_nothing(changes: dict[str, object]) -> None:
    bench = Bench()
    (leader,) = bench.stable("a")
    given = {name: getattr(leader, name) for name in leader.__struct_fields__}
    stranger = type(leader)(**{**given, **changes})
    error = "ILLEGAL_GENERATION" if "generation" in changes else "UNKNOWN_MEMBER_ID"
    assert bench.response_to(bench.sync(stranger)).error == error
    assert bench.beat(stranger) == error
    assert bench.response_to(bench.commit(1, stranger)).error == error


# ---- going


def test_a_member_that_leaves_lets_the_others_share_at_once() -> None:
    bench = Bench()
    leader, follower = bench.stable("a", "b")
    assert bench.leave(leader) == "NONE"
    assert bench.group().leader == follower.member_id
    assert bench.beat(follower) == "REBALANCE_IN_PROGRESS"
    assert bench.response_to(bench.join("b", follower.member_id)).leader == follower.member_id
    assert bench.leave(leader) == "UNKNOWN_MEMBER_ID"


def test_the_last_member_leaves_an_empty_group_with_its_positions() -> None:
    bench = Bench()
    (member,) = bench.stable("a")
    bench.commit(3, member)
    bench.leave(member)
    assert bench.states() == [*REBALANCE, "PreparingRebalance", "Empty"]
    assert bench.committed().offsets == {"t-0": 3, "t-1": -1}


def test_a_member_is_out_when_its_session_has_run_out() -> None:
    bench = Bench()
    leader, follower = bench.stable("a", "b")
    bench.alive(leader, milliseconds=SESSION_MS - 2_000)
    assert bench.group().state == "Stable"
    bench.alive(leader, milliseconds=3_000)
    assert list(bench.group().members) == [leader.member_id]
    assert bench.beat(leader) == "REBALANCE_IN_PROGRESS"
    (left,) = bench.lab.seen.of(MemberLeft)
    assert (left.member, left.reason) == (follower.member_id, "session expired")


@pytest.mark.parametrize(
    ("version", "sign", "error"),
    [
        ("2.4", "heartbeat", "REBALANCE_IN_PROGRESS"),
        ("2.6", "heartbeat", "NONE"),
        ("2.4", "commit", "REBALANCE_IN_PROGRESS"),
        ("2.6", "commit", "REBALANCE_IN_PROGRESS"),
    ],
)
def test_a_member_that_is_refused_before_the_assignment_is_out_like_a_silent_one(
    version: str, sign: str, error: str
) -> None:
    bench = Bench(version)
    member_id = bench.response_to(bench.join("a")).member_id
    joined = bench.response_to(bench.join("a", member_id))
    for _ in range(2):
        bench.lab.wait(SESSION_MS // 2 - 100)
        if sign == "heartbeat":
            assert bench.beat(joined) == error
        else:
            assert bench.response_to(bench.commit(1, joined)).error == error
    bench.lab.wait(1_000)
    assert list(bench.group().members) == ([member_id] if error == "NONE" else [])


def test_the_members_that_have_not_synced_are_not_listed_anew_for_each_that_does() -> None:
    bench = Bench("2.8")
    leader_id = bench.response_to(bench.join("a")).member_id
    bench.join("a", leader_id)
    follower_id = bench.response_to(bench.join("b")).member_id
    waiting = bench.join("b", follower_id)
    bench.join("a", leader_id)
    unsynced = bench.group().unsynced
    assert list(unsynced) == [leader_id, follower_id]
    bench.sync(bench.response_to(waiting))
    assert bench.group().unsynced is unsynced
    assert list(unsynced) == [leader_id]


def test_a_member_that_waits_for_its_coordinator_is_not_out() -> None:
    bench = Bench()
    leader, follower = bench.stable("a", "b")
    bench.join("b", follower.member_id, subscription=Subscription(["u"]))
    bench.alive(leader, milliseconds=SESSION_MS + 2_000)
    assert len(bench.group().members) == 2


def test_a_new_member_that_is_never_answered_is_out_after_five_minutes() -> None:
    bench = Bench()
    leader, _ = bench.stable("a", "b")
    waiting = bench.join("c", rebalance_timeout_us=2 * NEW_MEMBER_JOIN_US)
    bench.join("a", leader.member_id)
    _, follower, _ = bench.group().members.values()
    for _ in range(NEW_MEMBER_JOIN_US // 5_000_000 + 1):
        bench.lab.wait(5_000)
        follower.deadline_us = bench.lab.cluster.now_us + SESSION_MS * 1000
    assert bench.response_to(waiting).error == "UNKNOWN_MEMBER_ID"
