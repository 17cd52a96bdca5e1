from pathlib import Path
from random import Random
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from console.model.partition_index import PartitionIndex
from console.model.severity import RANKS
from sessions.sources.replay import ReplaySource
from tests.console.fakes import ListSource, failover
from tests.sessions.examples import record_story

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


def test_an_index_that_followed_steps_back_in_a_recording_equals_a_fresh_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """States are shared there, and only what differs is looked at."""
    monkeypatch.setattr("sessions.playback.replay.BREADCRUMBS", (40, 7))
    record_story(tmp_path / "a.tide.db")
    source = ReplaySource(tmp_path / "a.tide.db")
    source.to_tail()
    index = PartitionIndex()
    index.refresh(source.view)
    compared = mock.Mock(wraps=index._compared)
    monkeypatch.setattr(index, "_compared", compared)
    chance = Random(3)
    for _ in range(60):
        source.step(chance.choice((-1, -1, -3, -12, 1, 5)))
        if chance.random() < 0.7:
            index.refresh(source.view)
            other = PartitionIndex()
            other.refresh(source.view)
            assert facts(index) == facts(other)
    assert compared.call_count < 10
    source.close()


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
