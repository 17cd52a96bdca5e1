"""Sessions that nobody recorded: well-formed files whose content is what their maker wanted."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import zstandard

from emulator.cluster import Cluster
from emulator.inputs.statements import (
    AnyInput,
    Consume,
    CrashBroker,
    CreateCluster,
    CreateTopic,
    Mark,
    Produce,
    StartBroker,
    Wait,
)
from emulator.scenario.runner import Runner
from sessions.format import codec
from sessions.format.metadata import input_checksum, meta_checksum
from sessions.format.schema import PAGE_SIZE_AT
from sessions.recording.recorder import Recorder
from tests.sessions.examples import execute, origin, small_chunks, statement

STORY: tuple[AnyInput, ...] = (
    CreateTopic(topic="t", partitions=2, replication_factor=2),
    Produce(topic="t", partition=0, value="v", count=6, batch=2, acks=-1),
    Mark(name="here"),
    Consume(topic="t"),
    CrashBroker(broker=1),
    Wait(duration_us=2_000_000),
    StartBroker(broker=1),
    Produce(topic="t", partition=1, value="w", key="k", count=3, acks=1),
)
MODES = {
    "zk": CreateCluster(brokers=2, seed=1),
    "kraft": CreateCluster(brokers=2, seed=1, version="3.9", mode="kraft", controllers=1),
}


def record(path: Path, mode: str = "zk") -> None:
    """Record a small session of many chunks and some keyframes."""
    spec = MODES[mode]
    with small_chunks(events=64, keyframes=100), Recorder(path, origin("forged", spec)) as made:
        runner = Runner(Cluster(spec, (made,)))
        made.follow(runner)
        for line, given in enumerate(STORY, start=2):
            made.announce(statement(given, line))
            execute(runner, given, line)


def edit(path: Path, *statements: tuple[str, tuple[object, ...]]) -> None:
    """Change a session's tables, and put the checksums right that these then have."""
    with closing(sqlite3.connect(path)) as database, database:
        for name, function in CHECKSUMS.items():
            database.create_function(name, -1, function)
        for text, values in statements:
            database.execute(text, values)
        for table, numbers, content in (
            ("meta", "key", "value"),
            ("inputs", "seq, time_us, steps, line, text", "statement"),
            ("chunks", CHUNK_NUMBERS, "events"),
            ("keyframes", "seq, base_seq", "state"),
        ):
            database.execute(
                f"UPDATE OR IGNORE {table} SET checksum = {table}_sum({numbers}, {content})"
            )


def with_chunk(path: Path, change: Callable[[codec.Block], object], number: int = 0) -> None:
    """Change what one of the chunks holds."""
    with_raw_chunk(path, lambda raw: _changed_block(raw, change), number)


def with_raw_chunk(path: Path, change: Callable[[bytes], bytes], number: int = 0) -> None:
    """Change the bytes of one of the chunks."""
    _with_blob(path, "chunks", "events", "first_seq", change, number)


def with_raw_keyframe(path: Path, change: Callable[[bytes], bytes], number: int = 0) -> None:
    """Change the bytes of one of the keyframes."""
    _with_blob(path, "keyframes", "state", "seq", change, number)


def with_meta(path: Path, key: str, value: str) -> None:
    """Put a text into ``meta``."""
    edit(path, ("INSERT OR REPLACE INTO meta VALUES (?, ?, 0)", (key, value)))


def compressed(raw: bytes) -> bytes:
    """Compress as small as can be."""
    return zstandard.ZstdCompressor(level=19, write_checksum=True).compress(raw)


def changed_json(text: str, **fields: object) -> str:
    """Return a JSON object with other fields."""
    value: dict[str, Any] = msgspec.json.decode(text)
    return msgspec.json.encode(value | fields).decode()


def meta(path: Path, key: str) -> str:
    """Return a text of ``meta``."""
    with closing(sqlite3.connect(path)) as database:
        (text,) = database.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        return str(text)


def page_bytes(path: Path) -> int:
    """Return the size of the file's pages."""
    return int.from_bytes(path.read_bytes()[PAGE_SIZE_AT : PAGE_SIZE_AT + 2], "big")


def _with_blob(
    path: Path, table: str, column: str, key: str, change: Callable[[bytes], bytes], number: int
) -> None:
    with closing(sqlite3.connect(path)) as database:
        rows = database.execute(f"SELECT {key}, {column} FROM {table} ORDER BY {key}").fetchall()
    if rows:
        place, data = rows[number % len(rows)]
        made = compressed(change(codec.decompress(data)))
        edit(path, (f"UPDATE {table} SET {column} = ? WHERE {key} = ?", (made, place)))


def _changed_block(raw: bytes, change: Callable[[codec.Block], object]) -> bytes:
    block = msgspec.msgpack.decode(raw, type=codec.Block)
    change(block)
    return msgspec.msgpack.encode(block)


def _sum(*row: Any) -> object:
    *numbers, data = row
    try:
        return codec.checksum(data, *numbers)
    except Exception:  # of what is not such a row at all
        return 0


def _input_sum(*row: Any) -> object:
    try:
        return input_checksum(row[:4], row[4], row[5])
    except Exception:
        return 0


def _meta_sum(key: object, value: object) -> object:
    return meta_checksum(str(key), str(value))


CHUNK_NUMBERS = "first_seq, last_seq, first_us, last_us, first_record, last_record"
CHECKSUMS: dict[str, Callable[..., Any]] = {
    "meta_sum": _meta_sum,
    "inputs_sum": _input_sum,
    "chunks_sum": _sum,
    "keyframes_sum": _sum,
}
