"""Clients' requests in a session: packed, read one at a time, and in old files as text."""

import random
import sqlite3
import tracemalloc
from contextlib import closing
from pathlib import Path

import msgspec
import pytest

from emulator.inputs.statements import ReceiveRequest, Statement
from sessions.format import codec, limits
from sessions.format.file import SessionFile
from sessions.format.metadata import RecordedInput, input_checksum
from sessions.format.schema import FRAMES_SINCE, tables_of
from sessions.format.writer import SessionWriter
from tests.sessions.examples import edited, origin, story_events

MIB = 1 << 20
REQUESTS = 12


def request(seq: int, frame: bytes) -> RecordedInput:
    return RecordedInput(
        seq, 0, 0, 0, "r", Statement(ReceiveRequest(connection=seq, frame=frame), "r")
    )


def frame_of(seq: int) -> bytes:
    """A request that cannot be compressed, but for half of them."""
    return random.Random(seq).randbytes(MIB) if seq % 2 else bytes([seq]) * MIB


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "a.tide.db"
    writer = SessionWriter(path, origin())
    writer.put_chunk(list(story_events()[:REQUESTS]))
    for seq in range(1, REQUESTS + 1):
        writer.put_input(request(seq, frame_of(seq)))
    writer.close(None)
    return path


def test_requests_take_little_more_than_their_bytes(path: Path) -> None:
    assert path.stat().st_size < REQUESTS // 2 * MIB * 1.005 + 32 * 1024
    with SessionFile(path) as session:
        assert list(session.inputs()) == [
            request(seq, frame_of(seq)) for seq in range(1, REQUESTS + 1)
        ]
        assert list(session.inputs(frames=False)) == [
            request(seq, b"") for seq in range(1, REQUESTS + 1)
        ]
        assert session.inputs_damage == ""


def test_one_request_is_in_memory_at_a_time(path: Path) -> None:
    with SessionFile(path) as session:
        tracemalloc.start()
        try:
            assert sum(1 for _ in session.inputs()) == REQUESTS
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    assert peak < 6 * MIB


@pytest.mark.parametrize(
    "change",
    [
        "SET frame = substr(frame, 1, 500) WHERE seq = 3",
        "SET frame = x'00' WHERE seq = 3",
        "SET frame = 'text' WHERE seq = 3",
        "SET frame = NULL WHERE seq = 3",
        "SET frame = (SELECT frame FROM inputs WHERE seq = 2) WHERE seq = 3",
        """SET statement = replace(statement, 'ReceiveRequest', 'CloseConnection')
        WHERE seq = 3""",
    ],
)
def test_statements_end_before_a_damaged_request(path: Path, change: str) -> None:
    edited(path, f"UPDATE inputs {change}")
    with SessionFile(path) as session:
        assert [recorded.seq for recorded in session.inputs()] == [1, 2]
        assert "is damaged (statement 3: " in session.inputs_damage
        assert session.damage == session.inputs_damage


def test_few_bytes_cannot_become_any_number_of_requests(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "FRAMES_EXPANSION_MAX", 0)
    monkeypatch.setattr(limits, "FRAMES_BYTES_MAX", 5 * MIB)
    with SessionFile(path) as session:
        assert len(list(session.inputs())) == 5
        assert "larger than those of a recording" in session.inputs_damage


def test_in_older_files_requests_are_text(path: Path) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        database.execute(f"PRAGMA user_version = {FRAMES_SINCE - 1}")
        database.execute("DROP TABLE inputs")
        database.execute(tables_of(FRAMES_SINCE - 1)["inputs"])
        recorded = request(1, frame_of(1))
        stored = msgspec.json.encode(recorded.statement).decode()
        numbers = (1, 0, 0, 0)
        row = (*numbers, "r", stored, input_checksum(numbers, "r", stored))
        database.execute("INSERT INTO inputs VALUES (?, ?, ?, ?, ?, ?, ?)", row)
    with SessionFile(path) as session:
        assert list(session.inputs()) == [recorded]
        assert list(session.inputs(frames=False)) == [request(1, b"")]
        assert (session.damage, session.inputs_damage) == ("", "")


def test_requests_are_no_text_any_more(path: Path) -> None:
    statement = msgspec.json.encode(request(13, b"text").statement).decode()
    row = (13, 0, 0, 0, "r", statement, input_checksum((13, 0, 0, 0), "r", statement), None)
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        database.execute("INSERT INTO inputs VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row)
    with SessionFile(path) as session:
        assert len(list(session.inputs())) == REQUESTS
        assert "its request is another one" in session.inputs_damage


def test_a_table_whose_rows_are_out_of_order_ends(path: Path) -> None:
    """A page of SQLite with the rows 1, 5 and 2, whose checksums are right."""
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        database.execute("DELETE FROM inputs")
        for stored, seq in ((1, 1), (5, 5), (6, 2)):
            row = (stored, 0, 0, 0, "r", None, input_checksum((seq, 0, 0, 0), "r", None), None)
            database.execute("INSERT INTO inputs VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row)
        (page,) = database.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'inputs'")
        (size,) = database.execute("PRAGMA page_size")
        database.execute("PRAGMA journal_mode = DELETE")
    raw, start = bytearray(path.read_bytes()), (page[0] - 1) * size[0]
    third = start + int.from_bytes(raw[start + 12 : start + 14])
    assert raw[start] == 13  # a leaf of a table
    assert raw[third + 1] == 6
    raw[third + 1] = 2
    path.write_bytes(raw)
    with SessionFile(path) as session:
        assert [recorded.seq for recorded in session.inputs()] == [1, 5]
        assert "its number is 2, after 5" in session.inputs_damage


def test_nothing_follows_an_empty_request() -> None:
    assert codec.decompress(codec.compress(b"")) == b""
    with pytest.raises(codec.BlockError):
        codec.decompress(codec.compress(b"") + b"more")
