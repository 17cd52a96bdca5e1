"""The sticky assignment: even, complete, and moving little."""

from hypothesis import given
from hypothesis import strategies as st

from emulator.clients.sticky_assignor import assign_sticky
from tests.emulator.clients.test_assignors import Group, all_of, groups


@given(group=groups(), data=st.data())
def test_whatever_was_owned_every_partition_has_one_reader_that_wants_it(
    group: Group, data: st.DataObject
) -> None:
    counts, wants = group
    topics = {
        topic: count for topic, count in counts.items() if any(topic in w for w in wants.values())
    }
    tps = st.lists(st.sampled_from(all_of(group) or ["s-0"]), unique=True)
    owned = {member: data.draw(tps) for member in wants}
    assignment = assign_sticky(topics, wants, owned)
    assert sorted(tp for mine in assignment.values() for tp in mine) == all_of(group)
    for member, mine in assignment.items():
        assert all(tp.rpartition("-")[0] in wants[member] for tp in mine)


@given(members=st.integers(1, 6), partitions=st.integers(0, 20), owners=st.data())
def test_members_that_want_the_same_differ_by_one_partition_at_most(
    members: int, partitions: int, owners: st.DataObject
) -> None:
    owned: dict[str, list[str]] = {f"m{number}": [] for number in range(members)}
    for number in range(partitions):
        owned[owners.draw(st.sampled_from(sorted(owned)))].append(f"t-{number}")
    assignment = assign_sticky({"t": partitions}, {m: ["t"] for m in owned}, owned)
    sizes = [len(mine) for mine in assignment.values()]
    assert max(sizes) - min(sizes) <= 1


def test_an_even_sharing_is_left_as_it_is() -> None:
    owned = {"a": ["t-3", "t-1"], "b": ["t-0", "t-2"]}
    assignment = assign_sticky({"t": 4}, {"a": ["t"], "b": ["t"]}, owned)
    assert {member: sorted(mine) for member, mine in assignment.items()} == {
        "a": ["t-1", "t-3"],
        "b": ["t-0", "t-2"],
    }


def test_the_survivors_keep_theirs_and_share_what_a_lost_member_had() -> None:
    owned = {"a": ["t-0", "t-1"], "b": ["t-2", "t-3"]}
    assignment = assign_sticky({"t": 6}, {"a": ["t"], "b": ["t"]}, owned)
    assert assignment == {"a": ["t-0", "t-1", "t-4"], "b": ["t-2", "t-3", "t-5"]}


def test_a_partition_that_two_members_claim_is_kept_by_neither() -> None:
    owned = {"a": ["t-0"], "b": ["t-0"]}
    assignment = assign_sticky({"t": 2}, {"a": ["t"], "b": ["t"]}, owned)
    assert assignment == {"a": ["t-0"], "b": ["t-1"]}


def test_where_members_want_different_topics_what_one_has_too_much_of_moves() -> None:
    wants = {"a": ["s", "t"], "b": ["t"]}
    owned = {"a": ["s-0", "t-0", "t-1", "t-2"], "b": []}
    assignment = assign_sticky({"s": 1, "t": 3}, wants, owned)
    assert [len(assignment[member]) for member in ("a", "b")] == [2, 2]
    assert "s-0" in assignment["a"]


def test_members_that_want_different_topics_keep_theirs_where_that_is_even() -> None:
    wants = {"a": ["s", "t"], "b": ["t"]}
    owned = {"a": ["s-0", "t-1"], "b": ["t-0"]}
    assignment = assign_sticky({"s": 1, "t": 2}, wants, owned)
    assert {member: sorted(mine) for member, mine in assignment.items()} == owned
