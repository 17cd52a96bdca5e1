"""Keyframes: a chain of differences is the state."""

from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs

from sessions import decoding
from sessions.format import codec, keyframes
from sessions.format.keyframes import EMPTY, Room
from sessions.model.cluster_view import ClusterView
from sessions.model.folding import Snapshot
from sessions.model.states import Run
from tests.sessions.examples import comparable, folded, story_events

MOMENTS = st.lists(st.integers(1, len(story_events())), min_size=1, max_size=6, unique=True)


def chain(moments: list[int], view: ClusterView) -> list[bytes]:
    """Keyframes at these events, each on the one before."""
    events, base, frames = story_events(), EMPTY, []
    for moment in moments:
        view.apply_all(events[view.seq : moment])
        snapshot = view.snapshot()
        frame = keyframes.take(view, base, snapshot)
        frames.append(keyframes.encode(frame))
        base = snapshot
    return frames


def rebuilt(base: Snapshot, frames: list[bytes]) -> ClusterView:
    return keyframes.rebuild(base, map(keyframes.decode, frames))


@settings(max_examples=40)
@given(MOMENTS)
def test_a_chain_of_keyframes_is_the_state_at_its_end(moments: list[int]) -> None:
    frames = chain(sorted(moments), ClusterView())
    assert comparable(rebuilt(EMPTY, frames)) == comparable(folded(story_events()[: max(moments)]))


@settings(max_examples=20)
@given(MOMENTS, st.data())
def test_a_chain_may_be_joined_in_its_middle(moments: list[int], data: st.DataObject) -> None:
    frames = chain(sorted(moments), ClusterView())
    cut = data.draw(st.integers(0, len(frames) - 1))
    middle = rebuilt(EMPTY, frames[:cut])
    before = comparable(rebuilt(EMPTY, frames[:cut]))
    end = rebuilt(middle.snapshot(), frames[cut:])
    assert comparable(end) == comparable(folded(story_events()[: max(moments)]))
    assert comparable(middle) == before


def test_a_rebuilt_view_goes_on_like_the_one_it_came_from() -> None:
    events = story_events()
    view = rebuilt(EMPTY, chain([700, 1400], ClusterView()))
    view.apply_all(events[1400:])
    assert comparable(view) == comparable(folded(events))


def test_a_keyframe_holds_what_changed_and_not_what_did_not() -> None:
    view = ClusterView()
    last = len(story_events())
    frame = keyframes.decode(chain([last - 100, last], view)[1])
    changed = set(view.changed_partitions_since(last - 100))
    assert (frame.base_seq, frame.seq) == (last - 100, last)
    assert set(frame.state.partitions) == changed - set(frame.gone_partitions)
    assert frame.state.batches == []
    assert len(frame.state.znodes) < len(view.state.znodes)


def test_a_full_keyframe_may_be_taken_at_any_time() -> None:
    view = folded(story_events())
    for _ in range(3):
        view.changed_partitions_since(view.seq)
    frame = keyframes.take(view, EMPTY, view.snapshot())
    assert frame.base_seq == 0
    assert comparable(keyframes.rebuild(EMPTY, [frame])) == comparable(folded(story_events()))


def test_a_keyframe_holds_a_log_from_the_first_run_that_differs() -> None:
    view = folded(story_events())
    tp, broker = "orders-0", 1
    runs = [Run(offset, 1, 0, 10 * offset + 1) for offset in range(5)]
    view.replica(tp, broker, view.seq + 1)[1].log = runs
    view.state.seq += 1
    base = view.snapshot()
    changed = [runs[0], structs.replace(runs[1], first_record=99), *runs[2:]]
    view.replica(tp, broker, view.seq + 1)[1].log = changed
    view.state.seq += 1
    frame = keyframes.take(view, base, view.snapshot())
    assert (tp, broker, 1) in frame.kept
    made = keyframes.rebuild(base, [keyframes.decode(keyframes.encode(frame))])
    assert made.log(tp, broker) == view.log(tp, broker)


def test_the_strings_of_a_keyframe_far_beyond_the_room_are_not_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    counted: list[int] = []
    strings = decoding._strings

    def counting(data: bytes) -> Iterator[tuple[int, int]]:
        counted.append(len(data))
        return strings(data)

    monkeypatch.setattr(decoding, "_strings", counting)
    for count in (10_000, 100_000):
        with pytest.raises(codec.BlockError, match="may take"):
            keyframes.decode(codec.compress(b"\xa1a" * count), Room(1 << 18))
    assert counted == [20_000]
