"""Verification: the same statements again, event by event."""

from pathlib import Path

import msgspec
import pytest

from emulator.cluster import Cluster
from emulator.common.version import THIS_PROGRAM
from emulator.inputs.statements import Produce
from emulator.scenario.runner import Runner
from sessions.format.errors import SessionDamagedError, SessionIncompleteError
from sessions.format.file import SessionFile
from sessions.format.metadata import Origin, Outcome
from sessions.format.schema import SCHEMA
from sessions.playback import verify as verification
from sessions.playback.verify import TOLD_EVERY, verify
from sessions.recording.recorder import Recorder
from tests.sessions.examples import (
    SPEC,
    STORY,
    edited,
    execute,
    origin,
    record_story,
    small_chunks,
    statement,
    story_events,
)


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
    edited(path, "UPDATE inputs SET statement = ? WHERE line = 5", text)
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
    edited(path, "DELETE FROM inputs WHERE line = 7")
    found = verify(path)
    assert not found.same


def outcome_of(path: Path) -> Outcome:
    with SessionFile(path) as session:
        assert session.outcome is not None
        return session.outcome


def of_this_version(path: Path) -> None:
    text = msgspec.json.encode(msgspec.structs.replace(origin(), program=THIS_PROGRAM)).decode()
    edited(path, "UPDATE meta SET value = ? WHERE key = 'origin'", text)


@pytest.mark.parametrize("name", [each for each in Outcome.__struct_fields__ if each != "outcome"])
def test_an_end_that_was_edited_is_found(tmp_path: Path, name: str) -> None:
    path = tmp_path / "a.tide.db"
    record_story(path)
    outcome = outcome_of(path)
    value = "0" * 64 if name == "state_hash" else getattr(outcome, name) + 1
    text = msgspec.json.encode(msgspec.structs.replace(outcome, **{name: value})).decode()
    edited(path, "UPDATE meta SET value = ? WHERE key = 'outcome'", text)
    of_this_version(path)
    found = verify(path)
    if name == "events":  # then one is missing
        assert found.damaged
        assert found.events == len(story_events())
        assert "is damaged" in str(found)
    else:
        assert not found.same
        assert [each.name for each in found.outcome or ()] == [
            "state hash" if name == "time_us" else name.replace("_", " ")  # the time is part of it
        ]


RELEASED = Path(__file__).parents[1] / "format" / "released" / f"schema-{SCHEMA}.tide.db"


def test_another_versions_state_hash_is_no_difference(tmp_path: Path) -> None:
    path = tmp_path / "a.tide.db"
    path.write_bytes(RELEASED.read_bytes())
    found = verify(path)
    assert found.same
    assert found.state_hash != outcome_of(path).state_hash
    assert str(found) == (
        f"{path}: all {found.events:,} events and the final state are the same. Only the state hash"
        f" differs: an earlier version recorded it, and this is {THIS_PROGRAM}."
    )


def test_another_version_is_named_where_the_session_names_it(tmp_path: Path) -> None:
    path = tmp_path / "a.tide.db"
    record_story(path)
    outcome = msgspec.structs.replace(outcome_of(path), state_hash="0" * 64)
    text = msgspec.json.encode(outcome).decode()
    edited(path, "UPDATE meta SET value = ? WHERE key = 'outcome'", text)
    found = verify(path)
    assert found.same
    assert found.note.startswith(" Only the state hash differs: tidegauge test recorded it, and ")


def test_another_versions_hash_excuses_no_other_final_state(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.tide.db"
    path.write_bytes(RELEASED.read_bytes())
    rows = iter([{"partitions": []}, {"partitions": [{"topic": "orders"}]}])
    monkeypatch.setattr(verification, "snapshot", lambda _: next(rows))
    found = verify(path)
    assert not found.same
    assert [each.name for each in found.outcome or ()] == ["state hash"]


def test_an_end_before_the_last_event_is_damage(tmp_path: Path) -> None:
    path = tmp_path / "a.tide.db"
    record_story(path)
    outcome = outcome_of(path)
    text = msgspec.json.encode(msgspec.structs.replace(outcome, events=100)).decode()
    edited(path, "UPDATE meta SET value = ? WHERE key = 'outcome'", text)
    found = verify(path)
    assert found.damaged
    assert "closed after event 100" in str(found)


@pytest.mark.parametrize("kept", [0, 1, 7])
@pytest.mark.parametrize("tables", [("chunks",), ("chunks", "touches"), ("chunks", "inputs")])
def test_events_that_are_gone_from_the_end_are_missed(
    tmp_path: Path, kept: int, tables: tuple[str, ...]
) -> None:
    path = tmp_path / "a.tide.db"
    with small_chunks():
        record_story(path)
    with SessionFile(path) as session:
        last = session.chunks[kept].first_seq - 1
    for table in tables:
        column = "seq" if table == "inputs" else "first_seq"
        edited(path, f"DELETE FROM {table} WHERE {column} > ?", last)
    if "inputs" in tables and kept == 0:
        with pytest.raises(SessionIncompleteError, match="no statement"):
            verify(path)
        return
    found = verify(path)
    assert (found.events, found.damaged, found.state_hash) == (last, True, None)
    assert f"events {last + 1:,} to {len(story_events()):,} are missing" in str(found)
    assert "final state" not in str(found)


def test_events_that_are_gone_from_the_end_of_a_killed_recording_are_missed(
    tmp_path: Path,
) -> None:
    path = tmp_path / "a.tide.db"
    with small_chunks():
        record_story(path)
    edited(path, "DELETE FROM meta WHERE key = 'outcome'")
    edited(path, "DELETE FROM chunks WHERE first_seq > 700")
    found = verify(path)
    assert found.damaged
    assert "are missing" in str(found)


def test_a_run_that_goes_on_for_longer_differs(tmp_path: Path) -> None:
    path = tmp_path / "a.tide.db"
    with small_chunks():
        record_story(path)
    outcome = outcome_of(path)
    with SessionFile(path) as session:
        last = session.chunks[6].last_seq
    for table in ("chunks", "touches"):
        edited(path, f"DELETE FROM {table} WHERE first_seq > ?", last)
    for table in ("inputs", "summary", "keyframes"):
        edited(path, f"DELETE FROM {table} WHERE seq > ?", last)
    text = msgspec.json.encode(msgspec.structs.replace(outcome, events=last)).decode()
    edited(path, "UPDATE meta SET value = ? WHERE key = 'outcome'", text)
    found = verify(path)
    assert not found.same
    assert found.difference is not None
    assert (found.difference.seq, found.difference.recorded) == (last + 1, None)


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
    edited(path, "UPDATE inputs SET statement = NULL WHERE line = 4")
    with pytest.raises(SessionIncompleteError, match="only the text is recorded"):
        verify(path)


def test_a_recording_without_statements_cannot_be_run_again(tmp_path: Path) -> None:
    with Recorder(tmp_path / "a.tide.db", origin()) as recorder:
        pass
    with pytest.raises(SessionIncompleteError, match="contains no statement"):
        verify(recorder.path)


def test_a_cluster_that_cannot_be_made_is_damage(tmp_path: Path) -> None:
    path = tmp_path / "a.tide.db"
    record_story(path, ())
    spec = msgspec.structs.replace(SPEC, version="9.9")
    text = msgspec.json.encode(Origin("a", "test", "9.9", 1, spec)).decode()
    edited(path, "UPDATE meta SET value = ? WHERE key = 'origin'", text)
    with pytest.raises(SessionDamagedError, match="cannot be run again"):
        verify(path)
