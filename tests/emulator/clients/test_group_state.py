"""What a member remembers."""

import pytest

from emulator.clients.group_state import MEMBER, OUT, Membership


def member() -> Membership:
    made = Membership("g", "t", "range", subscribes=True)
    made.phase, made.member_id, made.generation, made.leader = MEMBER, "c1-1", 3, "c1-1"
    made.partitions = ["t-0"]
    return made


def test_a_member_leads_if_the_leader_is_itself() -> None:
    assert member().leads
    assert not Membership("g", "t", "range", subscribes=True).leads


def test_only_a_leader_notices_that_a_topic_has_grown() -> None:
    for leader, rejoins in (("c1-1", True), ("c2-2", False)):
        made = member()
        made.leader, made.counts = leader, {"t": 1}
        made.counted("t", 1)
        assert not made.rejoin
        made.counted("t", 2)
        assert made.rejoin is rejoins


@pytest.mark.parametrize("error", ["UNKNOWN_MEMBER_ID", "ILLEGAL_GENERATION"])
def test_who_is_no_member_joins_as_somebody_new(error: str) -> None:
    refused = member()
    refused.refused(error)
    assert (refused.phase, refused.member_id, refused.generation) == (OUT, "", -1)
    assert refused.partitions == []


def test_who_is_only_late_keeps_its_name() -> None:
    refused = member()
    refused.refused("REBALANCE_IN_PROGRESS")
    assert (refused.rejoin, refused.member_id) == (True, "c1-1")
