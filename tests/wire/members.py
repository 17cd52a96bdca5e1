"""Members of a consumer group, each in a process of its own, so that one can be killed."""

import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable

from tests.wire.clients import WAIT_SECONDS, Stored


class Member:
    """A process that follows a topic; ``assigned`` and ``records`` are what it has told."""

    def __init__(self, client: str, servers: str, group: str, topic: str) -> None:
        self.assigned: list[int] = []
        self.records: list[Stored] = []
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "tests.wire.clients", client, servers, group, topic],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            told = json.loads(line)
            if "assigned" in told:
                self.assigned = told["assigned"]
            else:
                self.records.append(Stored(**told))

    def kill(self) -> None:
        """End it with no chance to leave its group."""
        self._process.kill()
        self._process.communicate()
        self._reader.join()


def eventually(holds: Callable[[], bool], what: str) -> None:
    """Wait until something holds; these processes live in real time."""
    end = time.monotonic() + WAIT_SECONDS
    while not holds():
        assert time.monotonic() < end, what
        time.sleep(0.02)
