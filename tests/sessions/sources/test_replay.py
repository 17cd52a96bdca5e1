"""A recording as a source: a cursor in time, and nothing that can be changed."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from sessions.format.errors import SessionMissingError
from sessions.recording.recorder import Recorder
from sessions.sources.replay import ReplaySource
from sessions.sources.source import Source
from tests.sessions.examples import (
    comparable,
    edited,
    folded,
    origin,
    record_story,
    small_chunks,
    story_events,
)

EVENTS = story_events()


@pytest.fixture
def source(tmp_path: Path) -> Iterator[ReplaySource]:
    record_story(tmp_path / "story.tide.db")
    source = ReplaySource(tmp_path / "story.tide.db")
    yield source
    source.close()


def test_a_recording_is_a_source_that_only_reads(source: ReplaySource) -> None:
    as_source: Source = source
    assert (as_source.kind, as_source.read_only, as_source.name) == ("REPLAY", True, "story")
    reply = source.submit("broker crash 1")
    assert (reply.error, source.last_seq) == ("READ_ONLY", len(EVENTS))


def test_a_recording_opens_at_its_beginning(source: ReplaySource) -> None:
    assert (source.seq, source.time_us, source.at_tail) == (0, 0, False)
    assert (source.last_seq, source.last_time_us) == (len(EVENTS), EVENTS[-1].time_us)


def test_a_move_that_takes_long_goes_on_frame_by_frame(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sessions.sources.replay.KEEP_UP_S", 0)
    path = tmp_path / "story.tide.db"
    with small_chunks():
        record_story(path)
    source = ReplaySource(path, patience_s=0)
    source.to_tail()
    frames = 0
    while not source.at_tail:
        assert source.seq > 0
        assert comparable(source.view) == comparable(folded(EVENTS[: source.seq]))
        source.keep_up()
        frames += 1
    assert frames > 3
    assert source.time_us == EVENTS[-1].time_us
    source.seek_time(EVENTS[-1].time_us - 1)
    source.step(-1)  # another move ends the one before
    source.advance(0.0, 1.0, 1_000)
    before = source.seq
    source.keep_up()
    assert source.seq == before
    source.close()


def test_a_move_that_goes_far_begins_after_the_answer_to_its_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sessions.sources.replay.FAR_EVENTS", 100)
    path = tmp_path / "story.tide.db"
    record_story(path)
    source = ReplaySource(path, patience_s=1_000)
    source.to_tail()
    assert (source.seq, source.heading_for) == (0, source.last_seq)
    while source.heading_for is not None:
        source.keep_up()
    assert source.at_tail
    source.close()


def test_playing_passes_the_events_of_the_time(source: ReplaySource) -> None:
    passed = source.advance(0.5, 4.0, 1_000)
    assert passed == source.seq == sum(event.time_us <= 2_000_000 for event in EVENTS)
    assert source.time_us == 2_000_000
    assert comparable(source.view) == comparable(folded(EVENTS[:passed]))


def test_time_goes_on_between_events(source: ReplaySource) -> None:
    source.seek_time(EVENTS[-1].time_us - 1)
    before = source.seq
    source.seek_time(500)
    for _ in range(4):
        source.advance(0.0001, 1.0, 1_000)
    assert source.time_us == 900
    assert before > source.seq


def test_a_frame_that_is_too_short_goes_on_from_where_it_came(source: ReplaySource) -> None:
    passed = source.advance(1_000, 1.0, 0.0)
    assert passed == 0
    while not source.at_tail:
        source.advance(1_000, 1.0, 1.0)
    assert source.time_us == source.last_time_us
    assert source.advance(1, 1.0, 10) == 0


def test_steps_and_seeks_move_the_cursor(source: ReplaySource) -> None:
    source.to_tail()
    assert source.at_tail
    source.step(-3)
    assert source.seq == len(EVENTS) - 3
    source.step(1)
    assert source.seq == len(EVENTS) - 2
    source.seek_seq(17)
    assert (source.seq, source.time_us) == (17, EVENTS[16].time_us)


def test_events_marks_and_counts_are_told(source: ReplaySource) -> None:
    assert tuple(source.events(5, 9)) == EVENTS[4:9]
    assert [mark.name for mark in source.bookmarks()] == ["calm", "late"]
    assert source.samples()[-1][2] == folded(EVENTS).counts()
    assert source.touching([1], 0, 1) == next(
        e.seq for e in EVENTS if getattr(e, "broker", None) == 1
    )


def test_what_is_recorded_meanwhile_is_at_the_tail(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path / "a.tide.db", origin())
    for event in EVENTS[:100]:
        recorder(event)
    recorder.flush()
    source = ReplaySource(recorder.path)
    source.to_tail()
    for event in EVENTS[100:250]:
        recorder(event)
    recorder.flush()
    assert source.seq == 100
    source.to_tail()
    assert source.seq == 250
    source.close()
    recorder.close()


def test_a_recording_that_is_not_there_is_missing(tmp_path: Path) -> None:
    with pytest.raises(SessionMissingError):
        ReplaySource(tmp_path / "none.tide.db")


def damaged_in_the_middle(recording: Path, tmp_path: Path) -> tuple[Path, int]:
    """A copy of which one byte of one chunk is another, and the last event before that chunk."""
    path = tmp_path / "damaged.tide.db"
    path.write_bytes(recording.read_bytes())
    with closing(sqlite3.connect(path)) as database, database:
        query = "SELECT first_seq, events FROM chunks ORDER BY first_seq LIMIT 1 OFFSET 20"
        first, block = database.execute(query).fetchone()
        block = block[:30] + bytes([block[30] ^ 1]) + block[31:]
        database.execute("UPDATE chunks SET events = ? WHERE first_seq = ?", (block, first))
    return path, first - 1


MOVES: dict[str, Callable[[ReplaySource], object]] = {
    "to its end": lambda source: source.to_tail(),
    "to an event": lambda source: source.seek_seq(source.last_seq - 1),
    "to a time": lambda source: source.seek_time(source.last_time_us),
    "by steps": lambda source: source.step(10_000),
    "over events": lambda source: source.events(1, source.last_seq),
    "to an object": lambda source: source.touching(["orders-0"], source.last_seq, -1),
}


@pytest.mark.parametrize("way", MOVES)
def test_damage_in_the_middle_is_found_on_the_way_and_is_the_end_from_then_on(
    recording: Path, tmp_path: Path, way: str
) -> None:
    path, last = damaged_in_the_middle(recording, tmp_path)
    source = ReplaySource(path)
    assert source.trouble == ""
    MOVES[way](source)
    source.seek_seq(1 << 40)
    assert (source.seq, source.last_seq) == (last, last)
    assert f"opens up to event {last:,}" in source.trouble
    assert list(source.events(1, 1 << 40)) == list(story_events()[:last])
    source.close()


def test_a_recording_without_its_last_events_says_so_at_once(
    recording: Path, tmp_path: Path
) -> None:
    path = tmp_path / "short.tide.db"
    path.write_bytes(recording.read_bytes())
    edited(path, "DELETE FROM chunks WHERE first_seq > 1000")
    source = ReplaySource(path)
    assert source.last_seq == 1_024
    assert f"events 1,025 to {len(EVENTS):,} are missing" in source.trouble
    source.close()
