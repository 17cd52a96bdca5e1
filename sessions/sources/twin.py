"""Two runs of one script, side by side: one cursor that moves both.

Screens show the front run and its cursor; the other one follows to the position at which it has
done the same (see :mod:`sessions.sources.pairing`).
"""

from collections.abc import Callable, Iterable, Sequence

from emulator.events import Event
from emulator.inputs.statements import Statement
from emulator.zookeeper.watches import Watches
from sessions.format.chunks import Kinds
from sessions.model.cluster_view import ClusterView
from sessions.model.health import Counts
from sessions.model.states import Bookmark
from sessions.playback.cursor import Reply
from sessions.sources.forecast import StartingPoint
from sessions.sources.live import LiveSource
from sessions.sources.pairing import Pairing
from sessions.sources.source import Source


class TwinSource(Source):
    """Two live clusters with the same inputs. The caller closes both."""

    kind = LiveSource.kind
    read_only = False
    goes_on = True
    can_forecast = True

    def __init__(self, front: LiveSource, behind: LiveSource) -> None:
        self.front = front
        self.behind = behind
        self.pairing = Pairing(front.events, behind.events)
        self.name = both_names(front.name, behind.name)
        self._pair = -1
        self.look()

    # ---- the cursor

    @property
    def view(self) -> ClusterView:
        return self.front.view

    @property
    def seq(self) -> int:
        return self.front.seq

    @property
    def time_us(self) -> int:
        return self.front.time_us

    @property
    def first_seq(self) -> int:
        return self.front.first_seq

    @property
    def last_seq(self) -> int:
        return self.front.last_seq

    @property
    def last_time_us(self) -> int:
        return self.front.last_time_us

    @property
    def first_time_us(self) -> int:
        return self.front.first_time_us

    @property
    def trouble(self) -> str:
        """Why a recording has ended, if it could not be written."""
        return self.front.trouble or self.behind.trouble

    @property
    def at_tail(self) -> bool:
        return self.front.at_tail

    @property
    def place(self) -> int:
        """The pair that both are at (-1: before all)."""
        if self.pairing.reached(self._pair)[0] == self.front.seq:
            return self._pair
        return self.pairing.pair_at(self.front.seq)

    def look(self) -> bool:
        """Pair what has happened since; return whether there is anything new."""
        return self.pairing.look(self.front.last_seq, self.behind.last_seq)

    def go_to(self, number: int) -> None:
        """Bring both to a pair; the nearest one if there is none of that number."""
        number = max(0, min(number, len(self.pairing.pairs) - 1))
        left, right = self.pairing.reached(number)
        self.front.seek_seq(left)
        self.behind.seek_seq(right)
        self._pair = number

    def align(self) -> None:
        """Bring the run behind to where the front one is."""
        if self.front.at_tail:
            self.behind.to_tail()
        else:
            self.behind.seek_seq(self.pairing.reached(self.place)[1])

    # ---- moving

    def advance(self, wall_seconds: float, speed: float, budget_ms: float) -> int:
        both = self.front.at_tail
        passed = self.front.advance(wall_seconds, speed, budget_ms / 2)
        if both and not self.front.is_held:
            self.behind.advance(wall_seconds, speed, budget_ms / 2)
            self.look()
        else:
            self.align()
        return passed

    def step(self, n: int) -> None:
        self.front.step(n)
        self.look()
        self.align()

    def seek_seq(self, seq: int) -> None:
        self.front.seek_seq(seq)
        self.align()

    def seek_time(self, time_us: int) -> None:
        self.front.seek_time(time_us)
        self.align()

    def to_tail(self) -> None:
        self.front.to_tail()
        self.behind.to_tail()

    # ---- reading

    def events(self, first: int, last: int) -> Sequence[Event]:
        return self.front.events(first, last)

    def touching(
        self, objects: Iterable[int | str], seq: int, direction: int, kinds: Kinds = None
    ) -> int | None:
        return self.front.touching(objects, seq, direction, kinds)

    def bookmarks(self) -> Sequence[Bookmark]:
        return self.front.bookmarks()

    def put_bookmark(self, name: str, note: str = "", seq: int | None = None) -> Bookmark:
        return self.front.put_bookmark(name, note, seq)

    def remove_bookmark(self, seq: int) -> bool:
        return self.front.remove_bookmark(seq)

    def flush(self) -> None:
        self.front.flush()
        self.behind.flush()

    def samples(self) -> Sequence[tuple[int, int, Counts]]:
        return self.front.samples()

    def watches(self, seq: int, observer: Callable[[Event], None]) -> Watches:
        return self.front.watches(seq, observer)

    # ---- acting

    def submit(self, text: str) -> Reply:
        """Run a statement on both; report the other one's response if it differs."""
        reply, other = self.front.submit(text), self.behind.submit(text)
        self.look()
        if other.error == reply.error:
            return reply
        error = f"on {self.front.name}: {reply.error}; on {self.behind.name}: {other.error}"
        return Reply(reply.error, f"{reply.message} ({error})".strip(), reply.output, reply.pending)

    @property
    def present(self) -> ClusterView:
        return self.front.present

    def starting_point(self) -> StartingPoint:
        return self.front.starting_point()

    def past(self) -> list[tuple[int, Statement]]:
        """All statements so far of the run in front, with their times."""
        return self.front.past()

    def statements_of(self, text: str) -> list[Statement]:
        return self.front.statements_of(text)

    def replies(self) -> list[tuple[str, Reply]]:
        self.behind.replies()
        return self.front.replies()


def both_names(first: str, second: str) -> str:
    """Return both names, with their common suffix once: ``0.10.2 | 0.11 V7``."""
    common, _, last = first.rpartition(" ")
    if common and second.startswith(f"{common} "):
        return f"{last} | {second.removeprefix(common).strip()} {common}"
    return f"{first} | {second}"
