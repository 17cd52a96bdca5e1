"""Cut a part of a session into a new session, which opens and verifies up to its end.

Its events keep their numbers. What came before them is in the file as one state, and all
statements up to its end stay, so that it can be run again.
"""

import secrets
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

from emulator.events import Event
from sessions.file_system import move, sync_folder
from sessions.format.chunks import Chunks
from sessions.format.errors import SessionError, SessionMissingError, consistent
from sessions.format.file import SessionFile
from sessions.format.keyframes import Beginning
from sessions.format.metadata import Extent
from sessions.format.retention import newest
from sessions.format.writer import delete_files
from sessions.playback.replay import Replay
from sessions.recording.recorder import Recorder
from sessions.text import clock

Progress = Callable[[int], object]
"""Is told how many events have been copied so far."""


class Trimmed(Struct, frozen=True):
    """The part that was cut: events ``first_seq`` to ``last_seq``, of ``of_events`` in all."""

    path: Path
    first_seq: int
    last_seq: int
    of_events: int
    size_bytes: int


def trim(
    session: SessionFile,
    target: Path,
    first_seq: int,
    last_seq: int,
    progress: Progress | None = None,
) -> Trimmed:
    """Write the events ``first_seq`` to ``last_seq`` of a session into a new file.

    Numbers beyond what the session holds mean its ends. A damaged session's readable part makes a
    whole one. Nothing is left of a file that could not be finished.

    Raises:
        SessionError: there are no such events, they cannot be read, or the file exists or cannot
            be written.
    """
    first, last = max(first_seq, session.first_seq), min(last_seq, session.last_seq)
    if first > last:
        until = "on" if first_seq > session.last_seq else f"to {last_seq:,}"
        raise SessionError(
            f"{session.path} has events {session.first_seq:,} to {session.last_seq:,}, the last at "
            f"{clock(session.last_us)}, so there are none from {first_seq:,} {until}."
        )
    if target.exists():
        raise SessionError(f"{target} already exists: a session is never overwritten.")
    scratch = target.with_name(f".{target.name}.{secrets.token_hex(8)}")
    try:
        with consistent(session.path):
            _copy(session, scratch, first, last, progress)
        size_bytes = scratch.stat().st_size
        move(scratch, target, inside=target.parent)
        sync_folder(target.parent)
    except SessionError as error:  # of the copy, which people know by another name
        raise type(error)(str(error).replace(str(scratch), str(target))) from error
    except OSError as error:
        reason = error.strerror or error
        raise SessionMissingError(f"{target} could not be written: {reason}.") from error
    finally:
        with suppress(OSError):
            delete_files(scratch)
    return Trimmed(target, first, last, session.last_seq, size_bytes)


def _copy(
    session: SessionFile, scratch: Path, first: int, last: int, progress: Progress | None
) -> None:
    chunks = Chunks(session)
    begin = _beginning(chunks, first) if first > 1 else None
    with Recorder(scratch, session.origin, begin=begin) as recorder:
        for chunk in session.chunks:
            if chunk.last_seq >= first and chunk.first_seq <= last:
                _take(recorder, session.events(chunk), first, last)
                if recorder.failure is not None:
                    return
                if progress is not None:
                    progress(min(chunk.last_seq, last) - first + 1)
        recorder.flush()
        if recorder.failure is None:
            _put_the_rest(session, recorder, first, last)


def _take(recorder: Recorder, events: list[Event], first: int, last: int) -> None:
    for event in events:
        if first <= event.seq <= last:
            recorder(event)


def _beginning(chunks: Chunks, first: int) -> Beginning:
    replay = Replay(chunks)
    replay.seek_seq(first - 1)
    return Beginning(replay.view.snapshot(), newest(chunks.batches_before(first)))


def _put_the_rest(session: SessionFile, recorder: Recorder, first: int, last: int) -> None:
    """Write everything but events: statements, bookmarks, the part's range, and the outcome."""
    writer = recorder.writer
    for recorded in session.inputs():
        if recorded.seq <= last:
            writer.put_input(recorded)
    writer.replace_bookmarks(mark for mark in session.bookmarks() if first - 1 <= mark.seq <= last)
    whole = max(session.last_seq, session.extent.last_seq)
    if (first, last) != (1, whole):
        before_us = Chunks(session).time_of(first - 1)
        writer.put_meta("extent", Extent(first, before_us, whole))
    outcome = session.outcome if session.complete else None
    if outcome is not None and last == outcome.events:
        writer.put_meta("outcome", outcome)
    writer.commit()
