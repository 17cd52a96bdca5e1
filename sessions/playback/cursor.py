"""A position in time, common to recordings and live clusters, and the reply to a statement."""

from time import perf_counter
from typing import Final

from msgspec import Struct

from sessions.format.chunks import Chunks
from sessions.playback.replay import Replay

US_PER_SECOND: Final = 1_000_000
MS_PER_SECOND: Final = 1_000
FOLD_EVENTS: Final = 256
"""Events between two looks at the wall clock while the cursor moves through the past."""


class Reply(Struct, frozen=True):
    """A statement's outcome; ``pending``: it has none yet."""

    error: str = "NONE"
    message: str = ""
    output: str | None = None
    pending: bool = False


class Cursor:
    """The interface of live clusters and recordings: a past that can be navigated."""

    def __init__(self, chunks: Chunks) -> None:
        """Begin before the first event of ``chunks``."""
        self.chunks = chunks
        self.replay = Replay(chunks)
        self.replay_us = self.replay.view.time_us

    def seek_seq(self, seq: int, within_s: float | None = None) -> None:
        """Go to right after an event, or as far as this is done ``within_s`` seconds."""
        self.replay.seek_seq(seq, within_s)
        self.replay_us = self.replay.view.time_us

    def seek_time(self, time_us: int, within_s: float | None = None) -> None:
        """Go to a virtual time, which may lie between two events, or as far as is done in time."""
        seq = self.chunks.seq_at(time_us)
        self.seek_seq(seq, within_s)
        if self.replay.seq >= seq:
            self.replay_us = max(time_us, self.replay.view.time_us)

    def play(self, duration_us: int, end_us: int, budget_ms: float) -> int:
        """Advance in time as far as the budget allows; return the number of events."""
        replay = self.replay
        begin = replay.seq
        goal_us = min(self.replay_us + duration_us, end_us)
        goal = self.chunks.last_seq if goal_us >= end_us else self.chunks.seq_at(goal_us)
        deadline = perf_counter() + budget_ms / 1_000
        while replay.seq < goal and perf_counter() < deadline:
            replay.seek_seq(min(goal, replay.seq + FOLD_EVENTS))
        self.replay_us = goal_us if replay.seq >= goal else replay.view.time_us
        return replay.seq - begin
