from typing import Any

import pytest
from msgspec.structs import replace

from emulator.common.errors import ERRORS
from emulator.inputs.statements import CreateTopic, InjectError
from emulator.wire.messages.committed_offsets import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopic,
)
from emulator.wire.messages.coordinator import FindCoordinatorRequest
from emulator.wire.messages.groups import (
    DeleteGroupsRequest,
    DescribeGroupsRequest,
    ListGroupsRequest,
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
)
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


def code(name: str) -> int:
    return ERRORS[name].code


class Member:
    """A member of group ``g``, and its connection to the coordinator."""

    def __init__(self, lab: WireLab, coordinator: int, *protocols: str) -> None:
        self.lab = lab
        self.connection = lab.connect(coordinator)
        self.protocols = [JoinGroupRequestProtocol(p, f"{p}!".encode()) for p in protocols]
        self.id = ""
        self.joined: Any = None

    def join(self, version: int = 7) -> None:
        wanted = JoinGroupRequest(
            "g", 10_000, 20_000, self.id, protocol_type="consumer", protocols=self.protocols
        )
        self.lab.send(self.connection, wanted, version)

    def take(self) -> int:
        """The response to a join; its error."""
        self.joined = self.lab.received(self.connection, 60_000_000)
        self.id = self.joined.member_id or self.id
        return int(self.joined.error_code)

    def ask(self, request: Any, version: int) -> Any:  # noqa: ANN401
        return self.lab.ask(self.connection, request, version)

    def sync(self, assignments: dict[str, bytes]) -> None:
        rows = [SyncGroupRequestAssignment(*each) for each in assignments.items()]
        wanted = SyncGroupRequest("g", self.joined.generation_id, self.id, assignments=rows)
        self.lab.send(self.connection, wanted, 3)


@pytest.fixture
def lab() -> WireLab:
    lab = WireLab.made(config={"group.initial.rebalance.delay.ms": "500"})
    lab.run(CreateTopic(topic="t", partitions=2))
    return lab


@pytest.fixture
def coordinator(lab: WireLab) -> int:
    here = lab.connect()
    for _ in range(50):
        response = lab.ask(here, FindCoordinatorRequest(coordinator_keys=["g"]), 4)
        (found,) = response.coordinators
        if not found.error_code:
            assert found.port == 9092 + found.node_id
            lab.pass_time(100_000)
            return int(found.node_id)
        assert found.error_code == code("COORDINATOR_NOT_AVAILABLE")
        lab.pass_time(20_000)
    raise AssertionError("no coordinator was found")


def test_a_member_is_given_its_id_before_it_joins(lab: WireLab, coordinator: int) -> None:
    member = Member(lab, coordinator, "range")
    member.join()
    assert member.take() == code("MEMBER_ID_REQUIRED")
    assert member.id
    member.join()
    assert member.take() == 0
    assert (member.joined.leader, member.joined.generation_id) == (member.id, 1)


def test_an_old_member_joins_at_once(lab: WireLab, coordinator: int) -> None:
    member = Member(lab, coordinator, "range")
    member.join(version=2)
    assert member.take() == 0


def two_members(lab: WireLab, coordinator: int) -> tuple[Member, Member]:
    one = Member(lab, coordinator, "sticky", "range")
    other = Member(lab, coordinator, "range")
    for member in (one, other):
        member.join()
        assert member.take() == code("MEMBER_ID_REQUIRED")
    one.join()
    other.join()
    assert (one.take(), other.take()) == (0, 0)
    return one, other


def test_metadata_and_assignments_pass_through_untouched(lab: WireLab, coordinator: int) -> None:
    one, other = two_members(lab, coordinator)
    leader, follower = (one, other) if one.joined.leader == one.id else (other, one)
    assert leader.joined.protocol_name == follower.joined.protocol_name == "range"
    assert {m.member_id: m.metadata for m in leader.joined.members} == {
        one.id: b"range!",
        other.id: b"range!",
    }
    assert follower.joined.members == []
    follower.sync({})
    leader.sync({leader.id: b"\0\1opaque", follower.id: b"\xff"})
    found = [lab.received(each.connection) for each in (leader, follower)]
    assert [each.error_code for each in found] == [0, 0]
    assert [each.assignment for each in found] == [b"\0\1opaque", b"\xff"]
    (described,) = one.ask(DescribeGroupsRequest(["g"]), 5).groups
    assert (described.group_state, described.protocol_data) == ("Stable", "range")
    assert {m.member_id for m in described.members} == {one.id, other.id}


def test_members_without_a_common_protocol_are_not_in_one_group(
    lab: WireLab, coordinator: int
) -> None:
    one, other = Member(lab, coordinator, "range"), Member(lab, coordinator, "sticky")
    one.join(version=2)
    assert one.take() == 0
    other.join(version=2)
    assert other.take() == code("INCONSISTENT_GROUP_PROTOCOL")


def test_a_member_that_leaves_has_the_others_join_again(lab: WireLab, coordinator: int) -> None:
    one, other = two_members(lab, coordinator)
    leaving = LeaveGroupRequest("g", members=[MemberIdentity(one.id)])
    assert one.ask(leaving, 4).members[0].error_code == 0
    beat = HeartbeatRequest("g", other.joined.generation_id, other.id)
    assert other.ask(beat, 4).error_code == code("REBALANCE_IN_PROGRESS")


def test_a_session_timeout_that_no_broker_takes_is_refused(lab: WireLab, coordinator: int) -> None:
    here = lab.connect(coordinator)
    wanted = JoinGroupRequest(
        "g", 100, 100, protocol_type="consumer", protocols=[JoinGroupRequestProtocol("range", b"")]
    )
    assert lab.ask(here, wanted, 7).error_code == code("INVALID_SESSION_TIMEOUT")


def test_committed_offsets_come_back_with_their_metadata(lab: WireLab, coordinator: int) -> None:
    here = lab.connect(coordinator)
    rows = [OffsetCommitRequestPartition(0, 7, 0, committed_metadata="note")]
    wanted = OffsetCommitRequest("g", topics=[OffsetCommitRequestTopic("t", partitions=rows)])
    response = lab.ask(here, wanted, 8)
    assert response.topics[0].partitions[0].error_code == 0
    old = OffsetFetchRequest("g", [OffsetFetchRequestTopic("t", [0, 1])])
    found = lab.ask(here, old, 5).topics[0].partitions
    assert [(p.partition_index, p.committed_offset, p.metadata) for p in found] == [
        *((0, 7, "note"), (1, -1, "")),
    ]
    new = OffsetFetchRequest(groups=[OffsetFetchRequestGroup("g", topics=None)])
    (group,) = lab.ask(here, new, 8).groups
    assert [(t.name, t.partitions[0].committed_offset) for t in group.topics] == [("t", 7)]


def test_groups_are_listed_and_empty_ones_deleted(lab: WireLab, coordinator: int) -> None:
    one, other = two_members(lab, coordinator)
    listed = one.ask(ListGroupsRequest(), 4).groups
    assert [(g.group_id, g.protocol_type) for g in listed] == [("g", "consumer")]
    assert one.ask(DeleteGroupsRequest(["g"]), 2).results[0].error_code == code("NON_EMPTY_GROUP")
    for member in (one, other):
        member.ask(LeaveGroupRequest("g", members=[MemberIdentity(member.id)]), 4)
    lab.pass_time(30_000_000)
    assert one.ask(DeleteGroupsRequest(["g"]), 2).results[0].error_code == 0
    assert one.ask(ListGroupsRequest(), 4).groups == []


def test_positions_of_a_group_that_nobody_is_in_are_forgotten(
    lab: WireLab, coordinator: int
) -> None:
    here = lab.connect(coordinator)
    rows = [OffsetCommitRequestPartition(number, 7) for number in range(2)]
    wanted = OffsetCommitRequest("g", topics=[OffsetCommitRequestTopic("t", partitions=rows)])
    lab.ask(here, wanted, 8)
    gone = OffsetDeleteRequest(
        "g", [OffsetDeleteRequestTopic("t", [OffsetDeleteRequestPartition(0)])]
    )
    assert lab.ask(here, gone, 0).topics[0].partitions[0].error_code == 0
    old = OffsetFetchRequest("g", None)
    found = lab.ask(here, old, 5).topics[0].partitions
    assert [(p.partition_index, p.committed_offset) for p in found] == [(1, 7)]


def test_a_broker_that_does_not_coordinate_says_so(lab: WireLab, coordinator: int) -> None:
    elsewhere = lab.connect(next(b for b in lab.cluster.brokers if b != coordinator))
    beat = HeartbeatRequest("g", 1, "me")
    assert lab.ask(elsewhere, beat, 4).error_code == code("NOT_COORDINATOR")


def of_release(version: str) -> tuple[WireLab, int]:
    """A cluster of a release, and the broker that coordinates group ``g``."""
    lab = WireLab.made(version=version, config={"group.initial.rebalance.delay.ms": "0"})
    lab.run(CreateTopic(topic="t", partitions=2))
    here = lab.connect()
    for _ in range(50):
        found = lab.ask(here, FindCoordinatorRequest("g"), 1)
        lab.pass_time(100_000)
        if not found.error_code:
            return lab, int(found.node_id)
    raise AssertionError("no coordinator was found")


@pytest.mark.parametrize(("version", "generation"), [("2.1", 0), ("2.2", -1)])
def test_a_member_that_may_not_join_is_told_its_id(version: str, generation: int) -> None:
    lab, coordinator = of_release(version)
    member = Member(lab, coordinator, "range")
    member.join(version=2)
    assert member.take() == 0
    wanted = JoinGroupRequest("g", 10_000, 20_000, member.id, protocol_type="connect")
    for session_ms, error in (
        (10_000, "INCONSISTENT_GROUP_PROTOCOL"),
        (1, "INVALID_SESSION_TIMEOUT"),
    ):
        refused = member.ask(replace(wanted, session_timeout_ms=session_ms), 2)
        assert refused.error_code == code(error)
        assert (refused.member_id, refused.generation_id) == (member.id, generation)


def test_a_stranger_with_other_protocols_is_told_of_these(lab: WireLab, coordinator: int) -> None:
    two_members(lab, coordinator)
    stranger = Member(lab, coordinator, "other")
    stranger.id = "stranger"
    stranger.join()
    assert stranger.take() == code("INCONSISTENT_GROUP_PROTOCOL")
    assert stranger.joined.member_id == "stranger"


@pytest.mark.parametrize(
    ("kind", "protocol", "error"),
    [
        (None, "range", "INCONSISTENT_GROUP_PROTOCOL"),
        ("consumer", None, "INCONSISTENT_GROUP_PROTOCOL"),
        ("connect", "range", "INCONSISTENT_GROUP_PROTOCOL"),
        ("consumer", "sticky", "INCONSISTENT_GROUP_PROTOCOL"),
        ("", "range", "INCONSISTENT_GROUP_PROTOCOL"),
        ("consumer", "", "INCONSISTENT_GROUP_PROTOCOL"),
        ("consumer", "range", "NONE"),
    ],
)
def test_a_member_names_the_protocol_of_its_group(
    lab: WireLab, coordinator: int, kind: str | None, protocol: str | None, error: str
) -> None:
    one, _ = two_members(lab, coordinator)
    wanted = SyncGroupRequest("g", one.joined.generation_id, one.id)
    wanted = replace(wanted, protocol_type=kind, protocol_name=protocol)
    assert one.ask(wanted, 5).error_code == code(error)


def test_a_group_keeps_its_protocol_while_another_member_joins(
    lab: WireLab, coordinator: int
) -> None:
    """The protocol is that of the generation; the next one is chosen with the next generation."""
    one, two = (Member(lab, coordinator, "range") for _ in range(2))
    one.join(version=2)
    assert one.take() == 0
    two.join(version=2)
    wanted = SyncGroupRequest("g", one.joined.generation_id, one.id)
    wanted = replace(wanted, protocol_type="consumer", protocol_name="range")
    assert one.ask(wanted, 5).error_code == code("REBALANCE_IN_PROGRESS")


@pytest.mark.parametrize(("version", "state"), [("2.7", "CompletingRebalance"), ("2.8", "Empty")])
def test_a_member_that_does_not_ask_for_its_assignment_is_removed(version: str, state: str) -> None:
    lab, coordinator = of_release(version)
    member = Member(lab, coordinator, "range")
    wanted = JoinGroupRequest("g", 30_000, 8_000, protocol_type="consumer")
    lab.send(member.connection, replace(wanted, protocols=member.protocols), 2)
    assert member.take() == 0
    for seconds, expected in ((7, "CompletingRebalance"), (2, state)):
        lab.pass_time(seconds * 1_000_000)
        (group,) = member.ask(DescribeGroupsRequest(["g"]), 2).groups
        assert group.group_state == expected


@pytest.mark.parametrize(("version", "error"), [("2.5", "REBALANCE_IN_PROGRESS"), ("2.6", "NONE")])
def test_a_heartbeat_before_partitions_are_assigned(version: str, error: str) -> None:
    lab, coordinator = of_release(version)
    member = Member(lab, coordinator, "range")
    member.join(version=2)
    assert member.take() == 0
    beat = HeartbeatRequest("g", member.joined.generation_id, member.id)
    assert member.ask(beat, 2).error_code == code(error)


def test_only_offsets_of_partitions_that_are_there_are_deleted(
    lab: WireLab, coordinator: int
) -> None:
    member = Member(lab, coordinator, "range")
    rows = [OffsetCommitRequestTopic("t", partitions=[OffsetCommitRequestPartition(0, 3)])]
    (topic,) = member.ask(OffsetCommitRequest("g", topics=rows), 2).topics
    assert topic.partitions[0].error_code == 0
    wanted = [OffsetDeleteRequestPartition(number) for number in (0, 9)]
    response = member.ask(OffsetDeleteRequest("g", [OffsetDeleteRequestTopic("t", wanted)]), 0)
    (topic,) = response.topics
    errors = {row.partition_index: row.error_code for row in topic.partitions}
    assert errors == {0: 0, 9: code("UNKNOWN_TOPIC_OR_PARTITION")}


@pytest.mark.parametrize(
    ("version", "error"), [("3.9", "ILLEGAL_GENERATION"), ("4.0", "GROUP_ID_NOT_FOUND")]
)
def test_a_member_commits_offsets_of_a_group_that_there_is_not(version: str, error: str) -> None:
    lab, coordinator = of_release(version)
    rows = [OffsetCommitRequestTopic("t", partitions=[OffsetCommitRequestPartition(0, 3)])]
    wanted = OffsetCommitRequest("g", 1, "somebody", topics=rows)
    (topic,) = lab.ask(lab.connect(coordinator), wanted, 9).topics
    assert topic.partitions[0].error_code == code(error)


def test_an_injected_error_of_a_commit_is_that_of_its_partitions(
    lab: WireLab, coordinator: int
) -> None:
    here = lab.connect(coordinator)
    lab.run(InjectError(api="OffsetCommit", error="COORDINATOR_LOAD_IN_PROGRESS"))
    rows = [OffsetCommitRequestPartition(0, 7)]
    commit = OffsetCommitRequest("g", topics=[OffsetCommitRequestTopic("t", partitions=rows)])
    codes = [lab.ask(here, commit, 8).topics[0].partitions[0].error_code for _ in range(2)]
    assert codes == [code("COORDINATOR_LOAD_IN_PROGRESS"), 0]
