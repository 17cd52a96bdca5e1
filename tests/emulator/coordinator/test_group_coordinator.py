"""Which broker coordinates a group, and what the others say."""

import pytest

from emulator.coordinator.group_coordinator import LOADING_US, GroupCoordinator
from emulator.coordinator.groups import Group
from emulator.coordinator.members import GroupMembership
from emulator.events import GroupStateChanged, MemberLeft
from emulator.inputs.statements import CreateTopic, ElectPreferred, Reassign, StopBroker
from emulator.protocol import (
    HeartbeatRequest,
    JoinGroupResponse,
    LeaveGroupRequest,
    OffsetCommitRequest,
    OffsetFetchRequest,
    SyncGroupRequest,
)
from tests.emulator.coordinator.bench import SESSION_MS, Bench

REQUESTS = (
    SyncGroupRequest("g", 1, "a-1"),
    HeartbeatRequest("g", 1, "a-1"),
    LeaveGroupRequest("g", "a-1"),
    OffsetCommitRequest("g", -1, "", {"t-0": 1}),
    OffsetFetchRequest("g", ["t-0"]),
)


def test_a_broker_that_does_not_lead_the_partition_is_not_the_coordinator() -> None:
    bench = Bench(brokers=2)
    errors = [bench.ask(request, broker=1).error for request in REQUESTS]
    assert errors == ["NOT_COORDINATOR"] * len(REQUESTS)
    assert isinstance(bench.lab.cluster.brokers[1].core.coordinator, GroupCoordinator)


def test_a_coordinator_that_loads_answers_heartbeats_only() -> None:
    bench = Bench()
    state = bench.lab.cluster.brokers[0].state.core.coordinator
    state.partitions["__consumer_offsets-0"] = bench.lab.cluster.now_us + 60_000_000
    errors = {type(request): bench.ask(request).error for request in REQUESTS}
    assert errors.pop(HeartbeatRequest) == "NONE"
    assert set(errors.values()) == {"COORDINATOR_LOAD_IN_PROGRESS"}
    assert bench.response_to(bench.join("a")).error == "COORDINATOR_LOAD_IN_PROGRESS"


def test_a_new_leader_loads_before_it_coordinates() -> None:
    bench = Bench(brokers=2)
    state = bench.lab.cluster.brokers[1].state.core.coordinator
    bench.lab.do(StopBroker(broker=0, wait=False))
    while not state.partitions:
        bench.lab.cluster.step()
    due_us = state.partitions["__consumer_offsets-0"]
    assert 0 < due_us - bench.lab.cluster.now_us <= LOADING_US
    bench.lab.wait(LOADING_US / 1000 + 1)
    assert state.partitions == {"__consumer_offsets-0": 0}


def test_who_waits_is_told_when_the_coordinator_is_another() -> None:
    bench = Bench(brokers=2)
    leader, _ = bench.stable("a", "b")
    waiting = bench.join("c")
    bench.lab.do(Reassign(tp="__consumer_offsets-0", replicas=[1, 0]))
    bench.lab.wait(500)
    bench.lab.do(ElectPreferred(partitions=["__consumer_offsets-0"]))
    bench.lab.wait(500)
    response = bench.response_to(waiting)
    assert isinstance(response, JoinGroupResponse)
    assert response.error == "NOT_COORDINATOR"
    states = [e.state for e in bench.lab.seen.of(GroupStateChanged, broker=0)]
    assert states[-1] == "Dead"
    assert bench.lab.cluster.brokers[0].state.core.coordinator.groups == {}
    assert leader.member_id in bench.group(1).members


def test_other_topics_concern_no_coordinator() -> None:
    bench = Bench()
    bench.lab.do(CreateTopic(topic="t"))
    bench.lab.wait(100)
    assert list(bench.lab.cluster.brokers[0].state.core.coordinator.partitions) == [
        "__consumer_offsets-0"
    ]


def test_a_request_about_one_group_looks_at_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    bench = Bench()
    for number in range(20):
        bench.join("c1", group=f"g{number}")
    looked: list[str] = []
    deadlines = GroupMembership.deadlines

    def counted(self: GroupMembership, group: Group) -> list[int]:
        looked.append(group.name)
        return deadlines(self, group)

    monkeypatch.setattr(GroupMembership, "deadlines", counted)
    member = bench.stable("c1")[0]
    bench.commit(1, member)
    assert bench.beat(member) == "NONE"
    assert set(looked) <= {"g"}


def test_a_member_of_each_group_is_missed_in_time_whatever_the_others_do() -> None:
    bench = Bench()
    joined = [bench.response_to(bench.join("c1", group=f"g{number}")) for number in range(3)]
    bench.alive(*bench.stable("c1"), milliseconds=SESSION_MS + 2_000)
    assert len(joined) == 3
    gone = [(each.group, each.reason) for each in bench.lab.seen.of(MemberLeft)]
    assert gone == [(f"g{number}", "session expired") for number in range(3)]
