"""The source that is a recording."""

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import Final

from emulator.events import Event
from emulator.zookeeper.watches import Watches
from sessions.format.allowance import Allowance
from sessions.format.bookmarks import bookmark, put_bookmark, remove_bookmark
from sessions.format.chunks import Chunks, Kinds
from sessions.format.file import SessionFile
from sessions.model.cluster_view import ClusterView
from sessions.model.health import Counts
from sessions.model.states import NO_SEED, Bookmark
from sessions.model.touches import object_name
from sessions.playback.cursor import US_PER_SECOND, Cursor, Reply
from sessions.sources.source import Source
from sessions.text import US_PER_DAY

READ_ONLY: Final = "READ_ONLY"
"""The error of a statement that is given to a recording."""
FAR_EVENTS: Final = 1 << 16
"""To fold more events than this takes longer than somebody waits for the answer to a key."""
KEEP_UP_S: Final = 0.03
"""How long a move goes on in one go once it has taken longer than somebody waits: a key waits."""


class ReplaySource(Source):
    """A recording; another process may still be writing it."""

    kind = "REPLAY"
    read_only = True
    goes_on = False
    can_forecast = False

    def __init__(self, path: Path | str, *, patience_s: float | None = None) -> None:
        """Open the session with the cursor at its beginning.

        A move of the cursor takes ``patience_s`` at most; :meth:`keep_up` does the rest. None: a
        move takes as long as it takes.

        Its events are looked at as they are read: then :attr:`trouble` says what is damaged.

        Raises:
            SessionError: it cannot be read.
        """
        self.session = SessionFile(path, check=False)
        self.name = self.session.origin.name
        self._cursor = Cursor(Chunks(self.session))
        self._patience_s = patience_s
        self._journey: Callable[[float | None], None] | None = None
        self._goal = 0
        is_observed = self.session.origin.seed == NO_SEED
        self._first_us = self._cursor.chunks.time_of(self.first_seq) if is_observed else 0
        self._begin()

    def _begin(self) -> None:
        """Let no time pass before the first event: of times of day, there may be hours."""
        self._cursor.replay_us = max(self._cursor.replay_us, self._first_us)

    @property
    def wall_clock_us(self) -> int | None:
        zero_us = self.session.origin.wall_clock_us
        return zero_us if zero_us is not None and zero_us % US_PER_DAY == 0 else None

    @property
    def view(self) -> ClusterView:
        return self._cursor.replay.view

    @property
    def seq(self) -> int:
        return self._cursor.replay.seq

    @property
    def time_us(self) -> int:
        return self._cursor.replay_us

    @property
    def first_seq(self) -> int:
        return self.session.first_seq

    @property
    def last_seq(self) -> int:
        return self.session.last_seq

    @property
    def last_time_us(self) -> int:
        return self.session.last_us

    @property
    def first_time_us(self) -> int:
        """When it begins: the recording of a cluster that runs outside has times of day."""
        return self._first_us

    @property
    def present(self) -> ClusterView:
        return self.view

    @property
    def trouble(self) -> str:
        """The damage of the recording, in a sentence."""
        return self.session.damage

    @property
    def at_tail(self) -> bool:
        return self.seq >= self.last_seq

    @property
    def heading_for(self) -> int | None:
        return None if self._journey is None else self._goal

    def keep_up(self) -> None:
        """Go on with a move that takes long. What is written is noticed at the end."""
        if self._journey is not None:
            self._go_on(self._journey, KEEP_UP_S)

    def _go_on(self, journey: Callable[[float | None], None], within_s: float | None) -> None:
        """Move, and remember the move until the cursor stands still."""
        before = self.seq
        journey(within_s)
        is_there = within_s is None or self.seq in (before, self._goal)
        self._journey = None if is_there else journey
        self._begin()

    def advance(self, wall_seconds: float, speed: float, budget_ms: float) -> int:
        self._journey = None
        duration_us = int(wall_seconds * speed * US_PER_SECOND)
        return self._cursor.play(duration_us, self.last_time_us, budget_ms)

    def step(self, n: int) -> None:
        self.seek_seq(self.seq + n)

    def _set_out(self, journey: Callable[[float | None], None], goal: int) -> None:
        """Begin a move. One that goes far takes long: it only begins once that has been shown."""
        self._goal = goal
        if self._patience_s is not None and not self._cursor.replay.is_near(goal, FAR_EVENTS):
            self._journey = journey
        else:
            self._go_on(journey, self._patience_s)

    def seek_seq(self, seq: int) -> None:
        goal = max(self.first_seq - 1, min(seq, self.last_seq))
        self._set_out(partial(self._cursor.seek_seq, seq), goal)

    def seek_time(self, time_us: int) -> None:
        until_us = max(self._first_us, min(time_us, self.last_time_us))
        goal = self._cursor.chunks.seq_at(until_us)
        self._set_out(partial(self._cursor.seek_time, until_us), goal)

    def to_tail(self) -> None:
        self.session.refresh()
        self.seek_seq(self.last_seq)

    def events(self, first: int, last: int) -> Sequence[Event]:
        return self._cursor.chunks.events(first, last)

    def touching(
        self, objects: Iterable[int | str], seq: int, direction: int, kinds: Kinds = None
    ) -> int | None:
        return self._cursor.chunks.touching(set(map(object_name, objects)), seq, direction, kinds)

    def reading_at_most(self, allowance: Allowance) -> AbstractContextManager[None]:
        return self._cursor.chunks.reading_at_most(allowance)

    def bookmarks(self) -> Sequence[Bookmark]:
        return self.session.bookmarks()

    def put_bookmark(self, name: str, note: str = "", seq: int | None = None) -> Bookmark:
        bookmarked = self.seq if seq is None else min(seq, self.last_seq)
        mark = bookmark(name, note, bookmarked, self._cursor.chunks.time_of(bookmarked))
        put_bookmark(self.session, mark)
        return mark

    def remove_bookmark(self, seq: int) -> bool:
        return remove_bookmark(self.session, seq)

    def samples(self) -> Sequence[tuple[int, int, Counts]]:
        return self.session.summary()

    def watches(self, seq: int, observer: Callable[[Event], None]) -> Watches:
        from sessions.playback.rerun import watches_at  # it imports the emulator, which takes long

        return watches_at(self.session.path, seq, observer)

    def submit(self, text: str) -> Reply:
        return Reply(READ_ONLY, f"{self.name} is a recording: nothing in it can be changed.")

    def close(self) -> None:
        self.session.close()
