"""Share groups on their coordinator, beyond what real brokers were asked."""

from typing import Any

from emulator.coordinator.share_group_manager import ShareGroupManager
from emulator.events import CLIENTS
from emulator.inputs.statements import CrashBroker, CreateTopic, FreezeBroker, ThawBroker
from emulator.protocol import (
    AnyMessage,
    DeleteGroupsRequest,
    DeleteShareGroupOffsetsRequest,
    OffsetDeleteRequest,
    ShareGroupHeartbeatRequest,
    TxnOffsetCommitRequest,
)
from tests.emulator.coordinator.bench import Bench

JOIN = ShareGroupHeartbeatRequest("g", "m", 0, topics=["t"])


def begun() -> Bench:
    """An empty group that has begun with t; another broker has its state."""
    state = CreateTopic(topic="__share_group_state", assignment=[[1]])
    bench = Bench("4.2", brokers=2, topics=[state])
    assert bench.ask(JOIN).error == "NONE"
    bench.lab.wait(1_000)
    assert bench.ask(ShareGroupHeartbeatRequest("g", "m", -1)).error == "NONE"
    share = bench.group().share
    assert share is not None
    assert share.initialized
    assert isinstance(bench.lab.cluster.brokers[0].core.coordinator.shares, ShareGroupManager)
    return bench


def told(bench: Bench, *messages: AnyMessage, seconds: int = 1) -> list[Any]:
    """The responses to requests that are sent at once."""
    numbers = [bench.lab.cluster.network.send(CLIENTS, 0, message) for message in messages]
    bench.lab.wait(seconds * 1_000)
    return [bench.response_to(number) for number in numbers]


def test_a_group_that_is_deleted_twice_is_deleted_once() -> None:
    bench = begun()
    both = told(bench, DeleteGroupsRequest(["g", "g"]), DeleteGroupsRequest(["g"]))
    assert sorted(response.errors["g"] for response in both) == ["GROUP_ID_NOT_FOUND", "NONE"]
    state = bench.lab.cluster.brokers[0].state.core.coordinator
    assert (state.groups, state.deletions, state.works) == ({}, {}, {})


def test_a_group_that_a_member_joins_meanwhile_is_not_deleted() -> None:
    bench = begun()
    deleted, joined = told(bench, DeleteGroupsRequest(["g"]), JOIN)
    assert joined.error == "NONE"
    assert deleted.errors == {"g": "NON_EMPTY_GROUP"}
    assert bench.group().has_members


def test_a_group_whose_state_cannot_be_deleted_stays() -> None:
    bench = begun()
    bench.lab.do(CrashBroker(broker=1))
    (deleted,) = told(bench, DeleteGroupsRequest(["g"]), seconds=120)
    assert deleted.errors["g"] == "COORDINATOR_NOT_AVAILABLE"
    assert bench.group().share is not None


def test_offsets_of_a_group_that_is_gone_meanwhile_are_answered() -> None:
    bench = begun()
    deleted, offsets = told(
        bench, DeleteGroupsRequest(["g"]), DeleteShareGroupOffsetsRequest("g", ["t"])
    )
    assert deleted.errors == {"g": "NONE"}
    assert offsets.error == "GROUP_ID_NOT_FOUND"


def test_a_group_that_is_deleted_before_it_is_stored_begins_with_nothing() -> None:
    state = CreateTopic(topic="__share_group_state", assignment=[[0]])
    bench = Bench("4.2", brokers=2, topics=[state])
    bench.lab.do(FreezeBroker(broker=1))
    numbers = [
        bench.send(message)
        for message in (
            JOIN,
            ShareGroupHeartbeatRequest("g", "m", -1),
            DeleteGroupsRequest(["g"]),
            JOIN,
        )
    ]
    assert bench.response_to(numbers[0]) is None
    bench.lab.do(ThawBroker(broker=1))
    bench.lab.wait(10_000)
    assert [bench.response_to(number).error for number in (numbers[0], numbers[1])] == ["NONE"] * 2


def test_a_share_group_takes_no_committed_offsets() -> None:
    bench = begun()
    committed = bench.response_to(bench.commit(5))
    assert committed.error == "GROUP_ID_NOT_FOUND"
    in_transaction = TxnOffsetCommitRequest("", 7, 0, "g", -1, "", {"t-0": 5})
    assert bench.ask(in_transaction).error == "GROUP_ID_NOT_FOUND"
    assert bench.ask(OffsetDeleteRequest("g", ["t-0"])).error == "GROUP_ID_NOT_FOUND"
    bench.lab.wait(100)
    assert (bench.group().offsets, bench.group().unstable) == ({}, {})
