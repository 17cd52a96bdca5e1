"""What members and coordinators tell each other, and what is stated of it."""

import msgspec
import pytest

from emulator import protocol as messages
from emulator.events import Event
from emulator.events import groups as group_events
from emulator.protocol.groups import Subscription
from emulator.protocol.message import Message
from sessions.model.touches import objects_of

SAMPLES: list[Message] = [
    messages.FindCoordinatorRequest("g"),
    messages.FindCoordinatorResponse(1, "g", "NONE", 2),
    messages.JoinGroupRequest("g", "", "c1", "range", Subscription(["t"]), 10, 60),
    messages.JoinGroupResponse(1, "g", "NONE", "c1-1", 3, "c1-1", {"c1-1": Subscription(["t"])}),
    messages.SyncGroupRequest("g", 3, "c1-1", {"c1-1": ["t-0", "t-1"]}),
    messages.SyncGroupResponse(1, "g", "NONE", ["t-0"]),
    messages.HeartbeatRequest("g", 3, "c1-1"),
    messages.HeartbeatResponse(1, "g", "REBALANCE_IN_PROGRESS"),
    messages.LeaveGroupRequest("g", "c1-1"),
    messages.LeaveGroupResponse(1, "g", "NONE"),
    messages.OffsetCommitRequest("g", 3, "c1-1", {"t-0": 5}),
    messages.OffsetCommitResponse(1, "g", "NONE"),
    messages.OffsetFetchRequest("g", ["t-0"]),
    messages.OffsetFetchResponse(1, "g", "NONE", {"t-0": 5}),
]
NAMES = [type(sample).__name__ for sample in SAMPLES]
DETAILS = {type(sample).__name__: sample.detail() for sample in SAMPLES}


@pytest.mark.parametrize("message", SAMPLES, ids=NAMES)
def test_a_message_in_flight_is_plain_data(message: Message) -> None:
    decoder = msgspec.msgpack.Decoder(messages.AnyMessage)
    assert decoder.decode(msgspec.msgpack.encode(message)) == message


@pytest.mark.parametrize("message", SAMPLES, ids=NAMES)
def test_every_message_names_its_group(message: Message) -> None:
    assert message.detail()[0][0] == "group.g"


def test_details_name_partitions_offsets_and_errors() -> None:
    assert DETAILS["HeartbeatResponse"] == [["group.g", "REBALANCE_IN_PROGRESS"]]
    assert DETAILS["JoinGroupRequest"] == [["group.g"], ["consumer.c1"]]
    assert DETAILS["SyncGroupRequest"] == [["group.g", 3], ["t-0"], ["t-1"]]
    assert DETAILS["SyncGroupResponse"] == [["group.g", "NONE"], ["t-0"]]
    assert DETAILS["OffsetCommitRequest"] == [["group.g", 3], ["t-0", 5]]
    assert DETAILS["OffsetFetchResponse"] == [["group.g", "NONE"], ["t-0", 5]]


@pytest.mark.parametrize(
    ("event", "touched"),
    [
        (group_events.GroupStateChanged(1, 0, 0, "g", 2, "Stable", 1), {"group.g"}),
        (group_events.MemberJoined(1, 0, 0, "g", 2, "c1", "c1-1"), {"group.g", "consumer.c1"}),
        (group_events.OffsetCommitted(1, 0, 0, "g", "t-0", 2, 5), {"group.g", "t-0"}),
    ],
    ids=["state", "joined", "committed"],
)
def test_events_of_a_group_can_be_found_by_it(event: Event, touched: set[str]) -> None:
    assert objects_of(event) == touched
