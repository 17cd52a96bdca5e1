import pytest

from commands.language.ranges import Variation, seeds, variation
from sessions.grammar.words import BadWord


@pytest.mark.parametrize(
    ("word", "found"),
    [
        ("0..9999", [(0, 9999)]),
        ("7", [(7, 7)]),
        ("5..5", [(5, 5)]),
        ("1,5,10..20", [(1, 1), (5, 5), (10, 20)]),
        ("-3..-1,0", [(-3, -1), (0, 0)]),
    ],
)
def test_both_ends_of_a_range_count(word: str, found: list[tuple[int, int]]) -> None:
    assert seeds(word) == found


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("", "'' is not a seed"),
        ("a..b", "'a' is not a seed"),
        ("1..", "'' is not a seed"),
        ("1...3", "'.3' is not a seed"),
        ("9..0", "'9..0' ends before it starts"),
        ("1..5,5", "has a seed twice"),
        ("5,1..9", "has a seed twice"),
        ("0..999999999", "is too many seeds"),
    ],
)
def test_what_are_no_seeds_is_told(word: str, said: str) -> None:
    with pytest.raises(BadWord, match=said):
        seeds(word)


def test_a_variation_is_a_name_and_its_values() -> None:
    assert variation("acks=1,all") == Variation("acks", ["1", "all"])
    assert variation("config.min.insync.replicas=1,2").name == "config.min.insync.replicas"


@pytest.mark.parametrize("word", ["", "acks", "=1", "a b=1", "a.b=1", "config.=1", "acks=", "a=1,"])
def test_what_varies_nothing_is_told(word: str) -> None:
    with pytest.raises(BadWord, match="has no values"):
        variation(word)


def test_a_value_stands_once() -> None:
    with pytest.raises(BadWord, match="has a value twice"):
        variation("acks=1,1")
