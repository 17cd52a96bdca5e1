"""The order of Scala's collections, as Kafka 0.10.2.2's classes and scala-library 2.11.8 have it.

``hash_orders.json`` was written by a program that put ``TopicAndPartition`` and
``PartitionAndReplica`` into a mutable ``HashMap`` and immutable sets and printed them; 0.9.0.1 and
1.0.2 (Scala 2.11) print the same.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from emulator.controller.hash_order import (
    brokers_grouped,
    brokers_grouped_since_2_13,
    map_order,
    partition_hash,
    partitions_in_order,
    replica_hash,
    set_order,
)

VECTORS: list[dict[str, Any]] = json.loads(
    (Path(__file__).parent / "hash_orders.json").read_text("utf-8")
)


@pytest.mark.parametrize(
    ("tp", "expected"),
    [
        ("c-0", -1353767916),
        ("b-1", 1351964561),
        ("b-0", -1732332603),
        ("a-1", 128003929),
        ("a-0", -347063306),
    ],
)
def test_a_partition_hashes_to_what_its_case_class_does(tp: str, expected: int) -> None:
    assert partition_hash(tp) == expected % 2**32


@pytest.mark.parametrize("vector", VECTORS, ids=range(len(VECTORS)))
def test_maps_and_sets_are_in_the_order_of_scalas(vector: dict[str, Any]) -> None:
    in_map = map_order(vector["added"])
    assert in_map == vector["map"]
    assert set_order(in_map, partition_hash) == vector["set"]
    assert partitions_in_order(in_map, lambda _tp: 3) == vector["pairs"]
    named = {each.rpartition("@")[0]: each for each in vector["replicas"]}
    added = [named[tp] for tp in vector["added"]]

    def hash_of(replica: str) -> int:
        tp, _, broker = replica.rpartition("@")
        return replica_hash(tp, int(broker))

    assert set_order(added, hash_of) == vector["replicas"]


@pytest.mark.parametrize(
    ("brokers", "expected"),
    [
        ([0, 1, 2], [2, 1, 0]),
        ([0, 1, 2, 3], [2, 1, 3, 0]),
        (range(5), [0, 1, 2, 3, 4]),
        (range(10), [0, 5, 1, 6, 9, 2, 7, 3, 8, 4]),
        (range(14), [0, 5, 10, 1, 6, 9, 13, 2, 12, 7, 3, 11, 8, 4]),
    ],
)
def test_brokers_are_grouped_as_scala_2_12_groups_them(
    brokers: list[int], expected: list[int]
) -> None:
    assert brokers_grouped(brokers) == expected


@pytest.mark.parametrize(
    ("brokers", "expected"),
    [
        ([1, 4], [1, 4]),
        ([2, 5], [5, 2]),  # two brokers of a rack, killed together: recorded with 3.9.1
        (range(5), [0, 1, 2, 3, 4]),
        (range(10), [0, 5, 1, 6, 9, 2, 7, 3, 8, 4]),
        ([3, 7, 39, 4], [3, 4, 7, 39]),  # 7 and 39 share a slot, so they are in a node below
    ],
)
def test_brokers_are_grouped_as_scala_2_13_groups_them(
    brokers: list[int], expected: list[int]
) -> None:
    assert brokers_grouped_since_2_13(brokers) == expected
