"""The screen of groups: members and epochs, who waits for whom, and records in flight."""

from typing import Any
from unittest import mock

import pytest

from console.model.group_why import LOOKS_MAX, GroupWhy
from console.model.reader import EventReader
from console.widgets.event_log import EventView
from console.widgets.text import TextView
from emulator import events
from emulator.events import Event
from sessions.model.cluster_view import ClusterView
from tests.console.driving import LARGE, SIZES, SMALL, Console, console
from tests.console.fakes import ListSource, failover

HUGE = (200, 60)
SECOND_US = 1_000_000


def inspector(driven: Console) -> str:
    """All that the pane of the selected group says."""
    return driven.screen.query_one("#inspector", TextView).cell_text()


class Story:
    """Events after the failover, a second apart, all caused by the one before if not told."""

    def __init__(self) -> None:
        self.events: list[Event] = [*failover()]

    def tell(self, kind: type[Event], *fields: Any, cause: int | None = None) -> int:
        last = self.events[-1]
        cause = last.seq if cause is None else cause
        self.events.append(kind(last.seq + 1, last.time_us + SECOND_US, cause, *fields))
        return last.seq + 1

    def source(self) -> ListSource:
        return ListSource(self.events)

    def why(self) -> tuple[GroupWhy, ClusterView]:
        source = self.source()
        view = ClusterView()
        view.apply_all(self.events)
        return GroupWhy(EventReader(source)), view


def reconciling() -> Story:
    """Member c2 joins a group of the consumer protocol; c1 has not yet given up o-1."""
    story = Story()
    story.tell(events.MemberJoined, "g", 1, "c1", "id1")
    story.tell(events.GroupEpochBumped, "g", 1, 1, "a member joined")
    story.tell(events.TargetAssignmentComputed, "g", 1, 1, "uniform", {"id1": ["o-0", "o-1"]})
    owned = ["o-0", "o-1"]
    story.tell(events.MemberAssignmentChanged, "g", 1, "c1", "id1", 1, "STABLE", owned, [], [])
    joined = story.tell(events.MemberJoined, "g", 1, "c2", "id2")
    target = {"id1": ["o-0"], "id2": ["o-1"]}
    begun = joined - 1
    story.events[-1] = events.MemberJoined(
        joined, story.events[-1].time_us, begun, "g", 1, "c2", "id2"
    )
    story.tell(events.GroupEpochBumped, "g", 1, 2, "a member joined", cause=begun)
    story.tell(events.TargetAssignmentComputed, "g", 1, 2, "uniform", target, cause=begun)
    waiting: tuple[Any, ...] = ("g", 1, "c2", "id2", 2, "UNRELEASED_PARTITIONS", [], [], ["id1"])
    story.tell(events.MemberAssignmentChanged, *waiting, cause=begun)
    story.tell(events.GroupStateChanged, "g", 1, "Reconciling", 2, cause=begun)
    return story


def shared(deliveries: int = 1) -> Story:
    """Member m1 has acquired o-0 5..7 in a share group."""
    story = Story()
    story.tell(events.MemberJoined, "s", 1, "m1", "id1")
    story.tell(events.TargetAssignmentComputed, "s", 1, 1, "simple", {"id1": ["o-0"]})
    story.tell(events.MemberAssignmentChanged, "s", 1, "m1", "id1", 1, "STABLE", ["o-0"], [], [])
    story.tell(events.GroupStateChanged, "s", 1, "Stable", 1)
    story.tell(events.SharePartitionLoaded, "s", "o-0", 2, 5)
    until = story.events[-1].time_us + 31 * SECOND_US
    story.tell(events.RecordsAcquired, "s", "o-0", 2, "m1", "id1", 5, 7, deliveries, until)
    return story


def reason(story: Story) -> str:
    """Why the first run of the share-partition is as it is."""
    why, view = story.why()
    return why.of_run("s", "o-0", view.state.groups["s"].shares["o-0"].runs[0])


@pytest.mark.parametrize("size", [LARGE, HUGE])
async def test_it_tells_who_waits_for_whom_and_which_partitions(size: tuple[int, int]) -> None:
    async with console(reconciling().source(), "O", size=size) as driven:
        text = " ".join(inspector(driven).split())
        for said in (
            "group of the consumer protocol",
            "epoch 2 target of epoch 2 by uniform",
            "c1 epoch 1 learns of epoch 2 by its next heartbeat",
            "c2 epoch 2 waits",
            "WHO WAITS",
        ):
            assert said in text, said
        assert "c2 waits for c1, which has not yet given up o-1" in text


def test_who_waits_names_the_partitions_that_are_not_given_up() -> None:
    _, view = reconciling().why()
    assert view.state.groups["g"].kept_from("id2") == {"id1": ["o-1"]}


def test_a_rebalance_is_explained_by_who_joined_or_left() -> None:
    story = reconciling()
    why, view = story.why()
    told = next(
        e for e in story.events if isinstance(e, events.GroupEpochBumped) and e.generation == 2
    )
    assert why.of_rebalance(view.state.groups["g"]) == f"epoch 2 because c2 joined (#{told.seq})"
    left = story.tell(events.MemberLeft, "g", 1, "c1", "id1", "session expired", cause=1)
    bumped = story.tell(events.GroupEpochBumped, "g", 1, 3, "c1: session expired", cause=1)
    assert bumped == left + 1
    why, view = story.why()
    expected = f"epoch 3 because c1 missed its session (#{bumped})"
    assert why.of_rebalance(view.state.groups["g"]) == expected


def test_a_rebalance_of_a_classic_group_is_explained_too() -> None:
    story = Story()
    story.tell(events.MemberLeft, "k", 1, "k2", "id2", "session expired", cause=1)
    seq = story.tell(events.GroupStateChanged, "k", 1, "PreparingRebalance", 2, cause=1)
    why, view = story.why()
    expected = f"rebalance because k2 missed its session (#{seq})"
    assert why.of_rebalance(view.state.groups["k"]) == expected


def test_heartbeats_do_not_hide_why_a_group_rebalanced() -> None:
    story = reconciling()
    for _ in range(LOOKS_MAX + 1):
        beat: tuple[Any, ...] = ("HeartbeatRequest", -2, 1, 0, [["group.g", 2]])
        beats = story.tell(events.MessageSent, *beat)
    assert story.source().touching(["group.g"], beats + 1, -1) == beats
    why, view = story.why()
    assert why.of_rebalance(view.state.groups["g"]).startswith("epoch 2 because c2 joined")


@pytest.mark.parametrize("size", [*SIZES, HUGE])
async def test_records_in_flight_are_listed_with_member_and_lock(size: tuple[int, int]) -> None:
    keys = ("O", "tab") if size == SMALL else ("O",)
    async with console(shared(2).source(), *keys, size=size) as driven:
        text = " ".join(inspector(driven).split())
        for said in (
            "share group (KIP-932)",
            "SHARED o-0 by broker 2",
            "start offset (SPSO) 5",
            "3 acquired",
            "5..7 acquired 2 times m1, ends in",
        ):
            assert said in text, said
        assert "5..7" in driven.text(), "it is shown"


async def test_it_travels_in_time() -> None:
    story = shared()
    until = story.events[-1].time_us
    released = ("s", "o-0", 2, 5, 7, "available", "lock expired", 1)
    story.tell(events.RecordsReleased, *released)
    source = story.source()
    async with console(source, "O", size=LARGE) as driven:
        assert "available" in inspector(driven)
        source.seek_time(until)
        await driven.settle()
        text = inspector(driven)
        assert "available" not in text
        assert "acquired          once  m1, ends in 30s" in text


def test_a_first_delivery_has_no_reason() -> None:
    assert not reason(shared())


@pytest.mark.parametrize(
    ("kind", "fields", "because"),
    [
        (
            events.RecordsReleased,
            (5, 7, "available", "lock expired", 1),
            "the acquisition lock of m1 ran out",
        ),
        (
            events.RecordsReleased,
            (5, 7, "available", "session ended", 1),
            "m1 left: its share session ended",
        ),
        (events.RecordsAcknowledged, ("m1", "id1", 5, 7, "release"), "m1 released it"),
        (
            events.SharePartitionForgotten,
            ("leads no more",),
            "the leader changed: broker 2 leads no more, and m1 had it from there",
        ),
    ],
)
def test_a_redelivery_is_explained(
    kind: type[Event], fields: tuple[Any, ...], because: str
) -> None:
    story = shared()
    end = story.tell(kind, "s", "o-0", 2, *fields)
    if kind is events.SharePartitionForgotten:
        story.tell(events.SharePartitionLoaded, "s", "o-0", 3, 5)
    else:
        assert reason(story) == f"to be delivered again because {because} (#{end})"
    leader = story.events[-1].broker  # type: ignore[attr-defined]
    story.tell(events.RecordsAcquired, "s", "o-0", leader, "m2", "id2", 5, 7, 2, 0)
    assert reason(story) == f"delivered again because {because} (#{end})"


def test_a_crash_of_the_leader_is_told_as_a_change_of_leaders() -> None:
    story = shared()
    loaded = story.tell(events.SharePartitionLoaded, "s", "o-0", 3, 5)
    story.tell(events.RecordsAcquired, "s", "o-0", 3, "m2", "id2", 5, 7, 1, 0)
    what = "the leader changed: broker 3 does not know that m1 had it"
    assert reason(story) == f"delivered again because {what} (#{loaded})"


def test_archived_records_say_who_gave_them_up() -> None:
    story = shared()
    rejected = story.tell(events.RecordsAcknowledged, "s", "o-0", 2, "m1", "id1", 5, 7, "reject")
    assert reason(story) == f"archived because m1 rejected it (#{rejected})"


def test_records_that_were_delivered_too_often_say_how_it_ended() -> None:
    story = shared(5)
    released = ("s", "o-0", 2, 5, 7, "archived", "lock expired", 5)
    end = story.tell(events.RecordsReleased, *released)
    what = f"archived after 5 deliveries; at last the acquisition lock of m1 ran out (#{end})"
    assert reason(story) == what


@pytest.mark.parametrize("size", SIZES)
async def test_heartbeats_are_not_among_the_events_of_a_group(size: tuple[int, int]) -> None:
    story = reconciling()
    for _ in range(40):
        story.tell(events.MessageSent, "HeartbeatRequest", -2, 1, 0, [["group.g"]])
    async with console(story.source(), "O", size=size) as driven:
        log = driven.screen.query_one("#log", EventView)
        shown = [log.event_at(line) for line in range(log.count())]
        assert any(isinstance(event, events.MemberJoined) for event in shown)
        assert not any(isinstance(event, events.MessageSent) for event in shown)


def test_what_is_not_known_of_a_rebalance_is_not_searched_again() -> None:
    why, view = reconciling().why()
    group = view.state.groups["g"]
    with mock.patch.object(why, "_back", return_value=iter(())) as searched:
        assert why.of_rebalance(group) == why.of_rebalance(group) == ""
    assert searched.call_count == 1
