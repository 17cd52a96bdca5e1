"""Replay: any seek gives what folding from the start gives."""

from collections.abc import Iterator
from pathlib import Path
from unittest import mock
from weakref import ref

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sessions.format.chunks import Chunks
from sessions.format.errors import SessionDamagedError
from sessions.format.file import KeyframePlace, SessionFile
from sessions.format.keyframes import EMPTY, Keyframe, Room
from sessions.playback.replay import LOADS_MAX, SNAPSHOTS_MAX, Replay
from tests.sessions.examples import comparable, folded, record_story, small_chunks, story_events

EVENTS = story_events()
LAST = len(EVENTS)


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SessionFile]:
    path = tmp_path_factory.mktemp("replay") / "a.tide.db"
    with small_chunks(), pytest.MonkeyPatch.context() as patch:
        patch.setattr("sessions.playback.replay.KEYFRAME_WORTH_EVENTS", 60)
        patch.setattr("sessions.playback.replay.BREADCRUMBS", (40, 7))
        patch.setattr("sessions.playback.replay.FAR_BREADCRUMBS", (70, 20))
        record_story(path)
        with SessionFile(path) as session:
            yield session


def equals_fold(replay: Replay, seq: int) -> bool:
    return replay.seq == seq and comparable(replay.view) == comparable(folded(EVENTS[:seq]))


@settings(max_examples=60)
@given(st.lists(st.integers(0, LAST), min_size=1, max_size=6))
def test_any_way_of_seeking_equals_folding_from_the_start(
    session: SessionFile, targets: list[int]
) -> None:
    replay = Replay(Chunks(session))
    for target in targets:
        replay.seek_seq(target)
    assert equals_fold(replay, targets[-1])


@settings(max_examples=30)
@given(st.integers(0, LAST), st.lists(st.integers(-30, 30), min_size=1, max_size=12))
def test_steps_back_and_forth_equal_folding_from_the_start(
    session: SessionFile, start: int, steps: list[int]
) -> None:
    replay, seq = Replay(Chunks(session)), start
    replay.seek_seq(start)
    for step in steps:
        replay.step(step)
        seq = max(0, min(seq + step, LAST))
    assert equals_fold(replay, seq)


def test_a_walk_all_the_way_back_keeps_few_states(session: SessionFile) -> None:
    replay = Replay(Chunks(session))
    replay.seek_seq(LAST)
    for seq in range(LAST - 1, -1, -23):
        replay.seek_seq(seq)
    assert len(replay._snapshots) <= SNAPSHOTS_MAX
    replay.seek_seq(0)
    assert equals_fold(replay, 0)


@given(st.integers(-1, EVENTS[-1].time_us + 1_000))
def test_a_time_is_the_state_after_its_last_event(session: SessionFile, time_us: int) -> None:
    replay = Replay(Chunks(session))
    replay.seek_time(time_us)
    assert replay.seq == sum(event.time_us <= time_us for event in EVENTS)


def test_record_values_are_known_wherever_the_seek_began(session: SessionFile) -> None:
    replay = Replay(Chunks(session))
    replay.seek_seq(LAST)
    whole = folded(EVENTS)
    for tp, partition in whole.partitions.items():
        for broker in partition.replica_states:
            assert replay.view.values(tp, broker) == whole.values(tp, broker)
    assert len(replay.view.state.batches) < len(whole.state.batches)


class WithoutKeyframes(SessionFile):
    """A session some of whose keyframes are damaged."""

    broken: set[int]

    def keyframe(self, place: KeyframePlace, room: Room | None = None) -> Keyframe | None:
        return None if place.seq in self.broken else super().keyframe(place, room)


@settings(max_examples=25)
@given(st.data())
def test_damaged_keyframes_cost_time_and_nothing_else(
    session: SessionFile, data: st.DataObject
) -> None:
    damaged = WithoutKeyframes(session.path)
    with damaged:
        places = [place.seq for place in damaged.keyframes]
        damaged.broken = data.draw(st.sets(st.sampled_from(places)))
        replay = Replay(Chunks(damaged))
        for target in data.draw(st.lists(st.integers(0, LAST), min_size=1, max_size=3)):
            replay.seek_seq(target)
        assert equals_fold(replay, target)


def test_numbers_outside_the_recording_mean_its_ends(session: SessionFile) -> None:
    replay = Replay(Chunks(session))
    replay.seek_seq(LAST + 1000)
    assert replay.seq == LAST
    replay.seek_seq(-7)
    assert replay.seq == 0


def test_a_known_state_is_started_from(session: SessionFile) -> None:
    replay = Replay(Chunks(session))
    replay.start_from(folded(EVENTS[:1000]).snapshot())
    replay.seek_seq(1010)
    assert equals_fold(replay, 1010)


def test_a_chunk_that_cannot_be_read_is_told(session: SessionFile) -> None:
    with SessionFile(session.path, check=False) as other:
        other.chunks[0] = other.chunks[1]
        with pytest.raises(SessionDamagedError):
            Replay(Chunks(other)).seek_seq(5)


@pytest.mark.parametrize("within_s", [None, 0.0])
def test_a_step_back_in_a_very_large_cluster_follows_a_long_move_at_once(
    within_s: float | None, session: SessionFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its keyframes are not read, and nothing is folded again from the beginning.

    Also if the move was made block by block, for want of time.
    """
    monkeypatch.setattr("sessions.playback.replay.TWICE_PARTITIONS_MAX", 0)
    monkeypatch.setattr("sessions.playback.replay.FAR_BREADCRUMBS", (300, 20))
    replay = Replay(Chunks(session))
    monkeypatch.setattr(replay, "_nearest_keyframe", lambda seq: None)
    while replay.seq < LAST:
        replay.seek_seq(LAST, within_s)
    assert replay.is_near(LAST - 1, 20)
    assert replay.is_near(LAST - 100, 300)
    assert not replay.is_near(LAST - 301, 300)
    with mock.patch.object(replay, "_view_of", wraps=replay._view_of) as begun:
        replay.step(-1)
    assert [call.args[0].seq for call in begun.call_args_list] == [LAST - 20]
    assert equals_fold(replay, LAST - 1)


def test_two_states_of_a_very_large_cluster_are_not_kept_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sessions.playback.replay.TWICE_PARTITIONS_MAX", 0)
    path = tmp_path / "a.tide.db"
    with small_chunks():
        record_story(path)
    with SessionFile(path) as session:
        replay = Replay(Chunks(session))
        replay.seek_seq(session.last_seq)
        last = ref(replay.view)
        monkeypatch.setattr(replay, "_nearest_keyframe", lambda seq: None)
        replay.seek_seq(1)
        assert last() is None
        replay.seek_seq(session.last_seq)
        assert replay.seq == session.last_seq


def test_a_move_tries_few_keyframes(session: SessionFile, monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[int] = []
    monkeypatch.setattr(session, "keyframe", lambda place, room: tried.append(place.seq))
    replay = Replay(Chunks(session))
    monkeypatch.setattr(replay, "_base_of", lambda place: EMPTY)
    replay.seek_seq(LAST)
    assert equals_fold(replay, LAST)
    assert len(session.keyframes) > LOADS_MAX == len(tried)
