"""A temporary file for what a served cluster need not keep in memory."""

import logging
import tempfile
import weakref
from threading import Lock
from typing import Final

KEEP_MEMORY: Final = 1 << 28
"""Bytes of clients' records in memory by default: 10 GB of traffic then take 0.4 GiB."""
LOG: Final = logging.getLogger(__name__)


class TemporarySpillFile:
    """A file of its own that nobody else can open, on the disk of the temporary folder.

    It has no name, so that it is gone with the last reference to it, or with a process that is
    killed (on Linux; elsewhere the operating system deletes it when it is closed).
    """

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile(prefix="tidegauge-", buffering=0)  # noqa: SIM115 - kept
        weakref.finalize(self, self._file.close)
        self.size = 0
        self._lock = Lock()  # a forecast may read what its cluster has written

    def append(self, data: bytes) -> bool:
        """Write at the end; return False, with the file as before, if the disk has no room."""
        unwritten = memoryview(data)
        try:
            with self._lock:
                self._file.seek(self.size)
                while unwritten:
                    unwritten = unwritten[self._file.write(unwritten) :]
        except OSError as error:
            LOG.warning("records stay in memory, because %s: %s", tempfile.gettempdir(), error)
            return False
        self.size += len(data)
        return True

    def read(self, position: int, size: int) -> bytes:
        """Read what was written at a position.

        Raises:
            OSError: the disk fails.
        """
        with self._lock:
            self._file.seek(position)
            parts = []
            while size and (part := self._file.read(size)):
                parts.append(part)
                size -= len(part)
        return parts[0] if len(parts) == 1 else b"".join(parts)
