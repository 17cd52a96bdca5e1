"""Bookmarks: named positions, set by a ``mark`` statement or by hand.

A session's table of bookmarks is independent of its events: a bookmark set by hand is not an event,
so it does not affect whether the session verifies. Each event has at most one bookmark; a later one
replaces it.
"""

import sqlite3
from collections.abc import Iterable, Mapping
from typing import Final

from sessions.format.connection import close_bookmarks, open_for_bookmarks
from sessions.format.errors import SessionError
from sessions.format.file import SessionFile
from sessions.model.states import Bookmark

NAME_CHARACTERS_MAX: Final = 128
NOTE_CHARACTERS_MAX: Final = 1_024
BUSY_SECONDS: Final = 2.0
"""How long to wait for a recorder that is writing to the file."""

ByHand = Mapping[int, Bookmark | None]
"""Bookmarks set by hand, by event; None: the bookmark there was removed."""

PUT: Final = "INSERT OR REPLACE INTO bookmarks (name, note, seq, time_us) VALUES (?, ?, ?, ?)"
REMOVE: Final = "DELETE FROM bookmarks WHERE seq = ?"


class BookmarkError(SessionError):
    """A bookmark cannot be saved; the message says why."""


def bookmark(name: str, note: str, seq: int, time_us: int) -> Bookmark:
    """Return a bookmark after event ``seq`` (0: before the first), with surrounding spaces removed.

    Raises:
        BookmarkError: the name is empty, or the name or the note is too long.
    """
    name, note = name.strip(), note.strip()
    if not name:
        raise BookmarkError("A bookmark needs a name.")
    for part, text, limit in (
        ("name", name, NAME_CHARACTERS_MAX),
        ("note", note, NOTE_CHARACTERS_MAX),
    ):
        if len(text) > limit:
            raise BookmarkError(
                f"A bookmark's {part} has at most {limit:,} characters; this one has {len(text):,}."
            )
    return Bookmark(name, note, seq, time_us)


def merged(marked: Iterable[Bookmark], by_hand: ByHand) -> list[Bookmark]:
    """Return all bookmarks in order; one set by hand overrides that of a ``mark`` statement."""
    by_seq: dict[int, Bookmark | None] = {mark.seq: mark for mark in marked}
    by_seq |= by_hand
    return [mark for _, mark in sorted(by_seq.items()) if mark is not None]


def put_bookmark(session: SessionFile, mark: Bookmark) -> None:
    """Write a bookmark to a session's file; it replaces one at the same event.

    The file may still be recorded, by this or another process.

    Raises:
        BookmarkError: the session is damaged, or its file cannot be written.
    """
    _change(session, PUT, (mark.name, mark.note, mark.seq, mark.time_us))


def remove_bookmark(session: SessionFile, seq: int) -> bool:
    """Remove the bookmark at an event from a session's file; return False if there is none.

    Raises:
        BookmarkError: the session is damaged, or its file cannot be written.
    """
    return _change(session, REMOVE, (seq,)) > 0


def _change(session: SessionFile, statement: str, values: tuple[object, ...]) -> int:
    """Execute one statement in its own transaction; return the number of changed rows."""
    if session.damage:
        raise BookmarkError(f"{session.path} takes no bookmarks because it is damaged.")
    try:
        database = open_for_bookmarks(session.path, BUSY_SECONDS)
        try:
            return database.execute(statement, values).rowcount
        finally:
            close_bookmarks(database)
    except sqlite3.Error as error:
        raise BookmarkError(f"{session.path} takes no bookmarks: {error}.") from error
    except SessionError as error:
        raise BookmarkError(str(error)) from error
