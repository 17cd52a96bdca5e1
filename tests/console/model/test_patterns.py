import pytest

from console.model.patterns import steps_without_end


@pytest.mark.parametrize("pattern", ["(a+)+b", "(a|ab)*c", "((a)*x?)+", r"(\w|\d)+", "(a*){3,}"])
def test_a_repetition_of_what_can_be_shared_out_in_many_ways_is_noticed(pattern: str) -> None:
    assert steps_without_end(pattern)


@pytest.mark.parametrize("pattern", ["a+b", "(ab)+", "(foo|bar)*", r"\d+(\.\d+)?", "[+*]+x"])
def test_ordinary_repetitions_are_allowed(pattern: str) -> None:
    assert not steps_without_end(pattern)
