"""The model: snapshots that stay as they were, and counts that need no counting."""

import pytest

from sessions.model import copies
from sessions.model.cluster_view import ClusterView
from sessions.model.health import COUNTED, flags_of
from tests.sessions.examples import folded, story_events


@pytest.mark.parametrize("moment", [1, 300, 900, 1500, 2100])
def test_a_snapshot_does_not_change_when_its_view_goes_on(moment: int) -> None:
    events = story_events()
    view = folded(events[:moment])
    snapshot = view.snapshot()
    encoded = view.encode()
    view.apply_all(events[moment:])
    assert ClusterView.of(snapshot).encode() == encoded


def test_counts_kept_along_equal_counts_made_anew() -> None:
    view = ClusterView()
    for event in story_events():
        view.apply(event)
        if event.seq % 50 == 0:
            flags = [flags_of(partition, view.serving) for partition in view.partitions.values()]
            anew = {name: sum(bool(each & flag) for each in flags) for flag, name in COUNTED}
            kept = view.counts()
            assert {name: getattr(kept, name) for name in anew} == anew
            running = sum(broker.state == "running" for broker in view.state.brokers.values())
            assert (kept.brokers_up, kept.partitions) == (running, len(view.partitions))


def test_the_history_of_the_counts_has_each_change_once_with_the_counts_after_it() -> None:
    view, changes = ClusterView(), []
    view.history = []
    before = view.counts()
    for event in story_events():
        view.apply(event)
        if view.counts() != before:
            before = view.counts()
            changes.append((event.seq, event.time_us, before))
    history = {seq: (seq, time_us, counts) for seq, time_us, counts in view.settle_history()}
    assert [history[seq] for seq, *_ in changes] == changes
    assert view.settle_history() == sorted(view.settle_history())


def test_a_copy_of_a_state_shares_its_objects_and_not_their_places() -> None:
    state = folded(story_events()).state
    copy = copies.view_state(state)
    assert copy == state
    assert copy.partitions is not state.partitions
    assert copy.partitions["orders-0"] is state.partitions["orders-0"]


def test_what_new_objects_share_stays_empty() -> None:
    view = folded(story_events())
    view.apply_all([])
    fresh = copies.new_partition("t", 0, 0)
    replica = copies.new_replica(1, 1, has_epochs=True)
    znode = copies.new_znode("/a", None, 1, 0, 0)
    assert not any((fresh.isr, fresh.lost, replica.log, replica.remote_leo, znode.children))
