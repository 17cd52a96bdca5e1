"""A folder of sessions: the good, the killed and the broken side by side."""

from pathlib import Path

import pytest

from sessions.errors import SessionMissingError
from sessions.library import list_sessions, show_session
from sessions.record import Recorder
from tests.sessions.examples import SPEC, origin, record_story, story_events


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
    assert "no database" in found[0].problem


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
