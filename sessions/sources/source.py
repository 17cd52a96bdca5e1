"""Sources of what screens show: a live cluster or a recording, with one cursor in time.

Both walk back and forth. A live cluster's past comes from its recording, so a cluster that is held
still can be walked backwards at once; it is run only while the cursor is at its end.
"""

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Protocol

from emulator.cluster_image.image import ClusterImage
from emulator.events import Event
from emulator.inputs.statements import Statement
from emulator.zookeeper.watches import Watches
from sessions.format.allowance import Allowance
from sessions.format.chunks import Kinds
from sessions.model.cluster_view import ClusterView
from sessions.model.health import Counts
from sessions.model.states import Bookmark
from sessions.playback.cursor import Reply
from sessions.recording.recorder import Recorder
from sessions.sources.forecast import StartingPoint


class Source(Protocol):
    """The source of screens' data. Times are virtual microseconds; event numbers begin with 1.

    ``view`` is the read model at the cursor; it may be another object after each move. ``time_us``
    is the cursor's time, at or after that of its event; ``last_seq`` and ``last_time_us`` are the
    end of what exists. A source inherits from this class: what it does not say of itself is as for
    something that has ended, of which all is known.
    """

    kind: str
    name: str
    read_only: bool
    goes_on: bool
    """Whether there is a cluster behind it, which goes on at the end of what exists."""
    can_forecast: bool
    """Whether statements can be forecast from its end (:meth:`starting_point`)."""

    @property
    def view(self) -> ClusterView:
        """The read model at the cursor."""

    @property
    def seq(self) -> int:
        """The last event that the view has seen."""

    @property
    def time_us(self) -> int:
        """The cursor's virtual time."""

    @property
    def first_seq(self) -> int:
        """The first event that can be read: 1, unless the beginning is not kept."""

    @property
    def last_seq(self) -> int:
        """The last event that exists."""

    @property
    def last_time_us(self) -> int:
        """The virtual time at which what exists ends."""

    @property
    def first_time_us(self) -> int:
        """The time at which what exists begins."""
        return 0

    @property
    def present(self) -> ClusterView:
        """The read model at the end, wherever the cursor is."""

    @property
    def image(self) -> ClusterImage | None:
        """The cluster at its end as an image; None where it does not run outside."""
        return None

    @property
    def notes(self) -> Sequence[str]:
        """The requests that the cluster does not answer, a sentence each."""
        return ()

    @property
    def stale_us(self) -> int | None:
        """How old its end is, if the cluster behind it does not answer now; else None."""
        return None

    @property
    def wall_clock_us(self) -> int | None:
        """The midnight at which its time is 0, in microseconds since 1970 UTC; else None.

        The times of a history that a real cluster wrote down are times of day.
        """
        return None

    @property
    def recorder(self) -> Recorder | None:
        """The recorder; None where nothing is recorded."""
        return None

    @property
    def bootstrap_servers(self) -> str:
        """The bootstrap servers for Kafka clients; empty where they cannot connect."""
        return ""

    @property
    def trouble(self) -> str:
        """A failure to read or write, in a sentence; empty while there is none."""

    @property
    def at_tail(self) -> bool:
        """Whether the cursor is at the end of what exists."""

    @property
    def heading_for(self) -> int | None:
        """The event to which the cursor is on its way, if a move takes long; None: it is there.

        :meth:`keep_up` goes on with it.
        """
        return None

    def keep_up(self) -> None:
        """Take notice of what has happened since, wherever the cursor is."""
        return

    def advance(self, wall_seconds: float, speed: float, budget_ms: float) -> int:
        """Play for a frame at ``speed`` virtual seconds a second; says how many events passed."""

    def step(self, n: int) -> None:
        """Move by ``n`` events, back if negative; a live cluster at its end is run for them."""

    def seek_seq(self, seq: int) -> None:
        """Go to right after an event (0: before the first)."""

    def seek_time(self, time_us: int) -> None:
        """Go to a virtual time."""

    def to_tail(self) -> None:
        """Go to the end of what exists."""

    def events(self, first: int, last: int) -> Sequence[Event]:
        """The events numbered ``first`` to ``last``, as far as they exist."""

    def touching(
        self, objects: Iterable[int | str], seq: int, direction: int, kinds: Kinds = None
    ) -> int | None:
        """The next (1) or previous (-1) event of some types, or all, that touches an object.

        Objects are named as :mod:`sessions.model.touches` names them.
        """

    def reading_at_most(self, allowance: Allowance) -> AbstractContextManager[None]:
        """Within this block, reading events raises an error when the allowance is used up.

        The error is :class:`sessions.format.allowance.StillReadingError`.
        """
        return nullcontext()

    def bookmarks(self) -> Sequence[Bookmark]:
        """All named places, before and after the cursor."""

    def put_bookmark(self, name: str, note: str = "", seq: int | None = None) -> Bookmark:
        """Name a place, the cursor's if none is given, instead of a bookmark that is there.

        It is written into the session's file at once, and is no event.

        Raises:
            SessionError: the name or the note is none, or the file cannot be written.
        """

    def remove_bookmark(self, seq: int) -> bool:
        """Take the bookmark at an event away; False if there is none. Raises as the one above."""

    def flush(self) -> None:
        """Have everything that happened in the session's file, if there is one being written."""
        return

    def samples(self) -> Sequence[tuple[int, int, Counts]]:
        """The changes of the counts: event, time, counts after it."""

    def watches(self, seq: int, observer: Callable[[Event], None]) -> Watches:
        """The watches of znodes after event ``seq``; ``observer`` sees the events up to there.

        Before the end of a live cluster, and in a recording, another cluster is run up to the
        event for that: it takes time, and may be done in a thread.

        Raises:
            SessionError: the recording does not hold all statements up to there.
        """

    def submit(self, text: str) -> Reply:
        """Give a line of statements to the cluster.

        A reply that is ``pending`` will be among :meth:`replies` once the cluster has got there.
        """

    def replies(self) -> Sequence[tuple[str, Reply]]:
        """The replies to pending lines since the last call, each with the line's text."""
        return ()

    def stand_still(self) -> None:
        """Let the cursor stay where it is until it is moved again."""
        return

    def starting_point(self) -> StartingPoint | None:
        """The cluster at the end, for forecasts; None where there is no cluster to copy."""
        return None

    def statements_of(self, text: str) -> Sequence[Statement]:
        """The statements of a line; none where statements are not accepted.

        Raises:
            ValueError: the line is wrong.
        """
        return ()
