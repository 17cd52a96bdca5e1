"""What is said of consumer groups."""

from console.render.event_text import describe
from emulator import events
from emulator.events import CHANGE, TRAFFIC
from sessions.model.event_text import in_words


def test_a_member_that_is_out_is_told_with_the_reason() -> None:
    found = describe(events.MemberLeft(1, 0, 0, "g", 0, "c1", "c1-12ab", "session expired"))
    assert (found.text, found.level) == ("c1 is out of group g: session expired", CHANGE)


def test_a_commit_is_traffic() -> None:
    found = describe(events.OffsetCommitted(1, 0, 0, "g", "t-0", 2, 12345))
    assert (found.text, found.level) == ("group g committed t-0 12,345", TRAFFIC)


def test_a_position_that_is_forgotten_is_a_change() -> None:
    found = describe(events.OffsetExpired(1, 0, 0, "g", "t-0", 2, 12345))
    assert found.text == "group g forgot t-0 12,345: committed too long ago"
    assert found.level == CHANGE


def test_a_member_without_partitions_reads_nothing() -> None:
    found = describe(events.AssignmentChanged(1, 0, 0, "g", "c2", 4, []))
    assert found.text == "c2 reads nothing for group g, generation 4"


def test_a_coordinator_of_nobody_says_so() -> None:
    event = events.GroupsLoaded(1, 0, 0, "__consumer_offsets-0", 1, [])
    assert in_words(event)[1] == "__consumer_offsets-0@1 coordinates no groups"
