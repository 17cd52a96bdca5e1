"""Values of subscriptions to clients' metrics, as Java reads them, and costly patterns."""

import pytest

from emulator.releases import client_metrics
from emulator.releases.config import ConfigError


@pytest.mark.parametrize("are_parsed", [False, True])
@pytest.mark.parametrize(
    "match",
    ["client_id=x=", " client_id = a.* ", "client_id=a,client_source_port=9", r"client_id=\Qa\E"],
)
def test_patterns_that_all_releases_take(match: str, are_parsed: bool) -> None:
    client_metrics.check({"match": match}, are_parsed=are_parsed)


def test_no_pattern_is_valid_since_lists_are_parsed() -> None:
    client_metrics.check({"match": ""}, are_parsed=True)
    with pytest.raises(ConfigError, match=r"Illegal client matching pattern: $"):
        client_metrics.check({"match": ""}, are_parsed=False)


@pytest.mark.parametrize("match", ["client_id=x,", ",", "client_id=x,,,"])
def test_empty_patterns_at_the_end_count_since_lists_are_parsed(match: str) -> None:
    client_metrics.check({"match": match}, are_parsed=False)
    with pytest.raises(ConfigError, match=r"Illegal client matching pattern: $"):
        client_metrics.check({"match": match}, are_parsed=True)


@pytest.mark.parametrize("match", ["=", "client_id=", "client_id==x", "client_id=a=b", "id=x", "x"])
def test_what_is_no_pair_is_refused(match: str) -> None:
    for are_parsed in (False, True):
        with pytest.raises(ConfigError, match=f"Illegal client matching pattern: {match}$"):
            client_metrics.check({"match": match}, are_parsed=are_parsed)


def test_values_are_trimmed_since_they_are_parsed() -> None:
    values = {"interval.ms": " 1000\t", "match": "  "}
    client_metrics.check(values, are_parsed=True)
    with pytest.raises(client_metrics.NumberError, match="Not a number of type INT"):
        client_metrics.check(values, are_parsed=False)


@pytest.mark.parametrize(
    "expression", ["(" * 16_000, "a{1001}", "[\0-\U0010ffff]" * 3000, r"\pL{100}"]
)
def test_an_expression_that_costs_too_much_is_refused(expression: str) -> None:
    with pytest.raises(ConfigError, match="Illegal client matching pattern: client_id="):
        client_metrics.check({"match": f"client_id={expression}"}, are_parsed=True)
