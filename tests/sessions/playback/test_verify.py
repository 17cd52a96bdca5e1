"""Verification: the same statements again, event by event."""

import sqlite3
from pathlib import Path

import msgspec
import pytest

from emulator.cluster import Cluster
from emulator.inputs.statements import Produce
from emulator.scenario.runner import Runner
from sessions.format.errors import SessionDamagedError, SessionIncompleteError
from sessions.format.metadata import Origin, Outcome
from sessions.playback.verify import TOLD_EVERY, verify
from sessions.recording.recorder import Recorder
from tests.sessions.examples import (
    SPEC,
    STORY,
    execute,
    origin,
    record_story,
    statement,
    story_events,
)


def changed(path: Path, statement: str, *values: object) -> None:
    database = sqlite3.connect(path)
    database.execute(statement, values)
    database.commit()
    database.close()


def test_a_recording_run_again_is_the_same(tmp_path: Path) -> None:
    path = tmp_path / "a.tide.db"
    runner = record_story(path)
    found = verify(path)
    assert found.same
    assert (found.events, found.state_hash) == (len(story_events()), runner.state_hash)
    assert str(found) == f"{path}: all {found.events:,} events and the final state are the same."


def test_how_far_a_verification_is_can_be_watched(tmp_path: Path) -> None:
    record_story(tmp_path / "a.tide.db")
    told: list[int] = []
    verify(tmp_path / "a.tide.db", told.append)
    assert told == list(range(TOLD_EVERY, len(story_events()) + 1, TOLD_EVERY))


def test_the_first_event_that_differs_is_shown_from_both_runs(tmp_path: Path) -> None:
    path = tmp_path / "a.tide.db"
    record_story(path)
    other = statement(Produce(topic="orders", partition=0, value="other", count=5, acks=-1), 5)
    text = msgspec.json.encode(other).decode()
    changed(path, "UPDATE inputs SET statement = ? WHERE line = 5", text)
    found = verify(path)
    assert not found.same
    assert found.difference is not None
    recorded, again = found.difference.recorded, found.difference.again
    assert recorded == story_events()[found.difference.seq - 1]
    assert "a-0" in str(found)
    assert "other-0" in str(found)
    assert again is not None
    assert again.seq == found.difference.seq


def test_a_run_that_ends_too_early_differs_in_an_event_that_is_missing(tmp_path: Path) -> None:
    path = tmp_path / "a.tide.db"
    record_story(path, STORY[:6])
    changed(path, "DELETE FROM inputs WHERE line = 7")
    found = verify(path)
    assert not found.same


def test_another_final_state_is_told(tmp_path: Path) -> None:
    path = tmp_path / "a.tide.db"
    record_story(path, STORY[:4])
    database = sqlite3.connect(path)
    (text,) = database.execute("SELECT value FROM meta WHERE key = 'outcome'").fetchone()
    database.close()
    outcome = msgspec.json.decode(text, type=Outcome)
    other = msgspec.structs.replace(outcome, state_hash="0" * 64)
    text = msgspec.json.encode(other).decode()
    changed(path, "UPDATE meta SET value = ? WHERE key = 'outcome'", text)
    found = verify(path)
    assert not found.same
    assert "but the final state is not" in str(found)


def test_a_recording_that_was_not_closed_is_compared_as_far_as_it_goes(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path / "a.tide.db", origin())
    runner = Runner(Cluster(SPEC, (recorder,)))
    for line, given in enumerate(STORY[:6], start=2):
        recorder.announce(statement(given, line))
        execute(runner, given, line)
    recorder.flush()
    found = verify(recorder.path)
    recorder.close()
    assert found.same
    assert "was not closed" in str(found)


def test_statements_of_which_only_the_text_is_known_cannot_be_run_again(tmp_path: Path) -> None:
    path = tmp_path / "a.tide.db"
    record_story(path, STORY[:4])
    changed(path, "UPDATE inputs SET statement = NULL WHERE line = 4")
    with pytest.raises(SessionIncompleteError, match="only the text is recorded"):
        verify(path)


def test_a_recording_without_statements_cannot_be_run_again(tmp_path: Path) -> None:
    with Recorder(tmp_path / "a.tide.db", origin()) as recorder:
        pass
    with pytest.raises(SessionIncompleteError, match="holds no statement"):
        verify(recorder.path)


def test_a_cluster_that_cannot_be_made_is_damage(tmp_path: Path) -> None:
    path = tmp_path / "a.tide.db"
    record_story(path, ())
    spec = msgspec.structs.replace(SPEC, version="9.9")
    text = msgspec.json.encode(Origin("a", "test", "9.9", 1, spec)).decode()
    changed(path, "UPDATE meta SET value = ? WHERE key = 'origin'", text)
    with pytest.raises(SessionDamagedError, match="cannot be run again"):
        verify(path)
