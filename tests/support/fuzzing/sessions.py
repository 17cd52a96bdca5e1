"""Session files in which somebody has changed pages, rows, chunks, states and metadata.

Whatever the file contains, each reader works or says in one sentence what is wrong.
"""

import contextlib
import io
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from random import Random
from typing import Any, Final

import msgspec

from commands.cli.main import run_program
from sessions.format.errors import SessionError
from sessions.format.schema import PAGE_SIZE_AT, USER_VERSION_AT
from sessions.playback.rerun import rerun
from sessions.sources.replay import ReplaySource
from tests.support.fuzzing import Attack, FuzzError
from tests.support.hostile_sessions.forging import (
    MODES,
    edit,
    meta,
    record,
    with_meta,
    with_raw_chunk,
    with_raw_keyframe,
)

CHANGES_MAX: Final = 3
INTERNAL: Final = 70
TABLES: Final = {
    "chunks": ("first_seq", "last_seq", "first_us", "last_us", "first_record", "last_record"),
    "keyframes": ("seq", "base_seq"),
    "inputs": ("seq", "time_us", "steps", "line", "text", "statement"),
    "summary": ("seq", "time_us", "brokers", "partitions", "offline", "lost"),
    "bookmarks": ("seq", "time_us", "name", "note"),
    "touches": ("first_seq", "objects"),
}
VALUES: Final[tuple[Any, ...]] = (
    None, True, False, -1, 0, 1, 2, 255, 1 << 16, 1 << 31, (1 << 63) - 1, -(1 << 63), (1 << 64) - 1,
    1e308, "", "x", "t-0", "t--1", "t-999999999999", "\x00", "\x1b]0;x\x07", "x" * 5_000,
    [], {}, [[]], [0] * 1_000, {"a": []}, b"", b"\xff",
)  # fmt: skip
"""What somebody may write in the place of any value."""
CELLS: Final = [
    each for each in VALUES if not isinstance(each, list | dict) and each != (1 << 64) - 1
]
NOTHING_TO_CHANGE: Final = (
    sqlite3.Error, OSError, ValueError, LookupError, TypeError, ArithmeticError,
)  # fmt: skip
"""What a change may raise because of an earlier one."""
BOMB: Final = "[" * 5_000


@contextmanager
def target(folder: Path) -> Iterator[Attack]:
    """Record a session of each mode; each attempt changes a copy of one."""
    models = []
    for mode in MODES:
        models.append(folder / f"{mode}.tide.db")
        record(models[-1], mode)

    def attack(chance: Random) -> None:
        around = folder / "around"
        shutil.rmtree(around, ignore_errors=True)
        around.mkdir()
        path = around / "x.tide.db"
        shutil.copy(chance.choice(models), path)
        for _ in range(chance.randint(1, CHANGES_MAX)):
            # An earlier change may have left nothing to change.
            with suppress(
                sqlite3.Error, OSError, ValueError, LookupError, TypeError, ArithmeticError
            ):
                chance.choice(CHANGES)(chance, path)
        for reader in chance.sample(READERS, k=3):
            reader(path, models[0])

    yield attack


# ---- what is changed


def _change_bytes(chance: Random, path: Path) -> None:
    content = bytearray(path.read_bytes())
    for _ in range(chance.choice((1, 1, 8, 64))):
        content[chance.randrange(len(content))] = chance.randrange(256)
    path.write_bytes(content)


def _change_header(chance: Random, path: Path) -> None:
    content = bytearray(path.read_bytes())
    at = chance.choice((PAGE_SIZE_AT, 20, 28, USER_VERSION_AT + 3, chance.randrange(16, 100)))
    content[at] = chance.randrange(256)
    path.write_bytes(content)


def _truncate(chance: Random, path: Path) -> None:
    path.write_bytes(path.read_bytes()[: chance.randrange(path.stat().st_size)])


def _swap_pages(chance: Random, path: Path) -> None:
    content = path.read_bytes()
    size = int.from_bytes(content[PAGE_SIZE_AT : PAGE_SIZE_AT + 2], "big")
    pages = [content[at : at + size] for at in range(0, len(content), size)]
    one, other = chance.randrange(1, len(pages)), chance.randrange(1, len(pages))
    pages[one], pages[other] = pages[other], pages[one]
    path.write_bytes(b"".join(pages))


def _change_cell(chance: Random, path: Path) -> None:
    table = chance.choice(sorted(TABLES))
    column, value = chance.choice(TABLES[table]), chance.choice(CELLS)
    edit(path, (f"UPDATE OR IGNORE {table} SET {column} = ? {_some(chance, table)}", (value,)))


def _move_cell(chance: Random, path: Path) -> None:
    table = chance.choice(sorted(TABLES))
    column = chance.choice(TABLES[table])
    edit(
        path,
        (
            f"UPDATE OR IGNORE {table} SET {column} = {column} + ? {_some(chance, table)}",
            (chance.choice((-1, 1, 64, 1 << 40)),),
        ),
    )


def _delete_rows(chance: Random, path: Path) -> None:
    table = chance.choice((*TABLES, "meta"))
    edit(path, (f"DELETE FROM {table} {_some(chance, table)}", ()))


def _some(chance: Random, table: str) -> str:
    return f"WHERE rowid % {chance.choice((1, 2, 5))} = 0" if table != "meta" else "WHERE key > 'o'"


def _change_meta(chance: Random, path: Path) -> None:
    key = chance.choice(("origin", "outcome", "extent"))
    try:
        text = meta(path, key)
    except TypeError:
        text = '{"first_seq":1,"before_us":0,"last_seq":0}'
    with_meta(path, key, _changed_text(chance, text))


def _change_statement(chance: Random, path: Path) -> None:
    with closing(sqlite3.connect(path)) as database:
        rows = database.execute("SELECT seq, statement FROM inputs").fetchall()
    seq, text = chance.choice(rows)
    made = _changed_text(chance, text)
    edit(path, ("UPDATE inputs SET statement = ? WHERE seq = ?", (made, seq)))


def _changed_text(chance: Random, text: str) -> str:
    """Return JSON with another value somewhere, or what is no JSON."""
    if chance.random() < 0.2:
        at = chance.randrange(len(text))
        return text[:at] + chance.choice((BOMB, "", "\x00", '"', "1e999", "9" * 5_000)) + text[at:]
    return msgspec.json.encode(_changed(chance, msgspec.json.decode(text))).decode()


def _change_chunk(chance: Random, path: Path) -> None:
    with_raw_chunk(path, lambda raw: _changed_block(chance, raw), chance.randrange(20))


def _change_keyframe(chance: Random, path: Path) -> None:
    with_raw_keyframe(path, lambda raw: _changed_packed(chance, raw), chance.randrange(4))


def _changed_block(chance: Random, raw: bytes) -> bytes:
    """Change a value of a block, or of one of its columns, which are MessagePack within it."""
    if chance.random() < 0.4:
        return _changed_packed(chance, raw)
    block: list[Any] = msgspec.msgpack.decode(raw)
    kind = chance.choice(block[5])
    at = chance.randrange(len(kind))
    kind[at] = _changed_packed(chance, kind[at])
    return msgspec.msgpack.encode(block)


def _changed_packed(chance: Random, raw: bytes) -> bytes:
    if chance.random() < 0.2:
        made = bytearray(raw)
        made[chance.randrange(len(made))] = chance.randrange(256)
        return bytes(made)
    return msgspec.msgpack.encode(_changed(chance, msgspec.msgpack.decode(raw)))


def _changed(chance: Random, value: Any) -> Any:  # noqa: ANN401 - JSON
    """Return the value with one of its values replaced, removed, repeated or nested."""
    if isinstance(value, list) and value and chance.random() < 0.9:
        at = chance.randrange(len(value))
        way = chance.randrange(10)
        if way == 0:
            return value[:at] + value[at + 1 :]
        if way == 1:
            return value[:at] + value[at : at + 1] * chance.choice((2, 1_000)) + value[at:]
        return [*value[:at], _changed(chance, value[at]), *value[at + 1 :]]
    if isinstance(value, dict) and value and chance.random() < 0.9:
        key = chance.choice(list(value))
        if chance.randrange(10) == 0:
            return {name: each for name, each in value.items() if name != key}
        return {**value, key: _changed(chance, value[key])}
    if isinstance(value, int) and chance.random() < 0.5:
        return value + chance.choice((-1, 1, 1_000, 1 << 32))
    return chance.choice(VALUES)


CHANGES: Final[tuple[Callable[[Random, Path], None], ...]] = (
    _change_bytes, _change_header, _truncate, _swap_pages, _change_cell, _move_cell, _delete_rows,
    _change_meta, _change_statement, _change_statement, _change_chunk, _change_chunk, _change_chunk,
    _change_keyframe, _change_keyframe,
)  # fmt: skip


# ---- who reads it


def call(*arguments: object) -> tuple[int, str]:
    """Call the program; return its exit status and what it said, which is no traceback.

    Raises:
        FuzzError: it did not.
    """
    output, error = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(error):
        status = run_program([str(each) for each in arguments])
    if status == INTERNAL or "Traceback" in error.getvalue():
        raise FuzzError(f"{arguments[:3]}: {error.getvalue()[-500:]}")
    return status, error.getvalue()


def _show(path: Path, other: Path) -> None:
    call("sessions", "show", path)


def _show_json(path: Path, other: Path) -> None:
    call("sessions", "show", "--json", path)


def _verify(path: Path, other: Path) -> None:
    call("sessions", "verify", path)


def _list(path: Path, other: Path) -> None:
    call("sessions", "list", path.parent, "--json")


def _script(path: Path, other: Path) -> None:
    call("sessions", "script", path)


def _trim(path: Path, other: Path) -> None:
    call("sessions", "trim", path, "--from", "#50", "--out", path.with_name("part.tide.db"))


def _diff(path: Path, other: Path) -> None:
    call("sessions", "diff", path, other)


def _export(path: Path, other: Path) -> None:
    call("sessions", "export", path, "--out", path.with_name("dataset"))


def _replay(path: Path, other: Path) -> None:
    """Read as the console does: back and forth, with samples, bookmarks and what touches what."""
    with suppress(SessionError):
        source = ReplaySource(path)
        try:
            source.to_tail()
            for seq in (40, 200, 1):
                source.seek_seq(seq)
                list(source.events(seq, seq + 20))
                source.touching(["t-0", 1], seq, 1)
            source.samples()
            source.bookmarks()
            source.seek_time(1_000_000)
        finally:
            source.close()


def _rerun(path: Path, other: Path) -> None:
    """Run again up to an event, as a fork, a twin and the watches of a znode do."""
    with suppress(SessionError):
        source = ReplaySource(path)
        try:
            rerun(source.session, 150, lambda event: None, lambda given: None)
        finally:
            source.close()


READERS: Final[tuple[Callable[[Path, Path], None], ...]] = (
    _show, _show_json, _verify, _list, _script, _trim, _diff, _export, _replay, _rerun,
)  # fmt: skip
