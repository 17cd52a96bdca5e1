"""Session files: whole, cut short at any byte, damaged anywhere, read while written."""

import sqlite3
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sessions.format.errors import SessionDamagedError, SessionError
from sessions.format.file import SessionFile
from sessions.format.metadata import Origin
from sessions.format.schema import TABLES
from sessions.format.writer import PAGE_BYTES
from sessions.recording.recorder import Recorder
from tests.sessions.conftest import Growing
from tests.sessions.examples import (
    SPEC,
    edited,
    origin,
    record_story,
    small_chunks,
    story_events,
)

BRANCHES = 5
"""The first byte of a page that leads to other ones (the file format of SQLite, 1.6)."""


def test_a_session_gives_back_every_event(recording: Path) -> None:
    with SessionFile(recording) as session:
        assert tuple(session.all_events()) == story_events()
        assert (session.last_seq, session.damage) == (len(story_events()), "")
        assert len(session.chunks) > 10
        assert len(session.keyframes) > 5


def test_a_session_says_where_it_comes_from_and_how_it_ended(recording: Path) -> None:
    with SessionFile(recording) as session:
        assert session.origin == Origin("story", "tidegauge test", "3.9", SPEC.seed, SPEC)
        outcome = session.outcome
        assert outcome is not None
        assert (outcome.events, outcome.passed, outcome.failed) == (len(story_events()), 1, 1)
        assert len(outcome.state_hash) == 64


def test_a_session_has_its_statements_bookmarks_and_counts(recording: Path) -> None:
    with SessionFile(recording) as session:
        inputs = list(session.inputs())
        assert [each.text for each in inputs[:3]] == ["cluster", "CreateTopic", "CreateTopic"]
        assert all(each.statement is not None for each in inputs)
        assert [mark.name for mark in session.bookmarks()] == ["calm", "late"]
        counts = session.summary()
        assert [seq for seq, *_ in counts] == sorted({seq for seq, *_ in counts})
        assert max(each.under_replicated for _, _, each in counts) > 0


def test_a_closed_session_is_one_plain_file(recording: Path) -> None:
    assert [path.name for path in recording.parent.iterdir()] == ["story.tide.db"]


def test_reading_does_not_change_the_file(recording: Path) -> None:
    before = recording.read_bytes()
    with SessionFile(recording) as session:
        assert sum(1 for _ in session.all_events()) == session.last_seq
    assert recording.read_bytes() == before


def opened_up_to(path: Path) -> int:
    """How many events of a damaged copy can be read; they must be the right ones."""
    try:
        session = SessionFile(path)
    except SessionError as error:
        said, count = str(error), 0
    else:
        with session:
            count = looked_through(session)
            said = session.damage
    if count < len(story_events()):
        assert str(path) in said
        assert "\n" not in said
    return count


def looked_through(session: SessionFile) -> int:
    """How many events there are; everything else can be asked for, too."""
    events = tuple(session.all_events())
    assert events == story_events()[: len(events)]
    assert session.last_seq == len(events)
    list(session.inputs()), session.bookmarks(), session.summary()
    for place in session.keyframes:
        session.keyframe(place)
    return len(events)


def test_a_file_cut_at_any_byte_opens_up_to_the_cut(recording: Path, tmp_path: Path) -> None:
    whole = recording.read_bytes()
    path = tmp_path / "cut.tide.db"
    lengths = [*range(0, 130, 3), *range(130, len(whole), 2039), len(whole) - 1, len(whole)]
    read = []
    for length in lengths:
        path.write_bytes(whole[:length])
        read.append(opened_up_to(path))
    assert read[-1] == len(story_events())
    assert len(set(read)) > 5


@settings(max_examples=60)
@given(st.data())
def test_a_file_damaged_anywhere_gives_the_truth_or_says_that_it_is_damaged(
    recording: Path, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    content = bytearray(recording.read_bytes())
    at = data.draw(st.integers(100, len(content) - 1))
    noise = data.draw(st.binary(min_size=1, max_size=64))
    content[at : at + len(noise)] = noise
    del content[recording.stat().st_size :]
    path = tmp_path_factory.getbasetemp() / "damaged.tide.db"
    path.write_bytes(content)
    opened_up_to(path)


def test_what_damage_hides_from_a_search_is_found(recording: Path, tmp_path: Path) -> None:
    path = tmp_path / "hidden.tide.db"
    content = bytearray(recording.read_bytes())
    database = sqlite3.connect(recording)
    ((root,),) = database.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'chunks'")
    database.close()
    page = (root - 1) * PAGE_BYTES
    assert content[page] == BRANCHES
    second = page + int.from_bytes(content[page + 14 : page + 16])
    assert content[second + 4] == 0x81  # the first of two bytes of the key by which searches turn
    content[second + 5] = 0
    path.write_bytes(content)
    with SessionFile(recording) as whole, SessionFile(path) as session:
        assert list(session.all_events()) == list(whole.all_events())


def test_a_missing_chunk_is_where_the_session_ends(recording: Path, tmp_path: Path) -> None:
    path = tmp_path / "gap.tide.db"
    path.write_bytes(recording.read_bytes())
    database = sqlite3.connect(path)
    firsts = [first for (first,) in database.execute("SELECT first_seq FROM chunks ORDER BY 1")]
    database.execute("DELETE FROM chunks WHERE first_seq = ?", (firsts[4],))
    database.commit()
    database.close()
    with SessionFile(path) as session:
        assert session.last_seq == firsts[4] - 1
        assert f"event {firsts[4] - 1:,}" in session.damage


def test_a_session_without_its_tables_is_damaged(tmp_path: Path) -> None:
    path = tmp_path / "empty.tide.db"
    record_story(path, ())
    database = sqlite3.connect(path)
    for line in TABLES.split(";"):
        if name := line.partition("CREATE TABLE ")[2].partition(" ")[0]:
            database.execute(f"DROP TABLE {name}")
    database.close()
    with pytest.raises(SessionDamagedError, match="no such table"):
        SessionFile(path)


def test_a_session_can_be_read_while_it_is_written(tmp_path: Path) -> None:
    path = tmp_path / "growing.tide.db"
    events = story_events()
    with small_chunks():
        recorder = Recorder(path, origin())
        reader = SessionFile(path)
        assert (reader.last_seq, reader.complete) == (0, False)
        for part in range(0, len(events), 500):
            for event in events[part : part + 500]:
                recorder(event)
            recorder.flush()
            reader.refresh()
            assert reader.last_seq == min(part + 500, len(events))
        assert tuple(reader.all_events()) == events
        reader.close()
        recorder.close()


def test_a_chunk_that_has_grown_since_gives_what_it_had(growing: Growing) -> None:
    before = story_events()[: growing.session.last_seq]
    growing.grow()
    assert tuple(growing.session.all_events()) == before
    growing.session.refresh()
    assert tuple(growing.session.all_events())[: len(before)] == before
    assert growing.session.last_seq > len(before)


def test_a_look_without_a_check_reads_no_events(recording: Path, tmp_path: Path) -> None:
    path = tmp_path / "unread.tide.db"
    path.write_bytes(recording.read_bytes())
    database = sqlite3.connect(path)
    database.execute("UPDATE chunks SET events = x'00'")
    database.commit()
    database.close()
    with SessionFile(path, check=False) as session:
        assert session.last_seq == len(story_events())
        with pytest.raises(SessionDamagedError, match="cannot be read"):
            session.events(session.chunks[0])
    with SessionFile(path) as session:
        assert session.last_seq == 0


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("CREATE VIEW v AS SELECT 1", "is not a session: it holds the view 'v'"),
        (
            "CREATE TRIGGER t AFTER INSERT ON bookmarks BEGIN DELETE FROM chunks; END",
            "is not a session: it holds the trigger 't'",
        ),
        (
            "CREATE INDEX i ON bookmarks (abs(seq))",
            "is not a session: it holds the index 'i'",
        ),
        (
            "ALTER TABLE bookmarks ADD COLUMN x TEXT AS (upper(name))",
            "its table 'bookmarks' is none that a session has",
        ),
        ("CREATE TABLE other (x)", "its table 'other' is none that a session has"),
    ],
)
def test_a_file_that_holds_more_than_a_sessions_tables_is_refused(
    recording: Path, tmp_path: Path, statement: str, said: str
) -> None:
    path = tmp_path / "foreign.tide.db"
    path.write_bytes(recording.read_bytes())
    edited(path, statement)
    for check in (True, False):
        with pytest.raises(SessionError, match=said):
            SessionFile(path, check=check)


def test_a_view_in_a_tables_place_is_never_read(recording: Path, tmp_path: Path) -> None:
    path = tmp_path / "foreign.tide.db"
    path.write_bytes(recording.read_bytes())
    edited(path, "DROP TABLE summary")
    edited(path, "CREATE VIEW summary AS SELECT randomblob(1000000000) AS seq")
    with pytest.raises(SessionError, match="it holds the view 'summary'"):
        SessionFile(path)


def test_opening_a_long_file_takes_as_many_steps_as_a_short_one(tmp_path: Path) -> None:
    def steps(events: int) -> int:
        """How many instructions SQLite carries out for what opening looks at."""
        path = tmp_path / f"{events}.tide.db"
        with small_chunks(events=16):
            recorder = Recorder(path, origin())
            for event in story_events()[:events]:
                recorder(event)
            recorder.close()
        taken: list[None] = []
        with SessionFile(path, check=False) as session:
            session._database.set_progress_handler(lambda: taken.append(None), 1)
            session._open(check=False)
            assert (session.last_seq, session.damage) == (events, "")
        return len(taken)

    assert steps(2_700) < steps(100) + 10


def test_free_memory_is_given_back_after_large_chunks_alone(
    recording: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[None] = []
    monkeypatch.setattr("sessions.format.file.give_back", lambda: given.append(None))
    with SessionFile(recording) as session:
        session.unpacked(session.chunks[0])
        assert not given
        monkeypatch.setattr("sessions.format.limits.CHUNK_MEMORY_LARGE", 0)
        session.unpacked(session.chunks[0])
    assert len(given) == 1
