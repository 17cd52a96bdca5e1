"""Export with two processes; the second one makes the most expensive tables.

The second process reads the same session file. It inherits the lock of the staging folder, notices
by its standard input when the first one exits, and reports on its standard output.
"""

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from sessions.child_process import environment, python_command
from sessions.dataset.export import RowsWriter, require_arrow
from sessions.dataset.layout import Staging
from sessions.dataset.rows.sessions import SessionFacts
from sessions.dataset.session_rows import SessionRows
from sessions.dataset.tables import EVENTS, REQUESTS
from sessions.format.errors import SessionDamagedError, SessionError
from sessions.format.file import SessionFile
from sessions.garbage_collection import collect_seldom, collector_paused

BESIDE: Final = (EVENTS.name, REQUESTS.name)
"""The tables that the second process makes: about half of the work."""

WORTH_EVENTS: Final = 100_000
"""From this number of events on, a second process saves more time than it takes to start."""


class Outcome(Struct, omit_defaults=True):
    """The report of the second process: the rows of each table, or one sentence why it failed."""

    rows: dict[str, int] | None = None
    unreadable: str = ""
    unwritable: str = ""


class Beside:
    """A second process that makes the tables :data:`BESIDE`."""

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        self._process = process

    def rows(self) -> dict[str, int]:
        """Wait for the process, and return the number of rows of each table.

        Raises:
            SessionDamagedError: the session cannot be read.
            OSError: something cannot be written.
        """
        assert self._process.stdout is not None
        output = self._process.stdout.read()
        if not output:
            status = self._process.wait()
            raise OSError(f"the process that writes {EVENTS.name} ended with status {status}")
        outcome = msgspec.json.decode(output, type=Outcome)
        if outcome.unreadable:
            raise SessionDamagedError(outcome.unreadable)
        if outcome.rows is None:
            raise OSError(outcome.unwritable)
        return outcome.rows


@contextmanager
def exporting_beside(session: SessionFile, name: str, staging: Staging) -> Iterator[Beside]:
    """Start a second process; it is terminated if it is still running at the end of the block.

    ``name`` is the session's id in the dataset.
    """
    arguments = (str(session.path), str(session.last_seq), name, str(staging.path), staging.id)
    descriptors = (staging.lock,) if staging.lock >= 0 else ()
    with subprocess.Popen(
        python_command("-m", __name__, *arguments),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        pass_fds=descriptors,
        env=environment(),
        start_new_session=True,  # the first process handles ctrl-c
    ) as process:
        try:
            yield Beside(process)
        finally:
            process.kill()


def add_chunks(
    rows: SessionRows, writer: RowsWriter, session: SessionFile, last_seq: int
) -> Iterator[int]:
    """Export the session up to an event; yield the number of events so far from time to time."""
    for chunk in session.chunks:
        if chunk.first_seq > last_seq:
            break
        with collector_paused():
            rows.add_block(session.unpacked(chunk, rows.columns).up_to(last_seq))
            writer.take(rows)
        yield rows.events


def _export(path: Path, last_seq: int, name: str, folder: Path, commit: str) -> Outcome:
    try:
        require_arrow()
        with (
            SessionFile(path, check=False) as session,
            RowsWriter(folder, commit, BESIDE) as writer,
        ):
            rows = SessionRows(name, BESIDE)
            for _ in add_chunks(rows, writer, session, last_seq):
                pass
            rows.finish(SessionFacts(name))
            writer.take(rows)
            writer.finish()
            return Outcome(rows=writer.rows)
    except SessionError as error:
        return Outcome(unreadable=str(error))
    except OSError as error:
        return Outcome(unwritable=error.strerror or str(error))
    except Exception as error:
        return Outcome(unwritable=f"{type(error).__name__}: {error}")


def _end_with_the_first() -> None:
    """Exit when the other end of standard input is closed."""
    sys.stdin.buffer.read()
    os._exit(1)


def main() -> None:
    """Run the second process."""
    threading.Thread(target=_end_with_the_first, daemon=True).start()
    collect_seldom()
    path, last_seq, name, folder, commit = sys.argv[1:]
    outcome = _export(Path(path), int(last_seq), name, Path(folder), commit)
    sys.stdout.buffer.write(msgspec.json.encode(outcome))
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
