"""What a coordinator writes can be read back, and by people."""

from hypothesis import given
from hypothesis import strategies as st

from emulator.coordinator.groups import Group, Member
from emulator.coordinator.records import (
    GroupRecord,
    MemberRecord,
    OffsetRecord,
    group_record,
    key_of,
    read,
    text_of,
)
from emulator.protocol import Subscription

NAMES = st.text(min_size=1, max_size=5)
OFFSETS = st.builds(OffsetRecord, NAMES, NAMES, st.integers(0, 1 << 40))
MEMBERS = st.builds(
    MemberRecord, NAMES, st.lists(NAMES), st.lists(NAMES), st.integers(0), st.integers(0)
)
GROUPS = st.builds(
    GroupRecord, NAMES, st.integers(0, 9), NAMES, NAMES, st.dictionaries(NAMES, MEMBERS)
)


@given(st.one_of(OFFSETS, GROUPS))
def test_every_record_is_read_as_it_was_written(record: OffsetRecord | GroupRecord) -> None:
    assert read(text_of(record)) == record


@given(st.text())
def test_what_is_no_record_is_none(text: str) -> None:
    assert read(text) is None


def test_the_last_record_of_a_key_is_what_counts() -> None:
    assert key_of(OffsetRecord("g", "t-0", 5)) == "g t-0"
    assert key_of(GroupRecord("g", 1)) == "g"


def test_an_empty_group_is_short() -> None:
    assert text_of(GroupRecord("g", 4)) == '{"record":"group","group":"g","generation":4}'


def test_a_generation_tells_who_reads_what() -> None:
    group = Group("g", generation=2, leader="a-1", assignor="range")
    group.members = {
        name: Member(name, name[0], Subscription(["t"]), 10, 60) for name in ("a-1", "b-2")
    }
    record = group_record(group, {"a-1": ["t-0"]})
    assert [m.partitions for m in record.members.values()] == [["t-0"], []]
    assert (record.generation, record.leader, record.assignor) == (2, "a-1", "range")
