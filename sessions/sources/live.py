"""The source that is a live cluster: it runs at the end of its own recording."""

from collections import deque
from collections.abc import Callable, Sequence
from threading import Lock
from time import perf_counter
from typing import Final

from emulator.events import Event
from emulator.inputs.statements import Statement
from emulator.scenario.runner import Advance, Runner, Ticket
from emulator.zookeeper.watches import Watches
from sessions.format.errors import SessionIncompleteError
from sessions.grammar.event_patterns import looked_up
from sessions.model.cluster_view import ClusterView
from sessions.playback.cursor import MS_PER_SECOND, US_PER_SECOND, Reply
from sessions.recording.recorder import Recorder
from sessions.sources.forecast import StartingPoint
from sessions.sources.growing import GrowingSource
from sessions.sources.pacing import advance_for

LinePart = Statement | Reply | Callable[[ClusterView], Reply]
"""A part of a parsed line: a statement, a query of the view, or a finished reply."""
Parse = Callable[[str], Sequence[LinePart]]
"""Parses a line into its parts; a ValueError says what is wrong with the line."""

SILENT_STEPS_MAX: Final = 10_000
"""Maximum number of kernel events that a step dispatches in search of an event to report."""


class PendingLine:
    """A submitted line: its statements are run one after another."""

    def __init__(self, text: str, parts: Sequence[LinePart]) -> None:
        """Hold a line's parts; nothing has started yet."""
        self.text = text
        self.left = deque(parts)
        self.ticket: Ticket | None = None
        self.reply = Reply()

    def note(self, reply: Reply) -> None:
        """Finish a part: the line's reply is its first error, or else the last one."""
        if self.reply.error == "NONE":
            self.reply = reply

    @property
    def is_waiting(self) -> bool:
        """Return whether it is waiting for the cluster."""
        return self.ticket is not None and not self.ticket.done


class LiveSource(GrowingSource):
    """A cluster with its recorder, which must have seen every event of it.

    While the cursor is at the end, the view is the recorder's, and time passes by running the
    cluster. Anywhere else the cluster is paused; a statement brings the cursor to the end. While
    the cluster is being copied it is paused as well (``_still`` is held), and statements wait.
    """

    kind = "LIVE"
    read_only = False

    def __init__(self, runner: Runner, recorder: Recorder, parse: Parse) -> None:
        """Begin at the end; ``parse`` turns a line into statements."""
        super().__init__(recorder)
        self.runner = runner
        self.cluster = runner.cluster
        recorder.look_in(runner.cluster.ledger)
        self._parse = parse
        self._still = Lock()
        self._pending_lines: list[PendingLine] = []
        self._finished: list[tuple[str, Reply]] = []

    # ---- the cursor

    @property
    def last_time_us(self) -> int:
        return self.cluster.now_us

    @property
    def is_held(self) -> bool:
        """Whether the cluster is paused because it is being copied."""
        return self._still.locked()

    # ---- moving it

    def advance(self, wall_seconds: float, speed: float, budget_ms: float) -> int:
        self.recorder.tick()
        duration_us = int(wall_seconds * speed * US_PER_SECOND)
        if self.at_tail and self.is_held:
            return 0
        if self.at_tail:
            return self._run(self.cluster.now_us + duration_us, budget_ms / MS_PER_SECOND)
        return self.play_past(duration_us, budget_ms)

    def step(self, n: int) -> None:
        """Move by ``n`` events, back if negative; at the end the cluster is run for them.

        A cluster in which hardly anything is alive may never state another event, however long it
        is run: there the step ends without one.
        """
        goal, runner = self.seq + n, self.runner
        if self._past is None:
            with self._still:
                last = runner.steps + SILENT_STEPS_MAX
                while self.last_seq < goal and runner.steps < last:
                    next_us = runner.next_us
                    if next_us is None:
                        break
                    runner.advance(next_us, budget=1)
                    self._go_on()
        self.seek_seq(goal)

    # ---- reading

    def watches(self, seq: int, observer: Callable[[Event], None]) -> Watches:
        if seq >= self.last_seq:
            return self.cluster.zookeeper.watches
        from sessions.playback.rerun import watches_at  # it imports the emulator, which takes long

        return watches_at(self.recorder.path, seq, observer)

    # ---- acting

    def submit(self, text: str) -> Reply:
        """Run a line's statements on the cluster, at the live end.

        A reply that is ``pending`` will be among :meth:`replies` once the cluster has got there.
        """
        try:
            parts = self._parse(text)
        except ValueError as error:
            return Reply("INVALID", str(error))
        self.to_tail()
        line = PendingLine(text, parts)
        with self._still:
            self._perform(line)
            self.recorder.tick()
            is_pending = line.is_waiting
            if is_pending:
                self._pending_lines.append(line)
            self._go_on()
        return Reply(pending=True) if is_pending else line.reply

    def replies(self) -> list[tuple[str, Reply]]:
        finished, self._finished = self._finished, []
        return finished

    def starting_point(self) -> StartingPoint:
        """Copy the current cluster, to look ahead from; it is paused until it has been copied."""
        self._still.acquire()
        return StartingPoint(self.runner, self.recorder.view, self._still.release)

    def past(self) -> list[tuple[int, Statement]]:
        """All statements so far with their times, the first of which created the cluster.

        Raises:
            SessionError: the recording no longer has all of them.
        """
        self.recorder.flush()
        self._session.refresh()
        inputs = list(self._session.inputs())
        statements = [
            (recorded.time_us, recorded.statement)
            for recorded in inputs
            if recorded.statement is not None
        ]
        if self.first_seq > 1 or len(statements) < len(inputs):
            raise SessionIncompleteError("the recording no longer has all statements")
        return statements

    def statements_of(self, text: str) -> list[Statement]:
        return [part for part in self._parse(text) if isinstance(part, Statement)]

    # ---- running

    def _run(self, until_us: int, wall_seconds: float) -> int:
        begin, deadline = self.last_seq, perf_counter() + wall_seconds
        while True:
            reached = advance_for(self.runner, until_us, deadline - perf_counter())
            self._go_on()
            if reached is not Advance.ENDED:
                return self.last_seq - begin

    def _go_on(self) -> None:
        """Resume lines whose statement has ended; one line may end another's wait."""
        while ready := [line for line in self._pending_lines if not line.is_waiting]:
            for line in ready:
                self._perform(line)
                if not line.is_waiting:
                    self._pending_lines.remove(line)
                    self._finished.append((line.text, line.reply))

    def _perform(self, line: PendingLine) -> None:
        """Execute the parts of a line that need no waiting."""
        while not line.is_waiting:
            if line.ticket is not None and line.ticket.outcome is not None:
                outcome, line.ticket = line.ticket.outcome, None
                line.note(Reply(outcome.error, outcome.message, outcome.output))
            if not line.left:
                return
            part = line.left.popleft()
            if isinstance(part, Reply):
                line.note(part)
            elif isinstance(part, Statement):
                part = looked_up(part, lambda: self.events(self.first_seq, self.last_seq))
                self.recorder.announce(part)
                line.ticket = self.runner.submit(part)
            else:
                line.note(part(self.view))
