"""What was given to a served cluster, so that its recording can be written when it is asked for.

While nothing is recorded no event is built for a recording, so a test pays nothing for one that it
mostly does not need. What was asked is enough: a cluster that is asked the same does the same.
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
"""How many bytes of requests are kept; beyond that the beginning would be missing."""

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
        """A statement is about to be given, at the place to which the runner has come."""
        wanted = statement.input
        if isinstance(wanted, ReceiveRequest):
            self._bytes += len(wanted.frame)
        if self._bytes > JOURNAL_BYTES_MAX:
            self.given.clear()  # without its end the beginning is of no use
        else:
            self.given.append((self.runner.now_us, self.runner.steps, statement))

    def events(self) -> list[Event]:
        """All events so far.

        They are those of a second cluster that is asked the same, and goes on from call to call.

        Raises:
            SessionError: too much was sent to be kept.
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
