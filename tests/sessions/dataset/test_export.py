"""Exporting a session: everything of it arrives, and nothing of one that fails."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings

from emulator.events import (
    AuditChanged,
    Event,
    ExpectationChecked,
    InvariantViolated,
    MessageSent,
    SessionEnded,
    TimerFired,
)
from sessions.dataset.export import export_session
from sessions.dataset.layout import Dataset, DatasetError
from sessions.dataset.rows.events import as_event
from sessions.dataset.rows.sessions import SessionFacts
from sessions.dataset.schema import arrow_schema
from sessions.dataset.tables import TABLES
from tests.sessions.dataset.reading import exported, files, rows
from tests.sessions.dataset.streams import Story, committed_story, stories


def paths(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


@settings(max_examples=20)
@given(stories())
def test_every_event_can_be_had_back_from_its_row(
    tmp_path_factory: pytest.TempPathFactory, story: Story
) -> None:
    dataset = tmp_path_factory.mktemp("dataset")
    exported(story.events, dataset)
    assert [as_event(row) for row in rows(dataset, "events")] == story.events


def test_all_tables_have_the_declared_schema(tmp_path: Path) -> None:
    exported(committed_story().events, tmp_path)
    for table in TABLES:
        for file in files(tmp_path, table.name):
            assert pq.read_schema(file).equals(arrow_schema(table)), table.name


def test_a_session_without_events_has_empty_tables_and_a_row_of_its_own(tmp_path: Path) -> None:
    report = exported([], tmp_path)
    assert report.events == 0
    assert {name for name, count in report.rows.items() if count} == {"sessions"}
    assert rows(tmp_path, "sessions")[0]["last_seq"] == 0


def test_facts_can_be_told_when_the_events_have_been_read(tmp_path: Path) -> None:
    read: list[Event] = []

    def events() -> Iterator[Event]:
        for event in committed_story().events:
            read.append(event)
            yield event

    export_session(
        events(),
        SessionFacts("s1"),
        tmp_path,
        ended=lambda: SessionFacts("s1", state_hash=f"after {len(read)}"),
    )
    (row,) = rows(tmp_path, "sessions")
    assert row["state_hash"] == f"after {len(committed_story().events)}"


def test_the_columns_of_an_event_are_taken_from_its_fields(tmp_path: Path) -> None:
    story = Story()
    sent = story.tell(MessageSent, "FetchRequest", 1, 0, 0, [["orders-0", 5]])
    timer = story.tell(TimerFired, 2, "isr")
    exported(story.events, tmp_path)
    by_seq = {row["seq"]: row for row in rows(tmp_path, "events")}
    assert by_seq[sent.seq]["broker"] == 1
    (item,) = by_seq[sent.seq]["partition_data"]
    assert {name: value for name, value in item.items() if value is not None} == {
        "tp": "orders-0",
        "offset": 5,
    }
    assert by_seq[sent.seq]["payload"] is None
    assert by_seq[timer.seq]["task"] == "isr"
    assert by_seq[timer.seq]["broker"] == 2
    created = by_seq[2]
    assert (created["topic"], created["tp"], created["partition"]) == ("orders", None, None)


def test_text_of_any_kind_survives_in_payloads(tmp_path: Path) -> None:
    story = Story()
    texts = ["", "line\nbreak", 'quote"', "\u2028", "é", "\x00"]
    events = [story.tell(TimerFired, 0, text) for text in texts]
    exported(story.events, tmp_path)
    found = [as_event(row) for row in rows(tmp_path, "events")]
    assert found[-len(texts) :] == events


def test_rows_and_files_are_many_when_a_session_is_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sessions.dataset.export.BLOCK_EVENTS", 7)
    for name, size in (("EVENTS_WAITING", 15), ("ROWS_WAITING", 2)):
        monkeypatch.setattr(f"sessions.dataset.arrow_rows.{name}", size)
    monkeypatch.setattr("sessions.dataset.rows.events.TYPE_ROWS", 3)
    for name, size in (("ROW_GROUP_ROWS", 20), ("PART_ROWS", 60)):
        monkeypatch.setattr(f"sessions.dataset.writer.{name}", size)
    story = committed_story()
    while len(story.events) < 200:
        batch = story.send("orders-0", 3)
        story.append(batch)
        story.fetch("orders-0", 1)
        story.fetch("orders-0", 2)
        story.acknowledge(batch)
    exported(story.events, tmp_path)
    assert [as_event(row) for row in rows(tmp_path, "events")] == story.events
    assert [row["record"] for row in rows(tmp_path, "produced")] == list(
        range(1, story.next_record)
    )
    assert len(files(tmp_path, "events")) > 1


def test_progress_is_told_in_numbers_of_events(tmp_path: Path) -> None:
    told: list[int] = []
    story = committed_story()
    export_session(story.events, SessionFacts("s1"), tmp_path, told.append)
    assert told[-1] == len(story.events)


def test_the_sessions_row_sums_up(tmp_path: Path) -> None:
    story = committed_story()
    story.fail(story.send("orders-0", 2))
    story.tell(ExpectationChecked, "expect a == 1", 3, True, "1")
    story.tell(ExpectationChecked, "expect a == 2", 4, False, "1")
    story.tell(InvariantViolated, "HW <= LEO", "orders-0", "", True)
    story.tell(AuditChanged, "orders-0", [(0, 1), (1, 2)], [], [], [])
    story.tell(AuditChanged, "orders-0", [(0, 1)], [], [(2, 3)], [])
    facts = SessionFacts("s1", "failover", {"acks": "all"}, "00ff", 9_999_999, path="/x/s1.tide.db")
    export_session(story.events, facts, tmp_path)
    (row,) = rows(tmp_path, "sessions")
    assert row == {
        "name": "failover",
        "version": "3.9",
        "seed": 1,
        "brokers": 3,
        "config": [],
        "variables": [("acks", "all")],
        "path": "/x/s1.tide.db",
        "events": len(story.events),
        "last_seq": len(story.events),
        "time_us": 9_999_999,
        "complete": True,
        "damaged_at": None,
        "state_hash": "00ff",
        "acked": 3,
        "failed": 2,
        "lost": 1,
        "lost_offsets": 0,
        "duplicated": 0,
        "diverged": 1,
        "consumed_lost": 0,
        "expectations_passed": 1,
        "expectations_failed": 1,
        "invariants_violated": 0,
        "leaderless_us": 0,
        "outcome": "failed",
    }


def breaking_off(story: Story, error: BaseException) -> Iterator[Event]:
    yield from story.events
    raise error


@pytest.mark.parametrize("error", [RuntimeError("no more"), KeyboardInterrupt()], ids=repr)
def test_an_export_that_fails_leaves_nothing(tmp_path: Path, error: BaseException) -> None:
    dataset = tmp_path / "a" / "dataset"
    with pytest.raises(type(error)):
        exported(breaking_off(committed_story(), error), dataset)
    assert paths(tmp_path) == []


def test_an_export_that_fails_leaves_other_sessions_alone(tmp_path: Path) -> None:
    exported(committed_story().events, tmp_path)
    before = paths(tmp_path)
    with pytest.raises(RuntimeError):
        exported(breaking_off(committed_story(), RuntimeError("no more")), tmp_path, "s2")
    assert paths(tmp_path) == before


def test_nothing_is_seen_of_a_session_before_it_is_whole(tmp_path: Path) -> None:
    def watching() -> Iterator[Event]:
        yield from committed_story().events
        assert Dataset(tmp_path).sessions() == []
        assert list(tmp_path.glob("[!_]*/*.parquet")) == []

    exported(watching(), tmp_path)
    assert Dataset(tmp_path).sessions() == ["s1"]


def test_a_session_is_not_exported_twice(tmp_path: Path) -> None:
    exported(committed_story().events, tmp_path)
    before = paths(tmp_path)
    with pytest.raises(DatasetError, match=r"session s1 is already in"):
        exported([], tmp_path)
    assert paths(tmp_path) == before


def test_a_disk_that_is_full_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("sessions.dataset.writer.TableWriter._write", full)
    with pytest.raises(DatasetError, match="could not be written to: No space left on device"):
        exported(committed_story().events, tmp_path / "dataset")
    assert paths(tmp_path) == []


def test_without_arrow_nothing_is_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(DatasetError, match="exporting needs PyArrow; install it with"):
        exported([], tmp_path / "dataset")
    assert paths(tmp_path) == []


def test_an_event_that_ends_a_session_is_a_fault(tmp_path: Path) -> None:
    story = Story()
    story.tell(SessionEnded, 7, 2, "expired", 11)
    exported(story.events, tmp_path)
    (row,) = rows(tmp_path, "faults")
    assert (row["kind"], row["broker"], row["state"]) == ("session", 2, "expired")


def test_files_say_what_their_columns_mean(tmp_path: Path) -> None:
    exported(committed_story().events, tmp_path)
    (file,) = files(tmp_path, "produced")
    schema = pq.read_schema(file)
    assert schema.field("sent_us").metadata == {
        b"meaning": b"virtual time of that event",
        b"unit": b"us",
    }
    assert all(b"meaning" in field.metadata for field in schema)
