"""Replica assignment against worked examples and against Kafka 3.9.1's own classes."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emulator.replication.assignment import (
    AssignmentError,
    assign_kafka,
    assign_rack_aware,
    assign_seed,
    interleave_racks,
    start_of_added,
)

VECTORS = Path(__file__).parents[2] / "golden" / "vectors.json"
CASES: list[dict[str, Any]] = json.loads(VECTORS.read_text("utf-8"))["replica_assignment"]
FIRST_FIVE = [[0, 1, 2], [1, 2, 3], [2, 3, 4], [3, 4, 0], [4, 0, 1]]


@pytest.mark.parametrize("case", CASES, ids=range(len(CASES)))
def test_kafkas_own_classes_gave_the_same_assignment(case: dict[str, Any]) -> None:
    first = max(0, case["start_partition_id"])
    start = case["fixed_start_index"]
    sizes = (case["partitions"], case["replication_factor"], start, start, first)
    if "racks" in case:
        racks = dict(zip(case["brokers"], case["racks"], strict=True))
        actual = assign_rack_aware(racks, *sizes)
    else:
        actual = assign_kafka(case["brokers"], *sizes)
    assert dict(enumerate(actual, first)) == {int(k): v for k, v in case["assignment"].items()}


def test_the_seed_rule_starts_every_turn_alike() -> None:
    assert assign_seed(range(5), 10, 3) == FIRST_FIVE + FIRST_FIVE


def test_the_seed_rule_goes_on_for_added_partitions() -> None:
    assert assign_seed([2, 0, 1], 2, 2, first_partition=3) == [[0, 1], [1, 2]]


@pytest.mark.parametrize(
    ("brokers", "sizes", "expected"),
    [
        (
            range(5),
            (10, 3, 0, 0),
            [*FIRST_FIVE, [0, 2, 3], [1, 3, 4], [2, 4, 0], [3, 0, 1], [4, 1, 2]],
        ),
        (range(3), (6, 2, 0, 0), [[0, 1], [1, 2], [2, 0], [0, 2], [1, 0], [2, 1]]),
        (
            range(3),
            (6, 3, 1, 2),
            [[1, 2, 0], [2, 0, 1], [0, 1, 2], [1, 0, 2], [2, 1, 0], [0, 2, 1]],
        ),
        (
            range(4),
            (8, 3, 2, 1),
            [
                [2, 0, 1], [3, 1, 2], [0, 2, 3], [1, 3, 0],
                [2, 1, 3], [3, 2, 0], [0, 3, 1], [1, 0, 2],
            ],
        ),
        ([103, 101, 102], (4, 2, 1, 0), [[102, 103], [103, 101], [101, 102], [102, 101]]),
        (range(3), (2, 2, 1, 1, 3), [[1, 2], [2, 0]]),
    ],
    ids=["kafka-test", "rf2", "rf3", "four-brokers", "ids-from-101", "added"],
)  # fmt: skip
def test_kafka_shifts_the_followers_each_turn(
    brokers: list[int], sizes: tuple[int, int, int, int], expected: list[list[int]]
) -> None:
    assert assign_kafka(brokers, *sizes) == expected


SIX_IN_THREE_RACKS = {0: "r1", 1: "r3", 2: "r3", 3: "r2", 4: "r2", 5: "r1"}
FOUR_IN_TWO_RACKS = {0: "a", 1: "a", 2: "b", 3: "b"}


def test_racks_are_interleaved_by_name() -> None:
    assert interleave_racks(SIX_IN_THREE_RACKS) == [0, 3, 1, 5, 4, 2]
    assert interleave_racks(FOUR_IN_TWO_RACKS) == [0, 2, 1, 3]


@pytest.mark.parametrize(
    ("racks", "partitions", "replication_factor", "expected"),
    [
        (
            SIX_IN_THREE_RACKS,
            7,
            3,
            [[0, 3, 1], [3, 1, 5], [1, 5, 4], [5, 4, 2], [4, 2, 0], [2, 0, 3], [0, 4, 2]],
        ),
        (FOUR_IN_TWO_RACKS, 6, 2, [[0, 2], [2, 1], [1, 3], [3, 0], [0, 3], [2, 0]]),
        (
            FOUR_IN_TWO_RACKS,
            6,
            3,
            [[0, 2, 1], [2, 1, 3], [1, 3, 0], [3, 0, 2], [0, 3, 2], [2, 0, 1]],
        ),
    ],
    ids=["three-racks", "two-racks-rf2", "two-racks-rf3"],
)
def test_no_rack_is_used_twice_before_each_is_used_once(
    racks: dict[int, str], partitions: int, replication_factor: int, expected: list[list[int]]
) -> None:
    assert assign_rack_aware(racks, partitions, replication_factor, 0, 0) == expected


@pytest.mark.parametrize(("head", "start"), [(1, 1), (0, 0), (2, 2), (5, 0), (-1, 0)])
def test_added_partitions_start_at_the_first_broker_not_below_the_head(
    head: int, start: int
) -> None:
    assert start_of_added([0, 1, 2], head) == start


@pytest.mark.parametrize(
    ("partitions", "replication_factor", "error"),
    [
        (0, 1, "INVALID_PARTITIONS"),
        (-1, 1, "INVALID_PARTITIONS"),
        (1, -1, "INVALID_REPLICATION_FACTOR"),
        (1, 0, "INVALID_REPLICATION_FACTOR"),
        (1, 4, "INVALID_REPLICATION_FACTOR"),
    ],
)
def test_impossible_sizes_are_refused_by_kafkas_error(
    partitions: int, replication_factor: int, error: str
) -> None:
    with pytest.raises(AssignmentError) as raised:
        assign_kafka([1, 2, 3], partitions, replication_factor, 0, 0)
    assert raised.value.error_name == error


@given(
    racks=st.dictionaries(st.integers(0, 30), st.sampled_from("abc"), min_size=1, max_size=9),
    partitions=st.integers(1, 40),
    start=st.integers(0, 8),
    shift=st.integers(0, 8),
    data=st.data(),
)
def test_replicas_are_distinct_and_leaders_even(
    racks: dict[int, str], partitions: int, start: int, shift: int, data: st.DataObject
) -> None:
    replication_factor = data.draw(st.integers(1, len(racks)))
    brokers = list(racks)
    for assignment in (
        assign_seed(brokers, partitions, replication_factor),
        assign_kafka(brokers, partitions, replication_factor, start, shift),
        assign_rack_aware(racks, partitions, replication_factor, start, shift),
    ):
        assert all(len(set(replicas)) == replication_factor for replicas in assignment)
        heads = [replicas[0] for replicas in assignment]
        counts = [heads.count(broker) for broker in brokers]
        assert max(counts) - min(counts) <= 1
