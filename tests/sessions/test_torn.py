"""A small session cut at bytes all over it, and the log of one that was being written."""

import os
import random
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest

from emulator.cluster import Cluster
from emulator.events import Event
from emulator.inputs.statements import AnyInput, CreateCluster, CreateTopic, Mark, Wait
from emulator.scenario.runner import Runner
from sessions.format.errors import (
    NotASessionError,
    SessionDamagedError,
    SessionEndedError,
    SessionError,
)
from sessions.format.file import SessionFile
from sessions.recording.recorder import Recorder
from tests.sessions.examples import execute, origin, small_chunks, statement, story_events
from tests.sessions.pages import PageMap
from tests.support.releases import THOROUGH

SPEC = CreateCluster(brokers=1, seed=1)
BEGUN_BYTES = 4_000
"""Before so much of the log is written, a file does not even say what it is of."""
STORY: tuple[AnyInput, ...] = (
    CreateTopic(topic="t", partitions=1, replication_factor=1),
    Wait(duration_us=300_000),
    Mark(name="m"),
)


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("small") / "small.tide.db"
    with (
        pytest.MonkeyPatch.context() as patch,
        small_chunks(events=16, keyframes=60),
    ):
        patch.setattr("sessions.format.writer.PAGE_BYTES", 512)
        record(path)
    return path


def record(path: Path) -> None:
    with Recorder(path, origin("x", SPEC)) as recorder:
        runner = Runner(Cluster(SPEC, (recorder,)))
        recorder.follow(runner)
        for line, given in enumerate(STORY, start=2):
            recorder.announce(statement(given, line))
            execute(runner, given, line)


def events_of(path: Path) -> tuple[tuple[Event, ...], SessionError | str]:
    """What can be read, and what is said of the rest."""
    try:
        with SessionFile(path) as session:
            return tuple(session.all_events()), session.damage
    except SessionError as error:
        return (), error


def lengths(size: int) -> list[int]:
    """To how many bytes a file is cut, in turn: every place in a page, in one page or another."""
    step = 1 if THOROUGH else 7
    return [*range(size - 1, 0, -step), 0]


def test_a_session_cut_at_any_byte_opens_up_to_the_cut_or_says_why_not(
    small: Path, tmp_path: Path
) -> None:
    path = tmp_path / "cut.tide.db"
    shutil.copy(small, path)
    whole, nothing = events_of(small)
    assert nothing == ""
    pages = PageMap(small)
    found: set[int] = set()
    for length in lengths(small.stat().st_size):
        os.truncate(path, length)
        events, said = events_of(path)
        assert events == whole[: len(events)]
        assert len(events) >= pages.up_to(length), length
        assert str(path) in str(said)
        assert not isinstance(said, NotASessionError) or length == 0
        assert isinstance(said, str | NotASessionError | SessionDamagedError)
        found.add(len(events))
    assert len(whole) in found
    assert len(found) > 3


def read_lazily(path: Path) -> tuple[tuple[Event, ...], str]:
    """What can be read of a file that is not looked through when it is opened."""
    events: list[Event] = []
    with SessionFile(path, check=False) as session:
        with suppress(SessionEndedError):
            for event in session.all_events():
                events.append(event)
        assert session.last_seq == len(events)
        return tuple(events), session.damage


def test_a_flipped_bit_spares_every_event_before_it(recording: Path, tmp_path: Path) -> None:
    path = tmp_path / "flipped.tide.db"
    content, whole, pages = recording.read_bytes(), story_events(), PageMap(recording)
    chance = random.Random(4)
    spared = set()
    for page in pages.pages:
        at = chance.randrange(page.begin, page.end)
        spare = pages.before(at)
        if spare is None:
            continue
        bit = 1 << chance.randrange(8)
        path.write_bytes(content[:at] + bytes([content[at] ^ bit]) + content[at + 1 :])
        for events, said in (events_of(path), read_lazily(path)):
            assert events == whole[: len(events)]
            assert len(events) >= spare, (page, at)
            assert said or len(events) == len(whole)
        spared.add(spare)
    assert len(spared) > 30


def test_chunks_are_found_without_the_page_that_refers_to_them(
    recording: Path, tmp_path: Path
) -> None:
    path, content = tmp_path / "without.tide.db", recording.read_bytes()
    pages = PageMap(recording).pages
    (page,) = (page for page in pages if (page.table, page.kind) == ("chunks", "internal"))
    path.write_bytes(content[: page.begin] + bytes(page.size) + content[page.end :])
    for events, said in (events_of(path), read_lazily(path)):
        assert events == story_events()
        assert said


def test_a_chunk_found_to_be_damaged_is_read_from_a_page_that_has_it_whole(
    recording: Path, tmp_path: Path
) -> None:
    path = tmp_path / "twice.tide.db"
    shutil.copy(recording, path)
    with closing(sqlite3.connect(path)) as database, database:
        (table,) = database.execute(
            "SELECT sql FROM sqlite_master WHERE name = 'chunks'"
        ).fetchone()
        database.execute(table.replace("chunks", "kept", 1))
        database.execute("INSERT INTO kept SELECT * FROM chunks")
        database.execute("PRAGMA writable_schema = ON")
        database.execute("DELETE FROM sqlite_master WHERE name = 'kept'")  # its pages stay
        (block,) = database.execute("SELECT events FROM chunks ORDER BY first_seq").fetchone()
    content = bytearray(path.read_bytes())
    at = content.index(block[-20:])
    assert content.count(block[-20:]) == 2
    page = next(page for page in PageMap(path).pages if page.begin <= at < page.end)
    assert page.table == "chunks"
    content[at] ^= 1
    path.write_bytes(content)
    assert read_lazily(path)[0] == story_events()


def killed_while_writing(folder: Path) -> Iterator[tuple[Path, Path]]:
    """What is on the disk, file and log, as a recorder goes on; copied as it is written."""
    path = folder / "a.tide.db"
    with small_chunks(), Recorder(path, origin()) as recorder:
        for event in story_events()[:600]:
            recorder(event)
            if event.seq % 150 == 0:
                recorder.flush()
                copy = folder / f"at-{event.seq}.tide.db"
                shutil.copy(path, copy)
                yield copy, path.with_name(f"{path.name}-wal")


def test_a_log_torn_at_any_place_leaves_a_session_of_what_was_flushed_before(
    tmp_path: Path,
) -> None:
    for copy, log in killed_while_writing(tmp_path):
        content = log.read_bytes()
        seen: list[int] = []
        for length in range(0, len(content) + 1, 997):
            torn = copy.with_name(f"{copy.name}-wal")
            torn.write_bytes(content[:length])
            work = copy.with_name("work.tide.db")
            shutil.copy(copy, work)
            torn.rename(work.with_name("work.tide.db-wal"))
            events, said = events_of(work)
            for each in tmp_path.glob("work.tide.db*"):
                each.unlink()
            assert said == "" or length < BEGUN_BYTES, said
            assert events == story_events()[: len(events)]
            seen.append(len(events))
        assert seen == sorted(seen)
        assert seen[-1] >= 100
