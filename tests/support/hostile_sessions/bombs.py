"""Small session files that describe gigabytes, or more levels than a stack has."""

import io
import itertools
import random
import sqlite3
from collections.abc import Callable, Iterable
from contextlib import closing
from pathlib import Path

import msgspec
import zstandard

from emulator.inputs.statements import CloseConnection, ReceiveRequest, Statement
from sessions.format import codec, limits
from sessions.format.metadata import stand_in
from tests.support.hostile_sessions.forging import (
    changed_json,
    edit,
    meta,
    with_meta,
    with_raw_keyframe,
)

MIB = 1 << 20
ROWS = 200_000
LIST, TEXT, BYTES = 0xDD, 0xDB, 0xC6
"""How a long list, text or bytes begin in MessagePack, before a length of four bytes."""


def head(kind: int, length: int) -> bytes:
    """Return the head of a MessagePack value."""
    return bytes([kind]) + length.to_bytes(4, "big")


def compressed(pieces: Iterable[bytes], size: int) -> bytes:
    """Compress bytes that are never in memory together."""
    out = io.BytesIO()
    with zstandard.ZstdCompressor(level=3).stream_writer(out, size=size, closefd=False) as writer:
        for piece in pieces:
            writer.write(piece)
    return out.getvalue()


def zeros(count: int, item: bytes = b"\0") -> Iterable[bytes]:
    """Yield an item so many times, in pieces of a megabyte."""
    if not count:
        return
    piece = item * (MIB // len(item))
    whole, rest = divmod(count, len(piece) // len(item))
    for _ in range(whole):
        yield piece
    yield item * rest


def put_chunk(path: Path, data: bytes) -> None:
    """Replace the first chunk's bytes."""
    edit(path, ("UPDATE chunks SET events = ? WHERE first_seq = 1", (data,)))


def put_block(path: Path, parts: list[tuple[bytes, int, bytes]]) -> None:
    """Replace the first chunk by an array of parts: a head, and an item that often."""
    first = b"\x97"
    size = len(first) + sum(len(start) + count * len(item) for start, count, item in parts)

    def pieces() -> Iterable[bytes]:
        yield first
        for start, count, item in parts:
            yield start
            yield from zeros(count, item)

    put_chunk(path, compressed(pieces(), size))


NOTHING = b"\x90"
SEQ, KINDS = (b"\x01", 0, b""), (b"\x91" + msgspec.msgpack.encode("MessageHeld"), 0, b"")
FIELDS = (b"\x91" + msgspec.msgpack.encode("message"), 0, b"")


def many_times(path: Path) -> None:
    """200 million times."""
    count = 200_000_000
    rest = [(NOTHING, 0, b"")] * 3
    put_block(path, [SEQ, KINDS, (b"\xc4\0", 0, b""), (head(LIST, count), count, b"\0"), *rest])


def fewer_times(path: Path) -> None:
    """As many times as a block may have bytes."""
    count = 120 * MIB
    rest = [(NOTHING, 0, b"")] * 3
    put_block(path, [SEQ, KINDS, (b"\xc4\0", 0, b""), (head(LIST, count), count, b"\0"), *rest])


def many_events(path: Path) -> None:
    """12 million events of one field."""
    count = 12_000_000
    column = head(LIST, count)
    put_block(
        path,
        [
            SEQ,
            KINDS,
            (head(BYTES, count), count, b"\0"),
            (head(LIST, count), count, b"\0"),
            (NOTHING, 0, b""),
            (b"\x91\x92" + head(BYTES, count + 5) + column, count, b"\0"),
            (head(BYTES, count + 5) + column, count, b"\0"),
            FIELDS,
        ],
    )


def many_lists(path: Path) -> None:
    """15 million empty lists where texts should be."""
    count = 15_000_000
    rest = [(NOTHING, 0, b"")] * 2
    put_block(
        path,
        [
            SEQ,
            KINDS,
            (b"\xc4\0", 0, b""),
            (NOTHING, 0, b""),
            (head(LIST, count), count, b"\xa0"),
            *rest,
        ],
    )


def deep_block(path: Path) -> None:
    """A million arrays, each within the one before."""
    put_chunk(path, compressed(zeros(1_000_000, b"\x91"), 1_000_000))


def without_size(path: Path) -> None:
    """A frame that does not state its size."""
    packed = zstandard.ZstdCompressor(write_content_size=False).compress(bytes(64 * MIB))
    put_chunk(path, packed)


def chained_frames(path: Path) -> None:
    """Frames after the first one."""
    with closing(sqlite3.connect(path)) as database:
        ((data,),) = database.execute("SELECT events FROM chunks WHERE first_seq = 1").fetchall()
    put_chunk(path, data + codec.compress(bytes(MIB)) * 100)


def huge_claim(path: Path) -> None:
    """A frame that states a size of 2^62 bytes."""
    put_chunk(path, b"\x28\xb5\x2f\xfd\xe0" + (1 << 62).to_bytes(8, "little") + bytes(16))


def wide_keyframe(path: Path) -> None:
    """A state of 100 million empty lists."""
    count = 100 * MIB
    raw = (b"\x95\0" + head(LIST, count), *zeros(count, b"\x90"))
    size = sum(map(len, raw))
    data = compressed(raw, size)
    edit(path, ("UPDATE keyframes SET state = ?", (data,)))


def many_replicas(path: Path) -> None:
    """A state with 30 million short structs."""
    count = 30_000_000
    start = b"\x95\0\x92\x01" + bytes([0xDF]) + count.to_bytes(4, "big")
    item = b"\xa1a\x93\xa0\0\x90"
    edit(
        path,
        (
            "UPDATE keyframes SET state = ?",
            (compressed((start, *zeros(count // 4, item)), len(start) + count // 4 * len(item)),),
        ),
    )


def deep_keyframe(path: Path) -> None:
    """A state that is nested a million times."""
    with_raw_keyframe(path, lambda raw: b"\x91" * 1_000_000)


def deep_origin(path: Path) -> None:
    """100,000 brackets in ``origin``."""
    with_meta(path, "origin", "[" * 100_000)


def deep_unknown_field(path: Path) -> None:
    """The same in a field that no origin has."""
    text = meta(path, "origin")
    with_meta(path, "origin", text[:-1] + ',"more":' + "[" * 100_000 + "]" * 100_000 + "}")


def long_origin(path: Path) -> None:
    """An origin of 100 million bytes of characters beyond ASCII."""
    _with_long_origin(path, 100 * MIB)


def slightly_too_long_origin(path: Path) -> None:
    """The same with a few more bytes than are read."""
    _with_long_origin(path, limits.TEXT_BYTES_MAX)


def _with_long_origin(path: Path, size: int) -> None:
    with_meta(path, "origin", changed_json(meta(path, "origin"), name="\U0001f600" * (size // 4)))


def wide_origin(path: Path) -> None:
    """A cluster of 20 million racks."""
    text = meta(path, "origin")
    cluster = msgspec.json.decode(text)["cluster"]
    made = changed_json(text, cluster=cluster | {"racks": "RACKS"})
    with_meta(path, "origin", made.replace('"RACKS"', "[" + ",".join(['""'] * 20_000_000) + "]"))


def deep_outcome(path: Path) -> None:
    """100,000 brackets in ``outcome``."""
    with_meta(path, "outcome", "[" * 100_000)


def deep_statement(path: Path) -> None:
    """100,000 brackets in a statement."""
    edit(path, ("UPDATE inputs SET statement = ? WHERE seq > 1", ("[" * 100_000,)))


def many_partitions(path: Path) -> None:
    """A statement that asks for a billion partitions."""
    _with_topic(path, partitions=10**9)


def many_replicas_asked_for(path: Path) -> None:
    """A statement that asks for a billion replicas."""
    _with_topic(path, replication_factor=10**9)


def _with_topic(path: Path, **fields: object) -> None:
    with closing(sqlite3.connect(path)) as database:
        query = "SELECT seq, statement FROM inputs WHERE statement LIKE '%CreateTopic%'"
        seq, text = database.execute(query).fetchone()
    wanted, *rest = msgspec.json.decode(text)
    made = msgspec.json.encode([{**wanted, **fields}, *rest]).decode()
    edit(path, ("UPDATE inputs SET statement = ? WHERE seq = ?", (made, seq)))


def many_brokers(path: Path) -> None:
    """A cluster of a billion brokers."""
    text = meta(path, "origin")
    cluster = msgspec.json.decode(text)["cluster"]
    with_meta(path, "origin", changed_json(text, cluster=cluster | {"brokers": 10**9}))


def endless_wait(path: Path) -> None:
    """A last statement that is given after 146,000 years, in a session that was not closed."""
    edit(
        path,
        ("DELETE FROM meta WHERE key = 'outcome'", ()),
        (
            "UPDATE inputs SET time_us = 1 << 62, steps = 1 << 62 "
            "WHERE seq = (SELECT max(seq) FROM inputs)",
            (),
        ),
    )


def many_statements(path: Path) -> None:
    """More statements than events."""
    statement, _ = rows("inputs", ROWS, "9 + n, 0, 0, 0, 'x', ?, 0, NULL")
    closing = msgspec.json.encode(Statement(CloseConnection(connection=1), "x")).decode()
    edit(path, (statement, (closing,)))


def large_requests(path: Path) -> None:
    """Requests of clients that fill 4 GiB."""
    _put_requests(path, 32, compressed(zeros(limits.BLOB_BYTES_MAX, b"a"), limits.BLOB_BYTES_MAX))


def expanding_requests(path: Path) -> None:
    """Requests of clients that fill 13 GiB, compressed 940 times."""
    noise = random.Random(1).randbytes(128 << 10)
    pieces = itertools.chain([noise], zeros(limits.BLOB_BYTES_MAX - len(noise), b"a"))
    _put_requests(path, 100, compressed(pieces, limits.BLOB_BYTES_MAX))


def _put_requests(path: Path, count: int, packed: bytes) -> None:
    request = ReceiveRequest(connection=1, frame=stand_in(packed))
    text = msgspec.json.encode(Statement(request, "r")).decode()
    statement, _ = rows("inputs", count, "9 + n, 0, 0, 0, 'r', ?, 0, ?")
    edit(path, (statement, (text, packed)))


def requests_as_text(path: Path) -> None:
    """Requests of clients that are not packed, as they were up to schema 15."""
    request = ReceiveRequest(connection=1, frame=b"a" * (32 << 20))
    text = msgspec.json.encode(Statement(request, "r")).decode()
    statement, _ = rows("inputs", 3, "9 + n, 0, 0, 0, 'r', ?, 0, NULL")
    edit(path, (statement, (text,)))


def many_summaries(path: Path) -> None:
    """More rows of the summary than events."""
    edit(path, rows("summary", ROWS, "n" + ", n % 7" * 17))


def many_bookmarks(path: Path) -> None:
    """More bookmarks than anybody sets."""
    edit(path, rows("bookmarks", limits.BOOKMARKS_MAX + 1, "n, n, 'b', 'note'"))


def many_keyframes(path: Path) -> None:
    """More keyframes than events."""
    edit(path, rows("keyframes", limits.KEYFRAMES_MAX + 1, "n, n - 1, 0, x'00'"))


def many_chunks(path: Path) -> None:
    """More chunks than a recording has."""
    edit(path, rows("chunks", limits.CHUNKS_MAX + 1, "n, n, 0, 0, -1, -1, 0, x'00'"))


def long_touches(path: Path) -> None:
    """Names of objects that fill 2 GiB."""
    size = 2_048 * MIB
    edit(path, ("UPDATE touches SET objects = ?", (compressed(zeros(size, b"a"), size),)))


def rows(table: str, count: int, values: str) -> tuple[str, tuple[object, ...]]:
    """Return the statement that fills a table with so many rows, ``n`` being the number of each."""
    return (
        f"INSERT OR REPLACE INTO {table} SELECT {values} FROM "
        f"(WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < {count}) "
        "SELECT n FROM c)",
        (),
    )


BOMBS: dict[str, Callable[[Path], object]] = {
    bomb.__name__: bomb
    for bomb in (
        many_times, fewer_times, many_events, many_lists, deep_block, without_size, chained_frames,
        huge_claim, wide_keyframe, many_replicas, deep_keyframe, deep_origin, deep_unknown_field,
        long_origin, wide_origin, deep_outcome, deep_statement, many_partitions,
        many_replicas_asked_for, many_brokers,
        endless_wait, many_statements, large_requests, expanding_requests, requests_as_text,
        many_summaries,
        many_bookmarks, many_keyframes, many_chunks, long_touches,
    )
}  # fmt: skip
