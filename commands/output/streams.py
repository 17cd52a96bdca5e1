"""The program's two streams: standard output is data, standard error is narration.

Neither may break a run: a reader that has gone away (``| head``) and a character that the terminal
cannot show are taken quietly. Data that cannot be written for another reason (a full disk, a stream
that was closed before) is an error, narration that cannot be is none.
"""

import os
import shutil
import sys
from collections.abc import Sequence
from typing import TextIO

from commands.exits import CommandError, ExitCode
from commands.output.grids import Grid, as_text, for_terminal
from sessions.text import clean


def prepare() -> None:
    """Let both streams show every character, as an escape where they cannot."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


def emit(text: str) -> None:
    """Write data.

    Raises:
        CommandError: standard output is closed, or cannot be written.
    """
    if text and (sys.stdout is None or sys.stdout.closed):
        message = "cannot write standard output: it is closed"
        raise CommandError(ExitCode.UNREACHABLE, message)
    _write(sys.stdout, text)


def emit_tables(grids: Sequence[Grid]) -> None:
    """Write tables as data: as they are for a reader, fitted and with headings for a terminal."""
    stream = sys.stdout
    if stream is None or stream.closed or not stream.isatty():
        emit(as_text(grids))
    else:
        emit(for_terminal(grids, shutil.get_terminal_size().columns))


def narrate(text: str) -> None:
    """Write a line about what is happening; control characters in it are shown as escapes."""
    lines = (clean(line) for line in text.split("\n"))
    _write(sys.stderr, "\n".join(lines) + "\n")


def progress(text: str) -> None:
    """Show a temporary line on a terminal; an empty one removes it."""
    if watched():
        _write(sys.stderr, f"\r\x1b[K{text}")


def watched() -> bool:
    """Whether standard error is a terminal."""
    return sys.stderr is not None and not sys.stderr.closed and sys.stderr.isatty()


def finish() -> None:
    """Flush both streams, so that nothing fails later than here."""
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
    """Discard all further output: the reader is gone."""
    try:
        number = stream.fileno()
    except (OSError, ValueError):
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, number)
    os.close(nowhere)
