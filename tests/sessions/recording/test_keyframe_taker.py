"""When keyframes are taken, and what they stand on."""

import pytest

from sessions.format import keyframes
from sessions.model.cluster_view import ClusterView
from sessions.model.states import Batch
from sessions.recording import keyframe_taker
from sessions.recording.keyframe_taker import KeyframeTaker
from tests.sessions.examples import comparable, folded, story_events

EVENTS = story_events()


@pytest.fixture(autouse=True)
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keyframe_taker, "KEYFRAME_EVENTS_MIN", 100)
    monkeypatch.setattr(keyframe_taker, "KEYFRAME_EVENTS_MAX", 400)
    monkeypatch.setattr(keyframe_taker, "CHAIN_MAX", 3)


def taken(count: int, chunk_bytes: int, frame_bytes: int) -> list[keyframes.Keyframe]:
    """What is taken of so many chunks of 50 events."""
    view = ClusterView()
    taker = KeyframeTaker(view)
    frames = []
    for begin in range(0, count * 50, 50):
        view.apply_all(EVENTS[begin : begin + 50])
        taker.note_chunk(50, chunk_bytes)
        frame = taker.take_if_due()
        if frame is not None:
            frames.append(frame)
            taker.note_frame(frame_bytes)
    return frames


def test_there_is_none_before_enough_has_happened() -> None:
    assert taken(1, 10_000, 1) == []
    assert [frame.seq for frame in taken(4, 10_000, 1)] == [100, 200]


def test_large_keyframes_are_taken_less_often_but_some_time_for_sure() -> None:
    assert [frame.seq for frame in taken(20, 10, 1_000_000)] == [100, 500, 900]


def test_each_stands_on_the_one_before_until_the_chain_is_long_or_heavy() -> None:
    frames = taken(14, 10_000, 1)
    assert [frame.seq for frame in frames] == [100, 200, 300, 400, 500, 600, 700]
    assert [frame.base_seq for frame in frames] == [0, 100, 0, 300, 400, 0, 600]


def test_a_full_one_begins_a_chain_and_takes_batches_along() -> None:
    view = ClusterView()
    view.apply_all(EVENTS[:600])
    taker = KeyframeTaker(view)
    taker.note_chunk(300, 1)
    assert taker.take_if_due() is not None
    batches = [Batch(1, "p", "t-0", [], ["v"], 1, 0)]
    frame = taker.take_full(batches)
    assert (frame.seq, frame.base_seq, frame.state.batches) == (600, 0, batches)
    rebuilt = keyframes.rebuild(keyframes.EMPTY, [keyframes.decode(keyframes.encode(frame))])
    assert comparable(rebuilt) == comparable(folded(EVENTS[:600]))
    view.apply_all(EVENTS[600:900])
    taker.note_chunk(300, 1_000_000)
    following = taker.take_if_due()
    assert following is not None
    assert following.base_seq == 600
