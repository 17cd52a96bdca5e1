"""Recordings in which a word that people gave is replaced by what nobody could have given."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

from sessions.format import codec
from tests.support.hostile_sessions.forging import compressed, edit


def rename(session: Path, word: str, characters: str) -> None:
    """Put other characters of the same length in the word's place, wherever it is."""
    assert len(characters.encode()) == len(word)
    escaped = json.dumps(characters)[1:-1]
    with closing(sqlite3.connect(session)) as database:
        for table, key, column in (
            ("chunks", "first_seq", "events"),
            ("keyframes", "seq", "state"),
        ):
            for place, data in database.execute(f"SELECT {key}, {column} FROM {table}").fetchall():
                raw = codec.decompress(data).replace(word.encode(), characters.encode())
                edit(session, (f"UPDATE {table} SET {column} = ? WHERE {key} = ?",
                               (compressed(raw), place)))  # fmt: skip
    for table, column, value in (
        ("meta", "value", escaped),
        ("inputs", "statement", escaped),
        ("inputs", "text", characters),
        ("bookmarks", "name", characters),
        ("bookmarks", "note", characters),
    ):
        edit(session, (f"UPDATE {table} SET {column} = replace({column}, ?, ?)", (word, value)))
