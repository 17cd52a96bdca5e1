"""Keyframes: a chain of differences is the state."""

from hypothesis import given, settings
from hypothesis import strategies as st

from sessions import keyframes
from sessions.keyframes import EMPTY, Keyframe
from sessions.view import ClusterView
from tests.sessions.examples import comparable, folded, story_events

MOMENTS = st.lists(st.integers(1, len(story_events())), min_size=1, max_size=6, unique=True)


def chain(moments: list[int], view: ClusterView) -> list[Keyframe]:
    """Keyframes at these events, each on the one before, through their bytes."""
    events, base, frames = story_events(), EMPTY, []
    for moment in moments:
        view.apply_all(events[view.seq : moment])
        snapshot = view.snapshot()
        frame = keyframes.take(view, base, snapshot)
        frames.append(keyframes.decode(keyframes.encode(frame)))
        base = snapshot
    return frames


@settings(max_examples=40)
@given(MOMENTS)
def test_a_chain_of_keyframes_is_the_state_at_its_end(moments: list[int]) -> None:
    frames = chain(sorted(moments), ClusterView())
    rebuilt = keyframes.rebuild(EMPTY, frames)
    assert comparable(rebuilt) == comparable(folded(story_events()[: max(moments)]))


@settings(max_examples=20)
@given(MOMENTS, st.data())
def test_a_chain_may_be_joined_in_its_middle(moments: list[int], data: st.DataObject) -> None:
    frames = chain(sorted(moments), ClusterView())
    cut = data.draw(st.integers(0, len(frames) - 1))
    middle = keyframes.rebuild(EMPTY, frames[:cut])
    before = comparable(keyframes.rebuild(EMPTY, frames[:cut]))
    rebuilt = keyframes.rebuild(middle.snapshot(), frames[cut:])
    assert comparable(rebuilt) == comparable(folded(story_events()[: max(moments)]))
    assert comparable(middle) == before


def test_a_rebuilt_view_goes_on_like_the_one_it_came_from() -> None:
    events = story_events()
    rebuilt = keyframes.rebuild(EMPTY, chain([700, 1400], ClusterView()))
    rebuilt.apply_all(events[1400:])
    assert comparable(rebuilt) == comparable(folded(events))


def test_a_keyframe_holds_what_changed_and_not_what_did_not() -> None:
    view = ClusterView()
    frames = chain([len(story_events()) - 100, len(story_events())], view)
    changed = set(view.changed_partitions_since(frames[0].seq))
    assert set(frames[1].state.partitions) == changed - set(frames[1].gone_partitions)
    assert frames[1].state.batches == []
    assert len(frames[1].state.znodes) < len(view.state.znodes)


def test_a_full_keyframe_may_be_taken_at_any_time() -> None:
    view = folded(story_events())
    for _ in range(3):
        view.changed_partitions_since(view.seq)
    frame = keyframes.take(view, EMPTY, view.snapshot())
    assert frame.base_seq == 0
    assert comparable(keyframes.rebuild(EMPTY, [frame])) == comparable(folded(story_events()))
