"""What a campaign is: its runs by number, and when two are the same."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions.campaign.plan import Around, Plan, variant_ids
from sessions.dataset.layout import SESSION_ID
from tests.sessions.campaign.plans import known_plan, plan, story, variant


def test_runs_are_all_variants_of_a_seed_and_then_the_next_seed() -> None:
    made = plan(variant({"acks": "1"}, []), variant({"acks": "all"}, []), seeds=[(5, 6), (-1, -1)])
    assert made.runs == 6
    assert [made.run(number).session for number in range(made.runs)] == [
        "acks-1_seed-5", "acks-all_seed-5", "acks-1_seed-6", "acks-all_seed-6",
        "acks-1_seed--1", "acks-all_seed--1",
    ]  # fmt: skip
    assert made.run(3).variant == 1
    assert made.variants[1].spec(9).seed == 9
    with pytest.raises(IndexError):
        made.run(6)


def test_a_seed_stands_in_the_middle_of_a_text() -> None:
    assert Around("cluster --seed ", " --config a=b").with_seed(-3) == (
        "cluster --seed -3 --config a=b"
    )


@given(
    st.lists(
        st.dictionaries(st.sampled_from(["a", "config.b"]), st.text(max_size=150), min_size=1),
        min_size=2, max_size=4, unique_by=lambda values: tuple(values.items()),
    )
)  # fmt: skip
def test_ids_are_names_of_folders_and_tell_all_combinations_apart(
    combinations: list[dict[str, str]],
) -> None:
    sessions = [f"{each}seed--{'9' * 18}" for each in variant_ids(combinations)]
    assert len(set(sessions)) == len(combinations)
    assert all(SESSION_ID.fullmatch(each) for each in sessions)


def test_values_that_read_like_two_are_told_apart() -> None:
    alike = [{"a": "1_b-2", "b": "3"}, {"a": "1", "b": "2_b-3"}]
    first, second = variant_ids(alike)
    assert first != second
    assert variant_ids([{"acks": "-1", "a_b": "x"}]) == ["acks--1_a_b-x_"]


def test_without_variations_a_session_is_called_after_its_seed() -> None:
    assert plan(variant({}, [])).run(1).session == "seed-1"


def test_a_plan_is_the_same_after_it_was_sent() -> None:
    made = known_plan(9)
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(made), type=Plan) == made
    assert msgspec.json.decode(msgspec.json.encode(made), type=Plan) == made
    assert made.difference(known_plan(9)) == ""


def test_what_differs_in_two_plans_is_said() -> None:
    made = known_plan(9)
    other = msgspec.structs.replace
    assert made.difference(other(made, source="other")) == "the script differs"
    assert made.difference(other(made, program="tidegauge 9")) == "the program differs"
    assert made.difference(plan(variant({"x": "1"}, []))) != ""
    assert made.difference(known_plan(8)) == ""
    assert made.difference(other(made, variants=made.variants[:1])) == ""
    steps = variant({"acks": "all"}, story(0))
    included = other(made, variants=[made.variants[0], steps])
    assert made.difference(included) == "what the script reads differs"


def test_a_plan_grows_by_seeds_and_combinations() -> None:
    one, two = variant({"acks": "1"}, []), variant({"acks": "all"}, [])
    small = plan(one, seeds=[(0, 9), (20, 29)])
    grown = small.grown(plan(one, two, seeds=[(5, 12), (30, 31), (40, 40)]))
    assert grown.seeds == [(0, 12), (20, 31), (40, 40)]
    assert [each.id for each in grown.variants] == [one.id, two.id]
    assert grown.grown(small) == grown
