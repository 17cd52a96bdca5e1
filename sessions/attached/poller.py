"""Looks at a running cluster from a thread of its own, so that whoever shows it never waits.

What has changed is put into a queue as events. A connection that is lost is made again.
"""

from collections import deque
from threading import Event as Signal
from threading import Lock, Thread
from time import monotonic, time
from typing import Final

from emulator.cluster_image.assumptions import complete
from emulator.cluster_image.image import ClusterImage
from emulator.events import Event
from sessions.attached.changes import Changes
from sessions.attached.observer import LostError, Observer
from sessions.own_cluster.read_only_client import NONSENSE, ReadOnlyClient, reason_of
from sessions.own_cluster.reading import FormatError, SourceError
from sessions.own_cluster.validation import validate
from sessions.text import US_PER_SECOND

EVERY_S: Final = 2.0
"""How often a cluster is looked at."""
SECONDS_PER_DAY: Final = 86_400
REQUEST_TIMEOUT_MS: Final = 10_000
JOIN_S: Final = 1.0
"""How long a thread that waits for a response is waited for at the end."""


class Poller:
    """One cluster, looked at every few seconds.

    Its times are microseconds since midnight (UTC) of the day on which it began, so that they read
    like a clock.
    """

    def __init__(self, address: str, properties: dict[str, str], every_s: float = EVERY_S) -> None:
        """Connect, and look for the first time.

        Raises:
            SourceError: kafka-python is not installed, or the cluster cannot be reached.
        """
        self.address = address
        self.every_s = every_s
        self._properties = properties
        self._began = monotonic()
        self._began_us = int(time() % SECONDS_PER_DAY * US_PER_SECOND)
        self._changes = Changes()
        self._news: deque[Event] = deque()
        self._lock = Lock()
        self._stop = Signal()
        self._thread: Thread | None = None
        self.looked_us = self.began_us
        self.lost = ""
        """Why the cluster does not answer; empty while it does."""
        self._valid = ClusterImage()
        self._client = self._connected()
        try:
            self._observer = Observer(self._client)
            self._observer.look()
            self.release = complete(self._observer.image).image.release or ""
            self._take_look()
        except (LostError, FormatError, *NONSENSE) as error:
            self._client.close()
            reason = reason_of(error) if isinstance(error, NONSENSE) else error
            raise SourceError(f"{address} does not answer: {reason}") from error

    @property
    def began_us(self) -> int:
        return self._began_us

    @property
    def now_us(self) -> int:
        return self._began_us + int((monotonic() - self._began) * US_PER_SECOND)

    @property
    def image(self) -> ClusterImage:
        return self._valid

    @property
    def notes(self) -> list[str]:
        """The requests that the cluster does not answer, a sentence each."""
        return self._observer.notes

    def start(self) -> None:
        """Go on looking, until :meth:`close`."""
        self._thread = Thread(target=self._run, name=f"poll {self.address}", daemon=True)
        self._thread.start()

    def news(self) -> list[Event]:
        """Return the events since the last call."""
        with self._lock:
            news = list(self._news)
            self._news.clear()
        return news

    def close(self) -> None:
        self._stop.set()
        if self._thread is None:
            self._client.close()
        else:
            self._thread.join(JOIN_S)

    def _connected(self) -> ReadOnlyClient:
        return ReadOnlyClient(self.address, self._properties, request_timeout_ms=REQUEST_TIMEOUT_MS)

    def _run(self) -> None:
        while not self._stop.wait(self.every_s):
            self.look()
        self._client.close()

    def look(self) -> None:
        """Look once; reconnect if no node answers, or answers what no broker does."""
        try:
            if self.lost:
                self._client.close()
                self._client = self._connected()
                self._observer = Observer(self._client, self._valid)
            self._observer.look()
            self._take_look()
        except (LostError, SourceError, FormatError) as error:
            self.lost = str(error)
        except NONSENSE as error:
            self.lost = reason_of(error)
        else:
            self.lost = ""

    def _take_look(self) -> None:
        observer = self._observer
        if observer.image is not self._valid:
            validate(observer.image)
            self._valid = observer.image
        now_us = self.now_us
        news = self._changes.look(observer.image, observer.log_ends, self.release, now_us)
        with self._lock:
            self._news.extend(news)
            self.looked_us = now_us
