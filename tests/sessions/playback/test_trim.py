"""Pieces of a session: sessions that open, replay and verify as far as they go."""

import sqlite3
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sessions.format.bookmarks import put_bookmark
from sessions.format.catalog import show_session
from sessions.format.chunks import Chunks
from sessions.format.errors import SessionDamagedError, SessionError, SessionMissingError
from sessions.format.file import SessionFile
from sessions.format.metadata import Extent
from sessions.model.states import Bookmark
from sessions.playback.replay import Replay
from sessions.playback.trim import trim
from sessions.playback.verify import verify
from sessions.sources.replay import ReplaySource
from tests.sessions.examples import comparable, folded, small_chunks, story_events

EVENTS = story_events()
LAST = len(EVENTS)


def cut(recording: Path, target: Path, first: int, last: int) -> Path:
    with SessionFile(recording) as session, small_chunks():
        trim(session, target, first, last)
    return target


def state_at(path: Path, seq: int) -> object:
    with SessionFile(path) as session:
        replay = Replay(Chunks(session))
        replay.seek_seq(seq)
        assert replay.seq == seq
        return comparable(replay.view)


@settings(max_examples=12, deadline=None)
@given(st.data())
def test_any_piece_has_its_events_its_states_and_verifies(
    recording: Path, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    first = data.draw(st.integers(1, LAST), label="first")
    last = data.draw(st.integers(first, LAST), label="last")
    path = cut(recording, tmp_path_factory.mktemp("piece") / "piece.tide.db", first, last)
    with SessionFile(path) as session:
        assert session.damage == ""
        assert (session.first_seq, session.last_seq) == (first, last)
        assert tuple(session.all_events()) == EVENTS[first - 1 : last]
        assert session.complete == (last == LAST)
    for seq in {first - 1, first, (first + last) // 2, last}:
        assert state_at(path, seq) == comparable(folded(EVENTS[:seq]))
    found = verify(path)
    assert found.same
    assert found.events == last - first + 1


def test_a_piece_can_be_cut_from_a_piece(recording: Path, tmp_path: Path) -> None:
    one = cut(recording, tmp_path / "one.tide.db", 500, 1500)
    two = cut(one, tmp_path / "two.tide.db", 900, 1200)
    with SessionFile(two) as session:
        assert tuple(session.all_events()) == EVENTS[899:1200]
        assert session.extent == Extent(900, EVENTS[898].time_us, LAST)
    assert state_at(two, 1100) == comparable(folded(EVENTS[:1100]))
    assert verify(two).same


def test_values_of_records_that_came_before_a_piece_are_known_in_it(
    recording: Path, tmp_path: Path
) -> None:
    path = cut(recording, tmp_path / "late.tide.db", 2000, LAST)
    expected = folded(EVENTS)
    with SessionFile(path) as session:
        replay = Replay(Chunks(session))
        replay.seek_seq(LAST)
        for partition in expected.partitions.values():
            for broker in partition.replica_states:
                values = expected.values(partition.name, broker)
                assert replay.view.values(partition.name, broker) == values
        assert "a-0" in replay.view.values("orders-0", 0)


def test_a_piece_says_in_lists_and_verification_what_it_is(recording: Path, tmp_path: Path) -> None:
    start = cut(recording, tmp_path / "start.tide.db", 1, 900)
    end = cut(recording, tmp_path / "end.tide.db", 900, LAST)
    assert show_session(start).ended == "trimmed"
    assert show_session(start).events == 900
    assert show_session(end).ended == "closed"
    assert show_session(end).events == LAST - 899
    assert "was trimmed there" in str(verify(start))
    assert "It does not contain the events before event 900" in str(verify(end))
    assert verify(end).state_hash == verify(recording).state_hash is not None


def test_a_piece_is_a_source_in_which_one_walks_as_far_as_it_goes(
    recording: Path, tmp_path: Path
) -> None:
    source = ReplaySource(cut(recording, tmp_path / "piece.tide.db", 700, 1400))
    assert (source.seq, source.time_us) == (699, EVENTS[698].time_us)
    source.seek_seq(0)
    assert source.seq == 699
    source.step(5)
    assert comparable(source.view) == comparable(folded(EVENTS[:704]))
    source.seek_time(0)
    assert source.seq == 699
    assert tuple(source.events(1, 10_000)) == EVENTS[699:1400]
    assert source.touching(["orders-0"], 704, -1) in (None, *range(700, 704))
    while not source.at_tail:
        source.advance(10, 10, 1_000)
    assert comparable(source.view) == comparable(folded(EVENTS[:1400]))
    assert source.samples()[0][0] == 699
    assert [mark.seq for mark in source.bookmarks()] == [
        mark.seq for mark in folded(EVENTS).state.bookmarks if 699 <= mark.seq <= 1400
    ]
    source.close()


def test_bookmarks_by_hand_go_along_with_what_they_name(recording: Path, tmp_path: Path) -> None:
    source = tmp_path / "copy.tide.db"
    source.write_bytes(recording.read_bytes())
    with SessionFile(source) as session:
        for seq in (10, 599, 600, 800, 801):
            put_bookmark(session, Bookmark(f"at {seq}", "", seq, EVENTS[seq - 1].time_us))
    with SessionFile(cut(source, tmp_path / "piece.tide.db", 600, 800)) as piece:
        found = [mark.name for mark in piece.bookmarks()]
    assert [name for name in found if name.startswith("at ")] == ["at 599", "at 600", "at 800"]


def test_the_readable_part_of_a_damaged_session_becomes_a_whole_one(
    recording: Path, tmp_path: Path
) -> None:
    damaged = tmp_path / "damaged.tide.db"
    damaged.write_bytes(recording.read_bytes()[: recording.stat().st_size * 2 // 3])
    with SessionFile(damaged) as session:
        last = session.last_seq
        assert session.damage
    path = cut(damaged, tmp_path / "rescued.tide.db", 1, LAST)
    with SessionFile(path) as session:
        assert session.damage == ""
        assert tuple(session.all_events()) == EVENTS[:last]


def test_what_is_there_is_never_overwritten_and_what_is_not_never_invented(
    recording: Path, tmp_path: Path
) -> None:
    there = tmp_path / "there.tide.db"
    there.write_text("precious")
    with SessionFile(recording) as session:
        with pytest.raises(SessionError, match="already exists"):
            trim(session, there, 1, 5)
        with pytest.raises(SessionError, match="there are none from 90,000 on"):
            trim(session, tmp_path / "none.tide.db", 90_000, 90_001)
        with pytest.raises(SessionMissingError, match=r"none/a.tide.db cannot be written"):
            trim(session, tmp_path / "none" / "a.tide.db", 1, 5)
    assert there.read_text() == "precious"
    assert [path.name for path in tmp_path.iterdir()] == ["there.tide.db"]


def test_a_piece_that_cannot_be_finished_leaves_nothing(
    recording: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr("sessions.format.writer.SessionWriter.put_chunk", full)
    with (
        SessionFile(recording) as session,
        pytest.raises(SessionError, match="disk is full") as error,
    ):
        trim(session, tmp_path / "a.tide.db", 1, 500)
    assert str(error.value).startswith(str(tmp_path / "a.tide.db"))
    assert list(tmp_path.iterdir()) == []


def test_a_piece_without_the_state_it_begins_with_can_still_be_verified(
    recording: Path, tmp_path: Path
) -> None:
    path = cut(recording, tmp_path / "piece.tide.db", 700, 1400)
    database = sqlite3.connect(path)
    database.execute("UPDATE keyframes SET checksum = 0 WHERE seq = 699")
    database.commit()
    database.close()
    with SessionFile(path) as session:
        assert tuple(session.all_events()) == EVENTS[699:1400]
        with pytest.raises(SessionDamagedError, match="the state before its first event"):
            Replay(Chunks(session))
    assert verify(path).same


@pytest.fixture(scope="module")
def late(recording: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return cut(recording, tmp_path_factory.mktemp("late") / "late.tide.db", 700, 1400)


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_a_piece_damaged_anywhere_gives_the_truth_or_says_that_it_is_damaged(
    late: Path, data: st.DataObject
) -> None:
    content = bytearray(late.read_bytes())
    at = data.draw(st.integers(100, len(content) - 1))
    noise = data.draw(st.binary(min_size=1, max_size=200))
    content[at : at + len(noise)] = noise
    path = late.with_name("damaged.tide.db")
    path.write_bytes(content[: late.stat().st_size])
    said, shown = "", 0
    try:
        with SessionFile(path) as session:
            said = session.damage
            events = tuple(session.all_events())
            assert events == EVENTS[699 : 699 + len(events)]
            replay = Replay(Chunks(session))
            replay.seek_seq(session.last_seq)
            assert comparable(replay.view) == comparable(folded(EVENTS[: replay.seq]))
            shown = replay.seq
    except SessionError as error:
        said = str(error)
    assert shown == 1400 or str(path) in said
