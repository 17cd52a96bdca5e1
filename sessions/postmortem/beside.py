"""The session of a long history, written by other processes while this one examines it.

All read the same files. This process has a lower priority from then on, because people wait for the
session first.
"""

import os
import subprocess
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import tzinfo
from pathlib import Path
from typing import Final

import msgspec

from sessions.format.errors import SessionError
from sessions.own_cluster.places import Place
from sessions.postmortem.pipeline import STORER, Outcome, Task, start

WORTH_BYTES: Final = 16 << 20
"""From this size of the logs on, other processes save more time than they take to start."""
NICENESS: Final = 10


class Writing:
    """A session that is being written."""

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        """Wait until the file is there.

        Raises:
            SessionError: it exists already or cannot be written.
        """
        self._process = process
        self._outcome = self._report()
        self._raise()
        self._thread = threading.Thread(target=self._wait, daemon=True)
        self._thread.start()

    @property
    def is_complete(self) -> bool:
        """Whether everything was written; it can be opened then, whatever else goes on."""
        return self._outcome.is_complete

    def finish(self) -> None:
        """Wait until it is complete.

        Raises:
            SessionError: it cannot be written.
        """
        self._thread.join()
        self._raise()

    def _wait(self) -> None:
        outcome = self._report()
        if outcome.is_complete:
            self._process.wait()
        self._outcome = outcome

    def _report(self) -> Outcome:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if line:
            return msgspec.json.decode(line, type=Outcome)
        status = self._process.wait()
        return Outcome(error=f"The process that writes the session ended with status {status}.")

    def _raise(self) -> None:
        if self._outcome.error:
            raise SessionError(self._outcome.error)


@contextmanager
def writing_beside(
    paths: Sequence[str], session: Path, zone: tzinfo, until: Place | None
) -> Iterator[Writing]:
    """Write the session of a metadata log; at the end of the block, processes are ended.

    Raises:
        SessionError: the file exists or cannot be written.
    """
    task = Task(list(paths), str(session), str(zone), until or Place())
    with start(STORER, task, subprocess.PIPE) as process:
        try:
            writing = Writing(process)
            os.nice(NICENESS)
            yield writing
        finally:
            process.kill()
