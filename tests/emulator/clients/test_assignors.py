"""The assignors, against the responses of Kafka's own classes."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emulator.clients.assignors import ASSIGNORS, assign_cooperative_sticky

VECTORS: dict[str, Any] = json.loads(
    (Path(__file__).parents[2] / "golden" / "vectors.json").read_text()
)
NAMES = {
    "range": "assignor_range",
    "roundrobin": "assignor_roundrobin",
    "cooperative-sticky": "assignor_cooperative_sticky",
}
CASES = [
    pytest.param(name, case, id=f"{name}-{number}")
    for name, key in NAMES.items()
    for number, case in enumerate(VECTORS[key])
]
Group = tuple[dict[str, int], dict[str, list[str]]]
COUNTS = st.dictionaries(st.sampled_from(("s", "t", "u")), st.integers(0, 6), min_size=1)


@st.composite
def groups(draw: st.DrawFn) -> Group:
    """Partition counts, and members that each want at least one of the topics."""
    counts = draw(COUNTS)
    wants = st.lists(st.sampled_from(sorted(counts)), min_size=1, unique=True)
    members = draw(st.integers(1, 5))
    return counts, {f"m{number}": draw(wants) for number in range(members)}


def all_of(group: Group) -> list[str]:
    """Every partition that somebody wants."""
    counts, subscriptions = group
    wanted = {topic for topics in subscriptions.values() for topic in topics}
    return sorted(f"{t}-{n}" for t in counts if t in wanted for n in range(counts[t]))


@pytest.mark.parametrize(("name", "case"), CASES)
def test_an_assignor_responses_as_kafkas_class_does(name: str, case: dict[str, Any]) -> None:
    assignment = ASSIGNORS[name](case["topics"], case["members"], {})
    assert {member: sorted(mine) for member, mine in assignment.items()} == {
        member: sorted(mine) for member, mine in case["assignment"].items()
    }


@pytest.mark.parametrize("name", ["range", "roundrobin"])
@given(group=groups())
def test_every_wanted_partition_has_one_reader_that_wants_it(name: str, group: Group) -> None:
    counts, subscriptions = group
    assignment = ASSIGNORS[name](counts, subscriptions, {})
    assert sorted(tp for mine in assignment.values() for tp in mine) == all_of(group)
    for member, mine in assignment.items():
        assert all(tp.rpartition("-")[0] in subscriptions[member] for tp in mine)


def test_a_partition_that_moves_is_left_out_until_its_owner_has_let_go() -> None:
    both = {"a": ["t"], "b": ["t"]}
    owned = {"a": ["t-0", "t-1", "t-2", "t-3"]}
    first = assign_cooperative_sticky({"t": 4}, both, owned)
    assert first == {"a": ["t-0", "t-1"], "b": []}
    second = assign_cooperative_sticky({"t": 4}, both, first)
    assert second == {"a": ["t-0", "t-1"], "b": ["t-2", "t-3"]}
