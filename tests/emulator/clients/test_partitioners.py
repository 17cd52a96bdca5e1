"""Partitioners against Kafka's own constants and Kafka 3.9.1's own responses."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emulator.clients.partitioners import (
    murmur2,
    partition_for_key,
    round_robin,
    sticky,
    to_positive,
    uniform,
)

RECORDED: list[dict[str, Any]] = json.loads(
    (Path(__file__).parents[2] / "golden" / "vectors.json").read_text("utf-8")
)["murmur2"]


@pytest.mark.parametrize(
    ("key", "signed", "positive", "of_three", "of_four", "of_six"),
    [
        ("", 275646681, 275646681, 0, 1, 3),
        ("21", -973932308, 1173551340, 0, 0, 0),
        ("foobar", -790332482, 1357151166, 0, 2, 0),
        ("abc", 479470107, 479470107, 0, 3, 3),
        ("a-little-bit-long-string", -985981536, 1161502112, 2, 0, 2),
        ("a-little-bit-longer-string", -1486304829, 661178819, 2, 3, 5),
        (
            "lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8",
            -58897971,
            2088585677,
            2,
            1,
            5,
        ),
        ("0", 971027396, 971027396, 2, 0, 2),
        ("1", -1993445489, 154038159, 0, 3, 3),
        ("a", -1563381124, 584102524, 1, 0, 4),
        ("key", -1079937367, 1067546281, 1, 1, 1),
        ("key1", 28543940, 28543940, 2, 0, 2),
        ("user-1", 1404122828, 1404122828, 2, 0, 2),
        ("order-42", 501153024, 501153024, 0, 0, 0),
        ("中文", 1074123597, 1074123597, 0, 1, 3),
    ],
)
def test_a_key_hashes_as_in_kafkas_unit_tests(
    key: str, signed: int, positive: int, of_three: int, of_four: int, of_six: int
) -> None:
    data = key.encode()
    assert (murmur2(data), to_positive(murmur2(data))) == (signed, positive)
    assert [partition_for_key(data, n) for n in (3, 4, 6)] == [of_three, of_four, of_six]


@pytest.mark.parametrize("case", RECORDED, ids=range(len(RECORDED)))
def test_kafkas_own_classes_gave_the_same_partition(case: dict[str, Any]) -> None:
    key = case["key"].encode()
    assert murmur2(key) == case["murmur2"]
    assert partition_for_key(key, case["partitions"]) == case["partition"]


@given(key=st.binary(max_size=40), partitions=st.integers(1, 100))
def test_a_hash_is_a_signed_word_and_a_partition_exists(key: bytes, partitions: int) -> None:
    assert -(2**31) <= murmur2(key) < 2**31
    assert 0 <= partition_for_key(key, partitions) < partitions


def test_round_robin_takes_turns_over_what_is_available() -> None:
    assert [round_robin(n, [0, 2], 3) for n in range(4)] == [0, 2, 0, 2]
    assert [round_robin(n, [], 3) for n in range(4)] == [0, 1, 2, 0]


def test_round_robin_survives_the_counters_overflow() -> None:
    assert round_robin(-(2**31), [0, 1, 2], 3) == 0
    assert round_robin(2**31 - 1, [0, 1, 2], 3) == (2**31 - 1) % 3


def test_sticky_leaves_the_previous_partition() -> None:
    assert [sticky(1, [0, 1, 2], 3, draw) for draw in (0.0, 0.49, 0.5, 0.99)] == [0, 0, 2, 2]


@pytest.mark.parametrize(
    ("previous", "available", "chosen"),
    [
        pytest.param(0, [0, 1, 2], [1, 1, 2, 2], id="the first"),
        pytest.param(2, [0, 1, 2], [0, 0, 1, 1], id="the last"),
        pytest.param(None, [0, 1, 2], [0, 1, 1, 2], id="none yet"),
        pytest.param(1, [0, 2, 3], [0, 2, 2, 3], id="one without a leader"),
        pytest.param(5, [0, 2, 3], [0, 2, 2, 3], id="one without a leader, the last"),
    ],
)
def test_sticky_chooses_among_the_others_by_the_draw(
    previous: int | None, available: list[int], chosen: list[int]
) -> None:
    draws = (0.0, 0.49, 0.51, 0.99)
    assert [sticky(previous, available, 6, draw) for draw in draws] == chosen


def test_uniform_takes_any_partition_with_a_leader_perhaps_the_same_again() -> None:
    assert [uniform([1, 3], 4, draw) for draw in (0.0, 0.49, 0.5, 0.99)] == [1, 1, 3, 3]
    assert [uniform([], 3, draw) for draw in (0.0, 0.34, 0.99)] == [0, 1, 2]


def test_sticky_stays_with_the_only_available_partition() -> None:
    assert sticky(2, [2], 3, 0.9) == 2


def test_sticky_takes_any_partition_when_none_is_available() -> None:
    assert [sticky(1, [], 3, draw) for draw in (0.0, 0.34, 0.99)] == [0, 1, 2]


@given(
    available=st.lists(st.integers(0, 9), unique=True).map(sorted),
    previous=st.none() | st.integers(0, 9),
    draw=st.floats(0, 1, exclude_max=True),
)
def test_sticky_always_finds_a_partition(
    available: list[int], previous: int | None, draw: float
) -> None:
    chosen = sticky(previous, available, 10, draw)
    assert chosen in (available or range(10))
    if len(available) > 1:
        assert chosen != previous
