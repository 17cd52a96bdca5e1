"""The inputs of a served cluster, from which its recording can be written on request.

Without a recorder no events are built, so a test pays nothing for a recording that it usually does
not need. The inputs suffice: a cluster with the same inputs behaves identically.
"""

from pathlib import Path
from typing import Final

from emulator.cluster import Cluster
from emulator.events import Event
from emulator.inputs.statements import CreateCluster, ReceiveRequest, Statement
from emulator.scenario.runner import Runner
from sessions.format.errors import SessionError
from sessions.format.metadata import Origin
from sessions.recording.recorder import Recorder

JOURNAL_BYTES_MAX: Final = 1 << 30
"""Maximum bytes of requests to keep; beyond that the beginning would be missing."""

TOO_MUCH: Final = (
    f"clients have sent more than {JOURNAL_BYTES_MAX >> 20:,} MB; serve with --record to have it "
    "recorded as it happens"
)


class Journal:
    """Keeps the inputs of a run with their places."""

    def __init__(self, runner: Runner, first: Statement) -> None:
        """Keep those of ``runner``, whose cluster the statement ``first`` has made."""
        self.runner = runner
        self.first = first
        self.given: list[tuple[int, int, Statement]] = []
        self._bytes = 0
        self._again: Runner | None = None
        self._seen: list[Event] = []
        self._done = 0

    def note(self, statement: Statement) -> None:
        """Record a statement that is about to be submitted, at the runner's current position."""
        wanted = statement.input
        if isinstance(wanted, ReceiveRequest):
            self._bytes += len(wanted.frame)
        if self._bytes > JOURNAL_BYTES_MAX:
            self.given.clear()  # without its end the beginning is of no use
        else:
            self.given.append((self.runner.now_us, self.runner.steps, statement))

    def events(self) -> list[Event]:
        """Return all events so far.

        They come from a second cluster with the same inputs, which continues from call to call.

        Raises:
            SessionError: more was sent than is kept.
        """
        if self._bytes > JOURNAL_BYTES_MAX:
            raise SessionError(f"the events are not known: {TOO_MUCH}.")
        if self._again is None:
            spec = self.first.input
            assert isinstance(spec, CreateCluster)
            cluster = Cluster(spec, (self._seen.append,), self.first.text, self.first.line)
            self._again = Runner(cluster)
        for time_us, steps, statement in self.given[self._done :]:
            self._again.return_to(time_us, steps)
            self._again.submit(statement)
        self._done = len(self.given)
        self._again.return_to(self.runner.now_us, self.runner.steps)
        return self._seen

    def write(self, path: Path, origin: Origin, outcome: str = "") -> None:
        """Write the session of everything up to now.

        Raises:
            SessionError: the file exists or cannot be written, or too much was sent to be kept.
        """
        if self._bytes > JOURNAL_BYTES_MAX:
            raise SessionError(f"{path} cannot be written: {TOO_MUCH}.")
        with Recorder(path, origin) as recorder:
            recorder.announce(self.first)
            cluster = Cluster(origin.cluster, (recorder,), self.first.text, self.first.line)
            again = Runner(cluster)
            recorder.follow(again)
            for time_us, steps, statement in self.given:
                again.return_to(time_us, steps)
                recorder.announce(statement)
                again.submit(statement)
            again.return_to(self.runner.now_us, self.runner.steps)
            recorder.close(outcome)
