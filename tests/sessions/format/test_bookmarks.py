"""Bookmarks by hand: kept in the file, in recordings and beside running clusters, and no events."""

import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from emulator.cluster import Cluster
from emulator.scenario.runner import Runner
from sessions.format.bookmarks import (
    NAME_CHARACTERS_MAX,
    BookmarkError,
    bookmark,
    merged,
    put_bookmark,
    remove_bookmark,
)
from sessions.format.errors import SessionError
from sessions.format.file import SessionFile
from sessions.model.states import Bookmark
from sessions.playback.verify import verify
from sessions.recording.recorder import Recorder
from sessions.sources.live import LiveSource
from sessions.sources.replay import ReplaySource
from sessions.sources.source import Source
from tests.sessions.examples import (
    SPEC,
    STORY,
    execute,
    origin,
    record_story,
    small_chunks,
    statement,
    story_events,
)

MARKED = [("calm", "before anything happens"), ("late", "")]


def live(path: Path) -> tuple[Source, Callable[[], None]]:
    recorder = Recorder(path, origin())
    runner = Runner(Cluster(SPEC, (recorder,)))
    recorder.follow(runner)
    for line, given in enumerate(STORY, start=2):
        recorder.announce(statement(given, line))
        execute(runner, given, line)
    source = LiveSource(runner, recorder, lambda text: ())

    def close() -> None:
        source.close()
        recorder.close()

    return source, close


def replayed(path: Path) -> tuple[Source, Callable[[], None]]:
    record_story(path)
    source = ReplaySource(path)
    source.to_tail()
    return source, source.close


@pytest.fixture(params=[live, replayed], ids=["live", "replayed"])
def source(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Source]:
    with small_chunks():
        opened, close = request.param(tmp_path / "a.tide.db")
        yield opened
        close()


def of_file(path: Path) -> list[Bookmark]:
    with SessionFile(path) as session:
        return session.bookmarks()


def named(marks: list[Bookmark]) -> list[tuple[str, str]]:
    return [(mark.name, mark.note) for mark in marks]


def test_a_bookmark_is_set_where_the_cursor_is(source: Source, tmp_path: Path) -> None:
    source.seek_seq(40)
    mark = source.put_bookmark("first", "  a note ")
    assert mark == Bookmark("first", "a note", 40, story_events()[39].time_us)
    assert source.seq == 40
    assert named(list(source.bookmarks())) == [("first", "a note"), *MARKED]
    assert of_file(tmp_path / "a.tide.db") == list(source.bookmarks())


def test_a_bookmark_is_set_at_any_event_without_going_there(source: Source) -> None:
    before = source.seq
    for seq in (0, 1, 333, source.last_seq):
        mark = source.put_bookmark(f"at {seq}", seq=seq)
        assert mark.time_us == (story_events()[seq - 1].time_us if seq else 0)
    assert source.put_bookmark("beyond", seq=10**9).seq == source.last_seq
    assert source.seq == before
    assert [mark.seq for mark in source.bookmarks()] == sorted(
        {mark.seq for mark in source.bookmarks()}
    )


def test_a_later_bookmark_takes_the_place_of_one_at_the_same_event(source: Source) -> None:
    calm = source.bookmarks()[0]
    source.put_bookmark("calm", "still", seq=calm.seq)
    assert named(list(source.bookmarks())) == [("calm", "still"), ("late", "")]


def test_a_bookmark_can_be_taken_away_whoever_set_it(source: Source, tmp_path: Path) -> None:
    calm, late = source.bookmarks()
    assert source.remove_bookmark(calm.seq)
    assert not source.remove_bookmark(calm.seq)
    assert list(source.bookmarks()) == of_file(tmp_path / "a.tide.db") == [late]


def test_bookmarks_by_hand_stay_when_the_recording_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "a.tide.db"
    with small_chunks(), Recorder(path, origin()) as recorder:
        for event in story_events():
            recorder(event)
            if event.seq == 300:
                recorder.put_bookmark(Bookmark("by hand", "", 250, event.time_us))
                assert recorder.remove_bookmark(recorder.bookmarks[-1].seq)
                recorder.put_bookmark(Bookmark("again", "", 251, event.time_us))
        last = recorder.bookmarks[-1]
        recorder.remove_bookmark(last.seq)
    assert of_file(path) == recorder.bookmarks
    assert ("again", "") in named(of_file(path))
    assert last.name not in [mark.name for mark in of_file(path)]


def test_bookmarks_are_no_events(source: Source, tmp_path: Path) -> None:
    source.put_bookmark("here", "changes nothing", seq=77)
    assert tuple(source.events(1, source.last_seq)) == story_events()
    assert verify(tmp_path / "a.tide.db").same


def test_a_reader_sets_bookmarks_while_the_recorder_writes(tmp_path: Path) -> None:
    path = tmp_path / "a.tide.db"
    with small_chunks(), Recorder(path, origin()) as recorder:
        for event in story_events():
            recorder(event)
            if event.seq == 700:
                recorder.flush()
                with SessionFile(path) as session:
                    put_bookmark(session, Bookmark("reader's", "", 600, 0))
    with SessionFile(path) as session:
        assert "reader's" in [mark.name for mark in session.bookmarks()]
        assert tuple(session.all_events()) == story_events()
        assert remove_bookmark(session, 600)


@pytest.mark.parametrize(
    ("name", "note", "said"),
    [
        (" ", "", "needs a name"),
        ("x" * (NAME_CHARACTERS_MAX + 1), "", "name has at most 128 characters"),
        ("x", "y" * 2_000, "note has at most 1,024 characters"),
    ],
)
def test_a_bookmark_of_no_name_or_too_many_words_is_refused(
    name: str, note: str, said: str
) -> None:
    with pytest.raises(BookmarkError, match=said):
        bookmark(name, note, 1, 1)


def test_a_damaged_session_takes_no_bookmarks(tmp_path: Path) -> None:
    path = tmp_path / "a.tide.db"
    with small_chunks():
        record_story(path)
    database = sqlite3.connect(path)
    database.execute("DELETE FROM chunks WHERE first_seq > 500")
    database.execute("UPDATE chunks SET checksum = 0 WHERE last_seq > 200")
    database.commit()
    database.close()
    with SessionFile(path) as session, pytest.raises(BookmarkError, match="it is damaged"):
        put_bookmark(session, Bookmark("x", "", 1, 1))


def test_a_file_that_cannot_be_written_takes_no_bookmarks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sessions.format.bookmarks.BUSY_SECONDS", 0.01)
    path = tmp_path / "a.tide.db"
    record_story(path, STORY[:4])
    other = sqlite3.connect(path, isolation_level=None)
    with SessionFile(path) as session:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(BookmarkError, match="takes no bookmarks: database is locked"):
            put_bookmark(session, Bookmark("x", "", 1, 1))
        other.close()
        put_bookmark(session, Bookmark("x", "", 1, 1))
        assert session.bookmarks() == [Bookmark("x", "", 1, 1)]


def test_a_file_that_is_gone_takes_no_bookmarks(tmp_path: Path) -> None:
    path = tmp_path / "a.tide.db"
    record_story(path, STORY[:4])
    with SessionFile(path) as session:
        path.unlink()
        with pytest.raises(BookmarkError, match="No such file"):
            put_bookmark(session, Bookmark("x", "", 1, 1))
    assert not path.exists()


def test_a_recording_that_has_failed_takes_no_bookmarks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    recorder = Recorder(tmp_path / "a.tide.db", origin())
    recorder(story_events()[0])
    monkeypatch.setattr(recorder.writer, "put_bookmark", full)
    with pytest.raises(SessionError, match="disk is full"):
        recorder.put_bookmark(Bookmark("x", "", 1, 1))
    assert recorder.bookmarks == []
    with pytest.raises(SessionError, match="disk is full"):
        recorder.close()


def test_what_was_taken_away_by_hand_is_not_among_the_merged() -> None:
    one, two, other = (Bookmark(name, "", seq, 0) for name, seq in (("1", 1), ("2", 2), ("o", 2)))
    assert merged([one, two], {2: other}) == [one, other]
    assert merged([one, two], {1: None, 9: None}) == [two]
