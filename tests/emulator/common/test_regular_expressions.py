"""Subscribed patterns: RE2's syntax, whole names, and time that grows with the text only."""

import pytest

from emulator.common.regular_expressions import is_valid, matching


@pytest.mark.parametrize(
    ("regex", "names"),
    [
        ("orders", ["orders"]),
        ("orders.*", ["orders", "orders-eu"]),
        (r"\Qa.b\E", ["a.b"]),
        ("[[:alpha:]]+", ["axb", "orders"]),
        ("(?P<region>a|b).b", ["a.b", "axb"]),
        (r"(?i)ORDERS", ["orders"]),
    ],
)
def test_a_pattern_matches_whole_names(regex: str, names: list[str]) -> None:
    assert matching(regex, ["orders-eu", "axb", "orders", "a.b"]) == names


@pytest.mark.parametrize(
    "regex", ["[", "(?=a)a", r"(a)\1", "a++", "a{1001}", "(a{1000}){1000}", "\ud800", "*"]
)
def test_what_re2_does_not_compile_is_not_valid(regex: str) -> None:
    assert not is_valid(regex)
    assert matching(regex, ["a"]) == []


def test_a_hostile_pattern_costs_no_time() -> None:
    """A matcher that tries one way after the other would not end."""
    assert matching(r"(a|a)*(a*)*b", ["a" * 200, "aab"]) == ["aab"]
