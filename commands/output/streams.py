"""The program's two output streams: standard output for data, standard error for narration.

Neither may break a run: a closed pipe (``| head``) and a character that the terminal cannot show
are ignored. Data that cannot be written for another reason (a full disk, a stream that was already
closed) is an error; narration that cannot be written is not.

Neither passes on control characters that data contains. Only this module writes any, to style
tables and to replace a line.
"""

import os
import shutil
import sys
from collections.abc import Sequence
from typing import TextIO

from commands.exits import CommandError, ExitCode
from commands.output.grids import Grid, as_text, for_terminal
from sessions.text import clean, json_line, without_controls


def prepare() -> None:
    """Make both streams escape the characters that they cannot encode."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


def emit(text: str) -> None:
    """Write a text as data; control characters in it, but tabs and line ends, are escaped.

    Raises:
        CommandError: standard output is closed, or cannot be written.
    """
    _emit(without_controls(text))


def emit_json(value: object) -> None:
    """Write a value as one line of JSON.

    Raises:
        CommandError: standard output is closed, or cannot be written.
    """
    _emit(json_line(value))


def _emit(text: str) -> None:
    if text and (sys.stdout is None or sys.stdout.closed):
        message = "cannot write standard output: it is closed"
        raise CommandError(ExitCode.UNREACHABLE, message)
    _write(sys.stdout, text)


def emit_tables(grids: Sequence[Grid]) -> None:
    """Write tables as data: plain text for a pipe, fitted to the width for a terminal."""
    stream = sys.stdout
    if stream is None or stream.closed or not stream.isatty():
        emit(as_text(grids))
    else:
        _emit(for_terminal(grids, shutil.get_terminal_size().columns))


def narrate(text: str) -> None:
    """Write a line of narration; control characters in it are escaped."""
    lines = (clean(line) for line in text.split("\n"))
    _write(sys.stderr, "\n".join(lines) + "\n")


def progress(text: str) -> None:
    """Show a temporary line on a terminal, without control characters; an empty one removes it."""
    if watched():
        _write(sys.stderr, f"\r\x1b[K{clean(text)}")


def watched() -> bool:
    """Return whether standard error is a terminal."""
    return sys.stderr is not None and not sys.stderr.closed and sys.stderr.isatty()


def finish() -> None:
    """Flush both streams, so that no write fails later."""
    for stream in (sys.stdout, sys.stderr):
        _write(stream, "")


def _write(stream: TextIO | None, text: str) -> None:
    if stream is None or stream.closed:
        return
    try:
        stream.write(text)
        stream.flush()
    except BrokenPipeError:
        _silence(stream)
    except OSError as error:
        _silence(stream)
        if stream is sys.stdout:
            message = f"cannot write standard output: {(error.strerror or str(error)).lower()}"
            raise CommandError(ExitCode.UNREACHABLE, message) from None


def _silence(stream: TextIO) -> None:
    """Discard all further output: the reader has closed the pipe."""
    try:
        number = stream.fileno()
    except (OSError, ValueError):
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, number)
    os.close(nowhere)
