"""Where a producer sends its records, and how long it believes what it was told."""

from itertools import pairwise

import pytest

from emulator.clients.metadata import ProducerMetadata
from emulator.clients.partitioners import uniform
from emulator.clients.state import Producer
from emulator.events import MessageSent
from emulator.inputs.statements import Produce
from tests.support.lab import Lab

ALL = {0: 1, 1: 1, 2: 1, 3: 1}
SECOND_HAS_NO_LEADER = {0: 1, 1: -1, 2: 1}
PLAIN = Produce(topic="t")


def routing_of(version: str) -> ProducerMetadata:
    return Lab(version, brokers=1).cluster.clients.producers.metadata


def choices(
    routing: ProducerMetadata, wanted: Produce, leaders: dict[int, int], times: int, size: int = 70
) -> list[int]:
    """The partitions that one producer's batches go to, one after another."""
    producer, chosen = Producer("p1"), []
    for _ in range(times):
        chosen.append(routing.partition(producer, wanted, leaders))
        routing.gave(producer, wanted, size)
    return chosen


@pytest.mark.parametrize("version", ["seed", "2.2", "2.8", "3.9"])
def test_an_explicit_partition_is_taken_whatever_the_key(version: str) -> None:
    wanted = Produce(topic="t", partition=7, key="a")
    assert choices(routing_of(version), wanted, ALL, 2) == [7, 7]


@pytest.mark.parametrize("version", ["seed", "2.2", "2.8", "3.9"])
def test_a_key_keeps_its_partition_even_without_a_leader(version: str) -> None:
    wanted = Produce(topic="t", key="a")
    assert choices(routing_of(version), wanted, SECOND_HAS_NO_LEADER, 3) == [1, 1, 1]


@pytest.mark.parametrize("version", ["0.8.2", "2.2"])
def test_up_to_2_3_records_go_in_turn_over_the_partitions_with_a_leader(version: str) -> None:
    routing = routing_of(version)
    chosen = choices(routing, PLAIN, ALL, 8)
    assert sorted(chosen[:4]) == [0, 1, 2, 3]
    assert chosen[4:] == chosen[:4]
    assert set(choices(routing, PLAIN, SECOND_HAS_NO_LEADER, 4)) == {0, 2}


def test_each_producer_begins_at_a_place_of_its_own() -> None:
    routing = routing_of("2.2")
    assert len({choices(routing, PLAIN, ALL, 1)[0] for _ in range(40)}) == 4


@pytest.mark.parametrize("version", ["2.4", "2.8"])
def test_from_2_4_each_batch_goes_to_another_partition_than_the_last(version: str) -> None:
    chosen = choices(routing_of(version), PLAIN, ALL, 40)
    assert all(before != after for before, after in pairwise(chosen))
    assert set(chosen) == set(ALL)


def test_from_3_3_records_stay_until_batch_size_bytes_have_gone_to_a_partition() -> None:
    routing = routing_of("3.9")
    chosen = choices(routing, PLAIN, ALL, 160, size=8_192)
    pairs = [chosen[at : at + 2] for at in range(0, 160, 2)]
    assert all(first == second for first, second in pairs)
    assert {first for first, _ in pairs} == set(ALL)


def test_a_batch_larger_than_batch_size_is_followed_by_a_new_choice() -> None:
    assert len(set(choices(routing_of("3.9"), PLAIN, ALL, 40, size=20_000))) == 4


def test_records_with_a_key_do_not_move_the_built_in_partitioner() -> None:
    routing, producer = routing_of("3.9"), Producer("p1")
    before = routing.partition(producer, PLAIN, ALL)
    routing.gave(producer, Produce(topic="t", key="a"), 1_000_000)
    routing.gave(producer, Produce(topic="t", partition=1), 1_000_000)
    assert routing.partition(producer, PLAIN, ALL) == before


@pytest.mark.parametrize("version", ["2.2", "3.9"])
def test_the_round_robin_partitioner_counts_from_0_and_ignores_keys(version: str) -> None:
    wanted = Produce(topic="t", key="a", partitioner="roundrobin")
    assert choices(routing_of(version), wanted, ALL, 6) == [0, 1, 2, 3, 0, 1]


@pytest.mark.parametrize("version", ["2.2", "3.9"])
def test_the_sticky_partitioner_moves_with_each_batch_in_every_release(version: str) -> None:
    wanted = Produce(topic="t", partitioner="sticky")
    chosen = choices(routing_of(version), wanted, ALL, 40, size=1)
    assert all(before != after for before, after in pairwise(chosen))


def test_broker_0_leads_like_any_other() -> None:
    assert set(choices(routing_of("2.8"), PLAIN, {0: -1, 1: 0, 2: 0}, 40)) == {1, 2}


def test_without_zookeeper_the_first_batches_go_to_partition_0() -> None:
    lab = Lab("3.9", brokers=1, mode="kraft")
    routing = lab.cluster.clients.producers.metadata
    chosen = choices(routing, PLAIN, ALL, 200, size=4_096)
    assert chosen[:4] == [0, 0, 0, 0], "batch.size is 16,384 bytes"
    assert set(chosen[4:]) == set(ALL)


def test_uniform_takes_any_partition_if_none_has_a_leader() -> None:
    assert [uniform([], 3, draw) for draw in (0.0, 0.5, 0.99)] == [0, 1, 2]
    assert [uniform([4], 9, draw) for draw in (0.0, 0.99)] == [4, 4]


# ---- metadata


def questions(lab: Lab) -> int:
    return len(lab.seen.of(MessageSent, name="MetadataRequest"))


def test_a_producer_asks_once_and_again_after_five_minutes() -> None:
    lab = Lab("3.9", brokers=1)
    lab.topic(0)
    lab.produce("a", "b")
    assert questions(lab) == 1
    lab.wait(299_000)
    lab.produce("c")
    assert questions(lab) == 1
    lab.wait(2_000)
    lab.produce("d", "e")
    assert questions(lab) == 2


def test_each_producer_has_metadata_of_its_own() -> None:
    lab = Lab("3.9", brokers=1)
    lab.topic(0)
    lab.produce("a")
    lab.produce("a", producer="p2")
    assert questions(lab) == 2


def test_a_closed_connection_makes_only_what_that_broker_leads_be_asked_for_again() -> None:
    routing, producer = routing_of("3.9"), Producer("p1")
    routing.learn(producer, "t", {0: 1, 1: 2})
    routing.learn(producer, "u", {0: 3})
    routing.forget_broker(producer, 2)
    assert set(producer.leaders) == {"u"}
    routing.learn(producer, "t", {0: 1, 1: 3})
    assert producer.leaders["t"] == {0: 1, 1: 3}


@pytest.mark.parametrize("version", ["2.2", "2.8", "3.9"])
def test_what_has_been_learned_anew_replaces_the_partitions_with_a_leader(version: str) -> None:
    routing, producer = routing_of(version), Producer("p1")
    for leaders in ({0: 1, 1: -1, 2: 1}, {0: -1, 1: 1, 2: -1}):
        routing.learn(producer, "t", leaders)
        known, chosen = producer.leaders["t"], set()
        for _ in range(20):
            chosen.add(routing.partition(producer, PLAIN, known))
            routing.gave(producer, PLAIN, 20_000)
        assert chosen == {p for p, leader in leaders.items() if leader >= 0}
