"""The inputs of a served cluster, from which its recording can be written on request.

Without a recorder no events are built, so a test pays nothing for a recording that it usually does
not need. The inputs suffice: a cluster with the same inputs behaves identically.

Running them again may take as long as the cluster has run, so it is done in a thread, up to where
the cluster was when that was asked (:meth:`Journal.so_far`); meanwhile the cluster continues.

The latest inputs are in memory, and earlier ones in temporary files.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from emulator.cluster import Cluster
from emulator.events import Event
from emulator.inputs.statements import CreateCluster, ReceiveRequest, Statement
from emulator.scenario.runner import Runner
from emulator.simulation.bytes_by_number import BytesByNumber
from sessions.format.errors import SessionError
from sessions.format.metadata import Origin
from sessions.gateway.spill_file import KEEP_MEMORY, TemporarySpillFile
from sessions.recording.recorder import Recorder

LATEST_BYTES_MAX: Final = 1 << 24
"""Bytes of inputs in memory; beyond that they are written to files."""
INPUT_BYTES: Final = 300
"""What an input takes in memory beside a request's frame, about."""
JOURNAL_BYTES_MAX: Final = 1 << 30
"""Maximum bytes of requests to keep; beyond that the beginning would be missing."""

SLICE_STEPS: Final = 10_000
"""Kernel events between two looks at whether somebody still wants the result."""

TOO_MUCH: Final = (
    f"clients have sent more than {JOURNAL_BYTES_MAX >> 20:,} MB; serve with --record to have it "
    "recorded as it happens"
)


JournalEntry = tuple[int, int, Statement]
"""A statement, after the virtual time and the kernel events before it."""

_ENCODE: Final = msgspec.msgpack.Encoder().encode
_DECODE: Final = msgspec.msgpack.Decoder(list[JournalEntry]).decode


def _in_files() -> BytesByNumber:
    blocks = BytesByNumber()
    blocks.spill(0, TemporarySpillFile)
    return blocks


class SoFar(Struct, frozen=True):
    """The inputs up to a place of a run, and the place.

    ``blocks`` has the earlier ones, by the number of inputs up to the end of each block; ``latest``
    follow them.
    """

    blocks: BytesByNumber
    latest: tuple[JournalEntry, ...]
    time_us: int
    steps: int

    def inputs(self, first: int = 0) -> Iterator[JournalEntry]:
        """Yield the inputs in order, without the ``first`` ones."""
        begin = 0
        for end in self.blocks:
            if first < end:
                yield from _DECODE(self.blocks[end])[max(0, first - begin) :]
            begin = end
        yield from self.latest[max(0, first - begin) :]


class Journal:
    """Keeps the inputs of a run with their places."""

    def __init__(self, runner: Runner, first: Statement, keep_memory: int = KEEP_MEMORY) -> None:
        """Keep those of ``runner``, whose cluster the statement ``first`` has made.

        A cluster that runs again has ``keep_memory`` bytes of clients' records in memory.
        """
        self.runner = runner
        self.first = first
        self._keep_memory = keep_memory
        self._blocks = _in_files()
        self._count = 0
        self._latest: list[JournalEntry] = []
        self._latest_bytes = self._bytes = 0
        self._again: Runner | None = None
        self._events: list[Event] = []
        self._done = 0
        self._is_stopped = False

    def note(self, statement: Statement) -> None:
        """Record a statement that is about to be submitted, at the runner's current position."""
        input_ = statement.input
        if isinstance(input_, ReceiveRequest):
            self._bytes += len(input_.frame)
            self._latest_bytes += len(input_.frame)
        self._latest_bytes += INPUT_BYTES
        if self._bytes > JOURNAL_BYTES_MAX:
            self._forget()
            return
        self._latest.append((self.runner.now_us, self.runner.steps, statement))
        self._count += 1
        if self._latest_bytes > LATEST_BYTES_MAX:
            self._blocks.add(self._count, _ENCODE(self._latest))
            self._latest, self._latest_bytes = [], 0

    def _forget(self) -> None:
        """Forget everything: without its end the beginning is of no use."""
        self._blocks, self._latest = BytesByNumber(), []

    def so_far(self) -> SoFar:
        """Return the inputs until now.

        Raises:
            SessionError: more was sent than is kept.
        """
        if self._bytes > JOURNAL_BYTES_MAX:
            raise SessionError(f"what has happened is not known: {TOO_MUCH}.")
        position = (self.runner.now_us, self.runner.steps)
        return SoFar(self._blocks.copy(), tuple(self._latest), *position)

    def stop(self) -> None:
        """End what runs in other threads with an error, as soon as possible."""
        self._is_stopped = True

    def events(self, so_far: SoFar) -> list[Event]:
        """Return all events up to a place; one thread at a time, each with a later place.

        They come from a second cluster with the same inputs, which continues from call to call.

        Raises:
            SessionError: :meth:`stop` was called.
        """
        if self._again is None:
            spec = self.first.input
            assert isinstance(spec, CreateCluster)
            cluster = Cluster(spec, (self._events.append,), self.first.text, self.first.line)
            self._again = self._runner_of(cluster)
        for time_us, steps, statement in so_far.inputs(self._done):
            self._return_to(self._again, time_us, steps)
            self._again.submit(statement)
            self._done += 1
        self._return_to(self._again, so_far.time_us, so_far.steps)
        return self._events

    def write(self, path: Path, origin: Origin, so_far: SoFar, outcome: str = "") -> None:
        """Write the session of everything up to a place.

        Raises:
            SessionError: the file exists or cannot be written, or :meth:`stop` was called.
        """
        with Recorder(path, origin) as recorder:
            recorder.announce(self.first)
            cluster = Cluster(origin.cluster, (recorder,), self.first.text, self.first.line)
            again = self._runner_of(cluster)
            recorder.follow(again)
            for time_us, steps, statement in so_far.inputs():
                self._return_to(again, time_us, steps)
                recorder.announce(statement)
                again.submit(statement)
            self._return_to(again, so_far.time_us, so_far.steps)
            recorder.close(outcome)

    def _runner_of(self, cluster: Cluster) -> Runner:
        cluster.ledger.encoded.spill(self._keep_memory, TemporarySpillFile)
        return Runner(cluster)

    def _return_to(self, again: Runner, time_us: int, steps: int) -> None:
        while not again.return_to(time_us, steps, SLICE_STEPS):
            if self._is_stopped:
                raise SessionError("the cluster has been closed.")
