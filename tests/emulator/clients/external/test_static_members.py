"""Static members of groups (KIP-345): they come back without a rebalance, and fence each other."""

from typing import Any

import pytest

from emulator.common.errors import ERROR_NAMES
from emulator.inputs.statements import CrashBroker, StartBroker
from emulator.wire.messages.committed_offsets import OffsetCommitRequest
from emulator.wire.messages.coordinator import FindCoordinatorRequest
from emulator.wire.messages.groups import DescribeGroupsRequest
from emulator.wire.messages.membership import (
    HeartbeatRequest,
    JoinGroupRequest,
    JoinGroupRequestProtocol,
    LeaveGroupRequest,
    MemberIdentity,
    SyncGroupRequest,
    SyncGroupRequestAssignment,
)
from tests.support.wire_client import WireLab

US_PER_SECOND = 1_000_000
CONFIG = {"group.initial.rebalance.delay.ms": "500", "offsets.topic.replication.factor": "1"}


class Static:
    """A member with an instance id, and its connection to the coordinator."""

    def __init__(self, lab: WireLab, instance: str, *protocols: str) -> None:
        self.lab = lab
        self.instance = instance
        self.connection = lab.connect()
        self.protocols = [
            JoinGroupRequestProtocol(name, f"{name}!".encode()) for name in protocols or ("range",)
        ]
        self.id = ""
        self.joined: Any = None

    def send_join(self, version: int = 7) -> None:
        wanted = JoinGroupRequest(
            *("g", 10_000, 20_000, self.id, self.instance, "consumer", self.protocols)
        )
        self.lab.send(self.connection, wanted, version)

    def take(self) -> str:
        self.joined = self.lab.received(self.connection, 60_000_000)
        if not self.joined.error_code:
            self.id = self.joined.member_id
        return ERROR_NAMES[self.joined.error_code]

    def join(self, version: int = 7) -> str:
        self.send_join(version)
        return self.take()

    def send_sync(self, **assignments: bytes) -> None:
        rows = [SyncGroupRequestAssignment(*each) for each in assignments.items()]
        fields = ("g", self.joined.generation_id, self.id, self.instance)
        self.lab.send(self.connection, SyncGroupRequest(*fields, assignments=rows), 3)

    def synced(self) -> tuple[str, bytes]:
        response = self.lab.received(self.connection)
        return ERROR_NAMES[response.error_code], response.assignment

    def heartbeat(self) -> str:
        wanted = HeartbeatRequest("g", self.joined.generation_id, self.id, self.instance)
        return ERROR_NAMES[self.lab.ask(self.connection, wanted, 3).error_code]

    def leave(self, *members: tuple[str, str | None]) -> list[str]:
        wanted = LeaveGroupRequest("g", members=[MemberIdentity(*each) for each in members])
        response = self.lab.ask(self.connection, wanted, 3)
        return [ERROR_NAMES[each.error_code] for each in response.members]


@pytest.fixture
def lab() -> WireLab:
    made = WireLab.made(brokers=1, config=CONFIG)
    here = made.connect()
    for _ in range(50):
        (found,) = made.ask(here, FindCoordinatorRequest(coordinator_keys=["g"]), 4).coordinators
        if not found.error_code:
            break
        made.pass_time(20_000)
    made.pass_time(100_000)
    return made


def stable(lab: WireLab, *, version: int = 7) -> tuple[Static, Static]:
    """A stable group of two; the first leads."""
    pair = Static(lab, "a"), Static(lab, "b")
    for each in pair:
        each.send_join(version)
    assert [each.take() for each in pair] == ["NONE", "NONE"]
    one, two = sorted(pair, key=lambda each: each.id != each.joined.leader)
    two.send_sync()
    one.send_sync(**{one.id: b"for the first", two.id: b"for the second"})
    assert one.synced() == ("NONE", b"for the first")
    assert two.synced() == ("NONE", b"for the second")
    return one, two


def test_a_static_member_joins_at_once_and_its_id_begins_with_the_instances(lab: WireLab) -> None:
    member = Static(lab, "a")
    assert member.join() == "NONE"
    assert member.id.startswith("a-")
    assert [each.group_instance_id for each in member.joined.members] == ["a"]


def test_one_that_comes_back_has_its_assignment_without_a_rebalance(lab: WireLab) -> None:
    one, two = stable(lab)
    again = Static(lab, two.instance)
    assert again.join() == "NONE"
    assert again.joined.generation_id == two.joined.generation_id
    assert (again.joined.leader, again.joined.members) == (one.id, [])
    again.send_sync()
    assert again.synced() == ("NONE", b"for the second")
    assert one.heartbeat() == "NONE"
    assert again.heartbeat() == "NONE"


def test_its_predecessor_is_fenced(lab: WireLab) -> None:
    _, two = stable(lab)
    assert Static(lab, two.instance).join() == "NONE"
    assert two.heartbeat() == "FENCED_INSTANCE_ID"
    assert two.join() == "FENCED_INSTANCE_ID"
    two.send_sync()
    assert two.synced()[0] == "FENCED_INSTANCE_ID"
    commit = OffsetCommitRequest("g", two.joined.generation_id, two.id, two.instance)
    assert two.leave((two.id, two.instance)) == ["FENCED_INSTANCE_ID"]
    lab.ask(two.connection, commit, 7)


def test_a_leader_that_comes_back_is_told_that_its_predecessor_leads(lab: WireLab) -> None:
    one, two = stable(lab)
    again = Static(lab, one.instance)
    assert again.join() == "NONE"
    assert (again.joined.leader, again.joined.members) == (one.id, [])
    again.send_sync()
    assert again.synced() == ("NONE", b"for the first")
    assert two.heartbeat() == "NONE"


def test_since_version_9_it_leads_and_skips_the_assignment(lab: WireLab) -> None:
    one, two = stable(lab)
    again = Static(lab, one.instance)
    assert again.join(9) == "NONE"
    assert again.joined.leader == again.id
    assert again.joined.skip_assignment
    assert {each.member_id for each in again.joined.members} == {again.id, two.id}
    other = Static(lab, two.instance)
    assert other.join(9) == "NONE"
    assert (other.joined.leader, other.joined.skip_assignment) == (again.id, False)


def test_another_protocol_of_the_group_is_a_rebalance(lab: WireLab) -> None:
    pair = Static(lab, "a", "range", "sticky"), Static(lab, "b", "range", "sticky")
    for each in pair:
        each.send_join()
    assert [each.take() for each in pair] == ["NONE", "NONE"]
    one, two = sorted(pair, key=lambda each: each.id != each.joined.leader)
    two.send_sync()
    one.send_sync(**{one.id: b"1", two.id: b"2"})
    one.synced(), two.synced()
    again = Static(lab, two.instance, "sticky")
    again.send_join()
    lab.pass_time(100_000)
    assert one.heartbeat() == "REBALANCE_IN_PROGRESS"
    assert one.join() == "NONE"
    assert again.take() == "NONE"
    assert again.joined.protocol_name == "sticky"
    assert again.joined.generation_id == two.joined.generation_id + 1


def test_one_that_is_away_while_others_rebalance_stays_until_its_session_ends(
    lab: WireLab,
) -> None:
    one, _ = stable(lab)
    third = Static(lab, "c")
    third.send_join()
    lab.pass_time(50_000)
    assert one.heartbeat() == "REBALANCE_IN_PROGRESS"
    one.send_join()
    for _ in range(10):  # its session goes on while it is silent: the rebalance comes first
        lab.pass_time(US_PER_SECOND // 2)
    assert (one.take(), third.take()) == ("NONE", "NONE")
    leader = next(each for each in (one, third) if each.joined.members)
    instances = {each.group_instance_id for each in leader.joined.members}
    assert instances in ({"a", "b", "c"}, {one.instance, "c"})


def test_the_session_of_a_static_member_ends(lab: WireLab) -> None:
    one, two = stable(lab)
    for _ in range(12):
        lab.pass_time(US_PER_SECOND)
        error = one.heartbeat()
    assert error == "REBALANCE_IN_PROGRESS"
    assert one.join() == "NONE"
    assert [each.group_instance_id for each in one.joined.members] == [one.instance]
    assert two.heartbeat() == "UNKNOWN_MEMBER_ID"


def test_an_administrator_removes_members_by_instance_id(lab: WireLab) -> None:
    one, two = stable(lab)
    told = one.leave(("", two.instance), ("", "nobody"), ("stranger", None))
    assert told == ["NONE", "UNKNOWN_MEMBER_ID", "UNKNOWN_MEMBER_ID"]
    assert one.heartbeat() == "REBALANCE_IN_PROGRESS"
    assert one.leave((one.id, "nobody"), (one.id, None)) == ["UNKNOWN_MEMBER_ID", "NONE"]


def test_groups_are_described_with_instance_ids(lab: WireLab) -> None:
    one, two = stable(lab)
    response = lab.ask(one.connection, DescribeGroupsRequest(["g"]), 5)
    found = {each.member_id: each.group_instance_id for each in response.groups[0].members}
    assert found == {one.id: one.instance, two.id: two.instance}


def test_a_restarted_coordinator_knows_static_members(lab: WireLab) -> None:
    one, two = stable(lab)
    again = Static(lab, two.instance)
    assert again.join() == "NONE"
    lab.run(CrashBroker(broker=0))
    lab.run(StartBroker(broker=0))
    lab.pass_time(8 * US_PER_SECOND)
    one.connection, two.connection = lab.connect(), lab.connect()
    assert one.heartbeat() == "NONE"
    assert two.heartbeat() == "FENCED_INSTANCE_ID"
