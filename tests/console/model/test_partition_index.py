from hypothesis import given, settings
from hypothesis import strategies as st

from console.model.partition_index import PartitionIndex
from console.model.severity import RANKS
from tests.console.fakes import ListSource, failover

HISTORY = failover()


def fresh(source: ListSource) -> PartitionIndex:
    index = PartitionIndex()
    index.refresh(source.view)
    return index


def facts(index: PartitionIndex) -> tuple[object, ...]:
    tallies = (+index.leaders, +index.replicas, +index.out_of_sync)
    return index.keys, index.severity, tallies, index.faults, index.audit


@settings(max_examples=40)
@given(st.lists(st.integers(0, len(HISTORY)), max_size=8))
def test_an_index_that_followed_jumps_equals_a_fresh_one(places: list[int]) -> None:
    source = ListSource(HISTORY, at=0)
    index = fresh(source)
    for place in places:
        source.seek_seq(place)
        index.refresh(source.view)
        assert facts(index) == facts(fresh(source))


def test_every_changed_partition_is_named() -> None:
    source = ListSource(HISTORY, at=0)
    index = fresh(source)
    before = dict(index.severity)
    for _ in HISTORY:
        source.step(1)
        changed = index.refresh(source.view)
        differing = {tp for tp, rank in index.severity.items() if before.get(tp) != rank}
        assert differing <= changed
        before = dict(index.severity)


def test_nothing_is_named_while_nothing_happens() -> None:
    source = ListSource(HISTORY)
    index = fresh(source)
    assert index.refresh(source.view) == set()


def test_tallies_say_who_leads_and_who_is_out() -> None:
    index = fresh(ListSource(HISTORY))
    assert index.severity["orders-5"] == RANKS["offline"]
    assert index.leaders == {2: 4, 3: 1}
    assert index.out_of_sync[1] == 5
    assert index.faults == 6


def test_keys_are_in_natural_order() -> None:
    index = fresh(ListSource(failover(12)))
    assert index.keys == [f"orders-{number}" for number in range(12)]


def test_generation_grows_only_when_partitions_come_or_go() -> None:
    source = ListSource(HISTORY, at=100)
    index = fresh(source)
    generation = index.generation
    source.seek_seq(160)
    index.refresh(source.view)
    assert index.generation == generation
    source.seek_seq(3)
    index.refresh(source.view)
    assert index.generation > generation
    assert index.keys == []
