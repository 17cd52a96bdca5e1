from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions.grammar.conditions import Comparison, Joined, parse, parse_text
from sessions.grammar.words import BadWord


def read(text: str) -> Any:  # noqa: ANN401 - words, comparisons, and what joins them
    return parse_text(text, lambda found: found.text, lambda word: word)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("orders", "orders"),
        ("hw>2", "hw > 2"),
        ("hw = 2", "hw == 2"),
        ("osr ~ 2", "osr contains 2"),
        ("orders <min", Joined("and", ["orders", "<min"])),
        ("a or b c", Joined("or", ["a", Joined("and", ["b", "c"])])),
        ("!(a or b)", Joined("not", [Joined("or", ["a", "b"])])),
        ("NOT(a OR b)", Joined("not", [Joined("or", ["a", "b"])])),
        ("leader in [1, 2]", "leader in [1, 2]"),
        ('"not" x', Joined("and", ['"not"', "x"])),
        ('topic="a b"', "topic == a b"),
        ('("a b")', '"a b"'),
        ("re:^(a|b)=c$", "re:^(a|b)=c$"),
        ("(re:^(a|b)$)", "re:^(a|b)$"),
        ("osr!~2", Joined("not", ["osr contains 2"])),
    ],
)
def test_a_text_is_words_and_comparisons_with_and_between_them(text: str, expected: object) -> None:
    assert read(text) == expected


def test_without_comparisons_operators_are_text() -> None:
    assert parse_text("acks=all x", None, str) == Joined("and", ["acks=all", "x"])


def test_a_text_means_what_its_words_mean() -> None:
    def seen(found: Comparison) -> Comparison:
        return found

    text = "t-0.hw == 1 or not (t-0.leo > 2 and t-0.isr = [0, 1])"
    assert parse_text(text, seen) == parse(text.split(), seen)


def failing(found: Comparison) -> str:
    raise BadWord("no", found.right)


@pytest.mark.parametrize(
    ("text", "column"),
    [("a and b=2", 9), ("a (b = 12)", 8), ("a b =2", 0), ("x=1 and y=2", 3)],
)
def test_an_error_of_a_reader_stands_at_the_side_that_it_names(text: str, column: int) -> None:
    if not column:
        assert parse_text(text, failing, str) == Joined("and", ["a", "b", "=2"])
        return
    with pytest.raises(BadWord, match=f"column {column}: no"):
        parse_text(text, failing, str)


@given(st.text(max_size=30))
def test_any_text_is_a_condition_or_refused_at_a_column_inside_it(text: str) -> None:
    try:
        read(text)
    except BadWord as error:
        column = int(str(error).removeprefix("column ").partition(":")[0])
        assert 1 <= column <= len(text) + 1
