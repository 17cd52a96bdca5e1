"""Where replicas go: evenly over racks, then over brokers, unfenced brokers first."""

import json
from collections import Counter
from collections.abc import Callable
from functools import partial
from operator import mod
from pathlib import Path
from random import Random
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emulator.quorum_controller.replica_placer import UsableBroker, place
from emulator.quorum_controller.result import ApiException

PLACEMENTS: Final = Path(__file__).with_name("placements.jsonl").read_text("utf-8").splitlines()
"""What ``Placements.java`` printed with Kafka's own StripedReplicaPlacer (3.9.2, 4.1.2, 4.4.0)."""


def drawing(seed: int) -> Callable[[int], int]:
    return Random(seed).randrange


def zeros(_limit: int) -> int:
    return 0


def unfenced(*brokers: int, rack: str | None = None) -> list[UsableBroker]:
    return [UsableBroker(broker, rack, fenced=False) for broker in brokers]


def test_three_racks_of_three_brokers_are_striped_as_kafkas_documentation_shows() -> None:
    racks = {"A": (0, 1, 2), "B": (10, 11, 12), "C": (20, 21, 22)}
    brokers = [each for rack, ids in racks.items() for each in unfenced(*ids, rack=rack)]
    assert place(brokers, 3, 3, zeros) == [(0, 10, 20), (11, 21, 1), (22, 2, 12)]


def test_without_racks_brokers_follow_each_other() -> None:
    assert place(unfenced(0, 1, 2, 3), 4, 3, zeros) == [(0, 1, 2), (1, 2, 3), (2, 3, 0), (3, 0, 1)]


def test_fenced_brokers_come_last_and_never_lead() -> None:
    brokers = [*unfenced(0, 1), UsableBroker(2, None, fenced=True)]
    placed = place(brokers, 50, 3, drawing(1))
    assert {replicas[-1] for replicas in placed} == {2}
    assert place(brokers, 50, 2, drawing(1)) == [replicas[:2] for replicas in placed]


@pytest.mark.parametrize(
    ("brokers", "replication_factor"),
    [
        (unfenced(0, 1), 3),
        (unfenced(0, 1), 0),
        ([UsableBroker(0, None, fenced=True)], 1),
        ([], 1),
    ],
)
def test_what_cannot_be_placed(brokers: list[UsableBroker], replication_factor: int) -> None:
    with pytest.raises(ApiException) as refused:
        place(brokers, 1, replication_factor, zeros)
    assert refused.value.error == "INVALID_REPLICATION_FACTOR"


@given(
    racks=st.integers(1, 4),
    size=st.integers(1, 4),
    replication_factor=st.integers(1, 5),
    seed=st.integers(0, 10**6),
)
def test_replicas_are_spread_over_racks(
    racks: int, size: int, replication_factor: int, seed: int
) -> None:
    brokers = [
        each
        for rack in range(racks)
        for each in unfenced(*range(rack * 10, rack * 10 + size), rack=str(rack))
    ]
    replication_factor = min(replication_factor, len(brokers))
    for replicas in place(brokers, 50, replication_factor, drawing(seed)):
        assert len(set(replicas)) == replication_factor
        in_rack = Counter(broker // 10 for broker in replicas)
        assert max(in_rack.values()) <= -(-replication_factor // racks)


@given(count=st.integers(2, 6), replication_factor=st.integers(1, 6), seed=st.integers(0, 10**6))
def test_without_racks_every_broker_leads_as_often(
    count: int, replication_factor: int, seed: int
) -> None:
    brokers = unfenced(*range(count))
    placed = place(brokers, 10 * count, min(replication_factor, count), drawing(seed))
    assert Counter(replicas[0] for replicas in placed) == dict.fromkeys(range(count), 10)


def test_a_rack_whose_brokers_are_all_fenced_gives_its_turn_as_leader_to_the_next() -> None:
    racks = [UsableBroker(0, "A", fenced=True), *unfenced(10, rack="B"), *unfenced(20, rack="C")]
    assert place(racks, 1, 3, zeros) == [(10, 0, 20)]


def test_brokers_without_a_rack_are_the_first_rack() -> None:
    assert place([*unfenced(10, rack="A"), *unfenced(20)], 1, 2, zeros) == [(20, 10)]


def test_the_order_is_shuffled_after_as_many_partitions_as_unfenced_brokers() -> None:
    # Collections.shuffle swaps the last, then the last but one, .. with the first if 0 is drawn.
    placed = place(unfenced(0, 1, 2, 3), 8, 2, zeros)
    assert placed[:4] == [(0, 1), (1, 2), (2, 3), (3, 0)]
    assert placed[4:] == [(1, 2), (2, 3), (3, 0), (0, 1)]
    two_racks = [*unfenced(0, rack="A"), *unfenced(10, rack="B")]
    assert place(two_racks, 4, 2, zeros) == [(0, 10), (10, 0), (10, 0), (0, 10)]


def test_replicas_are_where_kafkas_own_class_puts_them() -> None:
    refused = 0
    for line in PLACEMENTS:
        case = json.loads(line)
        brokers = [UsableBroker(*each) for each in case["brokers"]]
        constant = partial(mod, case["drawn"])
        placed: list[list[int]] | None
        try:
            found = place(brokers, case["partitions"], case["factor"], constant)
            placed = [list(each) for each in found]
        except ApiException:
            placed, refused = None, refused + 1
        assert placed == case["placed"], line
    assert (len(PLACEMENTS), 20 < refused < 180) == (200, True)
