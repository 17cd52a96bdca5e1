"""A folder of sessions: the good, the killed and the broken side by side."""

from pathlib import Path

import pytest

from sessions.format.catalog import delete_session, list_sessions, show_session
from sessions.format.errors import NotASessionError, SessionError, SessionMissingError
from sessions.format.file import SessionFile
from sessions.format.schema import BESIDE
from sessions.recording.recorder import Recorder
from tests.sessions.examples import SPEC, STORY, origin, record_story, story_events


def test_every_session_of_a_folder_is_listed_by_name(tmp_path: Path) -> None:
    record_story(tmp_path / "b.tide.db")
    (tmp_path / "a.tide.db").write_text("nothing of ours")
    (tmp_path / "c.txt").write_text("not named as a session")
    open_one = Recorder(tmp_path / "c.tide.db", origin("open"))
    for event in story_events()[:50]:
        open_one(event)
    open_one.flush()
    found = list_sessions(tmp_path)
    open_one.close()
    assert [each.path.name for each in found] == ["a.tide.db", "b.tide.db", "c.tide.db"]
    assert [each.ended for each in found] == ["unreadable", "closed", "not closed"]
    assert [each.events for each in found] == [0, len(story_events()), 50]
    assert "not a database" in found[0].problem


def test_a_session_is_shown_with_its_origin_outcome_and_alerts(tmp_path: Path) -> None:
    record_story(tmp_path / "a.tide.db")
    shown = show_session(tmp_path / "a.tide.db")
    assert shown.origin is not None
    assert shown.outcome is not None
    assert (shown.origin.seed, shown.outcome.failed, shown.bookmarks) == (SPEC.seed, 1, 2)
    assert shown.time_us == story_events()[-1].time_us
    assert any(counts.under_replicated for _, _, counts in shown.alerts)
    assert shown.size_bytes > 0


def test_a_session_that_is_cut_short_says_so(tmp_path: Path) -> None:
    record_story(tmp_path / "a.tide.db")
    whole = (tmp_path / "a.tide.db").read_bytes()
    (tmp_path / "a.tide.db").write_bytes(whole[: len(whole) - 5000])
    assert show_session(tmp_path / "a.tide.db").ended == "damaged"


def test_a_folder_that_is_not_there_is_missing(tmp_path: Path) -> None:
    with pytest.raises(SessionMissingError, match="cannot be read"):
        list_sessions(tmp_path / "none")


def test_a_session_is_deleted_with_what_lies_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "a.tide.db"
    record_story(path, STORY[:4])
    for beside in BESIDE:
        (tmp_path / f"a.tide.db{beside}").touch()
    (tmp_path / "a.tide.db.txt").touch()
    delete_session(path)
    assert [each.name for each in tmp_path.iterdir()] == ["a.tide.db.txt"]


def test_what_is_no_session_is_not_deleted(tmp_path: Path) -> None:
    path = tmp_path / "notes.tide.db"
    path.write_text("precious")
    with pytest.raises(NotASessionError):
        delete_session(path)
    with pytest.raises(SessionMissingError):
        delete_session(tmp_path / "none.tide.db")
    assert path.read_text() == "precious"


def test_a_damaged_session_and_one_of_another_version_are_deleted(tmp_path: Path) -> None:
    for name, begin, end in (("cut", 0, 90), ("newer", 60, 64), ("noise", 300, 5_000)):
        path = tmp_path / f"{name}.tide.db"
        record_story(path, STORY[:4])
        content = path.read_bytes()
        if name == "cut":
            path.write_bytes(content[:end])
        else:
            path.write_bytes(content[:begin] + b"\x01" * (end - begin) + content[end:])
        with pytest.raises(SessionError):
            SessionFile(path)
        delete_session(path)
    assert list(tmp_path.iterdir()) == []


def test_a_session_that_is_being_recorded_is_not_deleted(tmp_path: Path) -> None:
    path = tmp_path / "a.tide.db"
    recorder = Recorder(path, origin())
    recorder(story_events()[0])
    recorder.flush()
    with pytest.raises(SessionError, match="is being recorded or read just now"):
        delete_session(path)
    recorder.close()
    with SessionFile(path) as session:
        assert session.last_seq == 1
    delete_session(path)
    assert list(tmp_path.iterdir()) == []
