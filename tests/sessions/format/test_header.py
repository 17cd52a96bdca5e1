"""Telling session files from others before opening them."""

import os
import sqlite3
from pathlib import Path

import pytest

from sessions.format.errors import (
    NotASessionError,
    SessionDamagedError,
    SessionMissingError,
    SessionNewerError,
    SessionOlderError,
)
from sessions.format.header import read_header, require_session
from sessions.format.schema import MAGIC, OLDEST, SCHEMA
from tests.sessions.examples import record_story


def test_a_session_says_its_schema_and_size(tmp_path: Path) -> None:
    path = tmp_path / "a.tide.db"
    record_story(path, ())
    header = read_header(path)
    assert (header.schema, header.bytes_expected) == (SCHEMA, path.stat().st_size)


@pytest.mark.parametrize(
    ("content", "said"),
    [(b"", "it is empty"), (b"PAR1....", "not a database"), (MAGIC[:7] + b"?", "not a database")],
)
def test_what_is_no_session_is_told_so(tmp_path: Path, content: bytes, said: str) -> None:
    path = tmp_path / "a.tide.db"
    path.write_bytes(content)
    with pytest.raises(NotASessionError, match=said):
        read_header(path)


def test_a_header_that_is_cut_off_is_damage(tmp_path: Path) -> None:
    path = tmp_path / "a.tide.db"
    path.write_bytes(MAGIC[:9])
    with pytest.raises(SessionDamagedError, match="it ends after 9 bytes"):
        read_header(path)


def test_another_programs_database_is_no_session(tmp_path: Path) -> None:
    path = tmp_path / "a.tide.db"
    database = sqlite3.connect(path)
    database.execute("CREATE TABLE chunks (x)")
    database.close()
    with pytest.raises(NotASessionError, match="another program's database"):
        read_header(path)


def test_a_newer_schema_is_refused_with_both_versions_named(tmp_path: Path) -> None:
    path = tmp_path / "a.tide.db"
    record_story(path, ())
    database = sqlite3.connect(path)
    database.execute(f"PRAGMA user_version = {SCHEMA + 1}")
    database.close()
    with pytest.raises(SessionNewerError, match=rf"schema {SCHEMA + 1} .* up to {SCHEMA}"):
        read_header(path)


def test_an_older_schema_that_nobody_reads_is_refused_and_still_is_a_session(
    tmp_path: Path,
) -> None:
    path = tmp_path / "a.tide.db"
    record_story(path, ())
    database = sqlite3.connect(path)
    database.execute(f"PRAGMA user_version = {OLDEST - 1}")
    database.close()
    with pytest.raises(SessionOlderError, match=rf"schema {OLDEST - 1} .* from {OLDEST} on"):
        read_header(path)
    require_session(path)


def test_a_file_that_cannot_be_reached_is_missing(tmp_path: Path) -> None:
    for path in (tmp_path / "none.tide.db", tmp_path):
        with pytest.raises(SessionMissingError, match="cannot be read"):
            read_header(path)


def test_a_pipe_or_a_device_is_refused_at_once(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.tide.db"
    os.mkfifo(pipe)
    for path, said in ((pipe, "it is a named pipe"), (Path("/dev/zero"), "it is a device")):
        with pytest.raises(SessionMissingError, match=said):
            read_header(path)
